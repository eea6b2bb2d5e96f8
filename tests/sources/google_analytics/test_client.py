"""The client of Google Analytics gets all rows, retries what passes, and says what to do about the rest."""

import json
from collections.abc import Iterator
from contextlib import closing
from datetime import date

import pytest

from internal_linker.sources.google_analytics import GoogleAnalytics
from tests.standins import GoogleAnalyticsStandIn

DAY, HOST, PROPERTY = date(2026, 11, 1), "www.a.example", "123"
ROWS = [("2026-11-01", HOST, f"/{number}", number + 1, number, 0.5) for number in range(7)]


@pytest.fixture
def google() -> Iterator[GoogleAnalyticsStandIn]:
    with GoogleAnalyticsStandIn({PROPERTY: ROWS}) as google:
        yield google


def client(google: GoogleAnalyticsStandIn) -> GoogleAnalytics:
    analytics = GoogleAnalytics(json.dumps(google.service_account), google.url)
    google.closing.enter_context(closing(analytics))
    return analytics


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
