"""Damage in a database: rows that cannot be read are found, and removed, restored from a backup, or set aside."""

import json
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any

from sqlalchemy import (
    BLOB,
    Column,
    ColumnElement,
    Connection,
    Engine,
    Row,
    String,
    Table,
    Text,
    and_,
    cast,
    delete,
    false,
    func,
    insert,
    literal,
    literal_column,
    not_,
    or_,
    select,
    update,
)
from sqlalchemy.exc import SQLAlchemyError

from internal_linker.adapters.database.engine import failed, lacks, transact, upsert
from internal_linker.adapters.database.schema import METADATA, Moment, latest_moment
from internal_linker.core.ports import Progress

# Rows that were removed from other tables because they could not be read, with every byte of their cells.
DAMAGED_ROWS = Table(
    "damaged_rows",
    METADATA,
    Column("id", String(32), primary_key=True),
    Column("table_name", String(40), nullable=False),
    Column("cells", Text, nullable=False),  # JSON by column: of SQLite, the type and the bytes in hexadecimal
    Column("found_at", Moment, nullable=False),
)
# Rows in memory at once.
_ROWS = 500
# A time as SQLite stores it.
_TIME = "[12][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9] [0-2][0-9]:[0-5][0-9]*"


@dataclass(frozen=True, slots=True)
class Stored:
    """A table and what its damage means.

    Attributes:
        table: the table.
        soundness: gets a database, and returns the function that says whether one of its rows can be read.
        lasting: whether nothing can fetch or compute its rows again.
        dated: whether its rows are of no use without the time at which they were stored.
        mend: replaces damaged cells that a row can do without.
        part_of: the table whose rows are incomplete without the rows of this one that have their key.
    """

    table: Table
    soundness: Callable[[Engine], Callable[[Row[Any]], bool]]
    lasting: bool = False
    dated: bool = False
    mend: Callable[[Connection], None] | None = None
    part_of: Table | None = None


@dataclass(frozen=True, slots=True)
class Repaired:
    """What was done with the damaged rows of a table.

    Attributes:
        table: the table's name.
        removed: rows that runs fetch or compute again when they need them.
        restored: rows that came back from a backup.
        set_aside: rows that no backup has; the table damaged_rows keeps them.
    """

    table: str
    removed: int = 0
    restored: int = 0
    set_aside: int = 0


def file_damage(engine: Engine) -> str:
    """Return what is wrong with an SQLite file as a whole; "" if it is sound or the database is on a server."""
    if engine.dialect.name != "sqlite":
        return ""
    said = transact(engine, lambda one: one.exec_driver_sql("PRAGMA integrity_check(1)").scalar())
    return "" if said == "ok" else str(said)


def damaged_rows(engine: Engine, stored: Sequence[Stored], progress: Progress) -> dict[str, int]:
    """Count the damaged rows by table, for the tables that have any."""
    counts = {one.table.name: len(_damaged(engine, one, progress)) for one in stored}
    return {table: count for table, count in counts.items() if count}


def repair(
    engine: Engine, stored: Sequence[Stored], backups: Sequence[Engine], progress: Progress
) -> list[Repaired]:
    """Remove the damaged rows of all tables; what can't be fetched again is restored from a backup or set aside.

    Args:
        engine: the database.
        stored: its tables.
        backups: earlier copies of it, the newest first.
        progress: shows the tables.
    """
    transact(engine, partial(_mend, stored=stored))
    found = []
    for one in stored:
        damaged = _damaged(engine, one, progress)
        copies = [_sound_copy(row, one, backups) for row in damaged.values()] if one.lasting else []
        transact(engine, partial(_replace, one=one, damaged=damaged, copies=copies))
        restored = sum(copy is not None for copy in copies)
        if damaged and one.lasting:
            found.append(Repaired(one.table.name, 0, restored, len(damaged) - restored))
        elif damaged:
            found.append(Repaired(one.table.name, len(damaged)))
    return found


def damaged_time(connection: Connection, column: Column[datetime]) -> ColumnElement[bool]:
    """Return the condition that a stored time is not one."""
    if connection.dialect.name != "sqlite":
        return false()  # a server stores nothing but times
    return column.is_not(None) & or_(func.typeof(column) != "text", not_(func.glob(_TIME, column)))


def _mend(connection: Connection, stored: Sequence[Stored]) -> None:
    mend_times(connection, stored)
    for one in stored:
        if one.mend:
            one.mend(connection)


def mend_times(connection: Connection, stored: Sequence[Stored]) -> None:
    """Replace times that are damaged or in the future by the present one; remove rows that are of no use then.

    If most rows of a table are from the future, rather this computer's clock is wrong, and they stay.
    """
    now = datetime.now(UTC)
    for one in stored:
        columns = [column for column in one.table.c if isinstance(column.type, Moment)]
        if connection.scalar(select(literal(1)).select_from(one.table).limit(1)) is None:
            continue
        bad = [damaged_time(connection, column) for column in columns]
        later = [column > latest_moment() for column in columns]
        # One pass over a large table; there is seldom anything to change.
        wanted: list[ColumnElement[int]] = [func.count()]
        for is_bad, is_later in zip(bad, later, strict=True):
            wanted += [func.count().filter(is_bad), func.count().filter(is_later, not_(is_bad))]
        rows, *found = connection.execute(select(*wanted).select_from(one.table)).one()
        for at, column in enumerate(columns):
            damaged, future = found[2 * at : 2 * at + 2]
            wrong = or_(bad[at], later[at]) if 2 * future < rows else bad[at]
            if not damaged and not future:
                continue
            if one.dated:
                connection.execute(delete(one.table).where(wrong))
            else:
                connection.execute(update(one.table).where(wrong).values({column.name: now}))


def set_aside(connection: Connection, table: Table, rows: ColumnElement[bool]) -> None:
    """Move rows to DAMAGED_ROWS."""
    if connection.dialect.name == "sqlite":
        cells = [func.typeof(one).concat(" ").concat(func.hex(cast(one, BLOB))) for one in table.c]
    else:
        cells = [cast(one, Text) for one in table.c]
    now, names = datetime.now(UTC), [one.name for one in table.c]
    for row in connection.execute(select(*cells).where(rows)).all():
        told = json.dumps(dict(zip(names, row, strict=True)))
        given = {"id": uuid.uuid4().hex, "table_name": table.name, "cells": told, "found_at": now}
        connection.execute(insert(DAMAGED_ROWS), given)
    connection.execute(delete(table).where(rows))


def is_complete(row: Row[Any], table: Table) -> bool:
    """Return whether all cells that must have a value have one: a damaged cell reads as None."""
    return all(getattr(row, one.name) is not None for one in table.c if not one.nullable)


def _named(engine: Engine) -> ColumnElement[Any]:
    """Return the database's own name of a row, which no damaged cell changes."""
    return literal_column("rowid" if engine.dialect.name == "sqlite" else "ctid::text").label("row_name")


def _damaged(engine: Engine, one: Stored, progress: Progress) -> dict[Any, Row[Any]]:
    """Return the damaged rows of a table by the database's own names."""
    table = one.table
    if lacks(engine, table):
        return {}
    count = transact(engine, lambda it: it.execute(select(func.count()).select_from(table)).scalar_one())
    progress.start(table.name, count, "rows")
    found: dict[Any, Row[Any]] = {}
    is_sound = one.soundness(engine)
    try:
        with engine.connect() as connection:
            size = 1 if "content" in table.c else _ROWS  # those are megabytes each
            rows = connection.execution_options(yield_per=size).execute(select(table, _named(engine)))
            for part in rows.partitions():
                bad = (row for row in part if not (is_complete(row, table) and is_sound(row)))
                found |= {row.row_name: row for row in bad}
                progress.advance(len(part))
    except SQLAlchemyError as error:
        raise failed(engine, error) from None
    progress.finish(f"{count} rows, {len(found)} damaged")
    return found


def _sound_copy(row: Row[Any], one: Stored, backups: Sequence[Engine]) -> Mapping[str, Any] | None:
    """Return the row of the same key in the newest backup that has a sound one."""
    keys = [key for key in one.table.primary_key if getattr(row, key.name) is not None]
    if len(keys) < len(one.table.primary_key):
        return None
    wanted = select(one.table).where(*(key == getattr(row, key.name) for key in keys))
    for backup in backups:
        if lacks(backup, one.table):
            continue
        copy = transact(backup, lambda connection: connection.execute(wanted).one_or_none())
        if copy is not None and is_complete(copy, one.table) and one.soundness(backup)(copy):
            return dict(copy._mapping)
    return None


def _replace(
    connection: Connection,
    one: Stored,
    damaged: Mapping[Any, Row[Any]],
    copies: Sequence[Mapping[str, Any] | None],
) -> None:
    name = _named(connection.engine).element
    for at, (wanted, row) in enumerate(damaged.items()):
        if not one.lasting or copies[at] is not None:
            connection.execute(delete(one.table).where(name == wanted))
            continue
        set_aside(connection, one.table, and_(name == wanted))
        if (whole := one.part_of) is not None:
            keys = (key == getattr(row, key.name) for key in whole.primary_key)
            set_aside(connection, whole, and_(*keys))
    upsert(connection, one.table, [copy for copy in copies if copy is not None])
