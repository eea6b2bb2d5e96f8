"""Sessions of Google Analytics are stored by day, and a second import reads only what is new or may have changed."""

import json
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path

import pytest

from internal_linker.model.errors import ConfigurationError, InputError
from internal_linker.model.search_data import SearchTable, first_kept_day
from internal_linker.project.import_analytics import import_analytics, source_of
from internal_linker.project.import_search_exports import SearchDataImported
from internal_linker.project.options.imports import AnalyticsOptions
from internal_linker.project.project import Project, open_project
from tests.standins import GoogleAnalyticsStandIn, RateLimit
from tests.support.builders import Told
from tests.support.small_project import make_project, write_text

HOST, TODAY = "www.tiny.example", date(2026, 11, 25)
DAYS = [date(2026, 10, 1) + timedelta(number) for number in range(55)]


@pytest.fixture
def google() -> Iterator[GoogleAnalyticsStandIn]:
    rows = [
        row
        for day in DAYS
        for row in (
            (str(day), HOST, "/green-tea/", 5, 3, 1.0),
            (str(day), HOST, "/green-tea/?utm_source=x", 2, 1, 0.0),
            (str(day), HOST, "(not set)", 9, 0, 0.0),
            (str(day), "other.example", "/", 9, 0, 0.0),
        )
    ]
    with GoogleAnalyticsStandIn({"123": rows}) as google:
        yield google


@pytest.fixture
def project(tmp_path: Path, google: GoogleAnalyticsStandIn) -> Project:
    root = make_project(tmp_path / "project", {"analytics_url": google.url})
    key = root / "config/service_account.txt"
    write_text(key, json.dumps(google.service_account))
    key.chmod(0o600)
    return open_project(root)


def imported(project: Project, today: date = TODAY) -> SearchDataImported:
    return import_analytics(project, AnalyticsOptions(property="123"), Told(), today=today)


def test_days_are_stored(project: Project) -> None:
    """Each day has the sessions of its pages; what isn't the site's is counted, and time zones are told apart."""
    done = imported(project)
    [stored] = done.stored
    assert (stored.source, stored.rows, stored.days) == ("GA4 property 123", 55, 55)
    assert (stored.first, stored.last) == (DAYS[0], DAYS[-1])
    assert [*done.rejected.values()] == [55] and "other.example" in next(iter(done.rejected))
    assert done.left_out == {"without a page, such as (not set) or (other)": 55}
    assert any("Europe/Berlin" in remark for remark in done.remarks)
    with project.search_data("GA4 property 123") as store:
        rows = store.read(SearchTable.SESSIONS, DAYS[0], DAYS[0])
    assert rows.drop(columns="date").to_dict("records") == [
        {"page": f"https://{HOST}/green-tea", "sessions": 7, "engaged_sessions": 4, "key_events": 1}
    ]


def test_a_second_import_reads_the_last_days_and_new_ones(
    project: Project, google: GoogleAnalyticsStandIn
) -> None:
    imported(project)
    assert google.asked()[0][:2] == ("2026-10-01", "2026-10-28")
    assert google.calls("runReport")[0].body["dateRanges"][0]["startDate"] == str(first_kept_day(TODAY))
    google.forget()
    done = imported(project, TODAY + timedelta(2))
    assert google.asked() == [("2026-11-22", "2026-11-24", 0)]
    assert done.facts["days that were stored already"] == 52


def test_a_quota_that_runs_out_keeps_what_was_read(project: Project, google: GoogleAnalyticsStandIn) -> None:
    google.quota = RateLimit(2, 3600)
    done = imported(project)
    [gap] = done.gaps
    assert "run again in an hour" in gap and done.stored
    google.quota = RateLimit(1000, 3600)
    google.forget()
    assert imported(project).gaps == []
    assert [first for first, *_ in google.asked()] == ["2026-10-29"]


def test_another_property_is_refused(project: Project, google: GoogleAnalyticsStandIn) -> None:
    google.data["123"] = [(str(day), "other.example", "/", 9, 0, 0.0) for day in DAYS]
    with pytest.raises(InputError, match=r"no session began on tiny.example.*Check the property's number"):
        imported(project)
    with project.search_data() as store:
        assert not [each for each in store.days(SearchTable.SESSIONS).values() if each.rows]


@pytest.mark.parametrize("name", ["G-ABC123", "UA-1-1", "", "properties/x"])
def test_a_property_is_a_number(name: str) -> None:
    with pytest.raises(ConfigurationError, match="Property details"):
        source_of(name)
    assert source_of(" properties/123 ") == "GA4 property 123"


def test_bad_input_is_counted_and_told(project: Project, google: GoogleAnalyticsStandIn) -> None:
    google.data["123"] = [row for row in google.data["123"] if row[0] not in ("2026-10-09", "2026-10-10")] + [
        ("2026-10-01", "tiny.example", "/green-tea", 10, 3, 0.0)
    ]
    google.metadata = {"samplingMetadatas": [{"samplesReadCount": "1"}], "subjectToThresholding": True}
    done = imported(project)
    assert done.facts["days without sessions"] == 2
    for words in (
        "no sessions of 2 days: 2026-10-09, 2026-10-10.",
        "estimated the figures from a sample",
        "left out rows of few users",
        "The days of the property are of Europe/Berlin",
    ):
        assert sum(words in remark for remark in done.remarks) == 1, words
    assert done.facts["pages under http and https, or with and without www, which count as one"] == 1
    assert "days without sessions" not in imported(project).facts
