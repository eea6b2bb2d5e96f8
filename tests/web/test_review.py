"""The review page: decisions by mouse and keyboard, by several people, on any screen."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from internal_linker.core.edges import Edge
from internal_linker.usecases.project import open_project
from tests.support.app_browser import AppBrowser, require_sound
from tests.support.app_server import RunningApp
from tests.support.linked_site import EDGES, make_linked


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_linked(tmp_path / "site")


@pytest.fixture
def key(app: RunningApp, folder: Path) -> str:
    return app.open(folder).key


def stored(folder: Path) -> dict[str, Edge]:
    with open_project(folder).graph() as (edges, _):
        return {edge.id: edge for edge in edges.each()}


def begin(app: RunningApp, browser: AppBrowser, key: str, **more: Any) -> Page:
    page = browser.page(app, f"/p/{key}/review", **more)
    page.get_by_text("Link 1 of 7").wait_for()
    return page


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1280, "light"), (1920, "dark")])
def test_the_page_is_sound(app: RunningApp, browser: AppBrowser, key: str, width: int, scheme: Any) -> None:
    """Both views have no finding of axe, with hostile and right-to-left texts, on any screen."""
    page = begin(app, browser, key, width=width, scheme=scheme)
    for number in range(2, 8):
        require_sound(page, browser)
        page.keyboard.press("j")
        page.get_by_text(f"Link {number} of 7").wait_for()
    page.keyboard.press("r")
    require_sound(page, browser)
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    page.get_by_role("heading", name="Keys").wait_for()
    require_sound(page, browser)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Table").click()
    page.locator(".tabulator-row").first.wait_for()
    require_sound(page, browser)


def test_a_review_by_keyboard(app: RunningApp, browser: AppBrowser, folder: Path, key: str) -> None:
    """A accepts, R rejects with a reason, U undoes, J and K move; all is stored with the reviewer's name."""
    page = begin(app, browser, key)
    page.get_by_label("Your name").fill("Anna")
    page.get_by_label("Your name").blur()
    page.keyboard.press("a")
    page.get_by_text("Link 2 of 7").wait_for()
    page.keyboard.press("r")
    page.keyboard.press("2")
    page.get_by_text("Link 3 of 7").wait_for()
    page.keyboard.press("r")
    page.keyboard.type("Too old")
    page.keyboard.press("Enter")
    page.get_by_text("Link 4 of 7").wait_for()
    decided = {edge.verdict + edge.notes for edge in stored(folder).values() if edge.by == "Anna"}
    assert decided == {"accepted", "rejectedWrong target", "rejectedToo old"}
    page.keyboard.press("u")
    page.get_by_text("Link 3 of 7").wait_for()
    assert sum(edge.by == "Anna" for edge in stored(folder).values()) == 2
    page.keyboard.press("k")
    page.get_by_text("Link 2 of 7").wait_for()
    page.reload()
    page.get_by_text("Link 1 of 5").wait_for()
    assert page.get_by_label("Your name").input_value() == "Anna"


def test_another_anchor(app: RunningApp, browser: AppBrowser, folder: Path, key: str) -> None:
    """Other words are typed or selected in the text, with a warning where they can't be linked."""
    page = begin(app, browser, key)
    page.locator("#passage mark", has_text="clay pot").wait_for()
    page.keyboard.press("e")
    page.keyboard.type("no such words")
    page.keyboard.press("Enter")
    page.get_by_text("Warning: anchor not in the text").wait_for()
    require_sound(page, browser)
    page.evaluate(
        "(() => { const node = document.getElementById('passage').firstChild; const range = document.createRange(); "
        "range.setStart(node, 0); range.setEnd(node, 9); const now = getSelection(); now.removeAllRanges(); "
        "now.addRange(range); })()"
    )
    page.get_by_role("button", name="Link “Black tea”").click()
    page.locator("#passage mark", has_text="Black tea").wait_for()
    page.locator("#accept").click()
    page.get_by_text("Link 2 of 7").wait_for()
    edge = stored(folder)[EDGES[2].id]
    assert (edge.verdict, edge.anchor, edge.placed.verbatim) == ("edited", "Black tea", True)


def test_two_browsers_at_once(app: RunningApp, browser: AppBrowser, folder: Path, key: str) -> None:
    """Who decides on a link that somebody else has just decided is told so, and may overrule it."""
    first, second = (begin(app, browser, key) for _ in range(2))
    for page, name in ((first, "Anna"), (second, "Ben")):
        page.get_by_label("Your name").fill(name)
        page.get_by_label("Your name").blur()
    first.keyboard.press("a")
    first.get_by_text("Link 2 of 7").wait_for()
    second.keyboard.press("r")
    second.keyboard.press("1")
    second.get_by_text("Anna decided this link in the meantime: accepted").wait_for()
    assert stored(folder)[EDGES[2].id].verdict == "accepted"
    second.locator("#card .badge.accepted").wait_for()
    second.keyboard.press("r")
    second.keyboard.press("1")
    second.get_by_text("Link 2 of 7").wait_for()
    assert stored(folder)[EDGES[2].id].by == "Ben"


def test_a_filter_is_decided_and_undone(app: RunningApp, browser: AppBrowser, folder: Path, key: str) -> None:
    """All links of a filter are rejected after a question, and undone with one click."""
    page = begin(app, browser, key)
    page.keyboard.press("/")
    page.keyboard.type("tin")
    page.get_by_label("Section").select_option("/shop")
    page.get_by_text("2 links waiting").wait_for()
    page.get_by_role("button", name="Reject all shown").click()
    page.get_by_role("heading", name="Reject 2 links?").wait_for()
    require_sound(page, browser)
    page.get_by_role("button", name="Yes").click()
    page.get_by_text("2 links rejected.").wait_for()
    page.get_by_text("0 links waiting").wait_for()
    assert sum(edge.verdict == "rejected" for edge in stored(folder).values()) == 2
    page.get_by_role("status").get_by_role("button", name="Undo").click()
    page.get_by_text("2 links waiting").wait_for()
    assert not any(edge.verdict for edge in stored(folder).values())


def test_the_table_decides_row_by_row(app: RunningApp, browser: AppBrowser, folder: Path, key: str) -> None:
    """In the table each row has its buttons, and shows its decision at once."""
    page = browser.page(app, f"/p/{key}/review?view=table")
    page.get_by_role("button", name="Accept: link to Green tea").first.click()
    page.locator(".tabulator-row .badge.accepted").wait_for()
    assert [edge.verdict for edge in stored(folder).values() if edge.verdict] == ["accepted"]
    page.get_by_role("status").get_by_role("button", name="Undo").click()
    page.get_by_text("Undone: 1 decision").wait_for()
    assert not any(edge.verdict for edge in stored(folder).values())


def test_wrong_decisions_are_refused(app: RunningApp, folder: Path, key: str) -> None:
    """The API answers a wrong decision with a sentence and keeps nothing."""
    for decision in (
        {"id": EDGES[0].id, "status": "great"},
        {"id": "x", "status": "accepted"},
        {"id": EDGES[0].id, "more": 1},
    ):
        body = {"decisions": [decision]}
        assert app.client.post(f"/api/projects/{key}/decisions", json=body).status_code == 422
    body = {"decisions": [{"id": "0" * 20, "status": "accepted"}]}
    assert app.client.post(f"/api/projects/{key}/decisions", json=body).status_code == 404
    assert not any(edge.verdict for edge in stored(folder).values())
