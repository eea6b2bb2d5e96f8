"""The review page: decisions by mouse and keyboard, by several people, on any screen."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from internal_linker.model.edges import Anchor, Edge
from internal_linker.project.project import open_project
from tests.support.app_browser import AppBrowser, require_sound
from tests.support.app_server import RunningApp, shared_app
from tests.support.linked_site import EDGES, TEXTS, edge, make_linked, url
from tests.support.linked_site import key as page_key
from tests.support.small_project import write_csv


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


def select_words(page: Page, words: str) -> None:
    """Select the last occurrence of words in the page's text, as somebody does with the mouse."""
    page.evaluate(
        "words => { const node = [...document.querySelectorAll('#page-text p')].at(-1).lastChild; "
        "const at = node.data.lastIndexOf(words); "
        "getSelection().setBaseAndExtent(node, at, node, at + words.length); }",
        words,
    )


def marked(page: Page, status: str) -> list[str]:
    """Return the words of the links with a status in the page's text."""
    return page.locator(f"#page-text .spot.{status}").all_inner_texts()


@pytest.mark.long
def test_the_whole_page_is_read(app: RunningApp, browser: AppBrowser, folder: Path, key: str) -> None:
    """A page's links are marked in its text by their decision, or listed; each has its card, also one without room.

    Words of links that the page has are underlined, except where a marked link has them.
    """
    has = [(url("blog/green"), url("shop/tin"), words) for words in ("soft water", "clay")]
    write_csv(folder / "files/existing_links.csv", [("Source", "Destination", "Anchor"), *has])
    same = edge(
        "blog/green", "blog/persian", anchor="pot", sentence="A clay pot keeps it warm.", strength=0.4
    )
    with open_project(folder).graph(read_only=False) as (edges, _):
        edges.put([replace(EDGES[0], status="accepted", verdict="accepted"), same])
    page = browser.page(app, f"/p/{key}/review?text=blog/green&status=")
    page.get_by_text("Link 1 of").wait_for()
    while page.locator("#from").inner_text() != "Green tea":
        page.keyboard.press("j")
        page.wait_for_load_state("networkidle")
    assert page.locator("#page-text p").all_inner_texts() == TEXTS["blog/green"][1].split("\n")
    assert marked(page, "accepted") == ["clay pot"]
    expect(page.locator("#page-text .linked")).to_have_text(["soft water"])
    expect(page.locator("#page-text .linked")).to_have_attribute("title", re.compile("leads to Tea Tea "))
    sign = "getComputedStyle(document.querySelector('#page-text .spot'), '::before').content"
    assert "✓" in page.evaluate(sign)
    box = page.locator("#beside li")
    expect(box).to_have_count(1)
    page.locator("#others button").click()
    expect(page.locator("#page-text .spot")).to_have_text("pot")
    page.locator("#others button").click()
    expect(page.locator("#page-text .spot")).to_have_text("clay pot")
    page.locator("#page-text .spot").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#to")).to_have_text("Clay tea pots\u202e for sale")
    expect(page.locator("#why")).to_contain_text("Score 80: in the text, where about 80 of 100")
    expect(page.locator("#page-text [aria-current]")).to_be_focused()
    card = page.locator("#at").inner_text()
    page.keyboard.press("r")
    page.keyboard.press("1")
    expect(page.locator("#at")).not_to_have_text(card)
    page.keyboard.press("k")
    page.locator("#page-text .spot.rejected", has_text="clay pot").wait_for()
    assert "✗" in page.evaluate(sign)
    box.last.get_by_role("button").click()
    expect(box.last.get_by_role("button")).to_have_attribute("aria-current", "true")
    require_sound(page, browser)


@pytest.mark.long
def test_a_marked_link_outside_the_filters_is_decided(
    app: RunningApp, browser: AppBrowser, folder: Path, key: str
) -> None:
    with open_project(folder).graph(read_only=False) as (edges, _):
        edges.put([replace(EDGES[2], status="rejected", verdict="rejected")])
    page = browser.page(app, f"/p/{key}/review?text=blog/black&section=/blog")
    page.get_by_text(re.compile("Link 1 of")).wait_for()
    while page.locator("#page-text .spot.rejected").count() == 0:
        page.keyboard.press("j")
        page.wait_for_load_state("networkidle")
    page.locator("#page-text .spot.rejected").click()
    page.get_by_text("Not among the filtered links").wait_for()
    page.keyboard.press("a")
    page.locator("#page-text .spot.accepted[aria-current]", has_text="clay pot").wait_for()
    assert stored(folder)[EDGES[2].id].verdict == "accepted"


@pytest.mark.long
def test_another_anchor(app: RunningApp, browser: AppBrowser, folder: Path, key: str) -> None:
    """Words that are typed are looked up; selected ones are linked where they stand, not where they come first."""
    text = "Hot tea likes a clay pot, too.\nKeep it hot \U0001f375 in a pot, and drink it hot."
    pages = [(url(name), *({**TEXTS, "blog/black": ("Black tea", text)}[name])) for name in TEXTS]
    write_csv(folder / "files/urls_rawdata.csv", [("URL", "Title", "Main Content"), *pages])
    page = begin(app, browser, key)
    page.locator("#page-text .spot", has_text="clay pot").wait_for()
    page.keyboard.press("e")
    page.keyboard.type("no such words")
    page.keyboard.press("Enter")
    page.get_by_text("Warning: anchor not in the text").wait_for()
    require_sound(page, browser)
    select_words(page, "it hot")
    page.get_by_role("button", name="Link “it hot”").click()
    page.locator("#page-text .spot[aria-current]", has_text="it hot").wait_for()
    page.locator("#accept").click()
    page.get_by_text("Link 2 of 7").wait_for()
    edge = stored(folder)[EDGES[2].id]
    assert (edge.verdict, edge.anchor, edge.placed.verbatim) == ("edited", "it hot", True)
    assert edge.placed.start == text.rindex("it hot")
    page.keyboard.press("k")
    expect(page.locator("#page-text .spot.edited")).to_have_text(["it hot"])


@pytest.mark.long
def test_another_target(app: RunningApp, browser: AppBrowser, folder: Path, key: str) -> None:
    """T gives the words to another page, by URL or from the page's links; a wrong URL is named, and U undoes both."""
    page = begin(app, browser, key)
    page.locator("#page-text .spot", has_text="clay pot").wait_for()
    page.keyboard.press("t")
    page.get_by_role("heading", name="Another target").wait_for()
    field = page.get_by_label("URL of another page")
    field.fill("/no/such/page")
    page.get_by_role("button", name="Link to it").click()
    page.locator("#target-problem", has_text="check its spelling").wait_for()
    browser.problems.clear()  # the browser's own line about the status 422
    require_sound(page, browser)
    field.fill(url("blog/persian"))
    page.get_by_role("button", name="Link to it").click()
    page.get_by_text("Link 2 of 7").wait_for()
    expect(page.locator("dialog[open]")).to_have_count(0)
    verdicts = {edge.target: (edge.verdict, edge.anchor) for edge in stored(folder).values() if edge.verdict}
    assert verdicts == {
        page_key("blog/persian"): ("edited", "clay pot"),
        page_key("shop/pot"): ("rejected", ""),
    }
    page.keyboard.press("u")
    page.get_by_text("Link 1 of 7").wait_for()
    assert not any(edge.verdict for edge in stored(folder).values())
    page.locator("#page-text .spot.proposed", has_text="clay pot").wait_for()
    page.keyboard.press("t")
    page.locator("#targets button").first.click()
    page.get_by_text("Link 2 of 7").wait_for()
    edge = stored(folder)[EDGES[3].id]
    assert (edge.verdict, edge.anchor, edge.tier) == ("edited", "clay pot", "inline")


@pytest.mark.long
def test_new_words_are_accepted_as_they_are_shown(
    app: RunningApp, browser: AppBrowser, folder: Path, key: str
) -> None:
    """They are underlined in their paragraph; without the tick, the link alone is accepted. The table has them, too."""
    edge, sentence = EDGES[6], "A dark tin keeps leaves fresh."
    wording = "A dark tin keeps leaves fresh (see Green tea)."
    new = Anchor("Green tea", sentence, verbatim=False, quality=0.0, wording=wording)
    with open_project(folder).graph(read_only=False) as (edges, _):
        edges.put([replace(edge, anchors=(new,), strength=1.0)])
    page = begin(app, browser, key)
    expect(page.get_by_label("Accept with these new words")).to_be_hidden()
    for at in (2, 3, 4):
        page.keyboard.press("j")
        page.get_by_text(f"Link {at} of 7").wait_for()
    expect(page.locator("#passage ins")).to_have_text(" (see Green tea)")
    expect(page.locator("#passage .sentence")).to_have_text(wording)
    require_sound(page, browser)
    page.get_by_label("Accept with these new words").uncheck()
    page.locator("#accept").click()
    page.get_by_text("Link 5 of 7").wait_for()
    expect(page.get_by_label("Accept with these new words")).to_be_hidden()
    now = stored(folder)[edge.id]
    assert (now.verdict, now.wording) == ("accepted", "")
    page.locator("h1").click()
    page.keyboard.press("u")
    page.locator("#passage ins").wait_for()
    page.keyboard.press("a")
    page.get_by_text("Link 5 of 7").wait_for()
    assert stored(folder)[edge.id].wording == wording
    page.keyboard.press("u")
    page.locator("#passage ins").wait_for()
    page.get_by_role("button", name="Table").click()
    page.locator(".tabulator-row ins", has_text="(see Green tea)").wait_for()
    page.get_by_role("button", name="Accept: link to Green tea").first.click()
    page.locator(".tabulator-row .badge.accepted").wait_for()
    assert stored(folder)[edge.id].wording == wording


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
