"""A file -> a lock that one process at a time holds, and the words for who holds it."""

import errno
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from filelock import FileLock, Timeout

from internal_linker.core.errors import OutputError, RunActive

# What a drive says that has no locks, as some network drives have none.
_NO_LOCKS = frozenset({errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOTSUP})


class SignedLock:
    """A lock file, and beside it a file that names the holder, for nobody can read a locked file on Windows.

    The system frees the lock of a process that died, whatever it left behind.
    """

    def __init__(self, lock: Path, sign: Path) -> None:
        self._lock, self._sign = FileLock(lock, timeout=0, fallback_to_soft=False), sign

    def take(self) -> bool:
        """Take it, unless another process has it.

        Raises:
            OutputError: the folder can't be written, or lies on a drive without locks.
        """
        try:
            self._sign.parent.mkdir(parents=True, exist_ok=True)
            self._lock.acquire()
            self._sign.write_text(this_process(), encoding="utf-8")
        except Timeout:
            return False
        except OSError as error:
            self._lock.release()
            if error.errno in _NO_LOCKS:
                raise OutputError(
                    f"{self._sign.parent} lies on a drive that can't lock files ({error.strerror}): two runs at once "
                    "could spoil each other's results. Move the project folder to a disk of this computer."
                ) from None
            raise OutputError(
                f"{error.filename or self._sign} can't be written ({error.strerror}). Check the folder's rights."
            ) from None
        return True

    @property
    def holder(self) -> str:
        """Who has it, as `this_process` of that one put it."""
        try:
            return self._sign.read_text(encoding="utf-8") or "another process"
        except OSError:  # taken, but not signed yet, or just given back
            return "another process"

    def release(self) -> None:
        """Give it back, if it is ours."""
        if self._lock.is_locked:
            self._sign.unlink(missing_ok=True)
            self._lock.release()


def this_process() -> str:
    """Process, computer and time, for whoever waits for it."""
    # PostgreSQL shows 63 bytes of it: a long name of a computer is cut, the time is not.
    now = datetime.now().strftime("%Y-%m-%d %H:%M:%S")
    return f"process {os.getpid()} on {socket.gethostname()[:20]}, since {now}"


@contextmanager
def folder_lock(root: Path) -> Iterator[None]:
    """Hold a project folder, so that one run at a time works on it.

    Raises:
        RunActive: another run holds it; the message says which.
        OutputError: the folder can't be written.
    """
    lock = SignedLock(root / "files/.internal_linker.lock", root / "files/.internal_linker.usecases.run")
    if not lock.take():
        raise RunActive(f"A run is already active in this folder: {lock.holder}. Wait until it has ended.")
    try:
        yield
    finally:
        lock.release()
