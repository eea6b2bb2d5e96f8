"""Earlier runs on the command line: listing them, comparing them, and restoring one."""

import csv
import re
import shutil
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
import time_machine

from internal_linker.model.records import Candidate, Link, Recommendation, Source
from internal_linker.model.runs import Version, VersionRow
from internal_linker.project.history import diff, history, preview_rollback, rollback
from internal_linker.project.log import new_run_id
from internal_linker.project.options.decisions import DiffOptions, RollbackOptions
from internal_linker.project.project import Project, open_project
from internal_linker.project.review import LinkDecision, decide, waiting_links
from tests.support.builders import Told
from tests.support.sites import read_csv
from tests.support.small_project import HEADER, SITE, TOPICS, URLS, command, make_project, write_csv

NEW = ("herbal-tea", "Herbal tea of fresh leaves gives a light cup that has no dark colour at all.")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return make_project(tmp_path, {"links_per_page": 2, "min_inlinks": 0, "max_inlinks": 0})


@pytest.fixture(scope="module")
def _twice(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("twice") / "site"
    make_project(folder, {"links_per_page": 2, "min_inlinks": 0, "max_inlinks": 0})
    assert do(folder, "run") == 0
    shutil.copy(folder / "files/Output.csv", folder / "first.csv")
    write_pages(folder, dict([*TOPICS.items(), NEW]))
    assert do(folder, "run") == 0
    return folder


@pytest.fixture
def twice(_twice: Path, tmp_path: Path) -> Path:
    """Return a project with two runs, the second of which has a new page; first.csv has the first one's rows."""
    return Path(shutil.copytree(_twice, tmp_path / "site"))


def do(project: Path, *arguments: str) -> int:
    return command(*arguments, "--project", str(project))


def runs(project: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    capsys.readouterr()
    assert command("history", "--project", str(project)) == 0
    return [line.split()[0] for line in capsys.readouterr().out.splitlines()[1:]]


def links(project: Path, name: str = "files/Output.csv") -> dict[str, list[str]]:
    return {row["URL"]: [row["Link 1"], row["Link 2"]] for row in read_csv(project / name)}


def write_pages(project: Path, pages: dict[str, str]) -> None:
    rows = [(f"{SITE}/{slug}/", slug.replace("-", " ").capitalize(), text) for slug, text in pages.items()]
    write_csv(project / "files/urls_rawdata.csv", [HEADER, *rows])


def test_a_run_is_kept_told_apart_and_put_back(twice: Path, capsys: pytest.CaptureFixture[str]) -> None:
    project, before = twice, (twice / "first.csv").read_bytes()
    assert (project / "files/Output.csv").read_bytes() != before
    first, second = runs(project, capsys)
    assert do(project, "diff", first, second) == 0
    out = capsys.readouterr().out
    told = read_csv(project / "files/diff.csv")
    new = f"{SITE}/{NEW[0]}/"
    assert f"{len(told)} differences written to files/diff.csv." in out
    assert {row["Why"] for row in told if row["Target"] == new and row["Change"] == "new"} == {
        "the target is a new page"
    }
    assert {row["Why"] for row in told if row["Source"] == new} == {"a new row"}
    assert do(project, "rollback", first) == 0
    assert f"12 links in 6 rows from run {first}." in capsys.readouterr().out
    assert (project / "files/Output.csv").read_bytes() == before
    third = runs(project, capsys)[2]
    assert do(project, "diff", first, third) == 0
    assert "0 differences" in capsys.readouterr().out
    with (project / "files/links.csv").open(encoding="utf-8-sig", newline="") as file:
        assert len(list(csv.reader(file))) == 13


def test_pages_of_a_part_that_is_off_keep_their_links(project: Path) -> None:
    """A section set to off keeps its links, by option or setting; pages that are gone still lose their rows."""
    assert do(project, "run") == 0
    before = links(project)
    write_pages(project, dict([*list(TOPICS.items())[1:], NEW]))
    write_csv(project / "files/main_queries.csv", [("URL", "Main Query"), (URLS[1], "black tea")])
    assert do(project, "run", "--section", "/tea-pots=off", "--section", "/water=off") == 0
    after = links(project)
    kept = [f"{SITE}/tea-pots/", f"{SITE}/water/"]
    assert {url: after[url] for url in kept} == {url: before[url] for url in kept}
    assert URLS[0] not in after and f"{SITE}/{NEW[0]}/" in after
    make_project(project, {"links_per_page": 2, "sections_off": ["/*"]})
    assert do(project, "run") == 0
    assert links(project) == after, "all is off"


def keep_two_runs(opened: Project) -> None:
    """Keep two runs of one row, whose second link is another page."""
    with opened.graph(read_only=False) as (_, kept):
        for run, target in (("1", URLS[1]), ("2", URLS[2])):
            candidates = (Candidate(url, url, 3.5, 0.5, 0.25) for url in (URLS[3], target))
            links = tuple(Link(each, rank, "semantic") for rank, each in enumerate(candidates, 1))
            source = Source(URLS[0], URLS[0], "green tea", None, in_sheet=False)
            version = Version(run, f"2026-01-0{run}T03:00:00+00:00", "all rows", "local/x, recipe y", 1, 2)
            kept.put(version, [VersionRow(Recommendation(source, links), "h")])


def test_runs_have_names(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    opened = open_project(project)
    keep_two_runs(opened)
    capsys.readouterr()
    assert command("history", "--project", str(project)) == 0
    header, *lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in lines] == [["1", "last-1"], ["2", "last"]]
    for column in ("Name", "Ended (UTC)", "Published", "Model"):
        at = header.index(column)
        assert all(line[at - 1] == " " and line[at] != " " for line in lines)
    assert command("diff", "last-1", "last", "--project", str(project)) == 0
    assert "2 differences written to files/diff.csv." in capsys.readouterr().out
    assert command("rollback", "last-2", "--project", str(project)) == 3
    assert "the newest of them `last`" in capsys.readouterr().err
    assert command("rollback", "last", "--project", str(project)) == 0
    out = capsys.readouterr().out
    assert "from run 2." in out and "newest run" in out and "rollback 1 --project" in out
    assert command("rollback", "last-1", "--project", str(project)) == 0
    assert "newest run" not in capsys.readouterr().out


def test_runs_and_differences_are_tables(project: Path) -> None:
    """The columns are the records' fields; write=False writes no file."""
    opened = open_project(project)
    empty = history(opened)
    assert empty.to_frame().empty and repr(empty) == "<HistoryResult runs: 0 rows>"
    keep_two_runs(opened)
    runs_ = history(opened).to_frame()
    assert list(runs_.columns) == ["run", "name", "at", "what", "rows", "links", "published", "encoder"]
    assert runs_["run"].tolist() == ["1", "2"]
    assert runs_[["links", "published"]].dtypes.tolist() == ["int64", "bool"]
    result = diff(opened, DiffOptions(before="1", after="2"), write=False)
    frame = result.to_frame()
    assert list(frame.columns) == ["source", "target", "change", "before", "after", "why", "other"]
    assert frame[["target", "change", "before", "after"]].values.tolist() == [
        [URLS[1], "gone", 2, 0],
        [URLS[2], "new", 0, 2],
    ]
    assert result.frames["counts"]["links"].tolist() == [1, 1]
    assert not (project / "files/diff.csv").exists() and result.files == ()
    assert diff(opened, DiffOptions(before="1", after="2")).files == ("diff.csv",)
    assert len(read_csv(project / "files/diff.csv")) == 2


def test_links_that_were_put_back_are_a_table(project: Path) -> None:
    """The restored links have their ranks; the rollback is logged and is a run of its own."""
    opened, told = open_project(project), Told()
    keep_two_runs(opened)
    result = rollback(opened, RollbackOptions(run="1"), told)
    frame = result.to_frame()
    assert list(frame.columns) == ["source", "query", "target", "rank", "origin"]
    assert frame[["source", "target", "rank"]].values.tolist() == [
        [URLS[0], URLS[3], 1],
        [URLS[0], URLS[1], 2],
    ]
    assert (result.links, result.rejected, result.gaps, result.failure) == (2, 0, (), None)
    assert history(opened).versions[-1].run == result.run_id
    log = (project / "logfile.txt").read_text(encoding="utf-8")
    assert f"[{result.run_id}] Restored 2 links in 1 row from run 1." in log


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (("diff", "x", "y"), 3, "Run x not found. No runs are stored yet."),
        (("rollback", "x"), 3, "Run x not found."),
        (("run", "--section", "/blog=on"), 2, "--section /blog=on: /blog is not in sections_off."),
    ],
)
def test_what_can_not_be_done_is_said_in_a_sentence(
    project: Path, arguments: tuple[str, ...], code: int, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(*arguments, "--project", str(project)) == code
    assert sentence in capsys.readouterr().err


def test_a_wrong_clock_neither_hides_runs_nor_lasts(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A run of 2036 takes its place among the others, and goes when it is the oldest; the newest is last."""
    found = []
    with time_machine.travel(datetime(2026, 3, 1, 3, tzinfo=UTC), tick=False) as clock:
        for year in (2026, 2036, 2026):
            clock.move_to(datetime(year, 3, 1, 3, tzinfo=UTC))
            assert do(project, "run") == 0
            found.append(runs(project, capsys)[-1])
        assert [run[:4] for run in found] == ["2026", "2036", "2026"] and runs(project, capsys) == found
        assert do(project, "diff", "last-2", "last") == 0
        opened = open_project(project)
        with opened.graph(read_only=False) as (_, kept):
            version = kept.versions()[-1]
            for number in range(25):
                kept.put(replace(version, run=str(number)), [])
        assert runs(project, capsys) == [found[2], *(str(number) for number in range(25))]


def test_runs_of_one_second_are_told_apart(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with time_machine.travel(datetime(2026, 10, 25, 0, 30, tzinfo=UTC), tick=False):
        assert do(project, "run") == 0
        for _ in range(3):
            assert do(project, "rollback", "last") == 0
    found = runs(project, capsys)
    assert len(set(found)) == 4 and all(re.fullmatch(r"20261025-\d{6}-[a-z]{4}", run) for run in found)
    # Of fifty, two would be equal by chance once in 130 times.
    assert len({new_run_id() for _ in range(5)}) == 5
    for run in found:
        assert do(project, "diff", run, "last") == 0


def test_a_part_is_laid_over_the_newest_run(project: Path) -> None:
    """rollback --section takes its pages' links from the named run, and all others from the newest, not in between."""
    opened = open_project(project)
    with opened.graph(read_only=False) as (_, kept):
        for number, target in enumerate(URLS[2:5], 1):
            rows = []
            for url in URLS[:2]:
                link = Link(Candidate(target, target, 3.5, 0.5, 0.25), 1, "semantic")
                rows.append(
                    VersionRow(
                        Recommendation(Source(url.rstrip("/"), url, "", None, in_sheet=False), (link,)), "h"
                    )
                )
            version = Version(
                str(number), f"2026-01-0{number}T03:00:00+00:00", "all rows", "local/x, recipe y", 2, 2
            )
            kept.put(version, rows)
    assert do(project, "rollback", "1", "--section", URLS[0].removeprefix(SITE)) == 0
    assert [row["Link 1"] for row in read_csv(project / "files/Output.csv")] == [URLS[2]]
    with opened.graph() as (_, kept):
        newest = kept.rows(kept.versions()[-1].run)
        assert {row.end: row.recommendation.links[0].target.url for row in newest} == {
            URLS[0].rstrip("/"): URLS[2],
            URLS[1].rstrip("/"): URLS[4],
        }


@pytest.mark.parametrize("sections", [(), ("/water",)])
def test_a_preview_is_what_the_rollback_does(twice: Path, sections: tuple[str, ...]) -> None:
    project, opened = twice, open_project(twice)
    options = RollbackOptions(run="last-1", sections=sections)
    before = {path: path.read_bytes() for path in (project / "files").glob("*.csv")}
    told = preview_rollback(opened, options)
    assert {path: path.read_bytes() for path in (project / "files").glob("*.csv")} == before
    assert len(history(opened).versions) == 2
    done = rollback(opened, options, Told())
    assert (told.run, told.rows, told.links, told.rejected) == (
        done.run,
        len(done.recommendations),
        done.links,
        0,
    )
    found = diff(opened, DiffOptions(before="last-1", after="last"), write=False)
    ends = [
        [(each.source, each.target, each.change, each.before, each.after) for each in differences]
        for differences in (told.differences, found.differences)
    ]
    assert ends[0] == ends[1] and (sections or ends[0])
    assert told.balance.total == sum(len(targets) for targets in map(_filled, links(project).values()))


def _filled(targets: list[str]) -> list[str]:
    return [target for target in targets if target]


def test_a_preview_leaves_out_what_was_rejected_since(twice: Path) -> None:
    first, opened = links(twice, "first.csv"), open_project(twice)
    both = next(row for row in waiting_links(opened).links if row.target_url in first.get(row.source_url, []))
    decide(opened, [LinkDecision(both.id, "rejected")])
    told = preview_rollback(opened, RollbackOptions(run="last-1"))
    assert told.rejected == 1 and told.links == 11
    gone = {(one.source, one.target): str(one.why) for one in told.differences if one.change == "gone"}
    assert gone[both.source_url, both.target_url] == "rejected by an editor"
    assert rollback(opened, RollbackOptions(run="last-1"), Told()).rejected == 1
