"""Vectors for the tests of joins, and the expected results by brute force."""

from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st

from internal_linker.model.arrays import Ints, Nearest, Vectors


def unit(raw: Vectors) -> Vectors:
    """Return rows of unit length, float32; zeros stay zeros."""
    norms = np.linalg.norm(raw, axis=1, keepdims=True)
    rows: Vectors = (raw / np.where(norms > 0, norms, 1)).astype(np.float32)
    return rows


def random_vectors(count: int, dimensions: int, seed: int = 0, topics: int = 0) -> Vectors:
    """Return (n, d) float16 unit rows, around `topics` centres if there are any."""
    draw = np.random.default_rng(seed)
    rows = draw.standard_normal((count, dimensions))
    if topics:
        rows += 1.5 * draw.standard_normal((topics, dimensions))[draw.integers(0, topics, count)]
    return unit(rows).astype(np.float16)


def one_language(count: int) -> Ints:
    return np.zeros(count, np.int32)


def coarse_vectors(count: int) -> st.SearchStrategy[Vectors]:
    """Return vectors with few distinct directions, so that scores are often equal, and some zeros."""
    row = st.lists(st.sampled_from([-1, 0, 0, 1, 2]), min_size=3, max_size=3)
    rows = st.lists(row, min_size=count, max_size=count)
    return rows.map(lambda some: unit(np.array(some, np.float64).reshape(count, 3)))


def counted(
    vectors: Vectors,
    languages: Ints,
    rows: Sequence[int] | Ints,
    columns: Sequence[int] | Ints,
    keep: int,
    excluded: Sequence[Sequence[int]] | None = None,
) -> Nearest:
    """Return the neighbour lists by a full sort of each row's scores."""
    result = Nearest(
        np.full((len(rows), keep), -1, np.int32),
        np.full((len(rows), keep), -np.inf, np.float32),
        np.full(len(rows), -np.inf, np.float32),
    )
    wide = np.asarray(vectors, np.float32)
    for at, row in enumerate(np.asarray(rows, np.int64).tolist()):
        banned = {row, *(excluded[at] if excluded else ())}
        free = [int(column) for column in columns if column not in banned and wide[column].any()]
        known = languages[row], *languages[free]
        free = [
            c for c, code in zip(free, known[1:], strict=True) if code == known[0] or -1 in (code, known[0])
        ]
        if not wide[row].any():
            continue
        scored = sorted((-float(wide[row] @ wide[column]), column) for column in free)
        best = scored[:keep]
        result.rows[at, : len(best)] = [column for _, column in best]
        result.scores[at, : len(best)] = [-score for score, _ in best]
        if len(scored) > keep:
            result.floors[at] = result.scores[at, -1]
    return result


def assert_same(found: Nearest, expected: Nearest, vectors: Vectors, rows: Ints) -> None:
    """Assert that scores and floors are equal within 2e-6, and that each list's rows really have these scores."""
    np.testing.assert_allclose(found.scores, expected.scores, atol=2e-6)
    np.testing.assert_allclose(found.floors, expected.floors, atol=2e-6)
    np.testing.assert_array_equal(found.rows >= 0, expected.rows >= 0)
    wide = np.asarray(vectors, np.float32)
    for row, others, scores in zip(rows, found.rows, found.scores, strict=True):
        there = others[others >= 0]
        assert len(set(there.tolist())) == len(there)
        np.testing.assert_allclose(wide[there] @ wide[row], scores[: len(there)], atol=2e-6)
