"""One reading of a sheet's tab: where our columns stand, and what rows and columns are known by."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from internal_linker.adapters.tables.columns import Kind, find_column, fold_header, link_column, link_name
from internal_linker.core.records import fold_query
from internal_linker.core.urls import normal_form
from internal_linker.review.merge import text_of


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
