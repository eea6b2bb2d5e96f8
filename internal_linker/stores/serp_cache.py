"""Search results by query, page and market, with the time they were fetched."""

import json
import threading
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

from sqlalchemy import Column, DateTime, Engine, Integer, String, Table, Text, select

from internal_linker.records import SerpPage
from internal_linker.stores.database import KEYS_A_QUERY, METADATA, transaction, upsert

_SERP = Table(
    "serp",
    METADATA,
    Column("query", Text, primary_key=True),
    Column("page", Integer, primary_key=True),
    Column("market", String(300), primary_key=True),
    Column("links", Text, nullable=False),
    Column("fetched_at", DateTime(timezone=True), nullable=False),
)


class SerpResultCache:
    """The search cache in a database; one writer at a time, any number of threads.

    Args:
        engine: from `open_database`.
        max_age_days: answers of that age and older are asked for again; 0 uses none.
    """

    def __init__(self, engine: Engine, max_age_days: float) -> None:
        self._engine = engine
        self._max_age = timedelta(days=max_age_days)
        self._lock = threading.Lock()

    def get(self, queries: Sequence[str], market: str) -> Mapping[tuple[str, int], SerpPage]:
        """The kept answers that are young enough, by query and page, with 0 credits."""
        found: dict[tuple[str, int], SerpPage] = {}
        now = datetime.now(UTC)
        with transaction(self._engine) as connection:
            for first in range(0, len(queries), KEYS_A_QUERY):
                some = queries[first : first + KEYS_A_QUERY]
                wanted = select(_SERP).where(_SERP.c.market == market, _SERP.c.query.in_(some))
                for row in connection.execute(wanted):
                    if now - _utc(row.fetched_at) < self._max_age:
                        found[row.query, row.page] = SerpPage(tuple(json.loads(row.links)), 0)
        return found

    def put(self, query: str, page: int, market: str, answer: SerpPage) -> None:
        """Keep an answer; committed when this returns."""
        row = {
            "query": query,
            "page": page,
            "market": market,
            "links": json.dumps(answer.links),
            "fetched_at": datetime.now(UTC),
        }
        with self._lock, transaction(self._engine) as connection:
            upsert(connection, _SERP, [row])


def _utc(moment: datetime) -> datetime:
    """SQLite gives times back without their zone; all are stored as UTC."""
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
