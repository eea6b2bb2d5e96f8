"""The review page: decisions by mouse and keyboard, by several people, on any screen."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from internal_linker.core.edges import Edge
from internal_linker.usecases.project import open_project
from tests.support.app_browser import AppBrowser, require_sound
from tests.support.app_server import RunningApp, shared_app
from tests.support.linked_site import EDGES, make_linked, url
from tests.support.linked_site import key as page_key


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_linked(tmp_path / "site")


@pytest.fixture
def key(app: RunningApp, folder: Path) -> str:
    return app.open(folder).key


def stored(folder: Path) -> dict[str, Edge]:
    with open_project(folder).graph() as (edges, _):
        return {edge.id: edge for edge in edges.each()}


def add_links(folder: Path, strengths: dict[tuple[str, str], float]) -> list[str]:
    """Store more links, between pages of these names; return their ids."""
    more = [
        Edge(page_key(source), page_key(target), url(source), url(target), rank=1, strength=strength)
        for (source, target), strength in strengths.items()
    ]
    with open_project(folder).graph(read_only=False) as (edges, _):
        edges.put(more)
    return [edge.id for edge in more]


def begin(app: RunningApp, browser: AppBrowser, key: str, **more: Any) -> Page:
    page = browser.page(app, f"/p/{key}/review", **more)
    page.get_by_text("Link 1 of 7").wait_for()
    return page


@pytest.mark.long
def test_the_page_is_sound(app: RunningApp, browser: AppBrowser, key: str) -> None:
    page = begin(app, browser, key, width=390, scheme="dark")
    for number in range(2, 8):
        page.keyboard.press("j")
        page.get_by_text(f"Link {number} of 7").wait_for()
    require_sound(page, browser)
    page.keyboard.press("r")
    require_sound(page, browser)
    page.keyboard.press("Escape")
    expect(page.locator("dialog[open]")).to_have_count(0)
    page.keyboard.press("?")
    page.get_by_role("heading", name="Keys").wait_for()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Table").click()
    page.locator(".tabulator-row").first.wait_for()
    page.locator("h1").click()  # no button has the focus
    page.keyboard.press("j")
    page.locator(".tabulator-row.current").wait_for()
    require_sound(page, browser)
    page.keyboard.press("e")
    page.get_by_role("heading", name="Another anchor").wait_for()
    require_sound(page, browser)


@pytest.mark.long
def test_a_review_by_keyboard(app: RunningApp, browser: AppBrowser, folder: Path, key: str) -> None:
    """A accepts, R rejects with a reason, U undoes, J and K move; all is stored with the reviewer's name."""
    page = begin(app, browser, key)
    page.get_by_label("Your name").fill("Anna")
    page.get_by_label("Your name").blur()
    page.keyboard.press("a")
    page.get_by_text("Link 2 of 7").wait_for()
    page.get_by_text("6 links waiting for a decision").wait_for()
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
    page.get_by_text("5 links waiting for a decision").wait_for()
    assert sum(edge.by == "Anna" for edge in stored(folder).values()) == 2
    page.keyboard.press("k")
    page.get_by_text("Link 2 of 7").wait_for()
    page.reload()
    page.get_by_text("Link 1 of 5").wait_for()
    assert page.get_by_label("Your name").input_value() == "Anna"


@pytest.mark.long
def test_another_anchor(app: RunningApp, browser: AppBrowser, folder: Path, key: str) -> None:
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


@pytest.mark.long
def test_a_filter_is_decided_and_undone(app: RunningApp, browser: AppBrowser, folder: Path, key: str) -> None:
    page = begin(app, browser, key)
    page.keyboard.press("/")
    page.keyboard.type("tin")
    page.get_by_label("Section").select_option("/shop")
    page.get_by_text("2 links waiting").wait_for()
    page.get_by_role("button", name="Reject all waiting").click()
    page.get_by_role("heading", name="Reject 2 links?").wait_for()
    require_sound(page, browser)
    page.get_by_role("button", name="Yes").click()
    page.get_by_text("2 links rejected.").wait_for()
    page.get_by_text("0 links waiting").wait_for()
    assert sum(edge.verdict == "rejected" for edge in stored(folder).values()) == 2
    page.get_by_role("status").get_by_role("button", name="Undo").click()
    page.get_by_text("2 links waiting").wait_for()
    assert not any(edge.verdict for edge in stored(folder).values())


@pytest.mark.long
def test_the_table_decides_row_by_row(app: RunningApp, browser: AppBrowser, folder: Path, key: str) -> None:
    """In the table each row has its buttons, and shows its decision at once, also by which buttons are left."""
    page = browser.page(app, f"/p/{key}/review?view=table")
    accept = page.get_by_role("button", name="Accept: link to Green tea").first
    accept.focus()
    page.keyboard.press("Enter")
    page.locator(".tabulator-row .badge.accepted").wait_for()
    expect(accept).to_be_disabled()
    expect(page.get_by_role("button", name="Reject: link to Green tea").first).to_be_focused()
    assert [edge.verdict for edge in stored(folder).values() if edge.verdict] == ["accepted"]
    page.get_by_role("status").get_by_role("button", name="Undo").click()
    page.get_by_text("Undone: 1 decision").wait_for()
    expect(accept).to_be_enabled()
    assert not any(edge.verdict for edge in stored(folder).values())


@pytest.mark.long
def test_the_keys_work_in_the_table(app: RunningApp, browser: AppBrowser, folder: Path, key: str) -> None:
    """J and K move a focused row; A, R with a reason, E and U do to it what they do to a card, and it goes on."""
    page = browser.page(app, f"/p/{key}/review?view=table")
    rows = page.locator(".tabulator-row")
    rows.nth(6).wait_for()
    page.keyboard.press("a")
    page.get_by_text("No link is chosen").wait_for()
    page.keyboard.press("j")
    expect(rows.nth(0)).to_be_focused()
    page.keyboard.press("a")
    expect(rows.nth(1)).to_be_focused()
    expect(rows.nth(0).locator(".badge.accepted")).to_be_visible()
    page.keyboard.press("r")
    page.keyboard.press("2")
    expect(rows.nth(2)).to_be_focused()
    page.keyboard.press("r")
    page.keyboard.type("Too old")
    page.keyboard.press("Enter")
    expect(rows.nth(3)).to_be_focused()
    decided = {edge.verdict + edge.notes for edge in stored(folder).values() if edge.verdict}
    assert decided == {"accepted", "rejectedWrong target", "rejectedToo old"}
    page.keyboard.press("u")
    page.get_by_text("Undone: 1 decision").wait_for()
    expect(rows.nth(2)).to_be_focused()
    page.keyboard.press("k")
    expect(rows.nth(1)).to_be_focused()
    assert sum(bool(edge.verdict) for edge in stored(folder).values()) == 2
    page.keyboard.press("?")
    page.get_by_role("heading", name="Keys").wait_for()
    page.keyboard.press("Escape")
    rows.nth(5).locator(".tabulator-cell").nth(3).click()
    page.keyboard.press("r")
    page.keyboard.press("Escape")
    expect(rows.nth(5)).to_be_focused()
    assert sum(bool(edge.verdict) for edge in stored(folder).values()) == 2


@pytest.mark.long
def test_every_waiting_link_is_shown(app: RunningApp, browser: AppBrowser, folder: Path, key: str) -> None:
    """Decisions move pages in the list; the review goes on until each link has been shown."""
    pages = range(75)
    strong = add_links(folder, {(f"more/{number:02}", "shop/pot"): 0.99 for number in pages})
    add_links(folder, {(f"more/{number:02}", "shop/tin"): 0.1 for number in pages})
    page = browser.page(app, f"/p/{key}/review")
    page.get_by_text("Link 1 of 157").wait_for()
    body = {"decisions": [{"id": each, "status": "accepted"} for each in strong[:40]]}
    assert app.client.post(f"/api/projects/{key}/decisions", json=body).json()["changed"] == 40
    page.keyboard.press("j")
    for last in (100, 157):
        clicks = "for (let at = 0; at < 100; at += 1) document.getElementById('next').click()"
        page.evaluate(clicks)
        page.get_by_text(f"Link {last} of 157").wait_for()
        page.wait_for_load_state("networkidle")
    page.keyboard.press("a")
    page.get_by_text("That was the last link.").wait_for()


@pytest.mark.long
def test_a_key_decides_once(app: RunningApp, browser: AppBrowser, folder: Path, key: str) -> None:
    page = begin(app, browser, key)
    asked: list[Route] = []

    def hold_the_first(route: Route) -> None:
        asked.append(route)
        if len(asked) > 1:
            route.continue_()

    page.route("**/decisions", hold_the_first)
    page.keyboard.press("a")
    page.keyboard.press("a")
    while not asked:
        page.evaluate("0")
    asked[0].continue_()
    page.get_by_text("Link 2 of 7").wait_for()
    assert len(asked) == 1
    page.keyboard.down("a")
    page.get_by_text("Link 3 of 7").wait_for()
    page.keyboard.down("a")
    page.keyboard.up("a")
    page.keyboard.press("j")
    page.get_by_text("Link 4 of 7").wait_for()
    assert sum(edge.verdict == "accepted" for edge in stored(folder).values()) == 2


def test_colleagues_decide_by_name(tmp_path: Path, folder: Path) -> None:
    with shared_app(tmp_path) as app:
        api = f"/api/projects/{app.open(folder).key}"
        one = {"decisions": [{"id": EDGES[0].id, "status": "accepted"}]}
        many = {"filter": {}, "status": "accepted"}
        for path, body in (("decisions", one), ("decisions/filter", many)):
            answer = app.client.post(f"{api}/{path}", json={**body, "by": " "})
            assert answer.status_code == 422 and "enter your name" in answer.json()["error"]
        assert not any(edge.verdict for edge in stored(folder).values())
        assert app.client.post(f"{api}/decisions", json={**one, "by": "Anna"}).json()["changed"] == 1
    assert stored(folder)[EDGES[0].id].by == "Anna"


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
