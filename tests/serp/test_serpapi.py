"""The SerpApi client against the stand-in: correct results, credit counts, and a key that is never exposed."""

import logging
import threading
import time
import traceback
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from internal_linker.adapters.database.answers import SerpResultCache
from internal_linker.adapters.database.engine import open_database
from internal_linker.adapters.http.json_client import MOST_BYTES
from internal_linker.adapters.http.limits import ATTEMPTS, Budget
from internal_linker.core.errors import (
    BudgetReached,
    ConfigurationError,
    CredentialsRefused,
    OutOfCredits,
    ServiceError,
)
from internal_linker.core.records import SerpMarket, SerpPage
from internal_linker.serp.search import SearchRules, search_all
from internal_linker.serp.serpapi import SerpApi
from tests.standins import CutOff, Drip, Fault, Reply, Reset, SerpApiStandIn, Stall, Twist
from tests.standins.serpapi import INVALID_KEY, NO_RESULTS, RUN_OUT, TOO_MANY, status
from tests.support.builders import SITE, TEMPLATE, Told, nothing_excluded, source, targets, url

KEY = "test-serpapi-key"
URLS = [f"https://shop.com/mag/page-{number}" for number in range(1, 24)]
QUERY = "site:shop.com/mag red shoes"

OPEN: list[SerpApi] = []


@pytest.fixture(autouse=True)
def logged(caplog: pytest.LogCaptureFixture) -> Iterator[list[str]]:
    """Record all log output of any library at any level, and check that it never contains the key."""
    found: list[str] = []

    class Keep(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            found.append(f"{record.name} {self.format(record)} {record.args!r}")

    keep = Keep()
    caplog.set_level(logging.DEBUG)
    logging.getLogger().addHandler(keep)
    yield found
    while OPEN:
        OPEN.pop().close()
    logging.getLogger().removeHandler(keep)
    assert [line for line in found if KEY in line] == []


@pytest.fixture
def stand_in() -> Iterator[SerpApiStandIn]:
    with SerpApiStandIn(lambda words, site: URLS if words == "red shoes" else []) as server:
        yield server


def client(stand_in: SerpApiStandIn, cap: float = 1000, **changes: Any) -> SerpApi:
    budget = changes.pop("budget", Budget("SerpApi", cap, "max_serp_credits", "credits"))
    fixed: dict[str, Any] = {
        "api_key": KEY,
        "url": stand_in.url,
        "market": SerpMarket("serpapi"),
        "per_second": 1000,
        "in_flight": 16,
        "timeout": 0.4,
    }
    OPEN.append(SerpApi(**{**fixed, **changes}, budget=budget))
    return OPEN[-1]


def credits(cap: float = 10) -> Budget:
    return Budget("SerpApi", cap, "max_serp_credits", "credits")


def failure(serpapi: SerpApi, query: str = QUERY) -> ServiceError:
    with pytest.raises(ServiceError) as caught:
        serpapi.search(query, 1)
    assert KEY not in told_by(caught.value)
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


def test_libraries_that_log_addresses_log_them_without_the_key(
    stand_in: SerpApiStandIn, logged: list[str]
) -> None:
    """httpx logs the request without its key, although the key was sent."""
    client(stand_in).search(QUERY, 1)
    assert stand_in.ledger[0].query["api_key"] == ["***"]
    assert [line for line in logged if line.startswith("httpx ") and "/search.json?engine=google" in line]
    assert [line for line in logged if line.startswith("httpcore.")]


def test_gives_the_links_of_a_page_in_order(stand_in: SerpApiStandIn) -> None:
    """Page 2 contains results 11 to 20, page 4 is beyond the end, and each costs one search."""
    serpapi = client(stand_in)
    assert serpapi.search(QUERY, 1) == SerpPage(tuple(URLS[:10]), 1)
    assert serpapi.search(QUERY, 2) == SerpPage(tuple(URLS[10:20]), 1)
    assert serpapi.search(QUERY, 3) == SerpPage(tuple(URLS[20:]), 1)
    assert serpapi.search(QUERY, 4) == SerpPage((), 1)
    assert stand_in.units == 4


def test_sends_only_what_is_set(stand_in: SerpApiStandIn) -> None:
    """Neither a number of results nor an empty country is sent; the market contains the other parameters."""
    market = SerpMarket("serpapi", gl="de", hl="en", location="Berlin, Germany")
    client(stand_in).search(QUERY, 1)
    serpapi = client(stand_in, market=market)
    serpapi.search(QUERY, 2)
    plain, local = (call.query for call in stand_in.ledger)
    assert plain == {"engine": ["google"], "q": [QUERY], "api_key": ["***"]}
    where = {"gl": ["de"], "hl": ["en"], "location": ["Berlin, Germany"]}
    assert local == {**plain, **where, "start": ["10"]}
    assert serpapi.market == market


def test_no_results_are_an_empty_page(stand_in: SerpApiStandIn) -> None:
    """The error that SerpApi sends without results isn't an error: the page has no links, and the search is counted."""
    budget = credits()
    assert client(stand_in, budget=budget).search("site:shop.com nothing", 1) == SerpPage((), 1)
    assert budget.spent == stand_in.units == len(stand_in.ledger) == 1


def test_an_empty_page_that_is_asked_for_again_is_searched_again(stand_in: SerpApiStandIn) -> None:
    """Only the second try bypasses SerpApi's cache of one hour."""
    serpapi = client(stand_in)
    stand_in.answers = lambda words, site: []
    assert serpapi.search(QUERY, 1).links == ()
    stand_in.answers = lambda words, site: URLS
    assert serpapi.search(QUERY, 1).links == tuple(URLS[:10])
    serpapi.search(f"{QUERY} other", 1)
    assert [call.query.get("no_cache") for call in stand_in.ledger] == [None, ["true"], None]


def test_results_beside_an_error_are_results(stand_in: SerpApiStandIn) -> None:
    """Results beside an error message, which SerpApi once sent by mistake, are used."""
    stand_in.script(Twist(lambda body: {**body, "error": NO_RESULTS}))
    assert client(stand_in).search(QUERY, 1).links == tuple(URLS[:10])


def test_skips_results_without_a_link(stand_in: SerpApiStandIn) -> None:
    """A result whose link is missing or isn't a string is skipped; the others stay."""
    odd = [{"title": "x"}, {"link": None}, {"link": 7}, "text", {"link": URLS[0]}]
    stand_in.script(Twist(lambda body: {**body, "organic_results": odd}))
    assert client(stand_in).search(QUERY, 1).links == (URLS[0],)


@pytest.mark.parametrize(
    ("reply", "kind", "remedy", "spent"),
    [
        (Reply(401, {"error": INVALID_KEY}), CredentialsRefused, "serpapi_api_key.txt", 0),
        (Reply(403, html="<h1>no</h1>"), CredentialsRefused, "serpapi_api_key.txt", 0),
        (Reply(429, {"error": RUN_OUT}), OutOfCredits, "serpapi.com/pricing", 0),
        (
            Reply(200, {"error": "Your searches for the month are exhausted. You can upgrade plans."}),
            OutOfCredits,
            "serpapi.com/pricing",
            1,
        ),
        (Reply(200, {"error": INVALID_KEY}), CredentialsRefused, "serpapi.com/manage-api-key", 1),
    ],
)
def test_a_final_refusal_stops_all_further_calls(
    stand_in: SerpApiStandIn, reply: Reply, kind: type[ServiceError], remedy: str, spent: int
) -> None:
    """A bad key and an empty account are reported once, cost nothing and end the calls."""
    budget = credits()
    serpapi = client(stand_in, budget=budget)
    stand_in.script(reply)
    errors = [failure(serpapi), failure(serpapi)]
    assert all(type(error) is kind and remedy in str(error) and not error.retryable for error in errors)
    assert len(stand_in.ledger) == 1 and budget.spent == spent


def test_recognises_the_stand_ins_own_refusals(stand_in: SerpApiStandIn) -> None:
    """The service's documented answers to a wrong key and to no searches left raise the matching errors."""
    assert isinstance(failure(client(stand_in, api_key="wrong")), CredentialsRefused)
    stand_in.searches = 0
    assert isinstance(failure(client(stand_in)), OutOfCredits)
    assert [call.status for call in stand_in.ledger] == [401, 429]


def test_too_many_searches_in_an_hour_are_no_empty_account(stand_in: SerpApiStandIn) -> None:
    """The hourly limit's 429 is retried, costs nothing, says when to continue, and stops no other query."""
    budget = credits()
    serpapi = client(stand_in, budget=budget)
    stand_in.script(*[Reply(429, {"error": TOO_MANY})] * ATTEMPTS)
    error = failure(serpapi)
    assert type(error) is ServiceError and error.retryable and "Run again in an hour" in str(error)
    assert (len(stand_in.ledger), budget.spent) == (ATTEMPTS, 0)
    assert serpapi.search(QUERY, 1).links


def test_another_bad_request_concerns_one_query_only(stand_in: SerpApiStandIn) -> None:
    """A query that the service rejects fails at once with the service's message; the next query is sent."""
    serpapi = client(stand_in)
    error = failure(serpapi, " ")
    assert type(error) is ServiceError and not error.retryable and "Missing query" in str(error)
    assert serpapi.search(QUERY, 1).links


def test_a_query_that_fits_into_no_address_is_not_sent(stand_in: SerpApiStandIn) -> None:
    """A query too long for a URL fails alone, with a remedy and without a cost."""
    budget = credits()
    serpapi = client(stand_in, budget=budget)
    error = failure(serpapi, "tea " * 50_000)
    assert not error.retryable and "Shorten it" in str(error)
    assert (stand_in.ledger, budget.spent) == ([], 0)
    assert serpapi.search(QUERY, 1).links


PASSING: dict[
    str, tuple[Fault, int]
] = {  # the scripted failure, and the credits that the budget must count for it
    "rate limit": (Reply(429, {"error": TOO_MANY}), 0),
    "fault": (Reply(503, {"search_metadata": {"status": "Error"}, "error": "No valid results."}), 0),
    "gateway": (Reply(502, html="<html>Bad gateway</html>"), 1),
    "failed search": (status("Error"), 0),
    "search under way": (status("Processing"), 1),
    "no status": (Reply(200, {"hello": 1}), 1),
    "html": (Reply(200, html="<html>Sign in</html>"), 1),
    "array": (Reply(200, []), 1),
    "no list": (Twist(lambda body: {**body, "organic_results": {"a": 1}}), 1),
    "metadata of another kind": (Twist(lambda body: {**body, "search_metadata": "Success"}), 1),
    "cut": (CutOff(), 1),
    "cut json": (CutOff(honest=True), 1),
    "reset": (Reset(), 1),
    "reset after work": (Reset(after_work=True), 1),
    "silence": (Stall(1.0, after_work=True), 1),
    "dripping": (Drip(2.0, pieces=20), 1),
    "endless": (Twist(lambda body: {**body, "padding": "x" * MOST_BYTES}), 1),
    "deep": (Reply(200, json=None, html="[" * 100_000), 1),
}


@pytest.mark.parametrize("name", PASSING)
def test_a_passing_fault_is_tried_again(stand_in: SerpApiStandIn, name: str) -> None:
    """After any single bad answer the client retries once, and credits are never counted too low."""
    fault, counted = PASSING[name]
    budget = credits()
    stand_in.script(fault)
    assert client(stand_in, budget=budget).search(QUERY, 1).links == tuple(URLS[:10])
    patience = time.monotonic() + 3
    while len(stand_in.ledger) < 2 and time.monotonic() < patience:
        time.sleep(0.02)  # a stalled call enters the ledger when its stall is over
    assert len(stand_in.ledger) == 2
    assert budget.spent == counted + 1 >= stand_in.units


def test_waits_as_long_as_asked(stand_in: SerpApiStandIn) -> None:
    """A Retry-After of one second is observed."""
    stand_in.script(Reply(429, {"error": TOO_MANY}, headers={"Retry-After": "1"}))
    client(stand_in).search(QUERY, 1)
    first, second = stand_in.ledger
    assert second.at - first.at >= 1


def test_a_connection_that_never_was_costs_nothing(stand_in: SerpApiStandIn) -> None:
    """If nothing listens, all retries leave the budget unchanged, and the error names the network."""
    budget = credits()
    error = failure(client(stand_in, url="http://127.0.0.1:9", budget=budget))
    assert error.retryable and "online" in str(error) and budget.spent == 0


def test_follows_no_redirect(stand_in: SerpApiStandIn) -> None:
    """The key isn't sent to a redirect's target."""
    with SerpApiStandIn(lambda words, site: URLS) as other:
        stand_in.script(Reply(307, headers={"Location": f"{other.url}/search.json"}))
        assert "serpapi_url" in str(failure(client(stand_in)))
        assert not other.ledger


@pytest.mark.parametrize("threads", [1, 16])
def test_never_passes_the_budget(stand_in: SerpApiStandIn, threads: int) -> None:
    """With frequent failures and many threads, the cap is never exceeded and every charge is counted."""
    budget = credits(8)
    stand_in.fail_at_random(
        0.3, [Reply(503), Reset(after_work=True), CutOff(honest=True), Reply(429)], seed=threads
    )
    serpapi = client(stand_in, budget=budget)
    refused = threading.Event()

    def search(number: int) -> None:
        try:
            serpapi.search(f"{QUERY} {number}", 1)
        except BudgetReached:
            refused.set()
        except ServiceError:
            pass

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(search, range(16)))
    assert refused.is_set()
    assert stand_in.units <= budget.spent <= 8


def test_keeps_the_pace(stand_in: SerpApiStandIn) -> None:
    """At 20 per second, six searches from six threads are at least 50 milliseconds apart."""
    serpapi = client(stand_in, per_second=20)
    started = time.monotonic()
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda page: serpapi.search(QUERY, page), range(1, 7)))
    assert time.monotonic() - started >= 0.25


def test_the_account_is_free_to_ask(stand_in: SerpApiStandIn) -> None:
    """Requesting the account's limits costs no search; a wrong key and an empty account are errors."""
    assert client(stand_in).check() == "250 searches left, 10000 an hour allowed"
    assert stand_in.units == 0
    with pytest.raises(CredentialsRefused):
        client(stand_in, api_key="wrong").check()
    stand_in.searches = 0
    with pytest.raises(ConfigurationError, match=r"no searches left\. Wait until"):
        client(stand_in).check()


def test_an_account_without_searches_is_no_answer(stand_in: SerpApiStandIn) -> None:
    """An account response of another shape is retried, not read as zero."""
    stand_in.script(Reply(200, {"hello": 1}), on="GET /account")
    assert "250 searches left" in client(stand_in).check()


@pytest.mark.parametrize("key", ["", "two words", "line\nbreak", "schlüssel"])
def test_refuses_what_can_be_no_key(stand_in: SerpApiStandIn, key: str) -> None:
    """A key with spaces or non-ASCII letters is refused before anything is sent, and the error doesn't contain it."""
    with pytest.raises(ConfigurationError) as caught:
        client(stand_in, api_key=key)
    assert "serpapi_api_key.txt" in str(caught.value)
    assert not key or key not in str(caught.value)


@pytest.mark.parametrize("key", [KEY, "a+b/c&d=e%f#g?h"])
def test_a_message_that_repeats_the_key_is_redacted(stand_in: SerpApiStandIn, key: str) -> None:
    """If the service's message contains the key, plain or URL-encoded, the error shows stars."""
    stand_in.api_key = key
    serpapi = client(stand_in, api_key=key)
    assert serpapi.search(QUERY, 1).links, "a key of any characters arrives unchanged"
    escaped = key.translate({ord(sign): f"%{ord(sign):02X}" for sign in "+/&=%#?"})
    for form in {key, escaped}:
        stand_in.script(Reply(400, {"error": f"{form} sent a bad query"}))
        assert "*** sent a bad query" in str(failure(serpapi, "bad"))


def test_half_a_surrogate_pair_can_be_searched(stand_in: SerpApiStandIn) -> None:
    """A lone surrogate in a query is sent as a question mark."""
    client(stand_in).search("red\ud83d shoes", 1)
    assert stand_in.ledger[0].query["q"] == ["red? shoes"]


def test_a_query_in_any_script_arrives_as_it_is(stand_in: SerpApiStandIn) -> None:
    """Persian text, ampersands and percent signs arrive as part of the query and add no parameter."""
    query = "site:shop.com چای & api_key=x #1 100% + قهوه"
    client(stand_in).search(query, 1)
    assert stand_in.ledger[0].query == {"engine": ["google"], "q": [query], "api_key": ["***"]}


def test_the_search_step_keeps_its_answers_apart_and_without_the_key(
    stand_in: SerpApiStandIn, tmp_path: Path
) -> None:
    """SerpApi's results are cached under its name without the key, free the second time, and for no other service."""
    stand_in.answers = lambda words, site: [url("a"), url("b")]
    engine = open_database("sqlite:///cache.sqlite3", tmp_path)
    cache = SerpResultCache(engine, 7)
    rules = SearchRules(TEMPLATE, SITE, 1, 2, 1, nothing_excluded)
    asked = [source("x", "tea")], client(stand_in), cache, targets("a", "b"), rules
    assert [search_all(*asked, progress=Told()).credits for _ in range(2)] == [1, 0]
    query = f"site:{SITE} tea"
    assert cache.get([query], SerpMarket("serpapi")) == {(query, 1): SerpPage((url("a"), url("b")), 0)}
    assert cache.get([query], SerpMarket("serper")) == {}
    engine.dispose()
    assert all(KEY.encode() not in path.read_bytes() for path in tmp_path.iterdir())
