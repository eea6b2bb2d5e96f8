"""Delivery to the Sheet: what is reported, and how many requests of which size it takes."""

import re
from typing import Any

import pytest

from internal_linker.sources.google_sheets.spreadsheet import chunks, ranges
from tests.standins import GoogleStandIn, Reset
from tests.support.sheets import HEADER, READ, SITE, WRITE, a_to_c, before, edit, links_for, row_of, sheet


def test_a_deleted_row_is_reported(google: GoogleStandIn) -> None:
    google.set_grid("Main", [HEADER, [SITE + "a", "a query"], ["https://other.com/", "", "its own"]])
    before(google, WRITE, edit(google, lambda grid: [grid[0], *grid[2:]]))
    gaps = sheet(google).deliver(a_to_c()[:1], "run")
    assert len(gaps) == 1
    assert "https://shop.com/a (a query): the links could not be written" in gaps[0]
    assert google.grid("Main") == [HEADER, ["https://other.com/", "", "its own"]]


def test_a_row_that_keeps_changing_is_reported_after_one_repair(google: GoogleStandIn) -> None:

    def meddle(grid: list[list[str]]) -> list[list[str]]:
        return [grid[0], [SITE + "a", "a query", "mine!", *grid[1][3:]], *grid[2:]]

    before(google, READ, edit(google, meddle), times=9)
    gaps = sheet(google).deliver(a_to_c(), "run")
    assert len(gaps) == 1
    assert "https://shop.com/a (a query): the links could not be written: row 2" in gaps[0]
    assert [row[:4] for row in google.grid("Main")[2:]] == [row_of("b"), row_of("c")]
    assert len(google.calls(WRITE)) == 2


def test_chunks_are_placed_each_by_a_fresh_look(
    google: GoogleStandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A write whose answer got lost is looked at before it is repeated; rows are sorted before the second one."""
    monkeypatch.setattr("internal_linker.sources.google_sheets.spreadsheet.MAX_BYTES", 20_000)
    names = [f"{number:04}" for number in range(20)]
    google.set_grid("Main", [HEADER, *([SITE + name, "", "", "", "old"] for name in names)])
    wanted = {SITE + name: [f"{SITE}{name}-{rank}-{'x' * 900}" for rank in (1, 2)] for name in names}
    seen: list[str] = []

    def sort_before_the_second_write(request: Any) -> None:
        if re.search(WRITE, request.words):
            seen.append(request.words)
            if len(seen) == 2:
                edit(google, lambda grid: [grid[0], *reversed(grid[1:])])()

    google.on_request = sort_before_the_second_write
    google.script(Reset(after_work=True), on=WRITE)
    assert sheet(google).deliver([links_for(url, *targets) for url, targets in wanted.items()], "run") == []
    assert {row[0]: row[2:] for row in google.grid("Main")[1:]} == wanted
    assert google.grid("Main")[1][0] == SITE + "0019"
    writes = google.calls(WRITE)
    assert 3 <= len(writes) <= 4 and all(call.size < 21_000 for call in writes)


@pytest.mark.parametrize(("header", "calls"), [(HEADER, "GGGGPG"), (HEADER[:2], "GGGGPGPG")])
def test_rows_of_any_number_cost_six_calls(google: GoogleStandIn, header: list[str], calls: str) -> None:
    """A read takes two calls (tabs, values), a delivery four (tabs, values, write, read back), new columns two more."""
    names = [f"{number:04}" for number in range(100)]
    google.set_grid("Main", [header, *([SITE + name, name] for name in names)])
    ours = sheet(google)
    assert len(ours.read().rows) == 100
    targets = [f"{SITE}target-{rank}" for rank in range(3)]
    assert ours.deliver([links_for(SITE + name, *targets, query=name) for name in names], "run") == []
    assert "".join(call.method[0] for call in google.calls("/v4/")) == calls
    assert google.grid("Main")[100] == [SITE + "0099", "0099", *targets]


def test_ranges_are_blocks_that_leave_gaps_alone() -> None:
    cells = {(2, 3): "a", (4, 4): "b", (50, 3): "c", (2, 9): "d"}
    assert ranges(cells) == [
        (2, 3, [["a", None], [None, None], [None, "b"]]),
        (50, 3, [["c", None]]),
        (2, 9, [["d"]]),
    ]


def test_chunks_keep_rows_whole_and_order() -> None:
    cells = {(row, column): "x" for row in [9000, *range(100, 9000, 10)] for column in (1, 2)}
    parts = list(chunks(cells))
    assert len(parts) == 2
    assert (9000, 1) in parts[0]
    assert {place: text for part in parts for place, text in part.items()} == cells
    assert not {row for row, _ in parts[0]} & {row for row, _ in parts[1]}
