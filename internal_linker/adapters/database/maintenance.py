"""Maintenance of databases: copy one into another, and prune rows that nobody needs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any

from sqlalchemy import Connection, Engine, Row, Table, delete, func, select
from sqlalchemy.exc import SQLAlchemyError

from internal_linker.adapters.database.damage import Stored, is_complete, mend_times
from internal_linker.adapters.database.engine import (
    database_file,
    failed,
    lacks,
    shown_address,
    transact,
    upsert,
)
from internal_linker.adapters.database.schema import Moment, Waste, latest_moment
from internal_linker.core.errors import ConfigurationError, InputError
from internal_linker.core.ports import Progress
from internal_linker.core.sequences import counted

# Rows per batch in memory and in a transaction: a vector takes some KB. Chunks of a join, 4 MB each, come alone.
_ROWS_A_BATCH = 500
# The age of a row whose time can't be right.
_UNKNOWN = datetime(1970, 1, 1, tzinfo=UTC)


def require_cache(source: Engine, tables: Sequence[Table]) -> None:
    """Make sure that there is something to copy.

    Raises:
        InputError: the source, opened for reading only, has none of the tables.
    """
    if lacks(source, *tables):
        raise InputError(f"{shown_address(source)} not found, or it contains no cache: check FROM.")


@dataclass(frozen=True, slots=True)
class Copied:
    """The counts of a table's rows: those read, copied, and damaged; the destination already had the others."""

    table: str
    rows: int
    copied: int
    damaged: int = 0


def copy_tables(
    source: Engine, destination: Engine, stored: Sequence[Stored], progress: Progress
) -> list[Copied]:
    """Copy tables in this order, committing each batch: a second call continues an interrupted copy.

    Args:
        source: a database opened for reading only.
        destination: a database whose rows stay, unless the source has a newer row with the same key.
        stored: the tables, whose first `Moment` column says how old a row is; damaged rows stay where they are.
        progress: receives the counts of rows read and copied, table by table.

    Raises:
        ConfigurationError: a database failed, or both are the same.
        StoreLost: the connection to a server was lost for good.
    """
    if source.url == destination.url:
        raise ConfigurationError(
            f"FROM and TO are the same database, {shown_address(source)}: choose two different ones."
        )
    return [_copy(source, destination, one, progress) for one in stored]


def _copy(source: Engine, destination: Engine, one: Stored, progress: Progress) -> Copied:
    table = one.table
    age = next(column.name for column in table.columns if isinstance(column.type, Moment))
    total = 0 if lacks(source, table) else _count(source, table)
    progress.start(table.name, total, "rows")
    read = copied = damaged = 0
    is_sound = one.soundness(source)
    for batch in _batches(source, table) if total else ():
        rows = [_dated(row, age) for row in batch if is_complete(row, table) and is_sound(row)]
        copied += transact(destination, partial(upsert, table=table, rows=rows, newer_by=age))
        read, damaged = read + len(batch), damaged + len(batch) - len(rows)
        progress.advance(len(batch))
    lost = f", {damaged} damaged and left out" if damaged else ""
    progress.finish(
        f"{counted(read, 'row')}: {copied} copied, {read - copied - damaged} already up to date{lost}"
    )
    return Copied(table.name, read, copied, damaged)


def _dated(row: Row[Any], age: str) -> dict[str, Any]:
    """Return a row's values; a row from the future counts as the oldest."""
    values = dict(row._mapping)
    return values | {age: _UNKNOWN} if values[age] > latest_moment() else values


def _count(engine: Engine, table: Table) -> int:
    return transact(engine, lambda one: one.execute(select(func.count()).select_from(table)).scalar_one())


def _batches(engine: Engine, table: Table) -> Iterator[Sequence[Row[Any]]]:
    """Yield all rows as they were when the iteration began, in batches."""
    size = 1 if "content" in table.c else _ROWS_A_BATCH
    try:
        with engine.connect() as connection:
            rows = connection.execution_options(yield_per=size).execute(select(table))
            yield from rows.partitions()
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


def prune(engine: Engine, waste: Sequence[Waste], stored: Sequence[Stored]) -> list[Needless]:
    """Remove all unneeded rows or none; a file keeps its size, and new rows reuse the space.

    Damaged times and times from the future are replaced first: no row becomes unneeded by them, or stays for ever.
    """

    def work(connection: Connection) -> list[Needless]:
        mend_times(connection, stored)
        found = _counted(connection, waste)
        for each, one in zip(waste, found, strict=True):
            if one.rows:
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
