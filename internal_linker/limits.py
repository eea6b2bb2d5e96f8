"""What bounds calls to a paid service: a budget, a pace, and a number of tries; safe between threads."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TypeVar

from tenacity import (
    RetryCallState,
    Retrying,
    retry_if_exception,
    sleep_using_event,
    stop_after_attempt,
    stop_when_event_set,
    wait_random_exponential,
)

from internal_linker.errors import BudgetReached, ServiceError

T = TypeVar("T")

# Four tries outlast a rate limit that names its wait; more would keep a weekly run waiting on a dead service.
ATTEMPTS = 4
# One pause at the most: rate limits are counted by the minute.
LONGEST_WAIT_S = 60.0
# A service may ask for hours (a daily quota): our pauses together outlast no more than this, so we give up.
PATIENCE_S = LONGEST_WAIT_S * (ATTEMPTS - 1)


class Budget:
    """A cap on what a run may spend, checked before a request is sent, with requests in flight counted.

    Args:
        service: the service's name for the error.
        cap: the most that may be spent, in `unit`; 0 allows nothing.
        setting: the setting that holds the cap, named in the error.
        unit: "credits" or "US dollars".
    """

    def __init__(self, service: str, cap: float, setting: str, unit: str) -> None:
        self.service, self.cap, self.setting, self.unit = service, cap, setting, unit
        self.spent = 0.0
        self._reserved = 0.0
        self._lock = threading.Lock()

    @contextmanager
    def reserve(self, amount: float) -> Iterator[Callable[[float], None]]:
        """Hold `amount` while a request is out; call the yielded function with what it really cost.

        A request that ends without a word on its cost (a time-out, a broken answer) counts as
        spent in full: the service may have charged it. Call it with 0 for a refusal.

        Raises:
            BudgetReached: the cap would be passed; nothing was reserved.
        """
        with self._lock:
            # Sums of prices carry rounding errors far below a billionth of a dollar.
            if self.spent + self._reserved + amount > self.cap + 1e-9:
                raise BudgetReached(
                    self.service,
                    f"the cap {self.setting} = {self.cap:g} {self.unit} is reached "
                    f"({self.spent:g} spent by this run). Raise it in config/settings.toml to go on.",
                )
            self._reserved += amount
        actual = amount

        def settle(cost: float) -> None:
            nonlocal actual
            actual = cost

        try:
            yield settle
        finally:
            with self._lock:
                self._reserved -= amount
                self.spent += actual


class Pacer:
    """Spaces calls evenly, so that a rate limit is met rather than tested.

    Args:
        per_second: calls a second over all threads.
    """

    def __init__(self, per_second: float) -> None:
        self._gap = 1.0 / per_second
        self._next = 0.0
        self._lock = threading.Lock()

    def wait(self) -> None:
        """Return when the next call may go out."""
        with self._lock:
            now = time.monotonic()
            turn = max(now, self._next)
            self._next = turn + self._gap
        if turn > now:
            time.sleep(turn - now)


def with_retries(call: Callable[[], T], stop: threading.Event | None = None) -> T:
    """Run `call`, again after a pause while it fails with a retryable ServiceError, `ATTEMPTS` times at most.

    Args:
        call: one attempt.
        stop: once set, no pause is begun any more, and a pause under way ends in one last attempt.
    """
    stop = stop or threading.Event()
    return Retrying(
        retry=retry_if_exception(_may_pass),
        wait=_pause,
        sleep=sleep_using_event(stop),
        stop=stop_after_attempt(ATTEMPTS) | stop_when_event_set(stop),
        reraise=True,
    )(call)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that an answer's headers ask us to wait; None where they say nothing that can be understood.

    Args:
        headers: looked up as `retry-after-ms` and `retry-after` (seconds or an HTTP date).
    """
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        with suppress(KeyError, ValueError):
            seconds = float(headers[name]) * unit
            if 0.0 <= seconds < float("inf"):
                return seconds
    with suppress(KeyError, ValueError, TypeError):
        moment = parsedate_to_datetime(headers["retry-after"])
        return max(0.0, (moment.replace(tzinfo=moment.tzinfo or UTC) - datetime.now(UTC)).total_seconds())
    return None


def _may_pass(error: BaseException) -> bool:
    return isinstance(error, ServiceError) and error.retryable and (error.retry_after or 0.0) <= PATIENCE_S


_backoff = wait_random_exponential(multiplier=0.5, max=LONGEST_WAIT_S / 4)


def _pause(state: RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome else None
    asked = error.retry_after if isinstance(error, ServiceError) else None
    # The random part keeps several threads from coming back at the same moment.
    return min(asked or 0.0, LONGEST_WAIT_S) + _backoff(state)
