"""A site's pages are compared once; any cut-off then answers at once, and as a full comparison would."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import openpyxl
import pytest

from internal_linker.insight.similarity.cut_off import MOST_MATCHES, STEPS, SimilarityView
from internal_linker.insight.similarity.pairs import similar_pairs
from internal_linker.insight.similarity.similarity import Field, Similarity
from internal_linker.model.errors import ConfigurationError, Interrupted
from internal_linker.project.options.similarity import CompareOptions, PairsOptions
from internal_linker.project.pairs import find_similar, pairs, similar_pages, write_similar
from internal_linker.project.project import Project, open_project
from internal_linker.store.files.index_folder import read_arrays, write_arrays
from tests.support.builders import Told
from tests.support.small_project import make_project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return open_project(make_project(tmp_path))


def view_of(n: int, seed: int = 0) -> tuple[SimilarityView, np.ndarray]:
    """Return the view of n random pages, and the matrix of their similarities."""
    rows = np.random.default_rng(seed).normal(size=(n, 6)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    found = similar_pairs(
        Similarity([Field("content", 1, rows)]), np.full(n, -1), 0.2, MOST_MATCHES, bars=STEPS
    )
    names = [f"https://a.example/{row}" for row in range(n)]
    none = np.zeros(len(found.first), bool)
    pair = (found.first, found.second, found.scores, none, none)
    return SimilarityView("", ["content"], "", names, names, *pair, found.histogram, {}), rows @ rows.T


def test_each_cut_off_answers_as_the_full_matrix() -> None:
    view, matrix = view_of(200)
    np.fill_diagonal(matrix, -1)
    steps = np.clip(matrix * np.float32(STEPS), 0, STEPS - 1).astype(int)
    for step in range(20, 100, 5):
        places, alone = view.at(step / STEPS)
        assert view.similar_enough(step / STEPS) == int((np.triu(steps >= step, 1)).sum()) >= len(places)
        assert sorted(alone) == np.flatnonzero(~(steps >= step).any(axis=1)).tolist()
        assert all(view.scores[places] >= step / STEPS - 1e-6)


def test_off_topic_pages_name_their_best_match() -> None:
    view, matrix = view_of(300)
    np.fill_diagonal(matrix, -1)
    rows = view.at(0.99)[1]
    alone = view.off_topic_values(rows)
    best = [similarity or 0 for similarity in alone["best"]]
    assert best == pytest.approx(sorted(best), abs=0.01)
    for row, similarity, match in zip(rows[:20].tolist(), best, alone["match"], strict=False):
        assert similarity == pytest.approx(matrix[row].max(), abs=1e-5)
        assert match == view.urls[int(np.argmax(matrix[row]))]


def test_the_result_is_kept_and_equals_that_of_pairs(project: Project) -> None:
    made = find_similar(project, CompareOptions(), Told())
    loaded = similar_pages(project)
    assert loaded is not None and loaded.records() == made.records()
    wanted = pairs(project, PairsOptions(min_similarity=0.3, max_per_page=0), Told(), write=False)
    places, alone = loaded.at(0.3)
    shown = loaded.pair_values(places)
    assert [*zip(shown["page"], shown["match"], strict=True)] == [
        (pair.page, pair.match) for pair in wanted.pairs
    ]
    assert {*loaded.off_topic_values(alone)["url"]} == {page.url for page in wanted.orphaned}
    assert loaded.by == ["content"] and loaded.histogram.sum() == 15


def test_linked_pairs_can_be_left_out() -> None:
    view, _ = view_of(100)
    links, linked = view.links.copy(), view.linked.copy()
    links[0], linked[2] = True, True
    places, _ = replace(view, links=links, linked=linked).at(0.2, unlinked=True)
    assert len(places) == len(view.at(0.2)[0]) - 2
    assert places[:2].tolist() == [1, 3]


def test_the_workbook_has_pairs_and_off_topic_pages(project: Project, tmp_path: Path) -> None:
    view = find_similar(project, CompareOptions(), Told())
    places, alone = view.at(0.3)
    assert write_similar(view, tmp_path / "similar.xlsx", 0.3) == []
    book = openpyxl.load_workbook(tmp_path / "similar.xlsx")
    assert book.sheetnames == ["Pairs", "Off-topic pages"]
    assert [sheet.max_row - 1 for sheet in book] == [len(places), len(alone)]


@pytest.mark.parametrize("cut_off", [0.1, 1.1, float("nan")])
def test_a_cut_off_out_of_range_is_refused(cut_off: float) -> None:
    """A cut-off below the listed similarities would give wrong lists."""
    with pytest.raises(ConfigurationError, match=r"must be 0.2 to 1"):
        view_of(10)[0].at(cut_off)


def test_a_comparison_can_be_cancelled(project: Project) -> None:
    made = find_similar(project, CompareOptions(), Told())
    with pytest.raises(Interrupted, match="the earlier result stays"):
        find_similar(project, CompareOptions(by="title"), Told(), lambda: True)
    loaded = similar_pages(project)
    assert loaded and loaded.made == made.made and loaded.by == ["content"]


def test_a_damaged_result_counts_as_none(project: Project) -> None:
    assert similar_pages(project) is None
    path = project.file("similar_pages.npz")
    path.write_bytes(b"PK\x03\x04 no")
    assert similar_pages(project) is None
    write_arrays(path, {"made": ""}, {"first": np.arange(3)})
    assert similar_pages(project) is None and read_arrays(path) is not None
