"""A database -> whether all that it holds can be read."""

from collections.abc import Callable, Mapping
from typing import Any

from sqlalchemy import Engine, Row, Table, func, select
from sqlalchemy.exc import SQLAlchemyError

from internal_linker.adapters.database.engine import failed, lacks, transact
from internal_linker.core.ports import Progress

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
