"""Maintenance of databases: copy one into another, check for damage, and prune rows that nobody needs."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from sqlalchemy import Connection, Engine, Row, Table, delete, func, select
from sqlalchemy.exc import SQLAlchemyError

from internal_linker.adapters.database.engine import (
    database_file,
    failed,
    lacks,
    shown_address,
    transact,
    upsert,
)
from internal_linker.adapters.database.schema import Moment, Waste
from internal_linker.core.errors import ConfigurationError, InputError
from internal_linker.core.ports import Progress

# Rows per batch in memory and in a transaction: a vector takes some KB. Chunks of a join, 4 MB each, come alone.
_ROWS_A_BATCH = 500


def require_cache(source: Engine, tables: Sequence[Table]) -> None:
    """Make sure that there is something to copy.

    Raises:
        InputError: the source, opened for reading only, has none of the tables.
    """
    if lacks(source, *tables):
        raise InputError(f"{shown_address(source)} not found, or it contains no cache: check FROM.")


@dataclass(frozen=True, slots=True)
class Copied:
    """The counts of a table's rows that were read and copied; the destination already had the others."""

    table: str
    rows: int
    copied: int


def copy_tables(
    source: Engine, destination: Engine, tables: Sequence[Table], progress: Progress
) -> list[Copied]:
    """Copy tables in this order, committing each batch: a second call continues an interrupted copy.

    Args:
        source: a database opened for reading only.
        destination: a database whose rows stay, unless the source has a newer row with the same key.
        tables: tables with one `Moment` column each, which says how old a row is.
        progress: receives the counts of rows read and copied, table by table.

    Raises:
        ConfigurationError: a database failed, or both are the same.
        StoreLost: the connection to a server was lost for good.
    """
    if source.url == destination.url:
        raise ConfigurationError(
            f"FROM and TO are the same database, {shown_address(source)}: choose two different ones."
        )
    return [_copy(source, destination, table, progress) for table in tables]


def _copy(source: Engine, destination: Engine, table: Table, progress: Progress) -> Copied:
    age = next(column.name for column in table.columns if isinstance(column.type, Moment))
    total = 0 if lacks(source, table) else _count(source, table)
    progress.start(table.name, total, "rows")
    read = copied = 0
    for batch in _batches(source, table) if total else ():
        copied += transact(destination, partial(upsert, table=table, rows=batch, newer_by=age))
        read += len(batch)
        progress.advance(len(batch))
    progress.finish(f"{read} rows: {copied} copied, {read - copied} already up to date")
    return Copied(table.name, read, copied)


def _count(engine: Engine, table: Table) -> int:
    return transact(engine, lambda one: one.execute(select(func.count()).select_from(table)).scalar_one())


def _batches(engine: Engine, table: Table) -> Iterator[list[Mapping[str, Any]]]:
    """Yield all rows as they were when the iteration began, in batches."""
    size = 1 if "content" in table.c else _ROWS_A_BATCH
    try:
        with engine.connect() as connection:
            rows = connection.execution_options(yield_per=size).execute(select(table))
            for batch in rows.mappings().partitions():
                yield [dict(row) for row in batch]
    except SQLAlchemyError as error:
        raise failed(engine, error) from None


@dataclass(frozen=True, slots=True)
class Needless:
    """The count of a table's unneeded rows and their size in bytes."""

    table: str
    rows: int
    size: int


def needless(engine: Engine, waste: Sequence[Waste]) -> list[Needless]:
    """Count the rows that `prune` would remove; change nothing."""
    there = [each for each in waste if not lacks(engine, each.table)]
    return transact(engine, lambda connection: _counted(connection, there))


def prune(engine: Engine, waste: Sequence[Waste]) -> list[Needless]:
    """Remove all unneeded rows or none; a file keeps its size, and new rows reuse the space."""

    def work(connection: Connection) -> list[Needless]:
        found = _counted(connection, waste)
        for each in waste:
            connection.execute(delete(each.table).where(each.rows))
        return found

    return transact(engine, work)


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


def _counted(connection: Connection, waste: Sequence[Waste]) -> list[Needless]:
    found = []
    for each in waste:
        wanted = select(func.count(), func.sum(each.size)).select_from(each.table).where(each.rows)
        rows, size = connection.execute(wanted).one()
        found.append(Needless(each.table.name, rows, int(size or 0)))
    return found


# Rows in memory at once.
_ROWS = 500


def damage(engine: Engine) -> str:
    """Return what is wrong with an SQLite file as a whole; "" if it is sound or the database is on a server."""
    if engine.dialect.name != "sqlite":
        return ""
    said = transact(engine, lambda one: one.exec_driver_sql("PRAGMA integrity_check(1)").scalar())
    return "" if said == "ok" else str(said)


def unreadable(
    engine: Engine, checks: Mapping[Table, Callable[[Row[Any]], bool]], progress: Progress
) -> dict[str, int]:
    """Count the rows that can't be read, by table, for the tables that have any; `checks` returns whether a row can."""
    found = {}
    for table, is_sound in checks.items():
        bad = 0 if lacks(engine, table) else _unsound(engine, table, is_sound, progress)
        if bad:
            found[table.name] = bad
    return found


def _unsound(engine: Engine, table: Table, is_sound: Callable[[Row[Any]], bool], progress: Progress) -> int:
    count = transact(engine, lambda one: one.execute(select(func.count()).select_from(table)).scalar_one())
    progress.start(table.name, count, "rows")
    bad = 0
    try:
        with engine.connect() as connection:
            rows = connection.execution_options(yield_per=_ROWS).execute(select(table))
            for part in rows.partitions():
                bad += sum(not is_sound(row) for row in part)
                progress.advance(len(part))
    except SQLAlchemyError as error:
        raise failed(engine, error) from None
    progress.finish(f"{count} rows, {bad} damaged")
    return bad
