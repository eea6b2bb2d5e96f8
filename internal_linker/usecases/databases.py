"""The project's database, and the work on databases as a whole: copy, verify, back up, restore, prune."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from sqlalchemy import Engine

from internal_linker.adapters.database import backups, page_vectors
from internal_linker.adapters.database.answers import StoredPages
from internal_linker.adapters.database.embeddings import EmbeddingCache
from internal_linker.adapters.database.engine import file_of, noted_damage, open_database, require_sound_file
from internal_linker.adapters.database.maintenance import (
    Copied,
    Needless,
    copy_tables,
    damaged_rows,
    give_room_back,
    needless,
    prune,
    require_cache,
)
from internal_linker.adapters.database.run_queue import file_lock
from internal_linker.adapters.database.search_days import SEARCH_DAYS
from internal_linker.core.errors import ConfigurationError, InputError, RunActive
from internal_linker.core.ports import Encoder, Progress
from internal_linker.core.progress import Tracker
from internal_linker.core.records import PageCache
from internal_linker.core.sequences import counted
from internal_linker.usecases.settings.settings import Settings

# Half a year of weekly runs; whatever none of them needed is removed.
KEPT_DAYS = 182


def listed(damaged: Mapping[str, int]) -> str:
    """Return counts of rows by table for people, such as "2 in edges, 1 in runs"."""
    return ", ".join(f"{count} in {table}" for table, count in damaged.items())


@dataclass(frozen=True)
class RestoreResult:
    """A backup that took the cache's place."""

    backup: Path
    # Where the file is that was in its place; None if there was none.
    former: Path | None


@dataclass(frozen=True)
class Databases:
    """The database of a project in `root`, where relative paths start, and the work on databases as a whole."""

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
            yield StoredPages(engine)
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
            require_cache(given)  # before a destination is made for nothing
            taking = self._database(urls[1])
            closing.callback(taking.dispose)
            return copy_tables(given, taking, progress)

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

    def verify(self, progress: Progress, *, drop: bool = False) -> dict[str, int]:
        """Count the rows that can't be read, by table; `drop` removes those that runs replace.

        Raises:
            ConfigurationError: the database is damaged as a whole, or can't be opened.
        """
        engine = self.store(read_only=not drop)
        try:
            require_sound_file(engine)
            return damaged_rows(engine, progress, drop=drop)
        finally:
            engine.dispose()

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

    def restore(self, backup: Path | None) -> RestoreResult:
        """Put a backup in the place of the caches' file.

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
            return RestoreResult(one, backups.restore(file, one))
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
            require_cache(engine)
            require_sound_file(engine)
            damaged = damaged_rows(engine, Tracker(), lasting=True)
            return f"{backup} is damaged ({listed(damaged)})." if damaged else ""
        except (ConfigurationError, InputError) as error:
            return str(error)
        finally:
            engine.dispose()

    def prune(self, days: int, *, apply: bool) -> list[Needless]:
        """Count what no run needed for so many days, table by table; `apply` removes it.

        Raises:
            ConfigurationError: the database failed, or can't be opened.
        """
        before = datetime.now(UTC) - timedelta(days=days)
        engine = self.store(read_only=not apply)
        try:
            if not apply:
                return needless(engine, before)
            found = prune(engine, before)
            give_room_back(engine)
            return found
        finally:
            engine.dispose()

    def tidy(self, engine: Engine, encoder: Encoder, hashes: Sequence[str]) -> None:
        """Mark the vectors that a whole run needed, and remove what no run needed for half a year."""
        cache = EmbeddingCache(engine, self.settings.embedding_storage)
        cache.note_used(encoder, [one for one in dict.fromkeys(hashes) if one])
        prune(engine, datetime.now(UTC) - timedelta(days=KEPT_DAYS))

    def damage_met(self, engine: Engine) -> tuple[str, str]:
        """Return a note on damaged rows that runs replace, and a gap for days of search data; "" for none."""
        replaced = dict(noted_damage(engine))
        days = replaced.pop(SEARCH_DAYS.name, 0)
        return (
            f"The cache had damaged rows, which were replaced: {listed(replaced)}." if replaced else "",
            f"{counted(days, 'day')} of search data could not be read: import the data again, or put a backup back "
            "with `store restore`."
            if days
            else "",
        )

    def _database(self, url: str, *, read_only: bool = False) -> Engine:
        password = self.settings.store_password.get_secret_value()
        return open_database(url, self.root, password=password, read_only=read_only)
