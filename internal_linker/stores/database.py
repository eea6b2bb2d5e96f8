"""An SQLAlchemy URL -> an engine with our tables; the one file that knows a database's own tricks."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, MetaData, Table, create_engine, event, inspect, make_url
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import URL
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.pool import StaticPool

from internal_linker.errors import ConfigurationError

METADATA = MetaData()
# Keys asked for in one SELECT ... IN: below every database's limit of bound values.
KEYS_A_QUERY = 500


def open_database(url: str, project: Path, *, read_only: bool = False) -> Engine:
    """Connect and create missing tables.

    Args:
        url: SQLAlchemy URL; a relative SQLite path starts at `project`.
        project: the project folder.
        read_only: nothing is created or written: a missing SQLite file, or one that lacks a table of
            ours, reads as an empty one.

    Raises:
        ConfigurationError: the URL is wrong or the database can't be opened.
    """
    try:
        address = make_url(url)
        if address.get_backend_name() not in ("sqlite", "postgresql"):
            raise ArgumentError(f"{address.get_backend_name()} is none of sqlite and postgresql")
        if address.get_backend_name() == "sqlite" and address.database not in (None, "", ":memory:"):
            path = project / str(address.database)
            address = address.set(database=str(path))
            if not read_only:
                path.parent.mkdir(parents=True, exist_ok=True)
            elif not path.exists():
                return _empty()
        engine = _engine(address, read_only)
        if not read_only:
            METADATA.create_all(engine)
        elif not set(METADATA.tables) <= set(inspect(engine).get_table_names()):
            engine.dispose()
            return _empty()
    except (ArgumentError, SQLAlchemyError, OSError, ImportError) as error:
        raise _unusable("opened", error) from None
    return engine


@contextmanager
def transaction(engine: Engine) -> Iterator[Connection]:
    """A connection whose work is committed when the block ends, undone when it fails.

    Raises:
        ConfigurationError: the database failed: damaged, full, locked by another program.
    """
    try:
        with engine.begin() as connection:
            yield connection
    except SQLAlchemyError as error:
        raise _unusable("used", error) from None


def upsert(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert rows; one whose primary key is there replaces the old."""
    if not rows:
        return
    insert = sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert
    statement = insert(table)
    keys = [column.name for column in table.primary_key]
    others = {
        column.name: statement.excluded[column.name] for column in table.columns if column.name not in keys
    }
    connection.execute(statement.on_conflict_do_update(index_elements=keys, set_=others), list(rows))


def _engine(address: URL, read_only: bool) -> Engine:
    # A database in memory lives as long as its connection: all threads share the one.
    memory = address.get_backend_name() == "sqlite" and address.database in (None, "", ":memory:")
    engine = create_engine(address, poolclass=StaticPool) if memory else create_engine(address)
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _read_sqlite if read_only else _write_sqlite)
    return engine


def _empty() -> Engine:
    engine = _engine(make_url("sqlite://"), read_only=False)
    METADATA.create_all(engine)
    return engine


def _write_sqlite(connection: Any, _: Any) -> None:
    # WAL lets a lookup read while a run writes; NORMAL syncs at checkpoints: a power cut can lose the
    # last answers, never damage the file.
    for pragma in ("busy_timeout=30000", "journal_mode=WAL", "synchronous=NORMAL"):
        connection.execute(f"PRAGMA {pragma}")


def _read_sqlite(connection: Any, _: Any) -> None:
    for pragma in ("busy_timeout=30000", "query_only=ON"):
        connection.execute(f"PRAGMA {pragma}")


def _unusable(what: str, error: Exception) -> ConfigurationError:
    return ConfigurationError(
        f"store_url: the database can't be {what} ({_short(error)}). Correct the setting, or move a damaged "
        "cache file aside: it is made anew, and what it held is fetched again."
    )


def _short(error: Exception) -> str:
    return str(getattr(error, "orig", None) or error).splitlines()[0]
