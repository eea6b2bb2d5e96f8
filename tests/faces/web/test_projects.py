"""The page and the API of projects."""

from pathlib import Path

import pytest

from internal_linker.project import known_projects
from internal_linker.project.known_projects import KnownProjects
from tests.support.app_browser import AppBrowser, require_sound
from tests.support.app_server import RunningApp, running_app
from tests.support.small_project import make_project, snapshot

HOSTILE = "<img src=x onerror=alert(1)> \u202eevil"


def listed(app: RunningApp) -> list[str]:
    return [each["key"] for each in app.client.get("/api/projects").json()["projects"]]


def test_a_new_project_heads_the_list(app: RunningApp, tmp_path: Path) -> None:
    """Creating and opening put a project first; taking it off leaves its folder as it is."""
    made = make_project(tmp_path / "shop")
    first = app.client.post("/api/projects/open", json={"folder": str(made)}).json()
    new = app.client.post("/api/projects", json={"folder": str(tmp_path / "new")}).json()
    assert listed(app)[:2] == [new["key"], first["key"]]
    assert first["has_pages"] and not new["has_pages"]
    before = snapshot(made)
    app.client.delete(f"/api/projects/{first['key']}")
    assert listed(app)[0] == new["key"] and first["key"] not in listed(app)
    assert snapshot(made) == before


def test_the_sample_is_a_project_of_its_own(app: RunningApp, tmp_path: Path) -> None:
    answer = app.client.post("/api/projects", json={"folder": str(tmp_path / "tour"), "sample": True})
    assert answer.status_code == 201 and answer.json()["has_pages"]
    made = make_project(tmp_path / "shop")
    refused = app.client.post("/api/projects", json={"folder": str(made), "sample": True})
    assert refused.status_code == 422 and "has pages already" in refused.json()["error"]


@pytest.mark.parametrize(
    "folder",
    ["relative/path", "", "a\0b", "/nowhere/at/all", "~nosuchuser/x", f"/tmp/{'x' * 300}/y"],
)
def test_a_folder_that_cant_be_opened_is_named(app: RunningApp, folder: str) -> None:
    for path in ("/api/projects/open", *(["/api/projects"] if "nowhere" not in folder else [])):
        answer = app.client.post(path, json={"folder": folder})
        assert answer.status_code == 422 and len(answer.json()["error"]) > 10


def test_only_known_folders_can_be_reached(app: RunningApp, tmp_path: Path) -> None:
    for key in ("0123456789", "..%2f..%2fetc", "x"):
        assert app.client.delete(f"/api/projects/{key}").status_code in (200, 404, 422)
    assert app.client.get("/p/0123456789/links").status_code in (303, 404)


def test_the_list_is_short_and_survives_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The list keeps the latest projects only; a damaged file is an empty list."""
    monkeypatch.setattr(known_projects, "MOST_KNOWN", 2)
    known = KnownProjects(tmp_path / "list/projects.json")
    for number in range(3):
        known.open(make_project(tmp_path / f"site{number}"))
    assert [project.name for project in known.all()] == ["site2", "site1"]
    (tmp_path / "list/projects.json").write_text("[1")
    assert known.all() == []


def test_the_page_creates_and_lists(browser: AppBrowser, tmp_path: Path) -> None:
    """A person creates the sample and finds it in the list; a wrong path is told, and a hostile name stays text."""
    with running_app(tmp_path) as app:
        page = browser.page(app)
        page.get_by_text("No project yet").wait_for()
        require_sound(page, browser)
        page.get_by_label("Project folder").fill("/nowhere/at/all")
        page.get_by_role("button", name="Open", exact=True).click()
        page.get_by_role("alert").get_by_text("not found").wait_for()
        browser.problems.clear()  # the browser's own line about the status 422
        page.get_by_label("Folder for the sample site").fill(str(tmp_path / "tour"))
        with page.expect_navigation():
            page.get_by_role("button", name="Create the sample").click()
        app.open(make_project(tmp_path / HOSTILE))
        page.goto(app.url)
        page.get_by_role("link", name="onerror").wait_for()
        require_sound(page, browser)
        page.get_by_role("button", name="Remove from list: tour").click()
        page.get_by_text("tour is off the list").wait_for()
        page.context.close()
