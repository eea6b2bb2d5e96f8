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
    SerpApiStandIn,
    SerperStandIn,
    answers_from_jsonl,
)
from tests.standins.openai import NAN_VECTOR, NO_DATA, NO_USAGE, ONE_MISSING, SAME_INDEX
from tests.standins.serper import NO_RESULTS

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


# -- all of them -----------------------------------------------------------------------------------


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
    """A scripted fault affects only the next request, and the work is charged or not as the fault says."""
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
    """The same seed gives the same random faults, at about the requested share."""
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
    """The ledger records body, status, size and units, but no keys."""
    search(serper, ask())
    call = serper.calls("POST /search")[0]
    assert (call.body, call.status, call.units) == (ask(), 200, 1)
    assert "test-serper-key" not in str(serper.ledger)


# -- Serper ----------------------------------------------------------------------------------------


def test_serper_pages_by_ten_and_charges_each_page(serper: SerperStandIn) -> None:
    """Positions restart on every page, the last page is short, and beyond it `organic` is empty."""
    pages = [search(serper, ask(number)).json() for number in (1, 2, 3, 4)]
    assert [len(page["organic"]) for page in pages] == [10, 10, 3, 0]
    assert [page["organic"][0]["position"] for page in pages[:3]] == [1, 1, 1]
    assert pages[2]["organic"][0]["link"] == URLS[20]
    assert pages[1]["searchParameters"] == {**ask(2), "type": "search", "engine": "google"}
    assert serper.units == sum(page["credits"] for page in pages) == 4
    account = HTTP.get(f"{serper.url}/account", headers={"X-API-KEY": serper.api_key}).json()
    assert account == {"balance": 2496, "rateLimit": 5000}


def test_serper_answers_a_batch_in_order(serper: SerperStandIn) -> None:
    """An array of queries returns an array, and each query is charged."""
    answers = search(serper, [{"q": "nothing"}, ask()]).json()
    assert [len(answer["organic"]) for answer in answers] == [0, 10]
    assert serper.units == 2


def test_serper_refuses_as_the_real_one_does(serper: SerperStandIn) -> None:
    """A bad key is a 403, an empty account and the free plan's refusal are both a 400, and none is charged."""
    assert search(serper, ask(), key="wrong").json() == {"message": "Unauthorized.", "statusCode": 403}
    serper.free_plan = True
    assert search(serper, ask()).json() == {"message": "Query pattern not allowed for free accounts."}
    serper.free_plan, serper.balance = False, 0
    assert search(serper, ask()).json() == {"message": "Not enough credits", "statusCode": 400}
    assert [call.status for call in serper.ledger] == [403, 400, 400]


def test_serper_limits_the_rate() -> None:
    """The second request in a second is a 429 that says when to retry, and costs nothing."""
    with SerperStandIn(lambda words, site: [], rate_limit=1, retry_after=True, omit_empty=True) as serper:
        first, second = search(serper, ask()), search(serper, ask())
        assert (second.status_code, second.headers["retry-after"]) == (429, "1")
        assert "organic" not in first.json()
        assert serper.units == 1


def test_serper_can_come_back_empty_once(serper: SerperStandIn) -> None:
    """The transient fault is a charged 200 without results."""
    serper.script(NO_RESULTS)
    assert [len(search(serper, ask()).json()["organic"]) for _ in range(2)] == [0, 10]
    assert serper.units == 2


def test_answers_come_from_a_file(tmp_path: Path) -> None:
    """Queries match in any case, and only URLs of the site are returned."""
    line = {
        "query": "Red Shoes",
        "lang": "en",
        "urls": ["https://a.com/mag/x", "https://a.com/y", "https://b.com/"],
    }
    (tmp_path / "serp.jsonl").write_text(json.dumps(line) + "\n", encoding="utf-8")
    answers = answers_from_jsonl(tmp_path / "serp.jsonl")
    assert answers("red  shoes", "a.com/mag") == ["https://a.com/mag/x"]
    assert len(answers("red shoes", "")) == 3


# -- SerpApi ---------------------------------------------------------------------------------------


@pytest.fixture
def serpapi() -> Iterator[SerpApiStandIn]:
    with SerpApiStandIn(lambda words, site: URLS if words == "red shoes" and site else []) as stand_in:
        yield stand_in


def look(serpapi: SerpApiStandIn, start: int = 0, **more: str) -> httpx.Response:
    asked = {"engine": "google", "q": "site:shop.com/mag red shoes", "api_key": serpapi.api_key, **more}
    return HTTP.get(f"{serpapi.url}/search.json", params=asked | ({"start": str(start)} if start else {}))


def test_serpapi_pages_by_ten_and_counts_each_search(serpapi: SerpApiStandIn) -> None:
    """Beyond the last page, a success has an error, and a search repeated within the hour is free."""
    pages = [look(serpapi, start).json() for start in (0, 10, 20, 30, 0)]
    assert [len(page.get("organic_results", [])) for page in pages] == [10, 10, 3, 0, 10]
    assert {page["search_metadata"]["status"] for page in pages} == {"Success"}
    assert pages[3]["error"] == "Google hasn't returned any results for this query."
    assert pages[3]["search_information"]["organic_results_state"] == "Fully empty"
    assert (serpapi.units, serpapi.searches) == (4, 246)
    look(serpapi, no_cache="true")
    assert serpapi.units == 5
    account = HTTP.get(f"{serpapi.url}/account.json", params={"api_key": serpapi.api_key}).json()
    assert (account["total_searches_left"], account["last_hour_searches"]) == (245, 5)


def test_serpapi_refuses_as_its_pages_say() -> None:
    """A bad key is a 401, a missing query a 400, an empty account and too many searches per hour both a 429."""
    with SerpApiStandIn(lambda words, site: URLS, per_hour=1) as serpapi:
        answers = [look(serpapi, api_key="wrong"), look(serpapi, q=" "), look(serpapi), look(serpapi, 10)]
        serpapi.searches = 0
        answers.append(look(serpapi, 20))
    assert [answer.status_code for answer in answers] == [401, 400, 200, 429, 429]
    assert answers[0].json()["error"].startswith("Invalid API key.")
    assert answers[3].json()["error"] != answers[4].json()["error"] == "Your account has run out of searches."
    assert [call.units for call in serpapi.ledger] == [0, 0, 1, 0, 0]
    assert "test-serpapi-key" not in str(serpapi.ledger)


# -- OpenAI ----------------------------------------------------------------------------------------


def vectors(embedder: OpenAIStandIn, texts: list[str], **options: Any) -> list[list[float]]:
    answer = client(embedder).embeddings.create(model=SMALL, input=texts, **options)
    return [item.embedding for item in sorted(answer.data, key=lambda item: item.index)]


def cosine(one: list[float], other: list[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


def test_embeddings_tell_related_texts_from_others(embedder: OpenAIStandIn) -> None:
    """Vectors have unit length, are deterministic, and are closer for texts that share words."""
    shoes, boots, tax = vectors(embedder, ["Red running shoes", "red hiking shoes", "income tax law"])
    assert math.isclose(math.hypot(*shoes), 1.0, abs_tol=1e-6)
    assert cosine(shoes, boots) > cosine(shoes, tax) + 0.3
    assert vectors(embedder, ["Red running shoes"])[0] == shoes


def test_both_encodings_and_fewer_dimensions(embedder: OpenAIStandIn) -> None:
    """float and base64 encode the same vector, and `dimensions` shortens it."""
    plain = vectors(embedder, ["red shoes"], encoding_format="float")[0]
    assert vectors(embedder, ["red shoes"])[0] == pytest.approx(plain, abs=1e-7)
    assert len(plain) == 256
    assert len(vectors(embedder, ["red shoes"], dimensions=64)[0]) == 64


def test_embeddings_come_shuffled_with_index_and_usage(embedder: OpenAIStandIn) -> None:
    """`data` is shuffled, `index` is correct, and the ledger has the same tokens as the usage."""
    answer = client(embedder).embeddings.create(model=SMALL, input=[f"text {n}" for n in range(20)])
    order = [item.index for item in answer.data]
    assert order != sorted(order) == list(range(20))
    assert embedder.units == answer.usage.total_tokens >= 40


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        (["fine", ""], "empty string"),
        (["a"] * 2049, "array too long"),
        (["word " * 8193], "maximum context length"),
        (["word " * 8000] * 38, "max 300000 tokens"),
    ],
)
def test_openai_refuses_what_is_too_much(embedder: OpenAIStandIn, texts: list[str], words: str) -> None:
    """Empty inputs and inputs over the limits are a 400 without a charge."""
    with pytest.raises(openai.BadRequestError, match=words):
        vectors(embedder, texts)
    assert embedder.units == 0


def test_openai_refuses_a_bad_key_and_an_unknown_model(embedder: OpenAIStandIn) -> None:
    """A 401 repeats part of the key, and listing the models checks a key for free."""
    with pytest.raises(openai.AuthenticationError, match=r"sk-wrong\*+LAST") as refused:
        client(embedder, "sk-wrong-0000-LAST").models.list()
    assert refused.value.code == "invalid_api_key"
    assert SMALL in [model.id for model in client(embedder).models.list()]
    with pytest.raises(openai.NotFoundError):
        client(embedder).embeddings.create(model="gpt-9", input="x")


def test_two_kinds_of_429() -> None:
    """A rate limit's 429 says when to retry; a spent quota's differs by its code only."""
    with OpenAIStandIn(rate_limit_requests=1, quota_tokens=10) as embedder:
        with pytest.raises(openai.RateLimitError) as spent:
            vectors(embedder, ["word " * 50])
        vectors(embedder, ["word"])
        with pytest.raises(openai.RateLimitError) as limited:
            vectors(embedder, ["word"])
    assert (spent.value.code, limited.value.code) == ("insufficient_quota", "rate_limit_exceeded")
    assert 0 < int(limited.value.response.headers["retry-after-ms"]) <= 60_000
    assert "retry-after" not in spent.value.response.headers


def test_an_old_server_refuses_base64() -> None:
    """With the option on, the client's default encoding is a 400 and float succeeds."""
    with OpenAIStandIn(dimensions=8, embedding_format_base64_refused=True) as embedder:
        with pytest.raises(openai.BadRequestError, match="base64"):
            vectors(embedder, ["word"])
        assert len(vectors(embedder, ["word"], encoding_format="float")[0]) == 8


def test_the_sick_answers_reach_the_client(embedder: OpenAIStandIn) -> None:
    """Each faulty response reaches the client, and the work is charged."""
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
