"""What bounds calls to a paid service: a budget, a pace, a number of tries, a circuit; safe between threads."""

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
    stop_after_delay,
    stop_when_event_set,
    wait_random_exponential,
)

from internal_linker.core.errors import BudgetReached, ServiceDown, ServiceError

T = TypeVar("T")

# Twelve tries take most of a minute. Where every other call fails, one in 4,000 is given up; where three of ten
# do, one in two million.
ATTEMPTS = 12
# Somebody who waits for the answer of `check` wants to hear soon that there is none.
FEW_ATTEMPTS = 4
# No try is begun later than this after the first one.
LONGEST_S = 600.0
# One pause at the most: rate limits are counted by the minute.
LONGEST_WAIT_S = 60.0
# A service may ask for hours (a daily quota): for more than this we don't wait at all.
PATIENCE_S = 180.0
# A service is down that did nothing but fail for so long, and so often.
DOWN_S, DOWN_CALLS = 60.0, 10


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
        spent in full: the service may have charged it. Call it with 0 for a refusal. What `Circuit`
        held back costs nothing.

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
        except ServiceDown:
            actual = 0.0
            raise
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


class Circuit:
    """Holds calls back once a service is down: `DOWN_CALLS` calls in a row or more failed, over `DOWN_S` seconds.

    Args:
        service: the service's name for the error.
    """

    def __init__(self, service: str) -> None:
        self._service = service
        self._lock = threading.Lock()
        self._failures, self._began, self._since = 0, 0.0, ""
        self._problem = ""

    @contextmanager
    def closed(self) -> Iterator[None]:
        """One call of the service.

        Raises:
            ServiceDown: the service is down, since when, and what it said last; the call was not made.
        """
        if self._problem:
            raise ServiceDown(self._service, self._problem)
        try:
            yield
        except ServiceError as error:
            self._count(error)
            raise
        with self._lock:
            self._failures = 0

    def _count(self, error: ServiceError) -> None:
        """A refusal is an answer: only what may pass is counted."""
        now = time.monotonic()
        with self._lock:
            if not error.retryable:
                self._failures = 0
                return
            if not self._failures:
                self._began, self._since = now, f"{datetime.now(UTC).astimezone():%H:%M:%S}"
            self._failures += 1
            if self._failures >= DOWN_CALLS and now - self._began >= DOWN_S:
                last = str(error).removeprefix(f"{self._service}: ")
                self._problem = (
                    f"it has been down since {self._since} ({self._failures} calls in a row failed), and is not "
                    f"asked again by this run. The last answer: {last}"
                )


def with_retries(
    call: Callable[[], T], stop: threading.Event | None = None, attempts: int | None = None
) -> T:
    """Run `call`, again after a pause while it fails with a retryable ServiceError.

    Args:
        call: one attempt.
        stop: once set, no pause is begun any more, and a pause under way ends in one last attempt.
        attempts: at the most; `ATTEMPTS` if not given.
    """
    stop = stop or threading.Event()
    return Retrying(
        retry=retry_if_exception(_may_pass),
        wait=_pause,
        sleep=sleep_using_event(stop),
        stop=stop_after_attempt(attempts or ATTEMPTS)
        | stop_after_delay(LONGEST_S)
        | stop_when_event_set(stop),
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
    # A date of the year 10^20 is no date.
    with suppress(KeyError, ValueError, TypeError, OverflowError):
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
