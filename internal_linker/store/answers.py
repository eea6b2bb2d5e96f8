"""The caches of what services answered: search results, language models' answers, and fetched pages."""

import json
import threading
import zlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Column, Engine, Integer, LargeBinary, Row, String, Table, Text, func, select

from internal_linker.model.records import FetchedPage, SerpMarket, SerpPage
from internal_linker.model.sequences import batched
from internal_linker.store.engine import KEYS_A_QUERY, fetch, key_text, readable, transact, upsert
from internal_linker.store.schema import METADATA, Moment, Waste

SERP = Table(
    "serp",
    METADATA,
    Column("query", Text, primary_key=True),
    Column("page", Integer, primary_key=True),
    Column("market", String(300), primary_key=True),
    Column("provider", String(20), primary_key=True),
    Column("links", Text, nullable=False),
    Column("fetched_at", Moment, nullable=False),
)
ANSWERS = Table(
    "answers",
    METADATA,
    Column("model", String(200), primary_key=True),
    Column("recipe", String(100), primary_key=True),
    Column("prompt", String(64), primary_key=True),
    Column("answer", Text, nullable=False),
    Column("created_at", Moment, nullable=False),
)
FETCHED_PAGES = Table(
    "fetched_pages",
    METADATA,
    Column("url", String(2000), primary_key=True),
    Column("headers", Text, nullable=False),
    # For conditional requests; a page that has neither can only be fetched again in full.
    Column("etag", Text, nullable=False),
    Column("last_modified", Text, nullable=False),
    Column("body", LargeBinary, nullable=False),  # compressed by zlib
    Column("fetched_at", Moment, nullable=False),
)
# Bytes: together well below PostgreSQL's limit for a key, and above any query that a person writes.
_LONGEST_QUERY, _LONGEST_MARKET, _LONGEST_URL = 1500, 300, 2000
# Later than any time that somebody asks for.
_LONGEST_AGE = timedelta(days=3650)
# Bytes to which a body may decompress; larger bodies are never stored.
_MOST_BYTES = 50_000_000


class SerpResultCache:
    """The search results by query, page, market and provider; one writer at a time, any number of threads.

    An answer older than `max_age_days` does not count; 0: no stored answer counts.
    """

    def __init__(self, engine: Engine, max_age_days: float) -> None:
        self._engine = engine
        self._max_age = timedelta(days=max_age_days)
        self._lock = threading.Lock()
        self._oldest = datetime.now(UTC)

    def get(
        self, queries: Sequence[str], market: SerpMarket, *, any_age: bool = False
    ) -> Mapping[tuple[str, int], SerpPage]:
        """Return the stored answers that are young enough (or all), by query and page, with 0 credits."""
        asked = {key_text(query, _LONGEST_QUERY): query for query in queries}
        place, now = key_text(market.place, _LONGEST_MARKET), datetime.now(UTC)
        of_market = select(SERP).where(SERP.c.market == place, SERP.c.provider == market.provider)
        known: dict[tuple[str, int], SerpPage] = {}
        for some in batched(asked, KEYS_A_QUERY):
            rows = fetch(self._engine, SERP, of_market.where(SERP.c.query.in_(some)))
            for query, page, links, age in readable(
                self._engine,
                SERP,
                rows,
                lambda row: (asked[row.query], row.page, read_links(row), now - row.fetched_at),
            ):
                if any_age or age < self._max_age:
                    known[query, page] = SerpPage(links, 0)
                if not any_age and age < self._max_age:
                    self._oldest = min(self._oldest, now - age)
        return known

    def fresh_until(self) -> datetime:
        """Return when the first of the answers that `get` found young enough becomes too old."""
        return self._oldest + min(self._max_age, _LONGEST_AGE)

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


class StoredAnswers:
    """The answers of a language model, by its recipe and prompt, so that each prompt is paid for once.

    Args:
        engine: from `open_database`.
        model: the model, and where it is served.
        recipe: the version of a request's parameters besides the prompt.
    """

    def __init__(self, engine: Engine, model: str, recipe: str) -> None:
        # A server's model may have any name.
        self._engine, self._model, self._recipe = engine, key_text(model, 200), recipe

    def get(self, prompt: str) -> str | None:
        """Return the answer to the prompt with this hash; None if it was never asked."""
        wanted = select(ANSWERS).where(
            ANSWERS.c.model == self._model,
            ANSWERS.c.recipe == self._recipe,
            ANSWERS.c.prompt == prompt,
        )
        return next(readable(self._engine, ANSWERS, fetch(self._engine, ANSWERS, wanted), read_answer), None)

    def put(self, prompt: str, answer: str) -> None:
        """Insert or replace an answer; it is committed when this returns."""
        row = {
            "model": self._model,
            "recipe": self._recipe,
            "prompt": prompt,
            "answer": _storable(answer),
            "created_at": datetime.now(UTC),
        }
        transact(self._engine, lambda connection: upsert(connection, ANSWERS, [row]))


class StoredPages:
    """The cache of fetched pages by URL, with what conditional requests need."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def get(self, url: str) -> FetchedPage | None:
        """Return the page as last fetched; None if it is missing or damaged."""
        wanted = select(FETCHED_PAGES).where(FETCHED_PAGES.c.url == key_text(url, _LONGEST_URL))
        rows = fetch(self._engine, FETCHED_PAGES, wanted)
        return next(
            (
                FetchedPage(url, *content)
                for content in readable(self._engine, FETCHED_PAGES, rows, read_page)
            ),
            None,
        )

    def put(self, page: FetchedPage) -> None:
        """Insert or replace a page; it is committed when this returns."""
        headers = {name: _storable(text) for name, text in page.headers.items()}
        row = {
            "url": key_text(page.url, _LONGEST_URL),
            "headers": json.dumps(headers),
            "etag": headers.get("etag", ""),
            "last_modified": headers.get("last-modified", ""),
            "body": zlib.compress(page.body),
            "fetched_at": datetime.now(UTC),
        }
        transact(self._engine, lambda connection: upsert(connection, FETCHED_PAGES, [row]))


def waste(before: datetime) -> list[Waste]:
    """Return the answers from before then, and fetched pages that conditional requests can't save."""
    pages = FETCHED_PAGES.c
    unconditional = (pages.etag == "") & (pages.last_modified == "")
    return [
        Waste(SERP, SERP.c.fetched_at < before, func.length(SERP.c.links)),
        # Links keep their anchors without them.
        Waste(ANSWERS, ANSWERS.c.created_at < before, func.length(ANSWERS.c.answer)),
        Waste(FETCHED_PAGES, (pages.fetched_at < before) | unconditional, func.length(pages.body)),
    ]


def read_links(row: Row[Any]) -> tuple[str, ...]:
    """Return the links of a row of SERP."""
    links = json.loads(row.links)
    if not isinstance(links, list) or not all(isinstance(link, str) for link in links):
        raise TypeError("not a list of links")
    return tuple(links)


def read_answer(row: Row[Any]) -> str:
    """Return the answer of a row of ANSWERS."""
    if not isinstance(row.answer, str):
        raise TypeError("not a text")
    return row.answer


def read_page(row: Row[Any]) -> tuple[dict[str, str], bytes]:
    """Return the headers and the body of a row of FETCHED_PAGES."""
    unpacking = zlib.decompressobj()
    body, headers = unpacking.decompress(row.body, _MOST_BYTES), json.loads(row.headers)
    if not unpacking.eof or not isinstance(headers, dict):
        raise ValueError("incomplete")
    return headers, body


def _storable(text: str) -> str:
    """Drop NUL, which PostgreSQL rejects, and replace lone surrogates, which both databases reject."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()
