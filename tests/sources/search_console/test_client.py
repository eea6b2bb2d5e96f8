"""The client of Search Console gets all rows, retries what passes, and says what to do about the rest."""

import json
from collections.abc import Iterator
from contextlib import closing
from datetime import date, timedelta

import pytest

from internal_linker.model.errors import ConfigurationError, CredentialsRefused
from internal_linker.sources.search_console import SearchConsole
from tests.standins.google_token import EMAIL
from tests.standins.search_console import SearchConsoleStandIn, search_rows

TODAY = date(2026, 11, 25)
PROPERTY = "sc-domain:a.example"
DAYS = [date(2026, 11, 1) + timedelta(days=at) for at in range(25)]
PAGES = [f"https://www.a.example/{name}/" for name in ("tea", "pots", "water")]


@pytest.fixture
def google() -> Iterator[SearchConsoleStandIn]:
    with SearchConsoleStandIn({PROPERTY: search_rows(DAYS, PAGES)}, today=TODAY) as google:
        yield google


def client(google: SearchConsoleStandIn, **account: str) -> SearchConsole:
    console = SearchConsole(json.dumps({**google.service_account, **account}), google.url)
    google.closing.enter_context(closing(console))
    return console


def test_rows_come_page_by_page_until_one_is_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("internal_linker.sources.search_console.ROWS_A_PAGE", 250)
    pages = [f"https://www.a.example/{number}/" for number in range(125)]
    rows = search_rows(DAYS[:1], pages, queries=4, hidden=0).assign(clicks=1)
    with SearchConsoleStandIn({PROPERTY: rows}, today=TODAY) as google:
        console = client(google)
        found = console.rows(PROPERTY, DAYS[0], DAYS[0], ["page", "query"])
        assert 250 < len(found) <= 500 and not found.duplicated(["page", "query"]).any()
        assert [first for *_, first in google.asked()] == [0, 250, 500]


def test_dimensions_are_columns(google: SearchConsoleStandIn) -> None:
    """Rows by date have the totals, which are larger than the sums over queries: some of those are hidden."""
    console = client(google)
    totals = console.rows(PROPERTY, DAYS[0], DAYS[1], ["date"])
    by_query = console.rows(PROPERTY, DAYS[0], DAYS[1], ["page", "query"])
    assert [*totals.columns] == ["date", "clicks", "impressions", "position"]
    assert sorted(totals["date"]) == ["2026-11-01", "2026-11-02"]
    assert 0 < by_query["impressions"].sum() < totals["impressions"].sum()
    assert len(console.rows(PROPERTY, TODAY, TODAY, ["date"])) == 0


def test_the_properties_of_an_account_are_told(google: SearchConsoleStandIn) -> None:
    google.permissions["https://b.example/"] = {EMAIL: "siteOwner"}
    google.permissions["https://c.example/"] = {EMAIL: "siteUnverifiedUser"}
    console = client(google)
    console.require(PROPERTY)
    with pytest.raises(CredentialsRefused) as caught:
        console.require("https://www.a.example/")
    assert f"but it is one of {PROPERTY}, https://b.example/: name one of these, or open" in str(caught.value)
    assert console.email == EMAIL


@pytest.mark.parametrize("account", [{"private_key": "x"}, {"token_uri": "nowhere"}])
def test_a_bad_key_is_told_before_any_request(google: SearchConsoleStandIn, account: dict[str, str]) -> None:
    with pytest.raises(ConfigurationError, match="config/service_account.txt can't be used"):
        client(google, **account)
    assert not google.ledger
