"""Recovery from concurrent edits: finds editors' cells that our writes hit, and what they contained before."""

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
from internal_linker.core.canonical_hosts import CanonicalHosts
from internal_linker.core.records import fold_query


class Name(NamedTuple):
    """What identifies a row or column wherever it moves: its texts, and its rank among those with equal texts."""

    texts: tuple[str, ...]
    number: int


class Table:
    """One reading of a tab; rows and columns count from 1, and the first row has the column names.

    Args:
        values: the rows; short ones lack empty cells at their end.
        keys: groups of columns that identify a row, the most reliable first.
        ours: columns that we write into.
    """

    def __init__(
        self, values: Sequence[Sequence[Any]], keys: Sequence[Sequence[int]], ours: Collection[int]
    ) -> None:
        self.values, self.keys, self.ours = values, keys, ours
        self.width = max(map(len, values), default=0)
        self.numbers = range(2, len(values) + 1)
        self.key_columns = {column for columns in keys for column in columns}
        """All columns that identify rows."""

    def cell(self, row: int | None, column: int | None) -> Any:
        """Return the content of a cell, "" outside the filled range."""
        if row is None or column is None or row > len(self.values) or column > len(self.values[row - 1]):
            return ""
        return self.values[row - 1][column - 1]

    def text(self, row: int | None, column: int | None) -> str:
        """Return the text of a cell."""
        return text_of(self.cell(row, column))

    def with_cells(self, cells: Mapping[tuple[int, int], Any]) -> "Table":
        """Return a copy of the reading with other content in some cells."""
        changed: dict[int, list[Any]] = {}
        for (row, column), cell in cells.items():
            line = changed.setdefault(row, [*self.values[row - 1]])
            line += [""] * (column - len(line))
            line[column - 1] = cell
        rows = enumerate(self.values, start=1)
        return Table([changed.get(row, line) for row, line in rows], self.keys, self.ours)

    def with_rows(self, lines: Sequence[Sequence[Any]]) -> "Table":
        """Return a copy of the reading with more rows at the end."""
        return Table([*self.values, *lines], self.keys, self.ours)

    def row_names(self, columns: Sequence[int]) -> dict[int, Name]:
        """Return each row's name: its texts in these columns, and the count of rows with the same texts."""
        texts = {row: tuple(self.text(row, column) for column in columns) for row in self.numbers}
        counts = Counter(texts.values())
        # Only their order distinguishes rows with equal texts, and it means nothing once one was added or removed.
        return _named((row, (*cells, str(counts[cells]))) for row, cells in texts.items())

    def column_names(self) -> dict[int, Name]:
        """Return each column's name: its header."""
        header = self.values[0] if self.values else ()
        texts = [fold_header(text_of(cell)) for cell in header]
        texts += [""] * (self.width - len(texts))
        return _named((column, (text,)) for column, text in enumerate(texts, start=1))


class Grid(Table):
    """One reading of the tab with the main queries, and the positions of our columns in it.

    Args:
        values: the rows.
        links: the count of our columns.
        hosts: hosts that stand for others; None: there are none.
    """

    def __init__(
        self, values: Sequence[Sequence[str]], links: int, hosts: CanonicalHosts | None = None
    ) -> None:
        self._hosts = hosts or CanonicalHosts()
        header = list(values[0]) if values else []
        self.url = _from_one(find_column(header, Kind.URL))
        self.query = _from_one(find_column(header, Kind.MAIN_QUERY))
        found = {number: link_column(header, number) for number in range(1, links + 1)}
        self.missing = [link_name(number) for number, at in found.items() if at is None]
        """Our columns that the tab lacks; they go to the right of the filled range."""
        width = max(map(len, values), default=0)
        new = iter(range(width + 1, width + len(self.missing) + 1))
        self.links = [next(new) if at is None else at + 1 for at in found.values()]
        both = [at for at in (self.url, self.query) if at is not None]
        super().__init__(values, [both, *([[self.url]] if self.url else [])], self.links)
        self.rows = {row: self._key(row) for row in self.numbers}

    def _key(self, row: int) -> tuple[str, str]:
        """Return the identity of a row's URL (unchanged if it isn't one) and its folded query."""
        url = self.text(row, self.url).strip()
        with suppress(ValueError):
            url = self._hosts.identity(self._hosts.key(url))
        return url, fold_query(self.text(row, self.query))


def same_as(now: Mapping[int, Name], then: Mapping[int, Name]) -> dict[int, int]:
    """Map numbers in `now` to numbers in `then`, for the names that both have."""
    numbers = {name: number for number, name in then.items()}
    return {number: numbers[name] for number, name in now.items() if name in numbers}


def _named(keyed: Iterable[tuple[int, tuple[str, ...]]]) -> dict[int, Name]:
    """Return the names of rows or columns from their texts, numbering equal ones in their order."""
    seen: dict[tuple[str, ...], int] = {}
    names = {}
    for number, texts in keyed:
        seen[texts] = seen.get(texts, 0) + 1
        names[number] = Name(texts, seen[texts])
    return names


def _from_one(position: int | None) -> int | None:
    return None if position is None else position + 1


# A text in more rows than this identifies none of them.
_FEW = 10


class Recognition:
    """Rows and columns recognised in a new reading: their numbers now, with their numbers before.

    Args:
        now: the new reading.
        true: the reading before, without cells that we wrote by mistake.
        wanted: `true` with everything that we meant to write since.
        sent: all texts that we ever wrote.
        named: the texts that we wrote into columns that identify rows.
        appended: the rows of `wanted` that we appended, by the text in the tab's first key column.

    Attributes:
        columns: columns, recognised by name, or by place and texts if they were renamed.
        rows: rows, recognised by the tab's keys, or by the texts that we did not write.
        shifted: rows that we appended just as columns moved.
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
        self.rows |= self._by_texts()
        # Texts that we wrote identify the remaining rows.
        self._name_rows(())
        self.shifted = self._shifted(appended)
        self.rows |= self.shifted
        self.columns |= self._renamed()

    def has_moved(self, deleted: Collection[int]) -> bool:
        """Return whether anything moved beyond what deleting these rows explains."""
        gone = sorted(deleted)
        if any(new != old for new, old in self.columns.items()):
            return True
        if len(self._now.numbers) != len(self._wanted.numbers) - len(gone):
            return True
        return any(new != old - bisect_left(gone, old) for new, old in self.rows.items())

    def _name_rows(self, doubtful: Collection[str]) -> None:
        """Recognise rows by the tab's keys, except rows whose key consists of these texts only."""
        now, then, rows = self._now, self._wanted, self.rows
        ignored = {"", *doubtful}
        for columns in now.keys:
            if len(rows) < len(now.numbers) and self.columns.keys() >= {*columns}:
                ours, theirs = now.row_names(columns), then.row_names([self.columns[at] for at in columns])
                known = {*rows.values()}
                # Only their order distinguishes rows with empty keys.
                named = {row: name for row, name in ours.items() if not {*name.texts[:-1]} <= ignored}
                left = {row: name for row, name in named.items() if row not in rows}
                rows |= same_as(left, {row: name for row, name in theirs.items() if row not in known})

    def _by_texts(self) -> dict[int, int]:
        """Recognise rows that share more texts with one earlier row than with any other."""
        now, then = self._now, self._wanted
        left = [row for row in now.numbers if row not in self.rows]
        known, found = {*self.rows.values()}, dict[tuple[int, str], list[int]]()
        for row in then.numbers if left else ():
            for column in self.columns.values():
                found.setdefault((column, then.text(row, column)), []).append(row)
        matches = dict[int, list[int]]()
        for row in left:
            votes = dict[int, float]()
            for column, old in self.columns.items():
                text = now.text(row, column)
                others = found.get((old, text), []) if text and text not in self._sent else []
                # Texts that many rows share say little about any of them.
                for other in others if len(others) <= _FEW else ():
                    votes[other] = votes.get(other, 0) + 1 / len(others)
            best = sorted((votes[other], other) for other in votes if other not in known)[-2:]
            if best and best[-1][0] > sum(weight for weight, _ in best[:-1]):
                matches.setdefault(best[-1][1], []).append(row)
        return {rows[0]: other for other, rows in matches.items() if len(rows) == 1}

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
        """Recognise renamed columns, which kept their place and content."""
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
        """Return whether a column has its old content, apart from our own texts and a few edited cells."""
        texts = [
            (self._now.text(row, column), self._true.text(before, old)) for row, before in self.rows.items()
        ]
        return (
            sum(text != held and not (text and text in self._sent) for text, held in texts) <= len(texts) / 5
        )


Place = tuple[int, int]


class Strays:
    """Tracks what editors' cells should contain, reading by reading, and finds those that our writes hit.

    Google writes to places, not to rows: if somebody moves rows or columns between our reading and our write, the
    write hits other cells, which may move again before the next reading. A hit cell contains one of our texts but
    should contain another, judging by the last reading and by what we meant to write. Rows that disappeared just as we
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
        """Rows that could not be recognised, because one of our texts is in their key columns."""

    def sending(self, cells: Cells) -> None:
        """Record the cells that are about to be written; even a failed request may have been carried out."""
        self._last = {place: text_of(cell) for place, cell in cells.items()}
        self._sent.update(self._last.values())
        if self._wanted:
            self._named |= {
                text for (_, column), text in self._last.items() if column in self._wanted.key_columns
            }
            self._wanted = self._wanted.with_cells(cells)

    def appending(self, lines: Sequence[Sequence[Any]]) -> None:
        """Record the rows that are about to be appended; the tab's first key must identify each."""
        assert self._wanted
        [[key]] = self._wanted.keys[:1]
        first = len(self._wanted.values) + 1
        self._appended |= {text_of(line[key - 1]): row for row, line in enumerate(lines, start=first)}
        self._sent.update(text_of(cell) for line in lines for cell in line)
        self._named |= {text_of(line[column - 1]) for line in lines for column in self._wanted.key_columns}
        self._wanted = self._wanted.with_rows(lines)

    def deleting(self, rows: Iterable[int]) -> None:
        """Record the rows that are about to be deleted."""
        self._doomed = {*rows}

    @property
    def has_read(self) -> bool:
        """Whether there was a reading before."""
        return self._true is not None

    def moved(self) -> None:
        """Record that all rows moved between two readings, which their numbers don't show."""
        self._moved = True

    def wrote(self, text: str) -> bool:
        """Return whether we wrote this text; False for an empty one."""
        return bool(text) and text in self._sent

    def corrections(self, now: Table) -> tuple[dict[Place, Any], list[list[Cell | None]]]:
        """Return what hit cells should contain, and the rows to bring back, each as wide as the tab."""
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
            # Never reset: the correction of what moved once may wait for several readings.
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
        # The correction of our last write may have to wait.
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
        """Return our texts that are not where we last wrote them."""
        assert self._true and self._wanted
        rows, columns = ({old: new for new, old in same.items()} for same in (self._rows, self._columns))
        places = [*self._last]
        for row in self._appended.values():
            places += [(row, column) for column in range(1, self._wanted.width + 1)]
        texts = [(self._wanted.text(*place), place) for place in places]
        return {
            text
            for text, (row, column) in texts
            # A column of ours that was renamed is no longer ours.
            if now.text(rows.get(row), columns.get(column)) != text
            or (column in self._wanted.ours) != (columns.get(column) in now.ours)
        }

    def _lost(self, now: Table) -> set[int]:
        hit = {row for row in now.numbers if any(now.text(row, at) in self._astray for at in now.key_columns)}
        # A lost row keeps the wrong key, which identifies it from then on.
        still = {row for row, old in self._rows.items() if old in self.lost}
        return still | (hit - self._rows.keys())

    def _all_ours(self, now: Table, row: int) -> dict[Place, str]:
        """Return the cells to empty in a row with only our texts; a URL alone may be an editor's new page."""
        texts = {column: text for column in range(1, now.width + 1) if (text := now.text(row, column))}
        is_ours = self._sent >= {*texts.values()} and (len(texts) > 1 or not now.key_columns & texts.keys())
        return {(row, column): "" for column in texts} if is_ours else {}

    def _is_ours(self, row: int, column: int, text: str) -> bool:
        if self._last.get((row, column)) == text:
            return True
        # What we wrote may have moved; an emptied cell doesn't show where it came from.
        return self._moved and bool(text) and text in self._astray

    def _gone(self, now: Table) -> list[list[Cell | None]]:
        """Return rows that disappeared when we deleted others: rows may have moved, so we may have deleted these."""
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
