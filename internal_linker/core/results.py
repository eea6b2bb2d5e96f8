"""Results of use cases: records whose tables pandas, a notebook and JSON can take."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from pandas import DataFrame

# Column names and values of one table; all columns have the same length.
Columns = Mapping[str, "Sequence[Any] | NDArray[Any]"]
# Rows of a table that a notebook shows.
_SHOWN = 10


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

    def __repr__(self) -> str:
        sizes = ", ".join(f"{name}: {_length(columns)} rows" for name, columns in self.tables().items())
        return f"<{type(self).__name__} {sizes}>"

    def _repr_html_(self) -> str:
        return "".join(
            f"<p><b>{name}</b> ({len(frame)} rows)</p>{frame.head(_SHOWN).to_html(escape=True, index=False)}"
            for name, frame in self.frames.items()
        )


def _length(columns: Columns) -> int:
    return len(next(iter(columns.values()), ()))


def columns_of(records: Sequence[Any], *names: str) -> dict[str, list[Any]]:
    """Return the named attributes of records as columns."""
    return {name: [getattr(record, name) for record in records] for name in names}
