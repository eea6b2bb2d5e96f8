"""The cache of search results by query, page, market and provider, with the time they were fetched."""

import json
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Column, Connection, Engine, Row, Table, func, select

from internal_linker.adapters.database.engine import (
    KEYS_A_QUERY,
    key_text,
    lacks,
    note_damage,
    transact,
    upsert,
)
from internal_linker.adapters.database.schema import (
    METADATA,
    CheckedInteger,
    CheckedString,
    CheckedText,
    Moment,
    Waste,
    latest_moment,
)
from internal_linker.core.records import SerpMarket, SerpPage

SERP = Table(
    "serp",
    METADATA,
    Column("query", CheckedText, primary_key=True),
    Column("page", CheckedInteger, primary_key=True),
    Column("market", CheckedString(300), primary_key=True),
    Column("provider", CheckedString(20), primary_key=True),
    Column("links", CheckedText, nullable=False),
    Column("fetched_at", Moment, nullable=False),
)
# Bytes: together well below PostgreSQL's limit for a key, and above any query that a person writes.
_LONGEST_QUERY, _LONGEST_MARKET = 1500, 300


class SerpResultCache:
    """The search cache in a database; one writer at a time, any number of threads.

    Args:
        engine: from `open_database`.
        max_age_days: the age from which an answer no longer counts; 0: no stored answer counts.
    """

    def __init__(self, engine: Engine, max_age_days: float) -> None:
        self._engine = engine
        self._max_age = timedelta(days=max_age_days)
        self._lock = threading.Lock()

    def get(
        self, queries: Sequence[str], market: SerpMarket, *, any_age: bool = False
    ) -> Mapping[tuple[str, int], SerpPage]:
        """Return the stored answers that are young enough (or all), by query and page, with 0 credits."""
        asked = {key_text(query, _LONGEST_QUERY): query for query in queries}
        keys, place = list(asked), key_text(market.place, _LONGEST_MARKET)
        of_market = select(SERP).where(SERP.c.market == place, SERP.c.provider == market.provider)
        now, latest = datetime.now(UTC), latest_moment()
        damaged = Counter[str]()

        def read(connection: Connection) -> dict[tuple[str, int], SerpPage]:
            found: dict[tuple[str, int], SerpPage] = {}
            damaged.clear()
            for first in range(0, len(keys), KEYS_A_QUERY):
                some = keys[first : first + KEYS_A_QUERY]
                for row in connection.execute(of_market.where(SERP.c.query.in_(some))):
                    links, at = read_links(row), row.fetched_at
                    if links is None or at is None or row.page is None:
                        damaged[SERP.name] += 1
                    elif any_age or (now - at < self._max_age and at < latest):
                        found[asked[row.query], row.page] = SerpPage(links, 0)
            return found

        if lacks(self._engine, SERP):
            return {}
        known = transact(self._engine, read)
        note_damage(self._engine, SERP, damaged.total())
        return known

    def put(self, query: str, page: int, market: SerpMarket, answer: SerpPage) -> None:
        """Insert or replace an answer; it is committed when this returns."""
        row = {
            "query": key_text(query, _LONGEST_QUERY),
            "page": page,
            "market": key_text(market.place, _LONGEST_MARKET),
            "provider": market.provider,
            "links": json.dumps(answer.links),
            "fetched_at": datetime.now(UTC),
        }
        with self._lock:
            transact(self._engine, lambda connection: upsert(connection, SERP, [row]))


def waste(before: datetime) -> list[Waste]:
    """Return the answers from before then; runs search for them again if needed."""
    return [Waste(SERP, SERP.c.fetched_at < before, func.length(SERP.c.links))]


def read_links(row: Row[Any]) -> tuple[str, ...] | None:
    """Return the links of an answer; None if it is damaged."""
    try:
        links = json.loads(row.links)
    except (TypeError, ValueError, RecursionError):
        return None
    return tuple(links) if isinstance(links, list) and all(isinstance(one, str) for one in links) else None


def is_sound(row: Row[Any]) -> bool:
    """Return whether a row of SERP can be read."""
    return read_links(row) is not None and row.fetched_at is not None
