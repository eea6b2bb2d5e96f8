"""What a write to a tab hit if editors moved rows or columns right before it, and what must stand there instead.

Google's API writes to places, not to rows, and knows no condition. So every write has a reading right before it and
another after it. Where the second shows one of our texts in another row or column than the one it was meant for, the
cell gets back what the first reading has for its row and column.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from internal_linker.sources.google_sheets.spreadsheet import Cells
from internal_linker.sources.tables.columns import Cell, fold_header, text_of

Place = tuple[int, int]
"""Row and column, both from 1."""
Line = list[Cell | None]


class Reading:
    """One reading of a tab; rows and columns count from 1.

    Args:
        values: all rows; short ones lack empty cells at their end.
        top: the row of the column names.
        keys: groups of columns that identify a row, the most reliable first.
        ours: columns that we write into.
    """

    def __init__(
        self,
        values: Sequence[Sequence[Any]],
        top: int,
        keys: Sequence[Sequence[int]],
        ours: Collection[int],
    ) -> None:
        self.values, self.top, self.keys, self.ours = values, top, keys, ours
        self.rows = range(1, len(values) + 1)
        self.columns = range(1, max(map(len, values), default=0) + 1)

    def cell(self, row: int | None, column: int | None) -> Any:
        """Return the content of a cell, "" outside the filled range."""
        if row is None or column is None or row > len(self.values) or column > len(self.values[row - 1]):
            return ""
        return self.values[row - 1][column - 1]

    def text(self, row: int | None, column: int | None) -> str:
        """Return the text of a cell."""
        return text_of(self.cell(row, column))

    def texts(self, row: int, columns: Iterable[int]) -> tuple[str, ...]:
        """Return a row's texts in these columns."""
        return tuple(self.text(row, column) for column in columns)

    def changed(self, cells: Mapping[Place, Any], lines: Sequence[Line] = ()) -> "Reading":
        """Return a copy of the reading with other content in some cells, and with more rows at the end."""
        rows: dict[int, list[Any]] = {}
        for (row, column), cell in cells.items():
            line = rows.setdefault(row, [*self.values[row - 1]])
            line += [""] * (column - len(line))
            line[column - 1] = cell
        values = [rows.get(row, line) for row, line in zip(self.rows, self.values, strict=True)]
        return Reading([*values, *lines], self.top, self.keys, self.ours)


class Writes:
    """The writes to one tab, reading by reading: which cells they hit, and which rows they deleted by mistake."""

    def __init__(self) -> None:
        # What the tab should contain, judging by the last reading and by the rows appended since.
        self._before = Reading([], 1, [], ())
        # What was written since the last reading: cells, rows that were deleted, and rows of `_before` appended.
        self._sent: dict[Place, str] = {}
        self._doomed: set[int] = set()
        self._appended = range(0)
        self._ever_sent: set[str] = set()
        # Texts that did not arrive where they belong: they are somewhere else.
        self._astray: set[str] = set()
        # Rows that are to come back, and their numbers in `_before`.
        self._gone: dict[int, Line] = {}
        self.lost: set[int] = set()
        """Rows that can't be recognised, because one of our texts is in the columns that identify them."""

    def sending(self, cells: Cells) -> None:
        """Record the cells that are about to be written; even a failed request may have been carried out."""
        self._sent = {place: text_of(cell) for place, cell in cells.items()}
        self._ever_sent.update(self._sent.values())

    def appending(self, lines: Sequence[Line]) -> None:
        """Record the rows that are about to be appended."""
        self._ever_sent.update(text_of(cell) for line in lines for cell in line)
        first = self._before.rows.stop
        self._before = self._before.changed({}, [line for line in lines if line not in self._gone.values()])
        self._appended = range(self._appended.start or first, self._before.rows.stop)

    def deleting(self, rows: Iterable[int]) -> None:
        """Record the rows that are about to be deleted."""
        self._doomed = {*rows}

    def wrote(self, text: str) -> bool:
        """Return whether we wrote this text; False for an empty one."""
        return bool(text) and text in self._ever_sent

    def compare(self, now: Reading) -> tuple[dict[Place, Any], list[Line]]:
        """Return what hit cells should contain, and the rows to bring back, each as wide as the tab."""
        cells, gone = self._compare(now) if self._ever_sent or self._doomed or self._gone else ({}, [])
        self._before = now.changed(cells, gone)
        self._gone = dict(enumerate(gone, now.rows.stop))
        self._sent, self._doomed, self._appended = {}, set(), range(0)
        return cells, gone

    def _compare(self, now: Reading) -> tuple[dict[Place, Any], list[Line]]:
        before = self._before
        columns = _same_columns(now, before)
        places = {old: new for new, old in columns.items()}
        # Our texts may be in the columns that they were meant for, and in those that stand in their place now.
        hit = {at for _, old in self._sent for at in (old, places.get(old, old))}
        rows = _same_rows(now, before, columns, hit)
        lines = {old: new for new, old in rows.items()}
        self.lost = {row for row, old in rows.items() if old in self.lost}
        added = {
            (row, column): text
            for row in self._appended
            for column, text in enumerate(before.texts(row, before.columns), start=1)
            if text
        }
        missed = {
            (row, column): text
            for (row, column), text in {**added, **self._sent}.items()
            if row not in lines
            or now.text(lines[row], places.get(column)) != text
            # A column of ours that somebody renamed is ours no more.
            or (column in before.ours) != (places.get(column) in now.ours)
        }
        self._astray.update(filter(None, missed.values()))
        emptied = {place for place, text in missed.items() if not text}
        moved = any(new != old for new, old in columns.items())
        cells = dict[Place, Any]()
        for row in now.rows if self._astray or emptied or moved else ():
            texts = dict(enumerate(now.texts(row, now.columns), start=1))
            strays = [
                at
                for at, text in texts.items()
                if text in self._astray or (not text and (row, at) in emptied)
            ]
            if row in rows:
                cells |= self._former(now, row, rows[row], {at: columns.get(at) for at in strays})
            else:
                filled = {at: text for at, text in texts.items() if text}
                cells |= self._unknown(now, row, filled, {*strays} & hit, moved=moved)
        return cells, self._missing(now, columns, lines.keys())

    def _former(
        self, now: Reading, row: int, old: int, columns: Mapping[int, int | None]
    ) -> dict[Place, Any]:
        """Return what a row should contain in these columns where it contains something else."""
        cells = {}
        for column, former in columns.items():
            cell = self._before.cell(old, former)
            if former is not None and column in now.ours:
                cell = self._sent.get((old, former), cell)
            if text_of(cell) != now.text(row, column):
                cells[row, column] = "" if cell is None else cell
        return cells

    def _unknown(
        self, now: Reading, row: int, filled: Mapping[int, str], strays: set[int], *, moved: bool
    ) -> dict[Place, Any]:
        """Return the cells to empty in a row that the last reading doesn't have."""
        keys, texts = {column for columns in now.keys for column in columns}, {*filled.values()}
        # A URL alone may be an editor's new page.
        is_ours = texts <= (self._ever_sent if moved else self._astray) and len(filled) > len(
            keys & filled.keys()
        )
        if is_ours:
            self._astray |= texts
            return {(row, column): "" for column in filled}
        if strays & keys or not strays <= {*now.ours}:
            self.lost.add(row)
            return {}
        return {(row, column): "" for column in strays}

    def _missing(self, now: Reading, columns: Mapping[int, int], found: Collection[int]) -> list[Line]:
        """Return the rows that disappeared when we deleted others: we may have hit them, because rows had moved."""
        before = self._before
        gone = [
            row
            for row in before.rows
            if row not in found and (row in self._gone or (self._doomed and row not in self._doomed))
        ]
        lines = [
            [before.cell(row, columns[at]) if at in columns else None for at in now.columns] for row in gone
        ]
        return [line for line in lines if any(map(text_of, line))]


def _same_columns(now: Reading, before: Reading) -> dict[int, int]:
    """Map columns to those of the reading before: by name, or between the same neighbours if they were renamed."""
    names = [
        {at: (fold_header(reading.text(reading.top, at)),) for at in reading.columns}
        for reading in (now, before)
    ]
    return _between(_pairs(*names), now.columns, before.columns)


def _same_rows(
    now: Reading, before: Reading, columns: Mapping[int, int], hit: Collection[int]
) -> dict[int, int]:
    """Map rows to those of the reading before, by columns that no write can have hit.

    These are columns that identify rows, or else all of them; a row with neither is known by its neighbours.
    """
    rows = {now.top: before.top}
    safe = [at for at in columns if at not in hit]
    for group in (*(keys for keys in now.keys if {*keys} <= {*safe}), safe):
        known, former = {*rows.values()}, [columns[at] for at in group]
        rows |= _pairs(
            {row: now.texts(row, group) for row in now.rows if row not in rows},
            {row: before.texts(row, former) for row in before.rows if row not in known},
        )
    keys = sorted({at for group in now.keys for at in group}.intersection(safe))
    former = [columns[at] for at in keys]
    between = _between(rows, now.rows, before.rows)
    return {
        row: old
        for row, old in between.items()
        if row in rows or now.texts(row, keys) == before.texts(old, former)
    }


def _pairs(now: Mapping[int, tuple[str, ...]], before: Mapping[int, tuple[str, ...]]) -> dict[int, int]:
    """Pair equal names in their order, which means nothing once there are more or fewer of them."""
    numbers = [dict[tuple[str, ...], list[int]](), dict[tuple[str, ...], list[int]]()]
    for found, names in zip(numbers, (now, before), strict=True):
        for number, name in names.items():
            if any(name):
                found.setdefault(name, []).append(number)
    ours, theirs = numbers
    equal = [(at, theirs[name]) for name, at in ours.items() if len(at) == len(theirs.get(name, ()))]
    return {new: old for at, former in equal for new, old in zip(at, former, strict=True)}


def _between(pairs: Mapping[int, int], now: range, before: range) -> dict[int, int]:
    """Add pairs for what stands between the same neighbours as before, if it is as much as before."""
    found, known = {**pairs}, {*pairs.values()}
    ends = [(0, 0), *sorted(pairs.items()), (now.stop, before.stop)]
    for (left, old_left), (right, old_right) in pairwise(ends):
        between = range(old_left + 1, old_right)
        if right - left == old_right - old_left and known.isdisjoint(between):
            found |= zip(range(left + 1, right), between, strict=True)
    return found
