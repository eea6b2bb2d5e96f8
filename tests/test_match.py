"""The nearest pages of each source: equal to a brute-force count, in any block size, in little memory."""

import tracemalloc
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from internal_linker.arrays import Vectors
from internal_linker.steps import match as module
from internal_linker.steps.match import Index, Matches, language_codes, match


def unit_rows(rows: Sequence[Sequence[int]]) -> Vectors:
    raw = np.array(rows, np.float64)
    norms = np.linalg.norm(raw, axis=1, keepdims=True)
    unit: Vectors = (raw / np.where(norms > 0, norms, 1)).astype(np.float32)
    return unit


def index_of(
    vectors: Sequence[Sequence[int]], terms: Sequence[Sequence[int]], languages: Sequence[int]
) -> Index:
    return Index(unit_rows(vectors), sparse.csr_matrix(unit_rows(terms)), np.array(languages, np.int32))


@dataclass(frozen=True)
class Case:
    """An index with what is asked of it."""

    index: Index
    sources: list[int]
    targets: list[int]
    asked: list[list[int]]
    weight: float

    def matches(self, keep: int) -> list[Matches]:
        found = match(
            self.index, self.sources, self.targets, keep=keep, lexical_weight=self.weight, asked=self.asked
        )
        return list(found)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Small sites in which any vector, word or language may be missing; cosines are equal or 0.03 apart."""
    n = draw(st.integers(1, 9))
    cells = st.sampled_from([-1, 0, 0, 1])
    vectors = draw(st.lists(st.lists(cells, min_size=3, max_size=3), min_size=n, max_size=n))
    words = st.lists(st.sampled_from([0, 0, 1]), min_size=4, max_size=4)
    terms = draw(st.lists(words, min_size=n, max_size=n))
    languages = draw(st.lists(st.integers(-1, 1), min_size=n, max_size=n))
    rows = st.integers(0, n - 1)
    sources = draw(st.lists(rows, max_size=n))
    asked = [draw(st.lists(rows, max_size=3)) for _ in sources]
    weight = draw(st.sampled_from([0.0, 0.3, 0.5, 1.0]))
    index = index_of(vectors, terms, languages)
    return Case(index, sources, draw(st.lists(rows, unique=True)), asked, weight)


def z_scores(values: dict[int, float]) -> dict[int, float]:
    mean = sum(values.values()) / max(len(values), 1)
    deviation = (sum((value - mean) ** 2 for value in values.values()) / max(len(values), 1)) ** 0.5
    return {row: (value - mean) / deviation if deviation > 1e-5 else 0.0 for row, value in values.items()}


def scores(case: Case, source: int) -> dict[int, tuple[float, float, float]]:
    """Score, similarity and lexical score of each allowed target, counted one by one in float64."""
    vectors, terms = case.index.vectors.astype(np.float64), case.index.terms.toarray().astype(np.float64)
    codes = case.index.languages
    allowed = [
        row
        for row in case.targets
        if row != source and (codes[row] == codes[source] or codes[row] < 0 or codes[source] < 0)
    ]
    known = [row for row in allowed if vectors[source].any() and vectors[row].any()]
    similarity = {row: float(vectors[source] @ vectors[row]) for row in known}
    lexical = {row: float(terms[source] @ terms[row]) for row in allowed}
    dense, words = z_scores(similarity), z_scores(lexical)
    weight = case.weight if any(words.values()) else 0.0
    weight = weight if any(dense.values()) else 1.0
    return {
        row: (
            weight * words[row] + (1 - weight) * dense.get(row, 0.0),
            similarity.get(row, np.nan),
            lexical[row],
        )
        for row in allowed
    }


@settings(deadline=None, max_examples=300)
@given(cases(), st.integers(0, 10))
def test_the_best_are_those_of_a_brute_force_count(case: Case, keep: int) -> None:
    """Scores, signals and order are those of counting every pair in double precision; the best `keep` are there."""
    for source, asked, found in zip(case.sources, case.asked, case.matches(keep), strict=True):
        oracle = scores(case, source)
        best = sorted((score for score, _, _ in oracle.values()), reverse=True)[:keep]
        np.testing.assert_allclose(found.score[: len(best)], best, atol=1e-4)
        extra = found.rows[len(best) :].tolist()
        assert set(extra) <= set(asked)
        assert {row for row in asked if row in case.targets and row != source} <= set(found.rows.tolist())
        assert len(set(found.rows.tolist())) == len(found.rows)
        for row, *signals in zip(
            found.rows.tolist(), found.score, found.similarity, found.lexical, strict=True
        ):
            if row in oracle:
                np.testing.assert_allclose(signals, oracle[row], atol=1e-4)
            else:  # asked for, in another language: no score
                assert row in extra and np.isnan(signals[0])


@settings(deadline=None)
@given(cases(), st.integers(1, 5))
def test_a_page_is_never_its_own_target(case: Case, keep: int) -> None:
    """No row is among its own matches, and every match is a target."""
    for source, found in zip(case.sources, case.matches(keep), strict=True):
        assert source not in found.rows
        assert set(found.rows.tolist()) <= set(case.targets)


@settings(deadline=None)
@given(cases(), st.integers(1, 5), st.integers(1, 20), st.integers(1, 4))
def test_the_size_of_a_block_changes_nothing(case: Case, keep: int, cells: int, dense_words: int) -> None:
    """One source at a time or all at once, few words counted densely or all, the scores are the same."""
    whole = case.matches(keep)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "BLOCK_CELLS", cells)
        patch.setattr(module, "DENSE_WORDS", dense_words)
        blocks = case.matches(keep)
    for one, other in zip(whole, blocks, strict=True):
        # Of two that are equal but for rounding either may be the last; the other stands behind if it was asked for.
        np.testing.assert_allclose(one.score[:keep], other.score[:keep], atol=1e-5)


def test_equals_come_in_the_order_of_the_rows() -> None:
    """Among equal scores the earlier page wins, also at the last place, every time the same."""
    vectors = [[1, 0], [0, 1]] * 60
    index = index_of(vectors, [[0]] * 120, [-1] * 120)
    for _ in range(3):
        (found,) = match(index, [0], range(119, -1, -1), keep=7, lexical_weight=0.5)
        assert found.rows.tolist() == [118, 116, 114, 112, 110, 108, 106]
        (found,) = match(index, [0], range(120), keep=7, lexical_weight=0.5)
        assert found.rows.tolist() == [2, 4, 6, 8, 10, 12, 14]


def test_many_equals_keep_the_order_of_the_rows() -> None:
    """A long list of candidates with few different scores is in the order of the rows within each score."""
    vectors = [[[1, 0], [1, 1], [0, 1]][(7 * row) % 3] for row in range(2000)]
    index = index_of(vectors, [[0]] * 2000, [-1] * 2000)
    (found,) = match(index, [0], range(2000), keep=1500, lexical_weight=0.5)
    ranked = list(zip(-found.score, found.rows.tolist(), strict=True))
    assert ranked == sorted(ranked)


def test_without_targets_there_are_no_matches() -> None:
    """A site on which no page may be linked to gives every source an empty answer."""
    index = index_of([[1, 0], [0, 1]], [[1], [1]], [-1, -1])
    found = list(match(index, [0, 1], [], keep=5, lexical_weight=0.5))
    assert [len(each.rows) for each in found] == [0, 0]


def test_the_whole_matrix_is_never_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 5,000 pages' 100 MB of similarities no more than 30 MB are alive at once with blocks of 400,000 cells."""
    monkeypatch.setattr(module, "BLOCK_CELLS", 400_000)
    n, rng = 5000, np.random.default_rng(7)
    vectors = rng.standard_normal((n, 64), dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    words = rng.integers(0, 3000, (n, 20))
    places = (np.repeat(np.arange(n), 20), words.ravel())
    terms = sparse.csr_matrix((np.ones(20 * n, np.float32), places), shape=(n, 3000))
    index = Index(vectors, terms, np.full(n, -1, np.int32))
    tracemalloc.start()
    try:
        count = sum(
            len(found.rows) for found in match(index, range(n), range(n), keep=10, lexical_weight=0.5)
        )
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert count == 10 * n
    assert peak < 30_000_000


@given(st.lists(st.sampled_from(["", "en", "de", "fa"])))
def test_language_codes_are_equal_for_equal_languages(languages: list[str]) -> None:
    """Two texts have one code if they are in one language, and -1 if it is not known."""
    codes = language_codes(languages)
    for one, code in zip(languages, codes, strict=True):
        assert (code == -1) == (one == "")
        assert all((code == other) == (one == name) for name, other in zip(languages, codes, strict=True))
