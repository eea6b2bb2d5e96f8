"""The database schema: creates missing tables, and brings those of earlier versions up to date."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    DateTime,
    Dialect,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    func,
    inspect,
    select,
    text,
)
from sqlalchemy.exc import ArgumentError
from sqlalchemy.schema import CreateIndex, CreateTable
from sqlalchemy.types import TypeDecorator, TypeEngine

from internal_linker.core.errors import ConfigurationError
from internal_linker.core.version import __version__

METADATA = MetaData()
# The name of an index's condition in its `info`: as an argument, it would load the dialects of all databases.
WHERE = "where"
# All programs of a database share the numbers of advisory locks: ours are the letters of "linker", then a byte.
LOCK_NUMBERS = int.from_bytes(b"linker", "big") << 8
_CREATING = LOCK_NUMBERS + 1
# Every version of the program has created these tables.
_ALWAYS_THERE = frozenset({"embeddings", "serp"})


class Moment(TypeDecorator[datetime]):
    """A time in UTC, whatever time zone the database or its session uses."""

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
        """Return the function that converts a stored time; a damaged one reads as None."""
        process = super().result_processor(dialect, coltype)

        def converted(value: Any) -> datetime | None:
            try:
                return process(value) if process else value
            except (TypeError, ValueError, OverflowError):
                return None

        return converted


class _Checked(TypeDecorator[Any]):
    """A value that reads as None if it is damaged: SQLite stores a value of any type in any column."""

    impl: type[TypeEngine[Any]] = String
    cache_ok = True
    kind: type = str

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], Any] | None:
        """Return the function that checks a stored value's type; a server has checked it already."""
        if dialect.name != "sqlite":
            return super().result_processor(dialect, coltype)
        kind = self.kind
        return lambda value: value if isinstance(value, kind) else None


class CheckedString(_Checked):
    """A short text, or None if it is damaged."""

    cache_ok = True


class CheckedText(_Checked):
    """A text of any length, or None if it is damaged."""

    impl = Text
    cache_ok = True


class CheckedInteger(_Checked):
    """A whole number, or None if it is damaged."""

    impl = Integer
    cache_ok = True
    kind = int


class CheckedBytes(_Checked):
    """Bytes, or None if they are damaged."""

    impl = LargeBinary
    cache_ok = True
    kind = bytes


# The clocks of computers that share a database differ by minutes at most.
_AHEAD = timedelta(hours=1)


def latest_moment() -> datetime:
    """Return the latest time that is believed: a later one was stored while a clock was wrong."""
    return datetime.now(UTC) + _AHEAD


# One row per version that the database reached; databases from before versions count as version 0.
VERSIONS = Table(
    "schema_versions",
    METADATA,
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("program", String(40), nullable=False),
    Column("reached_at", Moment, nullable=False),
)


@dataclass(frozen=True, slots=True)
class Waste:
    """Rows of a table that nobody needs any more.

    Attributes:
        table: the table.
        rows: the condition that selects the rows.
        size: the approximate size of each row in bytes.
    """

    table: Table
    rows: ColumnElement[bool]
    size: ColumnElement[int]


class Outdated(Exception):
    """The tables are an earlier version's, and the database was opened for reading only."""


def prepare(connection: Connection, *, read_only: bool) -> frozenset[str]:
    """Create missing tables and bring older ones up to date, all of them or none.

    Args:
        connection: a connection in a transaction.
        read_only: create and change nothing.

    Returns:
        The names of our tables that the database lacks.

    Raises:
        ConfigurationError: a newer version of the program, or another program, made the tables; nothing was changed.
        Outdated: `read_only` is set, and the tables are an earlier version's.
        ArgumentError: the database's encoding can't represent every script.
    """
    if connection.dialect.name == "postgresql":
        encoding = connection.execute(select(func.current_setting("server_encoding"))).scalar_one()
        if encoding != "UTF8":  # a query in another script must not fail after it has been paid for
            raise ArgumentError(f"its encoding is {encoding}: create the database with ENCODING 'UTF8'")
    version = version_of(connection)
    if read_only:
        if version is not None and version < len(_STEPS):
            raise Outdated
    elif version != len(_STEPS) or _missing(connection):
        _lock(connection)
        _bring_up_to_date(connection, version_of(connection))
    return _missing(connection)


def version_of(connection: Connection) -> int | None:
    """Return the version of our tables; None if there are none.

    Raises:
        ConfigurationError: a newer version of the program, or another program, made the tables.
    """
    names = frozenset(inspect(connection).get_table_names())
    if VERSIONS.name in names:
        version = int(connection.execute(select(func.max(VERSIONS.c.version))).scalar() or 0)
    elif names >= _ALWAYS_THERE:
        version = 0
    elif names and connection.dialect.name == "sqlite":
        raise ConfigurationError(
            f"store_url: {_name(connection)} belongs to another program and was not changed. Name another file."
        )
    else:
        return None
    if version > len(_STEPS):
        program = connection.execute(select(VERSIONS.c.program).order_by(VERSIONS.c.version.desc())).scalar()
        raise ConfigurationError(
            f"store_url: {_name(connection)} was created by a newer version of this program ({program}) and was not "
            f"changed. This is version {__version__}: update the program, or name another database."
        )
    return version


def _name(connection: Connection) -> str:
    """Return the database's address for messages, without its password."""
    return str(connection.engine.get_execution_options()["shown"])


def _missing(connection: Connection) -> frozenset[str]:
    return frozenset(METADATA.tables) - set(inspect(connection).get_table_names())


def _lock(connection: Connection) -> None:
    """Lock out other processes that do the same; on SQLite this also begins a transaction that includes tables."""
    if connection.dialect.name == "postgresql":
        connection.execute(select(func.pg_advisory_xact_lock(_CREATING)))
    else:
        connection.exec_driver_sql("BEGIN IMMEDIATE")


def _bring_up_to_date(connection: Connection, version: int | None) -> None:
    there = inspect(connection).get_table_names()
    for step in _STEPS[version:] if version is not None else ():
        step(connection, there)
    for table in METADATA.sorted_tables:
        if table.name in _missing(connection):
            connection.execute(CreateTable(table))
            for index in table.indexes:
                if WHERE in index.info:
                    index.dialect_kwargs[f"{connection.dialect.name}_where"] = index.info[WHERE]
                connection.execute(CreateIndex(index))
    if version != len(_STEPS):
        row = {"version": len(_STEPS), "program": __version__, "reached_at": datetime.now(UTC)}
        connection.execute(VERSIONS.insert(), row)


def _with_times(connection: Connection, there: Collection[str]) -> None:
    """Update to version 1: when a vector was last used, and when a block was finished."""
    moment = Moment().compile(connection.dialect)
    for table, column in (("embeddings", "used_at"), ("join_blocks", "created_at")):
        if table in there:
            connection.exec_driver_sql(f"ALTER TABLE {table} ADD COLUMN {column} {moment}")


def _with_provider(connection: Connection, there: Collection[str]) -> None:
    """Update to version 2: the search service joins the key of search results; stored results are Serper's."""
    if "serp" not in there:
        return
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(
            "ALTER TABLE serp ADD COLUMN provider VARCHAR(20) NOT NULL DEFAULT 'serper', "
            "DROP CONSTRAINT serp_pkey, ADD PRIMARY KEY (query, page, market, provider)"
        )
        connection.exec_driver_sql("ALTER TABLE serp ALTER COLUMN provider DROP DEFAULT")
        return
    # SQLite can't change a primary key: the rows move to a new table.
    for statement in (
        "ALTER TABLE serp RENAME TO serp_without_provider",
        "CREATE TABLE serp (query TEXT NOT NULL, page INTEGER NOT NULL, market VARCHAR(300) NOT NULL, "
        "provider VARCHAR(20) NOT NULL, links TEXT NOT NULL, fetched_at DATETIME NOT NULL, "
        "PRIMARY KEY (query, page, market, provider))",
        "INSERT INTO serp (query, page, market, provider, links, fetched_at) "
        "SELECT query, page, market, 'serper', links, fetched_at FROM serp_without_provider",
        "DROP TABLE serp_without_provider",
    ):
        connection.exec_driver_sql(statement)


def _with_sequence(connection: Connection, there: Collection[str]) -> None:
    """Update to version 3: runs get numbers in the order in which they were stored, so that no clock orders them."""
    if "runs" not in there:
        return
    connection.exec_driver_sql("ALTER TABLE runs ADD COLUMN sequence INTEGER NOT NULL DEFAULT 0")
    # SQLite numbers rows as they are inserted. A server doesn't: there, a run from the future is taken for the oldest.
    order = "rowid" if connection.dialect.name == "sqlite" else "ended_at <= now(), ended_at, run"
    runs = connection.exec_driver_sql(f"SELECT site, run FROM runs ORDER BY {order}").all()
    number = text("UPDATE runs SET sequence = :number WHERE site = :site AND run = :run")
    for at, (site, run) in enumerate(runs, 1):
        connection.execute(number, {"number": at, "site": site, "run": run})


def _with_judged(connection: Connection, there: Collection[str]) -> None:
    """Update to version 4: an index of the links that editors decided, which each lookup reads."""
    if "edges" in there:
        connection.exec_driver_sql("CREATE INDEX edges_judged ON edges (site, source) WHERE verdict <> ''")


# Each step updates existing tables from one version to the next. Released steps never change.
_STEPS: tuple[Callable[[Connection, Collection[str]], None], ...] = (
    _with_times,
    _with_provider,
    _with_sequence,
    _with_judged,
)
