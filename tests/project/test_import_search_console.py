"""The import of search data asks Google for each day once, keeps what it got, and says what is missing."""

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pandas as pd
import pytest
import time_machine

from internal_linker import InternalLinkerError, import_search_console, search_data
from internal_linker.model.search_data import SearchTable, StoredDay
from internal_linker.project.check import check
from internal_linker.project.project import open_project
from tests.standins import RateLimit, Reply
from tests.standins.google_token import EMAIL
from tests.standins.search_console import SearchConsoleStandIn, search_rows
from tests.support.crawls import empty_project, imported
from tests.support.small_project import URLS, make_project, write_text

# Noon, so that Pacific time has the same day.
NOW = datetime(2026, 11, 25, 20, tzinfo=UTC)
TODAY = NOW.date()
PROPERTY = "https://www.tiny.example/"
QUERY = "searchAnalytics"
NEWEST = TODAY - timedelta(days=3)


def days_before(newest: date, count: int) -> list[date]:
    return [newest - timedelta(days=count - 1 - at) for at in range(count)]


DAYS = days_before(TODAY, 14)


@pytest.fixture(autouse=True)
def _now() -> Iterator[None]:
    # A clock that moves on: tokens would not expire, and pauses not end, on one that stands still.
    with time_machine.travel(NOW, tick=True):
        yield


@pytest.fixture
def google() -> Iterator[SearchConsoleStandIn]:
    with SearchConsoleStandIn({PROPERTY: search_rows(DAYS, URLS[:3], queries=2)}, today=TODAY) as google:
        yield google


def connect(folder: Path, google: SearchConsoleStandIn) -> Path:
    """Give a project the service account and the address of the stand-in."""
    key = folder / "config/service_account.txt"
    write_text(key, json.dumps(google.service_account))
    key.chmod(0o600)
    settings = folder / "config/settings.toml"
    write_text(settings, f'{settings.read_text()}\nsearch_console_url = "{google.url}"\n')
    return folder


@pytest.fixture
def project(tmp_path: Path, google: SearchConsoleStandIn) -> Path:
    return connect(make_project(tmp_path / "project"), google)


def asked_days(google: SearchConsoleStandIn) -> list[str]:
    """Return each day that was asked for by query, in order, without the empty answers at the end."""
    return [first for first, _, by, start in google.asked() if by == ("page", "query") and start == 0]


def stored(folder: Path, table: SearchTable = SearchTable.TOTALS) -> dict[date, StoredDay]:
    with open_project(folder).search_data(PROPERTY) as store:
        return dict(store.days(table))


@pytest.mark.long
def test_the_first_import_stores_every_day_that_google_has(
    project: Path, google: SearchConsoleStandIn, capsys: pytest.CaptureFixture[str]
) -> None:
    assert imported(project, "--search-console", "https://www.tiny.example") == 0
    said = capsys.readouterr().out
    data = google.data[PROPERTY]
    data = data[data["date"] <= NEWEST.isoformat()]
    found = search_data(project)
    assert found.sources == dict.fromkeys(("queries", "pages", "totals"), PROPERTY)
    assert found.totals["clicks"].sum() == found.pages["clicks"].sum() == data["clicks"].sum()
    assert found.queries["clicks"].sum() == data[data["query"] != ""]["clicks"].sum()
    assert found.queries["query"].nunique() == 6 and found.pages["page"].nunique() == 3
    one = found.pages[(found.pages["page"] == URLS[0]) & (found.pages["date"] == pd.Timestamp(NEWEST))]
    own = data[(data["page"] == URLS[0]) & (data["date"] == NEWEST.isoformat())]
    weighted = (own["position"] * own["impressions"]).sum() / own["impressions"].sum()
    assert one["position"].item() == pytest.approx(weighted)
    assert "Fetched: 11 days" in said and "Rows: queries: 66" in said and "Rows: totals: 11" in said
    assert f"Stored: {DAYS[0]} to {NEWEST}; {NEWEST - timedelta(days=7)} is the last final day" in said
    assert "Clicks without a query" in said and "Pages of the last 28 days: 3 are in the crawl" in said
    assert list(found.frames) == ["queries", "pages", "totals", "sessions"] and len(found.sessions) == 0


@pytest.mark.long
def test_a_second_import_asks_only_for_new_days_and_the_last_week(
    project: Path, google: SearchConsoleStandIn
) -> None:
    """Final days are never asked for again and stay as they were; the last week has what Google said last.

    On one day nothing is asked for twice.
    """
    import_search_console(PROPERTY, project)
    assert asked_days(google) == [day.isoformat() for day in reversed(DAYS[:11])]
    google.forget()
    import_search_console(PROPERTY, project)
    # The days before the property's first ones are stored as empty, those of today's import as they are.
    assert google.asked() == []
    before = search_data(project).totals
    google.data[PROPERTY] = google.data[PROPERTY].assign(clicks=lambda rows: rows["impressions"])
    with time_machine.travel(NOW + timedelta(days=2), tick=True):
        google.today = TODAY + timedelta(days=2)
        done = import_search_console(PROPERTY, project)
    week = days_before(NEWEST + timedelta(days=2), 9)
    assert asked_days(google) == [day.isoformat() for day in reversed(week)]
    assert min(first for first, *_ in google.asked()) == week[0].isoformat()
    after = search_data(project).totals
    assert done.fetched == week and len(after) == 13
    final = after["date"] < pd.Timestamp(week[0])
    assert after[final].equals(before[: final.sum()])
    assert (after[~final]["clicks"] == after[~final]["impressions"]).all()


def test_the_next_step_is_named(
    project: Path, google: SearchConsoleStandIn, capsys: pytest.CaptureFixture[str]
) -> None:
    """The output ends with what the data are good for; without data there is no such step."""
    arguments = ("--search-console", PROPERTY, "--days", "2")
    assert imported(project, *arguments) == 0
    told = [line for line in capsys.readouterr().out.splitlines() if "Next: " in line]
    assert len(told) == 1 and f"queries --project {project}` chooses main queries; " in told[0]
    assert (
        f'run --project {project}` prefers pages that need links most, with priority = "search" in' in told[0]
    )
    settings = project / "config/settings.toml"
    write_text(settings, f'{settings.read_text()}\npriority = "search"\n')
    assert imported(project, *arguments) == 0
    assert f"run --project {project}` prefers pages that need links most\n" in capsys.readouterr().out
    google.data["https://www.new.example/"] = google.data[PROPERTY].iloc[:0]
    google.permissions["https://www.new.example/"] = {EMAIL: "siteOwner"}
    assert imported(project, "--search-console", "https://www.new.example/") == 0
    assert "Next:" not in capsys.readouterr().out


def test_a_used_up_quota_keeps_what_was_fetched(
    project: Path, google: SearchConsoleStandIn, capsys: pytest.CaptureFixture[str]
) -> None:
    google.load = RateLimit(2 * 486 + 4 * 220, 600)
    assert imported(project, "--search-console", PROPERTY) == 6
    said = capsys.readouterr().out
    assert "Search Console: the load quota of this property or account is used up" in said
    assert "Run the same command again after " in said and "7 older days can be fetched later" in said
    assert len([day for day in stored(project).values() if day.rows]) == 4
    google.load = RateLimit(1_000_000, 600)
    google.forget()
    assert imported(project, "--search-console", PROPERTY) == 0
    assert asked_days(google) == [day.isoformat() for day in reversed(DAYS[:7])]
    google.load = RateLimit(0, 600)
    google.data[PROPERTY] = google.data[PROPERTY].iloc[:0]
    with time_machine.travel(NOW + timedelta(days=1), tick=True):
        assert imported(project, "--search-console", PROPERTY) == 4


@pytest.mark.long
def test_an_import_that_fails_in_the_middle_goes_on_where_it_stopped(
    project: Path, google: SearchConsoleStandIn
) -> None:
    # The third query by page fails: two days are whole, the third has its queries only.
    answers = iter(range(1000))

    def fail(request: object) -> None:
        body = request.json() or {}  # type: ignore[attr-defined]
        if body.get("dimensions") == ["page"] and body["startRow"] == 0 and next(answers) == 2:
            google.script(Reply(400, json={"error": {"message": "Internal."}}), on=QUERY)

    google.before = fail  # type: ignore[method-assign]
    done = import_search_console(PROPERTY, project)
    assert len(done.fetched) == 2 and "9 older days" in done.gaps[0]
    with open_project(project).search_data(PROPERTY) as store:
        assert len([day for day in store.days(SearchTable.QUERIES).values() if day.rows]) == 3
    google.forget()
    assert import_search_console(PROPERTY, project).fetched == DAYS[:9]


def test_search_data_need_no_crawl(
    tmp_path: Path, google: SearchConsoleStandIn, capsys: pytest.CaptureFixture[str]
) -> None:
    fresh = connect(empty_project(tmp_path / "fresh"), google)
    assert imported(fresh, "--search-console", PROPERTY, "--days", "2", "--json") == 0
    told = json.loads(capsys.readouterr().out)["search_data"]
    assert told["fetched"] == [str(day) for day in days_before(NEWEST, 2)] and told["pages_matched"] is None
    assert len(search_data(fresh).totals) == 2


def test_bad_rows_and_missing_days_are_counted(
    project: Path, google: SearchConsoleStandIn, capsys: pytest.CaptureFixture[str]
) -> None:
    data = google.data[PROPERTY]
    missing = DAYS[5].isoformat()
    data = data[data["date"] != missing]
    odd = [
        (DAYS[8].isoformat(), "https://www.other.example/", "tea", 1, 5, 2.0),
        (DAYS[8].isoformat(), f"{PROPERTY}gone/", "tea", 4, 5, 2.0),
        (DAYS[8].isoformat(), URLS[4], "clay", 0, 5, 0.0),
        (DAYS[8].isoformat(), URLS[5], "tins", 9, 5, 1.0),
        (DAYS[8].isoformat(), URLS[0].replace("https://www.", "http://"), "x", 1, 5, 1.0),
    ]
    google.data[PROPERTY] = pd.concat([data, pd.DataFrame(odd, columns=data.columns)])
    assert imported(project, "--search-console", PROPERTY) == 0
    said = capsys.readouterr().out
    assert "Left out: rows queries: with a position below 1: 1" in said
    assert "Left out: rows queries: with more clicks than impressions: 1" in said
    assert "Left out: rows with a page of another site: 2" in said  # by query and by page
    assert f"Days without data: {missing}" in said
    assert "Other spellings of these pages: 1 URLs, as http or https" in said
    assert "Pages of the last 28 days: 3 are in the crawl" in said
    assert f"URLs that are not in the crawl: 1 with 4 clicks, such as {PROPERTY}gone/" in said


def test_days_with_too_many_rows_are_told(
    project: Path, google: SearchConsoleStandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    from internal_linker.project import import_search_console as usecase

    monkeypatch.setattr(usecase, "ROWS_A_DAY", 6)
    google.rows_a_day = 6
    assert import_search_console(PROPERTY, project, days=2).cut == days_before(NEWEST, 2)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (
            ["sc-domain:tiny.example"],
            4,
            f"{EMAIL} is no user of sc-domain:tiny.example, but it is one of {PROPERTY}",
        ),
        (["http://www.tiny.example/"], 4, f"but it is one of {PROPERTY}: name one of these"),
        (["www.tiny.example"], 2, "name the property as Search Console does: sc-domain:tiny.example"),
        ([PROPERTY, "--days", "900"], 2, "it must be 486 or less"),
    ],
)
def test_a_wrong_property_is_told(
    project: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: Sequence[str],
    code: int,
    message: str,
) -> None:
    assert imported(project, "--search-console", *arguments) == code
    said = capsys.readouterr()
    assert message in " ".join((said.out + said.err).split())


def test_without_an_account_the_page_on_granting_access_is_named(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "config/service_account.txt").unlink()
    assert imported(project, "--search-console", PROPERTY) == 2
    assert "put its key into config/service_account.txt" in capsys.readouterr().err
    assert imported(project, "--days", "3") == 2


def test_check_asks_for_a_property_that_was_imported(project: Path, google: SearchConsoleStandIn) -> None:
    """`check` says what is stored, and fails once the account may not read the property any more."""
    assert "Search Console" not in {fact.name for fact in check(project).facts}
    import_search_console(PROPERTY, project, days=2)
    [fact] = [fact for fact in check(project).facts if fact.name == "Search Console"]
    assert fact.ok and fact.text.startswith(f"{PROPERTY}: 2 days until {NEWEST}")
    google.permissions.clear()
    [fact] = [fact for fact in check(project).facts if fact.name == "Search Console"]
    assert fact.ok is False and f"add {EMAIL} as a user" in fact.text


def test_old_days_are_removed(project: Path, google: SearchConsoleStandIn) -> None:
    """An import removes days that Google has forgotten; nothing is fetched for them."""
    old = date(2025, 7, 1)
    with open_project(project).search_data(PROPERTY, read_only=False) as store:
        rows = pd.DataFrame({"date": [old], "clicks": [1], "impressions": [2], "position": [1.0]})
        store.put(SearchTable.TOTALS, old, rows)
    assert import_search_console(PROPERTY, project, days=1).pruned == 1
    assert [*stored(project)] == [NEWEST]


def test_another_property_of_the_site_is_told(project: Path, google: SearchConsoleStandIn) -> None:
    """Days of two properties are kept apart: reading takes one of them, and the import names the other."""
    google.data["sc-domain:tiny.example"] = google.data[PROPERTY]
    google.permissions["sc-domain:tiny.example"] = {EMAIL: "siteOwner"}
    import_search_console(PROPERTY, project, days=3)
    done = import_search_console("sc-domain:tiny.example", project, days=1)
    assert done.others == [PROPERTY]
    assert set(search_data(project).sources.values()) == {PROPERTY}
    assert len(search_data(project, source="sc-domain:tiny.example").totals) == 1
    with pytest.raises(InternalLinkerError, match="--days|days"):
        import_search_console(PROPERTY, project, days=-1)
