"""Sums and extremes over runs of a text's words or stems, for one text or for one text and several targets."""

from collections.abc import Sequence

import numpy as np

from internal_linker.model.arrays import Bools, Ints, Vectors


def totals(rows: Vectors | Bools | Sequence[Vectors | Bools]) -> Vectors:
    """Return (r, n + 1) the sum of the first 0, 1 ... n values of each row."""
    found = np.zeros((len(rows), len(rows[0]) + 1))
    found[:, 1:] = rows
    return np.add.accumulate(found, axis=1, out=found)


def between(totals: Vectors, begin: Ints, end: Ints) -> Vectors:
    """Return (r, k) the sums of each row's values from each `begin` up to, but without, its `end`."""
    sums: Vectors = totals.take(end, axis=1) - totals.take(begin, axis=1)
    return sums


def between_of(totals: Vectors, row: Ints, begin: Ints, end: Ints) -> Vectors:
    """Return (k,) the sum of the values of each given row from each `begin` up to, but without, its `end`."""
    start = row * totals.shape[1]
    sums: Vectors = totals.take(start + end) - totals.take(start + begin)
    return sums


def extreme(of: np.ufunc, values: Vectors, begin: Ints, end: Ints) -> Vectors:
    """Return the least or greatest of the values from each `begin` up to, but without, its later `end`."""
    if not len(begin):
        return np.zeros(0)
    both = np.empty(2 * len(begin), np.int64)
    both[::2], both[1::2] = begin, end
    found: Vectors = of.reduceat(np.append(values, 0), both)[::2]
    return found
