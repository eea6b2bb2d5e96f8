"""Looks at a tab with our writes between them -> the cells of others that we hit, and what they held before."""

from collections.abc import Iterable, Sequence
from typing import Any

from internal_linker.adapters.google_sheets.ranges import Cells
from internal_linker.adapters.google_sheets.recognition import Recognition
from internal_linker.adapters.google_sheets.tables import Table
from internal_linker.review.merge import Cell, text_of

Place = tuple[int, int]


class Strays:
    """Knows, look by look, what the cells should hold that are not ours to write.

    Google writes to places, not to rows: where somebody moves rows or columns between our look and our write, cells
    of others are hit, and may move on before the next look. Such a cell is one that holds a text of ours and should
    hold another, by what stood there at the last look and by what we wanted to write. Rows that went just when we
    deleted others come back.
    """

    def __init__(self) -> None:
        self._true: Table | None = None
        self._wanted: Table | None = None
        self._sent: set[str] = set()
        self._named: set[str] = set()
        self._astray: set[str] = set()
        self._last: dict[Place, str] = {}
        self._appended: dict[str, int] = {}
        self._doomed: set[int] = set()
        self._returning: list[list[Cell | None]] = []
        self._rows: dict[int, int] = {}
        self._columns: dict[int, int] = {}
        self._moved = False
        self.lost: set[int] = set()
        """Rows that are not known again, with a text of ours where they should tell which they are."""

    def sending(self, cells: Cells) -> None:
        """Note what is about to be written; a failed request may have been carried out all the same."""
        self._last = {place: text_of(cell) for place, cell in cells.items()}
        self._sent.update(self._last.values())
        if self._wanted:
            self._named |= {
                text for (_, column), text in self._last.items() if column in self._wanted.telling
            }
            self._wanted = self._wanted.with_cells(cells)

    def appending(self, lines: Sequence[Sequence[Any]]) -> None:
        """Note the rows that are about to be appended; each must be known by the first of the tab's keys."""
        assert self._wanted
        [[key]] = self._wanted.keys[:1]
        first = len(self._wanted.values) + 1
        self._appended |= {text_of(line[key - 1]): row for row, line in enumerate(lines, start=first)}
        self._sent.update(text_of(cell) for line in lines for cell in line)
        self._named |= {text_of(line[column - 1]) for line in lines for column in self._wanted.telling}
        self._wanted = self._wanted.with_rows(lines)

    def deleting(self, rows: Iterable[int]) -> None:
        """Note the rows that are about to be deleted."""
        self._doomed = {*rows}

    def wrote(self, text: str) -> bool:
        """Whether a text is one of ours, and no empty one."""
        return bool(text) and text in self._sent

    def mended(self, now: Table) -> tuple[dict[Place, Any], list[list[Cell | None]]]:
        """Cells with what they should hold in place of what we wrote; rows to bring back, as wide as the tab is."""
        strays, gone = dict[Place, Any](), list[list[Cell | None]]()
        if self._true and self._wanted and self._sent | self._doomed:
            tables = now, self._true, self._wanted
            same = Recognition(*tables, self._sent, self._named, self._appended)
            self._rows, self._columns = same.rows, same.columns
            # For good: what moved once may wait for its turn over several looks.
            self._moved |= same.has_moved(self._doomed)
            self._astray |= self._missed(now)
            self.lost = self._lost(now)
            for row in now.numbers:
                if row not in self.lost:
                    strays |= self._strays_of(now, row, row in same.shifted)
                else:
                    strays |= self._all_ours(now, row)
            gone = self._gone(now)
        self._true = self._wanted = true = now.with_cells(strays)
        # What we wrote last may have to wait for its mending.
        known = {true.text(row, true.keys[0][0]): row for row in true.numbers if self._appended}
        self._appended = {key: known[key] for key in self._appended.keys() & known.keys()}
        self._doomed = set()
        return strays, gone

    def _strays_of(self, now: Table, row: int, is_shifted: bool) -> dict[Place, Any]:
        assert self._true and self._wanted
        found, old = {}, self._rows.get(row)
        is_new = old is not None and old not in self._true.numbers
        for column in range(1, now.width + 1):
            held = self._wanted if is_new or column in now.ours else self._true
            text = now.text(row, column)
            if (text in self._sent and self._is_ours(row, column, text)) or (is_shifted and not text):
                cell = held.cell(old, self._columns.get(column))
                if text != text_of(cell):
                    found[row, column] = "" if cell is None else cell
        return found

    def _missed(self, now: Table) -> set[str]:
        """Texts of ours that don't stand where they should since we wrote them."""
        assert self._true and self._wanted
        rows, columns = ({old: new for new, old in same.items()} for same in (self._rows, self._columns))
        places = [*self._last]
        for row in self._appended.values():
            places += [(row, column) for column in range(1, self._wanted.width + 1)]
        texts = [(self._wanted.text(*place), place) for place in places]
        return {
            text
            for text, (row, column) in texts
            # A column of ours that was renamed is ours no more.
            if now.text(rows.get(row), columns.get(column)) != text
            or (column in self._wanted.ours) != (columns.get(column) in now.ours)
        }

    def _lost(self, now: Table) -> set[int]:
        hit = {row for row in now.numbers if any(now.text(row, at) in self._astray for at in now.telling)}
        # A row that was lost keeps the wrong name, by which it is known from then on.
        still = {row for row, old in self._rows.items() if old in self.lost}
        return still | (hit - self._rows.keys())

    def _all_ours(self, now: Table, row: int) -> dict[Place, str]:
        """The cells of a row in which nobody else wrote anything, to be emptied; a URL alone may be a new page's."""
        texts = {column: text for column in range(1, now.width + 1) if (text := now.text(row, column))}
        is_ours = self._sent >= {*texts.values()} and (len(texts) > 1 or not now.telling & texts.keys())
        return {(row, column): "" for column in texts} if is_ours else {}

    def _is_ours(self, row: int, column: int, text: str) -> bool:
        if self._last.get((row, column)) == text:
            return True
        # What we wrote may have moved on; an emptied cell tells nothing of where it came from.
        return self._moved and bool(text) and text in self._astray

    def _gone(self, now: Table) -> list[list[Cell | None]]:
        """Rows that went when we deleted others: in doubt it was us, for rows had moved."""
        assert self._true
        there = {*self._rows.values(), *self._doomed}
        missing = [row for row in self._true.numbers if row not in there] if self._doomed else []
        lines = [*self._returning, *(self._true.values[row - 1] for row in missing)]
        texts = [
            {now.text(row, column) for column in range(1, now.width + 1)} for row in now.numbers if lines
        ]
        gone = []
        for line in lines:
            known = {text for text in map(text_of, line) if text}
            key = text_of(line[at - 1]) if (at := self._true.keys[0][0]) <= len(line) else ""
            if known and not any({key} <= found if key else known <= found for found in texts):
                gone.append(line)
        now_at = [self._columns.get(column, 0) for column in range(1, now.width + 1)]
        self._returning = [[line[at - 1] if 0 < at <= len(line) else None for at in now_at] for line in gone]
        return self._returning
