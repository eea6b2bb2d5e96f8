"""Pairs of similar pages, all of them or each page's best, compared with a full matrix."""

import numpy as np
import pytest

from internal_linker.insight.similarity import pairs as step
from internal_linker.insight.similarity.pairs import similar_pairs
from internal_linker.insight.similarity.similarity import Field, Similarity
from internal_linker.model.arrays import Ints, Vectors
from internal_linker.model.errors import InputError


def vectors(n: int, seed: int = 0) -> Vectors:
    rows = np.random.default_rng(seed).normal(size=(n, 5)).astype(np.float32)
    unit: Vectors = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit


def of(rows: Vectors) -> Similarity:
    return Similarity([Field("content", 1, rows)])


def unknown(n: int) -> Ints:
    return np.full(n, -1)


def test_every_pair_above_the_bound_is_found_once() -> None:
    rows = vectors(1100)
    found = similar_pairs(of(rows), unknown(1100), 0.6)
    matrix = np.triu(rows @ rows.T, 1)
    expected = set(zip(*np.nonzero(matrix >= 0.6), strict=True))
    assert set(zip(found.first.tolist(), found.second.tolist(), strict=True)) == expected
    assert found.scores == pytest.approx(matrix[found.first, found.second], abs=1e-5)
    assert (np.diff(found.scores) <= 0).all()
    assert found.found == len(expected)


def test_the_best_matches_of_each_page() -> None:
    rows = vectors(1050, 3)
    found = similar_pairs(of(rows), unknown(1050), 0.5, most=3)
    matrix = rows @ rows.T
    np.fill_diagonal(matrix, -1)
    best = {
        (min(row, int(other)), max(row, int(other)))
        for row in range(1050)
        for other in np.argsort(-matrix[row])[:3]
        if matrix[row, other] >= 0.5
    }
    assert set(zip(found.first.tolist(), found.second.tolist(), strict=True)) == best
    assert found.found == int((np.triu(matrix, 1) >= 0.5).sum())
    assert found.histogram.sum() == 1050 * 1049 // 2


def test_pages_in_two_languages_are_no_pair_and_one_without_a_pair_is_orphaned_content() -> None:
    rows = np.array([[1, 0, 0], [0.9, 0.1, 0], [0, 0, 1]], np.float32)
    assert similar_pairs(of(rows), unknown(3), 0.8).alone.tolist() == [2]
    same = np.tile(np.array([[1, 0]], np.float32), (3, 1))
    found = similar_pairs(of(same), np.array([0, 1, -1]), 0.5)
    assert list(zip(found.first.tolist(), found.second.tolist(), strict=True)) == [(0, 2), (1, 2)]


@pytest.mark.parametrize("most", [0, 2])
def test_too_many_pairs_are_an_error_with_its_remedy(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(step, "MOST_PAIRS", 100)
    same = np.tile(np.array([[1, 0]], np.float32), (200, 1))
    with pytest.raises(InputError, match=r"Raise --min-similarity, or .* --max-per-page"):
        similar_pairs(of(same), unknown(200), 0.5, most)
