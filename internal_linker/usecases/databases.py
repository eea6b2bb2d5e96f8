"""The project's database, and the work on databases as a whole: copy, verify, prune."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from sqlalchemy import Engine

from internal_linker.adapters.database import (
    edges,
    embeddings,
    fetched_pages,
    llm_answers,
    neighbours,
    runs,
    serp_results,
)
from internal_linker.adapters.database.embeddings import EmbeddingCache
from internal_linker.adapters.database.engine import open_database
from internal_linker.adapters.database.maintenance import (
    Copied,
    Needless,
    copy_tables,
    damage,
    give_room_back,
    needless,
    prune,
    require_cache,
    unreadable,
)
from internal_linker.adapters.database.schema import Waste
from internal_linker.core.errors import ConfigurationError
from internal_linker.core.ports import Encoder, Progress
from internal_linker.core.records import PageCache
from internal_linker.usecases.settings.settings import Settings

# Half a year of weekly runs; whatever none of them needed is removed.
KEPT_DAYS = 182


@dataclass(frozen=True)
class Databases:
    """The caches and the link graph of a project folder, and the work on databases as a whole.

    Attributes:
        settings: a project's settings.
        root: the project's folder, where relative paths start.
    """

    settings: Settings
    root: Path

    def store(self, *, read_only: bool = False) -> Engine:
        """Open the database of the caches; `read_only` creates and changes nothing."""
        return self._database(self.settings.store_url, read_only=read_only)

    @contextmanager
    def page_cache(self) -> Iterator[PageCache]:
        """Open the cache of fetched pages."""
        engine = self.store()
        try:
            yield fetched_pages.StoredPages(engine)
        finally:
            engine.dispose()

    def copy(self, source: str, destination: str, progress: Progress) -> list[Copied]:
        """Copy a cache into another database; both are addresses as in store_url, or paths of SQLite files.

        Returns:
            A record for each table, in the order in which they were copied.

        Raises:
            ConfigurationError: an address is wrong, its database can't be opened or failed, or both are one.
            InputError: there is no cache at the source.
            StoreLost: a server is gone in the middle; copy again.
        """
        # Chunks come before the joins that need them. Finished blocks are work in progress and not copied, and neither
        # are fetched pages, which cost nothing.
        tables = (
            embeddings.EMBEDDINGS,
            serp_results.SERP,
            llm_answers.ANSWERS,
            neighbours.JOIN_CHUNKS,
            neighbours.JOINS,
            edges.EDGES,
            runs.RUN_LINKS,
            runs.RUNS,
        )
        urls = [one if "://" in one else f"sqlite:///{one}" for one in (source, destination)]
        with ExitStack() as closing:
            given = self._database(urls[0], read_only=True)
            closing.callback(given.dispose)
            require_cache(given, tables)  # before a destination is made for nothing
            taking = self._database(urls[1])
            closing.callback(taking.dispose)
            return copy_tables(given, taking, tables, progress)

    def verify(self, progress: Progress) -> dict[str, int]:
        """Count the rows that can't be read, by table.

        Raises:
            ConfigurationError: the database is damaged, or can't be opened.
        """
        checks = {
            embeddings.EMBEDDINGS: embeddings.is_sound,
            serp_results.SERP: serp_results.is_sound,
            edges.EDGES: edges.is_sound,
            runs.RUN_LINKS: runs.is_sound,
            runs.RUNS: runs.is_sound_run,
            fetched_pages.FETCHED_PAGES: fetched_pages.is_sound,
        }
        engine = self.store(read_only=True)
        try:
            if said := damage(engine):
                raise ConfigurationError(
                    f"store_url: the database is damaged ({said}). Copy its readable rows to a new database with "
                    "`store copy`, or move it away: the caches are rebuilt, and editors' decisions are in the review."
                )
            return unreadable(engine, checks, progress)
        finally:
            engine.dispose()

    def prune(self, days: int, *, apply: bool) -> list[Needless]:
        """Count what no run needed for so many days, table by table; `apply` removes it.

        Raises:
            ConfigurationError: the database failed, or can't be opened.
        """
        engine = self.store(read_only=not apply)
        try:
            if not apply:
                return needless(engine, _waste(days))
            found = prune(engine, _waste(days))
            give_room_back(engine)
            return found
        finally:
            engine.dispose()

    def tidy(self, engine: Engine, encoder: Encoder, hashes: Sequence[str]) -> None:
        """Mark the vectors that a whole run needed, and remove what no run needed for half a year."""
        cache = EmbeddingCache(engine, self.settings.embedding_storage)
        cache.note_used(encoder, [one for one in dict.fromkeys(hashes) if one])
        prune(engine, _waste(KEPT_DAYS))

    def _database(self, url: str, *, read_only: bool = False) -> Engine:
        password = self.settings.store_password.get_secret_value()
        return open_database(url, self.root, password=password, read_only=read_only)


def _waste(days: int) -> list[Waste]:
    before = datetime.now(UTC) - timedelta(days=days)
    stores = (embeddings, serp_results, llm_answers, neighbours, edges, runs, fetched_pages)
    return [waste for store in stores for waste in store.waste(before)]
