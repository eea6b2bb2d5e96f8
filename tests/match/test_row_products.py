"""Products of rows of sparse matrices: for the given pairs, as the whole product has them."""

import numpy as np
import pytest
from scipy import sparse

from internal_linker.match.row_products import row_products
from internal_linker.model.arrays import NO_PAIRS, pairs_of


def matrix(n: int, v: int, seed: int) -> sparse.csr_matrix:
    rng = np.random.default_rng(seed)
    values = rng.random((n, v)) * (rng.random((n, v)) < 0.2) * (rng.random((n, 1)) < 0.8)
    return sparse.csr_matrix(values.astype(np.float32))


@pytest.mark.parametrize("seed", range(5))
def test_products_are_those_of_the_whole(seed: int) -> None:
    left, right = [matrix(9, 30, seed), matrix(9, 30, seed + 100)], matrix(40, 30, seed + 200)
    rng = np.random.default_rng(seed)
    texts = np.array([5, 0, 8])
    pairs = pairs_of([rng.permutation(40)[:7], [], rng.permutation(40)[:20]])
    for ours, found in zip(left, row_products(left, texts, right, pairs), strict=True):
        whole = (ours @ right.T).toarray()
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, whole[texts[pairs.of], pairs.rows], rtol=1e-5)


def test_no_pairs_have_no_products() -> None:
    some = matrix(3, 4, 0)
    for texts in (np.array([1]), np.empty(0, np.int64)):
        (found,) = row_products([some], texts, some, NO_PAIRS)
        assert found.tolist() == []
