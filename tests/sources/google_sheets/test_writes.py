"""Which cells a write hit, shown by a reading before it and one after it."""

from collections.abc import Sequence

import pytest

from internal_linker.sources.google_sheets.reconcile import Place, Reading, Writes

HEADER = ["URL", "Query", "Notes", "Link"]
ROWS = [["/a", "qa", "na", "old a"], ["/b", "qb", "nb", "old b"], ["/c", "qc", "nc", "old c"]]
GRID = [HEADER, *ROWS]
SENT = {(2, 4): "new a", (3, 4): "new b"}


def reading(values: Sequence[Sequence[str]]) -> Reading:
    top = next(at for at, line in enumerate(values, 1) if "URL" in line)
    header = values[top - 1]
    at = {name: header.index(name) + 1 for name in ("URL", "Query", "Link") if name in header}
    keys = [[at["URL"], at["Query"]], [at["URL"]]] if "Query" in at else [[at["URL"]]]
    return Reading(values, top, keys, [at["Link"]] if "Link" in at else [])


def hit(
    moved: Sequence[Sequence[str]],
    after: Sequence[Sequence[str]] | None = None,
    sent: dict[Place, str] = SENT,
) -> tuple[dict[Place, str], Writes]:
    """Return what is wrong in a tab that changed to `moved` before the write, and to `after` after it."""
    writes = Writes()
    assert writes.compare(reading(GRID)) == ({}, [])
    writes.sending(sent)
    now = [[*line] for line in moved]
    for (row, column), text in sent.items():
        line = now[row - 1]
        line += [""] * (column - len(line))
        line[column - 1] = text
    cells, gone = writes.compare(reading(now if after is None else after))
    assert gone == []
    return cells, writes


def test_a_write_that_arrived_hit_nothing() -> None:
    sorted_after = [
        HEADER,
        ["/c", "qc", "new a", "old c"],
        ["/b", "qb", "nb", "new b"],
        ["/a", "qa", "na", "new a"],
    ]
    assert hit(GRID)[0] == {}
    assert hit(GRID, sorted_after)[0] == {}


@pytest.mark.parametrize(
    ("moved", "wrong"),
    [
        pytest.param([HEADER, ROWS[2], *ROWS[:2]], {(2, 4): "old c", (3, 4): "new a"}, id="sorted"),
        pytest.param(
            [HEADER, ["/new", "qn", "nn", ""], *ROWS], {(2, 4): "", (3, 4): "new a"}, id="row inserted"
        ),
        pytest.param([HEADER, ROWS[0], ROWS[2]], {(3, 4): "old c"}, id="row deleted"),
        pytest.param(
            [["x", *line] for line in GRID], {(2, 4): "na", (3, 4): "nb"}, id="column inserted, notes hit"
        ),
        pytest.param([line[:2] + line[3:] for line in GRID], {(2, 4): "", (3, 4): ""}, id="column deleted"),
        pytest.param(
            [[*line[:3], line[3] if at else "Kept"] for at, line in enumerate(GRID)],
            {(2, 4): "old a", (3, 4): "old b"},
            id="our column renamed",
        ),
        pytest.param([[], *GRID], {(2, 4): "Link", (3, 4): "old a"}, id="title inserted"),
    ],
)
def test_what_a_write_hit_comes_back(moved: list[list[str]], wrong: dict[Place, str]) -> None:
    cells, writes = hit(moved)
    assert cells == wrong and not writes.lost


def test_a_row_whose_url_was_hit_is_known_by_its_other_texts() -> None:
    """Three new columns on the left: our text lands in the URLs."""
    cells, writes = hit([["x", "y", "z", *line] for line in GRID])
    assert cells == {(2, 4): "/a", (3, 4): "/b"} and not writes.lost


def test_a_row_that_nobody_can_know_again_is_named() -> None:
    """New columns and a new row at once, and a URL was hit: nothing is guessed."""
    new = [["x", "y", "z", *line] for line in GRID]
    cells, writes = hit([new[0], ["", "", "", "/new", "qn", "nn", "on"], *new[1:]])
    assert writes.lost == {2} and (2, 4) not in cells and cells[3, 4] == "/a"


def test_an_emptied_cell_comes_back() -> None:
    """A write that empties a cell hits a text; an empty cell elsewhere is somebody's own."""
    moved = [HEADER, ROWS[1], ROWS[0], ["/c", "qc", "", "old c"]]
    assert hit(moved, sent={(2, 4): ""})[0] == {(2, 4): "old b"}
    assert hit([HEADER, *ROWS[1:]], sent={(2, 4): ""})[0] == {(2, 4): "old b"}
    typed = [HEADER, ["/b", "qb", "nb", "own"], *ROWS[::2]]
    assert hit(GRID, typed, sent={(2, 4): ""})[0] == {}


def test_what_is_astray_is_found_after_another_move() -> None:
    moved = [HEADER, ["/a", "qa", "na", "new b"], ["/c", "qc", "nc", "new a"], ["/b", "qb", "nb", "old b"]]
    cells, writes = hit(GRID, moved)
    assert cells == {(2, 4): "new a", (3, 4): "old c"}
    assert writes.compare(reading([HEADER, *moved[2:], moved[1]]))[0] == {(2, 4): "old c", (4, 4): "new a"}
    assert writes.wrote("new a") and not writes.wrote("") and not writes.wrote("old a")


def test_rows_that_were_deleted_by_mistake_come_back() -> None:
    writes = Writes()
    writes.compare(reading(GRID))
    writes.deleting([2])
    assert writes.compare(reading([HEADER, ROWS[0], ROWS[2]])) == ({}, [ROWS[1]])
    wider = [["x", *line] for line in (HEADER, ROWS[0], ROWS[2])]
    cells, gone = writes.compare(reading(wider))
    assert cells == {} and gone == [[None, *ROWS[1]]]
    writes.appending(gone)
    assert writes.compare(reading([*wider, ["", *ROWS[1]]])) == ({}, [])


def test_rows_that_were_appended_under_other_columns_are_emptied() -> None:
    writes = Writes()
    writes.compare(reading(GRID))
    writes.appending([["/d", "qd", "", "new d"]])
    now = [*(["x", *line] for line in GRID), ["/d", "qd", "", "new d"], ["", "/e", "", "own", ""]]
    assert writes.compare(reading(now))[0] == {(5, 1): "", (5, 2): "", (5, 4): ""}
