"""Planning of writes to the tab Review while editors work in it."""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from internal_linker.adapters.google_sheets.reconcile import Strays, Table
from internal_linker.adapters.google_sheets.spreadsheet import MAX_BYTES, Cells, chunks
from internal_linker.adapters.tables.columns import Cell, text_of
from internal_linker.core.edges import ReviewRow
from internal_linker.core.errors import OutputError
from internal_linker.review.merge import (
    ANCHOR,
    COLUMNS,
    LINK_ID,
    PROPOSED,
    SOURCE,
    TARGET,
    Board,
    merge,
)

Line = list[Cell | None]

# Bytes of Google's JSON around each appended cell.
_FRAME = 50
# Runs of rows to delete in one call; each is a separate request to Google and shifts all rows below.
MAX_RUNS = 1000


@dataclass(frozen=True, slots=True)
class Work:
    """What a reading shows to be left; the first attribute that is not empty comes next.

    Attributes:
        columns: names of columns to insert to the right of the filled range.
        cells: cells to write by row and column, both from 1.
        new: rows to append, with a cell for each column of the tab.
        removed: runs of rows to delete, as first and last row from 1, the bottom run first.
    """

    columns: Sequence[str] = ()
    cells: Cells | None = None
    new: Sequence[Line] = ()
    removed: Sequence[tuple[int, int]] = ()

    def __bool__(self) -> bool:
        return bool(self.columns or self.cells or self.new or self.removed)

    @property
    def requests(self) -> int:
        """The count of writes with a reading before each; new rows need only one reading."""
        parts = sum(1 for _ in chunks(self.cells)) if self.cells else 0
        return parts + bool(self.new) + -(-len(self.removed) // MAX_RUNS)


def require_ids(board: Board) -> None:
    """Refuse a board whose rows can't be identified.

    Raises:
        OutputError: the hidden column of ids is gone, but others are there.
    """
    if LINK_ID in board.missing and (board.columns or board.rows):
        raise OutputError(
            f"The tab Review has no column '{LINK_ID}' in row 1 any more, so its rows can't be identified. "
            "Restore it with File > Version history, or delete the tab: the next run creates a new one."
        )


def parts_of(lines: Sequence[Line]) -> Iterator[Sequence[Line]]:
    """Split rows into parts that fit one request each."""
    part: list[Line] = []
    size = 0
    for line in lines:
        own = sum(_FRAME + len(json.dumps(cell)) for cell in line)
        if part and size + own > MAX_BYTES:
            yield part
            part, size = [], 0
        part.append(line)
        size += own
    if part:
        yield part


def runs_from_below(rows: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield runs of rows in the sheet's numbers, the bottom run first, from row numbers that start below the header."""
    last: int | None = None
    first = 0
    for row in sorted((at + 2 for at in rows), reverse=True):
        if last is not None and row == first - 1:
            first = row
            continue
        if last is not None:
            yield first, last
        first = last = row
    if last is not None:
        yield first, last


# How often missing columns are restored; an editor may be changing them.
_INSERTS = 2
# How often the hidden cells are put beside their links again.
_REUNIONS = 2
# Writes beyond those planned: some to place links again after editors moved rows, and some to restore editors' cells
# that a write hit.
_REPAIRS, _CORRECTIONS = 3, 6


class Placing:
    """The placing of one run's links in a tab that editors may be sorting, widening and filling.

    Each `compare` takes a new reading and returns what is left to do. Google writes to places, not to rows: if editors
    move rows or columns between a reading and a write, the write hits other cells. Those get back the texts of the
    reading, and rows that were deleted instead of others come back.

    Attributes:
        seen: the last reading; None before the first one.
    """

    def __init__(self, wanted: Sequence[ReviewRow]) -> None:
        self._wanted = wanted
        self._strays = Strays()
        self._board: Board | None = None
        self.seen: Board | None = None
        self._anchors: dict[str, tuple[str, str]] = {}
        self._work = Work()
        self._restored = set[str]()
        self._inserts_left, self._reunions_left = _INSERTS, _REUNIONS
        self._corrections_left = _CORRECTIONS
        self._writes_left = -1

    def compare(self, now: Board) -> Work:
        """Return what is left to do; nothing once no write is left.

        Raises:
            OutputError: the column of ids is gone.
        """
        require_ids(now)
        self.seen = now
        table = _table(now)
        strays, gone = self._strays.corrections(table)
        self._restored.update(now.missing)
        if now.missing:
            self._work = Work(columns=now.missing)
            self._inserts_left -= 1
            return self._work if self._inserts_left >= 0 else Work()
        strays |= self._half_anchors(_board(table.with_cells(strays)))
        self._board = corrected = _board(table.with_cells(strays), self._restored)
        if apart := _places(corrected, corrected.apart):
            return self._reunite(apart)
        found = merge(corrected, self._wanted)
        cells = {**strays, **_places(corrected, found.changes)}
        back = {text_of(line[corrected.columns[LINK_ID]]) for line in gone}
        lines = [*gone, *(_line(corrected, cells) for cells in found.new if cells[LINK_ID] not in back)]
        self._work = Work(cells=cells, new=lines, removed=list(runs_from_below(found.removed)))
        if self._writes_left < 0:
            self._writes_left = self._work.requests + _REPAIRS
        if (strays or gone) and not self._writes_left and self._corrections_left:
            self._corrections_left -= 1
            self._writes_left = 1
            return Work(cells=cells if strays else None, new=gone)
        return self._work if self._writes_left else Work()

    def _reunite(self, apart: Cells) -> Work:
        """Return the write of all hidden cells that were sorted apart from their links: all at once, or none.

        Raises:
            OutputError: they are too many for one request, or did not stay.
        """
        self._reunions_left -= 1
        if self._reunions_left < 0 or sum(1 for _ in chunks(apart)) > 1:
            raise OutputError(
                "Rows of the tab Review were sorted without its hidden columns, so they can't be updated; what editors "
                "decided in them was read. Undo the sort with File > Version history, or delete the tab: the next run "
                "creates a new one with all decisions."
            )
        self._work = Work(cells=apart)
        return self._work

    def writing(self, cells: Cells) -> None:
        """Record the cells that are about to be written; even a failed request may have been carried out."""
        assert self._board
        self._strays.sending(cells)
        board, at = self._board, self._board.columns
        self._anchors |= {
            board.link_id(row - 2): (board.text(row - 2, ANCHOR), str(cell))
            for (row, column), cell in cells.items()
            if column == at[PROPOSED] + 1 and cells.get((row, at[ANCHOR] + 1)) == cell
        }

    def appending(self, lines: Sequence[Line]) -> None:
        """Record the rows that are about to be appended."""
        assert self._board
        self._strays.appending(lines)
        at = self._board.columns
        texts = [[text_of(line[at[name]]) for name in (LINK_ID, ANCHOR, PROPOSED)] for line in lines]
        self._anchors |= {link: ("", anchor) for link, anchor, proposed in texts if anchor == proposed}

    def deleting(self, runs: Sequence[tuple[int, int]]) -> None:
        """Record the rows that are about to be deleted."""
        self._strays.deleting(row for first, last in runs for row in range(first, last + 1))

    def written(self) -> None:
        """Record that a write succeeded."""
        self._writes_left -= 1

    def problems(self) -> list[str]:
        """Describe what the last reading showed to be missing or wrong, one sentence per kind."""
        work, sentences = self._work, list[str]()
        if work.columns:
            names = ", ".join(work.columns)
            sentences.append(f"Columns of the tab Review could not be restored: {names}. Run again.")
        if rows := sorted({row for row, _ in work.cells or ()}):
            sentences.append(
                f"Rows of the tab Review did not keep what was written: {_some(rows)}. Check whether their cells are "
                "merged or being edited."
            )
        if work.new:
            sentences.append(f"{len(work.new)} links could not be added to the tab Review. Run again.")
        if work.removed:
            sentences.append(
                f"{len(work.removed)} rows of old links could not be removed from the tab Review. Run again."
            )
        if self._strays.lost:
            sentences.append(
                f"Rows of the tab Review may contain another row's text, because rows moved while links were written: "
                f"{_some(sorted(self._strays.lost))}. File > Version history shows their earlier content."
            )
        return sentences

    def _half_anchors(self, board: Board) -> dict[tuple[int, int], str]:
        """Return both cells of rows that got a new anchor without the tool's record of it, or the reverse."""
        cells = dict[tuple[int, int], str]()
        for row in range(len(board.rows)):
            old, new = self._anchors.get(board.link_id(row), ("", ""))
            shown, noted = board.text(row, ANCHOR), board.text(row, PROPOSED)
            if new and (shown == new) != (noted == new) and shown in (old, new):
                cells |= {(row + 2, board.columns[name] + 1): new for name in (ANCHOR, PROPOSED)}
        return cells


def _places(board: Board, changes: Mapping[int, Mapping[str, Cell]]) -> dict[tuple[int, int], Cell]:
    return {
        (row + 2, board.columns[name] + 1): cell
        for row, cells in changes.items()
        for name, cell in cells.items()
    }


def _line(board: Board, cells: Mapping[str, Cell]) -> Line:
    line: Line = [None] * (max(board.columns.values()) + 1)
    for name, cell in cells.items():
        line[board.columns[name]] = cell
    return line


def _board(table: Table, restored: Collection[str] = ()) -> Board:
    return Board(table.values[0], table.values[1:], restored)


def _table(board: Board) -> Table:
    at = {name: column + 1 for name, column in board.columns.items() if name in COLUMNS}
    keys = [[LINK_ID], [SOURCE, TARGET]]
    known = [[at[name] for name in names] for names in keys if at.keys() >= {*names}]
    return Table([board.header, *board.rows], known, [*at.values()])


def _some(rows: Sequence[int]) -> str:
    shown = ", ".join(map(str, rows[:5]))
    return f"{shown} and {len(rows) - 5} more" if len(rows) > 5 else shown
