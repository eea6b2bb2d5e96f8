"""Every control of clusters.html does what it says in a real browser, and none throws."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.analysis.similarity.test_report import clusters, written
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


def test_all_controls_of_clusters_html_work(browser: Browser, page: Path) -> None:
    """Pressing everything, in both shapes, colours and widths, leads to no uncaught error."""
    with browser.opened(page) as tab:
        # A dot opens its page: keep the tab.
        tab.run("void (window.open = () => null)")
        assert tab.press_everything() >= 20
        for chart in ("#dots", "#branches"):
            tab.point_everywhere(chart)
        tab.colours("dark")
        tab.resize(390, 900)
        tab.wait("document.querySelector('#dots svg').clientWidth < 390")
        tab.press_everything()


@pytest.mark.parametrize("shape", ["orthogonal", "radial"])
def test_the_tree_shows_the_chosen_cluster(browser: Browser, page: Path, shape: str) -> None:
    """Choosing one cluster after another shows its pages and no others, in the chosen shape and under its name."""
    with browser.opened(page) as tab:
        tab.press(f"button[data-shape={shape}]")
        for at in (1, 2, 0):
            tab.choose("#branch", str(at))
            assert leaves(tab) == sorted(PAGES[at])
        tab.choose("#branch", "-1")
        assert [text for text in tab.texts("#branches") if " · " in text] == [
            f"{name} · {len(pages)}" for name, pages in zip(NAMES, PAGES, strict=True)
        ]


def test_another_shape_replaces_the_first(browser: Browser, page: Path) -> None:
    """Radial and Tree are drawn one instead of the other, however often they are changed."""
    with browser.opened(page) as tab:
        tab.choose("#branch", "1")
        lines = len(PAGES[1])
        for shape in ("radial", "orthogonal", "radial"):
            tab.press(f"button[data-shape={shape}]")
            drawn = tab.run("document.querySelectorAll('#branches svg path[fill=none]').length")
            assert (drawn, leaves(tab)) == (lines, sorted(PAGES[1])), shape


@pytest.mark.long
def test_a_click_on_a_cluster_opens_it(browser: Browser, page: Path) -> None:
    """A click on a cluster of the tree shows its pages and sets the list beside it."""
    with browser.opened(page) as tab:
        tab.click(*tab.drawn_text("#branches", "3 · Page 15 2"))
        assert tab.run("document.getElementById('branch').value") == "2"
        assert leaves(tab) == sorted(PAGES[2])


@pytest.mark.long
def test_the_map_zooms_and_moves(browser: Browser, page: Path) -> None:
    """The buttons zoom in and out; the mouse drags the map; Whole map restores it."""
    with browser.opened(page) as tab:
        tab.press("button[data-zoom='0.5']")
        assert tab.run(_ZOOM) == [50, 50]
        x, y = tab.middle("#dots")
        tab.drag((x, y), (x + 100, y + 50))
        tab.wait(f"{_OPTION}.dataZoom[0].start !== 25")
        tab.press("button[data-zoom='2']")
        assert tab.run(_ZOOM) == pytest.approx([100, 100])
        x, y = tab.middle("#dots")
        # Shift: 8.
        tab.mouse("mouseWheel", x, y, deltaX=0, deltaY=-240, modifiers=8)
        tab.wait(f"{_ZOOM}[0] < 100")
        tab.press("button[data-zoom=all]")
        assert tab.run(_ZOOM) == pytest.approx([100, 100])


@pytest.mark.long
def test_clusters_are_hidden_and_shown(browser: Browser, page: Path) -> None:
    """A click on a name hides its cluster; Hide all and Show all do so for all."""
    with browser.opened(page) as tab:
        tab.middle("#dots")
        tab.click(*tab.drawn_text("#dots", "2 · Page 9 1", lowest=True))
        assert [tab.run(_SELECTED).get(name, True) for name in NAMES] == [True, False, True]
        tab.press("button[data-legend=none]")
        assert tab.run(_SELECTED) == dict.fromkeys(NAMES, False)
        tab.press("button[data-legend=all]")
        assert tab.run(_SELECTED) == dict.fromkeys(NAMES, True)


@pytest.mark.long
def test_a_click_on_a_dot_opens_its_page(browser: Browser, page: Path) -> None:
    """A dot opens its own page, and pointing at it tells its title."""
    with browser.opened(page) as tab:
        tab.run("void (window.asked = [], window.open = (url) => asked.push(url))")
        tab.middle("#dots")
        dot = tab.run(
            "(() => { const chart = echarts.getInstanceByDom(document.getElementById('dots')); "
            "const box = document.getElementById('dots').getBoundingClientRect(); "
            "const [x, y] = chart.convertToPixel({ seriesIndex: 0 }, data.dots[4].slice(0, 2)); "
            "return [box.x + x, box.y + y]; })()"
        )
        tab.click(*dot)
        assert tab.run("asked") == ["https://www.slowkettle.example/4/"]
        assert "Page 4" in tab.run("document.getElementById('dots').innerText")


@pytest.mark.long
def test_a_name_in_the_table_opens_its_pages(browser: Browser, page: Path) -> None:
    """A link of the table opens the list of the cluster's pages, and so does the address in a new window."""
    with browser.opened(page) as tab:
        tab.press("a[href='#cluster-2']")
        tab.wait("document.getElementById('cluster-2').open")
        tab.press("#cluster-2 summary")
        assert not tab.run("document.getElementById('cluster-2').open")
        tab.press("a[href='#cluster-2']")
        tab.wait("document.getElementById('cluster-2').open")


@pytest.mark.long
@pytest.mark.parametrize("shape", ["orthogonal", "radial"])
def test_the_tree_tells_clusters_and_pages(browser: Browser, page: Path, shape: str) -> None:
    """In both shapes, pointing at a cluster tells its name, a click opens it, and its pages tell their addresses."""
    with browser.opened(page) as tab:
        tab.press(f"button[data-shape={shape}]")
        tab.point(tab.drawn_text("#branches", NAMES[2]), "#branches", NAMES[2])
        tab.click(*tab.drawn_text("#branches", NAMES[2]))
        assert leaves(tab) == sorted(PAGES[2])
        tab.point(tab.drawn_text("#branches", "Page 16"), "#branches", "https://www.slowkettle.example/16/")


@pytest.mark.long
def test_the_map_stays_as_a_person_left_it(browser: Browser, page: Path) -> None:
    """Another size of the window and other colours keep the part of the map that is shown, and what is hidden."""
    with browser.opened(page) as tab:
        tab.press("button[data-zoom='0.5']")
        tab.middle("#dots")
        tab.click(*tab.drawn_text("#dots", NAMES[1], lowest=True))
        tint = f"{_OPTION}.series[0].itemStyle.color"
        light = tab.run(tint)
        tab.colours("dark")
        tab.wait(f"{tint} !== {light!r}")
        tab.resize(700, 900)
        tab.wait("document.querySelector('#dots svg').clientWidth < 700")
        assert tab.run(_ZOOM) == [50, 50]
        assert [tab.run(_SELECTED).get(name, True) for name in NAMES] == [True, False, True]
