"""The pages and the API of similar pages and clusters."""

import io
from pathlib import Path

import openpyxl
import pytest
from playwright.sync_api import Page, expect

from tests.support.app_browser import AppBrowser, require_sound
from tests.support.app_server import RunningApp, ended, shared_app
from tests.support.small_project import SITE, make_project, write_csv, write_text

TITLES = (
    *("cold brew", "cold brew at home", "cold brew ratio", "cold brew in a jar", "cold brew or iced"),
    *("green tea leaves", "black tea leaves", "white tea leaves", "tea leaves in a tin"),
    *("tax return <img src=x onerror=alert(1)>", "tax return online \u202e evil", "tax return שלום"),
)


def make_similar_shop(folder: Path) -> Path:
    """Create a project whose titles make three clusters."""
    make_project(folder)
    rows = [(f"{SITE}/{at}/", title, "") for at, title in enumerate(TITLES)]
    write_csv(folder / "files/urls_rawdata.csv", [("URL", "Title", "Main Content"), *rows])
    return folder


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return make_similar_shop(tmp_path / "shop")


def compared(app: RunningApp, shop: Path) -> str:
    """Compare and group the pages, and return the address of the project's API."""
    api = f"/api/projects/{app.open(shop).key}"
    app.client.post(f"{api}/similar", json={"by": "title"})
    assert ended(app, api, "similar")["status"] == "done"
    app.client.post(f"{api}/clusters", json={"by": "title", "k": "3"})
    assert ended(app, api, "clusters")["status"] == "done"
    return api


def test_a_cut_off_through_the_api(app: RunningApp, shop: Path) -> None:
    api = f"/api/projects/{app.open(shop).key}"
    assert app.client.get(f"{api}/similar").json() is None
    assert app.client.get(f"{api}/similar/cut-off", params={"value": 0.5}).status_code == 409
    api = compared(app, shop)
    overview = app.client.get(f"{api}/similar").json()
    assert overview["pages"] == len(TITLES) and overview["by"] == ["title"]
    whole = app.client.get(f"{api}/similar/cut-off", params={"value": 0.4}).json()
    assert (
        whole["pairs"] == len(whole["shown"]) == sum(overview["within"][40:]) + sum(overview["across"][40:])
    )
    part = app.client.get(f"{api}/similar/cut-off", params={"value": 0.4, "pairs_from": 1, "rows": 2}).json()
    assert part["shown"] == whole["shown"][1:3]
    book = app.client.get(f"{api}/similar/workbook", params={"value": 0.4})
    sheet = openpyxl.load_workbook(io.BytesIO(book.content))["Pairs"]
    assert sheet.max_row == whole["pairs"] + 1 and "similar-pages.xlsx" in book.headers["content-disposition"]
    for wrong in ("0.1", "2", "nan", "x"):
        assert app.client.get(f"{api}/similar/cut-off", params={"value": wrong}).status_code == 422


def test_clusters_through_the_api(app: RunningApp, shop: Path) -> None:
    """Clusters are shown, renamed and downloaded; a wrong option is one sentence."""
    api = compared(app, shop)
    shown = app.client.get(f"{api}/clusters").json()
    assert [cluster["pages"] for cluster in shown["clusters"]] == [5, 4, 3] and len(shown["dots"]) == len(
        TITLES
    )
    renamed = app.client.put(f"{api}/clusters/2/name", json={"name": "Tea"}).json()
    assert (
        renamed["clusters"][1]["name"]
        == "Tea"
        == app.client.get(f"{api}/clusters").json()["clusters"][1]["name"]
    )
    assert app.client.put(f"{api}/clusters/9/name", json={"name": "x"}).status_code == 422
    book = openpyxl.load_workbook(io.BytesIO(app.client.get(f"{api}/clusters/workbook").content))
    assert book["Clusters"]["B3"].value == "Tea"
    app.client.post(f"{api}/clusters", json={"k": "0-x"})
    state = ended(app, api, "clusters")
    assert state["status"] == "failed" and "write a number" in state["error"]


def test_a_task_runs_once(app: RunningApp, shop: Path) -> None:
    api = f"/api/projects/{app.open(shop).key}"
    answers = [app.client.post(f"{api}/similar", json={}).status_code for _ in range(3)]
    assert answers[0] == 202 and set(answers) <= {202, 409}
    ended(app, api, "similar")


@pytest.mark.long
def test_a_shared_app_reads_no_other_files(tmp_path: Path, shop: Path) -> None:
    """Whoever has only the password learns nothing of files by naming them as an encoder; the setting's own is fine."""
    own, secret = "file:files/vectors.csv", tmp_path / "secret.csv"
    write_text(shop / "config/settings.toml", f'embedding_provider = "{own}"\n')
    secret.write_text("salary,name\n1,Ann\n", encoding="utf-8")
    with shared_app(tmp_path) as app:
        api = f"/api/projects/{app.open(shop).key}"
        for kind in ("similar", "clusters"):
            for name in (f"file:{secret}", f"file:{tmp_path}/none.csv", f"sentence-transformers:{tmp_path}"):
                answer = app.client.post(f"{api}/{kind}", json={"encoder": name})
                assert answer.status_code == 403 and "on its own computer" in answer.json()["error"]
            assert app.client.get(f"{api}/tasks/{kind}").json()["status"] == "none"
            answer = app.client.post(f"{api}/{kind}", json={"by": "title", "encoder": own})
            assert answer.status_code == 202
            ended(app, api, kind)


def drag_cut_off(page: Page, to: float) -> None:
    """Drag on the histogram to a similarity."""
    box = page.locator("#histogram").bounding_box()
    assert box
    left, width, middle = box["x"] + 44, box["width"] - 56, box["y"] + 120
    page.mouse.move(left + 0.5 * width, middle)
    page.mouse.down()
    page.mouse.move(left + to * width, middle, steps=5)
    page.mouse.up()


def test_a_person_moves_the_cut_off(app: RunningApp, browser: AppBrowser, shop: Path) -> None:
    """Comparing, dragging on the histogram, and the keyboard: numbers and lists follow."""
    page = browser.page(app, f"/p/{app.open(shop).key}/similar")
    page.get_by_text("have not been compared yet").wait_for()
    require_sound(page, browser)
    page.get_by_label("Compare by").select_option("title")
    page.get_by_role("button", name="Compare the pages").click()
    page.get_by_role("heading", name="How similar the pages are").wait_for()
    page.locator("#pairs tr").first.wait_for()
    drag_cut_off(page, 0.95)
    page.locator("output", has_text="0.9").wait_for()
    page.get_by_role("heading", name="Off-topic pages (1").wait_for()
    page.get_by_label("Cut-off").focus()
    page.keyboard.press("Home")
    page.get_by_role("heading", name="Off-topic pages (0)").wait_for()
    expect(page.locator("output")).to_have_text("0.20")
    require_sound(page, browser)
    with page.expect_download() as download:
        page.get_by_role("link", name="Download as .xlsx").click()
    assert download.value.suggested_filename == "similar-pages.xlsx"


def test_a_person_renames_a_cluster(app: RunningApp, browser: AppBrowser, shop: Path) -> None:
    """Map, tree and table show the clusters; a name that was saved is everywhere."""
    page = browser.page(app, f"/p/{app.open(shop).key}/clusters")
    page.get_by_text("have not been grouped yet").wait_for()
    require_sound(page, browser)
    page.get_by_label("Number of clusters").fill("3")
    page.get_by_label("Compare by").select_option("title")
    page.get_by_label("With", exact=True).select_option("lsa")
    with page.expect_request(lambda sent: sent.method == "POST" and sent.url.endswith("/clusters")) as asked:
        page.get_by_role("button", name="Group the pages").click()
    sent = asked.value.post_data_json
    assert sent and sent["encoder"] == "lsa"
    page.get_by_role("heading", name="3 clusters").wait_for()
    require_sound(page, browser)
    page.get_by_role("button", name="Table").click()
    page.get_by_label("Name of cluster 1", exact=True).fill("Coffee שלום")
    page.get_by_role("button", name="Save name of cluster 1").click()
    page.get_by_text("Cluster 1 is named Coffee").wait_for()
    page.get_by_text("Show Coffee").click()
    require_sound(page, browser)
    page.get_by_role("button", name="Tree").click()
    page.get_by_label("Cluster", exact=True).select_option("1")
    page.get_by_label("Shape").select_option("radial")
    require_sound(page, browser)
    page.reload()
    page.get_by_role("button", name="Table").click()
    expect(page.get_by_label("Name of cluster 1", exact=True)).to_have_value("Coffee שלום")
