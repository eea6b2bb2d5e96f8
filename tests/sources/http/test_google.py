"""Every Google client retries temporary failures, and reports the others with a remedy and without the key."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import date
from typing import Any

import pytest

from internal_linker.model.errors import CredentialsRefused, InputError, InternalLinkerError, ServiceError
from internal_linker.sources.google_analytics import GoogleAnalytics, QuotaReached
from internal_linker.sources.search_console import LoadQuotaReached, SearchConsole
from tests.standins import (
    CutOff,
    Fault,
    GoogleAnalyticsStandIn,
    GoogleStandIn,
    RateLimit,
    Reply,
    Reset,
    Twist,
)
from tests.standins.google_token import EMAIL
from tests.standins.search_console import SearchConsoleStandIn, search_rows
from tests.support.sheets import HEADER, READ, SITE, sheet, shown

DAY, PROPERTY = date(2026, 11, 1), "sc-domain:a.example"


@dataclass
class Service:
    """A stand-in, the requests that count, how many a final failure may take, and a client's whole use."""

    server: Any
    on: str
    most: int
    use: Callable[[], object]


def _used(client: Any, *asked: Any) -> int:
    with closing(client):
        return len(client.rows(*asked) if isinstance(client, SearchConsole) else client.sessions(*asked).rows)


@pytest.fixture
def service(request: pytest.FixtureRequest) -> Iterator[Service]:
    if request.param == "sheets":
        with GoogleStandIn({"Main": [HEADER, [SITE, "tea"]]}) as server:
            yield Service(server, READ, 3, lambda: len(sheet(server).read().rows))
    elif request.param == "console":
        rows = search_rows([DAY], ["https://www.a.example/tea/"])
        with SearchConsoleStandIn({PROPERTY: rows}, today=date(2026, 11, 25)) as console:
            asked = PROPERTY, DAY, DAY, ["page"]
            key = console.service_account
            yield Service(
                console,
                "searchAnalytics",
                1,
                lambda: _used(SearchConsole(json.dumps(key), console.url), *asked),
            )
    else:
        with GoogleAnalyticsStandIn({"123": [("2026-11-01", "a.example", "/", 1, 1, 0.5)]}) as analytics:
            key = analytics.service_account
            yield Service(
                analytics,
                "runReport",
                1,
                lambda: _used(GoogleAnalytics(json.dumps(key), analytics.url), "123", DAY, DAY),
            )


EACH = pytest.mark.parametrize("service", ["sheets", "console", "analytics"], indirect=True)
HOTEL = Reply(200, html="<h1>Sign in to the hotel's network</h1>")
PASSING = [
    Reply(503, html="<h1>Service Unavailable</h1>"),
    Reply(500, json={"error": "not Google's shape"}),
    Reply(401, json={"error": {"message": "expired"}}),
    HOTEL,
    CutOff(),
    CutOff(honest=True),
    Reset(),
]


@EACH
def test_a_passing_failure_passes_unseen(service: Service) -> None:
    for fault in PASSING:
        service.server.script(fault, on=service.on)
        assert service.use() == 1
        assert service.server.script_left == 0


@pytest.mark.parametrize("service", ["console"], indirect=True)
def test_a_failed_sign_in_is_tried_again(service: Service) -> None:
    for fault in (HOTEL, Reply(200, json=[]), Reply(503, html="x"), Reset()):
        service.server.script(fault, on="POST /token")
        assert service.use() == 1
        assert service.server.script_left == 0


def _refused(status: int, message: str, reason: str = "") -> Reply:
    errors = {"errors": [{"reason": reason}]} if reason else {}
    return Reply(status, json={"error": {"code": status, "message": message, **errors}})


@pytest.mark.parametrize(
    ("service", "fault"),
    [
        ("sheets", Reply(429, json={"error": {"message": "Quota"}}, headers={"Retry-After": "0"})),
        ("sheets", Reply(429, html="Slow", headers={"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"})),
        ("console", _refused(429, "Quota", "rateLimitExceeded")),
        ("console", _refused(403, "Slow", "userRateLimitExceeded")),
        ("analytics", _refused(429, "Exhausted concurrent requests quota.")),
    ],
    indirect=["service"],
)
def test_a_rate_limit_passes_unseen(service: Service, fault: Fault) -> None:
    service.server.script(fault, on=service.on)
    assert service.use() == 1 and service.server.script_left == 0


NO_JSON = Reply(404, html="<h1>Not here</h1>")
SKEW = "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe."
REVOKED, DISABLED = {"revoked": True}, {"api_enabled": False}


@pytest.mark.parametrize(
    ("service", "trouble", "kind", "remedy"),
    [
        ("sheets", REVOKED, CredentialsRefused, "Make a new key for .*config/service_account.txt"),
        ("console", REVOKED, CredentialsRefused, f"deleted, revoked or disabled. Make a new key for {EMAIL}"),
        ("analytics", REVOKED, CredentialsRefused, "deleted, revoked or disabled"),
        ("sheets", DISABLED, ServiceError, r"sheets\.googleapis\.com\?project=standin, click Enable"),
        ("console", DISABLED, ServiceError, r"searchconsole\.googleapis\.com\?project=standin, click Enable"),
        ("analytics", DISABLED, ServiceError, "Data API is not enabled.*click Enable"),
        ("sheets", {"shared_with": None}, CredentialsRefused, f"not shared with {EMAIL}.*Editor"),
        (
            "console",
            {"permissions": {}},
            CredentialsRefused,
            f"{EMAIL} is no user of {PROPERTY}: open Settings > Users and permissions",
        ),
        ("analytics", {"viewers": {}}, CredentialsRefused, f"{EMAIL} may not read property 123.*as a Viewer"),
        ("console", {"load": RateLimit(0, 600)}, LoadQuotaReached, "load quota of this property or account"),
        (
            "analytics",
            {"quota": RateLimit(0, 3600)},
            QuotaReached,
            "property 123 is used up.*run again in an hour",
        ),
        ("sheets", NO_JSON, ServiceError, "something other than the API answered.*Check google_api_url"),
        ("console", NO_JSON, ServiceError, "something other than the API answered, with status 404"),
        ("analytics", NO_JSON, ServiceError, "something other than the API answered.*analytics_url"),
        (
            "console",
            Twist(lambda body: {"rows": [{"keys": ["a", "b"], "clicks": 1}]}),
            ServiceError,
            "a row has other keys than those asked for",
        ),
        (
            "analytics",
            Twist(lambda body: {"rowCount": 1, "rows": [{"dimensionValues": []}]}),
            ServiceError,
            "the answer can't be read",
        ),
        (
            "console",
            _refused(400, "Invalid value at 'type'."),
            ServiceError,
            "400 and .* \"Invalid .*'type'\"",
        ),
        (
            "sheets",
            _refused(400, "Something new about ya29.secret " + "and on " * 99),
            ServiceError,
            r'the message "Something new about \*\*\* and on',
        ),
        (
            "sheets",
            _refused(400, "This operation is not supported for this document"),
            InputError,
            "File > Save as Google Sheets",
        ),
        (
            "sheets",
            _refused(401, "Request had ya29.secret credentials"),
            CredentialsRefused,
            "did not accept the sign-in. Make a new key",
        ),
    ],
    indirect=["service"],
)
def test_a_lasting_failure_says_what_to_do(
    service: Service, trouble: Fault | dict[str, object], kind: type[InternalLinkerError], remedy: str
) -> None:
    if isinstance(trouble, Fault):
        service.server.script(*[trouble] * service.most, on=service.on)
    else:
        for name, value in trouble.items():
            if value is None:
                getattr(service.server, name).clear()
            else:
                setattr(service.server.tokens if name == "revoked" else service.server, name, value)
    fails(service, kind, remedy)


@EACH
def test_a_wrong_clock_is_told(service: Service) -> None:
    answer = {"error": "invalid_grant", "error_description": SKEW}
    service.server.script(Reply(400, json=answer), on="POST /token")
    fails(service, ServiceError, "clock is wrong. Let the computer set date")


def fails(service: Service, kind: type[InternalLinkerError], remedy: str) -> None:
    with pytest.raises(kind, match=remedy) as caught:
        service.use()
    assert type(caught.value) is kind and not getattr(caught.value, "retryable", False)
    assert len(service.server.calls(service.on)) <= service.most
    text = shown(caught.value)
    assert not re.search("PRIVATE KEY|ya29", text)
    assert json.dumps(service.server.service_account["private_key"])[100:150] not in text
