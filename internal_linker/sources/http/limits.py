"""Limits for calls to paid services: budget, rate limiter, retries and circuit breaker, all thread-safe."""

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

from internal_linker.model.errors import BudgetReached, ServiceDown, ServiceError

T = TypeVar("T")

# Twelve attempts take most of a minute. If half of the calls fail, one call in 4,000 fails for good; if three in ten
# do, one in two million.
ATTEMPTS = 12
# Somebody is waiting for the result of `check`.
FEW_ATTEMPTS = 4
# Seconds after the first attempt when the last one may begin.
LONGEST_S = 600.0
# Seconds of the longest pause: services count rate limits by the minute.
LONGEST_WAIT_S = 60.0
# A service may ask for hours (a daily quota). If it asks for more seconds than this, the call fails at once.
PATIENCE_S = 180.0
# With these statuses a service did no work; with another 5xx it may have done and charged the work.
NOT_SERVED = frozenset({500, 503})
# A service is down once this many calls in a row failed over this many seconds.
DOWN_S, DOWN_CALLS = 60.0, 10


class Budget:
    """A cap on what a run may spend, checked before each request and including requests in flight.

    Args:
        cap: the most that may be spent, in `unit`, "credits" or "US dollars"; 0 allows nothing.
        setting: the setting with the cap, for the error.
    """

    def __init__(self, service: str, cap: float, setting: str, unit: str) -> None:
        self.service, self.cap, self.setting, self.unit = service, cap, setting, unit
        self.spent = 0.0
        self._reserved = 0.0
        self._lock = threading.Lock()

    @contextmanager
    def reserve(self, amount: float) -> Iterator[Callable[[float], None]]:
        """Reserve `amount` while a request is in flight; call the yielded function with the real cost, 0 for a refusal.

        A request that ends without a known cost (a timeout, a broken answer) counts as spent in full, because the
        service may have charged it. A call that `Circuit` blocks costs nothing.

        Raises:
            BudgetReached: the request would exceed the cap; nothing was reserved.
        """
        with self._lock:
            # Sums of prices carry rounding errors far below a billionth of a dollar.
            if self.spent + self._reserved + amount > self.cap + 1e-9:
                raise BudgetReached(
                    self.service,
                    f"the limit {self.setting} = {self.cap:g} {self.unit} is reached "
                    f"(this run spent {self.spent:g}). To continue, raise it in config/settings.toml.",
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
    """A rate limiter that spaces the calls of all threads evenly."""

    def __init__(self, per_second: float) -> None:
        self._gap = 1.0 / per_second
        self._next = 0.0
        self._lock = threading.Lock()

    def wait(self) -> None:
        """Wait until the next call may be sent."""
        with self._lock:
            now = time.monotonic()
            turn = max(now, self._next)
            self._next = turn + self._gap
        if turn > now:
            time.sleep(turn - now)


class Circuit:
    """A circuit breaker: blocks calls once at least `DOWN_CALLS` in a row failed, over at least `DOWN_S` seconds."""

    def __init__(self, service: str) -> None:
        self._service = service
        self._lock = threading.Lock()
        self._failures, self._began, self._since = 0, 0.0, ""
        self._problem = ""

    @contextmanager
    def closed(self) -> Iterator[None]:
        """Guard one call of the service, and count its failure or success.

        Raises:
            ServiceDown: the service is down; the message says since when, and quotes its last answer. The call was
                not made.
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
                    f"it has failed since {self._since} ({self._failures} calls in a row), and this run "
                    f"doesn't call it again. The last error: {last}"
                )


def with_retries(
    call: Callable[[], T], stop: threading.Event | None = None, attempts: int | None = None
) -> T:
    """Run `call`, and repeat it after a pause while it fails with a retryable ServiceError, at most `attempts` times.

    `stop` ends retries: no new pause begins, and a current pause ends with one last attempt.
    """
    stop = stop or threading.Event()
    return Retrying(
        retry=retry_if_exception(_is_transient),
        wait=_pause,
        sleep=sleep_using_event(stop),
        stop=stop_after_attempt(attempts or ATTEMPTS)
        | stop_after_delay(LONGEST_S)
        | stop_when_event_set(stop),
        reraise=True,
    )(call)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that `retry-after-ms` or `retry-after` (seconds or an HTTP date) ask us to wait, or None."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        with suppress(KeyError, ValueError):
            seconds = float(headers[name]) * unit
            if 0.0 <= seconds < float("inf"):
                return seconds
    # parsedate_to_datetime accepts the year 10^20, which a datetime can't represent.
    with suppress(KeyError, ValueError, TypeError, OverflowError):
        moment = parsedate_to_datetime(headers["retry-after"])
        return max(0.0, (moment.replace(tzinfo=moment.tzinfo or UTC) - datetime.now(UTC)).total_seconds())
    return None


def _is_transient(error: BaseException) -> bool:
    return isinstance(error, ServiceError) and error.retryable and (error.retry_after or 0.0) <= PATIENCE_S


_backoff = wait_random_exponential(multiplier=0.5, max=LONGEST_WAIT_S / 4)


def _pause(state: RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome else None
    asked = error.retry_after if isinstance(error, ServiceError) else None
    # The random part keeps several threads from retrying at the same moment.
    return min(asked or 0.0, LONGEST_WAIT_S) + _backoff(state)
