"""Progress for people: a bar per step on a terminal, a line per step elsewhere, and lines in the log."""

import time
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text

from internal_linker.model.redact import escape_control_chars
from internal_linker.project.log import LOGGER

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


class PlainConsole(Console):
    """A console that shows control characters in texts instead of passing them to the terminal."""

    def render_str(self, text: str, **options: Any) -> Text:
        """Render a text that is printed by itself or in a cell of a table."""
        return super().render_str(escape_control_chars(text), **options)


def open_console(*, stderr: bool = False) -> Console:
    """Open a console that prints texts as they are: square brackets are not markup, ":key:" is not an emoji.

    Without a terminal, lines are not wrapped, since a program may read them.
    """
    console = PlainConsole(stderr=stderr, markup=False, emoji=False, highlight=False)
    console.soft_wrap = not console.is_terminal
    return console


class Reporter:
    """`ports.Progress` for people: a bar per step on a terminal, a line per step elsewhere, and lines in the log."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self._step, self._unit, self._began, self._done = "", "", 0.0, 0
        self._bar: tuple[Progress, TaskID] | None = None

    def start(self, step: str, total: int, unit: str) -> None:
        """Begin a step; if its length is unknown, the bar only shows that it is running."""
        self.close()
        self._step, self._unit, self._began, self._done = step, unit, time.monotonic(), 0
        LOGGER.info("%s: start%s", step, f", {total} {unit}" if total else "")
        if self.console.is_terminal:
            from rich.progress import (
                BarColumn,
                MofNCompleteColumn,
                Progress,
                SpinnerColumn,
                TextColumn,
                TimeElapsedColumn,
                TimeRemainingColumn,
            )

            # The default spinner's dots would crash a run on Windows consoles with a legacy code page.
            columns = [SpinnerColumn("line"), TextColumn("{task.description:<15}"), BarColumn()]
            known = MofNCompleteColumn(), TextColumn("{task.fields[speed]}")
            left = TextColumn("left"), TimeRemainingColumn()
            columns += [*known, TimeElapsedColumn(), *left] if total else [TimeElapsedColumn()]
            bar = Progress(*columns, console=self.console, transient=True)
            self._bar = bar, bar.add_task(step, total=total or None, speed="")
            bar.start()

    def advance(self, count: int = 1) -> None:
        """Count `count` more units as done."""
        self._done += count
        if self._bar:
            bar, task = self._bar
            rate = self._done / max(time.monotonic() - self._began, 1e-3)
            bar.update(task, advance=count, speed=f"{rate:.1f} {self._unit}/s")

    def finish(self, outcome: str) -> None:
        """End the step."""
        self.close()
        seconds = time.monotonic() - self._began
        LOGGER.info("%s: %s (%.1f s)", self._step, outcome, seconds)
        self.console.print(f"{self._step + ':':<16}{outcome} ({seconds:.1f} s)")

    def warn(self, message: str) -> None:
        """Show a note."""
        LOGGER.warning("%s", message)
        self.console.print(f"Note: {message}", style="yellow")

    def close(self) -> None:
        """Remove a bar that is still on the terminal."""
        if self._bar:
            self._bar[0].stop()
            self._bar = None
