"""Maintenance of databases: copy one into another, find rows that can't be read, and prune rows that nobody needs."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from sqlalchemy import Connection, Engine, Row, Table, delete, func, literal_column, select
from sqlalchemy.exc import SQLAlchemyError

from internal_linker.model.errors import ConfigurationError, InputError
from internal_linker.model.ports import Encoder, Progress
from internal_linker.model.sequences import counted
from internal_linker.store import (
    answers,
    applied_links,
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
    lacks,
    noted_damage,
    shown_address,
    transact,
    upsert,
)
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


@dataclass(frozen=True, slots=True)
class Copied:
    """The counts of a table's rows: those read, copied, and damaged; the destination already had the others."""

    table: str
    rows: int
    copied: int
    damaged: int = 0


def copy_tables(source: Engine, destination: Engine, progress: Progress) -> list[Copied]:
    """Copy all tables, committing each batch: a second call continues an interrupted copy.

    Args:
        source: a database opened for reading only; its damaged rows stay where they are.
        destination: a database whose rows stay, unless the source has a newer row with the same key.
        progress: receives the counts of rows read and copied, table by table.

    Raises:
        ConfigurationError: a database failed, or both are the same.
        StoreLost: the connection to a server was lost for good.
    """
    if source.url == destination.url:
        raise ConfigurationError(
            f"FROM and TO are the same database, {shown_address(source)}: choose two different ones."
        )
    return [_copy(source, destination, table, progress) for table in _READERS if table not in _NOT_COPIED]


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


@dataclass(frozen=True, slots=True)
class Needless:
    """The count of a table's unneeded rows and their size in bytes."""

    table: str
    rows: int
    size: int


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
