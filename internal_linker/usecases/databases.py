"""The project's database, and the work on databases as a whole: copy, verify, prune."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from sqlalchemy import Engine

from internal_linker.adapters.database import (
    applied_links,
    backups,
    edges,
    embeddings,
    fetched_pages,
    llm_answers,
    neighbours,
    page_vectors,
    runs,
    search_days,
    serp_results,
)
from internal_linker.adapters.database.damage import (
    Repaired,
    Stored,
    damaged_rows,
    file_damage,
    repair,
)
from internal_linker.adapters.database.embeddings import EmbeddingCache
from internal_linker.adapters.database.engine import file_of, noted_damage, open_database, unusable
from internal_linker.adapters.database.maintenance import (
    Copied,
    Needless,
    copy_tables,
    give_room_back,
    needless,
    prune,
    require_cache,
)
from internal_linker.adapters.database.run_queue import file_lock
from internal_linker.adapters.database.schema import Waste
from internal_linker.core.errors import ConfigurationError, InputError, RunActive
from internal_linker.core.ports import Encoder, Progress
from internal_linker.core.records import PageCache
from internal_linker.usecases.settings.settings import Settings

# Half a year of weekly runs; whatever none of them needed is removed.
KEPT_DAYS = 182
# Chunks come before the joins that need them, and links before their runs, so that a copy that breaks off has none
# without the other.
_STORED = (
    Stored(embeddings.EMBEDDINGS, embeddings.soundness),
    Stored(serp_results.SERP, lambda _: serp_results.is_sound, dated=True),
    Stored(llm_answers.ANSWERS, lambda _: llm_answers.is_sound),
    Stored(neighbours.JOIN_CHUNKS, lambda _: lambda _: True),
    Stored(neighbours.JOINS, neighbours.soundness),
    Stored(edges.EDGES, lambda _: edges.is_sound, lasting=True),
    Stored(applied_links.APPLIED_LINKS, lambda _: applied_links.is_sound, lasting=True),
    # Google forgets them after sixteen months, and exports may be gone sooner.
    Stored(search_days.SEARCH_DAYS, lambda _: search_days.is_sound, lasting=True),
    Stored(runs.RUN_LINKS, lambda _: runs.is_sound, lasting=True, part_of=runs.RUNS),
    Stored(runs.RUNS, lambda _: runs.is_sound_run, lasting=True, mend=runs.mend_sequence),
)
# Work in progress, and pages that cost nothing: neither is worth copying.
_NOT_COPIED = (
    Stored(neighbours.JOIN_BLOCKS, lambda _: neighbours.is_sound_block),
    Stored(fetched_pages.FETCHED_PAGES, lambda _: fetched_pages.is_sound),
)


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
        urls = [one if "://" in one else f"sqlite:///{one}" for one in (source, destination)]
        with ExitStack() as closing:
            given = self._database(urls[0], read_only=True)
            closing.callback(given.dispose)
            require_cache(given, [one.table for one in _STORED])  # before a destination is made for nothing
            taking = self._database(urls[1])
            closing.callback(taking.dispose)
            return copy_tables(given, taking, _STORED, progress)

    def page_vectors(self) -> str | None:
        """Return why runs can't store page vectors for other programs; "" if they can, None for an SQLite file.

        Raises:
            ConfigurationError: the database failed, or can't be opened.
        """
        engine = self.store(read_only=True)
        try:
            if engine.dialect.name != "postgresql":
                return None
            problem = page_vectors.problem(engine)
            return f"not stored for other programs, because {problem}" if problem else ""
        finally:
            engine.dispose()

    def verify(self, progress: Progress) -> dict[str, int]:
        """Count the rows that can't be read, by table.

        Raises:
            ConfigurationError: the database is damaged, or can't be opened.
        """
        engine = self.store(read_only=True)
        try:
            _require_sound_file(engine)
            return damaged_rows(engine, (*_STORED, *_NOT_COPIED), progress)
        finally:
            engine.dispose()

    def repair(self, progress: Progress) -> list[Repaired]:
        """Remove damaged rows; restore from backups, or set aside, what can't be fetched again.

        Raises:
            ConfigurationError: the database is damaged as a whole, or can't be opened.
        """
        with ExitStack() as closing:
            engine = self.store()
            closing.callback(engine.dispose)
            _require_sound_file(engine)
            copies = []
            for one in backups.backups(self.file) if self.file else ():
                if not self._problem_of(one):
                    copies.append(self._database(f"sqlite:///{one.absolute()}", read_only=True))
                    closing.callback(copies[-1].dispose)
            return repair(engine, (*_STORED, *_NOT_COPIED), copies, progress)

    @property
    def file(self) -> Path | None:
        """The file of the caches; None if they are on a server or in memory."""
        return file_of(self.settings.store_url, self.root)

    def back_up(self, to: Path | None = None) -> Path:
        """Copy the caches' file, which others may be using, and return the copy's path.

        Raises:
            ConfigurationError: the caches are on a server, or in memory.
            InputError: the file does not exist, or is damaged as a whole.
            OutputError: the copy can't be written.
        """
        return backups.back_up(self._own_file("backed up", "pg_dump"), to)

    def back_up_weekly(self) -> Path | None:
        """Back up the caches' file if the last weekly backup is a week old; return the new one.

        Raises:
            InputError: the file is damaged as a whole.
            OutputError: there is no room for a copy, or it can't be written.
        """
        return backups.back_up_weekly(self.file, self.settings.store_backups) if self.file else None

    def restore(self, backup: Path | None) -> tuple[Path, Path | None]:
        """Put a backup in the place of the caches' file; return its path, and where the present file is now.

        Args:
            backup: a copy of the caches' file; None: the newest sound one in its folder of backups.

        Raises:
            ConfigurationError: the caches are on a server or in memory.
            InputError: there is no such backup, or it is damaged.
            RunActive: a run is using the file.
            OutputError: a file can't be written.
        """
        file = self._own_file("restored", "pg_restore")
        problem = f"there is no backup in {backups.folder_of(file)}: name the file."
        for one in [backup] if backup else backups.backups(file):
            if not (problem := self._problem_of(one)):
                break
        else:
            raise InputError(f"Nothing was restored: {problem}")
        lock = file_lock(file)
        if not lock.take():
            raise RunActive(f"A run is using the cache: {lock.holder}. Wait until it has ended.")
        try:
            return one, backups.restore(file, one)
        finally:
            lock.release()

    def _own_file(self, done: str, tool: str) -> Path:
        if self.file is None:
            raise ConfigurationError(
                f"store_url names no SQLite file. A PostgreSQL database is {done} with its own tools, such as {tool}."
            )
        return self.file

    def _problem_of(self, backup: Path) -> str:
        """Return why a file is not a sound copy of a cache; "" if it is one."""
        if not backup.is_file():
            return f"{backup} not found."
        try:
            engine = self._database(f"sqlite:///{backup.absolute()}", read_only=True)
        except ConfigurationError as error:
            return str(error)
        try:
            require_cache(engine, [one.table for one in _STORED])
            return f"{backup} is damaged ({said})." if (said := file_damage(engine)) else ""
        except (ConfigurationError, InputError) as error:
            return str(error)
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
                return needless(engine, _waste(engine, days))
            found = prune(engine, _waste(engine, days), (*_STORED, *_NOT_COPIED))
            give_room_back(engine)
            return found
        finally:
            engine.dispose()

    def tidy(self, engine: Engine, encoder: Encoder, hashes: Sequence[str]) -> None:
        """Mark the vectors that a whole run needed, and remove what no run needed for half a year."""
        cache = EmbeddingCache(engine, self.settings.embedding_storage)
        cache.note_used(encoder, [one for one in dict.fromkeys(hashes) if one])
        prune(engine, _waste(engine, KEPT_DAYS), (*_STORED, *_NOT_COPIED))

    def damage_met(self, engine: Engine) -> tuple[str, str]:
        """Return a note on damaged rows that runs replace, and a gap for those that none can replace; "" for none."""
        found = noted_damage(engine)
        lasting = {one.table.name for one in _STORED if one.lasting}
        lost = ", ".join(
            f"{count} in {table}" for table, count in found.items() if count and table in lasting
        )
        replaced = ", ".join(
            f"{count} in {table}" for table, count in found.items() if count and table not in lasting
        )
        return (
            f"The cache had damaged rows, which were replaced: {replaced}." if replaced else "",
            f"The cache has damaged rows, which were left out: {lost}. `cache verify --repair` restores them from a "
            "backup, or sets them aside."
            if lost
            else "",
        )

    def _database(self, url: str, *, read_only: bool = False) -> Engine:
        password = self.settings.store_password.get_secret_value()
        return open_database(url, self.root, password=password, read_only=read_only)


def _require_sound_file(engine: Engine) -> None:
    if said := file_damage(engine):
        raise unusable(engine, f"the file is damaged: {said}")


def _waste(engine: Engine, days: int) -> list[Waste]:
    before = datetime.now(UTC) - timedelta(days=days)
    stores = (
        *(embeddings, serp_results, llm_answers, neighbours),
        *(edges, applied_links, search_days, runs, fetched_pages),
    )
    found = [waste for store in stores for waste in store.waste(before)]
    return [*found, *page_vectors.waste(engine, before)]
