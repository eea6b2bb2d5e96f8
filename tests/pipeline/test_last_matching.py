"""A run on the same input takes its links from the last run, and nobody sees a difference."""

import json
import shutil
import sqlite3
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from internal_linker.usecases.options.links import RunOptions
from internal_linker.usecases.project import Project, open_project
from internal_linker.usecases.review import LinkDecision, decide, waiting_links
from internal_linker.usecases.run import PageLinks, run
from tests.pipeline.test_stable_lists import LINKS, site, write
from tests.support.builders import Told
from tests.support.sites import read_csv
from tests.support.small_project import SITE, write_csv, write_settings

REUSED = ("Pages matched", "none, since the input is that of the last run")
FILES = ("Output.csv", "orphans.csv", "duplicates.csv", "excluded_targets.csv", "review.xlsx")


@pytest.fixture(scope="module")
def twice(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a project after two runs with an orphan, near-duplicates, a decision, and a page without links."""
    root = tmp_path_factory.mktemp("same") / "project"
    (url, title, text), *others = site()
    copy = (f"{SITE}/0/copy/", f"{title} again", text)
    write(root, [(url, title, text), *others, copy, (f"{SITE}/empty/", "", "")], LINKS)
    write_csv(
        root / "files/main_queries.csv",
        [("URL", "Main Query"), (url, "t0w0"), (f"{SITE}/unknown/", "t1w1"), ("", "what is t2w2")],
    )
    write_settings(root, {"min_inlinks": 1})
    done(open_project(root))
    links = waiting_links(open_project(root)).links
    decide(
        open_project(root), [LinkDecision(links[3].id, "accepted"), LinkDecision(links[20].id, "rejected")]
    )
    # An accepted link has its new score and rank only after the run that follows the decision.
    done(open_project(root))
    done(open_project(root))
    return root


@pytest.fixture
def project(twice: Path, tmp_path: Path) -> Project:
    """Return a copy of that project."""
    return open_project(shutil.copytree(twice, tmp_path / "project"))


def done(project: Project) -> tuple[PageLinks, bool]:
    """Run; return the result, and whether it took the links from the last run."""
    found = run(project, RunOptions(), Told())
    assert not found.failure
    assert (REUSED in found.summary) == found.report.reused
    return found, found.report.reused


def without_result(project: Project) -> None:
    """Remove from the stored runs what a run on the same input needs."""
    with sqlite3.connect(project.root / "files/cache.sqlite3") as database:
        for rowid, content in database.execute(
            "SELECT rowid, content FROM run_links WHERE part = 0"
        ).fetchall():
            stored = json.loads(zlib.decompress(content))
            stored.pop("matched", None)
            packed = zlib.compress(json.dumps(stored).encode())
            database.execute("UPDATE run_links SET content = ? WHERE rowid = ?", (packed, rowid))


def seen(project: Project, found: PageLinks) -> dict[str, Any]:
    """Return all that people get from a run, without the run's id and times."""
    files = {name: (project.root / "files" / name).read_bytes() for name in FILES if name != "review.xlsx"}
    links = [{**row, "Run": ""} for row in read_csv(project.root / "files/links.csv")]
    summary = [line for line in found.summary if line[0] not in ("Run", "Seconds") and line != REUSED]
    return {**files, "links": links, "summary": summary, "notes": found.notes, "gaps": found.gaps}


def stored(project: Project) -> list[tuple[object, ...]]:
    """Return the stored links without the time at which they were written."""
    with sqlite3.connect(project.root / "files/cache.sqlite3") as database:
        columns = "source, id, status, verdict, kind, facts"
        return database.execute(f"SELECT {columns} FROM edges ORDER BY source, id").fetchall()


def test_the_same_input_gives_the_same_from_the_last_run_as_from_matching(
    project: Project, tmp_path: Path
) -> None:
    """Files, summary, notes and stored links are those of a run that matches all pages again."""
    other = open_project(shutil.copytree(project.root, tmp_path / "other"))
    without_result(other)
    matched, again = done(other)
    assert not again
    found, reused = done(project)
    assert reused
    assert seen(project, found) == seen(other, matched)
    assert stored(project) == stored(other)
    lists = [
        [(one.links, one.held, one.shortage, one.note) for one in each.recommendations]
        for each in (found, matched)
    ]
    assert lists[0] == lists[1]
    # The result is stored again, so that every further run finds it.
    assert done(project)[1]


def test_a_result_without_change_leaves_the_review_as_it_is(project: Project) -> None:
    """The workbook is not written again, and every stored link names the last run."""
    review = project.root / "files/review.xlsx"
    before = review.read_bytes(), review.stat().st_mtime_ns
    found, reused = done(project)
    assert reused
    assert (review.read_bytes(), review.stat().st_mtime_ns) == before
    with sqlite3.connect(project.root / "files/cache.sqlite3") as database:
        runs = {run for (run,) in database.execute("SELECT last_run FROM edges WHERE status = 'proposed'")}
    assert runs == {found.run}


def _pages(change: Callable[[list[tuple[str, str, str]]], object]) -> Callable[[Path], None]:
    def changed(root: Path) -> None:
        rows = read_csv(root / "files/urls_rawdata.csv")
        pages = [(row["URL"], row["Title"], row["Main Content"]) for row in rows]
        change(pages)
        write_csv(root / "files/urls_rawdata.csv", [("URL", "Title", "Main Content"), *pages])

    return changed


def _decided(root: Path) -> None:
    project = open_project(root)
    decide(project, [LinkDecision(waiting_links(project).links[7].id, "rejected")])


CHANGES: dict[str, Callable[[Path], None]] = {
    "text": _pages(lambda pages: pages.__setitem__(5, (*pages[5][:2], pages[5][2] + " more"))),
    "new page": _pages(lambda pages: pages.append((f"{SITE}/new/", "New", "t0w1 t0w2"))),
    "removed page": _pages(lambda pages: pages.pop(5)),
    "removed link": lambda root: write_csv(
        root / "files/existing_links.csv", [("Source", "Destination", "Anchor"), *LINKS[1:]]
    ),
    "anchor": lambda root: write_csv(
        root / "files/existing_links.csv",
        [("Source", "Destination", "Anchor"), (*LINKS[0][:2], "there"), *LINKS[1:]],
    ),
    "query": lambda root: write_csv(root / "files/main_queries.csv", [("URL", "Main Query")]),
    "decision": _decided,
    "setting": lambda root: write_settings(root, {"min_inlinks": 1, "links_per_page": 4}),
    "approval": lambda root: write_settings(root, {"min_inlinks": 1, "approval_sections": ["/1"]}),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_after_any_change_all_pages_are_matched_again(
    project: Project, change: Callable[[Path], None]
) -> None:
    """A changed page, link, query, decision or setting is never answered from the last run."""
    change(project.root)
    assert not done(open_project(project.root))[1]


def test_a_run_over_some_rows_is_no_result_for_the_whole_site(project: Project) -> None:
    """After a run over one page, the next whole run matches all pages."""
    run(project, RunOptions(only=(f"{SITE}/1/1/",)), Told())
    assert not done(project)[1]
    assert done(project)[1]
