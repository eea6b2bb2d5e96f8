"""Dot products of rows of sparse matrices, for given pairs only."""

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from internal_linker.model.arrays import Ints, Pairs, Vectors


def row_products(
    left: Sequence[sparse.csr_matrix], texts: Ints, right: sparse.csr_matrix, pairs: Pairs
) -> list[Vectors]:
    """Return (p,) float32 for each left matrix: its products with `right`, one for each pair.

    The rows of `right` are gathered once for all left matrices; memory is 8 bytes for each of their values.

    Args:
        left: (n, v) matrices, whose rows have each column once.
        texts: (t,) the left row of each text.
        right: (m, v) the matrix of the pairs' rows.
        pairs: sorted by text.
    """
    theirs = right[pairs.rows]
    ends = np.searchsorted(pairs.of, np.arange(len(texts) + 1))
    starts = theirs.indptr[ends]
    products = []
    for matrix in left:
        values = np.empty(theirs.nnz, np.float32)
        ours = np.zeros(right.shape[1], np.float32)
        for at, row in enumerate(texts.tolist()):
            here = slice(matrix.indptr[row], matrix.indptr[row + 1])
            there = slice(starts[at], starts[at + 1])
            ours[matrix.indices[here]] = matrix.data[here]
            np.multiply(theirs.data[there], ours[theirs.indices[there]], out=values[there])
            ours[matrix.indices[here]] = 0
        products.append(_sums(values, theirs.indptr))
    return products


def _sums(values: Vectors, ends: Ints) -> Vectors:
    sums = np.zeros(len(ends) - 1, np.float32)
    some = np.flatnonzero(np.diff(ends))
    if len(some):
        sums[some] = np.add.reduceat(values, ends[some])
    return sums
