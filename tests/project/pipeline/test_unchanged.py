"""A run after which nothing changed says so and ends; whatever changed, the next run does all its work."""

import csv
import shutil
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import openpyxl
import pytest

from internal_linker.model.records import RowSelection
from internal_linker.project.options.links import RunOptions
from internal_linker.project.pipeline import last_run
from internal_linker.project.pipeline.last_run import find_unchanged, keep_run
from internal_linker.project.pipeline.run import Run
from internal_linker.project.project import open_project
from internal_linker.project.review import LinkDecision, decide, waiting_links
from internal_linker.project.run import PageLinks, closing_line, run
from internal_linker.review.workbook import ReviewWorkbook
from tests.project.pipeline.test_stable_lists import LINKS, site, write
from tests.support.builders import Engine, MemorySerp, Told
from tests.support.sites import read_csv
from tests.support.small_project import SITE, command, snapshot, write_csv, write_settings


@pytest.fixture(scope="module")
def settled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a project after two runs, with an orphan, near-duplicates, decisions and a rejected row."""
    root = tmp_path_factory.mktemp("unchanged") / "project"
    (url, title, text), *others = site()
    copy = (f"{SITE}/0/copy/", f"{title} again", text)
    write(root, [(url, title, text), *others, copy, ("no address", "", "")], LINKS)
    write_csv(root / "files/main_queries.csv", [("URL", "Main Query"), (url, "t0w0"), ("", "what is t2w2")])
    write_settings(root, {"min_inlinks": 1})
    done(root)
    links = waiting_links(open_project(root)).links
    decide(
        open_project(root), [LinkDecision(links[3].id, "accepted"), LinkDecision(links[20].id, "rejected")]
    )
    assert not done(root).report.unchanged
    return root


@pytest.fixture
def root(settled: Path, tmp_path: Path) -> Path:
    """Return a copy of that project."""
    return shutil.copytree(settled, tmp_path / "project")


def done(root: Path) -> PageLinks:
    found = run(open_project(root), RunOptions(), Told())
    assert not found.failure
    return found


def repeats(root: Path, options: RunOptions | None = None) -> bool:
    """Return whether a run with these options would end at once, without doing its work if it would not."""
    project, options = open_project(root), options or RunOptions()
    with project.context(Told(), serp=options.search) as context:
        steps = Run(context, project.rules(options), RowSelection(options.limit, tuple(options.only)), Told())
        return steps._may_repeat and find_unchanged(context, steps.rules, steps.index) is not None


def test_a_run_that_writes_other_columns_does_its_work(root: Path) -> None:
    for options, figures in ((("--figures",), True), (("--figures",), True), ((), False)):
        assert command("run", *options, "--project", str(root)) == 0
        assert ("Blend" in read_csv(root / "files/links.csv")[0]) == figures


def test_a_run_after_which_nothing_changed_says_so_and_ends(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It ends with code 0, names the last run, changes no file but the log, and stores no run of its own."""
    names = {"Output.csv", "links.csv", "orphans.csv", "review.xlsx"}
    before = snapshot(root / "files")
    with open_project(root).graph() as (_, runs):
        versions = runs.versions()
    assert command("run", "--project", str(root)) == 0
    said = f"Nothing changed since run {versions[-1].run}"
    assert said in " ".join(capsys.readouterr().out.split())
    assert said in (root / "logfile.txt").read_text(encoding="utf-8")
    after = snapshot(root / "files")
    assert names <= {*before} and all(after[name] == before[name] for name in names)
    with open_project(root).graph() as (_, runs):
        assert runs.versions() == versions


def test_the_result_of_such_a_run_has_the_links_of_the_last_one(root: Path) -> None:
    found = done(root)
    assert found.report.unchanged and not found.gaps
    assert closing_line(found).startswith(f"Nothing changed since run {found.run}")
    rows = read_csv(root / "files/links.csv")
    told = [(link.source, link.target, link.anchor, str(link.score)) for link in found.links if link.source]
    assert told == [(row["Source"], row["Target"], row["Anchor"], row["Score"]) for row in rows]
    notes = [row["Note"] for row in read_csv(root / "files/Output.csv") if row["Note"]]
    assert [note for _, note in found.notes] == notes != []


def _decided(root: Path) -> None:
    project = open_project(root)
    decide(project, [LinkDecision(waiting_links(project).links[7].id, "rejected")])


def _cell(column: str, value: str) -> Callable[[Path], None]:
    def change(root: Path) -> None:
        path = root / "files/review.xlsx"
        book = openpyxl.load_workbook(path)
        sheet = book.worksheets[0]
        names = [cell.value for cell in sheet[1]]
        sheet.cell(9, names.index(column) + 1).value = value
        book.save(path)

    return change


def _rows(name: str, change: Callable[[list[list[str]]], object]) -> Callable[[Path], None]:
    def changed(root: Path) -> None:
        path = root / "files" / name
        with path.open(encoding="utf-8-sig", newline="") as file:
            header, *rows = csv.reader(file)
        change(rows)
        write_csv(path, [header, *rows])

    return changed


def _database(statement: str) -> Callable[[Path], None]:
    def change(root: Path) -> None:
        with sqlite3.connect(root / "files/cache.sqlite3") as database:
            database.execute(statement)

    return change


CHANGES: dict[str, Callable[[Path], object]] = {
    "decision": _decided,
    "status in the review": _cell("Status", "rejected"),
    "note in the review": _cell("Notes", "a note"),
    "review deleted": lambda root: (root / "files/review.xlsx").unlink(),
    "Output.csv sorted": _rows("Output.csv", lambda rows: rows.reverse()),
    "links.csv deleted": lambda root: (root / "files/links.csv").unlink(),
    "orphans.csv emptied": lambda root: (root / "files/orphans.csv").write_bytes(b""),
    "setting": lambda root: write_settings(root, {"min_inlinks": 1, "anchors": "strict"}),
    "pattern": lambda root: (root / "config/excluded_urls.txt").write_text(f"{SITE}/1/1/"),
    "text": _rows("urls_rawdata.csv", lambda rows: rows[3].__setitem__(2, "other words")),
    "page gone": _rows("urls_rawdata.csv", lambda rows: rows.pop(12)),
    "existing link": _rows("existing_links.csv", lambda rows: rows.pop()),
    "query": _rows("main_queries.csv", lambda rows: rows.pop()),
    "killed run": _database("UPDATE edges SET updated_at = '2027-01-01' WHERE rowid % 7 = 0"),
    "links of the store lost": _database("DELETE FROM edges WHERE rowid % 7 = 0"),
    "index deleted": lambda root: shutil.rmtree(root / "files/index"),
}


@pytest.mark.long
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_whatever_changed_since_the_last_run_is_noticed(root: Path, change: Callable[[Path], object]) -> None:
    assert repeats(root)
    change(root)
    assert not repeats(root)


def test_other_options_are_no_repetition(root: Path) -> None:
    for options in (
        RunOptions(sections=("/1/",)),
        RunOptions(target_exclude=("/1/",)),
        RunOptions(limit=3, publish=True),
        RunOptions(only=(f"{SITE}/1/1/",)),
    ):
        assert not repeats(root, options)
    assert repeats(root)


def test_a_run_does_all_its_work_once_a_month(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Later(datetime):
        @classmethod
        def now(cls, tz: object = None) -> "Later":
            return cls.fromtimestamp((datetime.now(UTC) + timedelta(days=31)).timestamp(), UTC)

    assert repeats(root)
    monkeypatch.setattr(last_run, "datetime", Later)
    assert not repeats(root)


def test_what_an_editor_saves_while_a_run_works_is_read_by_the_next_one(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that merged cells which it had not read before keeps no digest: the next run hears them."""
    write_settings(root, {"min_inlinks": 2})
    read = ReviewWorkbook.read

    def then_saved(desk: ReviewWorkbook) -> object:
        found = read(desk)
        _cell("Status", "rejected")(root)
        return found

    with monkeypatch.context() as patched:
        patched.setattr(ReviewWorkbook, "read", then_saved)
        done(root)
    assert not repeats(root)
    with open_project(root).graph() as (edges, _):
        before = edges.counts()["rejected"]
    assert not done(root).report.unchanged
    with open_project(root).graph() as (edges, _):
        assert edges.counts()["rejected"] == before + 1
    assert repeats(root)


def test_a_run_with_something_to_report_is_no_measure(root: Path) -> None:
    _cell("Status", "perhaps")(root)
    for _ in range(2):
        told = Told()
        assert not run(open_project(root), RunOptions(), told).report.unchanged
        assert any("perhaps" in note for note in told.warnings)


def test_search_results_that_become_too_old_end_it(root: Path) -> None:
    project = open_project(root)
    with project.context(Told()) as context:
        steps = Run(context, project.rules(), RowSelection(), Told())
        report = steps.execute("r9")
        assert report.unchanged and report.memory
        soon = datetime.now(UTC) - timedelta(seconds=1)

        class Cache(MemorySerp):
            def fresh_until(self) -> datetime:
                return soon

        searching = replace(context, serp=Engine({}), serp_cache=Cache())
        keep_run(searching, steps.rules, steps.index, replace(report, unchanged=False), report.memory)
        assert find_unchanged(searching, steps.rules, steps.index) is None
