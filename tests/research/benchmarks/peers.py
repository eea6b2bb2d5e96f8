"""Nearest rows of unit vectors as other programs find them: scikit-learn's whole matrix, and faiss."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from tests.research.benchmarks.parts import Work

# Rows to time if the whole matrix doesn't fit; the time of all rows is scaled from them.
SAMPLE = 300


def whole_matrix(path: Path, keep: int) -> Work:
    """Compute all cosines at once and sort every row completely, as most scripts for internal links do."""
    from sklearn.metrics.pairwise import cosine_similarity

    vectors = np.load(path)

    def work() -> Callable[[], dict[str, float]]:
        similar = cosine_similarity(vectors)
        np.fill_diagonal(similar, -np.inf)
        np.argsort(-similar, axis=1)[:, :keep].copy()
        return lambda: {"scale": 1.0}

    return work


def row_by_row(path: Path, keep: int) -> Work:
    """Do the same for a sample of rows, one at a time; the result's `scale` extrapolates to all rows."""
    from sklearn.metrics.pairwise import linear_kernel

    vectors = np.load(path)
    rows = np.linspace(0, len(vectors) - 1, min(SAMPLE, len(vectors))).astype(int)

    def work() -> Callable[[], dict[str, float]]:
        for row in rows.tolist():
            # cosine_similarity would normalise all vectors for every row, although they have unit length.
            similar = linear_kernel(vectors[row : row + 1], vectors)[0]
            similar[row] = -np.inf
            np.argsort(-similar)[:keep].copy()
        return lambda: {"scale": len(vectors) / len(rows)}

    return work


def faiss_exact(path: Path, keep: int) -> Work:
    """Run faiss.knn by inner product over all rows."""
    import faiss

    vectors = np.load(path)

    def work() -> Callable[[], dict[str, float]]:
        faiss.knn(vectors, vectors, keep + 1, metric=faiss.METRIC_INNER_PRODUCT)
        return lambda: {"scale": 1.0}

    return work
