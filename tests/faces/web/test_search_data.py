"""Search data on the page Import: exported files, a Search Console property, and what is stored."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from playwright.sync_api import expect

from internal_linker.model.search_data import SearchTable
from internal_linker.project.project import open_project
from tests.faces.web.test_import import put
from tests.project.test_import_search_console import connect, days_before
from tests.standins.search_console import SearchConsoleStandIn, search_rows
from tests.support.app_browser import AppBrowser, require_sound
from tests.support.app_server import RunningApp, ended
from tests.support.small_project import URLS, make_project

PROPERTY = "https://www.tiny.example/"
DAYS = days_before(datetime.now(UTC).date() - timedelta(days=60), 30)
DATES = "Date,Clicks,Impressions,CTR,Position\n" + "".join(f"{day},5,40,12%,4.5\n" for day in DAYS)
PAGES = (
    f"Top pages,Clicks,Impressions,CTR,Position\n{URLS[0]},120,900,13%,3.4\nhttps://other.example/,1,9,1%,8\n"
)
ODD = "<img src=x onerror=alert(1)> שלום \u202e.csv"


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return make_project(tmp_path / "shop")


def test_exports_are_recognised_and_imported_together(app: RunningApp, shop: Path) -> None:
    """The table of dates says which days the pages are of; messages name files as they were uploaded."""
    api = f"/api/projects/{app.open(shop).key}"
    assert app.client.get(f"{api}/search-data").json() == []
    pages = put(app, api, "Pages.csv", PAGES.encode()).json()
    assert pages["kind"] == "search"
    app.client.post(f"{api}/search-data/import", json={})
    failed = ended(app, api, "search")
    assert failed["status"] == "failed" and failed["error"].startswith("Pages.csv: it has no column of days")
    assert put(app, api, "Chart.csv", DATES.encode()).json()["kind"] == "search"
    app.client.post(f"{api}/search-data/import", json={})
    assert ended(app, api, "search")["status"] == "done"
    done = app.client.get(f"{api}/search-data/import").json()
    assert any(name.startswith("rejected: ") and count == 1 for name, count in done["counts"])
    assert [f"rows: pages (sums from {DAYS[0]} to {DAYS[-1]})", 1] in done["counts"]
    rejected = (shop / "files/rejected_search_rows.csv").read_text("utf-8-sig")
    assert "Pages.csv" in rejected and "uploads" not in rejected
    stored = {one["table"]: one for one in app.client.get(f"{api}/search-data").json()}
    assert stored["totals"]["days"] == 30 and stored["totals"]["last"] == str(DAYS[-1])
    assert stored["pages"]["rows"] == 1 and str(DAYS[0]) in stored["pages"]["source"]
    assert app.client.get(f"{api}/uploads").json() == []


def test_a_table_without_a_needed_column_is_search_data(app: RunningApp, shop: Path) -> None:
    """A misnamed column makes search data no pages: no preview offers them, and the import names the column."""
    api = f"/api/projects/{app.open(shop).key}"
    table = f"Date,Page,Query,Klix,Impressions,Position\n{DAYS[0]},{URLS[0]},tea,1,10,2\n"
    given = put(app, api, "days.csv", table.encode()).json()
    assert given["kind"] == "search"
    answer = app.client.post(f"{api}/import/preview", json={"tables": [{"upload": given["id"]}]})
    assert answer.status_code == 422 and "search data" in answer.json()["error"]
    app.client.post(f"{api}/search-data/import", json={})
    failed = ended(app, api, "search")
    assert failed["status"] == "failed"
    assert failed["error"].startswith("days.csv: the header row has no column 'Clicks' (it has: Date, Page,")


def test_search_data_are_no_pages(app: RunningApp, shop: Path) -> None:
    """An import of pages refuses them; an import of search data needs some."""
    api = f"/api/projects/{app.open(shop).key}"
    app.client.post(f"{api}/search-data/import", json={})
    assert "Nothing to import" in ended(app, api, "search")["error"]
    given = put(app, api, "Chart.csv", DATES.encode()).json()
    answer = app.client.post(f"{api}/import/preview", json={"tables": [{"upload": given["id"]}]})
    assert answer.status_code == 422 and "search data" in answer.json()["error"]
    app.client.post(f"{api}/search-data/import", json={"search_console": "ftp://tiny.example"})
    assert ended(app, api, "search")["status"] == "failed"


@pytest.mark.long
def test_a_person_imports_search_data(
    app: RunningApp, browser: AppBrowser, shop: Path, tmp_path: Path
) -> None:
    """Files are dropped, the property is named, and the panel says what is stored; hostile names stay text."""
    today = datetime.now(UTC).date()
    rows = search_rows(days_before(today, 9), URLS[:2], queries=2)
    with SearchConsoleStandIn({PROPERTY: rows}, today=today) as google:
        connect(shop, google)
        page = browser.page(app, f"/p/{app.open(shop).key}/import")
        page.get_by_text("No search data are stored yet.").wait_for()
        expect(page.get_by_role("button", name="Import search data")).to_be_disabled()
        chosen = {"name": ODD, "mimeType": "text/csv", "buffer": DATES.encode()}
        page.locator("#files").set_input_files(chosen)  # type: ignore[arg-type]
        expect(page.locator("#search-files li")).to_contain_text("onerror=alert(1)")
        expect(page.locator("#tables-part")).to_be_hidden()
        page.get_by_label("Search Console property").fill(PROPERTY)
        page.get_by_role("button", name="Import search data").click()
        page.locator("#search-rows tr").first.wait_for(timeout=30_000)
        page.locator("#search-done").get_by_text("days fetched").wait_for()
        expect(page.locator("#search-files li")).to_have_count(0)
        require_sound(page, browser)
    with open_project(shop).search_data(PROPERTY) as store:
        fetched = [day for day, one in store.days(SearchTable.PAGES).items() if one.rows]
    assert fetched and max(fetched) <= today - timedelta(days=3)
    expect(page.locator("#search-rows")).to_contain_text(str(max(fetched)))
    expect(page.locator("#search-rows")).to_contain_text("exported files")
