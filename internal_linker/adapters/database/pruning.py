"""Rows that nobody needs any more -> how many there are, and their removal."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, Engine, delete, func, select
from sqlalchemy.exc import SQLAlchemyError

from internal_linker.adapters.database.engine import database_file, failed, lacks, transact
from internal_linker.adapters.database.schema import Waste


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
