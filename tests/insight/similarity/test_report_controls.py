"""Every control of clusters.html does what it says in a real browser, and none throws."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.insight.audit.test_report import EVIL
from tests.insight.similarity.test_report import clusters, written
from tests.support.browser_tab import Browser, Tab
from tests.support.browser_tab import browser as started_browser

SIZES = [9, 6, 4]
# The pages of each cluster, in the order of their rows.
PAGES = [[f"Page {row}" for row in rows] for rows in (range(9), range(9, 15), range(15, 19))]
NAMES = [f"{at + 1} · {pages[0]} {at}" for at, pages in enumerate(PAGES)]
_OPTION = "echarts.getInstanceByDom(document.getElementById('dots')).getOption()"
_ZOOM = f"{_OPTION}.dataZoom.map((one) => one.end - one.start)"
_SELECTED = f"{_OPTION}.legend[0].selected"


def leaves(tab: Tab) -> list[str]:
    """Return the pages that the tree shows."""
    return sorted(text.removesuffix(" (hub)") for text in tab.texts("#branches") if "·" not in text)


@pytest.fixture(scope="module", name="browser")
def started() -> Iterator[Browser]:
    with started_browser() as found:
        yield found


@pytest.fixture
def page(tmp_path: Path) -> Path:
    return written(tmp_path, clusters(SIZES))


@pytest.mark.long
def test_all_controls_of_clusters_html_work(browser: Browser, tmp_path: Path) -> None:
    with browser.opened(written(tmp_path, clusters(SIZES, ["😀" * 80, *EVIL]))) as tab:
        # A dot opens its page: keep the tab.
        tab.run("void (window.open = () => null)")
        assert tab.press_everything() >= 20
        drawn = "[...document.querySelectorAll('.chart')].map((one) => !!one.querySelector('svg path'))"
        assert tab.run(drawn) == [True] * 2 and "😀…" in tab.run("document.body.innerHTML")
        assert tab.run("document.title") == "Clusters of www.slowkettle.example"
        for chart in ("#dots", "#branches"):
            tab.point_everywhere(chart)
        tab.colours("dark")
        tab.resize(390, 900)
        tab.wait("document.querySelector('#dots svg').clientWidth < 390")
        tab.press_everything()


@pytest.mark.long
@pytest.mark.parametrize("shape", ["orthogonal", "radial"])
def test_the_tree_shows_the_chosen_cluster(browser: Browser, page: Path, shape: str) -> None:
    with browser.opened(page) as tab:
        tab.press(f"button[data-shape={shape}]")
        for at in (1, 2, 0):
            tab.choose("#branch", str(at))
            assert leaves(tab) == sorted(PAGES[at])
            lines = tab.run("document.querySelectorAll('#branches svg path[fill=none]').length")
            assert lines == len(PAGES[at])
        tab.choose("#branch", "-1")
        assert [text for text in tab.texts("#branches") if " · " in text] == [
            f"{name} · {len(pages)}" for name, pages in zip(NAMES, PAGES, strict=True)
        ]


@pytest.mark.long
def test_the_map_zooms_and_moves(browser: Browser, page: Path) -> None:
    with browser.opened(page) as tab:
        tab.press("button[data-zoom='0.5']")
        assert tab.run(_ZOOM) == [50, 50]
        x, y = tab.middle("#dots")
        tab.drag((x, y), (x + 100, y + 50))
        tab.wait(f"{_OPTION}.dataZoom[0].start !== 25")
        tab.press("button[data-zoom='2']")
        assert tab.run(_ZOOM) == pytest.approx([100, 100])
        x, y = tab.middle("#dots")
        tab.page.mouse.move(x, y)
        tab.page.keyboard.down("Shift")
        tab.page.mouse.wheel(0, -240)
        tab.page.keyboard.up("Shift")
        tab.wait(f"{_ZOOM}[0] < 100")
        tab.press("button[data-zoom=all]")
        assert tab.run(_ZOOM) == pytest.approx([100, 100])


@pytest.mark.long
def test_clusters_are_hidden_and_shown(browser: Browser, page: Path) -> None:
    with browser.opened(page) as tab:
        tab.middle("#dots")
        tab.click(*tab.drawn_text("#dots", "2 · Page 9 1", lowest=True))
        assert [tab.run(_SELECTED).get(name, True) for name in NAMES] == [True, False, True]
        tab.press("button[data-legend=none]")
        assert tab.run(_SELECTED) == dict.fromkeys(NAMES, False)
        tab.press("button[data-legend=all]")
        assert tab.run(_SELECTED) == dict.fromkeys(NAMES, True)
