"""Two databases -> one that holds what both held, the newer answer where they differ."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from sqlalchemy import Engine, Table, func, select
from sqlalchemy.exc import SQLAlchemyError

from internal_linker.adapters.database.engine import failed, lacks, shown_address, transact, upsert
from internal_linker.adapters.database.schema import Moment
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


def copy_tables(source: Engine, destination: Engine, tables: Sequence[Table], progress: Progress) -> None:
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
    for table in tables:
        _copy(source, destination, table, progress)


def _copy(source: Engine, destination: Engine, table: Table, progress: Progress) -> None:
    age = next(column.name for column in table.columns if isinstance(column.type, Moment))
    total = 0 if lacks(source, table) else _count(source, table)
    progress.start(table.name, total, "rows")
    read = copied = 0
    for batch in _batches(source, table) if total else ():
        copied += transact(destination, partial(upsert, table=table, rows=batch, newer_by=age))
        read += len(batch)
        progress.advance(len(batch))
    progress.finish(f"{read} rows: {copied} copied, {read - copied} there already, as new or newer")


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
