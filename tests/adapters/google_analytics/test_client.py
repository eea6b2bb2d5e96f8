"""The client of Google Analytics gets all rows, retries what passes, and says what to do about the rest."""

import json
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import date

import pytest

from internal_linker.adapters.google_analytics.client import GoogleAnalytics, QuotaReached
from internal_linker.core.errors import CredentialsRefused, ServiceError
from tests.standins import CutOff, Fault, GoogleAnalyticsStandIn, RateLimit, Reply, Reset, Twist
from tests.standins.google_token import EMAIL

DAY, HOST, PROPERTY = date(2026, 11, 1), "www.a.example", "123"
ROWS = [("2026-11-01", HOST, f"/{number}", number + 1, number, 0.5) for number in range(7)]
REPORT = "runReport"


@pytest.fixture
def google() -> Iterator[GoogleAnalyticsStandIn]:
    with GoogleAnalyticsStandIn({PROPERTY: ROWS}) as google:
        yield google


def client(google: GoogleAnalyticsStandIn) -> GoogleAnalytics:
    analytics = GoogleAnalytics(json.dumps(google.service_account), google.url)
    google.closing.enter_context(closing(analytics))
    return analytics


def count(google: GoogleAnalyticsStandIn) -> int:
    return len(client(google).sessions(PROPERTY, DAY, DAY).rows)


def test_rows_come_page_by_page(google: GoogleAnalyticsStandIn) -> None:
    google.most_rows = 3
    report = client(google).sessions(PROPERTY, DAY, DAY)
    assert [offset for *_, offset in google.asked()] == [0, 3, 6]
    assert report.rows["path"].tolist() == [f"/{number}" for number in range(7)]
    assert report.rows.iloc[1].tolist() == ["20261101", HOST, "/1", "2", "1", "0.5"]
    assert (report.zone, report.thresholded, report.sampled, report.lumped) == ("Europe/Berlin", *[False] * 3)


def test_what_google_says_of_its_figures_is_kept(google: GoogleAnalyticsStandIn) -> None:
    """Thresholds, samples and lumped rows are noted; a property without sessions has no rows."""
    google.metadata = {
        "subjectToThresholding": True,
        "dataLossFromOtherRow": True,
        "samplingMetadatas": [{"samplesReadCount": "10", "samplingSpaceSize": "100"}],
    }
    report = client(google).sessions(PROPERTY, DAY, DAY)
    assert report.thresholded and report.sampled and report.lumped
    assert len(client(google).sessions(PROPERTY, date(2026, 1, 1), date(2026, 1, 2)).rows) == 0


@pytest.mark.parametrize(
    "fault",
    [
        Reply(429, json={"error": {"code": 429, "message": "Exhausted concurrent requests quota."}}),
        Reply(503, html="<h1>Service Unavailable</h1>"),
        Reply(200, html="<h1>Sign in to the hotel's network</h1>"),
        Reply(401, json={"error": {"message": "expired"}}),
        CutOff(),
        Reset(),
    ],
)
def test_a_passing_failure_passes_unseen(google: GoogleAnalyticsStandIn, fault: Fault) -> None:
    google.script(fault, on=REPORT)
    assert count(google) == 7
    assert google.script_left == 0


def _revoked(google: GoogleAnalyticsStandIn) -> None:
    google.tokens.revoked = True


def _disabled(google: GoogleAnalyticsStandIn) -> None:
    google.api_enabled = False


def _not_shared(google: GoogleAnalyticsStandIn) -> None:
    google.viewers = {}


def _quota(google: GoogleAnalyticsStandIn) -> None:
    google.quota = RateLimit(0, 3600)


def _proxy(google: GoogleAnalyticsStandIn) -> None:
    google.script(Reply(404, html="<h1>Not here</h1>"), on=REPORT)


def _other_rows(google: GoogleAnalyticsStandIn) -> None:
    google.script(Twist(lambda body: {"rowCount": 1, "rows": [{"dimensionValues": []}]}), on=REPORT)


@pytest.mark.parametrize(
    ("fail", "kind", "words"),
    [
        (_revoked, CredentialsRefused, "deleted, revoked or disabled"),
        (_disabled, ServiceError, "Data API is not enabled.*click Enable"),
        (_not_shared, CredentialsRefused, f"{EMAIL} may not read property 123.*as a Viewer"),
        (_quota, QuotaReached, "quota of property 123 is used up.*run again in an hour"),
        (_proxy, ServiceError, "something other than the API answered.*analytics_url"),
        (_other_rows, ServiceError, "the answer can't be read"),
    ],
)
def test_a_lasting_failure_says_what_to_do(
    google: GoogleAnalyticsStandIn,
    fail: Callable[[GoogleAnalyticsStandIn], None],
    kind: type[ServiceError],
    words: str,
) -> None:
    fail(google)
    with pytest.raises(kind, match=words) as caught:
        count(google)
    assert "PRIVATE KEY" not in str(caught.value)
