"""The page and the API of applying links: see, write, take back; and who may write where."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from internal_linker.faces.web.application import STATIC
from internal_linker.model.edges import Anchor
from internal_linker.project.project import open_project
from internal_linker.project.source_folder import choose_source_folder
from internal_linker.project.targets import SkipReason, UndoSkipReason
from internal_linker.publish.insertion import HoldReason, Refusal
from tests.standins import WordPressStandIn
from tests.standins.wordpress import PASSWORD as WORDPRESS_PASSWORD
from tests.standins.wordpress import USER, StoredPost
from tests.support.app_browser import AppBrowser, require_sound
from tests.support.app_server import RunningApp, ended, shared_app
from tests.support.post_site import accepted, make_project, sign_in
from tests.support.source_site import BLACK_POT, MISSING, POT, contents, link, make_source_site, write

SCRIPT = '<script>document.title="stolen"</script>'
PERSIAN = "قوری سفالی"


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    return make_source_site(tmp_path / "site")


def chosen(folders: tuple[Path, Path]) -> tuple[Path, Path]:
    choose_source_folder(open_project(folders[0]), str(folders[1]))
    return folders


def looked(app: RunningApp, api: str, **wanted: Any) -> Any:
    """Return what would change, as a script finds it."""
    assert app.client.post(f"{api}/apply/changes", json=wanted).status_code == 202
    assert ended(app, api, "changes")["status"] == "done"
    return app.client.get(f"{api}/apply/changes").json()


def show(page: Page) -> None:
    page.get_by_role("button", name="Show what would change").click()
    page.get_by_role("heading", name="What would change").wait_for()
    page.locator("#links tr").first.wait_for()


def test_only_what_was_shown_last_is_applied(app: RunningApp, folders: tuple[Path, Path]) -> None:
    api, before = f"/api/projects/{app.open(chosen(folders)[0]).key}", contents(folders[1])
    assert app.client.post(f"{api}/apply", json={"changes": "x"}).status_code == 409
    assert app.client.get(f"{api}/apply/changes/links").status_code == 409
    older = looked(app, api)
    looked(app, api, max_per_page=1)
    answer = app.client.post(f"{api}/apply", json={"changes": older["id"]})
    assert answer.status_code == 409 and "another tab" in answer.json()["error"]
    assert contents(folders[1]) == before


def test_no_request_says_where_it_writes(app: RunningApp, folders: tuple[Path, Path]) -> None:
    api = f"/api/projects/{app.open(chosen(folders)[0]).key}"
    found, before = looked(app, api), contents(folders[1])
    body = {"changes": found["id"]}
    for headers in ({"Origin": "https://evil.example"}, {"Host": "evil.example"}):
        answer = app.client.post(f"{api}/apply", json=body, headers=headers)
        assert answer.status_code in (400, 403)
        answer = app.client.put(f"{api}/apply/folder", json={"folder": "/etc"}, headers=headers)
        assert answer.status_code in (400, 403)
    for field in ("folder", "files", "home", "only", "write", "patch", "branch", "links_json", "wordpress"):
        assert app.client.post(f"{api}/apply", json={**body, field: "/etc"}).status_code == 422
        assert app.client.post(f"{api}/apply/changes", json={field: "/etc"}).status_code == 422
    assert contents(folders[1]) == before


def test_colleagues_apply_into_the_folder_of_the_settings_only(
    tmp_path: Path, folders: tuple[Path, Path]
) -> None:
    chosen(folders)
    with shared_app(tmp_path) as app:
        api = f"/api/projects/{app.open(folders[0]).key}"
        assert app.client.put(f"{api}/apply/folder", json={"folder": "/srv"}).status_code == 403
        assert app.client.get(f"{api}/apply").json()["chooses"] is False
        body = {"changes": looked(app, api)["id"]}
        assert app.client.post(f"{api}/apply", json=body).status_code == 422
        assert app.client.post(f"{api}/apply", json={**body, "by": "Anna"}).status_code == 202
        assert ended(app, api, "apply")["status"] == "done"
        assert app.client.get(f"{api}/applications").json()[0]["by"] == "Anna"


def test_an_editor_goes_from_the_review_to_the_site_and_back(
    app: RunningApp, browser: AppBrowser, folders: tuple[Path, Path]
) -> None:
    with open_project(folders[0]).graph(read_only=False) as (edges, _):
        edges.put([replace(BLACK_POT, status="proposed", verdict=""), replace(MISSING, status="rejected")])
    before = contents(folders[1])
    page = browser.page(app, f"/p/{app.open(folders[0]).key}/review?status=waiting")
    page.get_by_text("4 accepted links are not on the site yet").wait_for()
    page.locator("#page-text .spot[aria-current]").wait_for()
    page.keyboard.press("a")
    page.get_by_text("5 accepted links are not on the site yet").wait_for()
    page.locator("#to-apply a").click()
    page.get_by_text("No links were applied yet.").wait_for()
    require_sound(page, browser)
    expect(page.get_by_role("button", name="Show what would change")).to_be_disabled()
    page.get_by_label("Folder of the site's source files").fill(str(folders[1]))
    page.keyboard.press("Enter")
    page.get_by_text("The folder is kept in the settings.").wait_for()
    page.get_by_label("Only pages below this path").fill("/blog/black")
    show(page)
    expect(page.locator(".diff .added mark")).to_have_text(["[", "](/shop/pot/)"])
    assert contents(folders[1]) == before
    page.get_by_role("button", name="Apply 1 link").click()
    require_sound(page, browser)
    page.keyboard.press("Escape")
    assert contents(folders[1]) == before
    page.get_by_role("button", name="Apply 1 link").click()
    page.get_by_role("dialog").get_by_role("button", name="Apply 1 link").click()
    page.get_by_role("heading", name="1 link applied to 1 page").wait_for()
    assert "It likes a [clay pot](/shop/pot/), too" in (folders[1] / "blog/black.md").read_text()
    page.get_by_text("4 accepted links are not on the site yet").wait_for()
    page.get_by_role("link", name="Links", exact=True).click()
    page.locator("summary", has_text="More filters").click()
    page.get_by_label("On the site").select_option("applied")
    expect(page.locator(".tabulator-row")).to_have_count(1)
    expect(page.locator(".tabulator-row")).to_contain_text("applied")
    page.get_by_role("link", name="Apply", exact=True).click()
    page.get_by_role("button", name="Undo the application").click()
    page.get_by_role("dialog").get_by_role("button", name="Take them back").click()
    page.get_by_role("heading", name="1 page restored, 1 link taken back").wait_for()
    assert contents(folders[1]) == before
    require_sound(page, browser)


def test_what_could_not_be_taken_back_is_listed(app: RunningApp, folders: tuple[Path, Path]) -> None:
    """A file that somebody changed after links were applied stays as it is, and the answer says which and why."""
    api = f"/api/projects/{app.open(chosen(folders)[0]).key}"
    app.client.post(f"{api}/apply", json={"changes": looked(app, api)["id"]})
    assert ended(app, api, "apply")["status"] == "done"
    changed = (folders[1] / "blog/black.md").read_text() + "One more line.\n"
    (folders[1] / "blog/black.md").write_text(changed)
    body = {"application": app.client.get(f"{api}/apply/done").json()["application"]}
    app.client.post(f"{api}/applications/undo", json=body)
    assert ended(app, api, "undo")["status"] == "done"
    done = app.client.get(f"{api}/applications/undo").json()
    assert (done["links"], done["restored"], done["kept_texts"]) == (3, 1, 1)
    assert "it changed since links were applied" in done["kept"][0]["reason"]
    assert (folders[1] / "blog/black.md").read_text() == changed


@pytest.mark.long
def test_hostile_texts_stay_texts(app: RunningApp, browser: AppBrowser, folders: tuple[Path, Path]) -> None:
    text = f"{PERSIAN} چای را گرم نگه می‌دارد {SCRIPT}\u202e، a dark tin\u200b too."
    write(folders[1] / "blog/green.md", f"---\ntitle: {SCRIPT}\n---\n\n--- a/x {SCRIPT}\n{text}\n".encode())
    persian = link("blog/green", "shop/pot", PERSIAN, text)
    hostile = replace(POT, anchors=(Anchor(SCRIPT, "", 0, True, False, 0.9),), target=f"{POT.target}x")
    with open_project(chosen(folders)[0]).graph(read_only=False) as (edges, _):
        edges.put([persian, hostile])
    page = browser.page(app, f"/p/{app.open(folders[0]).key}/apply", width=390)
    show(page)
    page.get_by_role("button", name="Open all").click()
    added = page.locator(".diff .added").filter(has_text=PERSIAN)
    expect(added).to_contain_text(f"[{PERSIAN}](/shop/pot/)")
    assert added.locator(".unseen").all_inner_texts() == ["U+202E", "U+200B"]
    sign, words = added.locator(".sign").bounding_box(), added.locator(".text").bounding_box()
    assert sign and words and sign["x"] < words["x"]
    assert added.locator(".text").evaluate("each => getComputedStyle(each).direction") == "rtl"
    assert page.title().startswith("Apply")
    require_sound(page, browser)


@pytest.fixture
def site() -> Iterator[WordPressStandIn]:
    texts = {"green": "<p>A clay pot keeps green tea warm.</p>", "pot": "<p>Our pot is made by hand.</p>"}
    posts = [StoredPost(number, name, text) for number, (name, text) in enumerate(texts.items(), 1)]
    with WordPressStandIn(posts) as running:
        yield running


@pytest.mark.long
def test_links_go_into_posts(app: RunningApp, site: WordPressStandIn, tmp_path: Path) -> None:
    ends = f"{site.url}/green/", f"{site.url}/pot/"
    pages = [(page, page, post.content) for page, post in zip(ends, site.posts.values(), strict=True)]
    project = make_project(tmp_path / "project", pages, [accepted(*ends, "clay pot")])
    sign_in(project, site.url, USER, WORDPRESS_PASSWORD)
    before, api = site.posts[1].content, f"/api/projects/{app.open(project).key}"
    assert app.client.get(f"{api}/apply").json()["site"] == site.url
    found = looked(app, api, to="wordpress")
    assert (found["links"], found["home"]) == (1, site.url) and site.saved == []
    app.client.post(f"{api}/apply", json={"changes": found["id"]})
    assert ended(app, api, "apply")["status"] == "done"
    assert f'<a href="{ends[1]}">clay pot</a>' in site.posts[1].content
    body = {"application": app.client.get(f"{api}/apply/done").json()["application"]}
    app.client.post(f"{api}/applications/undo", json=body)
    assert ended(app, api, "undo")["status"] == "done"
    assert site.posts[1].content == before


def test_no_option_of_the_command_line_is_named_on_the_page() -> None:
    script = (STATIC / "apply.js").read_text(encoding="utf-8")
    words = re.findall(r'^  "(.+?)": ', script, re.MULTILINE)
    typed = [
        str(reason)
        for reasons in (Refusal, HoldReason, SkipReason, UndoSkipReason)
        for reason in reasons
        if re.search(r"--|command|run undo|cache verify", reason)
    ]
    assert typed and set(words) >= {*typed}
