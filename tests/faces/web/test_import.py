"""The page and the API of imports."""

import csv
import http.client
import io
import threading
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import expect

from internal_linker.project.uploads import MOST_BYTES
from tests.standins import WordPressStandIn
from tests.standins.wordpress import PASSWORD, USER, StoredPost
from tests.support.app_browser import AppBrowser, require_sound
from tests.support.app_server import PATIENCE_S, RunningApp, ended, running_app, shared_app
from tests.support.crawls import empty_project, links, pages, screaming_frog
from tests.support.post_site import sign_in
from tests.support.small_project import SITE, finish, start, write_csv
from tests.support.web_server import Reply, Site, sitemap

TEXT = "Green tea leaves are steamed. " * 20
ROWS = [
    ("wo", "was", "status", "inhalt"),
    (f"{SITE}/a/", "<img src=x onerror=alert(1)>", "200", TEXT + "one"),
    (f"{SITE}/b/", "שלום \u202e evil", "404", TEXT + "two"),
    (f"{SITE}/s?q=1", "S", "200", TEXT + "three"),
]


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return empty_project(tmp_path / "shop")


def put(app: RunningApp, api: str, name: str, content: bytes) -> Any:
    return app.client.post(f"{api}/uploads/file", params={"name": name}, content=content)


def test_an_upload_becomes_pages_through_the_api(app: RunningApp, shop: Path, tmp_path: Path) -> None:
    """Upload, preview, survey, counts and import, as a script would do it."""
    api = f"/api/projects/{app.open(shop).key}"
    uploaded = [
        put(app, api, Path(name).name, Path(name).read_bytes()).json()
        for name in screaming_frog(tmp_path, "German")
    ]
    tables = {"tables": [{"upload": each["id"]} for each in uploaded]}
    previews = app.client.post(f"{api}/import/preview", json=tables).json()
    assert [each["rows_are"] for each in previews] == ["pages", "links"]
    assert app.client.post(f"{api}/import/counts", json=tables).status_code == 409
    assert app.client.post(f"{api}/import/survey", json=tables).status_code == 202
    assert ended(app, api, "survey")["status"] == "done"
    counts = app.client.post(f"{api}/import/counts", json={**tables, "only_200": True}).json()
    assert counts["kept"] == 1 and counts["left_out"] == {"status is not 200": 1}
    assert app.client.get(f"{api}/import").json() is None
    assert app.client.post(f"{api}/import", json={**tables, "only_200": True}).status_code == 202
    assert ended(app, api, "import")["status"] == "done"
    assert app.client.get(f"{api}/import").json()["pages"] == 1
    assert len(pages(shop)) == 2 and len(links(shop)) == 4
    assert app.client.get(f"{api}/uploads").json() == []


def test_what_is_no_table_is_refused(app: RunningApp, shop: Path) -> None:
    """A file is judged by its content and size; the answer is one sentence."""
    api = f"/api/projects/{app.open(shop).key}"
    binary = put(app, api, "crawl.csv", b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20)
    assert binary.status_code == 422 and "is a picture" in binary.json()["error"]
    announced = http.client.HTTPConnection("127.0.0.1", app.access.port)
    announced.putrequest("POST", f"{api}/uploads/file?name=x")
    announced.putheader("Authorization", f"Bearer {app.access.token}")
    announced.putheader("Content-Length", str(MOST_BYTES + 1))
    announced.endheaders()
    refused = announced.getresponse()
    assert refused.status == 413 and b"500 MB" in refused.read()
    announced.close()
    gone = app.client.post(f"{api}/import/preview", json={"tables": [{"upload": "0" * 16}]})
    assert gone.status_code == 422 and "Upload it again" in gone.json()["error"]
    assert app.client.delete(f"{api}/uploads/..%2f..%2fconfig").status_code in (200, 404)
    assert (shop / "config/settings.toml").exists()


def test_a_failed_import_tells_why(app: RunningApp, shop: Path) -> None:
    api = f"/api/projects/{app.open(shop).key}"
    upload = put(app, api, "c.csv", b"URL,Title\nno url,x\n").json()
    app.client.post(f"{api}/import", json={"tables": [{"upload": upload["id"]}]})
    state = ended(app, api, "import")
    assert state["status"] == "failed" and "no rows left to import" in state["error"]
    assert len(app.client.get(f"{api}/uploads").json()) == 1


def test_counts_belong_to_the_files_that_were_read(app: RunningApp, shop: Path) -> None:
    """If other columns were read since, in another tab, the counts are refused in one sentence."""
    api = f"/api/projects/{app.open(shop).key}"
    upload = put(app, api, "c.csv", f"URL,Title\n{SITE}/a/,A\n".encode()).json()["id"]
    tables = {"tables": [{"upload": upload}]}
    app.client.post(f"{api}/import/survey", json=tables)
    assert ended(app, api, "survey")["status"] == "done"
    assert app.client.post(f"{api}/import/counts", json=tables).json()["kept"] == 1
    other = {"tables": [{"upload": upload, "columns": {"URL": 0}}]}
    answer = app.client.post(f"{api}/import/counts", json=other)
    assert answer.status_code == 409 and "another tab" in answer.json()["error"]


def test_a_large_upload_is_cancelled(app: RunningApp, shop: Path) -> None:
    api = f"/api/projects/{app.open(shop).key}"
    text = io.StringIO()
    csv.writer(text).writerows([("URL", "Title"), *((f"{SITE}/{n}/", "T") for n in range(100_000))])
    upload = put(app, api, "c.csv", text.getvalue().encode()).json()
    app.client.post(f"{api}/import/survey", json={"tables": [{"upload": upload["id"]}]})
    app.client.post(f"{api}/tasks/survey/cancel")
    assert ended(app, api, "survey")["status"] == "cancelled"


def test_a_person_imports_a_crawl(app: RunningApp, browser: AppBrowser, shop: Path, tmp_path: Path) -> None:
    write_csv(tmp_path / "seiten.csv", ROWS)
    page = browser.page(app, f"/p/{app.open(shop).key}/import")
    page.get_by_label("Drop files here").set_input_files(tmp_path / "seiten.csv")
    page.get_by_text("no column with the pages' URLs").wait_for()
    expect(page.get_by_role("button", name="Import", exact=True)).to_be_disabled()
    require_sound(page, browser)
    page.get_by_label("Import wo as").select_option("URL")
    page.get_by_label("Import was as").select_option("Title")
    page.get_by_text("3 of 3 pages would be imported").wait_for()
    page.get_by_label("Import inhalt as").select_option("Main Content")
    page.get_by_label("have another status than 200").check()
    page.get_by_label("have parameters in the URL").check()
    page.get_by_text("1 of 3 pages would be imported").wait_for()
    expect(page.locator("[data-count=parameters]")).to_have_text("(1)")
    browser.problems.clear()  # counts that were asked for while other columns were read: 409
    require_sound(page, browser)
    page.get_by_role("button", name="Import", exact=True).click()
    page.get_by_role("heading", name="Imported", exact=True).wait_for()
    assert [row[0] for row in pages(shop)[1:]] == [f"{SITE}/a/"]
    require_sound(page, browser)


def shop_site() -> Site:
    """Return a site of three pages with a sitemap."""
    site = Site()
    for name in ("a", "b", "tag/c"):
        site.pages[f"/{name}"] = f"<html><title>{name}</title><body><p>Tea of {name}</p></body></html>"
    site.pages["/sitemap.xml"] = sitemap(*(f"{site.url}/{name}" for name in ("a", "b", "tag/c")))
    return site


def test_a_sitemap_is_imported(app: RunningApp, shop: Path) -> None:
    """A sitemap is fetched with the filters by URL; a private network only if a person says so."""
    api = f"/api/projects/{app.open(shop).key}"
    with shop_site() as site:
        body = {"sitemap": f"{site.url}/sitemap.xml", "exclude": ["/tag"]}
        app.client.post(f"{api}/import", json=body)
        assert "private network" in ended(app, api, "import")["error"]
        assert site.paths == [] and not (shop / "files/urls_rawdata.csv").exists()
        app.client.post(f"{api}/import", json={**body, "allow_private": True})
        assert ended(app, api, "import")["status"] == "done"
        assert [row[0] for row in pages(shop)[1:]] == [f"{site.url}/a", f"{site.url}/b"]
        assert "/tag/c" not in site.paths


@pytest.mark.long
def test_a_wordpress_site_is_imported(app: RunningApp, shop: Path) -> None:
    """The posts of a WordPress site become pages; the account in config/wordpress.txt is used for its site only."""
    posts = [StoredPost(1, "green", "<p>Tea</p>"), StoredPost(2, "black", "<p>Tea</p>")]
    api = f"/api/projects/{app.open(shop).key}"
    with WordPressStandIn(posts) as site:
        sign_in(shop, site.url, USER, PASSWORD)
        app.client.post(f"{api}/import", json={"wordpress": "https://"})
        assert "name the site's address" in ended(app, api, "import")["error"]
        app.client.post(f"{api}/import", json={"wordpress": site.url})
        assert ended(app, api, "import")["status"] == "done"
    assert [row[0] for row in pages(shop)[1:]] == [f"{site.url}/green/", f"{site.url}/black/"]


def test_a_fetch_is_cancelled(app: RunningApp, shop: Path) -> None:
    asked, cancelled = threading.Event(), threading.Event()

    def late() -> Reply:
        asked.set()
        cancelled.wait(30)
        return Reply("<html><title>b</title><body><p>Tea of b</p></body></html>")

    with shop_site() as site:
        site.pages["/b"] = late
        api = f"/api/projects/{app.open(shop).key}"
        body = {"sitemap": f"{site.url}/sitemap.xml", "allow_private": True}
        app.client.post(f"{api}/import", json=body)
        assert asked.wait(30)
        app.client.post(f"{api}/tasks/import/cancel")
        cancelled.set()
        state = ended(app, api, "import")
        assert state["status"] == "cancelled" and "nothing was changed" in state["error"]
    assert not (shop / "files/urls_rawdata.csv").exists()


def test_a_shared_app_fetches_nothing_private(tmp_path: Path, shop: Path) -> None:
    with shop_site() as site, shared_app(tmp_path) as app:
        body = {"sitemap": f"{site.url}/sitemap.xml", "allow_private": True}
        answer = app.client.post(f"/api/projects/{app.open(shop).key}/import", json=body)
        assert answer.status_code == 403 and site.paths == []


@pytest.mark.long
def test_a_killed_app_leaves_the_tables_and_the_upload(shop: Path, tmp_path: Path) -> None:
    """After kill -9 in an import, the tables are as they were, and the next app imports the same upload."""
    write_csv(shop / "files/urls_rawdata.csv", [("URL", "Title"), (f"{SITE}/old/", "Old")])
    before = (shop / "files/urls_rawdata.csv").read_bytes()
    text = io.StringIO()
    csv.writer(text).writerows([("URL", "Title"), *((f"{SITE}/{n}/", "T") for n in range(100_000))])
    process = start(
        *("-m", "internal_linker", "app", "--no-browser", "--project", str(shop)),
        cwd=tmp_path,
        XDG_DATA_HOME=str(tmp_path / "data"),
    )
    assert process.stdout is not None
    address = httpx.URL(process.stdout.readline().split()[-1])
    api = f"/api/projects/{address.path.split('/')[2]}"
    headers = {"Authorization": f"Bearer {address.params['token']}"}
    with httpx.Client(
        base_url=f"http://{address.host}:{address.port}", headers=headers, trust_env=False, timeout=PATIENCE_S
    ) as client:
        upload = client.post(
            f"{api}/uploads/file", params={"name": "c.csv"}, content=text.getvalue().encode()
        ).json()
        tables = {"tables": [{"upload": upload["id"]}]}
        client.post(f"{api}/import", json=tables)
        assert client.get(f"{api}/tasks/import").json()["status"] == "running"
        process.kill()
    finish(process)
    assert (shop / "files/urls_rawdata.csv").read_bytes() == before
    with running_app(tmp_path) as app:
        api = f"/api/projects/{app.open(shop).key}"
        assert [each["id"] for each in app.client.get(f"{api}/uploads").json()] == [upload["id"]]
        app.client.post(f"{api}/import", json=tables)
        assert ended(app, api, "import")["status"] == "done"
    assert len(pages(shop)) == 100_001
