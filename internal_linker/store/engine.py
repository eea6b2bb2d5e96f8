"""Database engines for SQLite and PostgreSQL: connections, transactions, reading, upserts and readable errors."""

import hashlib
import os
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, Executable, Row, Table, create_engine, event, make_url
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

from internal_linker.model.cli_commands import installation
from internal_linker.model.errors import ConfigurationError, StoreLost
from internal_linker.store.schema import LASTING, prepare, require_version

T = TypeVar("T")
# Keys per SELECT ... IN: below every database's limit of bound parameters.
KEYS_A_QUERY = 500
# What reading a row whose bytes have changed can raise.
UNREADABLE = (TypeError, ValueError, LookupError, AttributeError, RecursionError, zlib.error)
# Seconds between attempts to reach a lost server: together they outlast its restart.
_PAUSES = (0.0, 1.0, 2.0, 4.0, 8.0)
_RECONNECTING = Retrying(
    wait=wait_chain(*map(wait_fixed, _PAUSES)), stop=stop_after_attempt(len(_PAUSES) + 1), reraise=True
)
# Within two minutes a server notices that a laptop fell asleep, and a client that its server is gone.
_ALIVE = {"keepalives_idle": 60, "keepalives_interval": 15, "keepalives_count": 4}
# When two processes create a file at once, SQLite refuses one of them the journal mode without waiting.
_UNLOCKED = Retrying(
    retry=retry_if_exception_message(match="database is locked"),
    stop=stop_after_delay(30),
    wait=wait_random(0.01, 0.1),
    reraise=True,
)
_SHAPE = (
    "it must look like sqlite:///files/cache.sqlite3 or postgresql+psycopg://user@host/database, "
    "with the password in config/store_password.txt"
)

# No remedy removes the file: it holds editors' decisions and earlier runs, which nothing can fetch again.
_RESTORE = (
    "Check that store_url names the cache. If the cache itself is damaged, `store restore` puts its newest backup back "
    "and keeps the damaged file."
)
# By phrases in SQLite's messages.
_REMEDIES = {
    "locked": "Another program is using it: wait until that program has finished, or close it, and run again.",
    "is full": "Free some disk space and run again: nothing in it is paid for again.",
    "disk I/O": "Check that the disk has free space and is connected, and run again: nothing in it is paid for again.",
    "unable to open": "Check that its folder exists and that you may write to it.",
    "readonly": "Check that you may write to its folder.",
    "not a database": _RESTORE,
    "malformed": _RESTORE,
    "damaged": _RESTORE,
}
_RESTORE_SERVER = "Restore the database from a backup of it, for example with pg_restore."
_SERVER = "Check that the server runs, and that store_url and config/store_password.txt are right. Nothing was changed."
_REMEDY = "Correct store_url."


def key_text(text: str, most: int) -> str:
    """Return a text as part of a key: the text, or its digest if a database would reject the text.

    PostgreSQL rejects NUL and keys of more than 2,700 bytes; both databases reject lone surrogates. `most` is the limit
    in UTF-8 bytes.
    """
    whole = text.encode("utf-8", "surrogatepass")
    fits = len(whole) <= most and "\0" not in text and whole.decode("utf-8", "replace") == text
    return text if fits else f"sha256:{hashlib.sha256(whole).hexdigest()}"


def open_database(url: str, project: Path, *, password: str = "", read_only: bool = False) -> Engine:
    """Connect, and create missing tables.

    Args:
        url: SQLAlchemy URL; a relative SQLite path starts at `project`.
        password: the server's password, if the URL has none.
        read_only: create and write nothing: a missing SQLite file or table reads as an empty one.

    Raises:
        ConfigurationError: the URL is wrong, the database can't be opened, or another version or another program made
            its tables; the database stays as it was.
    """
    shown = ""
    try:
        address = _address(url, project, password)
        password = str(address.password or "")
        shown = _shown(address)
        if (path := database_file(address)) is not None:
            if path.is_fifo():
                raise ArgumentError("it is a pipe, not a file")
            if not read_only:
                path.parent.mkdir(parents=True, exist_ok=True)
            elif not path.exists():
                address = make_url("sqlite://")
            elif not os.access(path.parent, os.W_OK):
                # In WAL mode even readers write beside the file; in a read-only folder no writer can disturb them.
                address = make_url(f"sqlite:///{path.absolute().as_uri()}?mode=ro&immutable=1&uri=true")
        if path and path.exists() and not read_only:
            # Opening for writing changes a file's journal mode, and a file that is refused must stay as it was.
            looking = _engine(address, shown, True)
            _first(looking, require_version)
            looking.dispose()
        engine = _engine(address, shown, read_only)
        lacking = _first(engine, partial(prepare, read_only=read_only))
        engine.update_execution_options(lacking=lacking)
    except ModuleNotFoundError as error:
        remedy = f"PostgreSQL requires its driver. Install it: {installation('postgres')}"
        raise ConfigurationError(f"store_url: the database can't be opened ({error}). {remedy}") from None
    except (ArgumentError, SQLAlchemyError, OSError, ImportError, UnicodeDecodeError) as error:
        raise _unusable("opened", error, password, shown) from None
    return engine


def _first(engine: Engine, work: Callable[[Connection], T]) -> T:
    try:
        with engine.begin() as connection:
            return work(connection)
    except BaseException:
        engine.dispose()
        raise


def database_file(address: URL) -> Path | None:
    """Return the file of an SQLite database; None for one in memory or on a server."""
    if address.get_backend_name() != "sqlite" or address.database in (None, "", ":memory:"):
        return None
    return Path(str(address.database))


def file_of(url: str, project: Path) -> Path | None:
    """Return the file of a store_url; None if it names a server, a database in memory, or nothing that can be."""
    try:
        path = database_file(make_url(url))
    except (ArgumentError, ValueError):
        return None
    return project / path if path else None


def lacks(engine: Engine, *tables: Table) -> bool:
    """Return whether a database that was opened for reading only has none of these tables."""
    lacking: frozenset[str] = engine.get_execution_options()["lacking"]
    return {table.name for table in tables} <= lacking


def shown_address(engine: Engine) -> str:
    """Return the database's address for messages, without its password."""
    return str(engine.get_execution_options()["shown"])


def transact(engine: Engine, work: Callable[[Connection], T]) -> T:
    """Do work in a transaction, which a failure rolls back, and repeat it after a lost connection.

    Raises:
        ConfigurationError: the database is damaged, full or locked by another program.
        StoreLost: its server can't be reached for longer than a restart takes.
    """

    def once() -> T:
        with engine.begin() as connection:
            return work(connection)

    try:
        return _RECONNECTING.copy(retry=retry_if_exception(partial(_lost, engine)))(once)
    except SQLAlchemyError as error:
        raise failed(engine, error) from None


def fetch(engine: Engine, table: Table, wanted: Executable) -> Sequence[Row[Any]]:
    """Return the rows of a query of a table; none if a database that was opened for reading only lacks the table."""
    if lacks(engine, table):
        return []
    return transact(engine, lambda connection: connection.execute(wanted).all())


def readable(
    engine: Engine, table: Table, rows: Iterable[Row[Any]], read: Callable[[Row[Any]], T]
) -> Iterator[T]:
    """Yield what `read` makes of rows of a table, without those that it can't read.

    Raises:
        ConfigurationError: nothing can replace a row that it can't read, or the file is damaged as a whole.
    """
    for row in rows:
        try:
            found = read(row)
        except UNREADABLE:
            note_damage(engine, table)
        else:
            yield found


def note_damage(engine: Engine, table: Table, rows: int = 1) -> None:
    """Count rows that could not be read and are taken for missing ones.

    Raises:
        ConfigurationError: nothing can replace them, or the file is damaged as a whole.
    """
    noted: Counter[str] = engine.get_execution_options()["damaged"]
    if rows and not noted:
        require_sound_file(engine)
    if rows and LASTING in table.info:
        raise unusable(engine, f"a row of {table.name} is damaged")
    noted[table.name] += rows


def noted_damage(engine: Engine) -> Mapping[str, int]:
    """Return how many rows could not be read so far, by table; a row may count each time it was read."""
    return +Counter(engine.get_execution_options()["damaged"])


def require_sound_file(engine: Engine) -> None:
    """Check an SQLite file as a whole.

    Raises:
        ConfigurationError: it is damaged.
    """
    if engine.dialect.name == "sqlite":
        check = "PRAGMA integrity_check(1)"
        problem = transact(engine, lambda connection: connection.exec_driver_sql(check).scalar())
        if problem != "ok":
            raise unusable(engine, f"the file is damaged: {problem}")


def failed(engine: Engine, error: SQLAlchemyError) -> ConfigurationError | StoreLost:
    """Translate an error of the library into one of ours."""
    password = str(engine.url.password or "")
    if not _lost(engine, error):
        return unusable(engine, error)
    return StoreLost(
        f"store_url: the connection to the database server was lost ({_short(error, password)}). "
        "Run again when the server is back: nothing that it has stored is fetched again."
    )


def unusable(engine: Engine, why: Exception | str) -> ConfigurationError:
    """Return the error for an open database that can't be used, with the reason."""
    return _unusable("used", why, str(engine.url.password or ""), shown_address(engine))


def upsert(
    connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]], *, newer_by: str = ""
) -> int:
    """Insert rows, replacing those with the same primary key; return how many were inserted or replaced.

    With `newer_by`, a column of times, a row replaces only a row that is older by it.
    """
    if not rows:
        return 0
    # Whoever has a file starts without PostgreSQL's dialect.
    dialect: Any = import_module(f"sqlalchemy.dialects.{connection.dialect.name}")
    statement = dialect.insert(table)
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
        # The library's message may contain a piece of the password.
        raise ArgumentError(_SHAPE) from None
    if address.get_backend_name() not in ("sqlite", "postgresql"):
        raise ArgumentError(f"{address.get_backend_name()} is neither sqlite nor postgresql: {_SHAPE}")
    if (path := database_file(address)) is not None:
        return address.set(database=str(project / path))
    if address.get_backend_name() == "sqlite":
        return address
    if "@" in (address.host or "") or "password" in address.query:
        raise ArgumentError(_SHAPE)
    if address.drivername == "postgresql":  # the default driver depends on the library's version
        address = address.set(drivername="postgresql+psycopg")
    return address.set(password=password) if password and not address.password else address


def _shown(address: URL) -> str:
    # SQLAlchemy takes an address without a scheme for a file name, with the password in it.
    if (path := database_file(address)) is not None:
        return f"sqlite:///{re.sub(r':[^:/@]*@', ':***@', str(path))}"
    return address.set(query={}).render_as_string(hide_password=True)


def _engine(address: URL, shown: str, read_only: bool) -> Engine:
    options: dict[str, Any] = {"shown": shown, "damaged": Counter()}
    if address.get_backend_name() == "postgresql":
        served = {**options, "postgresql_readonly": True} if read_only else options
        return create_engine(address, pool_pre_ping=True, connect_args=_ALIVE, execution_options=served)
    # A database in memory lives as long as its connection, so all threads share one connection.
    pool = {"poolclass": StaticPool} if database_file(address) is None else {}
    engine = create_engine(address, execution_options=options, **pool)
    event.listen(engine, "connect", _read_sqlite if read_only else _write_sqlite)
    return engine


def _write_sqlite(connection: Any, _: Any) -> None:
    # WAL lets a lookup read while a run writes. NORMAL syncs at checkpoints: a power cut can lose the last
    # answers but never damages the file.
    connection.text_factory = _text
    for pragma in ("busy_timeout=30000", "journal_mode=WAL", "synchronous=NORMAL"):
        _UNLOCKED(connection.execute, f"PRAGMA {pragma}")


def _read_sqlite(connection: Any, _: Any) -> None:
    # In WAL mode readers wait only for a program that has locked the whole file, perhaps for good.
    connection.text_factory = _text
    for pragma in ("busy_timeout=6000", "query_only=ON"):
        connection.execute(f"PRAGMA {pragma}")


def _text(stored: bytes) -> str | None:
    """Return a stored text; None if its bytes are not UTF-8: one bad cell must not hide the other rows of a query."""
    try:
        return stored.decode()
    except UnicodeDecodeError:
        return None


def _lost(engine: Engine, error: BaseException) -> bool:
    return engine.dialect.name == "postgresql" and isinstance(error, OperationalError | InterfaceError)


def _unusable(what: str, error: Exception | str, password: str, shown: str = "") -> ConfigurationError:
    reason = _short(error, password)
    remedy = next((remedy for words, remedy in _REMEDIES.items() if words in reason), _REMEDY)
    if shown.startswith("postgresql"):
        remedy = _RESTORE_SERVER if "is damaged" in reason else _SERVER
    name = f"the database {shown}".strip()
    return ConfigurationError(f"store_url: {name} can't be {what} ({reason}). {remedy}")


def _short(error: Exception | str, password: str) -> str:
    text = str(getattr(error, "orig", None) or error).splitlines()[0]
    return text.replace(password, "***") if password else text
