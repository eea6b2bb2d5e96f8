"""Tasks -> their results, done by the workers of a Dask scheduler; whichever of them is killed, it ends in time."""

import logging
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from queue import Empty, SimpleQueue
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from uuid import uuid4

from internal_linker.core.errors import ConfigurationError, InternalLinkerError, ServiceError

# Results are to be the same everywhere, and tasks travel as these packages write them.
SAME = ("python", "dask", "distributed", "numpy", "internal_linker")


def check_versions(versions: dict[str, Any], problem: Callable[[str], ServiceError]) -> None:
    """Refuse a scheduler or worker with another version of what must be the same.

    Raises:
        ServiceError: the first that differs, by its address.
    """
    ours = _packages(versions["client"])
    others = {"the scheduler": versions["scheduler"]}
    others |= {f"the worker {address}": told for address, told in versions["workers"].items()}
    for who, told in others.items():
        theirs = _packages(told)
        for name in SAME:
            if theirs[name] != ours[name]:
                raise problem(
                    f"{who} has {name} {theirs[name]}, this computer {ours[name]}. Install the same on all"
                )


def _packages(told: dict[str, Any]) -> dict[str, str]:
    """The versions that count; of Python the first two numbers."""
    found = {name: str(told["packages"].get(name) or "missing") for name in SAME}
    return found | {"python": ".".join(found["python"].split(".")[:2])}


if TYPE_CHECKING:
    from distributed import Client, Future

Item = TypeVar("Item")

# Tasks a thread of a worker: one at work, one that waits for it.
IN_FLIGHT = 2
# How often a task may be lost with its workers before it is suspected to be the reason: Dask's own default.
LOSSES = 3
# Seconds without an answer or a worker: a killed worker is back in five, a new machine needs some sixty.
PATIENCE = 90.0
# Seconds to wait for a scheduler at the start, and for good-byes at the end.
CONNECT = 10.0
# Seconds between two looks at scheduler and workers; a look takes some milliseconds.
LOOK = 1.0
# What comes of a connection that ended, be it ours or a worker's; TimeoutError is an OSError.
BROKEN = (OSError, CancelledError)


@dataclass(frozen=True, slots=True)
class Task(Generic[Item]):
    """One call: `name` says in messages what it is of, `item` comes back with the result."""

    item: Item
    name: str
    arguments: tuple[object, ...]


class Cluster:
    """The workers of one scheduler; nothing is contacted before there are tasks.

    Args:
        address: tcp://host:port or tls://host:port.
        patience: seconds without an answer or a worker after which it is given up.

    Raises:
        ConfigurationError: the package that speaks to a scheduler is not installed.
    """

    def __init__(self, address: str, patience: float = PATIENCE) -> None:
        if not _installed():
            raise ConfigurationError(
                "dask_scheduler needs a package that is installed on wish only. Install it into the project's own "
                'Python (in the folder .venv): python -m pip install "distributed>=2026.8,<2027"'
            )
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
        """Yield each task's item with `work(*arguments)` as it is finished, with a few a thread under way.

        Args:
            work: a pure function of a module; it may be run twice for one task.
            tasks: taken one by one, as there is room for them.
            shared: arguments of the tasks (these very objects) that are sent once and not with each task.
            everywhere: send these to all workers at once, and not only to those that get a task.

        Raises:
            ServiceError: scheduler or workers are gone or don't fit, or a task fails on them.
            ConfigurationError: a worker lacks what the work needs.
        """
        with self._connected() as client:
            run: _Run[Item] = _Run(self, client, work, shared, everywhere)
            yield from run.results(tasks)

    @contextmanager
    def _connected(self) -> "Iterator[Client]":
        from distributed import Client

        # Its own reports would stand in the middle of the progress; what matters of them becomes an error here.
        for name in ("distributed", "distributed.client"):  # each has a level of its own
            logging.getLogger(name).setLevel(logging.CRITICAL)
        try:
            # Straight to the workers: neither vectors nor results pass through the scheduler's memory.
            seconds = min(CONNECT, self.patience)
            client = Client(self.address, timeout=seconds, set_as_default=False, direct_to_workers=True)
        except (OSError, TypeError, ValueError):
            how = " with the certificates that Dask's own settings name" * self.address.startswith("tls:")
            raise self.problem(
                f"no scheduler answers at {self.address}. Start it{how}, or correct dask_scheduler"
            ) from None
        try:
            yield client
        finally:
            with suppress(*BROKEN):
                client.close(timeout=CONNECT)

    def problem(self, sentence: str) -> ServiceError:
        """An error of this service; a later try may find it mended."""
        return ServiceError("Dask", f"{sentence}.", retryable=True)


@dataclass(frozen=True, slots=True)
class _Running(Generic[Item]):
    """A task under way, with what was sent in this round."""

    task: Task[Item]
    future: "Future[Any]"
    sent: int
    alone: bool


class _Run(Generic[Item]):
    """All tasks of one call, on one connection."""

    def __init__(
        self,
        cluster: Cluster,
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
        self._looked = self._seen = monotonic()

    def results(self, tasks: Iterable[Task[Item]]) -> Iterator[tuple[Item, Any]]:
        """See `Cluster.run`."""
        waiting = iter(tasks)
        self._send()
        while True:
            self._look()
            self._fill(waiting)
            if not self._running:
                return
            try:
                key = self._ended.get(timeout=LOOK)
            except Empty:
                continue
            yield from self._taken(self._running.pop(key))

    def _fill(self, waiting: Iterator[Task[Item]]) -> None:
        """Submit what there is room for: a suspect alone, else a few a thread."""
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
        # One group of tasks that share what they need: Dask gives them to any idle worker, also to one that came
        # late and has none of it yet.
        key = f"{self._name}-{self._rounds}", self._number
        arguments = [self._sent.get(id(argument), argument) for argument in task.arguments]
        future = self._client.submit(self._work, *arguments, key=key, pure=False)
        self._running[key] = _Running(task, future, self._rounds, alone)
        future.add_done_callback(lambda _: self._ended.put(key))

    def _taken(self, ended: _Running[Item]) -> Iterator[tuple[Item, Any]]:
        """What a task that ended gave; nothing where it must be done again."""
        from distributed import KilledWorker

        failed = ended.future.status == "error"
        try:
            result = ended.future.result(timeout=self._cluster.patience)
        except KilledWorker:
            self._redo(ended, is_suspect=True)
        except Exception as error:
            if failed or not isinstance(error, BROKEN):
                raise self._failure(ended.task, error) from error
            self._look(at_once=True)
            self._losses[ended.task.name] += 1
            self._redo(ended, is_suspect=self._losses[ended.task.name] > LOSSES)
            if ended.sent == self._rounds:
                self._send()
        else:
            ended.future.release()
            yield ended.task.item, result

    def _redo(self, ended: _Running[Item], *, is_suspect: bool) -> None:
        """Do a task again whose workers were killed; alone where it, or one beside it, may be what kills them."""
        if is_suspect and ended.alone:
            raise self._cluster.problem(
                f"{ended.task.name} has ended each worker that tried it. Their logs tell why: too little memory, "
                "most likely"
            )
        (self._suspects if is_suspect else self._again).append(ended.task)

    def _failure(self, task: Task[Item], error: Exception) -> InternalLinkerError:
        if isinstance(error, ConfigurationError):
            return ConfigurationError(f"On a Dask worker: {error}")
        return self._cluster.problem(f"{task.name} failed on a worker ({type(error).__name__}: {error})")

    def _send(self) -> None:
        """Give the workers what is shared."""
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
                        f"the workers of {self._cluster.address} can't be reached from this computer"
                    ) from None

    def _scattered(self) -> "list[Future[Any]]":
        futures: list[Future[Any]] = self._client.scatter(
            list(self._shared), broadcast=self._everywhere, hash=False
        )
        return futures

    def _wait_for_worker(self) -> None:
        self._look(at_once=True)
        while not self._threads:
            sleep(LOOK)
            self._look()

    def _look(self, *, at_once: bool = False) -> None:
        """See who is there, and that they fit."""
        cluster, now = self._cluster, monotonic()
        gone = cluster.problem(
            f"the scheduler at {cluster.address} is gone. What was finished is kept: run again"
        )
        if self._client.status != "running":
            raise gone
        if now - self._looked < LOOK and not at_once:
            return
        try:
            there = self._client.sync(
                self._client.scheduler.ncores_running, callback_timeout=cluster.patience
            )
            if not there.keys() <= self._threads.keys():
                check_versions(self._client.get_versions(packages=["internal_linker"]), cluster.problem)
        except BROKEN:
            raise gone from None
        self._looked, self._threads = now, there
        self._seen = now if there else self._seen
        if now - self._seen > cluster.patience:
            raise cluster.problem(
                f"no worker of {cluster.address} takes work: none is there, or their memory is full. Start some"
            )


def _installed() -> bool:
    try:
        return find_spec("distributed") is not None
    except ValueError:  # it is barred from being imported
        return False
