"""Two databases -> one that holds what both held, the newer answer where they differ."""

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

# Rows in memory and in a transaction: a vector takes some KB. A chunk of a join is 4 MB, and comes alone.
_ROWS_A_BATCH = 500


def require_cache(source: Engine, tables: Sequence[Table]) -> None:
    """See that there is something to copy.

    Raises:
        InputError: the source, opened for reading only, has none of the tables.
    """
    if lacks(source, *tables):
        raise InputError(
            f"There is no cache at {shown_address(source)}. Correct the first of the two addresses."
        )


@dataclass(frozen=True, slots=True)
class Copied:
    """How many rows of a table were read, and how many of them were copied; the others were there already."""

    table: str
    rows: int
    copied: int


def copy_tables(
    source: Engine, destination: Engine, tables: Sequence[Table], progress: Progress
) -> list[Copied]:
    """Copy tables in this order, in batches that are committed one by one: copying again goes on.

    Args:
        source: opened for reading only.
        destination: its rows stay, unless the source has a newer one of the same key.
        tables: each with one column of `Moment`, the age of a row.
        progress: is told how many rows of each table were read, and how many of them copied.

    Raises:
        ConfigurationError: a database failed, or both are one.
        StoreLost: a server is gone in the middle.
    """
    if source.url == destination.url:
        raise ConfigurationError(f"Both addresses are the same database, {shown_address(source)}. Name two.")
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
    progress.finish(f"{read} rows: {copied} copied, {read - copied} there already, as new or newer")
    return Copied(table.name, read, copied)


def _count(engine: Engine, table: Table) -> int:
    return transact(engine, lambda one: one.execute(select(func.count()).select_from(table)).scalar_one())


def _batches(engine: Engine, table: Table) -> Iterator[list[Mapping[str, Any]]]:
    """All rows as they stood when this began."""
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
    """What there is of it in a table: rows, and their size in bytes."""

    table: str
    rows: int
    size: int


def needless(engine: Engine, waste: Sequence[Waste]) -> list[Needless]:
    """Count; nothing is changed."""
    there = [each for each in waste if not lacks(engine, each.table)]
    return transact(engine, lambda connection: _counted(connection, there))


def prune(engine: Engine, waste: Sequence[Waste]) -> list[Needless]:
    """Remove all of it or nothing; a file's size stays, and what is kept next takes the room."""

    def work(connection: Connection) -> list[Needless]:
        found = _counted(connection, waste)
        for each in waste:
            connection.execute(delete(each.table).where(each.rows))
        return found

    return transact(engine, work)


def give_room_back(engine: Engine) -> None:
    """Make an SQLite file as small as what it holds; a server does so by itself.

    Raises:
        ConfigurationError: the disk has no room for the new file beside the old, or another program uses it.
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


# Rows in memory at a time.
_ROWS = 500


def damage(engine: Engine) -> str:
    """What is wrong with an SQLite file as a whole, "" if nothing is; a server sees to that itself."""
    if engine.dialect.name != "sqlite":
        return ""
    said = transact(engine, lambda one: one.exec_driver_sql("PRAGMA integrity_check(1)").scalar())
    return "" if said == "ok" else str(said)


def unreadable(
    engine: Engine, checks: Mapping[Table, Callable[[Row[Any]], bool]], progress: Progress
) -> dict[str, int]:
    """How many rows of each table can't be read, of those that have any; `checks` tells of a row whether it can."""
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
    progress.finish(f"{count} rows, {bad or 'none'} of them damaged")
    return bad
