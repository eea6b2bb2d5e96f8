"""The impact of links is measured from what a project has stored, and experiments hold links back."""

import html
import json
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
import time_machine

from internal_linker import impact as impact_in_python
from internal_linker.adapters.files.text_spool import TextSpool
from internal_linker.core.applied_links import PageWrite
from internal_linker.core.edges import altered
from internal_linker.core.errors import ConfigurationError, InputError
from internal_linker.core.search_data import SearchTable
from internal_linker.performance.impact.records import Verdict
from internal_linker.usecases.apply import accepted_links, apply
from internal_linker.usecases.apply_results import Left, Outcome
from internal_linker.usecases.experiments import end_experiment, plan_experiment
from internal_linker.usecases.impact import ImpactResult, impact
from internal_linker.usecases.impact_view import ImpactView, measure_impact
from internal_linker.usecases.options.applying import ApplyOptions
from internal_linker.usecases.options.performance import ImpactOptions
from internal_linker.usecases.project import open_project
from internal_linker.usecases.quiet import Notes
from internal_linker.usecases.site_texts import imported_site
from tests.quality.impact_sites import Kind, Simulated, nearest_controls_moved, simulated
from tests.support.impact_project import PROPERTY, live_link, make_impact_project
from tests.support.small_project import command
from tests.support.source_site import make_source_site

SMALL = Kind(pages=150, targets=32, clicks=6.0, weeks=24, campaigns=2, sections=2, noise=0.15, drift=0.1)


@pytest.fixture(scope="module")
def site() -> Simulated:
    return simulated(3, SMALL, 0.5)


@pytest.fixture(scope="module")
def made(site: Simulated, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_impact_project(tmp_path_factory.mktemp("impact") / "site", site)


def found(folder: Path, **options: object) -> ImpactResult:
    return impact(open_project(folder), ImpactOptions(**options), Notes())  # type: ignore[arg-type]


def measure(folder: Path) -> ImpactView:
    return measure_impact(open_project(folder), ImpactOptions(), Notes())


def test_the_project_gives_what_the_arrays_give(made: Path, site: Simulated) -> None:
    """From stored search data, live links and their days, sections and languages."""
    result, expected = found(made), site.findings()
    assert result.links == len(site.treated)
    assert result.verdict is Verdict.GAIN
    assert result.sentence == expected.sentence
    assert [one.week for one in result.findings.events] == [one.week for one in expected.events]
    effects = [[one.effect for one in some.events] for some in (result.findings, expected)]
    np.testing.assert_allclose(np.array(effects[0]), np.array(effects[1]))
    assert {one.page: one.day for one in result.findings.pairs} == {
        one.page: one.day for one in expected.pairs
    }


def test_pages_that_are_known_are_not_read_again(made: Path, site: Simulated) -> None:
    """After a run, which has the pages, the same is found without the table of pages."""
    project, spool = open_project(made), TextSpool(made / "files")
    known = imported_site(project, spool, Notes())
    expected = found(made).sentence
    table = made / "files/urls_rawdata.csv"
    hidden = table.rename(made / "files/hidden.csv")
    try:
        assert impact(project, ImpactOptions(report=False), Notes(), known).sentence == expected
    finally:
        hidden.rename(table)
        spool.close()


def test_the_report_stands_alone(made: Path) -> None:
    """It has the answer, and loads nothing from elsewhere."""
    assert found(made).files == ("impact.html",)
    text = (made / "files/impact.html").read_text("utf-8")
    assert found(made, report=False).sentence.split(",")[0] in text
    assert "default-src &#39;none&#39;; script-src" in text


def test_frames_have_shares(made: Path) -> None:
    """The tables of effects, weeks and pairs, for pandas."""
    frames = impact_in_python(made).frames
    effects = frames["effects"].set_index(["outcome", "group"])
    assert 0.2 < effects.loc[("clicks", "all"), "effect"] < 1
    assert frames["weeks"]["week"].max() == 3
    assert len(frames["pairs"]) == effects.loc[("clicks", "all"), "pages"]


def test_the_command_says_the_same(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As text and as JSON."""
    assert command("impact", "--project", str(made), "--json", "--no-report") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["verdict"] == "gain"
    assert {one["outcome"] for one in told["effects"]} == {"clicks", "impressions", "position"}
    assert command("impact", "--project", str(made)) == 0
    printed = capsys.readouterr().out
    assert told["sentence"] in printed
    assert "files/impact.html" in printed
    assert " targets are needed" in printed and "no effect, as it should be" in printed


def test_a_failed_placebo_is_told_everywhere(
    site: Simulated, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In the terminal, in the report, and in what the app shows."""
    odd = replace(site, panel=nearest_controls_moved(site, 3.0))
    folder = make_impact_project(tmp_path / "site", odd)
    assert command("impact", "--project", str(folder)) == 0
    printed = " ".join("".join(capsys.readouterr()).split())
    (remark,) = [each for each in measure(folder).remarks if each.startswith("The placebo failed")]
    assert remark in printed
    assert remark in html.unescape((folder / "files/impact.html").read_text("utf-8"))


def test_the_day_of_writing_counts(tmp_path: Path, site: Simulated) -> None:
    """A link that `apply` wrote is live from that day on, however late a run found it; one taken back is not."""
    folder = make_impact_project(tmp_path, site, days=[date(2021, 8, 1)])
    source, first, second = site.panel.pages[:3]
    day = datetime(2021, 9, 1, tzinfo=UTC)
    edges = [live_link(source, target, date(2021, 10, 1)) for target in (first, second)]
    with open_project(folder).applications(read_only=False) as (store, applied):
        store.put([altered(edge, status="withdrawn") for edge in store.each()])
        store.put(edges)
        for edge, status in zip(edges, ("applied", "undone"), strict=True):
            write = PageWrite(
                application="a", page=source, page_url=source, home="", place=edge.id, links=[edge.id],
                hash_before="", hash_after="", by="Ann", at=day,
            )  # fmt: skip
            applied.mark(applied.begin([(write, b"text")]), status)  # type: ignore[arg-type]
    from internal_linker.core.canonical_hosts import CanonicalHosts
    from internal_linker.usecases.impact import new_links

    days = {
        one.target: date.fromordinal(one.day) for one in new_links(open_project(folder), CanonicalHosts())
    }
    assert days == {first: date(2021, 9, 1), second: date(2021, 10, 1)}


def test_without_search_data_nothing_is_said(tmp_path: Path, site: Simulated) -> None:
    """A sentence tells what is needed; it is no error, and the report says it, too."""
    folder = make_impact_project(tmp_path, site, days=[date(1999, 1, 1)])
    result = found(folder)
    assert result.verdict is Verdict.THIN
    assert "no search data were imported" in result.sentence
    assert "no search data were imported" in (folder / "files/impact.html").read_text("utf-8")


def test_days_that_are_not_final_are_left_out(tmp_path: Path, site: Simulated) -> None:
    """Their clicks are incomplete, which would look like a loss."""
    days = [date.fromordinal(site.panel.first + at) for at in range(3)]
    folder = make_impact_project(tmp_path, site, days=days)
    project = open_project(folder)
    with project.search_data(PROPERTY, read_only=False) as store:
        rows = store.read(SearchTable.PAGES, days[2], days[2])
        store.put(SearchTable.PAGES, days[2], rows, final=False)
    assert "1 day left out whose search data are not final." in found(folder).remarks


def test_an_experiment_holds_links_back(tmp_path: Path) -> None:
    """`apply` leaves the links to drawn targets alone until the day, and takes them again afterwards."""
    folder, sources = make_source_site(tmp_path)
    project = open_project(folder)
    with time_machine.travel("2026-07-17 10:00 +0000", tick=False):
        planned = plan_experiment(project, np.random.default_rng(1))
        assert "held back until 2026-08-14" in planned.sentence
        assert "too little to be measured: 30 pages that are held back are needed" in planned.sentence
        held = {one.target for one in planned.drawn if one.held}
        assert len(held) == 1
        assert len(planned.links) == next(one.links for one in planned.drawn if one.held)
        result = apply(project, ApplyOptions(files=sources), Notes())
        waiting = {link.link_id for link in result.links if link.outcome is Outcome.HELD_BACK}
        with project.graph() as (edges, _):
            links = accepted_links(edges)
        assert waiting == {edge.id for edge in links if edge.target in held}
        assert len(result.links) == len(links)
        told = next(link for link in result.links if link.reason is Left.HELD_BACK)
        assert told.result == "held back until 2026-08-14 for the experiment"
    with time_machine.travel("2026-08-14 10:00 +0000", tick=False):
        later = apply(project, ApplyOptions(files=sources), Notes())
        assert not [link for link in later.links if link.outcome is Outcome.HELD_BACK]


def test_an_experiment_can_be_ended(tmp_path: Path) -> None:
    """At once, and another one can be planned then; while it runs, its pages are not drawn again."""
    folder, sources = make_source_site(tmp_path)
    project = open_project(folder)
    plan_experiment(project, np.random.default_rng(1))
    assert "is running" in plan_experiment(project).sentence
    assert end_experiment(project).sentence == "Links to 1 page are no longer held back."
    assert end_experiment(project).sentence == "No links are held back."
    result = apply(project, ApplyOptions(files=sources), Notes())
    assert not [link for link in result.links if link.outcome is Outcome.HELD_BACK]
    assert plan_experiment(project).drawn


def test_nothing_to_draw_is_said(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without accepted links there is no experiment, and no result of one."""
    assert command("impact", "--plan", "--project", str(made)) == 0
    assert "accept links to several pages" in capsys.readouterr().out
    with pytest.raises(InputError, match="plan one with impact --plan"):
        found(made, experiment=True)


def test_held_back_targets_are_the_controls(tmp_path: Path) -> None:
    """The result of an experiment compares targets that went live with those that were drawn to wait."""
    site = simulated(4, Kind(pages=240, targets=160, clicks=6.0, weeks=24, campaigns=1, experiment=True), 0.6)
    assert site.experiment is not None
    folder = make_impact_project(tmp_path, site)
    project = open_project(folder)
    drawn = site.experiment.held | site.experiment.released
    with project.graph(read_only=False) as (edges, _):
        live = {edge.target: edge for edge in edges.each("live")}
        source = next(iter(live.values())).source
        waiting = [altered(live_link(source, page, date(2021, 1, 1)), status="accepted") for page in drawn]
        edges.put(waiting)
    first = date.fromordinal(site.experiment.first)
    with time_machine.travel(datetime(first.year, first.month, first.day, 5, tzinfo=UTC), tick=False):
        planned = plan_experiment(project, np.random.default_rng(0))
    held = {one.target for one in planned.drawn if one.held}
    assert len(held) == round(len(drawn) / 5)
    assert "too little" not in planned.sentence
    with project.graph(read_only=False) as (edges, _):
        day = first + timedelta(days=2)
        edges.put([live_link(source, page, day) for page in drawn - held])
    result = found(folder, experiment=True)
    assert result.findings.randomised
    assert {page for one in result.findings.pairs for page in one.controls} <= held
    assert {one.page for one in result.findings.pairs} <= drawn - held
    assert result.findings.estimates[0].controls == len(held)


def test_plan_and_release_exclude_each_other(made: Path) -> None:
    """One of them has to be chosen."""
    assert command("impact", "--plan", "--release", "--project", str(made)) == ConfigurationError.exit_code
