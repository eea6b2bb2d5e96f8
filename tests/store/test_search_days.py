"""The store of search data keeps each day whole, and tells damaged ones."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sqlalchemy import Engine, update

from internal_linker.model.search_data import SearchTable, StoredDay, first_kept_day, typed
from internal_linker.store.engine import open_database, transact
from internal_linker.store.search_days import SEARCH_DAYS, SearchDays, waste

DAY, QUERIES = date(2026, 11, 1), SearchTable.QUERIES
PROPERTY = "sc-domain:a.example"
TEXTS = ["tea", "دم کردن چای", "😀 tea", 'a,b\n"c"', "tea "]


def day_rows(day: date, count: int = 5, start: int = 0) -> pd.DataFrame:
    frame = pd.DataFrame(
        {
            "date": [day] * count,
            "page": [f"https://a.example/{(start + n) // 2}" for n in range(count)],
            "query": [TEXTS[n % 5] for n in range(count)],
            "clicks": np.arange(count) * 70_000,
            "impressions": np.arange(count) * 70_000 + 5,
            "position": np.linspace(1, 99.75, count) if count else [],
        }
    )
    return typed(QUERIES, frame)


@pytest.fixture
def engine(store_url: str, tmp_path: Path) -> Iterator[Engine]:
    engine = open_database(store_url, tmp_path)
    yield engine
    engine.dispose()


def values(frame: pd.DataFrame) -> list[list[object]]:
    found: list[list[object]] = (
        frame.astype(dict.fromkeys(("date", "page", "query"), object)).to_numpy().tolist()
    )
    return found


def test_rows_come_back_as_they_were(engine: Engine) -> None:
    store = SearchDays(engine, "a.example", PROPERTY)
    later = DAY + timedelta(days=1)
    first, second = day_rows(DAY), day_rows(later, 4, 3)
    store.put(QUERIES, later, second, final=False)
    store.put(QUERIES, DAY, first)
    read = store.read(QUERIES)
    assert {name: str(dtype) for name, dtype in read.dtypes.items()} == QUERIES.columns
    assert values(read) == values(first) + values(second)
    assert values(store.read(QUERIES, since=later)) == values(second)
    assert values(store.read(QUERIES, until=DAY)) == values(first)
    assert store.days(QUERIES) == {DAY: StoredDay(5, True), later: StoredDay(4, False)}


def test_a_day_is_replaced_whole(engine: Engine) -> None:
    store = SearchDays(engine, "a.example", PROPERTY)
    store.put(QUERIES, DAY, day_rows(DAY), final=False)
    store.put(QUERIES, DAY, day_rows(DAY, 2))
    assert values(store.read(QUERIES)) == values(day_rows(DAY, 2))
    store.put_empty(QUERIES, [DAY])
    assert store.days(QUERIES) == {DAY: StoredDay(0, True)}
    read = store.read(QUERIES)
    assert len(read) == 0 and {name: str(dtype) for name, dtype in read.dtypes.items()} == QUERIES.columns


def test_sources_sites_and_tables_stay_apart(engine: Engine) -> None:
    """Without a source, the one with the most days is read; other sites and tables are never mixed in."""
    SearchDays(engine, "a.example", "https://a.example/").put(QUERIES, DAY, day_rows(DAY, 1))
    for past in range(2):
        day = DAY - timedelta(days=past)
        SearchDays(engine, "a.example", PROPERTY).put(QUERIES, day, day_rows(day, 2))
    SearchDays(engine, "b.example", PROPERTY).put(QUERIES, DAY, day_rows(DAY, 3))
    store = SearchDays(engine, "a.example")
    assert store.sources(QUERIES) == [PROPERTY, "https://a.example/"]
    assert len(store.read(QUERIES)) == 4
    assert store.sources(SearchTable.PAGES) == [] and len(store.read(SearchTable.PAGES)) == 0
    with pytest.raises(ValueError, match="source"):
        store.put(QUERIES, DAY, day_rows(DAY))
    with pytest.raises(ValueError, match="not all rows are of 2026-11-01"):
        SearchDays(engine, "a.example", PROPERTY).put(QUERIES, DAY, day_rows(DAY - timedelta(days=1)))


def test_a_damaged_day_is_told(tmp_path: Path) -> None:
    engine = open_database("sqlite:///store.sqlite3", tmp_path)
    store = SearchDays(engine, "a.example", PROPERTY)
    other = DAY + timedelta(days=1)
    store.put(QUERIES, DAY, day_rows(DAY))
    store.put(QUERIES, other, day_rows(other, 3))
    damage = update(SEARCH_DAYS).where(SEARCH_DAYS.c.day == DAY.isoformat()).values(content=b"x")
    transact(engine, lambda connection: connection.execute(damage))
    assert values(store.read(QUERIES)) == values(day_rows(other, 3)) and store.damaged == 1
    engine.dispose()


def test_days_are_pruned_after_sixteen_months(engine: Engine) -> None:
    """`prune` removes the days before one; maintenance removes none that Google still keeps."""
    store = SearchDays(engine, "a.example", PROPERTY)
    now = datetime.now(UTC)
    kept = first_kept_day(now.date())
    for day in (kept - timedelta(days=1), kept, DAY):
        store.put(QUERIES, day, day_rows(day))

    def old(before: datetime) -> list[str]:
        [found] = waste(before)
        wanted = found.table.select().where(found.rows)
        return [row.day for row in transact(engine, lambda connection: connection.execute(wanted).all())]

    assert old(now) == [(kept - timedelta(days=1)).isoformat()]
    assert old(now - timedelta(days=1000)) == []
    assert store.prune(DAY) == 2
    assert [*store.days(QUERIES)] == [DAY]
