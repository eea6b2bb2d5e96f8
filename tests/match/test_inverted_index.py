"""Candidates by words: the pages that share the most words with a text are found without comparing all pairs."""

import numpy as np
import pytest
from scipy import sparse

from internal_linker.match import inverted_index as module
from internal_linker.match.inverted_index import CHAMPIONS, Postings


def corpus(n: int, seed: int = 0) -> sparse.csr_matrix:
    """Return pages in topics of 40; a topic's own words are rare and other words common, as on any site."""
    rng = np.random.default_rng(seed)
    own = 30 * (np.arange(n) % (n // 40))[:, None] + rng.integers(0, 30, (n, 12))
    common = 30 * (n // 40) + (500 * rng.random((n, 40)) ** 3).astype(int)
    words = np.concatenate([own, common], axis=1)
    counts = sparse.csr_matrix(
        (np.ones(words.size), (np.repeat(np.arange(n), words.shape[1]), words.ravel()))
    )
    idf = 1 + np.log(n / (1 + np.asarray((counts > 0).sum(axis=0)).ravel()))
    weighted = counts.multiply(idf**2).tocsr()
    norms = np.sqrt(np.asarray(weighted.multiply(weighted).sum(axis=1)).ravel())
    return sparse.diags_array(1 / norms).dot(weighted).tocsr().astype(np.float32)


def test_the_nearest_are_found() -> None:
    terms = corpus(4000)
    assert np.bincount(terms.indices).max() > 5 * CHAMPIONS
    rows = np.arange(0, 4000, 20)
    found = Postings(terms, np.ones(4000, np.bool_), np.full(4000, -1)).nearest(rows, 100)
    cosines = (terms[rows] @ terms.T).toarray()
    cosines[np.arange(len(rows)), rows] = -1
    best = np.argsort(-cosines, axis=1)[:, :20]
    recall = np.mean([np.isin(wanted, ours).mean() for wanted, ours in zip(best, found, strict=True)])
    assert recall > 0.99


def test_lists_are_in_order_and_hold_what_they_may() -> None:
    terms = corpus(400)
    targets, languages = np.arange(400) % 3 > 0, (np.arange(400) // 40) % 3 - 1
    found = Postings(terms, targets, languages).nearest(np.arange(400), 50)
    shared = (terms @ terms.T).toarray() > 0
    assert found.dtype == np.int32 and found.shape == (400, 50)
    for row, ours in enumerate(found):
        kept = ours[ours >= 0]
        assert (np.diff(kept) > 0).all() and ours[: len(kept)].tolist() == kept.tolist()
        assert row not in kept and targets[kept].all() and shared[row, kept].all()
        theirs = languages[kept]
        assert languages[row] < 0 or ((theirs == languages[row]) | (theirs < 0)).all()


@pytest.mark.parametrize("languages", [1, 2, 200])
def test_the_best_of_many_texts_share_most(languages: int) -> None:
    n, rng = 9000, np.random.default_rng(1)
    # Each text has a word of its own in common with every other one, by a weight of its own.
    weights = rng.permutation(np.linspace(0.1, 1, n)).astype(np.float32)
    each = np.arange(n)
    terms = sparse.csr_matrix((weights, (each, each)), shape=(n, n))
    every = sparse.csr_matrix(np.ones((3, n), np.float32))
    queries = sparse.vstack([every, sparse.csr_matrix((n - 3, n), dtype=np.float32)], format="csr")
    codes = each % languages
    found = Postings(terms, np.ones(n, np.bool_), codes, queries).nearest(np.arange(3), 50)
    for row in range(3):
        others = np.flatnonzero((codes == codes[row]) & (each != row))
        best = others[np.argsort(-weights[others])[:50]]
        assert found[row][found[row] >= 0].tolist() == sorted(best.tolist())


def test_a_word_of_every_page_still_leads_to_those_that_it_weighs_most_in() -> None:
    weight = np.linspace(0.1, 1, 1000, dtype=np.float32)
    terms = sparse.csr_matrix(np.append(weight, 1.0)[:, None].astype(np.float32))
    found = Postings(terms, np.arange(1001) < 1000, np.full(1001, -1)).nearest(np.array([1000]), CHAMPIONS)
    assert found[0].tolist() == list(range(1000 - CHAMPIONS, 1000))
    terms = sparse.csr_matrix(np.eye(3, dtype=np.float32))
    queries = sparse.csr_matrix(np.array([[0, 1, 0], [1, 0, 1], [0, 0, 1]], np.float32))
    found = Postings(terms, np.ones(3, np.bool_), np.full(3, -1), queries).nearest(np.arange(3), 2)
    assert found.tolist() == [[1, -1], [0, 2], [-1, -1]]


def test_the_size_of_a_block_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    terms, rows = corpus(400), np.arange(0, 400, 7)
    every = np.ones(400, np.bool_), np.full(400, -1)
    whole = Postings(terms, *every).nearest(rows, 20)
    monkeypatch.setattr(module, "BLOCK_CELLS", 1)
    np.testing.assert_array_equal(Postings(terms, *every).nearest(rows, 20), whole)


@pytest.mark.parametrize("shape", [(0, 0), (3, 0), (3, 5)])
def test_without_a_word_in_common_there_are_no_candidates(shape: tuple[int, int]) -> None:
    postings = Postings(
        sparse.csr_matrix(shape, dtype=np.float32), np.ones(shape[0], np.bool_), np.full(shape[0], -1)
    )
    assert (postings.nearest(np.arange(shape[0]), 4) == -1).all()
