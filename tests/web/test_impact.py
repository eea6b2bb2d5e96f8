"""The page and the API of impact: what links did, too few data, and experiments."""

from collections.abc import Iterator
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from internal_linker.adapters.files.array_file import write_arrays
from internal_linker.usecases.impact import impact_file, last_impact
from internal_linker.usecases.project import open_project
from tests.support.app_browser import AppBrowser, require_sound
from tests.support.app_server import RunningApp, running_app
from tests.support.impact_project import live_link, make_experiment_project, make_impact_project
from tests.support.impact_sites import Kind, simulated
from tests.support.small_project import forget_settings
from tests.support.source_site import make_source_site
from tests.web.test_charts import Chart
from tests.web.test_import import ended

SMALL = Kind(pages=150, targets=32, clicks=6.0, weeks=24, campaigns=2, sections=2, noise=0.15, drift=0.1)
HOSTILE = f"https://simulated.example/<img src=x onerror=alert(1)>/שלום\u202e{'w' * 300}/"


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningApp]:
    with pytest.MonkeyPatch.context() as patch, running_app(tmp_path_factory.mktemp("app")) as running:
        forget_settings(patch)
        yield running


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
    for days in (13, 113, "28", None):
        assert app.client.post(f"{api}/impact", json={"days": days}).status_code == 422
    before = app.client.get(f"{api}/impact").json()
    app.client.post(f"{api}/impact", json={"experiment": True})
    state = ended(app, api, "impact")
    assert state["status"] == "failed" and "No experiment was planned" in state["error"]
    assert app.client.get(f"{api}/impact").json() == before


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


@pytest.mark.parametrize(
    ("width", "scheme"), [(390, "dark"), pytest.param(1920, "light", marks=pytest.mark.long)]
)
def test_the_page_is_sound_on_any_screen(
    app: RunningApp, browser: AppBrowser, made: Path, measured: str, width: int, scheme: str
) -> None:
    """Hostile addresses and remarks stay text; the page fits and has no findings of axe."""
    project = open_project(made)
    view = last_impact(project)
    assert view is not None
    odd = [replace(one, page=HOSTILE, control=HOSTILE, tier=HOSTILE[:80]) for one in view.pairs[:3]]
    changed = replace(view, pairs=[*odd, *view.pairs], remarks=[HOSTILE, *view.remarks])
    write_arrays(impact_file(project), asdict(changed), {})
    page = browser.page(app, f"/p/{measured}/impact", width=width, scheme=scheme)  # type: ignore[arg-type]
    page.locator("#pairs canvas").first.wait_for()
    expect(page.locator("#pair-rows a").first).to_have_text(HOSTILE)
    page.get_by_text("The weeks as a table").click()
    require_sound(page, browser)
    write_arrays(impact_file(project), asdict(view), {})


def test_too_few_data_say_what_to_do(app: RunningApp, browser: AppBrowser, tmp_path: Path) -> None:
    """Without links or search data there are no figures: the sentence says what is missing, and a link leads there."""
    folder, _ = make_source_site(tmp_path / "thin")
    page = browser.page(app, f"/p/{app.open(folder).key}/impact")
    page.get_by_role("button", name="Measure the impact").click()
    page.get_by_text("Too few data: no search data were imported yet.").wait_for(timeout=60_000)
    expect(page.locator("#figures-part")).to_be_hidden()
    require_sound(page, browser)
    page.locator("#next").get_by_role("link", name="Import").click()
    page.get_by_role("heading", name="Import", exact=True).wait_for()


def test_a_person_plans_and_ends_an_experiment(app: RunningApp, browser: AppBrowser, tmp_path: Path) -> None:
    """After a confirmation, links wait and are listed; ended after another one, they don't."""
    folder, _ = make_experiment_project(tmp_path / "experiment")
    key = app.open(folder).key
    page = browser.page(app, f"/p/{key}/impact")
    page.get_by_text("No experiment was planned yet.").wait_for()
    page.get_by_role("button", name="Hold back 20%").click()
    require_sound(page, browser)
    page.get_by_role("button", name="Cancel").click()
    assert app.client.get(f"/api/projects/{key}/experiment").json() is None
    page.get_by_role("button", name="Hold back 20%").click()
    page.get_by_role("button", name="Hold them back").click()
    page.locator("#standing").get_by_text("held back until").wait_for()
    one = app.client.get(f"/api/projects/{key}/experiment").json()
    assert one["running"] and one["held"] == one["links"] == one["pages"] == 32 and one["remark"] == ""
    held = app.client.get(f"/api/projects/{key}/experiment/links", params={"rows": 1}).json()
    assert held["total"] == one["links"] and len(held["rows"]) == 1
    page.get_by_text("Links that are held back").click()
    expect(page.locator("#held li")).to_have_count(one["links"])
    require_sound(page, browser)
    pages = [
        each["target"] for each in app.client.get(f"/api/projects/{key}/experiment/links").json()["rows"][:2]
    ]
    with open_project(folder).graph(read_only=False) as (edges, _):
        source = next(edges.each("accepted")).source
        edges.put([live_link(source, each, datetime.now(UTC).date()) for each in pages])
    page.reload()
    page.get_by_text(f"30 accepted links to 30 pages held back until {one['until']}").wait_for()
    page.get_by_text("2 of the 32 pages that were drawn to be held back got a new link anyway.").wait_for()
    page.get_by_role("button", name="End the experiment").click()
    page.get_by_role("button", name="End it").click()
    page.get_by_text("no longer held back").wait_for()
    assert app.client.get(f"/api/projects/{key}/experiment").json()["running"] is False
    expect(page.get_by_role("button", name="End the experiment")).to_be_hidden()


def test_too_few_accepted_links_begin_no_experiment(
    app: RunningApp, browser: AppBrowser, tmp_path: Path
) -> None:
    """The page says what would suffice, and there is nothing to end."""
    folder, _ = make_source_site(tmp_path / "few")
    key = app.open(folder).key
    page = browser.page(app, f"/p/{key}/impact")
    page.get_by_role("button", name="Hold back 20%").click()
    page.get_by_role("button", name="Hold them back").click()
    page.locator("#standing").get_by_text("150 pages are needed").wait_for()
    expect(page.get_by_role("button", name="End the experiment")).to_be_hidden()
    assert app.client.post(f"/api/projects/{key}/experiment").json()["status"] == "refused"
    assert app.client.get(f"/api/projects/{key}/experiment").json() is None
