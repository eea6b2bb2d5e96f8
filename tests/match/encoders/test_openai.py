"""The embeddings client against the stand-in: each text gets its own unit vector, in few requests."""

import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from internal_linker.model.errors import ConfigurationError, CredentialsRefused, ServiceError
from internal_linker.model.records import Text
from tests.standins import OpenAIStandIn, Reply, Twist
from tests.standins.openai import NO_USAGE
from tests.standins.vectors import embed
from tests.support.embedders import (
    FOREIGN,
    MANY,
    OPEN,
    PAGES,
    SMALL,
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


@pytest.mark.parametrize("home", [True, False])
def test_each_text_gets_its_own_unit_vector(stand_in: OpenAIStandIn, home: bool) -> None:
    vectors = collect(encoder_at(stand_in, home=home), PAGES)
    expected = [embed(f"{page.title}\n\n{page.body}", SMALL, 32) for page in PAGES]
    assert np.allclose(vectors, expected, atol=1e-6)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1)
    assert {call.body["encoding_format"] for call in stand_in.ledger} == {"base64" if home else "float"}


def test_packs_more_tokens_than_a_request_takes_into_two(stand_in: OpenAIStandIn) -> None:
    pages = [Text("", " ".join(["word"] * 4999 + [f"{number:03d}"])) for number in range(61)]
    encoder = encoder_at(stand_in, timeout=60.0)
    assert encoder.estimate(pages).tokens / 61 == pytest.approx(5000, abs=2)
    assert len(collect(encoder, pages)) == 61
    assert len(stand_in.ledger) == 2


def test_the_estimate_is_the_bill(stand_in: OpenAIStandIn) -> None:
    budget = money()
    encoder = encoder_at(stand_in, budget=budget)
    texts = [*PAGES, Text("Größe", "قهوه ☕ <|endoftext|> 漢字"), Text("", "word " * 9000)]
    before = encoder.estimate(texts)
    assert not stand_in.ledger
    batches, _ = drain(encoder, texts)
    assert sum(batch.usage.tokens for batch in batches) == before.tokens == stand_in.units
    assert budget.spent == pytest.approx(before.cost_usd) == pytest.approx(stand_in.units * 0.02 / 1e6)
    stand_in.script(NO_USAGE)
    encoder = encoder_at(stand_in)
    batches, _ = drain(encoder, PAGES)
    assert [batch.usage for batch in batches] == [encoder.estimate(PAGES)]


@pytest.mark.long
def test_closing_stops_the_sending(stand_in: OpenAIStandIn) -> None:
    batches = encoder_at(stand_in, model=FOREIGN, in_flight=1).encode(MANY)
    next(batches)
    batches.close()  # type: ignore[attr-defined]
    time.sleep(0.2)
    assert len(stand_in.ledger) <= 2


@pytest.mark.long
def test_requests_are_under_way_while_a_batch_is_written(stand_in: OpenAIStandIn) -> None:
    batches = encoder_at(stand_in, model=FOREIGN, in_flight=1).encode(MANY)
    next(batches)
    deadline = time.monotonic() + 30
    while len(stand_in.ledger) < 2 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert len(stand_in.ledger) == 2
    assert len(list(batches)) == 4


def test_an_empty_text_is_refused_before_anything_is_sent(stand_in: OpenAIStandIn) -> None:
    """An empty text is refused, because the service would reject the whole request for it."""
    with pytest.raises(ValueError, match="text 1 of 2 is empty"):
        list(encoder_at(stand_in).encode([PAGES[0], Text(" ", "\n")]))
    assert not stand_in.ledger


def test_a_foreign_server_is_asked_gently(stand_in: OpenAIStandIn) -> None:
    stand_in.api_key, stand_in.refuse_base64 = "none", True
    budget = money(0)
    encoder = encoder_at(stand_in, model=FOREIGN, api_key="", max_input_tokens=20, budget=budget)
    collect(encoder, PAGES * 10)
    assert [len(call.body["input"]) for call in stand_in.ledger] in ([256, 244], [244, 256])
    assert all(len(text.encode()) <= 20 for call in stand_in.ledger for text in call.body["input"])
    assert (encoder.name, encoder.dimensions, budget.spent) == (f"openai/{FOREIGN}", 0, 0)


def test_asks_for_shorter_vectors_only_where_they_are_wanted(stand_in: OpenAIStandIn) -> None:
    assert collect(encoder_at(stand_in, dimensions=16), PAGES[:2]).shape == (2, 16)
    collect(encoder_at(stand_in), PAGES[:2])
    assert [call.body.get("dimensions") for call in stand_in.ledger] == [16, None]
    stand_in.script(Twist(lambda body: {**body, "data": [{"index": 0, "embedding": [1.0] * 32}]}))
    _, error = drain(encoder_at(stand_in, dimensions=16), PAGES[:1])
    assert error is not None and not error.retryable and "embedding_dimensions = 0" in str(error)
    plain, asked = encoder_at(stand_in), encoder_at(stand_in, dimensions=1536)
    shorter = encoder_at(stand_in, max_input_tokens=512)
    assert (plain.dimensions, plain.recipe) == (asked.dimensions, asked.recipe) == (1536, plain.recipe)
    assert plain.recipe != shorter.recipe
    assert encoder_at(stand_in, max_input_tokens=9000).recipe == plain.recipe


@pytest.mark.parametrize(
    ("model", "home", "price"),
    [("text-embedding-3-large", False, 0.13), ("brand-new", True, 0.13), ("bge", False, 0)],
)
def test_prices_err_on_the_dear_side(stand_in: OpenAIStandIn, model: str, home: bool, price: float) -> None:
    usage = encoder_at(stand_in, model=model, home=home).estimate(PAGES)
    assert usage.cost_usd == pytest.approx(usage.tokens * price / 1e6)


@pytest.mark.parametrize(
    ("host", "free"),
    [
        *(
            (host, True)
            for host in ("localhost", "ollama", "gpu.local", "192.168.1.5", "[::1]", "100.64.0.1")
        ),
        *((host, False) for host in ("api.together.xyz", "8.8.8.8", "openai.com.evil.example")),
    ],
)
def test_a_cap_needs_a_price(stand_in: OpenAIStandIn, host: str, free: bool) -> None:
    """A server outside the user's own network needs a price, as max_cost_usd could not limit its cost otherwise."""
    where: dict[str, Any] = {"model": "bge", "base_url": f"https://{host}/v1"}
    if free:
        assert encoder_at(stand_in, **where).estimate(PAGES).cost_usd == 0
        return
    with pytest.raises(
        ConfigurationError, match="Set embedding_price to its US dollars per million tokens, or"
    ):
        encoder_at(stand_in, **where)
    usage = encoder_at(stand_in, **where, price_per_million=0.2).estimate(PAGES)
    assert usage.cost_usd == pytest.approx(usage.tokens * 0.2 / 1e6)
    assert encoder_at(stand_in, **where, price_per_million=0.0).estimate(PAGES).cost_usd == 0


def test_the_environment_decides_nothing(stand_in: OpenAIStandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-other")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-other")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-other")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "Authorization: Bearer sk-other")
    collect(encoder_at(stand_in), PAGES[:2])
    assert not {"openai-organization", "openai-project"} & set(stand_in.ledger[0].headers)


def test_check_is_free_and_says_what_it_proved(stand_in: OpenAIStandIn) -> None:
    assert "accepts the key" in encoder_at(stand_in, home=True).check()
    assert "not in its list" in encoder_at(stand_in, model="bge").check()
    with pytest.raises(CredentialsRefused):
        encoder_at(stand_in, api_key="sk-test-wrong").check()
    with pytest.raises(ServiceError, match="no model ada"):
        encoder_at(stand_in, model="ada", home=True).check()
    stand_in.script(Reply(404, html="<h1>Not found</h1>"), on="GET")
    assert "not checked" in encoder_at(stand_in).check()
    stand_in.script(Reply(403, {"error": {"message": "Missing scopes: api.model.read"}}), on="GET")
    assert "may not list models" in encoder_at(stand_in).check()
    assert stand_in.units == 0


@pytest.mark.parametrize(
    ("key", "home"), [("", True), ("two words", False), ("sk-ключ", True), ("a\nb", True)]
)
def test_refuses_what_can_be_no_key(stand_in: OpenAIStandIn, key: str, home: bool) -> None:
    with pytest.raises(ConfigurationError) as caught:
        encoder_at(stand_in, api_key=key, home=home)
    assert "openai_api_key.txt" in str(caught.value)
    assert not key or key not in str(caught.value)


def test_importing_the_client_is_cheap() -> None:
    """The openai library is imported with the first request, so that other commands start quickly."""
    code = "import sys, internal_linker.match.encoders.openai; sys.exit('openai' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
