"""The project's database, and the work on databases as a whole: copy, verify, back up, restore, prune."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from sqlalchemy import Engine

from internal_linker.model.errors import ConfigurationError, InputError, RunActive
from internal_linker.model.ports import Progress
from internal_linker.model.progress import Tracker
from internal_linker.store import backups, page_vectors
from internal_linker.store.engine import file_of, open_database, require_sound_file
from internal_linker.store.maintenance import (
    Copied,
    Needless,
    copy_tables,
    damaged_rows,
    give_room_back,
    listed,
    needless,
    prune,
    require_cache,
)
from internal_linker.store.run_queue import file_lock


@dataclass(frozen=True)
class RestoreResult:
    """A backup that took the cache's place."""

    backup: Path
    # Where the file is that was in its place; None if there was none.
    former: Path | None


@dataclass(frozen=True)
class Databases:
    """The database of a project, and the work on databases as a whole."""

    url: str  # an SQLAlchemy URL
    root: Path  # the project's folder, where relative paths start
    password: str = ""  # the server's, if the URL has none
    weekly: int = 0  # how many weekly backups to keep; 0: none are made

    def store(self, *, read_only: bool = False) -> Engine:
        """Open the project's database; `read_only` creates and changes nothing."""
        return self._database(self.url, read_only=read_only)

    @contextmanager
    def opened(self, *, read_only: bool = False) -> Iterator[Engine]:
        """Open the project's database, and close it when the block ends."""
        with _disposing(self.store(read_only=read_only)) as engine:
            yield engine

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
        with _disposing(self._database(urls[0], read_only=True)) as given:
            require_cache(given)  # before a destination is made for nothing
            with _disposing(self._database(urls[1])) as taking:
                return copy_tables(given, taking, progress)

    def page_vectors(self) -> str | None:
        """Return why runs can't store page vectors for other programs; "" if they can, None for an SQLite file.

        Raises:
            ConfigurationError: the database failed, or can't be opened.
        """
        with self.opened(read_only=True) as engine:
            if engine.dialect.name != "postgresql":
                return None
            problem = page_vectors.problem(engine)
            return f"not stored for other programs, because {problem}" if problem else ""

    def verify(self, progress: Progress, *, drop: bool = False) -> dict[str, int]:
        """Count the rows that can't be read, by table; `drop` removes those that runs replace.

        Raises:
            ConfigurationError: the database is damaged as a whole, or can't be opened.
        """
        with self.opened(read_only=not drop) as engine:
            require_sound_file(engine)
            return damaged_rows(engine, progress, drop=drop)

    @property
    def file(self) -> Path | None:
        """The file of the caches; None if they are on a server or in memory."""
        return file_of(self.url, self.root)

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
        return backups.back_up_weekly(self.file, self.weekly) if self.file else None

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
        if not backup.is_file():
            return f"{backup} not found."
        try:
            with _disposing(self._database(f"sqlite:///{backup.absolute()}", read_only=True)) as engine:
                require_cache(engine)
                require_sound_file(engine)
                damaged = damaged_rows(engine, Tracker(), lasting=True)
        except (ConfigurationError, InputError) as error:
            return str(error)
        return f"{backup} is damaged ({listed(damaged)})." if damaged else ""

    def prune(self, days: int, *, apply: bool) -> list[Needless]:
        """Count what no run needed for so many days, table by table; `apply` removes it.

        Raises:
            ConfigurationError: the database failed, or can't be opened.
        """
        before = datetime.now(UTC) - timedelta(days=days)
        with self.opened(read_only=not apply) as engine:
            if not apply:
                return needless(engine, before)
            found = prune(engine, before)
            give_room_back(engine)
            return found

    def _database(self, url: str, *, read_only: bool = False) -> Engine:
        return open_database(url, self.root, password=self.password, read_only=read_only)


@contextmanager
def _disposing(engine: Engine) -> Iterator[Engine]:
    try:
        yield engine
    finally:
        engine.dispose()
