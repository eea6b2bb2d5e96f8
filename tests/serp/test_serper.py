"""The Serper client against the stand-in: correct results, credit counts and errors with a remedy."""

import base64
import threading
import time
import traceback
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from internal_linker.adapters.http.json_client import MOST_BYTES
from internal_linker.adapters.http.limits import Budget
from internal_linker.core.errors import (
    BudgetReached,
    ConfigurationError,
    CredentialsRefused,
    OutOfCredits,
    ServiceError,
)
from internal_linker.core.records import SerpMarket
from internal_linker.serp.serper import Serper
from tests.standins import CutOff, Drip, Fault, Reply, Reset, SerperStandIn, Stall, Twist

KEY = "test-serper-key"
URLS = [f"https://shop.com/mag/page-{number}" for number in range(1, 24)]
QUERY = "site:shop.com/mag red shoes"


OPEN: list[Serper] = []


@pytest.fixture(autouse=True)
def close_clients() -> Iterator[None]:
    yield
    while OPEN:
        OPEN.pop().close()


@pytest.fixture
def stand_in() -> Iterator[SerperStandIn]:
    with SerperStandIn(lambda words, site: URLS if words == "red shoes" else []) as server:
        yield server


def client(stand_in: SerperStandIn, cap: float = 1000, **changes: Any) -> Serper:
    budget = changes.pop("budget", Budget("Serper", cap, "max_serp_credits", "credits"))
    fixed: dict[str, Any] = {
        "api_key": KEY,
        "url": stand_in.url,
        "market": SerpMarket("serper"),
        "per_second": 1000,
        "in_flight": 16,
        "timeout": 0.4,
    }
    OPEN.append(Serper(**{**fixed, **changes}, budget=budget))
    return OPEN[-1]


def failure(serper: Serper, query: str = QUERY) -> ServiceError:
    with pytest.raises(ServiceError) as caught:
        serper.search(query, 1)
    shown = "".join(traceback.format_exception(caught.value))
    assert KEY not in shown
    return caught.value


def test_gives_the_links_of_a_page_in_order(stand_in: SerperStandIn) -> None:
    """Page 2 contains results 11 to 20 and costs the credits that the answer names."""
    answer = client(stand_in).search(QUERY, 2)
    assert answer.links == tuple(URLS[10:20])
    assert answer.credits == stand_in.units == 1


def test_sends_only_what_is_set(stand_in: SerperStandIn) -> None:
    """Neither a number of results nor an empty country is sent; the market contains the other parameters."""
    client(stand_in).search(QUERY, 1)
    market = SerpMarket("serper", gl="de", hl="en", location="Berlin, Germany")
    serper = client(stand_in, market=market)
    serper.search(QUERY, 1)
    plain, local = (call.body for call in stand_in.ledger)
    assert plain == {"q": QUERY, "page": 1}
    assert local == {"q": QUERY, "page": 1, "gl": "de", "hl": "en", "location": "Berlin, Germany"}
    assert serper.market == market


@pytest.mark.parametrize("omitted", [True, False])
def test_no_results_are_an_empty_page(stand_in: SerperStandIn, omitted: bool) -> None:
    """A missing and an empty list of results both give no links, and the credit is counted."""
    stand_in.omit_empty = omitted
    answer = client(stand_in).search("site:shop.com nothing", 1)
    assert (answer.links, answer.credits) == ((), 1)


def test_skips_results_without_a_link(stand_in: SerperStandIn) -> None:
    """A result whose link is missing or isn't a string is skipped; the others stay."""
    odd = [{"title": "x"}, {"link": None}, {"link": 7}, "text", {"link": URLS[0]}]
    stand_in.script(Twist(lambda body: {**body, "organic": odd}))
    assert client(stand_in).search(QUERY, 1).links == (URLS[0],)


def test_counts_what_the_answer_says_it_cost(stand_in: SerperStandIn) -> None:
    """The budget counts the credits that the answer names, or one if it names none."""
    budget = Budget("Serper", 10, "max_serp_credits", "credits")
    serper = client(stand_in, budget=budget)
    stand_in.script(Twist(lambda body: {**body, "credits": 2}), Twist(lambda body: {**body, "credits": "?"}))
    assert [serper.search(QUERY, 1).credits, serper.search(QUERY, 1).credits] == [2, 1]
    assert budget.spent == 3


@pytest.mark.parametrize(
    ("reply", "kind", "remedy"),
    [
        (
            Reply(403, {"message": "Unauthorized.", "statusCode": 403}),
            CredentialsRefused,
            "serper_api_key.txt",
        ),
        (Reply(401, html="<h1>no</h1>"), CredentialsRefused, "serper_api_key.txt"),
        (
            Reply(400, {"message": "Not enough credits", "statusCode": 400}),
            OutOfCredits,
            "serper.dev/billing",
        ),
        (
            Reply(400, {"message": "Query pattern not allowed for free accounts."}),
            CredentialsRefused,
            "Buy credits",
        ),
    ],
)
def test_a_final_refusal_stops_all_further_calls(
    stand_in: SerperStandIn, reply: Reply, kind: type[ServiceError], remedy: str
) -> None:
    """A bad key, an empty account and a plan's limit are reported once, cost nothing and end the calls."""
    budget = Budget("Serper", 10, "max_serp_credits", "credits")
    serper = client(stand_in, budget=budget)
    stand_in.script(reply)
    errors = [failure(serper), failure(serper)]
    assert all(type(error) is kind and remedy in str(error) and not error.retryable for error in errors)
    assert len(stand_in.ledger) == 1 and budget.spent == 0


def test_recognises_the_stand_ins_own_refusals(stand_in: SerperStandIn) -> None:
    """The service's real answers to a wrong key, no credits and a free plan raise the matching errors."""
    assert isinstance(failure(client(stand_in, api_key="wrong")), CredentialsRefused)
    stand_in.balance = 0
    assert isinstance(failure(client(stand_in)), OutOfCredits)
    stand_in.free_plan = True
    assert "free accounts" in str(failure(client(stand_in)))


def test_another_bad_request_concerns_one_query_only(stand_in: SerperStandIn) -> None:
    """A query that the service rejects fails at once with the service's message; the next query is sent."""
    serper = client(stand_in)
    error = failure(serper, " ")
    assert type(error) is ServiceError and not error.retryable and "Missing query" in str(error)
    assert serper.search(QUERY, 1).links


PASSING: dict[
    str, tuple[Fault, int]
] = {  # the scripted failure, and the credits that the budget must count for it
    "rate limit": (Reply(429, {"message": "Too many requests"}), 0),
    "fault": (Reply(503, {"message": "down"}), 0),
    "gateway": (Reply(502, html="<html>Bad gateway</html>"), 1),
    "html": (Reply(200, html="<html>Sign in</html>"), 1),
    "array": (Reply(200, []), 1),
    "no list": (Twist(lambda body: {**body, "organic": {"a": 1}}), 1),
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
def test_a_passing_fault_is_tried_again(stand_in: SerperStandIn, name: str) -> None:
    """After any single bad answer the client retries once, and credits are never counted too low."""
    fault, counted = PASSING[name]
    budget = Budget("Serper", 10, "max_serp_credits", "credits")
    stand_in.script(fault)
    assert client(stand_in, budget=budget).search(QUERY, 1).links == tuple(URLS[:10])
    patience = time.monotonic() + 30
    while len(stand_in.ledger) < 2 and time.monotonic() < patience:
        time.sleep(0.02)  # a stalled call enters the ledger when its stall is over
    assert len(stand_in.ledger) == 2
    assert budget.spent == counted + 1 >= stand_in.units


def test_waits_as_long_as_asked(stand_in: SerperStandIn) -> None:
    """A Retry-After of one second is observed."""
    stand_in.script(Reply(429, {"message": "slow down"}, headers={"Retry-After": "1"}))
    client(stand_in).search(QUERY, 1)
    first, second = stand_in.ledger
    assert second.at - first.at >= 1


def test_a_connection_that_never_was_costs_nothing(stand_in: SerperStandIn) -> None:
    """If nothing listens, all retries leave the budget unchanged, and the error names the network."""
    budget = Budget("Serper", 10, "max_serp_credits", "credits")
    error = failure(client(stand_in, url="http://127.0.0.1:9", budget=budget))
    assert error.retryable and "online" in str(error) and budget.spent == 0


def test_follows_no_redirect(stand_in: SerperStandIn) -> None:
    """The key isn't sent to a redirect's target."""
    with SerperStandIn(lambda words, site: URLS) as other:
        stand_in.script(Reply(307, headers={"Location": f"{other.url}/search"}))
        assert "serper_url" in str(failure(client(stand_in)))
        assert not other.ledger


@pytest.mark.parametrize("threads", [1, 16])
def test_never_passes_the_budget(stand_in: SerperStandIn, threads: int) -> None:
    """With frequent failures and many threads, the cap is never exceeded and every charge is counted."""
    budget = Budget("Serper", 8, "max_serp_credits", "credits")
    stand_in.fail_at_random(
        0.3, [Reply(503), Reset(after_work=True), CutOff(honest=True), Reply(429)], seed=threads
    )
    serper = client(stand_in, budget=budget)
    refused = threading.Event()

    def search(number: int) -> None:
        try:
            serper.search(f"{QUERY} {number}", 1)
        except BudgetReached:
            refused.set()
        except ServiceError:
            pass

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(search, range(16)))
    assert refused.is_set()
    assert stand_in.units <= budget.spent <= 8


def test_keeps_the_pace(stand_in: SerperStandIn) -> None:
    """At 20 per second, six searches from six threads are at least 50 milliseconds apart."""
    serper = client(stand_in, per_second=20)
    started = time.monotonic()
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda page: serper.search(QUERY, page), range(1, 7)))
    assert time.monotonic() - started >= 0.25


def test_the_account_is_free_to_ask(stand_in: SerperStandIn) -> None:
    """Requesting balance and rate limit costs no credit; a wrong key and an empty account are errors."""
    assert client(stand_in).check() == "2500 credits left, 5000 searches a second allowed"
    assert stand_in.units == 0
    with pytest.raises(CredentialsRefused):
        client(stand_in, api_key="wrong").check()
    stand_in.balance = 0
    with pytest.raises(ConfigurationError, match="Buy some"):
        client(stand_in).check()


def test_an_account_without_a_balance_is_no_answer(stand_in: SerperStandIn) -> None:
    """An account response of another shape is retried, not read as zero."""
    stand_in.script(Reply(200, {"hello": 1}), on="GET /account")
    assert "2500 credits left" in client(stand_in).check()


@pytest.mark.parametrize("key", ["", "two words", "line\nbreak", "schlüssel"])
def test_refuses_what_can_be_no_key(stand_in: SerperStandIn, key: str) -> None:
    """A key with spaces or non-ASCII letters is refused before anything is sent, and the error doesn't contain it."""
    with pytest.raises(ConfigurationError) as caught:
        client(stand_in, api_key=key)
    assert "serper_api_key.txt" in str(caught.value)
    assert not key or key not in str(caught.value)


@pytest.mark.parametrize("form", [KEY, base64.b64encode(KEY.encode()).decode(), KEY.encode().hex()])
def test_a_message_that_repeats_the_key_is_redacted(stand_in: SerperStandIn, form: str) -> None:
    """If the service's message contains the key, plain or encoded, the error shows stars."""
    stand_in.script(Reply(400, {"message": f"{form} sent a bad query"}))
    assert "*** sent a bad query" in str(failure(client(stand_in)))


def test_half_a_surrogate_pair_can_be_searched(stand_in: SerperStandIn) -> None:
    """A lone surrogate in a query is sent as a question mark."""
    client(stand_in).search("red\ud83d shoes", 1)
    assert stand_in.ledger[0].body["q"] == "red? shoes"
