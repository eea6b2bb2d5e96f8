"""Work that takes longer than a request: one task of each kind per project, in threads of the server."""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from internal_linker.model.errors import InternalLinkerError, Interrupted, RunActive
from internal_linker.model.ports import Progress
from internal_linker.model.progress import Stop, Tracker

LOGGER = logging.getLogger("internal_linker.faces.web")
Kind = Literal[
    "survey",
    "import",
    "search",
    "queries",
    "similar",
    "clusters",
    "audit",
    "impact",
    "rollback",
    "changes",
    "apply",
    "undo",
]
Status = Literal["none", "running", "done", "failed", "cancelled"]
Work = Callable[[Progress, Stop], Any]
# Those whose results are asked for; a result may be as large as a whole project.
_ASKED_FOR = frozenset({"survey", "import", "search", "queries", "rollback", "changes", "apply", "undo"})
# Those that write what must belong together: the server waits for their end, also if they were asked to stop.
_WHOLE = frozenset({"import", "queries", "rollback", "apply", "undo"})
# Notes that a page shows: more are repetitions.
_MOST_NOTES = 50
# Seconds of a step before which the time left would be a guess.
_SURE_S = 2.0


@dataclass(frozen=True, slots=True)
class TaskState:
    """How far a task has come.

    Attributes:
        status: whether there is one, and how it ended.
        step: what it does now.
        done: units of the step that are done.
        total: units of the step; 0: unknown.
        unit: what is counted.
        seconds_left: of the step; None: unknown.
        outcomes: one line for each finished step.
        notes: what a person should read.
        error: why it failed; "": it didn't.
    """

    status: Status = "none"
    step: str = ""
    done: int = 0
    total: int = 0
    unit: str = ""
    seconds_left: float | None = None
    outcomes: Sequence[str] = ()
    notes: Sequence[str] = ()
    error: str = ""


class _Task:
    def __init__(self, kind: Kind, work: Work) -> None:
        self.kind = kind
        self.result: Any = None
        self._status: Status = "running"
        self._error, self._progress = "", Tracker()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(work,), name="task", daemon=True)
        self._thread.start()

    @property
    def state(self) -> TaskState:
        now, left = self._progress, None
        spent = time.monotonic() - now.began
        if self._status == "running" and now.total and now.done and spent > _SURE_S:
            left = spent / now.done * max(0, now.total - now.done)
        return TaskState(
            self._status,
            now.step,
            now.done,
            now.total,
            now.unit,
            left,
            tuple(now.outcomes),
            tuple(now.notes[:_MOST_NOTES]),
            self._error,
        )

    def cancel(self) -> None:
        self._stop.set()

    def join(self) -> None:
        self._thread.join()

    def _run(self, work: Work) -> None:
        try:
            result = work(self._progress, self._stop.is_set)
            self.result = result if self.kind in _ASKED_FOR else None
            self._status = "done"
        except Interrupted as error:
            self._error, self._status = str(error), "cancelled"
        except InternalLinkerError as error:
            self._error, self._status = str(error), "failed"
        except Exception as error:
            LOGGER.exception("Unexpected error")
            self._error = (
                f"Unexpected error ({type(error).__name__}): the app's terminal shows more. Please report it."
            )
            self._status = "failed"


class Tasks:
    """The tasks of all projects; may be used by several threads."""

    def __init__(self) -> None:
        self._tasks: dict[tuple[Path, Kind], _Task] = {}
        self._lock = threading.Lock()

    def start(self, folder: Path, kind: Kind, work: Work, *, again: bool = False) -> TaskState:
        """Start a task.

        Args:
            work: what to do; gets a progress and what says whether to stop.
            again: let a running one stop in favour of this one.

        Raises:
            RunActive: one of this kind is running.
        """
        with self._lock:
            known = self._tasks.get((folder, kind))
            if known and known.state.status == "running":
                if not again:
                    raise RunActive("This is being done already: wait for its end, or cancel it.")
                known.cancel()
            made = self._tasks[folder, kind] = _Task(kind, work)
        return made.state

    def state(self, folder: Path, kind: Kind) -> TaskState:
        """Return how far a task has come."""
        known = self._tasks.get((folder, kind))
        return known.state if known else TaskState()

    def result(self, folder: Path, kind: Kind) -> Any:
        """Return the result of a task that is done, if its kind has one that is asked for; None without one."""
        known = self._tasks.get((folder, kind))
        return known.result if known else None

    def cancel(self, folder: Path, kind: Kind) -> TaskState:
        """Ask a task to stop, and return its state."""
        if known := self._tasks.get((folder, kind)):
            known.cancel()
        return self.state(folder, kind)

    def close(self) -> None:
        """Ask all tasks to stop, and wait for those that must not end half-way."""
        with self._lock:
            running = {key: task for key, task in self._tasks.items() if task.state.status == "running"}
        for task in running.values():
            task.cancel()
        for (folder, kind), task in running.items():
            if kind in _WHOLE:
                LOGGER.warning("Waiting for the end of the %s in %s ...", kind, folder)
                task.join()
