"""The queue of runs that share a database: one at a time pays for what the database lacks.

When a run's turn ends, the database has everything that it paid for, so the next run finds it there.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sqlalchemy import Connection, Engine, func, select, text
from sqlalchemy.exc import SQLAlchemyError

from internal_linker.model.errors import RunActive
from internal_linker.model.ports import Progress
from internal_linker.store.engine import database_file, failed
from internal_linker.store.files.locks import SignedLock, this_process
from internal_linker.store.schema import LOCK_NUMBERS

# The largest sites search and embed for some hours: a run that starts at night has finished by morning.
LONGEST_WAIT_S = 6 * 3600.0
# Seconds between two checks for our turn and for an interrupt.
_CHECK_S = 1.0
_PAYING = LOCK_NUMBERS + 2
# PostgreSQL identifies the holder of a lock by its connection, so the connection gets a name; keepalives let the
# server notice when the connection is cut.
_SIGN = "SELECT set_config('application_name', :name, false), " + ", ".join(
    f"set_config('tcp_keepalives_{name}', '{value}', false)"
    for name, value in (("idle", 60), ("interval", 15), ("count", 4))
)
_HOLDER = """
SELECT application_name FROM pg_locks JOIN pg_stat_activity USING (pid)
WHERE locktype = 'advisory' AND granted AND objsubid = 1 AND pg_locks.database =
      (SELECT oid FROM pg_database WHERE datname = current_database())
  AND classid = :high AND objid = :low
"""


@contextmanager
def turn(
    engine: Engine, progress: Progress, still_wanted: Callable[[], None], longest: float = LONGEST_WAIT_S
) -> Iterator[None]:
    """Wait until no other run pays for this database, and keep others waiting until the block ends.

    A run that is killed, or whose connection is cut, loses its turn. A database in memory has no queue.

    Args:
        progress: receives a warning that names the run ahead.
        still_wanted: a check to call while waiting; an exception that it raises ends the wait.
        longest: the longest wait in seconds.

    Raises:
        RunActive: the other run took longer than `longest`.
        OutputError: the folder of an SQLite file can't be written.
        ConfigurationError, StoreLost: the database failed.
    """
    mine = _turn(engine)
    if mine is None:
        yield
        return
    try:
        _wait(mine, progress, still_wanted, longest)
        yield
    finally:
        mine.release()


class _AdvisoryLock:
    """A session's advisory lock on a server, which ends when its connection ends for any reason."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._session: Connection | None = None

    def take(self) -> bool:
        try:
            if self._session is None:
                self._session = self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")
                self._session.detach()  # so that `close` closes it instead of returning it to the pool
                self._session.execute(text(_SIGN), {"name": this_process()})
            return bool(self._session.execute(select(func.pg_try_advisory_lock(_PAYING))).scalar_one())
        except SQLAlchemyError as error:
            raise failed(self._engine, error) from None

    @property
    def holder(self) -> str:
        if self._session is None:
            return "another process"
        number = {"high": _PAYING >> 32, "low": _PAYING & 0xFFFFFFFF}
        try:
            return self._session.execute(text(_HOLDER), number).scalar() or "another process"
        except SQLAlchemyError as error:
            raise failed(self._engine, error) from None

    def release(self) -> None:
        if self._session is None:
            return
        # The server notices some time later that a connection was closed; until then it keeps the lock. A connection
        # that fails here has lost the lock already.
        with suppress(SQLAlchemyError):
            self._session.execute(select(func.pg_advisory_unlock_all()))
        self._session.close()


def _turn(engine: Engine) -> _AdvisoryLock | SignedLock | None:
    if engine.dialect.name == "postgresql":
        return _AdvisoryLock(engine)
    path = database_file(engine.url)
    return file_lock(path) if path else None


def file_lock(database: Path) -> SignedLock:
    """Return the lock that a run takes while it pays for what an SQLite file lacks."""
    path = database.resolve()  # one file may have several names
    return SignedLock(path.with_name(f".{path.name}.lock"), path.with_name(f".{path.name}.running"))


def _wait(
    mine: _AdvisoryLock | SignedLock, progress: Progress, still_wanted: Callable[[], None], longest: float
) -> None:
    until, warned = time.monotonic() + longest, False
    while not mine.take():
        who = mine.holder
        if time.monotonic() >= until:
            raise RunActive(
                f"Another run is still searching or embedding with the same database: {who}. "
                "Run again when it has ended."
            )
        if not warned:
            progress.warn(
                f"Another run is searching or embedding with the same database: {who}. This run waits for it, "
                "so that you don't pay twice."
            )
            warned = True
        still_wanted()
        time.sleep(_CHECK_S)
