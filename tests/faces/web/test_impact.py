"""The page and the API of impact: what links did, too few data, and experiments."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from internal_linker.project.impact import impact_file, last_impact
from internal_linker.project.project import open_project
from tests.faces.web.test_charts import Chart
from tests.support.app_browser import AppBrowser, require_sound
from tests.support.app_server import RunningApp, ended
from tests.support.impact_project import live_link, make_experiment_project, make_impact_project
from tests.support.impact_sites import Kind, simulated
from tests.support.source_site import make_source_site

SMALL = Kind(pages=150, targets=32, clicks=6.0, weeks=24, campaigns=2, sections=2, noise=0.15, drift=0.1)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a project whose links gained half as many clicks again."""
    return make_impact_project(tmp_path_factory.mktemp("impact") / "site", simulated(3, SMALL, 0.5))


@pytest.fixture(scope="module")
def measured(app: RunningApp, made: Path) -> str:
    """Return the key of that project, whose impact is measured."""
    key = app.open(made).key
    measure(app, f"/api/projects/{key}")
    return key


def measure(app: RunningApp, api: str, **wanted: Any) -> Any:
    assert app.client.post(f"{api}/impact", json=wanted).status_code == 202
    assert ended(app, api, "impact")["status"] == "done"
    return app.client.get(f"{api}/impact").json()


def test_the_api_has_what_the_command_says(app: RunningApp, made: Path, measured: str) -> None:
    """The answer with its figures, by tier and anchor, weeks and pairs; it is kept with the project."""
    found = app.client.get(f"/api/projects/{measured}/impact").json()
    assert found["verdict"] == "gain" and found["sentence"].startswith("Targets gained") and not found["thin"]
    clicks = found["estimates"][0]
    assert (clicks["outcome"], clicks["group"]) == ("clicks", "all")
    assert clicks["low"] < clicks["effect"] < clicks["high"] and 0.2 < clicks["effect"] < 1
    assert {one["outcome"] for one in found["estimates"]} == {"clicks", "impressions", "position"}
    assert found["weeks"][-1]["week"] == 3 and 0 <= found["pre_trend"] <= 1 and found["detectable"] > 0
    assert found["compared"] == len(found["pairs"]) == clicks["pages"]
    kept = last_impact(open_project(made))
    assert kept is not None and kept.sentence == found["sentence"] and len(kept.pairs) == found["compared"]
    assert not (made / "files/impact.html").exists()


def test_wrong_questions_are_refused(app: RunningApp, measured: str) -> None:
    """Periods out of bounds are refused; comparing with an experiment that nobody planned fails with a sentence."""
    api = f"/api/projects/{measured}"
    for days in (13, 113, "28"):
        assert app.client.post(f"{api}/impact", json={"days": days}).status_code == 422
    before = app.client.get(f"{api}/impact").json()
    app.client.post(f"{api}/impact", json={"experiment": True})
    state = ended(app, api, "impact")
    assert state["status"] == "failed" and "No experiment was planned" in state["error"]
    assert app.client.get(f"{api}/impact").json() == before


@pytest.mark.long
def test_a_person_measures_the_impact(app: RunningApp, browser: AppBrowser, made: Path) -> None:
    """From the empty page to the answer with its charts and tables, which leads to the links of a target."""
    impact_file(open_project(made)).unlink(missing_ok=True)
    page = browser.page(app, f"/p/{app.open(made).key}/impact")
    page.get_by_text("has not been measured yet").wait_for()
    require_sound(page, browser)
    page.get_by_role("button", name="Measure the impact").click()
    page.get_by_text("Targets gained").wait_for(timeout=60_000)
    assert page.evaluate("document.activeElement.id") == "answer-title"
    found = app.client.get(f"/api/projects/{app.open(made).key}/impact").json()
    assert page.locator("#sentence").text_content() == found["sentence"]
    expect(page.locator("#effects th").first).to_have_text("clicks")
    page.get_by_text("The weeks as a table").click()
    expect(page.locator("#week-rows tr")).to_have_count(len(found["weeks"]))
    weeks, pairs = Chart(page, "weeks"), Chart(page, "pairs")
    assert weeks.get("chart.getOption().series[1].data.map((one) => one.value)") == [
        one["effect"] for one in found["weeks"]
    ]
    assert pairs.get("chart.getOption().series.flatMap((one) => one.data).length") == found["compared"]
    first = found["pairs"][0]["page"]
    mark = pairs.mark(f"item.pair.page === '{first}'")
    pairs.told(mark, first)
    require_sound(page, browser)
    page.locator("#pair-rows a").first.click()
    page.wait_for_url("**/links?page=*")
    page.get_by_role("dialog").get_by_text(first).first.wait_for()


def test_too_few_data_say_what_to_do(app: RunningApp, tmp_path: Path) -> None:
    """Without links or search data there are no figures, and no experiment begins: sentences say what is missing."""
    folder, _ = make_source_site(tmp_path / "thin")
    api = f"/api/projects/{app.open(folder).key}"
    found = measure(app, api)
    assert found["thin"] and "no search data were imported yet" in found["sentence"]
    refused = app.client.post(f"{api}/experiment").json()
    assert refused["status"] == "refused" and "150 pages are needed" in refused["sentence"]
    assert app.client.get(f"{api}/experiment").json() is None


def test_an_experiment_begins_and_ends(app: RunningApp, tmp_path: Path) -> None:
    """Links are held back and listed; links that went live all the same are reported; at its end none waits."""
    folder, _ = make_experiment_project(tmp_path / "experiment")
    api = f"/api/projects/{app.open(folder).key}"
    assert app.client.get(f"{api}/experiment").json() is None
    assert app.client.post(f"{api}/experiment").json()["status"] == "begun"
    one = app.client.get(f"{api}/experiment").json()
    assert one["running"] and one["held"] == one["links"] == one["pages"] == 32 and one["remark"] == ""
    held = app.client.get(f"{api}/experiment/links", params={"rows": 2}).json()
    assert held["total"] == one["links"] and len(held["rows"]) == 2
    with open_project(folder).graph(read_only=False) as (edges, _):
        source = next(edges.each("accepted")).source
        edges.put([live_link(source, row["target"], datetime.now(UTC).date()) for row in held["rows"]])
    one = app.client.get(f"{api}/experiment").json()
    assert one["links"] == 30 and "2 of the 32 pages" in one["remark"]
    assert app.client.delete(f"{api}/experiment").status_code == 200
    assert app.client.get(f"{api}/experiment").json()["running"] is False
