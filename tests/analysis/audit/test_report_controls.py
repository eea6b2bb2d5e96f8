"""Every control of audit.html does what it says in a real browser, and none throws."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from internal_linker.analysis.audit.records import Audit
from tests.analysis.audit.test_report import written
from tests.support.audits import audit, audited
from tests.support.browser_tab import Browser
from tests.support.browser_tab import browser as started_browser

CHARTS = ("#treemap", "#matrix-before", "#matrix-after", "#histogram", "#curve")


@pytest.fixture(scope="module", name="browser")
def started() -> Iterator[Browser]:
    with started_browser() as found:
        yield found


def small(links: Sequence[tuple[int, int]], offered: Sequence[tuple[tuple[int, int], float]] = ()) -> Audit:
    urls = [f"https://www.slowkettle.example/{name}" for name in ("", "a", "b")]
    return audited(urls, ["Home", "A", "B"], links, offered)


def test_all_controls_of_audit_html_work(browser: Browser, tmp_path: Path) -> None:
    """Pressing everything and pointing everywhere, in both colours and widths, leads to no uncaught error."""
    with browser.opened(written(tmp_path, audit(60))) as tab:
        assert tab.press_everything() >= 15
        for chart in CHARTS:
            tab.point_everywhere(chart)
        tab.colours("dark")
        tab.resize(390, 900)
        tab.wait("document.querySelector('#treemap svg').clientWidth < 390")
        tab.press_everything()


@pytest.mark.long
def test_a_report_without_proposals_works(browser: Browser, tmp_path: Path) -> None:
    """Without proposed links the controls that remain work."""
    with browser.opened(written(tmp_path, small([(0, 1)]))) as tab:
        assert tab.press_everything() >= 8
        for chart in set(CHARTS) - {"#histogram"}:
            tab.point_everywhere(chart, 4)


@pytest.mark.long
def test_a_report_without_known_links_works(browser: Browser, tmp_path: Path) -> None:
    """Without known links, tiles show pages without orphans, and no chart of links is drawn."""
    with browser.opened(written(tmp_path, small([], [((0, 1), 3.0)]))) as tab:
        assert tab.press_everything() >= 5
        for chart in ("#treemap", "#histogram"):
            tab.point_everywhere(chart, 4)
        assert "3 pages" in " ".join(tab.texts("#treemap"))
        assert not any("orphans" in text for text in tab.texts("#treemap"))


@pytest.mark.long
def test_today_and_after_colour_the_treemap(browser: Browser, tmp_path: Path) -> None:
    """Today and After show their own shares of orphans, and the pressed button says which."""
    found = audit(60)
    with browser.opened(written(tmp_path, found)) as tab:

        def pressed() -> list[str]:
            names: list[str] = tab.run(
                "[...document.querySelectorAll('button[aria-pressed=true]')].map((one) => one.textContent)"
            )
            return names

        def shares() -> list[str]:
            return [text for text in tab.texts("#treemap") if text.endswith("orphans")]

        today = shares()
        assert pressed() == ["Today"]
        tab.press("button[data-state=after]")
        after = shares()
        assert pressed() == ["After"] and len(found.after.orphans) < len(found.before.orphans)
        assert after.count("0% orphans") > today.count("0% orphans")
        tab.press("button[data-state=before]")
        assert (pressed(), shares()) == (["Today"], today)


@pytest.mark.long
def test_pointing_tells_the_figures(browser: Browser, tmp_path: Path) -> None:
    """A tile, a cell, a bar and the curve tell their figures where the mouse is."""
    with browser.opened(written(tmp_path, audit(60))) as tab:
        for chart, told in zip(
            CHARTS, ("orphans today:", "today:", "today:", "links (", "pages hold"), strict=True
        ):
            tab.point_everywhere(chart, 4)
            tab.wait(f"document.querySelector('{chart}').innerText.includes('{told}')")


@pytest.mark.long
def test_a_name_of_the_legend_hides_its_curve(browser: Browser, tmp_path: Path) -> None:
    """A click on "after" in the legend of the PageRank curves hides that curve, and another one shows it."""
    selected = (
        "echarts.getInstanceByDom(document.getElementById('curve')).getOption().legend[0].selected.after"
    )
    with browser.opened(written(tmp_path, audit(60))) as tab:
        for shown in (False, True):
            tab.click(*tab.drawn_text("#curve", "after"))
            assert tab.run(selected) is shown
