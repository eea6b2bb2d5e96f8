"""The similarity of pages: by meaning or words, over several fields, the same in tiles and pair by pair."""

import numpy as np
import pytest
from scipy import sparse

from internal_linker.insight.similarity.similarity import Field, Similarity
from internal_linker.model.arrays import Vectors


def whole(similarity: Similarity, *, upper: bool = False) -> Vectors:
    """Return all tiles as one matrix; cells in no tile are NaN."""
    matrix = np.full((len(similarity), len(similarity)), np.nan, np.float32)
    for row, column, scores in similarity.tiles(upper=upper):
        matrix[row : row + len(scores), column:] = scores
    return matrix


def units(*rows: list[float]) -> Vectors:
    """Return rows of length one; zero rows stay zero."""
    array = np.array(rows, np.float32)
    unit: Vectors = array / np.maximum(np.linalg.norm(array, axis=1, keepdims=True), 1e-9)
    return unit


MEANING = units([1, 0], [1, 1], [0, 0])
WORDS = units([1, 0, 0], [1, 1, 0], [1, 0, 0])
ROOT = np.sqrt(np.float32(0.5))


def test_two_pages_are_alike_by_meaning_or_by_words() -> None:
    both = whole(Similarity([Field("title", 1, MEANING, WORDS)]))
    assert both[0, 1] == pytest.approx(1 - (1 - ROOT) * (1 - ROOT))
    less = whole(Similarity([Field("title", 1, MEANING, WORDS, lift=0.5)]))
    assert less[0, 1] == pytest.approx(1 - (1 - ROOT) * (1 - 0.5 * ROOT))
    assert whole(Similarity([Field("title", 1, MEANING)]))[0, 1] == pytest.approx(ROOT)


def test_without_a_meaning_the_words_speak_alone() -> None:
    for lift in (1.0, 0.3):
        matrix = whole(Similarity([Field("title", 1, MEANING, WORDS, lift)]))
        assert matrix[0, 2] == pytest.approx(1.0)
        assert matrix[1, 2] == pytest.approx(np.sqrt(ROOT))
    assert whole(Similarity([Field("title", 1, None, WORDS)]))[1, 2] == pytest.approx(np.sqrt(ROOT))


def test_fields_count_by_their_weights_where_both_pages_have_them() -> None:
    headings = units([0, 1], [0, 0], [1, 0])
    fields = Field("title", 3, units([1, 0], [1, 0], [1, 1])), Field("h1", 1, headings)
    matrix = whole(Similarity(fields))
    assert matrix[0, 1] == pytest.approx(1.0)
    assert matrix[0, 2] == pytest.approx((3 * ROOT + 0) / 4)


def test_nothing_known_is_no_similarity() -> None:
    nothing = np.zeros((3, 2), np.float32)
    similarity = Similarity([Field("title", 1, nothing, nothing), Field("h1", 2, None, nothing)])
    assert not whole(similarity).any()


@pytest.mark.parametrize("is_sparse", [False, True])
def test_tiles_upper_tiles_and_pairs_agree(is_sparse: bool) -> None:
    random = np.random.default_rng(1)
    n = 1100  # more than one tile
    words = units(*(random.random((n, 6)) * (random.random((n, 6)) < 0.4)).tolist())
    rows = sparse.csr_matrix(words) if is_sparse else words
    meaning = units(*random.normal(size=(n, 4)).tolist())
    meaning[::7] = 0
    similarity = Similarity([Field("title", 1, meaning, rows), Field("content", 4, None, words)])
    matrix, upper = whole(similarity), whole(similarity, upper=True)
    ours, others = random.integers(0, n, (2, 20_000))
    np.testing.assert_allclose(similarity.compare_rows(ours, others), matrix[ours, others], atol=1e-5)
    known = ~np.isnan(upper)
    assert known[np.triu_indices(n)].all()
    np.testing.assert_allclose(upper[known], matrix[known], atol=1e-5)
    alone = whole(Similarity([Field("content", 1, None, words)]))
    np.testing.assert_allclose(
        similarity.compare_rows(ours, others, "content"), alone[ours, others], atol=1e-5
    )


def test_points_have_the_products_of_all_dense_rows() -> None:
    fields = Field("title", 1, MEANING, sparse.csr_matrix(WORDS)), Field("content", 4, None, WORDS)
    similarity = Similarity(fields)
    points, words = similarity.points(), similarity.words()
    assert points @ points.T == pytest.approx(0.5 * MEANING @ MEANING.T + 4 * WORDS @ WORDS.T, abs=1e-5)
    assert words is not None
    assert (words @ words.T).toarray() == pytest.approx(0.5 * WORDS @ WORDS.T, abs=1e-5)
    assert Similarity(fields[1:]).words() is None
