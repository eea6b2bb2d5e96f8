"""Tasks and the blocks of a k-NN join on the workers of a Dask scheduler, even if workers are killed."""

import logging
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache
from queue import Empty, SimpleQueue
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from uuid import uuid4

import numpy as np
from threadpoolctl import ThreadpoolController

from internal_linker.model.arrays import Ints, JoinTask, Nearest, Vectors
from internal_linker.model.cli_commands import needs_extra
from internal_linker.model.errors import ConfigurationError, InternalLinkerError, ServiceError

# Results must be the same everywhere, and these packages serialise the tasks.
SAME = ("python", "dask", "distributed", "numpy", "internal_linker")


def check_versions(versions: dict[str, Any], problem: Callable[[str], ServiceError]) -> None:
    """Refuse a scheduler or worker with another version of Python or of a package in `SAME`."""
    ours = _packages(versions["client"])
    others = {"the scheduler": versions["scheduler"]}
    others |= {f"the worker {address}": reported for address, reported in versions["workers"].items()}
    for who, reported in others.items():
        theirs = _packages(reported)
        for name in SAME:
            if theirs[name] != ours[name]:
                raise problem(
                    f"{who} has {name} {theirs[name]}, this computer has {ours[name]}. Install the same "
                    "version everywhere"
                )


def _packages(reported: dict[str, Any]) -> dict[str, str]:
    found = {name: str(reported["packages"].get(name) or "missing") for name in SAME}
    return found | {"python": ".".join(found["python"].split(".")[:2])}


if TYPE_CHECKING:
    from distributed import Client, Future

Item = TypeVar("Item")

# Tasks per thread of a worker: one running, one waiting.
IN_FLIGHT = 2
# How often a task may be lost with its workers before it is suspected to kill them: Dask's own default.
LOSSES = 3
# Seconds without an answer or a worker: a killed worker is back in five, a new machine starts in some sixty.
PATIENCE = 90.0
# Seconds to wait for a scheduler at the start, and for the connection to close at the end.
CONNECT = 10.0
# Seconds between two checks of scheduler and workers; a check takes some milliseconds.
CHECK = 1.0
# Errors of a lost connection, ours or a worker's; TimeoutError is an OSError.
BROKEN = (OSError, CancelledError)


@dataclass(frozen=True, slots=True)
class Task(Generic[Item]):
    """One call: `name` identifies it in messages, `item` comes back with the result."""

    item: Item
    name: str
    arguments: tuple[object, ...]


class DaskCluster:
    """The workers of one scheduler, contacted only when there are tasks.

    Args:
        address: tcp://host:port or tls://host:port.
        patience: seconds without an answer or a worker after which work fails.

    Raises:
        ConfigurationError: the package `distributed` is not installed.
    """

    def __init__(self, address: str, patience: float = PATIENCE) -> None:
        with needs_extra("cluster", "dask_scheduler"):
            import distributed  # noqa: F401 - a later start would be too late to say so
        self.address = address
        self.patience = patience

    def run(
        self,
        work: Callable[..., Any],
        tasks: Iterable[Task[Item]],
        shared: Sequence[object] = (),
        *,
        everywhere: bool = False,
    ) -> Generator[tuple[Item, Any], None, None]:
        """Yield each task's item with the result of `work(*arguments)` as it finishes.

        Args:
            work: a pure module-level function; it may run twice for one task.
            tasks: consumed one by one, a few per thread ahead.
            shared: arguments of the tasks (the same objects) to send once and not with each task.
            everywhere: send `shared` to all workers at once, not only to those that get a task.

        Raises:
            ServiceError: scheduler or workers are gone or have other versions, or a task fails on them.
            ConfigurationError: a worker lacks what the work needs.
        """
        with self._connected() as client:
            run: _Run[Item] = _Run(self, client, work, shared, everywhere)
            yield from run.results(tasks)

    @contextmanager
    def _connected(self) -> "Iterator[Client]":
        from distributed import Client

        # Dask's own log lines would break up the progress display; the important ones become errors here.
        for name in ("distributed", "distributed.client"):  # each logger has its own level
            logging.getLogger(name).setLevel(logging.CRITICAL)
        try:
            # Direct connections keep vectors and results out of the scheduler's memory.
            seconds = min(CONNECT, self.patience)
            client = Client(self.address, timeout=seconds, set_as_default=False, direct_to_workers=True)
        except (OSError, TypeError, ValueError):
            how = " with the certificates from Dask's own settings" * self.address.startswith("tls:")
            raise self.problem(
                f"no scheduler answers at {self.address}. Start it{how}, or correct dask_scheduler"
            ) from None
        try:
            yield client
        finally:
            with suppress(*BROKEN):
                client.close(timeout=CONNECT)

    def problem(self, sentence: str) -> ServiceError:
        """Return a retryable error of this service."""
        return ServiceError("Dask", f"{sentence}.", retryable=True)


@dataclass(frozen=True, slots=True)
class _Running(Generic[Item]):
    """A running task, and the round in which its shared arguments were sent."""

    task: Task[Item]
    future: "Future[Any]"
    sent: int
    alone: bool


class _Run(Generic[Item]):
    def __init__(
        self,
        cluster: DaskCluster,
        client: "Client",
        work: Callable[..., Any],
        shared: Sequence[object],
        everywhere: bool,
    ) -> None:
        self._cluster, self._client, self._work = cluster, client, work
        self._shared, self._everywhere = shared, everywhere
        self._name = f"internal-linker-{uuid4().hex}"
        self._sent: dict[int, Future[Any]] = {}
        self._rounds = self._number = 0
        self._running: dict[object, _Running[Item]] = {}
        self._ended: SimpleQueue[object] = SimpleQueue()
        self._again: deque[Task[Item]] = deque()
        self._suspects: deque[Task[Item]] = deque()
        self._losses: Counter[str] = Counter()
        self._threads: dict[str, int] = {}
        self._checked = self._seen = monotonic()

    def results(self, tasks: Iterable[Task[Item]]) -> Iterator[tuple[Item, Any]]:
        waiting = iter(tasks)
        self._send()
        while True:
            self._check()
            self._fill(waiting)
            if not self._running:
                return
            try:
                key = self._ended.get(timeout=CHECK)
            except Empty:
                continue
            yield from self._taken(self._running.pop(key))

    def _fill(self, waiting: Iterator[Task[Item]]) -> None:
        """Submit a suspect alone, or otherwise a few tasks per thread."""
        if self._suspects:
            if not self._running:
                self._submit(self._suspects.popleft(), alone=True)
            return
        while len(self._running) < IN_FLIGHT * max(1, sum(self._threads.values())):
            task = self._again.popleft() if self._again else next(waiting, None)
            if task is None:
                return
            self._submit(task)

    def _submit(self, task: Task[Item], *, alone: bool = False) -> None:
        self._number += 1
        # Keys with a common prefix form a group of tasks with the same dependencies: Dask gives them to any idle
        # worker, even to a new one that doesn't have the dependencies yet.
        key = f"{self._name}-{self._rounds}", self._number
        arguments = [self._sent.get(id(argument), argument) for argument in task.arguments]
        future = self._client.submit(self._work, *arguments, key=key, pure=False)
        self._running[key] = _Running(task, future, self._rounds, alone)
        future.add_done_callback(lambda _: self._ended.put(key))

    def _taken(self, ended: _Running[Item]) -> Iterator[tuple[Item, Any]]:
        """Yield the result of a task that ended; nothing if it must run again."""
        from distributed import KilledWorker

        failed = ended.future.status == "error"
        try:
            result = ended.future.result(timeout=self._cluster.patience)
        except KilledWorker:
            self._redo(ended, is_suspect=True)
        except Exception as error:
            if failed or not isinstance(error, BROKEN):
                raise self._failure(ended.task, error) from error
            self._check(at_once=True)
            self._losses[ended.task.name] += 1
            self._redo(ended, is_suspect=self._losses[ended.task.name] > LOSSES)
            if ended.sent == self._rounds:
                self._send()
        else:
            ended.future.release()
            yield ended.task.item, result

    def _redo(self, ended: _Running[Item], *, is_suspect: bool) -> None:
        """Run a task again whose workers were killed; alone if it, or a task beside it, may have killed them."""
        if is_suspect and ended.alone:
            raise self._cluster.problem(
                f"{ended.task.name} crashed every worker that tried it, most likely for lack of memory. Check the "
                "workers' logs"
            )
        (self._suspects if is_suspect else self._again).append(ended.task)

    def _failure(self, task: Task[Item], error: Exception) -> InternalLinkerError:
        if isinstance(error, ConfigurationError):
            return ConfigurationError(f"On a Dask worker: {error}")
        return self._cluster.problem(f"{task.name} failed on a worker ({type(error).__name__}: {error})")

    def _send(self) -> None:
        self._rounds += 1
        for tries_left in reversed(range(LOSSES)):
            self._wait_for_worker()
            try:
                sent = self._scattered() if self._shared else []
                self._sent = {id(one): future for one, future in zip(self._shared, sent, strict=True)}
                return
            except BROKEN:
                if not tries_left:
                    raise self._cluster.problem(
                        f"this computer can't reach the workers of {self._cluster.address}. Check the network "
                        "between them"
                    ) from None

    def _scattered(self) -> "list[Future[Any]]":
        futures: list[Future[Any]] = self._client.scatter(
            list(self._shared), broadcast=self._everywhere, hash=False
        )
        return futures

    def _wait_for_worker(self) -> None:
        self._check(at_once=True)
        while not self._threads:
            sleep(CHECK)
            self._check()

    def _check(self, *, at_once: bool = False) -> None:
        cluster, now = self._cluster, monotonic()
        gone = cluster.problem(
            f"the connection to the scheduler at {cluster.address} was lost. Run again: finished results are kept"
        )
        if self._client.status != "running":
            raise gone
        if now - self._checked < CHECK and not at_once:
            return
        try:
            there = self._client.sync(
                self._client.scheduler.ncores_running, callback_timeout=cluster.patience
            )
            if not there.keys() <= self._threads.keys():
                check_versions(self._client.get_versions(packages=["internal_linker"]), cluster.problem)
        except BROKEN:
            raise gone from None
        self._checked, self._threads = now, there
        self._seen = now if there else self._seen
        if now - self._seen > cluster.patience:
            raise cluster.problem(
                f"no worker of {cluster.address} accepts tasks: none is running, or all are out of memory. Start some"
            )


Work = Callable[[Vectors, Ints, JoinTask], Nearest]

# Columns of at least this many bytes that several blocks share are sent once; smaller ones with their block.
SHARED_BYTES = 1 << 20
_NONE = np.zeros(0, np.int64)


class DaskCompute:
    """A `ports.Compute` that sends vectors to every worker once, and blocks to idle workers; see `DaskCluster`."""

    def __init__(self, address: str, patience: float = PATIENCE) -> None:
        self._cluster = DaskCluster(address, patience)

    def run(
        self, work: Work, vectors: Vectors, languages: Ints, blocks: Sequence[JoinTask]
    ) -> Iterator[tuple[JoinTask, Nearest]]:
        """Yield each block with its result; others repeat the blocks of a killed worker. Errors: `DaskCluster.run`."""
        if not blocks:
            return iter(())
        shared = [vectors, languages, *_common(blocks)]
        tasks = (
            Task(
                block,
                f"block {block.name}",
                (work, vectors, languages, block.columns, replace(block, columns=_NONE)),
            )
            for block in blocks
        )
        return self._cluster.run(_done, tasks, shared, everywhere=len(blocks) > 1)


def _common(blocks: Sequence[JoinTask]) -> list[Ints]:
    large = {id(block.columns): block.columns for block in blocks if block.columns.nbytes >= SHARED_BYTES}
    times = Counter(id(block.columns) for block in blocks)
    return [columns for key, columns in large.items() if times[key] > 1]


def _done(work: Work, vectors: Vectors, languages: Ints, columns: Ints, block: JoinTask) -> Nearest:
    """Compute one block on a worker, with matrix products in one thread."""
    _one_thread_per_product()
    return work(vectors, languages, replace(block, columns=columns))


@cache
def _one_thread_per_product() -> object:
    # Once per process, because its tasks run in parallel; Dask's nannies do the same through the environment.
    return ThreadpoolController().limit(limits=1, user_api="blas")
