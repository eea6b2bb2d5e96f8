"""Looks at a tab with our writes between them -> the cells of others that we hit, and what they held before."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from internal_linker.adapters.google_sheets.spreadsheet import Cells
from internal_linker.adapters.tables.columns import (
    Cell,
    Kind,
    find_column,
    fold_header,
    link_column,
    link_name,
    text_of,
)
from internal_linker.core.records import fold_query
from internal_linker.core.urls import normal_form


class Name(NamedTuple):
    """What a row or column is known by wherever it moves: its texts, and which of several with these it is."""

    texts: tuple[str, ...]
    number: int


class Table:
    """One reading of a tab; rows and columns count from 1, the first row has the columns' names.

    Args:
        values: the rows, which may end early.
        keys: columns by which a row is known, the surest first.
        ours: columns that we write into.
    """

    def __init__(
        self, values: Sequence[Sequence[Any]], keys: Sequence[Sequence[int]], ours: Collection[int]
    ) -> None:
        self.values, self.keys, self.ours = values, keys, ours
        self.width = max(map(len, values), default=0)
        self.numbers = range(2, len(values) + 1)
        self.telling = {column for columns in keys for column in columns}
        """Columns that tell which row is which."""

    def cell(self, row: int | None, column: int | None) -> Any:
        """What a cell holds, "" outside of what is filled."""
        if row is None or column is None or row > len(self.values) or column > len(self.values[row - 1]):
            return ""
        return self.values[row - 1][column - 1]

    def text(self, row: int | None, column: int | None) -> str:
        """What a cell says."""
        return text_of(self.cell(row, column))

    def with_cells(self, cells: Mapping[tuple[int, int], Any]) -> "Table":
        """The same reading with other texts in some cells."""
        changed: dict[int, list[Any]] = {}
        for (row, column), cell in cells.items():
            line = changed.setdefault(row, [*self.values[row - 1]])
            line += [""] * (column - len(line))
            line[column - 1] = cell
        rows = enumerate(self.values, start=1)
        return Table([changed.get(row, line) for row, line in rows], self.keys, self.ours)

    def with_rows(self, lines: Sequence[Sequence[Any]]) -> "Table":
        """The same reading with more rows at its end."""
        return Table([*self.values, *lines], self.keys, self.ours)

    def row_names(self, columns: Sequence[int]) -> dict[int, Name]:
        """What each row is known by: what stands in these columns, and in how many rows it does."""
        texts = {row: tuple(self.text(row, column) for column in columns) for row in self.numbers}
        alike = Counter(texts.values())
        # Among rows that look alike only the order is left, which tells nothing once one came or went.
        return _named((row, (*cells, str(alike[cells]))) for row, cells in texts.items())

    def column_names(self) -> dict[int, Name]:
        """What each column is known by."""
        header = self.values[0] if self.values else ()
        texts = [fold_header(text_of(cell)) for cell in header]
        texts += [""] * (self.width - len(texts))
        return _named((column, (text,)) for column, text in enumerate(texts, start=1))


class Grid(Table):
    """One reading of the tab with the main queries, and where our columns stand in it."""

    def __init__(self, values: Sequence[Sequence[str]], links: int) -> None:
        header = list(values[0]) if values else []
        self.url = _from_one(find_column(header, Kind.URL))
        self.query = _from_one(find_column(header, Kind.MAIN_QUERY))
        found = {number: link_column(header, number) for number in range(1, links + 1)}
        self.missing = [link_name(number) for number, at in found.items() if at is None]
        """Our columns that are not there; they would stand right of all that is filled."""
        width = max(map(len, values), default=0)
        new = iter(range(width + 1, width + len(self.missing) + 1))
        self.links = [next(new) if at is None else at + 1 for at in found.values()]
        both = [at for at in (self.url, self.query) if at is not None]
        super().__init__(values, [both, *([[self.url]] if self.url else [])], self.links)
        self.rows = {row: self._key(row) for row in self.numbers}

    def _key(self, row: int) -> tuple[str, str]:
        """A row's URL in its normal form (as it stands where it has none), and its query folded."""
        url = self.text(row, self.url).strip()
        with suppress(ValueError):
            url = normal_form(url)
        return url, fold_query(self.text(row, self.query))


def same_as(now: Mapping[int, Name], then: Mapping[int, Name]) -> dict[int, int]:
    """Number now -> number then, for what is known by the same name in both."""
    numbers = {name: number for number, name in then.items()}
    return {number: numbers[name] for number, name in now.items() if name in numbers}


def _named(keyed: Iterable[tuple[int, tuple[str, ...]]]) -> dict[int, Name]:
    """Rows or columns by number and texts -> what each is known by, the order telling equal ones apart."""
    seen: dict[tuple[str, ...], int] = {}
    names = {}
    for number, texts in keyed:
        seen[texts] = seen.get(texts, 0) + 1
        names[number] = Name(texts, seen[texts])
    return names


def _from_one(position: int | None) -> int | None:
    return None if position is None else position + 1


# A text that more rows have tells nothing of one.
_FEW = 10


class Recognition:
    """Rows and columns that are known again: their numbers now, with their numbers then.

    Args:
        now: the new look.
        true: the one before, as it would have been without cells that we wrote by mistake.
        wanted: the same with all that we wanted to write since.
        sent: all texts that we ever wrote.
        named: those that we wrote where rows tell which they are.
        appended: by the first of the tab's keys, the rows of `wanted` that we put at its end.

    Attributes:
        columns: by their names, or, renamed, by their places and texts.
        rows: by the tab's keys, or by all that we did not write.
        shifted: those of them that we appended just when columns moved.
    """

    def __init__(
        self,
        now: Table,
        true: Table,
        wanted: Table,
        *,
        sent: Collection[str],
        named: Collection[str],
        appended: Mapping[str, int],
    ) -> None:
        self._now, self._true, self._wanted, self._sent = now, true, wanted, sent
        self.columns = same_as(now.column_names(), true.column_names())
        self.rows: dict[int, int] = {}
        self._name_rows(named)
        self.rows |= self._alike()
        # What we wrote there ourselves is a name, too, where nothing speaks against it.
        self._name_rows(())
        self.shifted = self._shifted(appended)
        self.rows |= self.shifted
        self.columns |= self._renamed()

    def has_moved(self, deleted: Collection[int]) -> bool:
        """Whether anything stands elsewhere than it would if only these rows had gone."""
        gone = sorted(deleted)
        if any(new != old for new, old in self.columns.items()):
            return True
        if len(self._now.numbers) != len(self._wanted.numbers) - len(gone):
            return True
        return any(new != old - bisect_left(gone, old) for new, old in self.rows.items())

    def _name_rows(self, doubtful: Collection[str]) -> None:
        """Enter rows by the tab's keys, but for those whose key says nothing else than these texts."""
        now, then, rows = self._now, self._wanted, self.rows
        untold = {"", *doubtful}
        for columns in now.keys:
            if len(rows) < len(now.numbers) and self.columns.keys() >= {*columns}:
                ours, theirs = now.row_names(columns), then.row_names([self.columns[at] for at in columns])
                known = {*rows.values()}
                # Rows that are empty there are told apart by nothing but their order.
                told = {row: name for row, name in ours.items() if not {*name.texts[:-1]} <= untold}
                left = {row: name for row, name in told.items() if row not in rows}
                rows |= same_as(left, {row: name for row, name in theirs.items() if row not in known})

    def _alike(self) -> dict[int, int]:
        """Number now -> number then, for rows that hold more texts of one row than of any other."""
        now, then = self._now, self._wanted
        left = [row for row in now.numbers if row not in self.rows]
        known, found = {*self.rows.values()}, dict[tuple[int, str], list[int]]()
        for row in then.numbers if left else ():
            for column in self.columns.values():
                found.setdefault((column, then.text(row, column)), []).append(row)
        alike = dict[int, list[int]]()
        for row in left:
            votes = dict[int, float]()
            for column, old in self.columns.items():
                text = now.text(row, column)
                others = found.get((old, text), []) if text and text not in self._sent else []
                # What many rows have tells little of one.
                for other in others if len(others) <= _FEW else ():
                    votes[other] = votes.get(other, 0) + 1 / len(others)
            best = sorted((votes[other], other) for other in votes if other not in known)[-2:]
            if best and best[-1][0] > sum(weight for weight, _ in best[:-1]):
                alike.setdefault(best[-1][1], []).append(row)
        return {rows[0]: other for other, rows in alike.items() if len(rows) == 1}

    def _shifted(self, appended: Mapping[str, int]) -> dict[int, int]:
        known, shifted = {*self.rows.values()}, dict[int, int]()
        left = {key: row for key, row in appended.items() if row not in known}
        for row in self._now.numbers if left else ():
            if row not in self.rows:
                texts = {self._now.text(row, column) for column in range(1, self._now.width + 1)}
                if key := min(texts & left.keys(), default=""):
                    shifted[row] = left.pop(key)
        return shifted

    def _renamed(self) -> dict[int, int]:
        """Number now -> number then, for columns of a new name that stand where they stood and hold what they held."""
        now = self._now
        found, left, first = dict[int, int](), 0, 1
        taken = {*self.columns.values()}
        for column in range(1, now.width + 2):
            if column <= now.width and column not in self.columns:
                continue
            right = self.columns[column] if column <= now.width else self._true.width + 1
            free, between = range(first, column), range(left + 1, right)
            if len(free) == len(between) and not taken.intersection(between):
                pairs = zip(free, between, strict=True)
                found |= {at: old for at, old in pairs if self._holds_the_same(at, old)}
            left, first = right, column + 1
        return found

    def _holds_the_same(self, column: int, old: int) -> bool:
        """Save for what we wrote, and for a cell here and there that was edited meanwhile."""
        texts = [
            (self._now.text(row, column), self._true.text(before, old)) for row, before in self.rows.items()
        ]
        return (
            sum(text != held and not (text and text in self._sent) for text, held in texts) <= len(texts) / 5
        )


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
            same = Recognition(
                now,
                self._true,
                self._wanted,
                sent=self._sent,
                named=self._named,
                appended=self._appended,
            )
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
