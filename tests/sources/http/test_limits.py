"""Limits on calls to paid services: the budget counts requests in flight, and retries end when they can't help."""

import re
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from internal_linker.model.errors import BudgetReached, ServiceDown, ServiceError
from internal_linker.sources.http import limits
from internal_linker.sources.http.limits import (
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


def credits(cap: float) -> Budget:
    return Budget("Serper", cap, "max_serp_credits", "credits")


def test_what_is_under_way_counts_against_the_cap() -> None:
    """While a request is in flight, another that could exceed the cap together with it is not sent."""
    budget = credits(3)
    with budget.reserve(2) as settle:
        with pytest.raises(BudgetReached, match="max_serp_credits = 3"), budget.reserve(2):
            pass
        settle(1)
    with budget.reserve(2):
        pass
    assert budget.spent == 3


def test_what_a_request_counts() -> None:
    """A request that timed out may have been charged; one that was not sent, or refused, costs nothing."""
    for error, spent in ((TimeoutError(), 2), (ServiceDown("Serper", "down"), 0)):
        budget = credits(3)
        with pytest.raises(type(error)), budget.reserve(2):
            raise error
        assert budget.spent == spent
    budget = credits(1)
    for _ in range(3):
        with budget.reserve(1) as settle:
            settle(0)
    assert budget.spent == 0
    closed = credits(0)
    with pytest.raises(BudgetReached), closed.reserve(1):
        pytest.fail("the request was sent")
    with closed.reserve(0):
        pass
    to_the_last_cent = credits(0.3)
    for _ in range(3):
        with to_the_last_cent.reserve(0.1):
            pass
    assert to_the_last_cent.spent == pytest.approx(0.3)


@pytest.mark.parametrize(
    ("error", "tries"),
    [
        (ServiceError("Serper", "down", retryable=True), ATTEMPTS),
        (ServiceError("Serper", "no"), 1),
        (ServiceError("Serper", "come back tomorrow", retryable=True, retry_after=PATIENCE_S + 1), 1),
        (KeyError("an error of ours"), 1),
    ],
)
def test_tries_again_only_what_may_pass_in_time(error: Exception, tries: int) -> None:
    assert tried(error) == tries


def tried(error: Exception, *, stopped: bool = False, passes: bool = False) -> int:
    """Return how often a call is made that fails, or passes at the second time."""
    calls, stop = list[int](), threading.Event()

    def call() -> str:
        calls.append(1)
        if stopped:
            stop.set()
        if passes and len(calls) == 2:
            return "answer"
        raise error

    if passes:
        assert with_retries(call, stop) == "answer"
    else:
        with pytest.raises(type(error)):
            with_retries(call, stop)
    return len(calls)


def test_a_success_a_stop_and_the_time_end_the_tries(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that stops makes no pause of a minute: the attempt under way is the last one."""
    assert tried(ServiceError("Serper", "busy", retryable=True, retry_after=0), passes=True) == 2
    assert tried(ServiceError("OpenAI", "slow down", retryable=True, retry_after=60), stopped=True) == 1
    monkeypatch.setattr(limits, "LONGEST_S", 0.0)
    assert tried(ServiceError("Serper", "slow", retryable=True)) == 1


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


def test_waits_as_long_as_asked_but_no_longer_than_a_minute() -> None:
    for asked, least in ((None, 0.0), (2.0, 2.0), (150.0, 60.0)):
        outcome = SimpleNamespace(exception=lambda asked=asked: ServiceError("A", "b", retry_after=asked))
        state: Any = SimpleNamespace(outcome=outcome, attempt_number=1)
        assert least <= limits._pause(state) <= least + 0.5
    moment = datetime.now(UTC) + timedelta(days=1)
    assert retry_after({"retry-after": format_datetime(moment, usegmt=True)}) == pytest.approx(86_400, abs=60)
