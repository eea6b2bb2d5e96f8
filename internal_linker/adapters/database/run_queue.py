"""An engine -> the turn of one run at a time to pay for what its database lacks; others wait for theirs.

What a run has paid for stands in the database when its turn ends, so the next one finds it there.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

from sqlalchemy import Connection, Engine, func, select, text
from sqlalchemy.exc import SQLAlchemyError

from internal_linker.adapters.database.engine import database_file, failed
from internal_linker.adapters.database.schema import LOCK_NUMBERS
from internal_linker.adapters.files.locks import SignedLock, this_process
from internal_linker.core.errors import RunActive
from internal_linker.core.ports import Progress

# A run that starts at night is done in the morning: the largest sites search and embed for some hours.
LONGEST_WAIT_S = 6 * 3600.0
# Between two looks whether it is our turn; an interrupt is heeded as often.
_LOOK_S = 1.0
_PAYING = LOCK_NUMBERS + 2
# The holder of a lock is known by its connection: its name, and a server that notices when it is cut.
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


class _Turn(Protocol):
    def take(self) -> bool: ...

    @property
    def holder(self) -> str: ...

    def release(self) -> None: ...


@contextmanager
def turn(
    engine: Engine, progress: Progress, still_wanted: Callable[[], None], longest: float = LONGEST_WAIT_S
) -> Iterator[None]:
    """Wait until no other run pays for this database, and keep others waiting until the block ends.

    A run that is killed, or whose connection is cut, has no turn any more.

    Args:
        engine: from `open_database`; a database in memory is nobody else's.
        progress: is told whom this one waits for.
        still_wanted: called while it waits; what it raises ends the waiting.
        longest: seconds to wait at the most.

    Raises:
        RunActive: the other run took longer than that.
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
    """A session's advisory lock on a server: it ends with its connection, however that ends."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._session: Connection | None = None

    def take(self) -> bool:
        try:
            if self._session is None:
                self._session = self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")
                self._session.detach()  # closed, not given to somebody else of this process
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
        if self._session is not None:
            self._session.close()


def _turn(engine: Engine) -> _Turn | None:
    if engine.dialect.name == "postgresql":
        return _AdvisoryLock(engine)
    if (path := database_file(engine.url)) is None:
        return None
    path = path.resolve()  # one file may have several names
    return SignedLock(path.with_name(f".{path.name}.lock"), path.with_name(f".{path.name}.running"))


def _wait(mine: _Turn, progress: Progress, still_wanted: Callable[[], None], longest: float) -> None:
    until, told = time.monotonic() + longest, False
    while not mine.take():
        who = mine.holder
        if time.monotonic() >= until:
            raise RunActive(
                f"Another run still searches or embeds with the same database: {who}. Run again when it has ended."
            )
        if not told:
            progress.warn(
                f"Another run searches or embeds with the same database: {who}. This one waits, "
                "so that nothing is paid for twice."
            )
            told = True
        still_wanted()
        time.sleep(_LOOK_S)
