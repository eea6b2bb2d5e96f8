"""The database schema: one baseline, of which opening a database creates the tables that are missing."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    DateTime,
    Dialect,
    Integer,
    MetaData,
    String,
    Table,
    func,
    inspect,
    select,
)
from sqlalchemy.exc import ArgumentError
from sqlalchemy.schema import CreateIndex, CreateTable
from sqlalchemy.types import TypeDecorator

from internal_linker.model.errors import ConfigurationError
from internal_linker.model.version import __version__

METADATA = MetaData()
# The version of the tables that this program reads and writes.
VERSION = 4
# In the `info` of a table: nothing can fetch or compute its rows again, so one that can't be read ends the command.
LASTING = "lasting"
# The name of an index's condition in its `info`: as an argument, it would load the dialects of all databases.
WHERE = "where"
# All programs of a database share the numbers of advisory locks: ours are the letters of "linker", then a byte.
LOCK_NUMBERS = int.from_bytes(b"linker", "big") << 8
_CREATING = LOCK_NUMBERS + 1
# The first program, which noted no version, created these tables.
_ALWAYS_THERE = frozenset({"embeddings", "serp"})


class Moment(TypeDecorator[datetime]):
    """A time in UTC, whatever time zone the database or its session uses; None if SQLite stores no time there."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Convert a time to UTC before it is stored."""
        return value.astimezone(UTC) if value else None

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Convert a stored time to UTC: SQLite returns times without a zone, PostgreSQL in the session's."""
        if value is None:
            return None
        return value.astimezone(UTC) if value.tzinfo else value.replace(tzinfo=UTC)

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], datetime | None]:
        """Return the function that converts a stored time: one bad cell must not hide the other rows of a query."""
        process = super().result_processor(dialect, coltype)

        def converted(value: Any) -> datetime | None:
            try:
                return process(value) if process else value
            except (TypeError, ValueError, OverflowError):
                return None

        return converted


# One row per version that the database reached.
VERSIONS = Table(
    "schema_versions",
    METADATA,
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("program", String(40), nullable=False),
    Column("reached_at", Moment, nullable=False),
)


@dataclass(frozen=True, slots=True)
class Waste:
    """Rows of a table that nobody needs any more: the condition that selects them, and the size of each in bytes."""

    table: Table
    rows: ColumnElement[bool]
    size: ColumnElement[int]


def prepare(connection: Connection, *, read_only: bool) -> frozenset[str]:
    """Create missing tables, all of them or none; return the names of those that the database still lacks.

    Raises:
        ConfigurationError: another version of the program, or another program, made the tables; nothing was changed.
        ArgumentError: the database's encoding can't represent every script.
    """
    if connection.dialect.name == "postgresql":
        encoding = connection.execute(select(func.current_setting("server_encoding"))).scalar_one()
        if encoding != "UTF8":  # a query in another script must not fail after it has been paid for
            raise ArgumentError(f"its encoding is {encoding}: create the database with ENCODING 'UTF8'")
    is_ours = require_version(connection)
    if not read_only and (not is_ours or _missing(connection)):
        _lock(connection)
        _create(connection)
    return _missing(connection)


def require_version(connection: Connection) -> bool:
    """Return whether our tables are in the database.

    Raises:
        ConfigurationError: another version of the program, or another program, made the tables.
    """
    name = connection.engine.get_execution_options()["shown"]
    tables = frozenset(inspect(connection).get_table_names())
    if VERSIONS.name in tables:
        version = int(connection.execute(select(func.max(VERSIONS.c.version))).scalar() or 0)
    elif tables >= _ALWAYS_THERE:
        version = 0
    elif tables and connection.dialect.name == "sqlite":
        raise ConfigurationError(
            f"store_url: {name} belongs to another program and was not changed. Name another file."
        )
    else:
        return False
    if version < VERSION:
        raise ConfigurationError(
            f"store_url: {name} is from a development version of 0.1.0 (schema {version}) that this version no longer "
            "reads, and was not changed. Open it once with the program of 25 to 27 November 2026, or name another "
            "database to start a new one: the next run reads decisions again from the Sheet or review.xlsx."
        )
    if version > VERSION:
        program = connection.execute(select(VERSIONS.c.program).order_by(VERSIONS.c.version.desc())).scalar()
        raise ConfigurationError(
            f"store_url: {name} was created by a newer version of this program ({program}) and was not "
            f"changed. This is version {__version__}: update the program, or name another database."
        )
    return True


def _missing(connection: Connection) -> frozenset[str]:
    return frozenset(METADATA.tables) - set(inspect(connection).get_table_names())


def _lock(connection: Connection) -> None:
    """Lock out other processes that do the same; on SQLite this also begins a transaction that includes tables."""
    if connection.dialect.name == "postgresql":
        connection.execute(select(func.pg_advisory_xact_lock(_CREATING)))
    else:
        connection.exec_driver_sql("BEGIN IMMEDIATE")


def _create(connection: Connection) -> None:
    missing = _missing(connection)
    for table in METADATA.sorted_tables:
        if table.name in missing:
            connection.execute(CreateTable(table))
            for index in table.indexes:
                if WHERE in index.info:
                    index.dialect_kwargs[f"{connection.dialect.name}_where"] = index.info[WHERE]
                connection.execute(CreateIndex(index))
    if VERSIONS.name in missing:
        row = {"version": VERSION, "program": __version__, "reached_at": datetime.now(UTC)}
        connection.execute(VERSIONS.insert(), row)
