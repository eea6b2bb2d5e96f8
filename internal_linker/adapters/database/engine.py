"""An SQLAlchemy URL -> an engine with our tables; the one file that knows a database's own tricks."""

import hashlib
import os
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, Table, create_engine, event, make_url
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import URL
from sqlalchemy.exc import ArgumentError, InterfaceError, OperationalError, SQLAlchemyError
from sqlalchemy.pool import StaticPool
from tenacity import (
    Retrying,
    retry_if_exception,
    retry_if_exception_message,
    stop_after_attempt,
    stop_after_delay,
    wait_chain,
    wait_fixed,
    wait_random,
)

from internal_linker.adapters.database.schema import Outdated, prepare, version_of
from internal_linker.core.errors import ConfigurationError, StoreLost

T = TypeVar("T")
# Keys asked for in one SELECT ... IN: below every database's limit of bound values.
KEYS_A_QUERY = 500
# Seconds between attempts to reach a lost server: together they outlast its restart.
_PAUSES = (0.0, 1.0, 2.0, 4.0, 8.0)
_RECONNECTING = Retrying(
    wait=wait_chain(*map(wait_fixed, _PAUSES)), stop=stop_after_attempt(len(_PAUSES) + 1), reraise=True
)
# A server learns within two minutes that a laptop fell asleep, a client that a server is gone.
_ALIVE = {"keepalives_idle": 60, "keepalives_interval": 15, "keepalives_count": 4}
# Of two that make a new file at once one is refused its mode without waiting.
_UNLOCKED = Retrying(
    retry=retry_if_exception_message(match="database is locked"),
    stop=stop_after_delay(30),
    wait=wait_random(0.01, 0.1),
    reraise=True,
)
_SHAPE = (
    "it must be like sqlite:///files/cache.sqlite3 or postgresql+psycopg://user@host/database, "
    "the password in config/store_password.txt"
)

_REMEDY = "Correct the setting, or move a damaged cache file aside: it is made anew, and what it held is fetched again."
# By words of SQLite's own.
_REMEDIES = {
    "locked": "Another program holds it: wait until that is done, or close it, and run again.",
    "is full": "Make room on its disk and run again: what it holds is not paid for again.",
    "unable to open": "Check that its folder is there, and your rights in it.",
    "readonly": "Check your rights in its folder.",
}


def key_text(text: str, most: int) -> str:
    """A text as a part of a key: itself, or its digest if a database would refuse it.

    PostgreSQL knows no NUL and keeps 2,700 bytes of a key at the most; neither database keeps half a pair
    of surrogates.

    Args:
        text: any text.
        most: bytes in UTF-8.
    """
    whole = text.encode("utf-8", "surrogatepass")
    fits = len(whole) <= most and "\0" not in text and whole.decode("utf-8", "replace") == text
    return text if fits else f"sha256:{hashlib.sha256(whole).hexdigest()}"


def open_database(url: str, project: Path, *, password: str = "", read_only: bool = False) -> Engine:
    """Connect, create missing tables and bring older ones up to date.

    Args:
        url: SQLAlchemy URL; a relative SQLite path starts at `project`.
        project: the project folder.
        password: for a server, if the URL holds none.
        read_only: nothing is created or written: a missing SQLite file, or a table of ours that is
            missing, reads as an empty one; only older tables are brought up to date all the same.

    Raises:
        ConfigurationError: the URL is wrong, the database can't be opened, or its tables are those of a newer
            version or of another program: then it is as it was.
    """
    shown = ""
    try:
        address = _address(url, project, password)
        password = str(address.password or "")
        shown = _shown(address)
        if (path := database_file(address)) is not None:
            if not read_only:
                path.parent.mkdir(parents=True, exist_ok=True)
            elif not path.exists():
                address = make_url("sqlite://")
            elif not os.access(path.parent, os.W_OK):
                # A reader, too, writes beside a file in WAL mode; where nobody can, there is no writer either.
                address = make_url(f"sqlite:///{path.absolute().as_uri()}?mode=ro&immutable=1&uri=true")
        if path and path.exists() and not read_only:
            # Opening for writing changes a file's mode: one that is refused must stay as it was.
            looking = _engine(address, shown, True)
            _first(looking, version_of)
            looking.dispose()
        engine = _engine(address, shown, read_only)
        lacking = _first(engine, partial(prepare, read_only=read_only))
        engine.update_execution_options(lacking=lacking)
    except Outdated:
        open_database(url, project, password=password).dispose()
        return open_database(url, project, password=password, read_only=True)
    except ModuleNotFoundError as error:
        remedy = 'PostgreSQL is an extra: install it by pip install "psycopg[binary]>=3.2,<4"'
        raise _unusable("opened", f"{error}. {remedy}", password) from None
    except (ArgumentError, SQLAlchemyError, OSError, ImportError, UnicodeDecodeError) as error:
        raise _unusable("opened", error, password, shown) from None
    return engine


def _first(engine: Engine, work: Callable[[Connection], T]) -> T:
    """What is done first with an engine, which ends if that fails."""
    try:
        with engine.begin() as connection:
            return work(connection)
    except BaseException:
        engine.dispose()
        raise


def database_file(address: URL) -> Path | None:
    """The file of an SQLite database; None for one in memory or on a server."""
    if address.get_backend_name() != "sqlite" or address.database in (None, "", ":memory:"):
        return None
    return Path(str(address.database))


def lacks(engine: Engine, *tables: Table) -> bool:
    """Whether none of these tables was there when the database was opened for reading only."""
    lacking: frozenset[str] = engine.get_execution_options()["lacking"]
    return {table.name for table in tables} <= lacking


def shown_address(engine: Engine) -> str:
    """Where the database is, for a person: without its password."""
    return str(engine.get_execution_options()["shown"])


def transact(engine: Engine, work: Callable[[Connection], T]) -> T:
    """Do work on a connection: committed when it ends, undone when it fails, done again after a lost connection.

    Raises:
        ConfigurationError: the database failed: damaged, full, locked by another program.
        StoreLost: its server is gone, for longer than a restart takes.
    """

    def once() -> T:
        with engine.begin() as connection:
            return work(connection)

    try:
        return _RECONNECTING.copy(retry=retry_if_exception(partial(_lost, engine)))(once)
    except UnicodeDecodeError:
        raise unusable(engine, "a text in it is damaged") from None
    except SQLAlchemyError as error:
        raise failed(engine, error) from None


def failed(engine: Engine, error: SQLAlchemyError) -> ConfigurationError | StoreLost:
    """The library's error as ours."""
    password = str(engine.url.password or "")
    if not _lost(engine, error):
        return unusable(engine, error)
    return StoreLost(
        f"store_url: the database's server can't be reached any more ({_short(error, password)}). "
        "When it is there again, run again: what it holds is not fetched again."
    )


def unusable(engine: Engine, why: Exception | str) -> ConfigurationError:
    """The error for a database that is open and can't be used for this reason."""
    return _unusable("used", why, str(engine.url.password or ""), shown_address(engine))


def upsert(
    connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]], *, newer_by: str = ""
) -> int:
    """Insert rows; one whose primary key is there replaces the old.

    Args:
        connection: in a transaction.
        table: one of ours.
        rows: by column name.
        newer_by: a column; a row replaces only one that has less there. Without: always.

    Returns:
        How many rows were inserted or replaced.
    """
    if not rows:
        return 0
    insert = sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert
    statement = insert(table)
    keys = [column.name for column in table.primary_key]
    others = {
        column.name: statement.excluded[column.name] for column in table.columns if column.name not in keys
    }
    where = statement.excluded[newer_by] > table.c[newer_by] if newer_by else None
    result = connection.execute(
        statement.on_conflict_do_update(index_elements=keys, set_=others, where=where),
        list(rows),
        execution_options={"preserve_rowcount": True},
    )
    return result.rowcount


def _address(url: str, project: Path, password: str) -> URL:
    try:
        address = make_url(url)
    except (ArgumentError, ValueError):
        # The library's words may hold a piece of the password.
        raise ArgumentError(_SHAPE) from None
    if address.get_backend_name() not in ("sqlite", "postgresql"):
        raise ArgumentError(f"{address.get_backend_name()} is none of sqlite and postgresql: {_SHAPE}")
    if (path := database_file(address)) is not None:
        return address.set(database=str(project / path))
    if address.get_backend_name() == "sqlite":
        return address
    if "@" in (address.host or "") or "password" in address.query:
        raise ArgumentError(_SHAPE)
    if address.drivername == "postgresql":  # which driver that means depends on the library's version
        address = address.set(drivername="postgresql+psycopg")
    return address.set(password=password) if password and not address.password else address


def _shown(address: URL) -> str:
    # An address without its scheme is taken for a file's name, with the password in it.
    if (path := database_file(address)) is not None:
        return f"sqlite:///{re.sub(r':[^:/@]*@', ':***@', str(path))}"
    return address.set(query={}).render_as_string(hide_password=True)


def _engine(address: URL, shown: str, read_only: bool) -> Engine:
    options = {"shown": shown}
    if address.get_backend_name() == "postgresql":
        served = {**options, "postgresql_readonly": True} if read_only else options
        return create_engine(address, pool_pre_ping=True, connect_args=_ALIVE, execution_options=served)
    # A database in memory lives as long as its connection: all threads share the one.
    pool = {"poolclass": StaticPool} if database_file(address) is None else {}
    engine = create_engine(address, execution_options=options, **pool)
    event.listen(engine, "connect", _read_sqlite if read_only else _write_sqlite)
    return engine


def _write_sqlite(connection: Any, _: Any) -> None:
    # WAL lets a lookup read while a run writes; NORMAL syncs at checkpoints: a power cut can lose the
    # last answers, never damage the file.
    for pragma in ("busy_timeout=30000", "journal_mode=WAL", "synchronous=NORMAL"):
        _UNLOCKED(connection.execute, f"PRAGMA {pragma}")


def _read_sqlite(connection: Any, _: Any) -> None:
    # In WAL mode readers wait for nobody but one who has locked the whole file: that may be for good.
    for pragma in ("busy_timeout=6000", "query_only=ON"):
        connection.execute(f"PRAGMA {pragma}")


def _lost(engine: Engine, error: BaseException) -> bool:
    return engine.dialect.name == "postgresql" and isinstance(error, OperationalError | InterfaceError)


def _unusable(what: str, error: Exception | str, password: str, shown: str = "") -> ConfigurationError:
    reason = _short(error, password)
    remedy = next((remedy for words, remedy in _REMEDIES.items() if words in reason), _REMEDY)
    name = f"the database {shown}".strip()
    return ConfigurationError(f"store_url: {name} can't be {what} ({reason}). {remedy}")


def _short(error: Exception | str, password: str) -> str:
    text = str(getattr(error, "orig", None) or error).splitlines()[0]
    return text.replace(password, "***") if password else text
