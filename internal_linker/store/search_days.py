"""The store of search data: one row for each site, source, table and day, with the day's rows as compressed columns."""

import io
from collections.abc import Collection, Mapping
from datetime import UTC, date, datetime
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import (
    Column,
    ColumnElement,
    Engine,
    Integer,
    LargeBinary,
    Row,
    String,
    Table,
    delete,
    func,
    select,
)

from internal_linker.model.search_data import SearchTable, StoredDay, empty, first_kept_day, typed
from internal_linker.model.sequences import batched
from internal_linker.store.engine import fetch, key_text, noted_damage, readable, transact, upsert
from internal_linker.store.schema import METADATA, Moment, Waste

if TYPE_CHECKING:
    from pandas import DataFrame

SEARCH_DAYS = Table(
    "search_days",
    METADATA,
    Column("site", String(200), primary_key=True),
    Column("source", String(300), primary_key=True),
    Column("kind", String(20), primary_key=True),  # a SearchTable
    Column("day", String(10), primary_key=True),  # ISO, so that texts compare as days do
    Column("final", Integer, nullable=False),
    Column("row_count", Integer, nullable=False),
    Column("content", LargeBinary, nullable=False),
    Column("digest", String(32), nullable=False),  # of the content
    Column("stored_at", Moment, nullable=False),
)
# Days in memory at once while they are read: 1 MB each if the source is cut at 50,000 rows.
_DAYS_A_QUERY = 16
_LONGEST_SITE, _LONGEST_SOURCE = 200, 300
# The texts of a day are stored as one; PostgreSQL accepts this character in bytes.
_BETWEEN = "\0"
_Columns = Mapping[str, NDArray[Any]]


class SearchDays:
    """A site's search data by day, from one source; reading skips damaged days and counts them.

    A team's sites share a database. The source is such as "sc-domain:example.com"; with "", for reading, it is of each
    table the one with the most days.
    """

    def __init__(self, engine: Engine, site: str, source: str = "") -> None:
        self._engine, self._site = engine, key_text(site, _LONGEST_SITE)
        self._source = key_text(source, _LONGEST_SOURCE)

    def sources(self, table: SearchTable) -> list[str]:
        """Return all sources that have days of this table, the one with the most days first."""
        at = SEARCH_DAYS.c
        wanted = select(at.source).where(at.site == self._site, at.kind == table.value)
        wanted = wanted.group_by(at.source).order_by(func.count().desc(), at.source)
        return [row.source for row in fetch(self._engine, SEARCH_DAYS, wanted)]

    def days(self, table: SearchTable) -> dict[date, StoredDay]:
        """Return the stored days in their order."""
        at = SEARCH_DAYS.c
        wanted = select(at.day, at.row_count, at.final, at.stored_at).where(*self._of(table)).order_by(at.day)
        return dict(
            readable(
                self._engine,
                SEARCH_DAYS,
                fetch(self._engine, SEARCH_DAYS, wanted),
                lambda row: (
                    date.fromisoformat(row.day),
                    StoredDay(int(row.row_count), bool(row.final), row.stored_at),
                ),
            )
        )

    def put(self, table: SearchTable, day: date, frame: "DataFrame", *, final: bool = True) -> None:
        """Replace a day; it is committed when this returns.

        Args:
            frame: the columns of the table, all rows of this day; no rows: the source knows nothing of the day.
            final: False if the source may still change it.

        Raises:
            ValueError: the store was opened without a source, a column is missing, or a row is of another day.
        """
        rows = typed(table, frame)
        if len(rows) and not (rows["date"] == np.datetime64(day)).all():
            raise ValueError(f"not all rows are of {day}")
        self._put(table, [day], rows, final)

    def put_empty(self, table: SearchTable, days: Collection[date], *, final: bool = True) -> None:
        """Store that the source knows nothing of these days; committed when this returns.

        Raises:
            ValueError: the store was opened without a source.
        """
        self._put(table, days, empty(table), final)

    def _put(self, table: SearchTable, days: Collection[date], rows: "DataFrame", final: bool) -> None:
        if not self._source:
            raise ValueError("search data are stored under the name of their source, which is missing")
        content = _packed(table, rows)
        stored = {
            "site": self._site,
            "source": self._source,
            "kind": table.value,
            "final": int(final),
            "row_count": len(rows),
            "content": content,
            "digest": _digest(content),
            "stored_at": datetime.now(UTC),
        }
        found = [{**stored, "day": day.isoformat()} for day in days]
        transact(self._engine, lambda connection: upsert(connection, SEARCH_DAYS, found))

    def read(self, table: SearchTable, since: date | None = None, until: date | None = None) -> "DataFrame":
        """Return the rows from `since` to `until`, both included, by day; texts are categoricals.

        None stands for the first and the last day stored.
        """
        wanted = {
            day: stored.rows
            for day, stored in self.days(table).items()
            if (since is None or day >= since) and (until is None or day <= until)
        }
        filling = _Filling(table, sum(wanted.values()))
        for some in batched([*wanted], _DAYS_A_QUERY):
            at = SEARCH_DAYS.c
            days = select(SEARCH_DAYS).where(*self._of(table), at.day.in_([day.isoformat() for day in some]))
            rows = fetch(self._engine, SEARCH_DAYS, days.order_by(at.day))
            for day, columns in readable(
                self._engine, SEARCH_DAYS, rows, lambda row: (row.day, read_day(row))
            ):
                filling.add(day, columns)
        return filling.frame()

    @property
    def damaged(self) -> int:
        """How many days could not be read so far."""
        return noted_damage(self._engine).get(SEARCH_DAYS.name, 0)

    def prune(self, before: date) -> int:
        """Remove the days before then from all sources and tables of the site; return how many days went."""
        at = SEARCH_DAYS.c
        old = delete(SEARCH_DAYS).where(at.site == self._site, at.day < before.isoformat())
        return transact(self._engine, lambda connection: connection.execute(old).rowcount)

    def _of(self, table: SearchTable) -> list[ColumnElement[bool]]:
        at = SEARCH_DAYS.c
        source = self._source or next(iter(self.sources(table)), "")
        return [at.site == self._site, at.source == source, at.kind == table.value]


def only_site(engine: Engine) -> str:
    """Return the site of the search data if they are of one site; "" for none or several."""
    rows = fetch(engine, SEARCH_DAYS, select(SEARCH_DAYS.c.site).distinct().limit(2))
    return str(rows[0].site) if len(rows) == 1 else ""


def waste(before: datetime) -> list[Waste]:
    """Return the days that are older than sixteen months, or than `before` if that is longer ago."""
    first = min(before.date(), first_kept_day(datetime.now(UTC).date()))
    at = SEARCH_DAYS.c
    return [Waste(SEARCH_DAYS, at.day < first.isoformat(), func.length(at.content))]


class _Filling:
    """Columns that are filled day by day, with at most `rows` rows, so that no row is in memory twice."""

    def __init__(self, table: SearchTable, rows: int) -> None:
        self._table, self._rows = table, 0
        self._dates = np.empty(rows, "datetime64[s]")
        self._codes = {name: np.empty(rows, np.int32) for name in table.texts}
        self._numbers = {name: np.empty(rows, dtype) for name, dtype in table.numbers.items()}
        self._texts: dict[str, dict[str, int]] = {name: {} for name in table.texts}

    def add(self, day: str, columns: _Columns) -> None:
        count = len(columns[next(iter(self._numbers))])
        # A day that was replaced by a longer one since the rows were counted.
        count = min(count, len(self._dates) - self._rows)
        at = slice(self._rows, self._rows + count)
        self._dates[at] = np.datetime64(day)
        for name, known in self._texts.items():
            texts = _texts(columns[name])
            codes = np.array([known.setdefault(text, len(known)) for text in texts], np.int32)
            self._codes[name][at] = codes[columns[f"{name}_codes"]][:count]
        for name, numbers in self._numbers.items():
            numbers[at] = columns[name][:count]
        self._rows += count

    def frame(self) -> "DataFrame":
        import pandas as pd

        filled = slice(self._rows)
        columns: dict[str, Any] = {"date": self._dates[filled]}
        for name, known in self._texts.items():
            columns[name] = pd.Categorical.from_codes(self._codes[name][filled], categories=[*known])
        columns |= {name: numbers[filled] for name, numbers in self._numbers.items()}
        return pd.DataFrame(columns, copy=False)


def _packed(table: SearchTable, rows: "DataFrame") -> bytes:
    """Return rows as an .npz file: each text once, and numbers in as few bytes as they take."""
    columns: dict[str, Any] = {}
    for name in table.texts:
        # Removing unused categories would look at all texts of the frame for each of its days.
        used, codes = np.unique(rows[name].cat.codes.to_numpy(), return_inverse=True)
        found = rows[name].cat.categories.take(used).astype(object).tolist()
        texts = _BETWEEN.join(map(str, found))
        if texts.count(_BETWEEN) >= max(1, len(found)):
            texts = _BETWEEN.join(str(text).replace(_BETWEEN, " ") for text in found)
        # No database rejects bytes, but lone surrogates are no text.
        columns[name] = np.frombuffer(texts.encode("utf-8", "replace"), np.uint8)
        columns[f"{name}_codes"] = _short(codes)
    for name, dtype in table.numbers.items():
        numbers = rows[name].to_numpy()
        columns[name] = numbers if dtype == "float64" else _short(numbers)
    packed = io.BytesIO()
    np.savez_compressed(packed, **columns)
    return packed.getvalue()


def _short(numbers: NDArray[Any]) -> NDArray[Any]:
    return numbers.astype(np.min_scalar_type(int(numbers.max()))) if len(numbers) else numbers


def read_day(row: Row[Any]) -> _Columns:
    """Return the columns of a row of SEARCH_DAYS as they were packed."""
    date.fromisoformat(row.day)
    if _digest(row.content) != row.digest:
        raise ValueError("another digest")
    with np.load(io.BytesIO(row.content), allow_pickle=False) as packed:
        columns = {name: packed[name] for name in packed.files}
    if {len(columns[name]) for name in SearchTable(row.kind).numbers} != {row.row_count}:
        raise ValueError("another number of rows")
    return columns


def _texts(joined: NDArray[Any]) -> list[str]:
    return joined.tobytes().decode().split(_BETWEEN)


def _digest(content: bytes) -> str:
    return blake2b(content, digest_size=16).hexdigest()
