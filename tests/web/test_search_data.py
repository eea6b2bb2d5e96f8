"""Search data on the page Import: exported files, a Search Console property, and what is stored."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from playwright.sync_api import expect

from internal_linker.core.search_data import SearchTable
from internal_linker.usecases.project import open_project
from tests.standins.google_analytics import GoogleAnalyticsStandIn
from tests.standins.google_token import EMAIL
from tests.standins.search_console import SearchConsoleStandIn, search_rows
from tests.support.app_browser import AppBrowser, require_sound
from tests.support.app_server import RunningApp
from tests.support.small_project import URLS, forget_settings, make_project, write_text
from tests.usecases.test_import_search_console import connect, days_before
from tests.web.test_import import ended, put

PROPERTY = "https://www.tiny.example/"
DAYS = days_before(datetime.now(UTC).date() - timedelta(days=60), 30)
DATES = "Date,Clicks,Impressions,CTR,Position\n" + "".join(f"{day},5,40,12%,4.5\n" for day in DAYS)
PAGES = (
    f"Top pages,Clicks,Impressions,CTR,Position\n{URLS[0]},120,900,13%,3.4\nhttps://other.example/,1,9,1%,8\n"
)
ODD = "<img src=x onerror=alert(1)> שלום \u202e.csv"


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    forget_settings(monkeypatch)
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


def test_the_panel_fits_a_phone(app: RunningApp, browser: AppBrowser, shop: Path) -> None:
    """With stored days and a file that waits, axe finds nothing and nothing is cut off."""
    api = f"/api/projects/{app.open(shop).key}"
    put(app, api, "Chart.csv", DATES.encode())
    app.client.post(f"{api}/search-data/import", json={})
    assert ended(app, api, "search")["status"] == "done"
    put(app, api, "x" * 300 + ".csv", DATES.encode())
    page = browser.page(app, f"/p/{app.open(shop).key}/import", width=390, scheme="dark")
    page.locator("#search-rows tr").first.wait_for()
    page.locator("#search-files li").first.wait_for()
    require_sound(page, browser)


def test_a_person_imports_sessions(app: RunningApp, browser: AppBrowser, shop: Path) -> None:
    """A Google Analytics property is named by its number: sessions are stored, and missing data are reported."""
    today = datetime.now(UTC).date()
    rows = [
        row
        for day in days_before(today - timedelta(days=1), 9)
        for row in (
            (str(day), "www.tiny.example", "/green-tea/", 5, 3, 1.0),
            (str(day), "other.example", ODD, 9, 0, 0.0),
            (str(day), "other.example", "/x", 9, 0, 0.0),
        )
    ]
    with GoogleAnalyticsStandIn({"123456789": rows}, zone=f"Europe/{ODD}") as google:
        google.metadata = {"samplingMetadatas": [{"samplesReadCount": "1"}]}
        connect_analytics(shop, google)
        page = browser.page(app, f"/p/{app.open(shop).key}/import", width=390, scheme="dark")
        page.get_by_text("No search data are stored yet.").wait_for()
        send = page.get_by_role("button", name="Import search data")
        expect(send).to_be_disabled()
        field = page.get_by_label("Google Analytics property")
        field.fill("G-ABC123")
        send.click()
        page.get_by_text("Google Analytics property G-ABC123: name it by its number").first.wait_for()
        expect(send).to_be_enabled()
        field.fill(" 123456789 ")
        send.click()
        page.locator("#search-rows tr").first.wait_for(timeout=30_000)
        require_sound(page, browser)
        expect(page.locator("#search-rows")).to_contain_text("landing page (sessions)")
        expect(page.locator("#search-rows")).to_contain_text("GA4 property 123456789")
        expect(page.locator("#search-rows")).to_contain_text(str(today - timedelta(days=1)))
        done = page.locator("#search-done")
        expect(done).to_contain_text("without a page, such as (not set) or (other)")
        expect(done).to_contain_text("other.example is another site than tiny.example")
        notes = page.locator("#searching")
        expect(notes).to_contain_text("estimated the figures from a sample of the sessions")
        expect(notes).to_contain_text("onerror=alert(1)")
    with open_project(shop).search_data("GA4 property 123456789") as store:
        assert sum(one.rows for one in store.days(SearchTable.SESSIONS).values()) == 9


def test_a_property_that_may_not_be_read_says_whom_to_add(
    app: RunningApp, browser: AppBrowser, shop: Path
) -> None:
    """The account's address and the place to add it are shown, and nothing is stored."""
    with GoogleAnalyticsStandIn({"123456789": []}) as google:
        google.viewers = {}
        connect_analytics(shop, google)
        page = browser.page(app, f"/p/{app.open(shop).key}/import")
        page.get_by_label("Google Analytics property").fill("123456789")
        page.get_by_role("button", name="Import search data").click()
        page.get_by_text(f"{EMAIL} may not read property 123456789").first.wait_for(timeout=30_000)
        require_sound(page, browser)
    expect(page.locator("#search-none")).to_be_visible()


def connect_analytics(folder: Path, google: GoogleAnalyticsStandIn) -> None:
    """Give a project the service account and the address of the stand-in."""
    key = folder / "config/service_account.txt"
    write_text(key, json.dumps(google.service_account))
    key.chmod(0o600)
    settings = folder / "config/settings.toml"
    write_text(settings, f'{settings.read_text()}\nanalytics_url = "{google.url}"\n')
