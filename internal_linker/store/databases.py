"""The project's database, and the work on databases as a whole: copy, verify, back up, restore, prune."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, Row, Table, delete, func, literal_column, select
from sqlalchemy.exc import SQLAlchemyError

from internal_linker.model.errors import ConfigurationError, InputError, RunActive
from internal_linker.model.ports import Encoder, Progress
from internal_linker.model.progress import Tracker
from internal_linker.model.sequences import counted
from internal_linker.store import (
    answers,
    applied_links,
    backups,
    edges,
    embeddings,
    neighbours,
    page_vectors,
    runs,
    search_days,
)
from internal_linker.store.engine import (
    UNREADABLE,
    database_file,
    failed,
    file_of,
    lacks,
    noted_damage,
    open_database,
    require_sound_file,
    shown_address,
    transact,
    upsert,
)
from internal_linker.store.run_queue import file_lock
from internal_linker.store.schema import LASTING, Moment, Waste

# By table, what raises one of `UNREADABLE` for a row that can't be read. Chunks come before the joins that need them,
# and links before their runs, so that a copy that breaks off has none without the other.
_READERS: dict[Table, Callable[[Engine, Row[Any]], object]] = {
    embeddings.EMBEDDINGS: lambda _, row: embeddings.read_vector(row),
    answers.SERP: lambda _, row: answers.read_links(row),
    answers.ANSWERS: lambda _, row: answers.read_answer(row),
    neighbours.JOIN_CHUNKS: lambda _, row: row.content,
    neighbours.JOINS: neighbours.read_join,
    edges.EDGES: lambda _, row: edges.read_edge(row),
    applied_links.APPLIED_LINKS: lambda _, row: applied_links.read_write(row),
    applied_links.DRAWN_TARGETS: lambda _, row: applied_links.read_drawn(row),
    search_days.SEARCH_DAYS: lambda _, row: search_days.read_day(row),
    runs.RUN_LINKS: lambda _, row: runs.read_part(row),
    runs.RUNS: lambda _, row: runs.read_version(row),
    neighbours.JOIN_BLOCKS: lambda _, row: neighbours.read_block(row),
    answers.FETCHED_PAGES: lambda _, row: answers.read_page(row),
}
# Work in progress, and pages that cost nothing: neither is worth copying.
_NOT_COPIED = {neighbours.JOIN_BLOCKS, answers.FETCHED_PAGES}
_LASTING = [table for table in _READERS if LASTING in table.info]
# Half a year of weekly runs; whatever none of them needed is removed.
KEPT_DAYS = 182
# Rows per batch in memory and in a transaction: a vector takes some KB. Chunks of a join, 4 MB each, come alone.
_ROWS_A_BATCH = 500


@dataclass(frozen=True, slots=True)
class Copied:
    """The counts of a table's rows: those read, copied, and damaged; the destination already had the others."""

    table: str
    rows: int
    copied: int
    damaged: int = 0


@dataclass(frozen=True, slots=True)
class Needless:
    """The count of a table's unneeded rows and their size in bytes."""

    table: str
    rows: int
    size: int


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
                if given.url == taking.url:
                    raise ConfigurationError(
                        f"FROM and TO are the same database, {shown_address(given)}: choose two different ones."
                    )
                # Each batch is committed, so that a second call continues an interrupted copy.
                tables = (table for table in _READERS if table not in _NOT_COPIED)
                return [_copy(given, taking, table, progress) for table in tables]

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


def require_cache(source: Engine) -> None:
    """Make sure that a database, opened for reading only, has one of our tables.

    Raises:
        InputError: it has none.
    """
    if lacks(source, *_READERS):
        raise InputError(f"{shown_address(source)} not found, or it contains no cache: check FROM.")


def listed(damaged: Mapping[str, int]) -> str:
    """Return counts of rows by table for people, such as "2 in edges, 1 in runs"."""
    return ", ".join(f"{count} in {table}" for table, count in damaged.items())


def _copy(source: Engine, destination: Engine, table: Table, progress: Progress) -> Copied:
    age = next(column.name for column in table.columns if isinstance(column.type, Moment))
    progress.start(table.name, _count(source, table), "rows")
    read = copied = damaged = 0
    for batch in _batches(source, table):
        rows = [_values(row, table) for row in batch if _is_readable(source, table, row)]
        copied += transact(destination, partial(upsert, table=table, rows=rows, newer_by=age))
        read, damaged = read + len(batch), damaged + len(batch) - len(rows)
        progress.advance(len(batch))
    lost = f", {damaged} damaged and left out" if damaged else ""
    progress.finish(
        f"{counted(read, 'row')}: {copied} copied, {read - copied - damaged} already up to date{lost}"
    )
    return Copied(table.name, read, copied, damaged)


def damaged_rows(
    engine: Engine, progress: Progress, *, drop: bool = False, lasting: bool = False
) -> dict[str, int]:
    """Count the rows that can't be read by table, for the tables that have any.

    Args:
        progress: shows the tables.
        drop: remove such rows, but for those that nothing can replace.
        lasting: look only at tables whose rows nothing can replace.
    """
    counts = {}
    for table in _LASTING if lasting else _READERS:
        total = _count(engine, table)
        progress.start(table.name, total, "rows")
        names = []
        for batch in _batches(engine, table):
            names += [row.row_name for row in batch if not _is_readable(engine, table, row)]
            progress.advance(len(batch))
        if drop and LASTING not in table.info:
            transact(engine, partial(_remove, table=table, names=names))
        if names:
            counts[table.name] = len(names)
        progress.finish(f"{total} rows, {len(names)} damaged")
    return counts


def is_lasting(table: str) -> bool:
    """Return whether nothing can replace the rows of a table."""
    return table in {one.name for one in _LASTING}


def _remove(connection: Connection, table: Table, names: Sequence[Any]) -> None:
    for name in names:
        connection.execute(delete(table).where(_row_name(connection.engine) == name))


def _row_name(engine: Engine) -> Any:
    """Return the database's own name of a row, which no damaged cell changes."""
    return literal_column("rowid" if engine.dialect.name == "sqlite" else "ctid::text")


def _is_readable(engine: Engine, table: Table, row: Row[Any]) -> bool:
    # A cell that is no text or no time reads as None.
    if any(getattr(row, column.name) is None for column in table.c if not column.nullable):
        return False
    try:
        _READERS[table](engine, row)
    except UNREADABLE:
        return False
    return True


def _values(row: Row[Any], table: Table) -> dict[str, Any]:
    return {column.name: getattr(row, column.name) for column in table.c}


def _count(engine: Engine, table: Table) -> int:
    if lacks(engine, table):
        return 0
    return transact(engine, lambda one: one.execute(select(func.count()).select_from(table)).scalar_one())


def _batches(engine: Engine, table: Table) -> Iterator[Sequence[Row[Any]]]:
    """Yield all rows as they were when the iteration began, in batches, each with its `row_name`."""
    if lacks(engine, table):
        return
    size = 1 if "content" in table.c else _ROWS_A_BATCH
    wanted = select(table, _row_name(engine).label("row_name"))
    try:
        with engine.connect() as connection:
            yield from connection.execution_options(yield_per=size).execute(wanted).partitions()
    except SQLAlchemyError as error:
        raise failed(engine, error) from None


def needless(engine: Engine, before: datetime) -> list[Needless]:
    """Count the rows that `prune` would remove; change nothing."""
    there = [each for each in _waste(engine, before) if not lacks(engine, each.table)]
    return transact(engine, lambda connection: [_needless(connection, each) for each in there])


def prune(engine: Engine, before: datetime) -> list[Needless]:
    """Remove all rows that nobody needed since then, or none; a file keeps its size, and new rows reuse the space."""
    waste = _waste(engine, before)

    def work(connection: Connection) -> list[Needless]:
        found = [_needless(connection, each) for each in waste]
        for each, one in zip(waste, found, strict=True):
            if one.rows:
                connection.execute(delete(each.table).where(each.rows))
        return found

    return transact(engine, work)


def tidy(engine: Engine, encoder: Encoder, hashes: Sequence[str]) -> None:
    """Mark the vectors that a whole run needed, and remove what no run needed for half a year."""
    embeddings.note_used(engine, encoder, [one for one in dict.fromkeys(hashes) if one])
    prune(engine, datetime.now(UTC) - timedelta(days=KEPT_DAYS))


def damage_met(engine: Engine) -> tuple[str, str]:
    """Return a note on damaged rows that runs replace, and a gap for days of search data; "" for none."""
    replaced = dict(noted_damage(engine))
    days = replaced.pop(search_days.SEARCH_DAYS.name, 0)
    return (
        f"The cache had damaged rows, which were replaced: {listed(replaced)}." if replaced else "",
        f"{counted(days, 'day')} of search data could not be read: import the data again, or put a backup back "
        "with `store restore`."
        if days
        else "",
    )


def give_room_back(engine: Engine) -> None:
    """Shrink an SQLite file to its content; a server does so on its own.

    Raises:
        ConfigurationError: the disk has no space for a second copy of the file, or another program uses it.
    """
    if engine.dialect.name == "sqlite" and database_file(engine.url):
        try:
            with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
                connection.exec_driver_sql("VACUUM")
        except SQLAlchemyError as error:
            raise failed(engine, error) from None


def _waste(engine: Engine, before: datetime) -> list[Waste]:
    stores = (embeddings, answers, neighbours, edges, applied_links, search_days, runs)
    return [each for store in stores for each in store.waste(before)] + page_vectors.waste(engine, before)


def _needless(connection: Connection, waste: Waste) -> Needless:
    wanted = select(func.count(), func.sum(waste.size)).select_from(waste.table).where(waste.rows)
    rows, size = connection.execute(wanted).one()
    return Needless(waste.table.name, rows, int(size or 0))
