"""Short constructors for records, fakes that implement the ports, and caches in memory."""

import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import select

from internal_linker.model.arrays import Vectors
from internal_linker.model.errors import ServiceError
from internal_linker.model.ports import StreamSource, ViewOf
from internal_linker.model.reasons import NoTarget, Reason
from internal_linker.model.records import (
    Collected,
    EncodedBatch,
    ExistingLink,
    Page,
    Recommendation,
    SerpMarket,
    SerpPage,
    Source,
    Table,
    TableStream,
    Targets,
    Text,
    Usage,
)
from internal_linker.sources.serp.serper import Serper
from internal_linker.sources.tables.columns import Kind
from internal_linker.store.answers import SerpResultCache
from internal_linker.store.embeddings import EMBEDDINGS, EmbeddingCache
from internal_linker.store.engine import open_database

SITE = "shop.example"
GONE = Reason(NoTarget.ERROR_STATUS, "404")
MOVED = Reason(NoTarget.REDIRECT_STATUS, "301")
TEMPLATE = f"site:{SITE} {{main_query}}"
US = SerpMarket("serper", "us")


def url(name: object) -> str:
    """Return a page's URL, which equals its normal form."""
    return f"https://{SITE}/{name}"


def page(name: object, content: str = "", **more: Any) -> Page:
    """Return a page with its URL from `url`."""
    return Page(url(name), url(name), content=content, **more)


def collected(
    pages: Iterable[Page], links: Iterable[ExistingLink] = (), sources: Iterable[Source] = ()
) -> Collected:
    """Return the collected data of a site without rejected or merged rows."""
    return Collected(tuple(pages), tuple(sources), (), 0, links=tuple(links))


def source(name: object = "", query: str = "", of: Page | None = None) -> Source:
    """Return a source of links: a page (`of`), or a URL or query alone."""
    address = of.url if of else url(name) if name != "" else ""
    return Source(address, address, query, of, in_sheet=False)


def targets(*names: object, any_on_site: bool = False) -> Targets:
    """Return these pages as link targets."""
    return Targets({url(name): url(name) for name in names}, {}, any_on_site)


def pages_table(*rows: Sequence[str], header: Sequence[str] = (Kind.URL, Kind.CONTENT)) -> Table:
    """Return a table of pages with the row numbers that a file would give."""
    return Table("pages.csv", tuple(header), [(number, row) for number, row in enumerate(rows, 2)])


def queries_table(*rows: Sequence[str], header: Sequence[str] = (Kind.URL, Kind.MAIN_QUERY)) -> Table:
    """Return a table of main queries with the row numbers that a file would give."""
    return Table("queries.csv", tuple(header), [(number, row) for number, row in enumerate(rows, 2)])


def links_table(
    *rows: Sequence[str], header: Sequence[str] = (Kind.SOURCE, Kind.DESTINATION, Kind.ANCHOR)
) -> TableStream:
    """Return a table of existing links with the row numbers that a file would give."""
    return TableStream(
        "links.csv", tuple(header), iter([(number, row) for number, row in enumerate(rows, 2)])
    )


def whole(source: StreamSource) -> Table:
    """Return a table with all rows of the source."""
    table = source.stream()
    return Table(table.name, table.header, [(number, tuple(cells)) for number, cells in table.rows])


def anything(_: str) -> bool:
    return True


def nothing_excluded(*_: str) -> str:
    return ""


@dataclass
class Told:
    """A Progress that records what a user would read."""

    steps: list[str] = field(default_factory=list)
    outcomes: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    done: int = 0

    def start(self, step: str, total: int, unit: str) -> None:
        self.steps.append(step)

    def advance(self, count: int = 1) -> None:
        self.done += count

    def finish(self, outcome: str) -> None:
        self.outcomes.append(outcome)

    def warn(self, message: str) -> None:
        self.warnings.append(message)


class MemoryVectors(EmbeddingCache):
    """The cache of vectors in a database of its own, in memory."""

    def __init__(self, storage: str = "float32") -> None:
        self._database = open_database("sqlite://?check_same_thread=false", Path())
        super().__init__(self._database, storage)

    @property
    def hashes(self) -> set[str]:
        """The hashes of the texts whose vectors it has."""
        with self._database.connect() as connection:
            return {*connection.scalars(select(EMBEDDINGS.c.text_hash))}


class MemorySerp(SerpResultCache):
    """The cache of search results in a database in memory; answers to the queries in `old` are too old to use."""

    def __init__(self, *, old: Collection[str] = ()) -> None:
        super().__init__(open_database("sqlite://?check_same_thread=false", Path()), 30)
        self.old = old

    def get(
        self, queries: Sequence[str], market: SerpMarket, *, any_age: bool = False
    ) -> Mapping[tuple[str, int], SerpPage]:
        found = super().get(queries, market, any_age=any_age)
        return {key: answer for key, answer in found.items() if any_age or key[0] not in self.old}


class Letters:
    """An Encoder that counts letters in batches of two; after `fails_after` batches it fails."""

    name = model = "letters"
    dimensions = 26
    recipe = "v1"

    def __init__(
        self, *, fails_after: int = -1, corpus_bound: bool = False, languages: frozenset[str] = frozenset()
    ) -> None:
        self.fails_after, self.corpus_bound, self.languages = fails_after, corpus_bound, languages
        self.pages: Collection[str] | None = None
        self.asked: list[Text] = []

    def encode(self, texts: Sequence[Text]) -> Iterator[EncodedBatch]:
        self.asked += texts
        for batch, first in enumerate(range(0, len(texts), 2)):
            if batch == self.fails_after:
                raise ServiceError("Letters", "the service is down.")
            positions = range(first, min(first + 2, len(texts)))
            yield EncodedBatch(
                positions, np.stack([self.vector(texts[at]) for at in positions]), Usage(10, 0.5)
            )

    @staticmethod
    def vector(text: Text) -> Vectors:
        """Return (26,) float32, of any length but zero."""
        counts = [text.whole.lower().count(chr(letter)) for letter in range(ord("a"), ord("z") + 1)]
        return np.array(counts, np.float32) + np.float32(0.01)

    def estimate(self, texts: Sequence[Text]) -> Usage:
        return Usage(5 * len(texts), float(len(texts)))


class Engine(Serper):
    """A search service that answers from `answers` (query and page -> links, or an error), and counts."""

    name = "Engine"
    market = US

    def __init__(self, answers: Mapping[tuple[str, int], Sequence[str] | ServiceError] | None = None) -> None:
        self.answers = answers or {}
        self.asked: list[tuple[str, int]] = []
        self._lock = threading.Lock()

    def search(self, query: str, page: int) -> SerpPage:
        with self._lock:
            self.asked.append((query, page))
        answer = self.answers.get((query, page), ())
        if isinstance(answer, ServiceError):
            raise answer
        return SerpPage(tuple(answer), 1)

    def check(self) -> str:
        return "everything left"

    def close(self) -> None:
        """Close nothing."""


@dataclass
class Given:
    """A StreamSource of a given table."""

    table: Table
    name: str = "given"
    remarks: Sequence[str] = ()

    def stream(self) -> TableStream:
        return TableStream(self.table.name, self.table.header, iter(self.table.rows))


@dataclass
class Kept:
    """A sink for links or for the items of a list; it returns `gaps`, and raises `error` if one is given."""

    name: str = "kept"
    gaps: Sequence[str] = ()
    error: Exception | None = None
    links: list[Recommendation] = field(default_factory=list)
    items: list[Any] = field(default_factory=list)
    writes: int = 0

    def deliver(
        self, recommendations: Sequence[Recommendation], run_id: str, view_of: ViewOf | None = None
    ) -> Sequence[str]:
        if self.error:
            raise self.error
        self.writes += 1
        self.links += recommendations
        return self.gaps

    def write(self, items: Iterable[Any]) -> Sequence[str]:
        if self.error:
            raise self.error
        self.writes += 1
        self.items += items
        return ()
