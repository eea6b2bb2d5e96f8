"""The page and the API of the audit."""

import io
import shutil
from pathlib import Path

import openpyxl
import pandas as pd
import pytest

from internal_linker.model.search_data import SearchTable
from internal_linker.project.project import open_project
from tests.support.app_browser import AppBrowser, require_sound
from tests.support.app_server import RunningApp, ended
from tests.support.small_project import (
    HEADER,
    SITE,
    TOPICS,
    URLS,
    command,
    make_project,
    write_csv,
)


def make_shop_with_run(folder: Path) -> Path:
    """Create a project with hostile titles, links of today and a run."""
    make_project(folder)
    pages = [
        (f"{SITE}/{slug}/", f"{slug} <img src=x onerror=alert(1)> שלום", text)
        for slug, text in TOPICS.items()
    ]
    write_csv(folder / "files/urls_rawdata.csv", [HEADER, *pages])
    links = [(URLS[one], URLS[other], "tea") for one, other in [(0, 1), (1, 0), (1, 2)]]
    write_csv(folder / "files/existing_links.csv", [("Source", "Destination", "Anchor"), *links])
    assert command("run", "--project", str(folder)) == 0
    return folder


@pytest.fixture(scope="module")
def with_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_shop_with_run(tmp_path_factory.mktemp("audit") / "shop")


@pytest.fixture
def shop(with_run: Path, tmp_path: Path) -> Path:
    return shutil.copytree(with_run, tmp_path / "shop")


def audited(app: RunningApp, shop: Path) -> str:
    api = f"/api/projects/{app.open(shop).key}"
    assert app.client.post(f"{api}/audit", json={"home": URLS[0]}).status_code == 202
    assert ended(app, api, "audit")["status"] == "done"
    return api


def test_each_state_can_be_downloaded(app: RunningApp, shop: Path) -> None:
    api = f"/api/projects/{app.open(shop).key}/audit"
    assert app.client.get(f"{api}/workbook", params={"of": "today"}).status_code == 409
    audited(app, shop)
    found = app.client.get(api).json()
    links = next(each["values"] for each in found["measures"] if each["key"] == "links")
    assert links[2] > links[0]
    for at, of in enumerate(("today", "accepted", "all")):
        answer = app.client.get(f"{api}/workbook", params={"of": of})
        assert f"audit-{of}.xlsx" in answer.headers["content-disposition"]
        book = openpyxl.load_workbook(io.BytesIO(answer.content))
        rows = {sheet.title: sheet.max_row - 1 for sheet in book}
        assert rows["Pages"] == 6 and rows["Actions"] == len(found["actions"])
        assert rows["Findings"] == sum(rule["counts"][at] for rule in found["rules"])
        assert rows.get("New links", 0) == links[at] - links[0] and ("New links" in rows) == (of != "today")
        inlinks = [row[4].value for row in book["Pages"].iter_rows(min_row=2)]
        assert sum(inlinks) == links[at]
        assert book["Pages"]["B2"].value.endswith("<img src=x onerror=alert(1)> שלום")
    assert app.client.get(f"{api}/workbook", params={"of": "tomorrow"}).status_code == 422


def test_opportunities_have_the_sources_of_their_gains(app: RunningApp, shop: Path) -> None:
    """Answer and download have the gains, largest first, with the pages that could link there."""
    query = "<img src=x onerror=alert(1)> \u202eשלום"
    rows = [
        (date, url, name, 1, seen, 8.0)
        for date in pd.date_range("2026-11-01", periods=28)
        for url, name, seen in ((URLS[0], query, 900), (URLS[3], "tea", 300))
    ]
    found = pd.DataFrame(rows, columns=["date", "page", "query", "clicks", "impressions", "position"])
    with open_project(shop).search_data("sc-domain:tiny.example", read_only=False) as store:
        for day, some in found.groupby("date"):
            store.put(SearchTable.QUERIES, pd.Timestamp(str(day)).date(), some)
    api = audited(app, shop)
    told = app.client.get(f"{api}/audit/opportunities").json()
    assert told["total"] == app.client.get(f"{api}/audit").json()["opportunities"] == 2
    first, second = told["rows"]
    assert (first["page"], first["query"], first["position"]) == (URLS[0], query, 8.0)
    assert first["impressions"] == 900 * 28 and first["gain"] >= second["gain"] > 0
    assert first["sources"] and URLS[1] not in first["sources"], "which links there today"
    answer = app.client.get(f"{api}/audit/workbook", params={"of": "today"})
    sheet = openpyxl.load_workbook(io.BytesIO(answer.content))["Opportunities"]
    cells = list(sheet.iter_rows(values_only=True))
    assert len(cells) == 3 and cells[1][:6] == (URLS[0], query, 8, 900 * 28, 28, first["gain"])
    assert [cell for cell in cells[1][6:] if cell] == first["sources"]


def test_wrong_questions_are_refused(app: RunningApp, shop: Path) -> None:
    """A wrong figure, state or section is one sentence; a wrong home page fails the task."""
    api = audited(app, shop)
    for path, query in (
        ("pages", {"of": "tomorrow"}),
        ("pages", {"of": "today", "figure": "links"}),
        ("links", {"of": "today", "source": "/nowhere"}),
    ):
        answer = app.client.get(f"{api}/audit/{path}", params=query)
        assert answer.status_code == 422 and answer.json()["error"]
    app.client.post(f"{api}/audit", json={"home": "https://elsewhere.example/"})
    state = ended(app, api, "audit")
    assert state["status"] == "failed" and "not found" in state["error"]
    assert app.client.get(f"{api}/audit").json()["home"] == URLS[0]


def test_a_person_follows_a_number(app: RunningApp, browser: AppBrowser, shop: Path) -> None:
    page = browser.page(app, f"/p/{app.open(shop).key}/audit")
    page.get_by_text("has not been audited yet").wait_for()
    page.get_by_role("button", name="Audit the site").click()
    page.get_by_role("heading", name="The most useful actions").wait_for()
    for name, of in (("Today", "today"), ("Everything proposed", "all")):
        with page.expect_download() as download:
            page.get_by_role("link", name=name, exact=True).click()
        assert download.value.suggested_filename == f"audit-{of}.xlsx"
    page.get_by_text("Show where and how").first.click()
    page.get_by_role("button", name="rows of Orphans, today").click()
    page.get_by_role("heading", name="Orphans, today").wait_for()
    assert page.evaluate("document.activeElement.id") == "rows-title"
    require_sound(page, browser)
    page.get_by_role("button", name="findings: orphan, today").press("Enter")
    page.get_by_role("heading", name="no other page links here, today").wait_for()
    page.get_by_role("button", name="Everything proposed", exact=True).click()
    page.locator("#matrix").click(position={"x": 400, "y": 40})
    page.get_by_role("heading", name="Links from / to /, with everything proposed").wait_for()
    page.get_by_role("button", name="Today", exact=True).click()
    page.get_by_role("button", name="Show their links").click()
    page.get_by_role("heading", name="Links from / to /, today: 3 links").wait_for()
    require_sound(page, browser)
