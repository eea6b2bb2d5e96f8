"""The page and the API of main queries from search data."""

import json
from pathlib import Path

import pandas as pd
import pytest
from playwright.sync_api import expect

from internal_linker.model.search_data import SearchTable
from internal_linker.project.project import open_project
from tests.standins.google import GoogleStandIn
from tests.support.app_browser import AppBrowser, require_sound
from tests.support.app_server import RunningApp, ended
from tests.support.crawls import table
from tests.support.sheets import before, edit
from tests.support.small_project import SITE, URLS, make_project, write_csv, write_text

GREEN, BLACK, WHITE, POTS, _, STORAGE = URLS
ODD = "<img src=x onerror=alert(1)> שלום \u202e"
EARNED = [
    (f"{SITE}/", "tiny tea shop", 90, 100, 1.0),
    (GREEN, "green tea taste", 9, 90, 2.0),
    (BLACK, ODD, 9, 90, 2.0),
    (WHITE, "tea pot", 9, 90, 3.0),
    (POTS, "tea pot", 11, 90, 2.0),
]


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """Return a project with search data by query, one written main query and two empty ones."""
    folder = make_project(tmp_path / "shop")
    with open_project(folder).search_data("sc-domain:tiny.example", read_only=False) as store:
        for day in pd.date_range("2026-11-01", periods=2):
            rows = pd.DataFrame(EARNED, columns=["page", "query", "clicks", "impressions", "position"])
            store.put(SearchTable.QUERIES, day.date(), rows.assign(date=day))
    rows = [("URL", "Note", "Main Query"), (GREEN, "mine", "own words"), (BLACK, "", ""), (STORAGE, "x", "")]
    write_csv(folder / "files/main_queries.csv", rows)
    return folder


def test_the_api_has_what_the_command_says(app: RunningApp, shop: Path) -> None:
    """Queries with their figures and fates, shared ones, and the site's name; nothing is written before `write`."""
    api = f"/api/projects/{app.open(shop).key}/queries"
    assert app.client.get(api).json() is None
    assert app.client.get(f"{api}/pages").status_code == 409
    before = table(shop, "main_queries.csv")
    assert app.client.post(api, json={}).status_code == 202
    assert ended(app, api.removesuffix("/queries"), "queries")["status"] == "done"
    found = app.client.get(api).json()
    assert (found["written"], found["kept"], found["filled"]) == (False, 1, 3)
    assert {one["query"] for one in found["cannibalised"]} == {"tea pot"}
    assert [one["query"] for one in found["brands"]] == ["tiny tea shop"]
    rows = app.client.get(f"{api}/pages", params={"rows": 2}).json()
    assert rows["total"] == 4 and rows["rows"][0]["query"] == "tea pot" and rows["rows"][0]["clicks"] == 22
    assert [one["page"] for one in rows["rows"]] == [POTS, BLACK], "as the table of pages has them"
    kept = app.client.get(f"{api}/pages", params={"kept": True}).json()
    assert kept["total"] == 1 and kept["rows"][0]["fate"] == "kept"
    assert app.client.get(f"{api}/pages", params={"kept": False}).json()["total"] == 3
    assert (found["unknown_urls"], found["unknown_clicks"]) == (1, 180) and len(
        found["unknown_examples"]
    ) == 1
    assert table(shop, "main_queries.csv") == before


def test_a_person_fills_main_queries(app: RunningApp, browser: AppBrowser, shop: Path) -> None:
    page = browser.page(app, f"/p/{app.open(shop).key}/queries", width=390, scheme="dark")
    page.get_by_text("No main queries have been chosen").wait_for()
    page.get_by_role("button", name="Choose main queries").click()
    page.get_by_role("button", name="Fill 3 empty main queries").wait_for(timeout=30_000)
    expect(page.locator("#pages")).to_contain_text("onerror=alert(1)")
    expect(page.locator("#pages")).not_to_contain_text("green tea taste")
    expect(page.locator("#notes")).to_contain_text("URLs that are no page of the project have 180 clicks")
    summary = page.get_by_text("Kept: written already (1 page)")
    summary.focus()
    summary.press("Enter")
    expect(page.locator("#kept tr")).to_have_count(1)
    expect(page.locator("#kept")).to_contain_text("green tea taste")
    require_sound(page, browser)
    page.get_by_role("button", name="Fill 3 empty main queries").click()
    page.get_by_text("Filled in files/main_queries.csv").wait_for(timeout=30_000)
    expect(page.locator("#write-part")).to_be_hidden()
    require_sound(page, browser)
    written = {row[0]: row[2] for row in table(shop, "main_queries.csv")}
    assert written[GREEN] == "own words" and "onerror" in written[BLACK] and written[STORAGE] == ""
    assert written[POTS] == "tea pot"


def test_without_search_data_the_task_says_so(app: RunningApp, tmp_path: Path) -> None:
    api = f"/api/projects/{app.open(make_project(tmp_path / 'bare')).key}"
    app.client.post(f"{api}/queries", json={})
    assert "There are no search data by page and query" in ended(app, api, "queries")["error"]


def test_the_sheet_is_filled(app: RunningApp, shop: Path) -> None:
    """Empty cells of the Sheet are filled; what is typed meanwhile is kept, and a protected row is reported."""
    grid = [["URL", "Main Query"], [GREEN, "own words"], [BLACK], [POTS], [STORAGE], [f"{SITE}/x"]]
    api = f"/api/projects/{app.open(shop).key}"
    with GoogleStandIn({"Main": grid}) as google:
        connect_sheet(shop, google)
        box = {"sheetId": google.tab("Main").sheet_id, "startRowIndex": 2, "endRowIndex": 3}
        google.edit(
            "addProtectedRange", protectedRange={"range": box, "editors": {"users": ["boss@a.example"]}}
        )
        app.client.post(f"{api}/queries", json={})
        assert ended(app, api, "queries")["status"] == "done"
        assert app.client.get(f"{api}/queries").json()["filled"] == 2
        assert google.grid("Main") == grid, "nothing is written before"
        before(google, "^POST .*:batchUpdate", edit(google, lambda rows: [*rows[:3], [POTS, ODD], *rows[4:]]))
        app.client.post(f"{api}/queries", json={"write": True})
        assert ended(app, api, "queries")["status"] == "done"
        assert google.grid("Main") == [*grid[:3], [POTS, ODD], *grid[4:]]
    found = app.client.get(f"{api}/queries").json()
    assert (found["written"], found["filled"], found["kept"], found["unfilled"]) == (True, 0, 2, 1)


def connect_sheet(folder: Path, google: GoogleStandIn) -> None:
    """Give a project the service account, the Sheet and the address of the stand-in."""
    key, settings = folder / "config/service_account.txt", folder / "config/settings.toml"
    write_text(key, json.dumps(google.service_account))
    key.chmod(0o600)
    sheet = f'google_sheet_id = "{google.spreadsheet_id}"\ngoogle_sheet_name = "Main"\n'
    write_text(settings, f'{settings.read_text()}\n{sheet}google_api_url = "{google.url}"\n')
