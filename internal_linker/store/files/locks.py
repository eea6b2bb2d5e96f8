"""File locks that name their holder."""

import errno
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from internal_linker.model.errors import OutputError, RunActive

# Errors from drives without locks, such as some network drives.
_NO_LOCKS = frozenset({errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOTSUP})


class SignedLock:
    """A lock file, and beside it a file that names the holder, because nobody can read a locked file on Windows.

    The system releases the lock of a process that died, even though its files remain.
    """

    def __init__(self, lock: Path, sign: Path) -> None:
        # Lookups start without it.
        from filelock import FileLock

        self._lock, self._sign = FileLock(lock, timeout=0, fallback_to_soft=False), sign

    def take(self) -> bool:
        """Take the lock and return True; return False if another process has it.

        Raises:
            OutputError: the folder can't be written, or is on a drive without locks.
        """
        from filelock import Timeout

        try:
            self._sign.parent.mkdir(parents=True, exist_ok=True)
            self._lock.acquire()
            if self._sign.exists() and not self._sign.is_file():
                self._sign.unlink()  # opening a pipe could wait for ever
            self._sign.write_text(this_process(), encoding="utf-8")
        except Timeout:
            return False
        except OSError as error:
            self._lock.release()
            if error.errno in _NO_LOCKS:
                raise OutputError(
                    f"{self._sign.parent} is on a drive that can't lock files ({error.strerror}), so two runs at once "
                    "could damage each other's results. Move the project folder to a disk of this computer."
                ) from None
            raise OutputError(
                f"{error.filename or self._sign} can't be written ({error.strerror}). "
                "Check the free space and the folder's permissions."
            ) from None
        return True

    @property
    def holder(self) -> str:
        """The process that has the lock, as its `this_process` describes it."""
        try:
            return (self._sign.is_file() and self._sign.read_text(encoding="utf-8")) or "another process"
        except OSError:  # the holder has not written its name yet, or has just released the lock
            return "another process"

    def release(self) -> None:
        """Release the lock if this process has it."""
        if self._lock.is_locked:
            self._sign.unlink(missing_ok=True)
            self._lock.release()


def this_process() -> str:
    """Describe this process by number, computer and time, for others that wait for it."""
    # PostgreSQL keeps 63 bytes, so the computer's name is shortened to leave room for the time.
    now = datetime.now().strftime("%Y-%m-%d %H:%M:%S")
    return f"process {os.getpid()} on {socket.gethostname()[:20]}, since {now}"


@contextmanager
def folder_lock(root: Path) -> Iterator[None]:
    """Lock a project folder, so that one run at a time works on it.

    Raises:
        RunActive: another run has locked the folder; the message says which.
        OutputError: the folder can't be written.
    """
    lock = SignedLock(root / "files/.internal_linker.lock", root / "files/.internal_linker.project.run")
    if not lock.take():
        raise RunActive(f"A run is already active in this folder: {lock.holder}. Wait until it has ended.")
    try:
        yield
    finally:
        lock.release()
