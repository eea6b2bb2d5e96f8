"""Limits on calls to paid services: the budget counts requests in flight, and retries end when they can't help."""

import re
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from internal_linker.adapters.http import limits
from internal_linker.adapters.http.limits import (
    ATTEMPTS,
    DOWN_CALLS,
    DOWN_S,
    PATIENCE_S,
    Budget,
    Circuit,
    Pacer,
    retry_after,
    with_retries,
)
from internal_linker.core.errors import BudgetReached, ServiceDown, ServiceError


def failing(error: ServiceError) -> tuple[list[float], Callable[[], None]]:
    """Return a list of the times of calls, and a call that always raises this error."""
    calls: list[float] = []

    def call() -> None:
        calls.append(time.monotonic())
        raise error

    return calls, call


def test_what_is_under_way_counts_against_the_cap() -> None:
    """While a request is in flight, another that could exceed the cap together with it is not sent."""
    budget = Budget("Serper", 3, "max_serp_credits", "credits")
    with budget.reserve(2) as settle:
        with pytest.raises(BudgetReached, match="max_serp_credits = 3"), budget.reserve(2):
            pass
        settle(1)
    with budget.reserve(2):
        pass
    assert budget.spent == 3


def test_a_request_that_failed_without_a_word_counts_in_full() -> None:
    """A request that timed out counts in full, because the service may have charged it."""
    budget = Budget("Serper", 3, "max_serp_credits", "credits")
    with pytest.raises(TimeoutError), budget.reserve(2):
        raise TimeoutError
    assert budget.spent == 2


@pytest.mark.parametrize(
    ("error", "tries"),
    [
        (ServiceError("Serper", "down", retryable=True), ATTEMPTS),
        (ServiceError("Serper", "no"), 1),
        (ServiceError("Serper", "come back tomorrow", retryable=True, retry_after=PATIENCE_S + 1), 1),
    ],
)
def test_tries_again_only_what_may_pass_in_time(error: ServiceError, tries: int) -> None:
    """A transient failure uses all attempts; a final one, or one that asks for hours, uses one."""
    calls, call = failing(error)
    with pytest.raises(ServiceError):
        with_retries(call)
    assert len(calls) == tries


def called(circuit: Circuit, *ends: ServiceError | None) -> list[str]:
    """Return for each call "" after a success, else the error's message."""
    said = []
    for end in ends:
        try:
            with circuit.closed():
                if end:
                    raise end
            said.append("")
        except ServiceError as error:
            said.append(str(error))
    return said


BROKEN = ServiceError("Serper", "it broke.", retryable=True)


def test_a_service_that_is_down_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "DOWN_S", 0.0)
    circuit = Circuit("Serper")
    assert called(circuit, *[BROKEN] * DOWN_CALLS) == [str(BROKEN)] * DOWN_CALLS
    with ThreadPoolExecutor(4) as pool:
        held = [held for some in pool.map(lambda _: called(circuit, None, BROKEN), range(4)) for held in some]
    began = rf"Serper: it has failed since \d\d:\d\d:\d\d \({DOWN_CALLS} calls in a row\), and this "
    assert all(
        re.fullmatch(began + r"run doesn't call it again\. The last error: it broke\.", one) for one in held
    )
    with pytest.raises(ServiceDown), circuit.closed():
        pytest.fail("the call was made")


@pytest.mark.parametrize("answer", [None, ServiceError("Serper", "the request was refused.")])
def test_an_answer_in_between_shows_that_a_service_is_there(
    answer: ServiceError | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "DOWN_S", 0.0)
    circuit = Circuit("Serper")
    for _ in range(3):
        said = called(circuit, *[BROKEN] * (DOWN_CALLS - 1), answer)
    assert said == [*[str(BROKEN)] * (DOWN_CALLS - 1), str(answer or "")]
    assert called(circuit, None) == [""]


def test_the_breaker_opens_after_the_time_and_the_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only `DOWN_CALLS` failures over `DOWN_S` seconds open the breaker: fewer calls, or less time, don't."""
    now = 1_000.0
    monkeypatch.setattr(limits, "time", SimpleNamespace(monotonic=lambda: now))
    quick, slow, idle = Circuit("quick"), Circuit("slow"), Circuit("idle")
    for circuit, failures in ((quick, 5 * DOWN_CALLS), (slow, DOWN_CALLS - 1), (idle, 1)):
        assert called(circuit, *[BROKEN] * failures) == [str(BROKEN)] * failures
    now += DOWN_S - 0.1
    assert called(quick, BROKEN) == [str(BROKEN)]
    now += 0.1
    # The call that completes the time still reaches the service; the next one does not.
    assert called(quick, BROKEN)[0] == str(BROKEN) and "has failed since" in called(quick, None)[0]
    assert called(slow, BROKEN)[0] == str(BROKEN) and "has failed since" in called(slow, None)[0]
    assert called(idle, *[BROKEN] * (DOWN_CALLS - 2), None)[-1] == ""


def test_what_is_held_back_costs_nothing() -> None:
    budget = Budget("Serper", 3, "max_serp_credits", "credits")
    with pytest.raises(ServiceDown), budget.reserve(2):
        raise ServiceDown("Serper", "down")
    assert budget.spent == 0


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "8", "retry-after-ms": "1500"}, 1.5),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({"retry-after": "Wed, 99 Oct 2015 07:28:00 GMT"}, None),
    ],
)
def test_reads_how_long_to_wait(headers: dict[str, str], seconds: float | None) -> None:
    """Milliseconds, seconds and dates are parsed; an invalid value counts as none."""
    assert retry_after(headers) == seconds


PRICES = st.lists(
    st.tuples(st.floats(0, 3), st.floats(0, 1), st.sampled_from(["settled", "silent", "failed"])), max_size=40
)


@given(st.floats(0, 12), PRICES)
def test_no_order_of_requests_passes_the_cap(cap: float, requests: list[tuple[float, float, str]]) -> None:
    budget = Budget("OpenAI", cap, "max_cost_usd", "US dollars")
    gate = threading.Barrier(4)

    def spend(mine: list[tuple[float, float, str]]) -> float:
        cost = 0.0
        gate.wait(timeout=10)
        for reserved, share, end in mine:
            try:
                with budget.reserve(reserved) as settle:
                    cost += reserved * share if end == "settled" else reserved
                    if end == "settled":
                        settle(reserved * share)
                    elif end == "failed":
                        raise TimeoutError
            except (BudgetReached, TimeoutError):
                continue
        return cost

    with ThreadPoolExecutor(4) as pool:
        costs = sum(pool.map(spend, [requests[at::4] for at in range(4)]))
    assert budget.spent == pytest.approx(costs)
    assert budget.spent <= cap + 1e-6


def test_a_closed_budget_allows_nothing_but_what_is_free() -> None:
    """With a cap of 0, no paid request is sent, but a free one is."""
    budget = Budget("Serper", 0, "max_serp_credits", "credits")
    with pytest.raises(BudgetReached), budget.reserve(1):
        pytest.fail("the request was sent")
    with budget.reserve(0):
        pass
    assert budget.spent == 0


def test_a_refused_request_gives_its_place_back() -> None:
    budget = Budget("Serper", 1, "max_serp_credits", "credits")
    for _ in range(3):
        with budget.reserve(1) as settle:
            settle(0)
    assert budget.spent == 0


def test_a_cap_can_be_spent_to_its_last_cent() -> None:
    budget = Budget("OpenAI", 0.3, "max_cost_usd", "US dollars")
    for _ in range(3):
        with budget.reserve(0.1):
            pass
    assert budget.spent == pytest.approx(0.3)


def test_the_first_success_ends_the_tries() -> None:
    calls: list[int] = []

    def call() -> str:
        calls.append(1)
        if len(calls) == 1:
            raise ServiceError("Serper", "busy", retryable=True, retry_after=0)
        return "answer"

    assert with_retries(call) == "answer"
    assert len(calls) == 2


def test_an_error_of_ours_is_no_passing_failure() -> None:
    calls: list[int] = []

    def call() -> None:
        calls.append(1)
        raise KeyError("x")

    with pytest.raises(KeyError):
        with_retries(call)
    assert len(calls) == 1


class Clock(SimpleNamespace):
    """A clock that only sleeping moves."""

    def __init__(self) -> None:
        super().__init__(now=1_000.0, slept=list[float]())

    def monotonic(self) -> float:
        return float(self.now)

    def sleep(self, seconds: float) -> None:
        self.slept.append(round(seconds, 3))
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(limits, "time", clock)
    return clock


def test_calls_keep_their_distance_and_a_rest_is_not_saved_up(clock: Clock) -> None:
    """At 50 a second each call waits for its own turn; after a pause, calls are spaced again without a burst."""
    pacer = Pacer(50)
    for _ in range(3):
        pacer.wait()
    assert clock.slept == [0.02, 0.02]
    clock.now += 9
    pacer.wait()
    pacer.wait()
    assert clock.slept == [0.02, 0.02, 0.02]


def test_a_stop_ends_the_tries() -> None:
    """A run that stops makes no pause of a minute: the attempt under way is the last one."""
    stop = threading.Event()
    calls = list[int]()

    def call() -> None:
        calls.append(1)
        stop.set()
        raise ServiceError("OpenAI", "slow down", retryable=True, retry_after=60)

    with pytest.raises(ServiceError):
        with_retries(call, stop)
    assert len(calls) == 1


def test_tries_end_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "LONGEST_S", 0.0)
    calls, call = failing(ServiceError("Serper", "slow", retryable=True))
    with pytest.raises(ServiceError):
        with_retries(call)
    assert len(calls) == 1


def test_waits_as_long_as_asked_but_no_longer_than_a_minute() -> None:
    for asked, least in ((None, 0.0), (2.0, 2.0), (150.0, 60.0)):
        outcome = SimpleNamespace(exception=lambda asked=asked: ServiceError("A", "b", retry_after=asked))
        state: Any = SimpleNamespace(outcome=outcome, attempt_number=1)
        assert least <= limits._pause(state) <= least + 0.5


def test_reads_a_date_in_the_future() -> None:
    moment = datetime.now(UTC) + timedelta(days=1)
    assert retry_after({"retry-after": format_datetime(moment, usegmt=True)}) == pytest.approx(86_400, abs=60)
