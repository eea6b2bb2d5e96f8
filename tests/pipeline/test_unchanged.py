"""A run after which nothing changed publishes the links of the last run, and nobody sees a difference."""

import csv
import json
import shutil
import sqlite3
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from internal_linker.adapters.database.edges import EdgeStore
from internal_linker.core.edges import Edge, Verdict
from internal_linker.review.workbook import ReviewWorkbook
from internal_linker.usecases.history import diff
from internal_linker.usecases.options.decisions import DiffOptions
from internal_linker.usecases.options.links import RunOptions
from internal_linker.usecases.project import open_project
from internal_linker.usecases.review import LinkDecision, decide, waiting_links
from internal_linker.usecases.run import PageLinks, run
from tests.pipeline.test_stable_lists import LINKS, site, write
from tests.support.builders import Told
from tests.support.sites import read_csv
from tests.support.small_project import SITE, snapshot, write_csv, write_settings

FILES = ("Output.csv", "orphans.csv", "duplicates.csv", "excluded_targets.csv", "rejected_rows.csv")


@pytest.fixture(scope="module")
def settled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a project after three runs, with an orphan, near-duplicates, decisions and a rejected row."""
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
    done(root)
    done(root)
    return root


@pytest.fixture
def root(settled: Path, tmp_path: Path) -> Path:
    """Return a copy of that project."""
    return shutil.copytree(settled, tmp_path / "project")


def done(root: Path) -> tuple[PageLinks, bool]:
    """Run; return the result, and whether the run took the short cut."""
    found = run(open_project(root), RunOptions(), Told())
    assert not found.failure
    return found, found.report.totals is not None


def without_short_cut(root: Path) -> None:
    """Remove from the stored runs what lets the next one see that nothing changed."""
    with sqlite3.connect(root / "files/cache.sqlite3") as database:
        for rowid, content in database.execute(
            "SELECT rowid, content FROM run_links WHERE part = 0"
        ).fetchall():
            stored = json.loads(zlib.decompress(content))
            for name in ("unchanged", "heard"):
                stored["matched"].pop(name, None)
            packed = zlib.compress(json.dumps(stored).encode())
            database.execute("UPDATE run_links SET content = ? WHERE rowid = ?", (packed, rowid))


def seen(root: Path, found: PageLinks) -> dict[str, Any]:
    """Return all that people and the next run get from a run, without its id and times."""
    files = {name: (root / "files" / name).read_bytes() for name in FILES}
    with (root / "files/links.csv").open("rb") as file:
        links = file.read().replace(found.run.encode(), b"")
    rows = [*openpyxl.load_workbook(root / "files/review.xlsx").worksheets[0].iter_rows(values_only=True)]
    with open_project(root).graph() as (edges, runs):
        versions = runs.versions()
        version = versions[-1]
        stored = sorted(repr(replace(edge, at="")).replace(found.run, "") for edge in edges.each())
        kept = [repr(row) for row in runs.rows(version.run)]
        pairs = [repr(pair) for pair in runs.duplicates() or ()]
    summary = [line for line in found.summary if line[0] not in ("Run", "Seconds")]
    told = [repr(link) for link in found.links], found.notes, found.gaps
    facts = version.what, version.encoder, version.rows, version.links, version.published, version.facts
    parts = (files, links, rows, stored, kept, pairs, summary, told, facts, len(versions))
    names = ("files", "links", "review", "edges", "rows", "pairs", "summary", "told", "version", "runs")
    return dict(zip(names, parts, strict=True))


def compared(root: Path, tmp_path: Path) -> tuple[bool, PageLinks]:
    """Run, and again in a copy without all that a run keeps: all must be the same; return whether it was cut short."""
    other = tmp_path / "other"
    shutil.rmtree(other, ignore_errors=True)
    shutil.copytree(root, other)
    without_short_cut(other)
    shutil.rmtree(other / "files/index", ignore_errors=True)
    computed, short = done(other)
    assert not short
    found, short = done(root)
    mine, theirs = seen(root, found), seen(other, computed)
    for name, part in mine.items():
        assert part == theirs[name], name
    return short, found


def test_the_short_cut_shows_in_nothing(root: Path, tmp_path: Path) -> None:
    """Files, review, links, summary, stored edges and the stored run are those of a run that computes everything."""
    assert compared(root, tmp_path)[0]
    # The run after it takes the short cut, too, and nothing differs between the two.
    with open_project(root).graph() as (_, runs):
        before = runs.versions()[-1].run
    found, short = done(root)
    assert short
    assert not diff(open_project(root), DiffOptions(before=before, after=found.run)).differences


def test_a_first_rerun_takes_the_short_cut(tmp_path: Path) -> None:
    """Right after the first run, only the workbook that it wrote is read."""
    root = tmp_path / "project"
    write(root, site(), LINKS)
    write_settings(root, {})
    done(root)
    assert compared(root, tmp_path)[0]


def test_what_a_run_wrote_into_the_review_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run after the first one knows from it what the workbook says."""
    root = tmp_path / "project"
    write(root, site(), LINKS)
    write_settings(root, {})
    done(root)

    def read(self: ReviewWorkbook) -> list[Verdict]:
        raise AssertionError("the workbook is read")

    monkeypatch.setattr(ReviewWorkbook, "read", read)
    assert done(root)[1]


def test_untouched_files_are_not_written(root: Path) -> None:
    """Of all files in files/, only links.csv, which names the run, the cache and its index change."""
    before = snapshot(root / "files")
    assert done(root)[1]
    after = snapshot(root / "files")
    changed = {name for name in {*before, *after} if before.get(name) != after.get(name)}
    assert {name for name in changed if not name.startswith((".", "cache", "index"))} == {"links.csv"}


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


def _sorted(name: str) -> Callable[[Path], None]:
    def change(root: Path) -> None:
        path = root / "files" / name
        with path.open(encoding="utf-8-sig", newline="") as file:
            header, *rows = csv.reader(file)
        write_csv(path, [header, *sorted(rows)[::-1]])

    return change


def _another_run(root: Path) -> None:
    """Leave the stored links as a run does that was killed between two blocks of them."""
    with sqlite3.connect(root / "files/cache.sqlite3") as database:
        some = "rowid IN (SELECT rowid FROM edges LIMIT 40)"
        database.execute(f"UPDATE edges SET last_run = 'killed', updated_at = '2027-01-01' WHERE {some}")


def _pages(root: Path, change: Callable[[list[list[str]]], object]) -> None:
    """Change the rows of the pages."""
    path = root / "files/urls_rawdata.csv"
    with path.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    change(rows)
    write_csv(path, [header, *rows])


def _other_texts(rows: list[list[str]]) -> None:
    for at in (3, 17, 40):
        rows[at][2] = " ".join(reversed(rows[at][2].split()))
    rows[9][1] = "Another title"


def _other_links(root: Path) -> None:
    write_csv(root / "files/existing_links.csv", [("Source", "Destination", "Anchor"), *LINKS[3:]])


def _decided_on_other_texts(root: Path) -> None:
    _decided(root)
    _cell("Anchor", "other words")(root)
    _pages(root, _other_texts)


# What changes between two runs, and whether the second one takes the short cut.
CHANGES: dict[str, tuple[Callable[[Path], object], bool]] = {
    "decision at the terminal": (_decided, False),
    "decision in the review": (_cell("Status", "rejected"), False),
    "anchor in the review": (_cell("Anchor", "other words"), False),
    "note in the review": (_cell("Notes", "a note"), False),
    "deleted review": (lambda root: (root / "files/review.xlsx").unlink(), False),
    "sorted Output.csv": (_sorted("Output.csv"), True),
    "sorted links.csv": (_sorted("links.csv"), True),
    "deleted links.csv": (lambda root: (root / "files/links.csv").unlink(), True),
    "deleted excluded_targets.csv": (lambda root: (root / "files/excluded_targets.csv").unlink(), True),
    "emptied orphans.csv": (lambda root: (root / "files/orphans.csv").write_bytes(b""), True),
    "setting": (lambda root: write_settings(root, {"min_inlinks": 1, "tier_inline": 0.9}), False),
    "killed run": (_another_run, False),
    "texts": (lambda root: _pages(root, _other_texts), False),
    "new page": (
        lambda root: _pages(root, lambda rows: rows.append([f"{SITE}/0/new/", *rows[0][1:]])),
        False,
    ),
    "page that is gone": (lambda root: _pages(root, lambda rows: rows.pop(12)), False),
    "existing links": (_other_links, False),
    "decisions and texts": (_decided_on_other_texts, False),
    "fewer links per page": (lambda root: write_settings(root, {"links_per_page": 3}), False),
    "a minimum score": (lambda root: write_settings(root, {"min_inlinks": 1, "min_strength": 0.6}), False),
}


@pytest.mark.parametrize(("change", "short"), CHANGES.values(), ids=CHANGES)
def test_whatever_changes_between_two_runs_counts(
    root: Path, tmp_path: Path, change: Callable[[Path], object], short: bool
) -> None:
    """Decisions are heard, files that somebody changed are written, and settings count as in any run."""
    change(root)
    assert compared(root, tmp_path)[0] is short


@pytest.mark.long
@pytest.mark.parametrize("change", [change for change, _ in CHANGES.values()], ids=CHANGES)
def test_the_two_runs_after_a_changed_one_are_as_any(
    root: Path, tmp_path: Path, change: Callable[[Path], object]
) -> None:
    """After a change and a run, the next two runs differ in nothing from those that compute everything."""
    change(root)
    done(root)
    compared(root, tmp_path)
    compared(root, tmp_path)


def test_after_changes_only_the_links_near_them_are_read(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run after a decision reads the stored links of few pages, besides those that it shows to editors."""
    read, of_sources = set[str](), EdgeStore.of_sources

    def watched(store: EdgeStore, sources: Iterable[str]) -> Mapping[str, Sequence[Edge]]:
        found = of_sources(store, sources)
        read.update(found)
        return found

    _decided(root)
    monkeypatch.setattr(EdgeStore, "of_sources", watched)
    found, short = done(root)
    assert not short
    assert 0 < len(read) < 10
    assert len(found.links) == 310


def test_links_are_read_when_somebody_needs_them(root: Path) -> None:
    """The result of a run that took the short cut has its links with anchors, scores and reasons."""
    found, short = done(root)
    assert short
    rows = read_csv(root / "files/links.csv")
    told = [(link.source, link.target, link.anchor, str(link.score)) for link in found.links if link.source]
    assert told == [(row["Source"], row["Target"], row["Anchor"], row["Score"]) for row in rows]
