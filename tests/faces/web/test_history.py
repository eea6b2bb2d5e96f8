"""The page and the API of earlier runs."""

import shutil
from pathlib import Path

import pytest

from tests.support.app_browser import AppBrowser, require_sound
from tests.support.app_server import RunningApp, ended
from tests.support.sites import read_csv
from tests.support.small_project import (
    HEADER,
    SITE,
    TOPICS,
    command,
    make_project,
    write_csv,
)

NEW = ("herbal-tea", "Herbal tea of fresh leaves gives a light cup that has no dark colour at all.")


@pytest.fixture(scope="module")
def with_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a project with two runs, the second with a new page whose title is hostile."""
    folder = make_project(
        tmp_path_factory.mktemp("history") / "shop", {"links_per_page": 2, "min_inlinks": 0, "max_inlinks": 0}
    )
    assert command("run", "--project", str(folder)) == 0
    pages = [
        (f"{SITE}/{slug}/", f"{slug} <img src=x onerror=alert(1)>", text)
        for slug, text in [*TOPICS.items(), NEW]
    ]
    write_csv(folder / "files/urls_rawdata.csv", [HEADER, *pages])
    assert command("run", "--project", str(folder)) == 0
    return folder


@pytest.fixture
def shop(with_runs: Path, tmp_path: Path) -> Path:
    return shutil.copytree(with_runs, tmp_path / "shop")


def links(folder: Path) -> list[dict[str, str]]:
    return read_csv(folder / "files/Output.csv")


def test_runs_are_listed_compared_and_put_back(app: RunningApp, shop: Path) -> None:
    """The newest run comes first; a rollback does what its preview says, and is a run of its own."""
    api = f"/api/projects/{app.open(shop).key}"
    newest, first = app.client.get(f"{api}/history").json()
    assert (newest["name"], first["name"]) == ("last", "last-1") and first["links"] == 12
    ends = {"before": first["run"], "after": "last"}
    found = app.client.get(f"{api}/history/difference", params=ends).json()
    assert found["total"] == newest["links"] == sum(part["count"] for part in found["links"])
    assert found["differences"] == len(found["shown"]) == sum(each["links"] for each in found["counts"])
    assert (
        app.client.get(f"{api}/history/difference", params=ends | {"section": "/nowhere"}).status_code == 422
    )
    plan = app.client.post(f"{api}/history/rollback/preview", json={"run": "last-1"}).json()
    assert (plan["links"], plan["rows"], plan["rejected"]) == (12, 6, 0)
    assert app.client.post(f"{api}/history/rollback", json={"run": "last-1"}).status_code == 202
    assert ended(app, api, "rollback")["status"] == "done"
    assert "12 links in 6 rows" in app.client.get(f"{api}/history/rollback").json()["summary"]
    assert len(links(shop)) == 6
    assert app.client.get(f"{api}/history").json()[0]["what"] == f"rollback to {first['run']}"


def test_a_run_that_is_not_kept_is_named(app: RunningApp, shop: Path) -> None:
    api = f"/api/projects/{app.open(shop).key}"
    answers = [
        app.client.get(f"{api}/history/difference", params={"before": "x", "after": "last"}),
        app.client.post(f"{api}/history/rollback/preview", json={"run": "last-9"}),
    ]
    assert [answer.status_code for answer in answers] == [422, 422]
    assert all("not found" in answer.json()["error"] for answer in answers)
    app.client.post(f"{api}/history/rollback", json={"run": "last-9"})
    assert ended(app, api, "rollback")["status"] == "failed"


def test_a_person_goes_back(app: RunningApp, browser: AppBrowser, shop: Path) -> None:
    """Comparing two runs, seeing what a rollback would change, and doing it."""
    page = browser.page(app, f"/p/{app.open(shop).key}/history")
    page.get_by_role("button", name="Compare").click()
    page.get_by_role("heading", name="Differences:").wait_for()
    page.get_by_label("Show", exact=True).select_option("new")
    require_sound(page, browser)
    page.get_by_role("button", name="Go back to").nth(1).click()
    page.get_by_text("12 links in 6 rows would be put back").wait_for()
    require_sound(page, browser)
    assert len(links(shop)) == 7
    page.get_by_role("button", name="Put these links back").click()
    page.get_by_text("Restored 12 links in 6 rows").wait_for()
    assert len(links(shop)) == 6
    page.get_by_role("cell", name="rollback to").wait_for()
