"""Runs one after another: lists change only near what changed, and the differences name the other link."""

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from internal_linker.model.runs import Difference
from internal_linker.project.history import diff
from internal_linker.project.options.decisions import DiffOptions
from internal_linker.project.options.links import RunOptions
from internal_linker.project.project import Project, open_project
from internal_linker.project.review import LinkDecision, decide, waiting_links
from internal_linker.project.run import run
from tests.support.builders import Told
from tests.support.small_project import HEADER, SITE, write_csv, write_settings

PAGES, TOPICS = 60, 6
# Each page links to another one of its topic.
LINKS = [
    (f"{SITE}/{number % TOPICS}/{number}/", f"{SITE}/{number % TOPICS}/{(number + 24) % PAGES}/", "here")
    for number in range(PAGES)
]
HEAD = ("Source", "Destination", "Anchor")


def site(seed: int = 0) -> list[tuple[str, str, str]]:
    """Return pages of several topics, whose words overlap a little."""
    rng = np.random.default_rng(seed)
    made = []
    for number in range(PAGES):
        topic = number % TOPICS
        words = [f"t{topic}w{word}" for word in rng.integers(0, 40, 60)]
        words += [f"w{word}" for word in rng.integers(0, 200, 20)]
        made.append((f"{SITE}/{topic}/{number}/", f"T{topic}w{number} about t{topic}", " ".join(words)))
    return made


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a project after its first run."""
    root = tmp_path_factory.mktemp("stable") / "project"
    write(root, site(), LINKS)
    write_settings(root, {})
    found = run(open_project(root), RunOptions(), Told())
    assert not found.failure
    return root


@pytest.fixture
def project(first: Path, tmp_path: Path) -> Project:
    """Return a copy of that project."""
    return open_project(shutil.copytree(first, tmp_path / "project"))


def write(root: Path, pages: list[tuple[str, str, str]], links: list[tuple[str, str, str]]) -> None:
    write_csv(root / "files/urls_rawdata.csv", [HEADER, *pages])
    write_csv(root / "files/existing_links.csv", [HEAD, *links])


def changes(project: Project) -> list[Difference]:
    """Run again, whatever changed, and return how the lists differ from those of the run before."""
    shutil.rmtree(project.root / "files/index")
    assert not run(project, RunOptions(), Told()).failure
    return list(diff(project, DiffOptions(before="last-1", after="last"), write=False).differences)


@pytest.mark.long
def test_a_run_on_the_same_input_writes_the_same_bytes(project: Project) -> None:
    files = [project.root / "files" / name for name in ("Output.csv", "orphans.csv", "excluded_targets.csv")]
    before = [file.read_bytes() for file in files]
    assert changes(project) == []
    assert [file.read_bytes() for file in files] == before
    links = waiting_links(project).links
    decide(project, [LinkDecision(links[0].id, "accepted"), LinkDecision(links[9].id, "rejected")])
    assert changes(project)
    before = [file.read_bytes() for file in files]
    assert changes(project) == []
    assert [file.read_bytes() for file in files] == before


def test_decisions_change_lists_only_near_them(project: Project) -> None:
    links = waiting_links(project).links
    chosen = [links[10], links[70], links[150]]
    words = ("accepted", "rejected", "rejected")
    decide(project, [LinkDecision(one.id, word) for one, word in zip(chosen, words, strict=True)])
    found = changes(project)
    decided = {(one.source_url, one.target_url) for one in chosen}
    gone = {(one.source, one.target) for one in found if one.change == "gone"}
    assert decided & gone == {(one.source_url, one.target_url) for one in chosen[1:]}
    assert len([one for one in found if (one.source, one.target) not in decided]) <= 10
    assert all(one.other for one in found)


def _text(pages: list[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    (url, title, _), *others = pages
    return [(url, title, pages[1][2]), *others]


def _added(pages: list[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    return [*pages, (f"{SITE}/0/new/", "A new page about t0", pages[0][2][:200] + pages[6][2][:200])]


@pytest.mark.parametrize("change", [_added, pytest.param(_text, marks=pytest.mark.long)])
def test_a_change_of_a_page_changes_only_lists_near_it(
    project: Project, change: Callable[[list[tuple[str, str, str]]], list[tuple[str, str, str]]]
) -> None:
    write(project.root, change(site()), LINKS)
    found = changes(project)
    assert found
    topics = {one.source.split("/")[3] for one in found}
    assert topics <= {"0", "1"}


def test_a_new_link_of_a_page_changes_only_lists_near_it(project: Project) -> None:
    """A link that was placed leaves its list; only lists of similar pages change."""
    link = waiting_links(project).links[30]
    write(project.root, site(), [*LINKS, (link.source_url, link.target_url, "here")])
    found = changes(project)
    assert {one.source.split("/")[3] for one in found} <= {
        link.source.split("/")[3],
        link.target.split("/")[3],
    }


@pytest.mark.long
def test_links_that_wait_for_approval_go_on_waiting(project: Project) -> None:
    write_settings(project.root, {"approval_sections": ["/*/1*"]})
    project = open_project(project.root)
    found = run(project, RunOptions(), Told()).recommendations
    shutil.rmtree(project.root / "files/index")
    again = run(project, RunOptions(), Told()).recommendations
    assert any(one.held for one in found)
    assert [(one.links, one.held) for one in again] == [(one.links, one.held) for one in found]


@pytest.mark.long
def test_another_setting_chooses_all_lists_from_scratch(project: Project, tmp_path: Path) -> None:
    fresh = tmp_path / "fresh"
    for root in (project.root, fresh):
        write(root, site(), LINKS)
        write_settings(root, {"lexical_weight": 0.2})
        assert not run(open_project(root), RunOptions(), Told()).failure
    assert (project.root / "files/Output.csv").read_bytes() == (fresh / "files/Output.csv").read_bytes()
