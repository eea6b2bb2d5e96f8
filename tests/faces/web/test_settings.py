"""The page and the API of settings and keys."""

import shlex
import signal
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import expect

from internal_linker.project.settings.settings import load_settings
from tests.support.app_browser import AppBrowser, require_sound
from tests.support.app_server import PATIENCE_S, RunningApp, shared_app
from tests.support.small_project import finish, make_project, start, write_text

SECRET = "key-0123456789abcdef"


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return make_project(tmp_path / "shop")


def test_a_change_through_the_api_is_whole_or_nothing(app: RunningApp, shop: Path) -> None:
    """Values are checked as a run checks them; an answer to a change has the new state."""
    api = f"/api/projects/{app.open(shop).key}"
    version = app.client.get(f"{api}/settings").json()["version"]
    changes = {"links_per_page": 3, "sections_off": ["/blog"], "near_duplicate": None}
    answer = app.client.patch(f"{api}/settings", json={"changes": changes, "version": version})
    values = {each["name"]: each["value"] for each in answer.json()["settings"]}
    assert values["links_per_page"] == 3 and load_settings(shop).sections_off == ("/blog",)
    again = app.client.patch(f"{api}/settings", json={"changes": {"links_per_page": 4}, "version": version})
    assert again.status_code == 409 and "changed in the meantime" in again.json()["error"]
    wrong = app.client.patch(f"{api}/settings", json={"changes": {"links_per_page": 4, "max_clicks": 0}})
    assert wrong.status_code == 422 and "max_clicks" in wrong.json()["error"]
    assert load_settings(shop).links_per_page == 3


def test_no_answer_contains_a_key(app: RunningApp, shop: Path) -> None:
    api = f"/api/projects/{app.open(shop).key}"
    answers = [
        app.client.put(f"{api}/keys/serper_api_key", json={"text": SECRET}),
        app.client.get(f"{api}/settings"),
        app.client.put(f"{api}/keys/openai_api_key", json={"text": f"{SECRET} {SECRET}"}),
        app.client.put(f"{api}/keys/serper_api_key", json={"text": SECRET * 4_000}),
        app.client.patch(f"{api}/settings", json={"changes": {"openai_api_key": SECRET}}),
    ]
    assert [answer.status_code for answer in answers] == [200, 200, 422, 422, 422]
    assert not [answer.text for answer in answers if SECRET in answer.text]
    assert load_settings(shop).search_key("serper") == SECRET
    assert app.client.delete(f"{api}/keys/serper_api_key").json()["source"] == ""
    assert app.client.put(f"{api}/keys/..%2fsettings", json={"text": "x"}).status_code in (404, 422)


def test_a_shared_app_changes_no_settings(tmp_path: Path, shop: Path) -> None:
    with shared_app(tmp_path) as app:
        api, client = f"/api/projects/{app.open(shop).key}", app.client
        assert client.get(f"{api}/settings").status_code == 200
        answers = [
            client.patch(f"{api}/settings", json={"changes": {"base_url": "https://evil.example/v1"}}),
            client.put(f"{api}/keys/serper_api_key", json={"text": SECRET}),
            client.delete(f"{api}/keys/serper_api_key"),
            client.put(f"{api}/exclusions", json={"text": ""}),
            client.put(f"{api}/tables/link_rules", json={"header": ["URL"], "rows": [], "version": "new"}),
        ]
        assert [answer.status_code for answer in answers] == [403] * 5
        assert "on its own computer" in answers[0].json()["error"]


def test_rules_of_the_house_are_checked_and_saved(app: RunningApp, shop: Path) -> None:
    api = f"/api/projects/{app.open(shop).key}/tables/link_targets"
    table = app.client.get(api).json()
    body = {"header": table["header"], "rows": [["/tea/", "9", "3"]]}
    checked = app.client.post(f"{api}/check", json=body).json()
    assert checked["problem"].startswith("config/link_targets.csv, row 2: Most is '3'.")
    wrong = app.client.put(api, json={**body, "version": table["version"]})
    assert wrong.status_code == 422 and wrong.json()["error"] == checked["problem"]
    assert not (shop / "config/link_targets.csv").exists()
    body["rows"] = [["/tea/", "3", "9"]]
    assert app.client.put(api, json={**body, "version": table["version"]}).json()["rows"] == body["rows"]
    assert app.client.put(api, json={**body, "version": table["version"]}).status_code == 409


def test_the_check_tells_each_piece(app: RunningApp, shop: Path) -> None:
    """`check` answers with each piece by itself, also if the settings are wrong."""
    api = f"/api/projects/{app.open(shop).key}"
    facts = app.client.post(f"{api}/check").json()
    assert facts[0]["name"] == "Settings" and facts[0]["ok"] is True
    write_text(shop / "config/settings.toml", "links_per_page = 99")
    (fact,) = app.client.post(f"{api}/check").json()
    assert fact["ok"] is False and "links_per_page" in fact["text"]


@pytest.mark.long
def test_a_person_changes_a_setting(app: RunningApp, browser: AppBrowser, shop: Path) -> None:
    """Finding, changing, saving and restoring a setting; a wrong value is told and stays to be corrected."""
    page = browser.page(app, f"/p/{app.open(shop).key}/settings", width=390)
    page.locator("#starters code").nth(1).wait_for()
    schedule, run = page.locator("#starters code").all_text_contents()
    assert schedule.endswith(f"schedule --project {shop}") and run.endswith(f"run --project {shop}")
    page.get_by_label("Find a setting").fill("links per page")
    box = page.get_by_label("links_per_page", exact=True)
    box.fill("99")
    page.get_by_role("button", name="Save changes").click()
    page.get_by_role("alert").get_by_text("50 or less").wait_for()
    browser.problems.clear()  # the browser's own line about the status 422
    require_sound(page, browser)
    box.fill("3")
    page.get_by_role("button", name="Save changes").click()
    page.get_by_text("1 setting saved").wait_for()
    assert load_settings(shop).links_per_page == 3
    page.get_by_role("button", name="Restore default: links_per_page").click()
    assert box.input_value() == "5"
    page.get_by_role("button", name="Save changes").click()
    page.get_by_role("button", name="Restore default: links_per_page").wait_for(state="detached")
    assert load_settings(shop).links_per_page == 5


def test_a_person_sets_a_key_and_patterns(app: RunningApp, browser: AppBrowser, shop: Path) -> None:
    """A key that was set is nowhere on the page; patterns are saved, and a wrong one is named by its line."""
    page = browser.page(app, f"/p/{app.open(shop).key}/settings")
    page.get_by_label("serper_api_key", exact=True).fill(SECRET)
    page.get_by_role("button", name="Set serper_api_key").click()
    page.get_by_role("button", name="Remove serper_api_key").wait_for()
    assert (
        SECRET not in page.content() and page.get_by_label("serper_api_key", exact=True).input_value() == ""
    )
    page.get_by_label("Patterns of URLs").fill("/tag/\n(?=x)")
    page.get_by_role("button", name="Save patterns").click()
    page.get_by_role("alert").get_by_text("line 2").wait_for()
    page.get_by_label("Patterns of URLs").fill("/tag/")
    page.get_by_role("button", name="Save patterns").click()
    page.get_by_text("The patterns are saved").wait_for()
    page.get_by_role("button", name="Check now").click()
    page.get_by_text("1 pattern in config/excluded_urls.txt").wait_for()
    browser.problems.clear()
    page.get_by_label("notify", exact=True).fill(f"json://127.0.0.1/x\n{SECRET}")
    page.get_by_role("button", name="Set notify").click()
    alert = page.get_by_role("alert").get_by_text("config/notify.txt, line 2")
    alert.wait_for()
    assert SECRET not in alert.inner_text() and not load_settings(shop).notify.get_secret_value()
    browser.problems.clear()
    write_text(shop / "config/settings.toml", "sections_off = ['<img src=x onerror=alert(1)>']\nno_such = 1")
    page.reload()
    page.get_by_role("alert").get_by_text("no_such").wait_for()
    require_sound(page, browser)


@pytest.mark.long
@pytest.mark.parametrize("width", [1280, 390])
def test_a_person_edits_the_rules_of_the_house(
    app: RunningApp, browser: AppBrowser, shop: Path, width: int
) -> None:
    """What a run would say of a row is shown before it is saved, and a wrong row stays to be corrected."""
    path = shop / "config/link_rules.csv"
    write_text(path, "Phrase;URL;Mode;Owner\ngreen tea;/no/page/;allways;Anna\n")
    page = browser.page(app, f"/p/{app.open(shop).key}/settings", width=width)
    part = page.get_by_role("region", name="Rules for links")
    part.get_by_role("alert").get_by_text(
        "row 2: Mode is 'allways'. Write always, never or prefer."
    ).wait_for()
    part.get_by_label("Mode, row 2").select_option("always")
    part.get_by_role("status").get_by_text("row 2 is left out: /no/page/ is neither").wait_for()
    require_sound(page, browser)
    part.get_by_role("button", name="Add a row").click()
    part.get_by_label("Phrase, row 3").fill("click here")
    part.get_by_label("Mode, row 3").select_option("prefer")
    part.get_by_role("alert").get_by_text("row 3: URL is empty").wait_for()
    with page.expect_response("**/tables/link_rules") as refused:
        part.get_by_role("button", name="Save rules for links").click()
    assert refused.value.status == 422
    expect(part.get_by_label("Phrase, row 3")).to_have_value("click here")
    browser.problems.clear()  # the browser's own line about the status 422
    assert "click here" not in path.read_text("utf-8")
    part.get_by_label("Mode, row 3").select_option("never")
    part.get_by_text("Not saved").wait_for()
    part.get_by_role("button", name="Remove row 2").click()
    part.get_by_role("button", name="Save rules for links").click()
    page.get_by_text("The table is saved.").wait_for()
    assert path.read_text("utf-8-sig").splitlines()[1:] == ["click here;;never;;;"]
    require_sound(page, browser)


@pytest.mark.long
def test_saving_one_thing_drops_no_other_text(app: RunningApp, browser: AppBrowser, shop: Path) -> None:
    page = browser.page(app, f"/p/{app.open(shop).key}/settings")
    patterns = page.get_by_label("Patterns of URLs")
    other, links = (
        page.get_by_label("openai_api_key", exact=True),
        page.get_by_label("links_per_page", exact=True),
    )
    links.fill("3")
    other.fill("typed")
    patterns.fill("/tag/")
    page.get_by_label("serper_api_key", exact=True).fill(SECRET)
    page.get_by_role("button", name="Set serper_api_key").click()
    page.get_by_role("button", name="Remove serper_api_key").click()
    page.get_by_role("button", name="Remove serper_api_key").wait_for(state="detached")
    assert [each.input_value() for each in (patterns, other, links)] == ["/tag/", "typed", "3"]
    assert load_settings(shop).links_per_page == 5
    page.get_by_role("button", name="Save changes").click()
    page.get_by_text("1 setting saved").wait_for()
    assert [each.input_value() for each in (patterns, other)] == ["/tag/", "typed"]
    links.fill("4")
    page.get_by_role("button", name="Save patterns").click()
    page.get_by_text("The patterns are saved").wait_for()
    assert [each.input_value() for each in (other, links)] == ["typed", "4"]
    assert load_settings(shop).links_per_page == 3


@pytest.mark.long
def test_the_command_of_the_schedule_works_anywhere(shop: Path, tmp_path: Path) -> None:
    process = start("-m", "internal_linker", "app", "--no-browser", cwd=shop, XDG_DATA_HOME=str(tmp_path))
    assert process.stdout is not None
    url, _, token = process.stdout.readline().split()[-1].partition("?token=")
    headers = {"Authorization": f"Bearer {token}"}
    with httpx.Client(
        base_url=url.partition("/p/")[0], headers=headers, trust_env=False, timeout=PATIENCE_S
    ) as client:
        [project] = client.get("/api/projects").json()["projects"]
        line = client.get(f"/api/projects/{project['key']}/settings").json()["schedule_command"]
    process.send_signal(signal.SIGINT)
    assert finish(process)[0] == 0
    python, *words = shlex.split(line)
    assert Path(python).is_absolute()
    (tmp_path / "elsewhere").mkdir()
    scheduler = start(*words, cwd=tmp_path / "elsewhere")
    assert scheduler.stdout is not None
    assert "Next run" in scheduler.stdout.readline()
    scheduler.send_signal(signal.SIGTERM)
    finish(scheduler)
    assert (shop / "files/.internal_linker.schedule.json").is_file()
