"""The chat client returns the model's text, each failure has a remedy, and no request exceeds the cap."""

import traceback
from collections import deque
from collections.abc import Iterator
from typing import Any

import pytest

from internal_linker.model.errors import (
    BudgetReached,
    ConfigurationError,
    CredentialsRefused,
    OutOfCredits,
    ServiceError,
)
from internal_linker.sources.http.limits import Budget
from internal_linker.sources.openai.chat import MOST_ANSWER_TOKENS, OpenAIChat
from tests.standins import OpenAIStandIn, Reply, Reset, Twist
from tests.standins.openai import CHAT

MODEL, DATA = "gpt-4.1-mini", "[]"
OPEN: list[OpenAIChat] = []


@pytest.fixture
def stand_in() -> Iterator[OpenAIStandIn]:
    with OpenAIStandIn(dimensions=32) as server:
        server.says = lambda prompt: f"about {prompt}"
        yield server
    while OPEN:
        OPEN.pop().close()


def chat_at(
    stand_in: OpenAIStandIn, *, home: bool = False, cap: float = 100_000, **changes: Any
) -> OpenAIChat:
    """Return a client of the stand-in; with `home` it behaves as at OpenAI's own address."""
    fixed: dict[str, Any] = {
        "api_key": stand_in.api_key,
        "model": MODEL,
        "base_url": "https://api.openai.com/v1" if home else f"{stand_in.url}/v1",
        "budget": Budget("Anchors", cap, "max_anchor_tokens", "tokens"),
        "timeout": 5.0,
    }
    OPEN.append(OpenAIChat(**{**fixed, **changes}))
    # The client looks at its address before the first request only.
    OPEN[-1]._server.base_url = f"{stand_in.url}/v1"
    return OPEN[-1]


def failure(chat: OpenAIChat) -> ServiceError:
    """Return the error of a call that must fail, after a check that it doesn't show the key."""
    with pytest.raises(ServiceError) as caught:
        chat.complete("task", DATA)
    assert "sk-test" not in "".join(traceback.format_exception(caught.value))
    return caught.value


@pytest.mark.parametrize("home", [True, False])
def test_task_and_data_are_two_messages(stand_in: OpenAIStandIn, home: bool) -> None:
    chat = chat_at(stand_in, home=home)
    answer = chat.complete("task", "data \ud800")
    (call,) = stand_in.calls(CHAT)
    assert (answer.text, answer.tokens) == ("about data ?", stand_in.units)
    assert [(one["role"], one["content"]) for one in call.body["messages"]] == [
        ("system", "task"),
        ("user", "data ?"),
    ]
    assert call.body["max_completion_tokens" if home else "max_tokens"] == MOST_ANSWER_TOKENS
    assert chat.model == (MODEL if home else f"{MODEL}@127.0.0.1")


def test_a_passing_fault_is_tried_again(stand_in: OpenAIStandIn) -> None:
    """Of the faults that all uses of a server share, one is tried; the others are tried with embeddings."""
    for fault in (
        Twist(lambda body: {**body, "choices": []}),
        Twist(lambda body: {**body, "choices": [{}]}),
        Reset(after_work=True),
    ):
        budget = Budget("Anchors", 100_000, "max_anchor_tokens", "tokens")
        paid = stand_in.units
        stand_in.script(fault, on=CHAT)
        assert chat_at(stand_in, budget=budget).complete("task", DATA).text == "about []"
        assert stand_in.script_left == 0 and stand_in.units - paid <= budget.spent


@pytest.mark.parametrize(
    ("reply", "kind", "remedy"),
    [
        (
            Reply(401, {"error": {"message": "sk-test is wrong"}}),
            CredentialsRefused,
            "config/openai_api_key.txt",
        ),
        (
            Reply(404, {"error": {"message": "no such model"}}),
            ServiceError,
            "Check anchor_model and anchor_base_url",
        ),
        (Reply(400, {"error": {"message": "no"}}), ServiceError, "Check anchor_model and anchor_base_url"),
        (
            Reply(429, {"error": {"code": "insufficient_quota"}}),
            OutOfCredits,
            "Add some at platform.openai.com",
        ),
    ],
)
def test_a_refusal_is_final_free_and_names_a_remedy(
    stand_in: OpenAIStandIn, reply: Reply, kind: type[ServiceError], remedy: str
) -> None:
    budget = Budget("Anchors", 100_000, "max_anchor_tokens", "tokens")
    stand_in.script(reply, on=CHAT)
    error = failure(chat_at(stand_in, budget=budget))
    assert type(error) is kind or isinstance(error, kind)
    assert remedy in str(error) and "embedding" not in str(error)
    assert len(stand_in.ledger) == 1 and budget.spent == 0


def test_no_request_passes_the_cap(stand_in: OpenAIStandIn) -> None:
    chat = chat_at(stand_in, cap=2 * MOST_ANSWER_TOKENS)
    with pytest.raises(BudgetReached, match="max_anchor_tokens = 4000 tokens is reached"):
        deque(chat.complete("task " * 100, DATA) for _ in range(100))
    assert 0 < stand_in.units <= 2 * MOST_ANSWER_TOKENS


def test_an_answer_without_a_word_on_usage_counts_in_full(stand_in: OpenAIStandIn) -> None:
    chat = chat_at(stand_in, cap=2 * MOST_ANSWER_TOKENS)
    stand_in.script(Twist(lambda body: {**body, "usage": None}), on=CHAT)
    assert chat.complete("task", DATA).tokens > MOST_ANSWER_TOKENS
    assert isinstance(failure(chat), BudgetReached)


def test_a_model_that_declines_says_nothing(stand_in: OpenAIStandIn) -> None:
    """An answer without content is returned as empty and paid for, because a retry would not help."""
    stand_in.script(Twist(lambda body: {**body, "choices": [{"message": {"content": None}}]}), on=CHAT)
    assert chat_at(stand_in).complete("task", DATA).text == ""
    assert len(stand_in.ledger) == 1


def test_openai_needs_a_key_and_another_server_none(stand_in: OpenAIStandIn) -> None:
    """Without a key nothing is sent to OpenAI, and the error names the key's file; another server needs no key."""
    with pytest.raises(ConfigurationError, match="config/openai_api_key.txt must contain"):
        chat_at(stand_in, home=True, api_key="")
    chat_at(stand_in, api_key="")
