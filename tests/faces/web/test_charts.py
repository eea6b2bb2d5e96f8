"""What a mouse can do with each chart of the app: point, click, drag, zoom and hide."""

import json
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.faces.web.test_audit import audited, make_shop_with_run
from tests.faces.web.test_similar import TITLES, compared, make_similar_shop
from tests.support.app_browser import AppBrowser
from tests.support.app_server import RunningApp
from tests.support.linked_site import EDGES, make_linked, url
from tests.support.linked_site import key as key_of
from tests.support.small_project import SITE


@pytest.fixture(scope="module")
def linked(app: RunningApp, tmp_path_factory: pytest.TempPathFactory) -> str:
    return app.open(make_linked(tmp_path_factory.mktemp("linked") / "site")).key


@pytest.fixture(scope="module")
def similar(app: RunningApp, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return a project whose pages are compared, and grouped in three clusters."""
    shop = make_similar_shop(tmp_path_factory.mktemp("similar") / "shop")
    compared(app, shop)
    return app.open(shop).key


@pytest.fixture(scope="module")
def sections(app: RunningApp, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return an audited project."""
    shop = make_shop_with_run(tmp_path_factory.mktemp("audited") / "shop")
    audited(app, shop)
    return app.open(shop).key


class Chart:
    """A chart on a page, by what is drawn; positions are in pixels of the window."""

    def __init__(self, page: Page, name: str) -> None:
        self.page = page
        self._place = f"document.getElementById({json.dumps(name)})"
        page.locator(f"#{name} canvas").first.wait_for()
        page.locator(f"#{name}").scroll_into_view_if_needed()

    def get(self, script: str) -> Any:
        """Return the value of an expression in which `chart` is the chart."""
        return self.page.evaluate(f"((chart) => {script})(echarts.getInstanceByDom({self._place}))")

    def wait(self, condition: str) -> None:
        """Wait until an expression in which `chart` is the chart is true."""
        # Not by Playwright's wait_for_function: the page's policy forbids what it does.
        self.get(
            "new Promise((done, fail) => { const until = performance.now() + 15_000; const look = () => { "
            f"if ({condition}) done(); else if (performance.now() < until) requestAnimationFrame(look); "
            f"else fail(new Error('never true: ' + {json.dumps(condition)})); }}; look(); }})"
        )

    def mark(self, wanted: str, series: int = 0) -> tuple[float, float]:
        """Return the middle of the drawn item whose data, `item`, fulfils a condition."""
        return self.at(
            f"(() => {{ const data = chart.getModel().getSeriesByIndex({series}).getData(); "
            f"const at = data.mapArray((i) => i).find((i) => ((item) => {wanted})(data.getRawDataItem(i))); "
            "const drawn = data.getItemGraphicEl(at); const box = drawn.getBoundingRect(); "
            "return drawn.transformCoordToGlobal(box.x + box.width / 2, box.y + box.height / 2); })()"
        )

    def words(self, text: str) -> tuple[float, float]:
        """Return the middle of the drawn words that begin so."""
        return self.at(
            "(() => { const drawn = chart.getZr().storage.getDisplayList(true).find((one) => "
            f"one.style.text?.startsWith({json.dumps(text)})); const box = drawn.getBoundingRect(); "
            "return drawn.transformCoordToGlobal(box.x + box.width / 2, box.y + box.height / 2); })()"
        )

    def at(self, script: str) -> tuple[float, float]:
        """Return in the window what an expression says in pixels of the chart."""
        x, y = self.get(
            f"(([x, y]) => {{ const box = {self._place}.getBoundingClientRect(); "
            f"return [box.left + x, box.top + y]; }})({script})"
        )
        return x, y

    def click(self, at: tuple[float, float]) -> None:
        self.page.mouse.move(*at)
        self.page.mouse.click(*at)

    def told(self, at: tuple[float, float], words: str) -> None:
        """Point at a position and wait for a tooltip with these words."""
        self.page.mouse.move(*at)
        # A tooltip is the only text that is no part of a group.
        self.wait(
            "chart.getZr().storage.getRoots().some((one) => one.type === 'text' && !one.invisible "
            f"&& one.style.text.replace(/[\\u2066-\\u2069]/g, '').includes({json.dumps(words)}))"
        )


@pytest.mark.parametrize("layout", ["Tree", "Radial"])
@pytest.mark.long
def test_the_chart_of_links_tells_scores_and_leads_to_pages(
    app: RunningApp, browser: AppBrowser, linked: str, layout: str
) -> None:
    page = browser.page(app, f"/p/{linked}/links?page={EDGES[0].source}")
    page.get_by_role("button", name=layout).click()
    page.get_by_role("button", name=layout, pressed=True).wait_for()
    chart = Chart(page, "chart")
    assert (
        chart.get("chart.getOption().series[0].layout") == {"Tree": "orthogonal", "Radial": "radial"}[layout]
    )
    pot = chart.mark(f"item.key === {json.dumps(key_of('shop/pot'))}")
    score = chart.get("chart.getOption().series[0].data[0].children[0].score")
    assert score is not None
    chart.told(pot, f"Clay tea pots\u202e for sale\nscore {score}")
    chart.click(pot)
    page.get_by_role("dialog").get_by_role("link", name=url("shop/pot")).wait_for()


@pytest.mark.long
def test_the_cut_off_is_dragged_live(app: RunningApp, browser: AppBrowser, similar: str) -> None:
    page = browser.page(app, f"/p/{similar}/similar")
    chart = Chart(page, "histogram")
    for value in (0.95, 0.5):
        wanted = app.client.get(f"/api/projects/{similar}/similar/cut-off", params={"value": value}).json()
        start = chart.at("chart.convertToPixel('grid', [0.6, 0])")
        x, _ = chart.at(f"chart.convertToPixel('grid', [{value}, 0])")
        page.mouse.move(start[0], start[1] - 30)
        page.mouse.down()
        page.mouse.move(x, start[1] - 30, steps=4)
        expect(page.locator("output")).to_have_text(f"{value:.2f}")
        expect(page.locator("#pairs-count")).to_have_text(str(wanted["pairs"]))
        expect(page.locator("#alone-count")).to_have_text(str(wanted["off_topic"]))
        expect(page.locator("#pairs tr")).to_have_count(wanted["listed"])
        assert f"value={value:g}" in (page.locator("#download").get_attribute("href") or "")
        page.mouse.up()


def opened(page: Page, chart: Chart, at: tuple[float, float]) -> str:
    """Click at a position, and return the address that it opens in a new tab."""
    page.context.route(f"{SITE}/**", lambda route: route.fulfill(body="a page of the site"))
    with page.context.expect_page() as found:
        chart.click(at)
    found.value.wait_for_url(f"{SITE}/**")
    address = found.value.url
    found.value.close()
    return address


@pytest.mark.long
def test_the_map_of_clusters(app: RunningApp, browser: AppBrowser, similar: str) -> None:
    page = browser.page(app, f"/p/{similar}/clusters")
    chart = Chart(page, "map")
    lone = f"item[4] === {json.dumps(f'{SITE}/8/')}"
    place = chart.mark(lone, series=1)
    chart.told(place, f"{TITLES[8]}\n{SITE}/8/")
    assert opened(page, chart, place) == f"{SITE}/8/"
    zoom = "chart.getOption().dataZoom.map((one) => one.end - one.start)"
    page.mouse.move(*place)
    page.mouse.wheel(0, -240)
    assert chart.get(zoom) == [100, 100]
    chart.page.locator("#map").scroll_into_view_if_needed()
    page.mouse.move(*chart.mark(lone, series=1))
    page.keyboard.down("Shift")
    page.mouse.wheel(0, -240)
    page.keyboard.up("Shift")
    chart.wait(f"{zoom}.every((share) => share < 100)")
    start = chart.get("chart.getOption().dataZoom[0].start")
    x, y = chart.at("[chart.getWidth() / 2, chart.getHeight() / 2]")
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 60, y + 20)
    page.mouse.up()
    chart.wait(f"chart.getOption().dataZoom[0].start !== {start}")
