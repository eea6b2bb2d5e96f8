"""The page and the API of links."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.app_browser import AppBrowser, require_sound
from tests.support.app_server import RunningApp
from tests.support.linked_site import EDGES, make_linked, url
from tests.support.linked_site import key as key_of


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
    """The filtered links come as a file with a name."""
    answer = app.client.get(f"/api/projects/{key}/links/file", params={"kind": kind, "section": "/shop"})
    assert answer.content.startswith(begins)
    assert answer.headers["content-disposition"] == f'attachment; filename="site-links.{kind}"'


@pytest.mark.parametrize(
    ("width", "scheme"), [(390, "light"), (1280, "dark"), pytest.param(1920, "light", marks=pytest.mark.long)]
)
def test_the_page_is_sound(app: RunningApp, browser: AppBrowser, key: str, width: int, scheme: Any) -> None:
    """Table and panel have no finding of axe, with hostile and right-to-left titles, on any screen."""
    page = browser.page(app, f"/p/{key}/links", width=width, scheme=scheme)
    page.get_by_text("7 links").wait_for()
    page.locator(".tabulator-row").first.wait_for()
    require_sound(page, browser)
    page.locator(".tabulator-row button").first.click()
    page.get_by_role("heading", name="Links from this page").wait_for()
    require_sound(page, browser)
    page.get_by_role("button", name="Radial").click()
    require_sound(page, browser)
    assert page.title().startswith("Links")


def test_filters_and_panel_stay_in_the_address(app: RunningApp, browser: AppBrowser, key: str) -> None:
    """Filters change table, counts, download and address; a reload keeps them, and a panel."""
    page = browser.page(app, f"/p/{key}/links")
    page.get_by_label("Section").select_option("/shop")
    page.get_by_text("2 links").wait_for()
    with page.expect_response(re.compile(r"/links\?.*text=tin")):
        page.get_by_label("Words in titles").fill("tin")
    page.get_by_text("2 links").wait_for()
    page.get_by_role("button", name="Clay tea pots").first.click()
    page.get_by_role("dialog").get_by_role("link", name=url("shop/pot")).wait_for()
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


def test_charts_lead_to_pages(app: RunningApp, browser: AppBrowser, key: str) -> None:
    """A click on a page of the tree shows that page's links; the chart has the page's best links."""
    page = browser.page(app, f"/p/{key}/links?page={EDGES[0].source}")
    page.get_by_role("heading", name="Green tea").wait_for()
    option = "echarts.getInstanceByDom(document.getElementById('chart')).getOption().series[0]"
    names = page.evaluate(f"{option}.data[0].children.map((child) => child.key)")
    assert names == [key_of("shop/pot"), key_of("blog/black")]
    x, y = page.evaluate(
        "(() => { const chart = echarts.getInstanceByDom(document.getElementById('chart')); "
        "const data = chart.getModel().getSeriesByIndex(0).getData(); "
        f"const at = data.mapArray((i) => i).find((i) => data.getRawDataItem(i).key === '{key_of('shop/pot')}'); "
        "const mark = data.getItemGraphicEl(at).getComputedTransform(); "
        "const box = document.getElementById('chart').getBoundingClientRect(); "
        "return [box.left + mark[4], box.top + mark[5]]; })()"
    )
    page.mouse.click(x, y)
    page.get_by_role("dialog").get_by_role("link", name=url("shop/pot")).wait_for()


def test_a_project_without_links_says_what_to_do(
    app: RunningApp, browser: AppBrowser, tmp_path: Path
) -> None:
    """Before the first run, the page leads to it."""
    made = make_linked(tmp_path / "new")
    (made / "files/cache.sqlite3").unlink()
    page = browser.page(app, f"/p/{app.open(made).key}/links")
    page.get_by_text("There are no links yet").wait_for()
    require_sound(page, browser)
