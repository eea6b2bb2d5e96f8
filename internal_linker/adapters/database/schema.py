"""A database -> the same with all our tables, as this version of the program has them."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import UTC, datetime

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
from sqlalchemy.schema import CreateTable
from sqlalchemy.types import TypeDecorator

from internal_linker.core.errors import ConfigurationError
from internal_linker.core.version import __version__

METADATA = MetaData()
# Advisory locks are numbers that all programs of a database share: ours are the letters of "linker", then one.
LOCK_NUMBERS = int.from_bytes(b"linker", "big") << 8
_CREATING = LOCK_NUMBERS + 1
# Every database of ours has had these, from the first on.
_ALWAYS_THERE = frozenset({"embeddings", "serp"})


class Moment(TypeDecorator[datetime]):
    """A time: kept and given back as UTC, whatever the database or its session thinks of zones."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """On its way in."""
        return value.astimezone(UTC) if value else None

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """On its way out: SQLite gives times back without their zone, PostgreSQL in the session's."""
        if value is None:
            return None
        return value.astimezone(UTC) if value.tzinfo else value.replace(tzinfo=UTC)


# A row for each version that the database reached; databases from before there were versions have 0.
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
        table: whose.
        rows: which.
        size: of each, in bytes, as far as it matters.
    """

    table: Table
    rows: ColumnElement[bool]
    size: ColumnElement[int]


class Outdated(Exception):
    """The tables are of an earlier version, and the database was opened for reading only."""


def prepare(connection: Connection, *, read_only: bool) -> frozenset[str]:
    """Create what is missing and bring what is older up to date, all of it or nothing.

    Args:
        connection: in a transaction.
        read_only: nothing is created or changed.

    Returns:
        The names of our tables that are not there.

    Raises:
        ConfigurationError: a newer version of the program, or another program, made the tables; nothing was changed.
        Outdated: it is `read_only`, and the tables are older.
        ArgumentError: the database can't hold every script.
    """
    if connection.dialect.name == "postgresql":
        encoding = connection.execute(select(func.current_setting("server_encoding"))).scalar_one()
        if encoding != "UTF8":  # a query in another script must not fail when it has been paid for
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
    """The version of our tables; None where there are none.

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
            f"store_url: {_name(connection)} is another program's database. Name another file; this one is as it was."
        )
    else:
        return None
    if version > len(_STEPS):
        program = connection.execute(select(VERSIONS.c.program).order_by(VERSIONS.c.version.desc())).scalar()
        raise ConfigurationError(
            f"store_url: {_name(connection)} was made by a newer version of this program ({program}), and is as it "
            f"was. This is {__version__}: update it, or name another database."
        )
    return version


def _name(connection: Connection) -> str:
    """The database as a person knows it, without its password."""
    return str(connection.engine.get_execution_options()["shown"])


def _missing(connection: Connection) -> frozenset[str]:
    return frozenset(METADATA.tables) - set(inspect(connection).get_table_names())


def _lock(connection: Connection) -> None:
    """Let nobody else do the same at once; on SQLite this begins what is then done as a whole, tables included."""
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
    if version != len(_STEPS):
        row = {"version": len(_STEPS), "program": __version__, "reached_at": datetime.now(UTC)}
        connection.execute(VERSIONS.insert(), row)


def _with_times(connection: Connection, there: Collection[str]) -> None:
    """To version 1: when a vector was used last, and when a block was finished."""
    moment = Moment().compile(connection.dialect)
    for table, column in (("embeddings", "used_at"), ("join_blocks", "created_at")):
        if table in there:
            connection.exec_driver_sql(f"ALTER TABLE {table} ADD COLUMN {column} {moment}")


def _with_provider(connection: Connection, there: Collection[str]) -> None:
    """To version 2: the search service is part of the key of search results; all that were kept are Serper's."""
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


# Each leads from one version to the next, in the tables that are there; what was released is never changed again.
_STEPS: tuple[Callable[[Connection, Collection[str]], None], ...] = (_with_times, _with_provider)
