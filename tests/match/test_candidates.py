"""A candidate's score: how far it is above the source's average target, equal to brute force."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from internal_linker.match.candidates import (
    SAMPLE,
    Comparer,
    Index,
    Pool,
    language_codes,
    scores,
    understands,
)
from internal_linker.model.arrays import Vectors


def unit_rows(rows: Sequence[Sequence[int]]) -> Vectors:
    raw = np.array(rows, np.float64)
    norms = np.linalg.norm(raw, axis=1, keepdims=True)
    unit: Vectors = (raw / np.where(norms > 0, norms, 1)).astype(np.float32)
    return unit


@dataclass(frozen=True)
class Case:
    """An index with a source and some of its possible targets."""

    index: Index
    source: int
    others: list[int]
    weight: float

    @property
    def targets(self) -> list[int]:
        """The rows of all targets that the source may have."""
        codes = self.index.languages
        return [
            row
            for row in range(len(codes))
            if row != self.source
            and self.index.columns[row]
            and (codes[row] == codes[self.source] or codes[row] < 0 or codes[self.source] < 0)
        ]

    def pool(self) -> Pool:
        comparer = Comparer(self.index, np.arange(len(self.index.languages)))
        (pool,) = comparer.pools(np.array([self.source]), [np.array(self.others, np.int64)])
        return pool


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Draw small sites in which any vector, word or language may be missing; cosines are equal or 0.03 apart."""
    n = draw(st.integers(1, 9))
    cells = st.sampled_from([-1, 0, 0, 1])
    vectors = draw(st.lists(st.lists(cells, min_size=3, max_size=3), min_size=n, max_size=n))
    words = st.lists(st.sampled_from([0, 0, 1]), min_size=4, max_size=4)
    terms = draw(st.lists(words, min_size=n, max_size=n))
    languages = draw(st.lists(st.integers(-1, 1), min_size=n, max_size=n))
    columns = draw(st.lists(st.booleans(), min_size=n, max_size=n))
    index = Index(
        unit_rows(vectors),
        sparse.csr_matrix(unit_rows(terms)),
        np.array(languages, np.int32),
        np.array(columns, np.bool_),
    )
    case = Case(index, draw(st.integers(0, n - 1)), [], draw(st.sampled_from([0.0, 0.3, 0.5, 1.0])))
    chosen = draw(st.sets(st.sampled_from(case.targets))) if case.targets else set()
    return Case(index, case.source, sorted(chosen), case.weight)


def z_scores(values: dict[int, float]) -> dict[int, float]:
    mean = sum(values.values()) / max(len(values), 1)
    deviation = (sum((value - mean) ** 2 for value in values.values()) / max(len(values), 1)) ** 0.5
    return {row: (value - mean) / deviation if deviation > 1e-5 else 0.0 for row, value in values.items()}


def brute_force(case: Case) -> dict[int, tuple[float, float, float]]:
    """Compute the score, similarity and lexical score of each target one by one in float64."""
    vectors, terms = case.index.vectors.astype(np.float64), case.index.terms.toarray().astype(np.float64)
    source = case.source
    known = [row for row in case.targets if vectors[source].any() and vectors[row].any()]
    similarity = {row: float(vectors[source] @ vectors[row]) for row in known}
    lexical = {row: float(terms[source] @ terms[row]) for row in case.targets}
    dense, words = z_scores(similarity), z_scores(lexical)
    weight = case.weight if any(words.values()) else 0.0
    weight = weight if any(dense.values()) else 1.0
    return {
        row: (
            weight * words[row] + (1 - weight) * dense.get(row, 0.0),
            similarity.get(row, np.nan),
            lexical[row],
        )
        for row in case.targets
    }


def scored(pool: Pool, weight: float) -> Vectors:
    """Score the pool together with another text, because texts are scored together."""
    empty = Pool(pool.rows[:0], pool.similarity[:0], pool.lexical[:0], (9, 9), (9, 9), 0)
    of = np.ones(len(pool.rows), np.int64)
    return scores([empty, pool], of, pool.similarity, pool.lexical, weight)


@settings(max_examples=3 * settings().max_examples)
@given(cases())
def test_scores_are_those_of_a_brute_force_count(case: Case) -> None:
    pool, oracle = case.pool(), brute_force(case)
    assert pool.rows.tolist() == case.others
    assert pool.targets == len(case.targets)
    score = scored(pool, case.weight)
    for row, *signals in zip(case.others, score, pool.similarity, pool.lexical, strict=True):
        np.testing.assert_allclose(signals, oracle[row], atol=1e-4)


@pytest.mark.parametrize("kind", [np.float16, np.float32])
def test_a_large_site_is_known_by_a_sample(kind: type[np.floating]) -> None:
    n, rng = 3 * SAMPLE, np.random.default_rng(7)
    topics = rng.standard_normal((30, 32))
    vectors = topics[rng.integers(0, 30, n)] + rng.standard_normal((n, 32))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    places = np.repeat(np.arange(n), 20), (300 * rng.random((n, 20)) ** 2).astype(int).ravel()
    terms = sparse.csr_matrix((np.full(20 * n, 0.2, np.float32), places), shape=(n, 300))
    index = Index(vectors.astype(kind), terms, np.full(n, -1, np.int32), np.ones(n, np.bool_))
    rows = np.arange(0, n, 400)
    cosines = vectors[rows] @ vectors.T, (terms[rows] @ terms.T).toarray()
    best = [np.sort(np.argsort(-ours)[:100]) for ours in cosines[0]]
    best = [ours[ours != row] for ours, row in zip(best, rows, strict=True)]
    for at, pool in enumerate(Comparer(index, rng.permutation(n)).pools(rows, best)):
        others = np.arange(n) != rows[at]
        for cosine, mean, deviation in zip(cosines, pool.means, pool.deviations, strict=True):
            all_of_them = cosine[at][others]
            assert mean == pytest.approx(all_of_them.mean(), abs=float(0.1 * all_of_them.std()))
            assert deviation == pytest.approx(all_of_them.std(), rel=0.1)
        np.testing.assert_allclose(pool.similarity, cosines[0][at][best[at]], atol=2e-3)


def test_a_page_alike_in_a_way_no_other_is_stands_out() -> None:
    n = 2 * SAMPLE
    terms = sparse.csr_matrix((np.ones(2, np.float32), ([0, n - 1], [0, 0])), shape=(n, 1))
    index = Index(np.zeros((n, 1), np.float32), terms, np.full(n, -1, np.int32), np.ones(n, np.bool_))
    (pool,) = Comparer(index, np.arange(n)).pools(np.array([0]), [np.array([5, n - 1])])
    score = scored(pool, 0.5)
    assert score[1] == pytest.approx(np.sqrt(n), rel=0.01)
    assert score[0] < 0


@given(st.lists(st.sampled_from(["", "en", "de", "fa"])))
def test_language_codes_are_equal_for_equal_languages(languages: list[str]) -> None:
    codes = language_codes(languages)
    for row, (one, code) in enumerate(zip(languages, codes, strict=True)):
        assert (code == -1) == (one == "")
        assert all((code == other) == (one == name) for name, other in zip(languages, codes, strict=True))
        known = understands(codes, row, np.arange(len(codes)))
        assert known.tolist() == [name in ("", one) or not one for name in languages]
