"""Looks at a tab with our writes between them -> the cells of others that we hit, and what they held before."""

from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from internal_linker.review_rows import Cell, text_of
from internal_linker.services.google_sheets.ranges import Cells
from internal_linker.services.google_sheets.tables import Table, same_as

Place = tuple[int, int]
# A text that more rows have tells nothing of one.
_FEW = 10


class Strays:
    """Knows, look by look, what the cells should hold that are not ours to write.

    Google writes to places, not to rows: where somebody moves rows or columns between our look and our write, cells
    of others are hit, and may move on before the next look. Such a cell is one that holds a text of ours and should
    hold another, by what stood there at the last look and by what we wanted to write. Rows that went
    just when we deleted others come back.
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
            keys = {column for columns in self._wanted.keys for column in columns}
            self._named |= {text for (_, column), text in self._last.items() if column in keys}
            self._wanted = self._wanted.with_cells(cells)

    def appending(self, lines: Sequence[Sequence[Any]]) -> None:
        """Note the rows that are about to be appended; each must be known by the first of the tab's keys."""
        assert self._wanted
        [[key]] = self._wanted.keys[:1]
        first = len(self._wanted.values) + 1
        self._appended |= {text_of(line[key - 1]): row for row, line in enumerate(lines, start=first)}
        self._sent.update(text_of(cell) for line in lines for cell in line)
        keys = {column for columns in self._wanted.keys for column in columns}
        self._named |= {text_of(line[column - 1]) for line in lines for column in keys}
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
            self._columns = same_as(now.column_names(), self._true.column_names())
            shifted = self._know_rows(now, self._wanted)
            self._columns |= self._renamed(now)
            # For good: what moved once may wait for its turn over several looks.
            self._moved |= self._has_moved(now, self._wanted)
            self._astray |= self._missed(now)
            for row in now.numbers:
                if row not in self.lost:
                    strays |= self._strays_of(now, row, row in shifted)
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
            cell, text = held.cell(old, self._columns.get(column)), now.text(row, column)
            is_ours = text in self._sent and self._is_ours(row, column, text)
            if (is_ours or (is_shifted and not text)) and text != text_of(cell):
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

    def _all_ours(self, now: Table, row: int) -> dict[Place, str]:
        """The cells of a row in which nobody else wrote anything, to be emptied."""
        texts = {column: text for column in range(1, now.width + 1) if (text := now.text(row, column))}
        return {(row, column): "" for column in texts} if self._sent.issuperset(texts.values()) else {}

    def _is_ours(self, row: int, column: int, text: str) -> bool:
        if self._last.get((row, column)) == text:
            return True
        # What we wrote may have moved on; an emptied cell tells nothing of where it came from.
        return self._moved and bool(text) and text in self._astray

    def _know_rows(self, now: Table, then: Table) -> Collection[int]:
        """Number now -> number then, by the tab's keys, or by all that we did not write.

        The answer names rows that we appended just when columns moved.
        """
        self._rows = {}
        self._name_rows(now, then, self._named)
        self._rows |= self._alike(now, then)
        # What we wrote there ourselves is a name, too, where nothing speaks against it.
        self._name_rows(now, then, ())
        rows = self._rows
        left_over = {key: row for key, row in self._appended.items() if row not in {*rows.values()}}
        shifted = dict[int, int]()
        for row in now.numbers if left_over else ():
            if row not in rows:
                texts = {now.text(row, column) for column in range(1, now.width + 1)}
                if key := min(texts & left_over.keys(), default=""):
                    shifted[row] = left_over.pop(key)
        rows |= shifted
        keys = {column for columns in now.keys for column in columns}
        # A row that was lost keeps the wrong name, by which it is known from then on.
        self.lost = {
            row
            for row in now.numbers
            if rows.get(row) in self.lost
            or (row not in rows and any(self.wrote(now.text(row, at)) for at in keys))
        }
        return shifted

    def _name_rows(self, now: Table, then: Table, doubtful: Collection[str]) -> None:
        """Enter rows by the tab's keys, but for those whose key says nothing else than these texts."""
        rows = self._rows
        for columns in now.keys:
            if self._columns.keys() >= {*columns}:
                ours, theirs = now.row_names(columns), then.row_names([self._columns[at] for at in columns])
                known = {*rows.values()}
                # Rows that are empty there are told apart by nothing but their order.
                told = {row: name for row, name in ours.items() if not {*name.texts[:-1]} <= {"", *doubtful}}
                left = {row: name for row, name in told.items() if row not in rows}
                rows |= same_as(left, {row: name for row, name in theirs.items() if row not in known})

    def _alike(self, now: Table, then: Table) -> dict[int, int]:
        """Number now -> number then, for rows that hold more texts of one row than of any other."""
        left = [row for row in now.numbers if row not in self._rows]
        known, found = {*self._rows.values()}, dict[tuple[int, str], list[int]]()
        for row in then.numbers if left else ():
            for column in self._columns.values():
                found.setdefault((column, then.text(row, column)), []).append(row)
        alike = dict[int, list[int]]()
        for row in left:
            votes = dict[int, float]()
            for column, old in self._columns.items():
                text = now.text(row, column)
                others = found.get((old, text), []) if text and text not in self._sent else []
                # What many rows have tells little of one.
                for other in others if len(others) <= _FEW else ():
                    votes[other] = votes.get(other, 0) + 1 / len(others)
            best = sorted((votes[other], other) for other in votes if other not in known)[-2:]
            if best and best[-1][0] > sum(weight for weight, _ in best[:-1]):
                alike.setdefault(best[-1][1], []).append(row)
        return {rows[0]: other for other, rows in alike.items() if len(rows) == 1}

    def _has_moved(self, now: Table, then: Table) -> bool:
        doomed = sorted(self._doomed)
        if any(new != old for new, old in self._columns.items()) or len(now.numbers) != len(
            then.numbers
        ) - len(doomed):
            return True
        return any(new != old - bisect_left(doomed, old) for new, old in self._rows.items())

    def _gone(self, now: Table) -> list[list[Cell | None]]:
        """Rows that went when we deleted others: in doubt it was us, for rows had moved."""
        assert self._true
        there = {*self._rows.values()}
        missing = (
            [row for row in self._true.numbers if row not in there | self._doomed] if self._doomed else []
        )
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

    def _renamed(self, now: Table) -> dict[int, int]:
        """Number now -> number then, for columns of a new name that stand where they stood and hold what they held."""
        assert self._true
        found, left, first = dict[int, int](), 0, 1
        taken = {*self._columns.values()}
        for column in range(1, now.width + 2):
            if column <= now.width and column not in self._columns:
                continue
            right = self._columns[column] if column <= now.width else self._true.width + 1
            free, between = range(first, column), range(left + 1, right)
            if len(free) == len(between) and not taken.intersection(between):
                pairs = zip(free, between, strict=True)
                found |= {at: old for at, old in pairs if self._holds_the_same(now, at, old)}
            left, first = right, column + 1
        return found

    def _holds_the_same(self, now: Table, column: int, old: int) -> bool:
        """Save for what we wrote, and for a cell here and there that was edited meanwhile."""
        assert self._true
        texts = [(now.text(row, column), self._true.text(before, old)) for row, before in self._rows.items()]
        return sum(text != held and not self.wrote(text) for text, held in texts) <= len(texts) / 5
