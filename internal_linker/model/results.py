"""Results of use cases: tables that pandas, a notebook, JSON, CSV files and workbooks take."""

from collections import namedtuple
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from math import isnan
from typing import TYPE_CHECKING, Any, Literal

from internal_linker.model.sequences import Lazy

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from pandas import DataFrame

# Column names and values of one table; all columns have the same length.
Columns = Mapping[str, "Sequence[Any] | NDArray[Any]"]
Cell = str | int | float
# Rows of a table that a notebook shows.
_SHOWN = 10
# Rows that are made at a time.
_BLOCK = 500


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table."""

    key: str  # its name for programs
    header: str  # its name for people
    width: int = 12  # its width in characters
    # "link" for clickable URLs, "text" for texts that wrap, "bar" for numbers with a bar, "score" for numbers
    # from 0 to 1 with a bar, "hidden" for what only the program reads.
    look: Literal["plain", "link", "text", "bar", "score", "hidden"] = "plain"
    decimals: int | None = None  # decimal places that people see; None: all
    note: str = ""  # a note on the header; "": none
    # of tables that the app's API has, the JSON type of the values, "number or null" if they may be unknown, or the
    # JSON schema of lists and objects
    kind: str | Mapping[str, Any] = "string"
    value: Callable[[Any], Any] | None = None  # its value of an item; None: the item's attribute `key`

    def read(self, item: Any) -> Any:
        """Return the value of an item in this column."""
        return self.value(item) if self.value else getattr(item, self.key)


@dataclass(frozen=True, slots=True)
class ResultTable:
    """A table of n rows, kept by column."""

    name: str  # the name of its sheet
    columns: Sequence[Column]  # what people see, in this order
    values: Columns  # n values of each column by key; programs may get further ones

    def __len__(self) -> int:
        return len(self.values[self.columns[0].key])

    def rows(self, advance: Callable[[int], None] = lambda _: None) -> Iterator[Sequence[Cell]]:
        """Yield the cells that people see: "yes" or "no" for a truth value, "" for None.

        Args:
            advance: called with the number of further rows.
        """
        for start in range(0, len(self), _BLOCK):
            parts = [self.values[column.key][start : start + _BLOCK] for column in self.columns]
            yield from zip(*map(_cells, parts, self.columns), strict=True)
            advance(len(parts[0]))

    def records(self, most: int | None = None) -> list[dict[str, Cell]]:
        """Return the cells of the first rows by the keys of their columns."""
        keys = [column.key for column in self.columns]
        return [dict(zip(keys, row, strict=True)) for row in islice(self.rows(), most)]


def describe_row(columns: Sequence[Column]) -> dict[str, Any]:
    """Return the JSON schema of a table's rows."""

    def schema(kind: str | Mapping[str, Any]) -> Mapping[str, Any]:
        return {"type": kind.split(" or ")} if isinstance(kind, str) else kind

    return {
        "type": "object",
        "properties": {column.key: {"title": column.header, **schema(column.kind)} for column in columns},
        "required": [column.key for column in columns],
    }


def table_of(name: str, columns: Sequence[Column], rows: Iterable[Sequence[Any]]) -> ResultTable:
    """Return a table of these rows, whose values are in the order of the columns."""
    values = list(zip(*rows, strict=True)) or [()] * len(columns)
    return ResultTable(
        name, columns, {column.key: each for column, each in zip(columns, values, strict=True)}
    )


def _cells(values: "Sequence[Any] | NDArray[Any]", column: Column) -> list[Cell]:
    plain = values if isinstance(values, Sequence) else values.tolist()
    # Of a million cells, nearly all are shown as they are.
    if column.decimals is None and {str, int, float}.issuperset(map(type, plain)):
        return list(plain)
    return [_cell(value, column.decimals) for value in plain]


def _cell(value: Any, decimals: int | None) -> Cell:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    cell: Cell = value
    return cell if decimals is None or isinstance(cell, str) or isnan(cell) else round(cell, decimals or None)


class Result:
    """The base of all results: named tables as DataFrames, a short `repr`, and HTML for notebooks.

    A subclass is a dataclass with `repr=False` that implements `tables`.
    """

    def tables(self) -> Mapping[str, Columns]:
        """Return the result's tables by name, column by column, the main one first."""
        raise NotImplementedError

    @cached_property
    def frames(self) -> "dict[str, DataFrame]":
        """All tables as pandas DataFrames, by name."""
        from pandas import DataFrame

        return {name: DataFrame(dict(columns)) for name, columns in self.tables().items()}

    def to_frame(self, table: str = "") -> "DataFrame":
        """One table as a pandas DataFrame; without a name the main one.

        Raises:
            KeyError: there is no table of this name; `frames` has all.
        """
        return self.frames[table or next(iter(self.frames))]

    def records(self) -> dict[str, list[dict[str, Any]]]:
        """Return all tables row by row as JSON has them, by name: unknown numbers are None, dates are texts."""
        return {name: to_json_rows(columns) for name, columns in self.tables().items()}

    def __repr__(self) -> str:
        sizes = ", ".join(f"{name}: {_length(columns)} rows" for name, columns in self.tables().items())
        return f"<{type(self).__name__} {sizes}>"

    def _repr_html_(self) -> str:
        return "".join(
            f"<p><b>{name}</b> ({len(frame)} rows)</p>{frame.head(_SHOWN).to_html(escape=True, index=False)}"
            for name, frame in self.frames.items()
        )


def to_json_rows(columns: Columns) -> list[dict[str, Any]]:
    """Return the rows of a table as JSON has them: unknown numbers are None, dates are texts."""
    rows = zip(*(columns[name] for name in columns), strict=True)
    return [dict(zip(columns, map(_plain, row), strict=True)) for row in rows]


def to_named_rows(columns: Columns) -> Sequence[Any]:
    """Return the rows of a table, made on access, with the columns as attributes."""
    row = namedtuple("Row", columns)  # type: ignore[misc]
    return Lazy(_length(columns), lambda at: row(*(_unboxed(values[at]) for values in columns.values())))


def _unboxed(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value  # numpy's scalars


def _plain(value: Any) -> Any:
    value = _unboxed(value)
    if isinstance(value, float) and isnan(value):
        return None
    return value if value is None or isinstance(value, str | int | float | list) else str(value)


def _length(columns: Columns) -> int:
    return len(next(iter(columns.values()), ()))


def columns_of(records: Sequence[Any], *names: str) -> dict[str, list[Any]]:
    """Return the named attributes of records as columns."""
    return {name: [getattr(record, name) for record in records] for name in names}
