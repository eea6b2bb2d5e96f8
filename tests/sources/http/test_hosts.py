"""Requests go only to the hosts in the settings, and responses have a limit in size and time."""

import gzip
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import httpx
import pytest

from internal_linker.model.errors import InternalLinkerError, ServiceDown, ServiceError
from internal_linker.sources.google_sheets import client as google_client
from internal_linker.sources.http import client as bounded_http
from internal_linker.sources.http import limits
from internal_linker.sources.http.limits import ATTEMPTS, DOWN_CALLS
from internal_linker.sources.openai import api as openai_server
from tests.standins import Answer, Drip, Fault, GoogleStandIn, Reply, SerpApiStandIn, SerperStandIn, Twist
from tests.standins.base import StandIn
from tests.standins.faults import Pause, Work
from tests.support.embedders import OPEN, PAGES, collect, encoder_at, start_stand_in
from tests.support.searching import client
from tests.support.sheets import sheet

Ask = Callable[[], object]


@dataclass
class Service:
    """A client, its server, one request to it, and the paths whose responses a test may lengthen."""

    server: StandIn
    ask: Ask
    on: str
    clients: list[object] = field(default_factory=list)


@pytest.fixture(params=["Serper", "SerpApi", "OpenAI", "Google Sheets"])
def service(request: pytest.FixtureRequest) -> Iterator[Service]:
    if request.param == "Serper":
        with SerperStandIn(lambda words, site: ["https://a.example/"]) as serper:
            yield Service(serper, lambda: client(serper).search("tea", 1), "POST /search")
    elif request.param == "SerpApi":
        with SerpApiStandIn(lambda words, site: ["https://a.example/"]) as serpapi:
            yield Service(serpapi, lambda: client(serpapi).search("tea", 1), "GET /search")
    elif request.param == "OpenAI":
        with start_stand_in() as openai:
            yield Service(openai, lambda: collect(encoder_at(openai), PAGES[:1]), "POST .*/embeddings")
            while OPEN:
                OPEN.pop().close()
    else:
        with GoogleStandIn({"Main": [["URL", "Main Query"], ["https://a.example/", "tea"]]}) as google:
            yield Service(google, lambda: sheet(google).read(), "GET .*/values/")


@pytest.fixture
def elsewhere() -> Iterator[StandIn]:
    with SerperStandIn(lambda words, site: []) as other:
        yield other


def failure(ask: Ask) -> InternalLinkerError:
    with pytest.raises(InternalLinkerError) as caught:
        ask()
    return caught.value


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limit each response to half a second and 100,000 bytes."""
    monkeypatch.setattr(openai_server, "LONGEST_S", 0.5)
    monkeypatch.setattr(openai_server, "MOST_BYTES", 100_000)
    bounds = replace(google_client.BOUNDS, longest_s=0.5, most_bytes=100_000)
    monkeypatch.setattr(google_client, "BOUNDS", bounds)
    monkeypatch.setattr("internal_linker.sources.serp.service.MOST_BYTES", 100_000)


def test_a_redirect_to_another_host_is_refused(service: Service, elsewhere: StandIn) -> None:
    """Neither key nor text follows a redirect, however often the service sends one."""
    away = [Reply(status, headers={"Location": f"{elsewhere.url}/search"}) for status in (301, 307)]
    service.server.script(*away * ATTEMPTS, on=service.on)
    assert isinstance(failure(service.ask), ServiceError)
    assert elsewhere.ledger == []


def test_a_sign_in_is_not_redirected(google: GoogleStandIn, elsewhere: StandIn) -> None:
    google.script(*[Reply(307, headers={"Location": f"{elsewhere.url}/token"})] * ATTEMPTS, on="POST /token")
    assert isinstance(failure(lambda: sheet(google).read()), ServiceError)
    assert elsewhere.ledger == []


def test_an_answer_without_end_is_given_up(service: Service) -> None:
    """A response that is too large costs one retry."""
    service.server.script(Twist(lambda body: {**body, "padding": "x" * 200_000}), on=service.on)
    service.ask()
    assert service.server.script_left == 0 and len(service.server.calls(service.on)) == 2


@dataclass(frozen=True)
class Bomb(Fault):
    """A response that unpacks to a thousand times its size."""

    def answer(self, work: Work, pause: Pause) -> Answer:
        packed = gzip.compress(json.dumps({"padding": "x" * 50_000_000}).encode())
        return Answer(200, packed, {"Content-Encoding": "gzip", "Content-Type": "application/json"})


@pytest.mark.long
@pytest.mark.parametrize("fault", [Drip(30.0, pieces=300), Bomb()])
def test_an_answer_that_drips_or_unpacks_without_end_is_given_up(service: Service, fault: Fault) -> None:
    server = service.server
    if isinstance(server, SerperStandIn | SerpApiStandIn):
        quick = client(server, timeout=0.5)
        service.ask = lambda: quick.search("tea", 1)
    server.script(fault, on=service.on)
    service.ask()
    assert server.script_left == 0


@pytest.mark.long
def test_a_service_that_is_down_is_left_alone(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a while of nothing but failures, no more requests are sent, and the error says since when."""
    monkeypatch.setattr(limits, "DOWN_S", 0.0)
    service.server.script(*[Reply(500)] * 50, on=service.on)
    error = failure(service.ask)
    assert isinstance(error, ServiceDown) and "it has failed since" in str(error)
    assert len(service.server.calls(service.on)) == DOWN_CALLS


@pytest.mark.parametrize(
    ("variable", "no_proxy", "used"),
    [("HTTP_PROXY", "", True), ("ALL_PROXY", "", True), ("HTTP_PROXY", "elsewhere.example", False)],
)
def test_hidden_parameters_take_the_proxy_of_the_environment(
    variable: str, no_proxy: str, used: bool, monkeypatch: pytest.MonkeyPatch, elsewhere: StandIn
) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    monkeypatch.setenv(variable.lower(), elsewhere.url.removeprefix("http://"))
    monkeypatch.setenv("no_proxy", no_proxy)
    url = "http://elsewhere.example"
    hidden = bounded_http.HiddenParameters(url, {"api_key": "secret &"}, httpx.Limits())
    if not used:
        assert bounded_http._proxy_for(url) is None
        return
    with bounded_http.bounded_client(10_000, 1.0, transport=hidden) as client:
        answer = client.get(f"{url}/search", params={"q": "a&b"})
    (call,) = elsewhere.ledger
    assert (call.path, call.query) == ("/search", {"q": ["a&b"], "api_key": ["***"]})
    assert str(answer.request.url) == f"{url}/search?q=a%26b"


def test_our_client_asks_for_nothing_packed() -> None:
    with bounded_http.bounded_client(10, 1.0, headers={"X-Own": "1"}) as client:
        assert (client.headers["Accept-Encoding"], client.headers["X-Own"]) == ("identity", "1")
        assert not client.follow_redirects
