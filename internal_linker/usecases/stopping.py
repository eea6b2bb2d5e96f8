"""Stop work that reports its progress, such as a job that a person cancels."""

from collections.abc import Callable

from internal_linker.core.errors import Interrupted
from internal_linker.core.ports import Progress

Stop = Callable[[], bool]


class Stoppable:
    """A Progress that ends the work, by an exception, when it should stop.

    Args:
        progress: shows the steps.
        should_stop: asked at each step and advance.
        message: the sentence of the exception.
    """

    def __init__(self, progress: Progress, should_stop: Stop, message: str) -> None:
        self._progress, self._should_stop, self._message = progress, should_stop, message
        self.finish, self.warn = progress.finish, progress.warn

    def start(self, step: str, total: int, unit: str) -> None:
        """Begin a step, unless the work should stop.

        Raises:
            Interrupted: it should.
        """
        self.check()
        self._progress.start(step, total, unit)

    def advance(self, count: int = 1) -> None:
        """Count on, unless the work should stop.

        Raises:
            Interrupted: it should.
        """
        self.check()
        self._progress.advance(count)

    def check(self) -> None:
        """Go on, unless the work should stop.

        Raises:
            Interrupted: it should.
        """
        if self._should_stop():
            raise Interrupted(self._message)
