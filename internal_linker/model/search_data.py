"""Search data: what searchers and visitors did with each page of a site, by day, as pandas frames of typed columns."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from enum import Enum, StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pandas import DataFrame, Series

# Google keeps sixteen months, too; more would only make files larger.
KEPT_MONTHS = 16
# Search Console has the data of a day after two to three days, and corrects them for about a week more.
SEARCH_CONSOLE_DELAY = timedelta(days=3)
FINAL_AFTER = SEARCH_CONSOLE_DELAY + timedelta(days=7)
_COUNTS, _POSITION = ("clicks", "impressions"), ("position",)


class SearchTable(StrEnum):
    """The kinds of rows; the value of each is its name in the store.

    Rows by query leave out queries that few people searched for, and rows by page are cut after the first of a day.
    So sums over them are smaller than the totals, which is why all three are kept.
    """

    QUERIES = "queries"
    """What a page earned from a query on a day."""
    PAGES = "pages"
    """What a page earned on a day."""
    TOTALS = "totals"
    """What the whole property earned on a day."""
    SESSIONS = "sessions"
    """Visits that began at a page on a day, from GA4."""

    @property
    def texts(self) -> tuple[str, ...]:
        """The columns that say what a row of a day is about."""
        return _SHAPES[self][0]

    @property
    def numbers(self) -> Mapping[str, str]:
        """The dtypes of the measures by column: counts are int64, a position is a float64 from 1."""
        return dict.fromkeys(_SHAPES[self][1], "int64") | dict.fromkeys(_SHAPES[self][2], "float64")

    @property
    def columns(self) -> Mapping[str, str]:
        """The dtypes of all columns in their order; texts are categoricals, and `date` is the property's day."""
        return {"date": "datetime64[s]"} | dict.fromkeys(self.texts, "category") | dict(self.numbers)


_SHAPES: Mapping[SearchTable, tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]] = {
    SearchTable.QUERIES: (("page", "query"), _COUNTS, _POSITION),
    SearchTable.PAGES: (("page",), _COUNTS, _POSITION),
    SearchTable.TOTALS: ((), _COUNTS, _POSITION),
    SearchTable.SESSIONS: (("page",), ("sessions", "engaged_sessions", "key_events"), ()),
}


@dataclass(frozen=True, slots=True)
class StoredDay:
    """A day that is stored."""

    rows: int  # how many rows it has; 0: the source knows nothing of this day
    final: bool  # False if the source may still change it
    # when it was stored; None if that is damaged
    stored_at: datetime | None = field(default=None, compare=False)


class RowProblem(Enum):
    """Why a row can't be right; the value completes "3 rows left out: "."""

    TEXT = "without a page or query"
    NUMBER = "with a count or position that is no number"
    NEGATIVE = "with a count below 0"
    UNSEEN = "without impressions"
    CLICKS = "with more clicks than impressions"
    POSITION = "with a position below 1"


@dataclass(frozen=True, slots=True)
class SoundRows:
    """Rows that can be right, and how many can't."""

    rows: "DataFrame"  # the columns of the table, with their dtypes
    left_out: Mapping[RowProblem, int] = field(default_factory=dict)  # the counts of the others by problem


def typed(table: SearchTable, frame: "DataFrame") -> "DataFrame":
    """Return the columns of a table with their dtypes; others are left out.

    Raises:
        ValueError: a column is missing, or a value has another type.
    """
    if missing := [name for name in table.columns if name not in frame]:
        raise ValueError(f"rows of {table} need the columns {', '.join(missing)}")
    if frame[[*table.columns]].isna().any(axis=None):
        raise ValueError(f"rows of {table} lack values")
    return frame[[*table.columns]].astype({**table.columns}).reset_index(drop=True)


def empty(table: SearchTable) -> "DataFrame":
    """Return a table without rows."""
    import pandas as pd

    return typed(table, pd.DataFrame({name: [] for name in table.columns}))


def sound_rows(table: SearchTable, frame: "DataFrame") -> SoundRows:
    """Leave out, and count, rows that can't be right, each for the first of its problems.

    Numbers may be texts such as "12" or missing.
    """
    import pandas as pd

    frame = frame.assign(**{name: pd.to_numeric(frame[name], errors="coerce") for name in table.numbers})
    kept, left_out = pd.Series(True, index=frame.index), dict[RowProblem, int]()
    for problem, rows in _problems(table, frame).items():
        if count := int((kept & rows).sum()):
            left_out[problem] = count
        kept &= ~rows
    return SoundRows(typed(table, frame[kept]), left_out)


def _problems(table: SearchTable, frame: "DataFrame") -> dict[RowProblem, "Series"]:
    import numpy as np
    import pandas as pd

    counts = frame[[name for name, dtype in table.numbers.items() if dtype == "int64"]]
    blank = pd.Series(False, index=frame.index)
    for name in table.texts:
        blank |= frame[name].isna() | (frame[name].astype(str).str.strip() == "")
    found = {
        RowProblem.TEXT: blank,
        RowProblem.NUMBER: ~np.isfinite(frame[[*table.numbers]]).all(axis=1),
        RowProblem.NEGATIVE: (counts < 0).any(axis=1),
    }
    if "position" in table.numbers:
        found[RowProblem.UNSEEN] = frame["impressions"] == 0
        found[RowProblem.CLICKS] = frame["clicks"] > frame["impressions"]
        found[RowProblem.POSITION] = frame["position"] < 1
    return found


def first_kept_day(today: date) -> date:
    """Return the day sixteen months ago: earlier ones are neither fetched nor kept."""
    months = today.year * 12 + today.month - 1 - KEPT_MONTHS
    # The 28th is in every month; three days less of sixteen months matter to nobody.
    return date(months // 12, months % 12 + 1, min(today.day, 28))
