"""What all pages share: the way in, colours, and the keyboard."""

import pytest

from tests.support.app_browser import AppBrowser, require_sound
from tests.support.app_server import RunningApp


@pytest.mark.long
def test_what_all_pages_share(app: RunningApp, browser: AppBrowser) -> None:
    """The sign-in page explains itself; Tab skips the navigation; the theme persists; a lost server is reported."""
    page = browser.browser.new_context().new_page()
    page.goto(app.url)
    page.get_by_role("heading", name="Open the start address").wait_for()
    require_sound(page, browser)
    page = browser.page(app, scheme="light")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "content"
    paper = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(paper)
    for _ in range(2):
        page.get_by_role("button", name="Colours").click()
    dark = page.evaluate(paper)
    assert dark != light
    page.reload()
    assert page.evaluate(paper) == dark and page.get_by_role("button", name="Colours: dark").is_visible()
    page.route("**/api/**", lambda route: route.abort())
    page.get_by_label("Project folder").fill("/anywhere")
    page.get_by_role("button", name="Open", exact=True).click()
    page.get_by_role("alert").get_by_text("The app doesn't answer").wait_for()
    browser.problems.clear()
