"""Worker processes that share arrays through a memory-mapped file: threads of one process would take turns."""

import mmap
import os
import pickle
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager
from multiprocessing import connection, get_context, parent_process
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

T = TypeVar("T")
# A file, where in it an object without its arrays lies, and where its arrays do.
_Given = tuple[Path, tuple[int, int], Sequence[tuple[int, int]]]
# Where a row of an array may begin in a file that is mapped into memory.
_ALIGNED = 64
_ALONE = "This step continues on one core because other processes can't be started ({})."


# joblib's loky backend was no quicker and no smaller on 6,000 pages. When a run is killed, its processes and semaphores
# stay (all were there 40 seconds later), and it creates tasks far ahead of whoever takes the results, in another
# thread.
class Processes:
    """A few processes that read shared arrays from one file, mapped into the memory of all.

    If they can't be started, or one of them is lost, this process does the work, and `warn` gets the reason. What a
    killed run left in the file is overwritten.
    """

    def __init__(self, count: int, file: Path, warn: Callable[[str], None]) -> None:
        self._count, self._file, self._warn = count, file, warn
        self._given: _Given | None = None
        self._what: object = None
        self._pool: ProcessPoolExecutor | None = None

    def __enter__(self) -> "Processes":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None
        self._file.unlink(missing_ok=True)

    def share(self, what: object) -> None:
        """Give an object, mostly arrays that no longer change, to all processes; the caller may drop it."""
        try:
            self._given = _write(what, self._file)
            self._pool = ProcessPoolExecutor(self._count, get_context("spawn"), _open, self._given)
        # No room or right for the file; a system without semaphores.
        except (OSError, NotImplementedError) as error:
            self._what = what
            # On a full disk the half of it would leave no room for the run's own files.
            self._file.unlink(missing_ok=True)
            self._warn(_ALONE.format(error))

    def run(self, work: Callable[..., T], tasks: Iterable[tuple[Any, ...]]) -> Iterator[T]:
        """Yield `work(what, *task)` for each task in order; the processes run some tasks ahead.

        `work` is a pure function of a module or class.
        """
        waiting: deque[tuple[Future[T] | None, tuple[Any, ...]]] = deque()
        for task in tasks:
            waiting.append((self._submitted(work, task), task))
            if len(waiting) > 2 * self._count:
                yield self._result(work, *waiting.popleft())
        while waiting:
            yield self._result(work, *waiting.popleft())

    def _submitted(self, work: Callable[..., T], task: tuple[Any, ...]) -> Future[T] | None:
        try:
            return self._pool.submit(_do, work, task) if self._pool else None
        # A process that died while it started.
        except (BrokenProcessPool, OSError) as error:
            self._lost(error)
            return None

    def _result(self, work: Callable[..., T], future: Future[T] | None, task: tuple[Any, ...]) -> T:
        try:
            if future:
                return future.result()
        except BrokenProcessPool as error:
            self._lost(error)
        if self._what is None and self._given:
            file, rest, spans = self._given
            self._what = _read(file.read_bytes(), rest, spans)
        return work(self._what, *task)

    def _lost(self, error: BrokenProcessPool | OSError) -> None:
        # Every task in progress ends in this error; it is reported once.
        if self._pool:
            self._pool.shutdown()
            self._pool = None
            self._warn(_ALONE.format(error))


OpenWorkers = Callable[[str, Callable[[str], None]], AbstractContextManager[Processes | None]]
"""Opens the processes that share a step of a run, by its name, if any; its second argument takes warnings."""


def _write(what: object, file: Path) -> _Given:
    """Write an object to a file, its arrays first.

    Processes get nothing but where it lies: starting one never ends if it dies at once and gets more than a pipe takes.
    """
    file.unlink(missing_ok=True)
    spans: list[tuple[int, int]] = []
    arrays: list[pickle.PickleBuffer] = []
    rest = pickle.dumps(what, protocol=5, buffer_callback=arrays.append)
    with file.open("wb") as out:
        for array in arrays:
            out.write(bytes(-out.tell() % _ALIGNED))
            start = out.tell()
            out.write(array.raw())
            spans.append((start, out.tell()))
        begin = out.tell()
        out.write(rest)
    return file, (begin, begin + len(rest)), spans


def _read(whole: bytes | mmap.mmap, rest: tuple[int, int], spans: Sequence[tuple[int, int]]) -> object:
    parts = memoryview(whole)
    return pickle.loads(parts[slice(*rest)], buffers=[parts[start:end] for start, end in spans])


# In such a process: what is shared.
_shared: list[Any] = []


def _open(file: Path, rest: tuple[int, int], spans: Sequence[tuple[int, int]]) -> None:
    """Start a worker: load the shared object, and end when the parent ends."""
    # Ctrl-C reaches the whole group; the parent tells what to do.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with file.open("rb") as opened:
        _shared[:] = [_read(mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ), rest, spans)]
    # Every core has a process.
    ThreadpoolController().limit(limits=1, user_api="blas")


def _end_with_parent() -> None:
    parent = parent_process()
    if parent:
        connection.wait([parent.sentinel])
        os._exit(1)


def _do(work: Callable[..., T], task: tuple[Any, ...]) -> T:
    return work(*_shared, *task)
