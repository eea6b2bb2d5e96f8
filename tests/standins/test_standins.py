"""The stand-ins behave like the services they replace, as the real client libraries see it."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest

from tests.standins import (
    CutOff,
    Drip,
    Fault,
    OpenAIStandIn,
    Reply,
    Reset,
    SerperStandIn,
    answers_from_jsonl,
)
from tests.standins.openai import NAN_VECTOR, NO_DATA, NO_USAGE, ONE_MISSING, SAME_INDEX

URLS = [f"https://shop.com/mag/page-{number}" for number in range(1, 24)]
SMALL = "text-embedding-3-small"
HTTP = httpx.Client(timeout=1.5)


@pytest.fixture(scope="session", autouse=True)
def close_http() -> Iterator[None]:
    with HTTP:
        yield


@pytest.fixture
def serper() -> Iterator[SerperStandIn]:
    with SerperStandIn(lambda words, site: URLS if words == "red shoes" and site else []) as stand_in:
        yield stand_in


@pytest.fixture
def embedder() -> Iterator[OpenAIStandIn]:
    with OpenAIStandIn(dimensions=256) as stand_in:
        yield stand_in


def search(serper: SerperStandIn, body: Any, key: str = "test-serper-key") -> httpx.Response:
    return HTTP.post(f"{serper.url}/search", json=body, headers={"X-API-KEY": key})


def ask(page: int = 1) -> dict[str, Any]:
    return {"q": "site:shop.com/mag red shoes", "gl": "us", "page": page}


def client(embedder: OpenAIStandIn, key: str | None = None) -> openai.OpenAI:
    made = openai.OpenAI(api_key=key or embedder.api_key, base_url=f"{embedder.url}/v1", max_retries=0)
    return embedder.closing.enter_context(made)


@pytest.mark.parametrize(
    ("fault", "error", "credits"),
    [
        (Reset(), httpx.NetworkError, 0),
        (Reset(after_work=True), httpx.NetworkError, 1),
        (CutOff(), httpx.RemoteProtocolError, 1),
    ],
)
def test_a_scripted_fault_is_played_once(
    serper: SerperStandIn, fault: Fault, error: type[Exception], credits: int
) -> None:
    serper.script(fault)
    with pytest.raises(error):
        search(serper, ask())
    assert 2500 - serper.balance == credits
    assert search(serper, ask()).status_code == 200
    assert serper.script_left == 0


def test_cut_json_slow_drip_and_html_arrive_as_such(serper: SerperStandIn) -> None:
    """Broken JSON comes with a 200, a drip arrives whole, and an HTML error page is not JSON."""
    page = Reply(502, html="<h1>Bad gateway</h1>", headers={"Retry-After": "7"})
    serper.script(CutOff(honest=True), Drip(0.2), page)
    with pytest.raises(json.JSONDecodeError):
        search(serper, ask()).json()
    assert len(search(serper, ask()).json()["organic"]) == 10
    bad = search(serper, ask())
    assert (bad.status_code, bad.headers["retry-after"], bad.text) == (502, "7", "<h1>Bad gateway</h1>")


def test_random_faults_are_seeded(serper: SerperStandIn) -> None:
    runs = []
    for _ in range(2):
        serper.fail_at_random(0.3, [Reply(500), Reply(503)], seed=7)
        runs.append([search(serper, ask()).status_code for _ in range(40)])
    assert runs[0] == runs[1]
    assert 4 <= 40 - runs[0].count(200) <= 20


def test_a_stopped_stand_in_answers_no_kept_connection() -> None:
    """After the `with` block, even a kept-alive connection is closed."""
    with SerperStandIn(lambda words, site: []) as serper, httpx.Client(base_url=serper.url) as http:
        assert http.get("/account").status_code == 403
        serper.stop()
        with pytest.raises(httpx.TransportError):
            http.get("/account")


def test_the_ledger_keeps_no_secret(serper: SerperStandIn) -> None:
    search(serper, ask())
    call = serper.calls("POST /search")[0]
    assert (call.body, call.status, call.units) == (ask(), 200, 1)
    assert "test-serper-key" not in str(serper.ledger)


def test_answers_come_from_a_file(tmp_path: Path) -> None:
    line = {
        "query": "Red Shoes",
        "lang": "en",
        "urls": ["https://a.com/mag/x", "https://a.com/y", "https://b.com/"],
    }
    (tmp_path / "serp.jsonl").write_text(json.dumps(line) + "\n", encoding="utf-8")
    answers = answers_from_jsonl(tmp_path / "serp.jsonl")
    assert answers("red  shoes", "a.com/mag") == ["https://a.com/mag/x"]
    assert len(answers("red shoes", "")) == 3


def vectors(embedder: OpenAIStandIn, texts: list[str], **options: Any) -> list[list[float]]:
    answer = client(embedder).embeddings.create(model=SMALL, input=texts, **options)
    return [item.embedding for item in sorted(answer.data, key=lambda item: item.index)]


def cosine(one: list[float], other: list[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


def test_embeddings_tell_related_texts_from_others(embedder: OpenAIStandIn) -> None:
    shoes, boots, tax = vectors(embedder, ["Red running shoes", "red hiking shoes", "income tax law"])
    assert math.isclose(math.hypot(*shoes), 1.0, abs_tol=1e-6)
    assert cosine(shoes, boots) > cosine(shoes, tax) + 0.3
    assert vectors(embedder, ["Red running shoes"])[0] == shoes


def test_the_sick_answers_reach_the_client(embedder: OpenAIStandIn) -> None:
    embedder.script(NO_DATA, NO_USAGE, ONE_MISSING, SAME_INDEX, NAN_VECTOR, NAN_VECTOR)
    create = client(embedder).embeddings.create
    with pytest.raises(ValueError, match="No embedding data"):
        create(model=SMALL, input=["a", "b"])
    assert create(model=SMALL, input=["a", "b"]).usage is None
    assert len(create(model=SMALL, input=["a", "b"]).data) == 1
    assert {item.index for item in create(model=SMALL, input=["a", "b"]).data} == {0}
    assert math.isnan(create(model=SMALL, input=["a"], encoding_format="float").data[0].embedding[0])
    assert math.isnan(create(model=SMALL, input=["a"]).data[0].embedding[0])
    assert embedder.units == 10
