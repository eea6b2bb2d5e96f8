"""What all pages share: the way in, colours, and the keyboard."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.app_browser import AppBrowser, require_sound
from tests.support.app_server import RunningApp, running_app

PASSWORD = "correct horse battery"


@pytest.fixture
def shared_app(tmp_path: Path) -> Iterator[RunningApp]:
    with running_app(tmp_path, PASSWORD) as running:
        yield running


def test_a_browser_without_a_session_is_told_what_to_do(app: RunningApp, browser: AppBrowser) -> None:
    """Without the start address there is a page that explains it."""
    page = browser.browser.new_page()
    page.goto(app.url)
    page.get_by_role("heading", name="Open the start address").wait_for()
    require_sound(page, browser)
    page.context.close()


def test_colleagues_sign_in(shared_app: RunningApp, browser: AppBrowser) -> None:
    """The password opens the list of projects; a wrong one is told on the page."""
    page = browser.browser.new_page()
    page.goto(shared_app.url)
    require_sound(page, browser)
    page.get_by_label("Password").fill("wrong")
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("alert").get_by_text("The password is wrong.").wait_for()
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_text("open one on the app's own computer").wait_for()
    assert not page.get_by_label("Project folder").is_visible()
    page.context.close()


def test_colours_can_be_chosen_and_stay(app: RunningApp, browser: AppBrowser) -> None:
    """The button changes between the system's colours, light and dark, and the choice survives a reload."""
    page = browser.page(app, scheme="light")
    paper = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(paper)
    for _ in range(2):
        page.get_by_role("button", name="Colours").click()
    dark = page.evaluate(paper)
    assert dark != light
    page.reload()
    assert page.evaluate(paper) == dark and page.get_by_role("button", name="Colours: dark").is_visible()


def test_the_keyboard_skips_to_the_content(app: RunningApp, browser: AppBrowser) -> None:
    """The first Tab leads to a link past header and navigation."""
    page = browser.page(app)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "content"


def test_a_server_that_is_gone_is_told(app: RunningApp, browser: AppBrowser) -> None:
    """If the app was stopped, the page says so instead of doing nothing."""
    page = browser.page(app)
    page.get_by_text("No project yet").wait_for()
    page.route("**/api/**", lambda route: route.abort())
    page.get_by_label("Project folder").fill("/anywhere")
    page.get_by_role("button", name="Open", exact=True).click()
    page.get_by_role("alert").get_by_text("The app doesn't answer").wait_for()
    browser.problems.clear()
