"""Every search service keeps one contract: results as they are, credits never counted too low, no key in a message."""

import base64
import logging
import time
import traceback
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from internal_linker.model.errors import (
    ConfigurationError,
    CredentialsRefused,
    OutOfCredits,
    ServiceError,
)
from internal_linker.model.records import SerpMarket, SerpPage
from internal_linker.sources.http.limits import ATTEMPTS
from internal_linker.sources.serp.search import SearchRules, search_all
from internal_linker.store.answers import SerpResultCache
from internal_linker.store.engine import open_database
from tests.standins import CutOff, Drip, Fault, Reply, Reset, SerpApiStandIn, SerperStandIn, Stall, Twist
from tests.standins.serpapi import INVALID_KEY, NO_RESULTS, RUN_OUT
from tests.support.builders import SITE, TEMPLATE, Told, nothing_excluded, source, targets, url
from tests.support.searching import KINDS, QUERY, URLS, Searched, client, credits, kind_of


@pytest.fixture(autouse=True)
def logged(caplog: pytest.LogCaptureFixture) -> Iterator[list[str]]:
    """Record all log output of any library at any level, and check that it never contains a key."""
    found: list[str] = []

    class Keep(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            found.append(f"{record.name} {self.format(record)} {record.args!r}")

    keep = Keep()
    caplog.set_level(logging.DEBUG)
    logging.getLogger().addHandler(keep)
    yield found
    logging.getLogger().removeHandler(keep)
    assert [line for line in found if "test-serp" in line] == []


@pytest.fixture(params=KINDS)
def stand_in(request: pytest.FixtureRequest) -> Iterator[Searched]:
    with KINDS[request.param].stand_in(lambda words, site: URLS if words == "red shoes" else []) as server:
        yield server


@pytest.fixture
def serper() -> Iterator[SerperStandIn]:
    with SerperStandIn(lambda words, site: URLS if words == "red shoes" else []) as server:
        yield server


@pytest.fixture
def serpapi() -> Iterator[SerpApiStandIn]:
    with SerpApiStandIn(lambda words, site: URLS if words == "red shoes" else []) as server:
        yield server


def asked(stand_in: Searched) -> list[Any]:
    """Return what the searches sent, as query or body."""
    return [call.query if isinstance(stand_in, SerpApiStandIn) else call.body for call in stand_in.ledger]


def failure(search: Any, query: str = QUERY) -> ServiceError:
    with pytest.raises(ServiceError) as caught:
        search.search(query, 1)
    assert "test-serp" not in told_by(caught.value)
    return caught.value


def told_by(error: BaseException) -> str:
    """Return all text that a traceback could show of an error, with the errors that `from None` hides."""
    found, behind = [], set[BaseException]()
    ahead: BaseException | None = error
    while ahead is not None and ahead not in behind:
        behind.add(ahead)
        request = getattr(ahead, "_request", None)
        found += [*traceback.format_exception(ahead), repr(vars(ahead)), str(request and request.url)]
        ahead = ahead.__context__
    return "".join(found)


def test_gives_the_links_of_a_page_in_order(stand_in: Searched) -> None:
    """Page 2 has results 11 to 20, page 4 is beyond the end, and each costs one search; what is no link is skipped."""
    search = client(stand_in)
    wanted = [URLS[:10], URLS[10:20], URLS[20:], []]
    assert [search.search(QUERY, page) for page in (1, 2, 3, 4)] == [
        SerpPage(tuple(each), 1) for each in wanted
    ]
    odd = [{"title": "x"}, {"link": None}, {"link": 7}, "text", {"link": URLS[0]}]
    stand_in.script(Twist(lambda body: {**body, kind_of(stand_in).results: odd}))
    assert search.search(QUERY, 1).links == (URLS[0],)
    assert stand_in.units >= 4, "SerpApi repeats an answer for free"


def test_no_results_are_an_empty_page(stand_in: Searched) -> None:
    budget = credits()
    assert client(stand_in, budget).search("site:shop.com nothing", 1) == SerpPage((), 1)
    assert budget.spent == stand_in.units == len(stand_in.ledger) == 1
    if isinstance(stand_in, SerperStandIn):
        stand_in.omit_empty = not stand_in.omit_empty
        assert client(stand_in).search("site:shop.com nothing", 1) == SerpPage((), 1)
    else:
        stand_in.script(Twist(lambda body: {**body, "error": NO_RESULTS}))
        assert client(stand_in).search(QUERY, 1).links == tuple(URLS[:10]), (
            "results beside an error are results"
        )


def test_serper_gets_only_what_is_set(serper: SerperStandIn) -> None:
    """Neither a number of results nor an empty country is sent; the market has the other parameters."""
    market = SerpMarket("serper", gl="de", hl="en", location="Berlin, Germany")
    client(serper).search(QUERY, 1)
    client(serper, market=market).search("red\ud83d shoes", 2)
    where = {"gl": "de", "hl": "en", "location": "Berlin, Germany"}
    assert asked(serper) == [{"q": QUERY, "page": 1}, {"q": "red? shoes", "page": 2, **where}]


def test_serpapi_gets_only_what_is_set(serpapi: SerpApiStandIn, logged: list[str]) -> None:
    """Any script arrives as part of the query; a query too long for a URL fails alone, without a cost."""
    market = SerpMarket("serpapi", gl="de", hl="en", location="Berlin, Germany")
    query, budget = "site:shop.com چای & api_key=x #1 100% + قهوه", credits()
    error = failure(client(serpapi, budget), "tea " * 50_000)
    assert not error.retryable and "Shorten it" in str(error) and budget.spent == 0
    client(serpapi).search(query, 1)
    client(serpapi, market=market).search("red\ud83d shoes", 2)
    plain = {"engine": ["google"], "q": [query], "api_key": ["***"]}
    where = {"gl": ["de"], "hl": ["en"], "location": ["Berlin, Germany"]}
    assert asked(serpapi) == [plain, {**plain, "q": ["red? shoes"], **where, "start": ["10"]}]
    assert [line for line in logged if line.startswith("httpx ") and "/search.json?engine=google" in line]
    assert [line for line in logged if line.startswith("httpcore.")]


def test_an_empty_page_that_is_asked_for_again_is_searched_again(serpapi: SerpApiStandIn) -> None:
    search = client(serpapi)
    serpapi.answers = lambda words, site: []
    assert search.search(QUERY, 1).links == ()
    serpapi.answers = lambda words, site: URLS
    assert search.search(QUERY, 1).links == tuple(URLS[:10])
    search.search(f"{QUERY} other", 1)
    assert [call.get("no_cache") for call in asked(serpapi)] == [None, ["true"], None]


def _costing(cost: object, body: Any) -> Any:
    return {**body, "credits": cost}


def test_serpers_answer_says_what_it_cost(serper: SerperStandIn) -> None:
    budget = credits()
    search = client(serper, budget)
    for cost, counted in ((2, 2), ("?", 1), (True, 1), (-1, 1)):
        serper.script(Twist(partial(_costing, cost)))
        assert search.search(QUERY, 1).credits == counted
    assert budget.spent == 5


@pytest.mark.parametrize(
    ("name", "reply", "error", "remedy", "spent"),
    [
        ("serper", Reply(403, {"message": "Unauthorized."}), CredentialsRefused, "serper_api_key.txt", 0),
        ("serper", Reply(401, html="<h1>no</h1>"), CredentialsRefused, "serper_api_key.txt", 0),
        ("serper", Reply(402, {"message": "Pay."}), OutOfCredits, "serper.dev/billing", 0),
        ("serper", Reply(400, {"message": "Not enough credits"}), OutOfCredits, "serper.dev/billing", 0),
        ("serper", Reply(400, {"message": "Pattern not allowed"}), CredentialsRefused, "Buy credits", 0),
        ("serpapi", Reply(401, {"error": INVALID_KEY}), CredentialsRefused, "serpapi_api_key.txt", 0),
        ("serpapi", Reply(403, html="<h1>no</h1>"), CredentialsRefused, "serpapi_api_key.txt", 0),
        ("serpapi", Reply(429, {"error": RUN_OUT}), OutOfCredits, "serpapi.com/pricing", 0),
        (
            "serpapi",
            Reply(200, {"error": "Your searches for the month are exhausted. You can upgrade plans."}),
            OutOfCredits,
            "serpapi.com/pricing",
            1,
        ),
        ("serpapi", Reply(200, {"error": INVALID_KEY}), CredentialsRefused, "manage-api-key", 1),
    ],
)
def test_a_final_refusal_stops_all_further_calls(
    name: str, reply: Reply, error: type[ServiceError], remedy: str, spent: int
) -> None:
    budget = credits()
    with KINDS[name].stand_in(lambda words, site: URLS) as stand_in:
        search = client(stand_in, budget)
        stand_in.script(reply)
        errors = [failure(search), failure(search)]
    assert all(type(each) is error and remedy in str(each) and not each.retryable for each in errors)
    assert len(stand_in.ledger) == 1 and budget.spent == spent


def test_recognises_the_services_own_refusals(stand_in: Searched) -> None:
    assert isinstance(failure(client(stand_in, api_key="wrong")), CredentialsRefused)
    search = client(stand_in)
    bad = failure(search, " ")
    assert type(bad) is ServiceError and not bad.retryable and "Missing query" in str(bad)
    assert search.search(QUERY, 1).links, "another query is sent"
    if isinstance(stand_in, SerperStandIn):
        stand_in.balance = 0
    else:
        stand_in.searches = 0
    assert isinstance(failure(client(stand_in), "site:shop.com socks"), OutOfCredits)
    if isinstance(stand_in, SerperStandIn):
        stand_in.free_plan = True
        assert "free accounts" in str(failure(client(stand_in)))


def test_a_lasting_rate_limit_is_no_empty_account(stand_in: Searched) -> None:
    budget, kind = credits(), kind_of(stand_in)
    search = client(stand_in, budget)
    stand_in.script(*[Reply(429, kind.rate_limit)] * ATTEMPTS)
    error = failure(search)
    remedy = "serp_requests_per_second" if kind is KINDS["serper"] else "Run again in an hour"
    assert type(error) is ServiceError and error.retryable and remedy in str(error)
    assert (len(stand_in.ledger), budget.spent) == (ATTEMPTS, 0)
    assert search.search(QUERY, 1).links


# The scripted failure, and the credits that the budget must count for it.
# The scripted failure, and the credits that the budget must count for it.
PASSING: dict[str, tuple[Fault, int]] = {
    "fault": (Reply(503, {"message": "down", "error": "No valid results."}), 0),
    "gateway": (Reply(502, html="<html>Bad gateway</html>"), 1),
    "html": (Reply(200, html="<html>Sign in</html>"), 1),
    "array": (Reply(200, []), 1),
    "no list": (Twist(lambda body: {**body, "organic": {"a": 1}, "organic_results": {"a": 1}}), 1),
    "cut": (CutOff(), 1),
    "cut json": (CutOff(honest=True), 1),
    "reset": (Reset(), 1),
    "reset after work": (Reset(after_work=True), 1),
    "silence": (Stall(1.0, after_work=True), 1),
    "dripping": (Drip(2.0, pieces=20), 1),
    "deep": (Reply(200, json=None, html="[" * 100_000), 1),
}


def test_a_passing_fault_is_tried_again(stand_in: Searched) -> None:
    kind, stand_in.answers = kind_of(stand_in), lambda words, site: URLS
    for name, (fault, counted) in {
        "rate": (Reply(429, kind.rate_limit), 0),
        **PASSING,
        **kind.own_faults,
    }.items():
        budget, before, paid = credits(), len(stand_in.ledger), stand_in.units
        stand_in.script(fault)
        assert client(stand_in, budget, timeout=0.3).search(f"{QUERY} {name}", 1).links == tuple(URLS[:10]), (
            name
        )
        patience = time.monotonic() + 30
        while len(stand_in.ledger) < before + 2 and time.monotonic() < patience:
            time.sleep(0.02)  # a stalled call enters the ledger when its stall is over
        assert len(stand_in.ledger) == before + 2, name
        assert budget.spent == counted + 1 >= stand_in.units - paid, name


def test_a_connection_that_never_was_costs_nothing(stand_in: Searched) -> None:
    budget = credits()
    error = failure(client(stand_in, budget, url="http://127.0.0.1:9"))
    assert error.retryable and "online" in str(error) and budget.spent == 0


def test_the_account_is_free_to_ask(stand_in: Searched) -> None:
    stand_in.script(Reply(200, {"hello": 1}), on="GET /account")
    assert client(stand_in).check() == kind_of(stand_in).account
    with pytest.raises(CredentialsRefused):
        client(stand_in, api_key="wrong").check()
    if isinstance(stand_in, SerperStandIn):
        stand_in.balance = 0
    else:
        stand_in.searches = 0
    with pytest.raises(ConfigurationError, match=r"no credits\. Buy some|no searches left\. Wait until"):
        client(stand_in).check()
    assert stand_in.units == 0


@pytest.mark.parametrize("key", ["", "two words", "schlüssel"])
def test_refuses_what_can_be_no_key(stand_in: Searched, key: str) -> None:
    with pytest.raises(ConfigurationError, match=kind_of(stand_in).make.key_file) as caught:
        client(stand_in, api_key=key)
    assert not key or key not in str(caught.value)


@pytest.mark.parametrize("key", ["test-serp-key", "a+b/c&d=e%f#g?h"])
def test_a_message_that_repeats_the_key_is_redacted(stand_in: Searched, key: str) -> None:
    stand_in.api_key = key
    search = client(stand_in)
    assert search.search(QUERY, 1).links, "a key of any characters arrives unchanged"
    escaped = key.translate({ord(sign): f"%{ord(sign):02X}" for sign in "+/&=%#?"})
    for form in {key, escaped, base64.b64encode(key.encode()).decode(), key.encode().hex()}:
        stand_in.script(Reply(400, {kind_of(stand_in).reason: f"{form} sent a bad query"}))
        said = str(failure(search, "bad"))
        assert "(HTTP 400: ***" in said and form not in said


def test_the_search_step_keeps_its_answers_apart_and_without_the_key(
    serpapi: SerpApiStandIn, tmp_path: Path
) -> None:
    serpapi.answers = lambda words, site: [url("a"), url("b")]
    engine = open_database("sqlite:///cache.sqlite3", tmp_path)
    cache = SerpResultCache(engine, 7)
    rules = SearchRules(TEMPLATE, SITE, 1, 2, 1, nothing_excluded)
    step = [source("x", "tea")], client(serpapi), cache, targets("a", "b"), rules
    assert [search_all(*step, progress=Told()).credits for _ in range(2)] == [1, 0]
    query = f"site:{SITE} tea"
    assert cache.get([query], SerpMarket("serpapi")) == {(query, 1): SerpPage((url("a"), url("b")), 0)}
    assert cache.get([query], SerpMarket("serper")) == {}
    engine.dispose()
    assert all(serpapi.api_key.encode() not in path.read_bytes() for path in tmp_path.iterdir())
