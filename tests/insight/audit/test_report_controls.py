"""Every control of audit.html does what it says in a real browser, and none throws."""

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from internal_linker.insight.audit.records import Audit
from tests.insight.audit.test_report import EVIL, written
from tests.support.audits import audit, audited
from tests.support.browser_tab import Browser, Tab
from tests.support.browser_tab import browser as started_browser

CHARTS = ("#treemap", "#matrix-before", "#matrix-after", "#histogram", "#curve")


@pytest.fixture(scope="module", name="browser")
def started() -> Iterator[Browser]:
    with started_browser() as found:
        yield found


def small(links: Sequence[tuple[int, int]], offered: Sequence[tuple[tuple[int, int], float]] = ()) -> Audit:
    urls = [f"https://www.slowkettle.example/{name}" for name in ("", "a", "b")]
    return audited(urls, ["Home", "A", "B"], links, offered)


@pytest.mark.long
def test_all_controls_of_audit_html_work(browser: Browser, tmp_path: Path) -> None:
    found = audit(60)
    with browser.opened(written(tmp_path, replace(found, titles=[*EVIL, *found.titles[len(EVIL) :]]))) as tab:
        assert tab.press_everything() >= 15
        drawn = "[...document.querySelectorAll('.chart')].map((one) => !!one.querySelector('svg path'))"
        assert tab.run(drawn) == [True] * 5
        assert tab.run("document.title") == "Internal links of www.slowkettle.example"
        for chart in CHARTS:
            tab.point_everywhere(chart, 3)
        tab.colours("dark")
        tab.resize(390, 900)
        tab.wait("document.querySelector('#treemap svg').clientWidth < 390")
        tab.press_everything()


LINKS = "table[data-name=proposed-links]"


def first_cells(tab: Tab, column: int, table: str = LINKS) -> list[str]:
    """Return the texts of a column's visible cells."""
    found: list[str] = tab.run(
        f"[...document.querySelectorAll('{table} tbody tr')].filter((row) => row.getClientRects().length)"
        f".map((row) => plain(row.cells[{column}].querySelector('.title') || row.cells[{column}]))"
    )
    return found


@pytest.mark.long
def test_a_table_sorts_filters_and_goes_out_as_csv(browser: Browser, tmp_path: Path) -> None:
    with browser.opened(written(tmp_path, audit(60))) as tab:
        scores = [int(score) for score in first_cells(tab, 3)]
        assert scores == sorted(scores, reverse=True)
        for down in (True, False):
            tab.press(f"{LINKS} th:nth-child(4) button")
            assert [int(score) for score in first_cells(tab, 3)] == sorted(scores, reverse=down)
        assert tab.run(f"document.querySelector('{LINKS} th[aria-sort]').ariaSort") == "ascending"
        tab.type("#links .table-tools input", "brewing text")
        left = first_cells(tab, 4)
        assert 0 < len(left) < len(scores) and set(left) == {"in the text"}
        assert tab.run("plain(document.querySelector('#links [role=status]'))") == (
            f"{len(left)} of {len(scores)} rows"
        )
        lines = tab.run(f"csvOf(document.querySelector('{LINKS}'))").split("\r\n")
        assert lines[0].startswith(
            '\ufeff"From","From (URL)","To","To (URL)","Sentence with anchor","Anchor","Score"'
        )
        assert len(lines) == len(left) + 2


@pytest.mark.long
def test_a_csv_is_safe_to_open(browser: Browser, tmp_path: Path) -> None:
    titles = ['=HYPERLINK("x")', "+1 say", '"quoted", with comma']
    found = small([(0, 1)], [((0, 2), 4.0), ((1, 2), 4.0)])
    with browser.opened(written(tmp_path, replace(found, titles=titles))) as tab:
        text = tab.run(f"csvOf(document.querySelector('{LINKS}'))")
        rows = list(csv.reader(io.StringIO(text.removeprefix("\ufeff"))))
        assert {row[0] for row in rows[1:]} == {"'" + titles[0], "'" + titles[1]}
        assert {row[2] for row in rows[1:]} == {titles[2]}
        figures = tab.run("['+2,500', '-0.25', '-x', '12%', '@a'].map(csvCell)")
        assert figures == ['"+2500"', '"-0.25"', '"\'-x"', '"12%"', '"\'@a"']


@pytest.mark.long
def test_today_and_after_colour_the_treemap(browser: Browser, tmp_path: Path) -> None:
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
def test_each_cell_of_the_matrices_tells_its_own_links(browser: Browser, tmp_path: Path) -> None:
    with browser.opened(written(tmp_path, audit(60))) as tab:
        matrix = tab.run("data.matrix")
        names, before, after = matrix["names"], matrix["before"], matrix["after"]
        assert len(names) > 1
        for chart in ("#matrix-before", "#matrix-after"):
            for y, source in enumerate(names):
                for x, target in enumerate(names):
                    figures = f"today: {before[y][x]:,}", f"after: {after[y][x]:,}"
                    tab.point(tab.at_value(chart, [x, y]), chart, f"{source} → {target}", *figures)
