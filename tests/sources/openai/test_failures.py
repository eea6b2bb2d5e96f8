"""Failures of the embeddings service: nothing is paid twice, nothing is lost, and the error has a remedy."""

from collections.abc import Iterator

import pytest

from internal_linker.model.errors import CredentialsRefused, OutOfCredits
from internal_linker.sources.http.limits import ATTEMPTS
from tests.standins import CutOff, Fault, OpenAIStandIn, Reply, Reset, Stall, Twist
from tests.standins.openai import NAN_VECTOR, NO_DATA, ONE_MISSING, SAME_INDEX
from tests.standins.vectors import count_tokens
from tests.support.embedders import (
    FOREIGN,
    MANY,
    OPEN,
    PAGES,
    collect,
    drain,
    encoder_at,
    money,
    start_stand_in,
)


@pytest.fixture(autouse=True)
def close_clients() -> Iterator[None]:
    yield
    while OPEN:
        OPEN.pop().close()


@pytest.fixture
def stand_in() -> Iterator[OpenAIStandIn]:
    with start_stand_in() as server:
        yield server


def limited(message: str) -> Reply:
    return Reply(429, {"error": {"message": message, "code": "rate_limit_exceeded"}})


PASSING: dict[str, Fault] = {
    "no data": NO_DATA,
    "one missing": ONE_MISSING,
    "same index": SAME_INDEX,
    "not finite": NAN_VECTOR,
    "zero": Twist(
        lambda body: {**body, "data": [{**item, "embedding": [0.0] * 32} for item in body["data"]]}
    ),
    "html": Reply(200, html="<html>Sign in</html>"),
    "no object": Reply(200, [1]),
    "strings": Twist(lambda body: {**body, "data": ["a"] * len(body["data"])}),
    "cut": CutOff(),
    "cut json": CutOff(honest=True),
    "reset": Reset(),
    "fault": Reply(500, {"error": {"message": "The server had an error"}}),
    "gateway": Reply(502, html="<h1>Bad gateway</h1>"),
    "rate": limited("Rate limit reached"),
    "silence": Stall(1.0, after_work=True),
}


def test_a_passing_fault_is_tried_again(stand_in: OpenAIStandIn) -> None:
    for name, fault in PASSING.items():
        budget, paid = money(), stand_in.units
        encoder = encoder_at(stand_in, home=True, budget=budget, timeout=0.3)
        stand_in.script(fault)
        assert len(collect(encoder, PAGES[:3])) == 3 and stand_in.script_left == 0, name
        assert (stand_in.units - paid) * 0.02 / 1e6 <= budget.spent + 1e-12, name
        assert budget.spent <= 2 * encoder.estimate(PAGES[:3]).cost_usd + 1e-12, name


def test_a_refusal_costs_nothing(stand_in: OpenAIStandIn) -> None:
    budget = money()
    _, key = drain(encoder_at(stand_in, api_key="sk-test-wrong", home=True, budget=budget), PAGES)
    _, model = drain(encoder_at(stand_in, model="text-embedding-9", budget=budget), PAGES)
    assert isinstance(key, CredentialsRefused) and "config/openai_api_key.txt" in str(key)
    assert model is not None and not model.retryable and "text-embedding-9" in str(model)
    assert budget.spent == 0
    assert len(stand_in.ledger) == 2


@pytest.mark.parametrize("in_flight", [1, 4])
def test_what_was_finished_before_the_money_ran_out_is_kept(stand_in: OpenAIStandIn, in_flight: int) -> None:
    """An empty account stops the requests; finished batches are yielded first, then the error says why."""
    each = sum(count_tokens(f"{text.title}\n\n{text.body}") for text in MANY[:256])
    stand_in.quota_tokens = int(2.5 * each)
    batches, error = drain(encoder_at(stand_in, model=FOREIGN, in_flight=in_flight), MANY)
    assert isinstance(error, OutOfCredits)
    assert "Billing" in str(error)
    assert len(batches) == 2
    assert sum(batch.usage.tokens for batch in batches) == stand_in.units
    assert len(stand_in.ledger) <= 2 + in_flight


@pytest.mark.parametrize(
    ("answers", "retryable", "remedy"),
    [
        ([Reply(500)] * ATTEMPTS, True, "Try again later"),
        (
            [Reply(400, {"message": "This model's maximum context length is 512 tokens", "code": 400})],
            False,
            "Lower max_input_tokens",
        ),
    ],
)
def test_what_was_finished_before_a_failure_is_kept(
    stand_in: OpenAIStandIn, answers: list[Reply], retryable: bool, remedy: str
) -> None:
    stand_in.script(Fault(), *answers)
    batches, error = drain(encoder_at(stand_in, model=FOREIGN, in_flight=1), MANY)
    assert error is not None and error.retryable is retryable and remedy in str(error)
    assert [list(batch.positions) for batch in batches] == [list(range(256))]
    assert len(stand_in.ledger) == 1 + len(answers)


def test_a_request_that_is_too_large_for_the_account_is_halved(stand_in: OpenAIStandIn) -> None:
    stand_in.script(limited("Request too large for text-embedding-3-small: Limit 40000"), Reply(413))
    assert len(collect(encoder_at(stand_in), PAGES)) == len(PAGES)
    assert max(len(call.body["input"]) for call in stand_in.ledger if call.status == 200) <= 25


def test_a_rate_limit_that_lasts_is_met_one_by_one(stand_in: OpenAIStandIn) -> None:
    """The bill is what the server counted."""
    stand_in.script(*[limited("Rate limit reached")] * 7)
    budget = money()
    encoder = encoder_at(stand_in, model=FOREIGN, in_flight=2, price_per_million=1.0, budget=budget)
    batches, error = drain(encoder, MANY)
    assert error is None and sorted(at for batch in batches for at in batch.positions) == [*range(len(MANY))]
    assert budget.spent == pytest.approx(stand_in.units / 1e6)
    assert sum(batch.usage.cost_usd for batch in batches) == pytest.approx(budget.spent)


def test_a_server_that_is_not_there_costs_nothing(stand_in: OpenAIStandIn) -> None:
    budget = money()
    encoder = encoder_at(stand_in, budget=budget)
    stand_in.stop()
    _, error = drain(encoder, PAGES[:1])
    assert error is not None and error.retryable and "running" in str(error) and budget.spent == 0


def test_what_may_have_been_charged_counts(stand_in: OpenAIStandIn) -> None:
    """A 503 from the service is free; after any other failure the request counts as paid."""
    for fault, paid in ((Reply(503), 1), (Reply(502), 2), (Reset(), 2), (CutOff(honest=True), 2)):
        budget = money()
        encoder = encoder_at(stand_in, budget=budget)
        stand_in.script(fault)
        collect(encoder, PAGES)
        assert budget.spent == pytest.approx(paid * encoder.estimate(PAGES).cost_usd), fault


def test_a_final_failure_waits_for_nobodys_pause(stand_in: OpenAIStandIn) -> None:
    empty = {"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}
    stand_in.script(Reply(429, headers={"Retry-After": "30"}), Reply(429, empty))
    _, error = drain(encoder_at(stand_in, model=FOREIGN, in_flight=2), MANY)
    assert isinstance(error, OutOfCredits)
    assert len(stand_in.ledger) == 2
