"""The page and the API of links."""

import re
from pathlib import Path

import pytest

from tests.support.app_browser import AppBrowser, require_sound
from tests.support.app_server import RunningApp
from tests.support.linked_site import make_linked, url


@pytest.fixture
def key(app: RunningApp, tmp_path: Path) -> str:
    return app.open(make_linked(tmp_path / "site")).key


def test_the_api_lists_and_filters(app: RunningApp, key: str) -> None:
    """Filters of the address reach the list; wrong ones are refused with a sentence."""
    address = f"/api/projects/{key}/links"
    found = app.client.get(
        address, params={"include": ["/shop", "/blog/black"], "order": "score", "limit": 2}
    ).json()
    assert found["total"] == 4 and len(found["rows"]) == 2 and found["statuses"] == {"proposed": 4}
    for wrong in ({"order": "x"}, {"limit": 0}, {"offset": -1}, {"tier": "x"}):
        answer = app.client.get(address, params=wrong)
        assert answer.status_code == 422 and next(iter(wrong)) in answer.json()["error"]
    facets = app.client.get(f"{address}/facets").json()
    assert facets["sections"] == {"/blog": 5, "/shop": 2}


def test_unknown_links_are_not_found(app: RunningApp, key: str) -> None:
    """A link or page that is not stored is answered with 404 and a sentence."""
    for path in (f"link?id={'0' * 20}", f"anchor?id={'0' * 20}&text=x", "page?address=nowhere"):
        answer = app.client.get(f"/api/projects/{key}/{path}")
        assert answer.status_code == 404 and answer.json()["error"]


@pytest.mark.parametrize(("kind", "begins"), [("xlsx", b"PK"), ("csv", b"\xef\xbb\xbfSource")])
def test_a_download_is_a_file(app: RunningApp, key: str, kind: str, begins: bytes) -> None:
    answer = app.client.get(f"/api/projects/{key}/links/file", params={"kind": kind, "section": "/shop"})
    assert answer.content.startswith(begins)
    assert answer.headers["content-disposition"] == f'attachment; filename="site-links.{kind}"'


@pytest.mark.long
def test_filters_and_panel_stay_in_the_address(app: RunningApp, browser: AppBrowser, key: str) -> None:
    """Filters change table, counts, download and address; a reload keeps them, and a panel."""
    page = browser.page(app, f"/p/{key}/links", width=390)
    page.get_by_text("7 links").wait_for()
    page.locator(".tabulator-row").first.wait_for()
    require_sound(page, browser)
    page.get_by_label("Section").select_option("/shop")
    page.get_by_text("2 links").wait_for()
    with page.expect_response(re.compile(r"/links\?.*text=tin")):
        page.get_by_label("Words in titles").fill("tin")
    page.get_by_text("2 links").wait_for()
    page.get_by_role("button", name="Clay tea pots").first.click()
    page.get_by_role("dialog").get_by_role("link", name=url("shop/pot")).wait_for()
    require_sound(page, browser)
    page.get_by_role("button", name="Radial").click()
    page.reload()
    page.get_by_role("dialog").get_by_role("link", name=url("shop/pot")).wait_for()
    page.keyboard.press("Escape")
    page.wait_for_url(lambda address: "page=" not in address)
    assert page.get_by_label("Section").input_value() == "/shop"
    # The address of the file comes with the list.
    page.get_by_text("2 links").wait_for()
    with page.expect_download() as download:
        page.get_by_role("link", name="CSV").click()
    lines = Path(download.value.path()).read_text(encoding="utf-8-sig").splitlines()
    assert len(lines) == 3 and lines[1].startswith(f"{url('shop')}")
    page.get_by_label("Words in titles").fill("no such words")
    page.get_by_text("No links match these filters.").wait_for()
