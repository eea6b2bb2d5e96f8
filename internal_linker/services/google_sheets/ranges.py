"""One reading of a sheet's tab, known by its rows and columns; cells to write -> ranges that fit one request each."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress

from internal_linker.headers import Kind, find_column, fold_header, link_column, link_name
from internal_linker.records import fold_query
from internal_linker.urls import normal_form

Cells = Mapping[tuple[int, int], str | float]
"""Texts and numbers by row and column, both from 1."""
Name = tuple[tuple[str, ...], int]
"""What a row or column is known by wherever it moves: its texts, and which of several with these it is."""

# Google advises against requests above 2 MB; the rest is left for the frame around the data.
MAX_BYTES = 1_500_000
# Each range is located and checked on its own, so that thousands of tiny ones would time out.
MAX_RANGES = 500
# Skipping up to so many cells with null costs fewer bytes than the frame of one more range.
MAX_GAP = 8


class Grid:
    """One reading of a tab, and where our columns stand in it; rows and columns count from 1."""

    def __init__(self, values: Sequence[Sequence[str]], links: int) -> None:
        self.values = values
        self.header = list(values[0]) if values else []
        self.width = max(map(len, values), default=0)
        self.url = _from_one(find_column(self.header, Kind.URL))
        self.query = _from_one(find_column(self.header, Kind.MAIN_QUERY))
        found = {number: link_column(self.header, number) for number in range(1, links + 1)}
        self.missing = [link_name(number) for number, at in found.items() if at is None]
        """Our columns that are not there; they would stand right of all that is filled."""
        new = iter(range(self.width + 1, self.width + len(self.missing) + 1))
        self.links = [next(new) if at is None else at + 1 for at in found.values()]
        self.rows = {row: self._key(row) for row in range(2, len(values) + 1)}

    def text(self, row: int | None, column: int | None) -> str:
        """What a cell shows, "" outside of what is filled."""
        if row is None or column is None or row > len(self.values) or column > len(self.values[row - 1]):
            return ""
        return self.values[row - 1][column - 1]

    def with_cells(self, cells: Mapping[tuple[int, int], str]) -> "Grid":
        """The same reading with other texts in some cells."""
        values = [list(row) for row in self.values]
        for (row, column), text in cells.items():
            values[row - 1] += [""] * (column - len(values[row - 1]))
            values[row - 1][column - 1] = text
        return Grid(values, len(self.links))

    def row_names(self, columns: Sequence[int] | None = None) -> dict[int, Name]:
        """What each row is known by: its URL and query, or else what stands in these columns."""
        if columns is None:
            return named(self.rows.items())
        texts = {row: tuple(self.text(row, column) for column in columns) for row in self.rows}
        alike = Counter(texts.values())
        # Among rows that look alike only the order is left, which tells nothing once one came or went.
        return named((row, (*cells, str(alike[cells]))) for row, cells in texts.items())

    def column_names(self) -> dict[int, Name]:
        """What each column is known by."""
        texts = [fold_header(text) for text in self.header]
        texts += [""] * (self.width - len(texts))
        return named((column, (text,)) for column, text in enumerate(texts, start=1))

    def _key(self, row: int) -> tuple[str, str]:
        """A row's URL in its normal form (as it stands where it has none), and its query folded."""
        url = self.text(row, self.url).strip()
        with suppress(ValueError):
            url = normal_form(url)
        return url, fold_query(self.text(row, self.query))


def chunks(cells: Cells) -> Iterator[Cells]:
    """Cut the cells, in their order, into parts that fit one request each; a row is never cut."""
    rows = list(dict.fromkeys(row for row, _ in cells))
    by_row: dict[int, dict[tuple[int, int], str | float]] = {row: {} for row in rows}
    for place, text in cells.items():
        by_row[place[0]][place] = text
    while rows:
        take = len(rows)
        while True:
            part = {place: text for row in rows[:take] for place, text in by_row[row].items()}
            blocks = ranges(part)
            size = len(json.dumps([block for _, _, block in blocks]))
            share = min(MAX_BYTES / size, MAX_RANGES / len(blocks))
            if share >= 1 or take == 1:
                break
            take = max(1, min(take - 1, int(take * share)))
        yield part
        rows = rows[take:]


def ranges(cells: Cells) -> list[tuple[int, int, list[list[str | float | None]]]]:
    """Blocks to write as (top row, left column, rows of texts): None where a cell is to be left alone."""
    columns = sorted({column for _, column in cells})
    found = []
    for left, right in _runs(columns, 1):
        rows = sorted({row for row, column in cells if left <= column <= right})
        for top, bottom in _runs(rows, MAX_GAP):
            block = [
                [cells.get((row, column)) for column in range(left, right + 1)]
                for row in range(top, bottom + 1)
            ]
            found.append((top, left, block))
    return found


def _runs(numbers: Sequence[int], gap: int) -> list[tuple[int, int]]:
    """Ascending numbers -> first and last of each run whose neighbours are at most `gap` apart."""
    runs: list[tuple[int, int]] = []
    for number in numbers:
        if runs and number - runs[-1][1] <= gap:
            runs[-1] = runs[-1][0], number
        else:
            runs.append((number, number))
    return runs


def named(keyed: Iterable[tuple[int, tuple[str, ...]]]) -> dict[int, Name]:
    """Rows or columns by number and texts -> what each is known by, the order telling equal ones apart."""
    seen: dict[tuple[str, ...], int] = {}
    names = {}
    for number, texts in keyed:
        seen[texts] = seen.get(texts, 0) + 1
        names[number] = texts, seen[texts]
    return names


def same_as(now: Mapping[int, Name], then: Mapping[int, Name]) -> dict[int, int]:
    """Number now -> number then, for what is known by the same name in both."""
    numbers = {name: number for number, name in then.items()}
    return {number: numbers[name] for number, name in now.items() if name in numbers}


def _from_one(position: int | None) -> int | None:
    return None if position is None else position + 1
