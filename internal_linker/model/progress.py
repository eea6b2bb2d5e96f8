"""Progress in a program: collected for an answer, timed, written as events, and passed on."""

import time
from collections.abc import Callable
from typing import Any

from internal_linker.model.errors import Interrupted
from internal_linker.model.ports import Progress

Stop = Callable[[], bool]
# Counts are for people: more often they only make a file of events longer.
_BETWEEN_S = 0.5


class Tracker:
    """Implements `ports.Progress`: records steps, times and warnings, and forwards them.

    Args:
        to: who gets it as well; None: nobody.
        notes_only: pass on the notes, but no steps, such as those within a step that is shown already.
        should_stop: asked at each step and count; True ends the work by `Interrupted`.
        cancelled: the sentence of that error.
        write: gets each event with its facts: "start" with `step`, `total` and `unit`, "advance" with `done`, at most
            twice a second, "finish" with `done` and `outcome`, "note" with `message`.
    """

    def __init__(
        self,
        to: Progress | None = None,
        *,
        notes_only: bool = False,
        should_stop: Stop = lambda: False,
        cancelled: str = "",
        write: Callable[..., Any] = lambda event, **facts: None,
    ) -> None:
        self._to, self._should_stop, self._cancelled, self._write = to, should_stop, cancelled, write
        self._steps_to = None if notes_only else to
        self._written = 0.0
        self.notes = list[str]()
        self.outcomes = list[str]()  # a line for each finished step
        self.seconds = dict[str, float]()  # by step, in the order in which they first ended
        # The step that is going on, or the last one; a total of 0 is unknown.
        self.step, self.unit, self.total, self.done, self.began = "", "", 0, 0, time.monotonic()

    def check(self) -> None:
        """Go on, unless the work should stop.

        Raises:
            Interrupted: it should.
        """
        if self._should_stop():
            raise Interrupted(self._cancelled)

    def start(self, step: str, total: int, unit: str) -> None:
        """Begin a step."""
        self.check()
        self.step, self.total, self.unit, self.done, self.began = step, total, unit, 0, time.monotonic()
        self._write("start", step=step, total=total, unit=unit)
        if self._steps_to:
            self._steps_to.start(step, total, unit)

    def advance(self, count: int = 1) -> None:
        """Count `count` more units as done."""
        self.check()
        self.done += count
        if (now := time.monotonic()) - self._written > _BETWEEN_S:
            self._write("advance", done=self.done)
            self._written = now
        if self._steps_to:
            self._steps_to.advance(count)

    def finish(self, outcome: str) -> None:
        """End the step."""
        self.outcomes.append(f"{self.step}: {outcome}")
        self.seconds[self.step] = self.seconds.get(self.step, 0.0) + time.monotonic() - self.began
        self._write("finish", done=self.done, outcome=outcome)
        if self._steps_to:
            self._steps_to.finish(outcome)

    def warn(self, message: str) -> None:
        """Keep a note."""
        self.notes.append(message)
        self._write("note", message=message)
        if self._to:
            self._to.warn(message)
