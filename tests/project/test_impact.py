"""The impact of links is measured from what a project has stored, and experiments hold links back."""

import json
import shutil
from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import time_machine

from internal_linker import impact as impact_in_python
from internal_linker.insight.impact.records import Conclusion
from internal_linker.model.applied_links import PageWrite
from internal_linker.model.edges import altered
from internal_linker.model.errors import ConfigurationError, ExitCode, InputError
from internal_linker.model.progress import Tracker as Notes
from internal_linker.model.search_data import SearchTable
from internal_linker.project.apply import ApplyOutcome, accepted_links, apply
from internal_linker.project.experiments import (
    PlanResult,
    PlanStatus,
    end_experiment,
    last_experiment,
    plan_experiment,
)
from internal_linker.project.impact import ImpactResult, impact
from internal_linker.project.options.decisions import ApplyOptions
from internal_linker.project.options.evaluation import ImpactOptions
from internal_linker.project.project import open_project
from internal_linker.project.site_texts import imported_site
from internal_linker.project.targets import SkipReason
from internal_linker.sources.search.exports import period_source
from internal_linker.store.files.text_spool import TextSpool
from tests.support.impact_project import PROPERTY, live_link, make_experiment_project, make_impact_project
from tests.support.impact_sites import Kind, Simulated, simulated
from tests.support.small_project import command
from tests.support.source_site import make_source_site

SMALL = Kind(pages=150, targets=32, clicks=6.0, weeks=24, campaigns=2, sections=2, noise=0.15, drift=0.1)


@pytest.fixture(scope="module")
def site() -> Simulated:
    return simulated(3, SMALL, 0.5)


@pytest.fixture(scope="module")
def made(site: Simulated, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_impact_project(tmp_path_factory.mktemp("impact") / "site", site)


Planned = tuple[Path, datetime, PlanResult]


@pytest.fixture(scope="module")
def experiment(tmp_path_factory: pytest.TempPathFactory) -> Planned:
    """Return a project with a planned experiment, the day on which it was planned, and the plan."""
    folder, first = make_experiment_project(tmp_path_factory.mktemp("experiment") / "site")
    with time_machine.travel(first, tick=False):
        return folder, first, plan_experiment(open_project(folder), np.random.default_rng(0))


@pytest.fixture
def planned(experiment: Planned, tmp_path: Path) -> Planned:
    """Return a copy of it."""
    folder, first, plan = experiment
    return shutil.copytree(folder, tmp_path / "site"), first, plan


def found(folder: Path, **options: object) -> ImpactResult:
    return impact(open_project(folder), ImpactOptions(**options), Notes())  # type: ignore[arg-type]


def put_live(folder: Path, pages: Iterable[str], at: datetime) -> None:
    """Let a run find the accepted links to these pages on the site."""
    with open_project(folder).graph(read_only=False) as (edges, _):
        source = next(iter([*edges.each("accepted"), *edges.each("live")])).source
        edges.put([live_link(source, page, at.date()) for page in pages])


def test_the_project_gives_what_the_arrays_give(made: Path, site: Simulated) -> None:
    result, expected = found(made), site.findings()
    assert result.links == len(site.treated)
    assert result.verdict is Conclusion.GAIN
    assert result.sentence == expected.sentence
    pd.testing.assert_frame_equal(result.findings.weeks, expected.weeks)
    lives = [some.pairs.set_index("page")["live"].to_dict() for some in (result.findings, expected)]
    assert lives[0] == lives[1]


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
    assert found(made).files == ("impact.html",)
    text = (made / "files/impact.html").read_text("utf-8")
    assert found(made, report=False).sentence.split(",")[0] in text
    assert "default-src &#39;none&#39;; script-src" in text


def test_frames_have_shares(made: Path) -> None:
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
    from internal_linker.model.canonical_hosts import CanonicalHosts
    from internal_linker.project.impact import new_links

    links = new_links(open_project(folder), CanonicalHosts())
    days = dict(zip(links["target"], map(date.fromordinal, links["day"]), strict=True))
    assert days == {first: date(2021, 9, 1), second: date(2021, 10, 1)}


def test_without_search_data_nothing_is_said(tmp_path: Path, site: Simulated) -> None:
    """A sentence tells what is needed; it is no error, and the report says it, too."""
    folder = make_impact_project(tmp_path, site, days=[date(1999, 1, 1)])
    result = found(folder)
    assert result.verdict is Conclusion.THIN
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
        planned = plan_experiment(project, np.random.default_rng(1), fewest=2)
        assert "held back until 2026-08-14" in planned.sentence
        held = {one.target for one in planned.drawn if one.held}
        assert len(held) == 1
        assert len(planned.links) == next(one.links for one in planned.drawn if one.held)
        result = apply(project, ApplyOptions(files=sources), Notes())
        waiting = {link.link_id for link in result.links if link.outcome is ApplyOutcome.HELD_BACK}
        with project.graph() as (edges, _):
            links = accepted_links(edges)
        assert waiting == {edge.id for edge in links if edge.target in held}
        assert len(result.links) == len(links)
        told = next(link for link in result.links if link.reason is SkipReason.HELD_BACK)
        assert told.result == "held back until 2026-08-14 for the experiment"
    with time_machine.travel("2026-08-14 10:00 +0000", tick=False):
        later = apply(project, ApplyOptions(files=sources), Notes())
        assert not [link for link in later.links if link.outcome is ApplyOutcome.HELD_BACK]


def test_an_experiment_can_be_ended(tmp_path: Path) -> None:
    """At once, and another one can be planned then; while it runs, its pages are not drawn again."""
    folder, sources = make_source_site(tmp_path)
    project = open_project(folder)
    plan_experiment(project, np.random.default_rng(1), fewest=2)
    assert "is running" in plan_experiment(project, fewest=2).sentence
    assert end_experiment(project).sentence == "Links to 1 page are no longer held back."
    assert end_experiment(project).sentence == "No links are held back."
    result = apply(project, ApplyOptions(files=sources), Notes())
    assert not [link for link in result.links if link.outcome is ApplyOutcome.HELD_BACK]
    assert plan_experiment(project, fewest=2).status is PlanStatus.BEGUN


def test_nothing_to_draw_is_said(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command("impact", "--plan", "--project", str(made)) == ExitCode.GAPS
    told = capsys.readouterr().out
    assert "no accepted link waits. Accept links to at least 150 pages" in told
    assert "Decisions in review.xlsx or the Sheet count after the next run." in told
    with pytest.raises(InputError, match="plan one with impact --plan"):
        found(made, experiment=True)


@pytest.mark.long
def test_held_back_targets_are_the_controls(planned: Planned) -> None:
    folder, first, plan = planned
    drawn = {one.target for one in plan.drawn}
    held = {one.target for one in plan.drawn if one.held}
    assert len(held) == round(len(drawn) / 5)
    put_live(folder, drawn - held, first + timedelta(days=2))
    result = found(folder, experiment=True)
    assert not [each for each in result.findings.remarks if "anyway" in each]
    assert result.findings.randomised
    assert {page for some in result.findings.pairs["controls"] for page in some} <= held
    assert {*result.findings.pairs["page"]} <= drawn - held
    assert result.findings.estimates[0].controls == len(held)


def test_held_back_links_that_went_live_are_told(
    planned: Planned, capsys: pytest.CaptureFixture[str]
) -> None:
    """The comparison keeps these pages, says so, and the standing counts them; if none is left, it can't be made."""
    folder, first, plan = planned
    project = open_project(folder)
    held = [one.target for one in plan.drawn if one.held]
    put_live(folder, [one.target for one in plan.drawn if not one.held], first + timedelta(days=2))
    sound = found(folder, experiment=True).findings
    put_live(folder, held[:8], first + timedelta(days=3))
    spoiled = found(folder, experiment=True).findings
    told = f"8 of the {len(held)} pages that were drawn to be held back got a new link anyway."
    assert spoiled.remarks[0].startswith(told)
    assert "as they were drawn" in spoiled.remarks[0] and "by up to about 25%" in spoiled.remarks[0]
    assert spoiled.estimates[0] == sound.estimates[0]
    assert spoiled.detectable > sound.detectable and spoiled.pages_needed > sound.pages_needed
    with time_machine.travel(first + timedelta(days=9), tick=False):
        standing = last_experiment(project)
        assert standing is not None and standing.remark == told
        assert standing.waiting_pages == len(standing.waiting) == len(held) - 8
        assert plan_experiment(project).sentence.endswith(f"0 links may go live. {told}")
    put_live(folder, held, first + timedelta(days=3))
    capsys.readouterr()
    assert command("impact", "--experiment", "--no-report", "--project", str(folder)) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert (
        f"can't be evaluated: all {len(held)} pages that were drawn to be held back got a new link" in printed
    )
    assert "sk again" not in printed


def test_older_links_of_drawn_pages_do_not_count(planned: Planned) -> None:
    folder, first, plan = planned
    put_live(folder, [one.target for one in plan.drawn], first - timedelta(days=40))
    released = {one.target for one in plan.drawn if not one.held}
    with open_project(folder).graph(read_only=False) as (edges, _):
        source = next(edges.each("live")).target
        day = (first + timedelta(days=2)).date()
        edges.put([live_link(source, page, day) for page in released - {source}])
    result = found(folder, experiment=True).findings
    assert len(result.pairs) == len(released - {source})
    assert not [each for each in result.remarks if "anyway" in each]


def test_too_few_targets_begin_no_experiment(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is held back; the sentence says what would suffice, and the exit code that it was not done."""
    folder, _ = make_source_site(tmp_path)
    assert command("impact", "--plan", "--json", "--project", str(folder)) == ExitCode.GAPS
    told = json.loads(capsys.readouterr().out)
    assert (told["status"], told["held_back"], told["put_live"]) == ("refused", [], [])
    assert "links to 4 pages are too few" in told["sentence"] and "to 146 more" in told["sentence"]
    assert last_experiment(open_project(folder)) is None


def test_a_running_experiment_lists_its_links(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Those held back and those to put live, as when it began: all as JSON, the first of them in the terminal."""
    folder, first = make_experiment_project(tmp_path)
    with time_machine.travel(first, tick=False):
        lists = []
        for status in ("begun", "running"):
            assert command("impact", "--plan", "--json", "--project", str(folder)) == 0
            told = json.loads(capsys.readouterr().out)
            assert told["status"] == status
            lists.append((told["held_back"], told["put_live"]))
        assert lists[0] == lists[1]
        assert [*map(len, lists[0])] == [32, 128]
        assert command("impact", "--plan", "--project", str(folder)) == 0
    printed = capsys.readouterr().out
    assert (printed.count("  put live: "), printed.count("  held back: ")) == (20, 20)
    assert "and 108 more:" in printed and "impact --plan --json" in printed


def test_sums_of_a_period_are_not_enough(tmp_path: Path, site: Simulated) -> None:
    """The sentence asks for the data of each day rather than for patience."""
    folder = make_impact_project(tmp_path, site, days=[date(1999, 1, 1)])
    day = date.fromordinal(site.panel.first + 100)
    rows = pd.DataFrame(
        {
            "date": [pd.Timestamp(day)],
            "page": [site.panel.pages[0]],
            "clicks": [9],
            "impressions": [90],
            "position": [3.0],
        }
    )
    source = period_source((day - timedelta(days=89), day))
    with open_project(folder).search_data(source, read_only=False) as store:
        store.put(SearchTable.PAGES, day, rows)
    result = found(folder)
    assert result.verdict is Conclusion.THIN
    assert "sums over a period" in result.sentence and "Import the data of each day" in result.sentence


def test_plan_and_release_exclude_each_other(made: Path) -> None:
    assert command("impact", "--plan", "--release", "--project", str(made)) == ConfigurationError.exit_code
