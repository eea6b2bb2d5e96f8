"""A run weighs the candidates of a page again only where its list may change; the lists are those of a full run."""

import csv
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest

from internal_linker.adapters.database.edges import EdgeStore
from internal_linker.core.edges import Edge
from internal_linker.matching.candidates import Matches
from internal_linker.ranking.fusion import Ranked
from internal_linker.ranking.rank import Ranking
from internal_linker.ranking.weighed import CHECKED
from internal_linker.usecases.options.links import RunOptions
from internal_linker.usecases.project import open_project
from internal_linker.usecases.run import run
from tests.pipeline.test_stable_lists import HEAD
from tests.support.builders import Told
from tests.support.small_project import HEADER, SITE, write_csv, write_settings

PAGES, TOPICS = 400, 8
Page = tuple[str, str, str]
Link = tuple[str, str, str]
LINKS = [
    (f"{SITE}/{number % TOPICS}/{number}/", f"{SITE}/{number % TOPICS}/{(number + TOPICS) % PAGES}/", "here")
    for number in range(PAGES)
]
LISTS = ("orphans.csv", "duplicates.csv", "excluded_targets.csv")


def site() -> list[Page]:
    """Return pages of several topics, whose words overlap a little, and a near-duplicate."""
    rng = np.random.default_rng(3)
    made = []
    for number in range(PAGES):
        topic = number % TOPICS
        words = [f"t{topic}w{word}" for word in rng.integers(0, 60, 60)]
        words += [f"w{word}" for word in rng.integers(0, 400, 20)]
        made.append((f"{SITE}/{topic}/{number}/", f"T{topic}w{number} about t{topic}", " ".join(words)))
    return [*made, (f"{SITE}/0/copy/", made[0][1], made[0][2])]


def write(root: Path, pages: Sequence[Page], links: Sequence[Link]) -> None:
    write_csv(root / "files/urls_rawdata.csv", [HEADER, *pages])
    write_csv(root / "files/existing_links.csv", [HEAD, *links])


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a project after its first run."""
    root = tmp_path_factory.mktemp("weighed") / "project"
    write(root, site(), LINKS)
    write_settings(root, {})
    lists_of(root)
    return root


@pytest.fixture
def root(first: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of that project, large enough for candidates to be kept."""
    monkeypatch.setattr("internal_linker.ranking.weighed.LEAST_SOURCES", 100)
    return shutil.copytree(first, tmp_path / "project")


@pytest.fixture
def weighed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list that receives how many sources each pass weighs."""
    counts, whole = list[int](), Ranking.weighed

    def noted(
        ranking: Ranking, positions: Sequence[int], offered: Mapping[int, Sequence[int]] | None = None
    ) -> Iterator[tuple[Ranked, Matches]]:
        counts.append(len(positions))
        return whole(ranking, positions, offered)

    monkeypatch.setattr(Ranking, "weighed", noted)
    return counts


def lists_of(root: Path) -> tuple[list[tuple[str, str, int]], dict[str, bytes]]:
    """Run; return the links, and the files about the whole site."""
    found = run(open_project(root), RunOptions(accept_drift=True), Told())
    assert not found.failure
    links = [(link.source, link.target, link.rank) for link in found.links]
    return links, {name: (root / "files" / name).read_bytes() for name in LISTS}


def full_run(root: Path) -> Any:
    """Return what a run gives that weighs all sources."""
    copy = shutil.copytree(root, root.parent / "full")
    for part in (copy / "files/index").glob("weighed-*"):
        shutil.rmtree(part)
    return lists_of(copy)


def _text(pages: list[Page], links: list[Link]) -> None:
    url, title, _ = pages[45]
    pages[45] = url, title, pages[7][2]


def _added(pages: list[Page], links: list[Link]) -> None:
    pages.append((f"{SITE}/3/new/", "A new page about t3", pages[3][2][:200] + pages[23][2][:200]))


def _removed(pages: list[Page], links: list[Link]) -> None:
    gone = pages.pop(61)[0]
    links[:] = [link for link in links if gone not in link]


def _named(pages: list[Page], links: list[Link]) -> None:
    """Name a page as another one writes in its text."""
    url, _, text = pages[80]
    pages[80] = url, " ".join(pages[11][2].split()[5:8]), text


def _linked(pages: list[Page], links: list[Link]) -> None:
    links.append((pages[100][0], pages[160][0], "more"))


@pytest.mark.parametrize(
    "change",
    [_text, *(pytest.param(change, marks=pytest.mark.long) for change in (_removed, _named, _linked))],
)
def test_only_sources_near_a_change_are_weighed_again(
    root: Path, weighed: list[int], change: Callable[[list[Page], list[Link]], None]
) -> None:
    """After one change, fewer than a third of the sources are weighed, and all lists are those of a full run."""
    pages, links = site(), [*LINKS]
    change(pages, links)
    write(root, pages, links)
    full = full_run(root)
    assert weighed[-1] == len(pages)
    weighed.clear()
    assert lists_of(root) == full
    assert len(weighed) == 1 and CHECKED < weighed[0] < len(pages) / 3


def test_the_stored_links_of_other_pages_are_not_read(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After one change, those of fewer than half of the pages are read; all are stored as if all had been read."""
    pages, links = site(), [*LINKS]
    _text(pages, links)
    write(root, pages, links)
    copy = shutil.copytree(root, root.parent / "full")
    for part in (copy / "files/index").glob("steady-*"):
        shutil.rmtree(part)
    full = lists_of(copy)
    read, of_sources = set[str](), EdgeStore.of_sources

    def watched(store: EdgeStore, sources: Iterable[str]) -> Mapping[str, Sequence[Edge]]:
        found = of_sources(store, sources)
        read.update(found)
        return found

    monkeypatch.setattr(EdgeStore, "of_sources", watched)
    found = run(open_project(root), RunOptions(accept_drift=True), Told())
    assert 0 < len(read) < len(pages) / 2
    assert [(link.source, link.target, link.rank) for link in found.links] == full[0]
    assert _stored(root) == _stored(copy)


def _stored(root: Path) -> list[list[str]]:
    """Return what is stored and written of the links, without the names and times of runs."""
    with (root / "files/links.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = ["\t".join(cells[:10] + cells[11:]) for cells in csv.reader(file)]
    book = openpyxl.load_workbook(root / "files/review.xlsx").worksheets[0]
    with open_project(root).graph() as (edges, runs):
        first, *_, last = (version.run for version in runs.versions())
        names = {first: "first", last: "last"}
        stored = [
            replace(edge, at="", first_run=names[edge.first_run], last_run=names[edge.last_run])
            for edge in edges.each()
        ]
    return [rows, [*map(repr, book.iter_rows(values_only=True))], sorted(map(repr, stored))]


@pytest.mark.long
def test_a_new_page_gets_its_links(root: Path, weighed: list[int]) -> None:
    """A new page gets its links to and from others of its topic; which of these make room may be a close call."""
    pages, links = site(), [*LINKS]
    _added(pages, links)
    write(root, pages, links)
    (full, _), (new, *_) = full_run(root), pages[-1]
    ours, _ = lists_of(root)
    assert weighed[1] < len(pages) / 3
    assert [one for one in ours if one[0] == new] == [one for one in full if one[0] == new]
    assert sum(target == new for _, target, _ in ours) == sum(target == new for _, target, _ in full) >= 1
    others = {source for source, *_ in set(ours) ^ set(full)}
    assert len(others) <= 4 and all(source.startswith(f"{SITE}/3/") for source in others)


@pytest.mark.long
def test_changes_add_up_until_all_are_weighed(root: Path, weighed: list[int]) -> None:
    """Once a twentieth of the pages changed since all were weighed, all are weighed."""
    pages = site()
    for first in (0, 100, 200):
        for at in range(first, first + 7):
            url, title, text = pages[at]
            pages[at] = url, title, " ".join(reversed(text.split()))
        write(root, pages, LINKS)
        lists_of(root)
    assert weighed[0] < len(pages) and weighed[1] < len(pages) and weighed[2] == len(pages)


def test_other_settings_weigh_all(root: Path, weighed: list[int]) -> None:
    """Other weights of words and vectors change all scores, so all sources are weighed."""
    write_settings(root, {"lexical_weight": 0.9})
    lists_of(root)
    assert weighed == [PAGES + 1]


def test_damaged_candidates_are_weighed_again(root: Path, weighed: list[int]) -> None:
    """A damaged file of candidates costs time, and nothing else."""
    (part,) = (root / "files/index").glob("weighed-*")
    (part / "objects.bin").write_bytes(b"damaged")
    pages = site()
    _text(pages, LINKS)
    write(root, pages, LINKS)
    assert lists_of(root) == full_run(root)
    assert weighed[0] == len(pages)


@pytest.mark.long
def test_all_are_weighed_if_the_weights_of_words_moved(
    root: Path, weighed: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the sources that are checked have other scores than those kept for them, all are weighed again."""
    monkeypatch.setattr("internal_linker.ranking.weighed.MOST_DIFFERENT", -1.0)
    pages = site()
    _text(pages, LINKS)
    write(root, pages, LINKS)
    full = full_run(root)
    weighed.clear()
    assert lists_of(root) == full
    assert weighed[0] < len(pages) == weighed[1]


@pytest.mark.long
def test_without_vectors_words_decide_what_is_near(
    tmp_path: Path, weighed: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pages in a language that the model doesn't know are compared by words, and weighed again only near a change."""
    monkeypatch.setattr("internal_linker.ranking.weighed.LEAST_SOURCES", 100)
    root, pages = tmp_path / "project", site()
    for step in range(2):
        rows = [(*page, "fa") for page in pages]
        write(root, pages, LINKS)
        write_csv(root / "files/urls_rawdata.csv", [("URL", "Title", "Content", "Lang"), *rows])
        if not step:
            write_settings(root, {})
            lists_of(root)
            _text(pages, LINKS)
    full = full_run(root)
    weighed.clear()
    assert lists_of(root) == full
    assert len(weighed) == 1 and weighed[0] < len(pages) / 3
