"""Scales of features that mean the same on every site: raw values, z-scores and ranks within a source's list."""

from collections.abc import Sequence

import numpy as np

from internal_linker.model.arrays import Bools, Ints, Vectors, ranks

SCALES = ("raw", "z", "rank")
# Deviations below this are rounding errors.
_FLAT = 1e-6


def scaled_names(names: Sequence[str]) -> list[str]:
    """Return the names of the columns of `scale_values`: "raw match", ..., "z match", ..., "rank match", ..."""
    return [f"{scale} {name}" for scale in SCALES for name in names]


def scale_values(values: Vectors, of: Ints) -> Vectors:
    """Return (m, 3f) float32: the values, their z-scores and their ranks within each list, NaN where unknown.

    A rank is -ln(position from 1) in descending order, the first position for equal values. Where all known values of a
    list are equal, z-scores are 0 and ranks unknown. `of` has the list of each candidate, ascending.
    """
    known = np.isfinite(values)
    starts = np.flatnonzero(np.diff(of, prepend=-1))
    lengths = np.diff(np.append(starts, len(of)))
    count = np.maximum(_sums(known, starts), 1)
    z = np.where(known, values, 0).astype(np.float64)
    # In place: further arrays of this size take as long as what is computed.
    z -= np.repeat(_sums(z, starts) / count, lengths, axis=0)
    np.copyto(z, 0, where=~known)
    deviation = np.sqrt(_sums(z**2, starts) / count)
    flat = np.repeat(deviation <= _FLAT, lengths, axis=0)
    z /= np.repeat(np.where(deviation <= _FLAT, np.inf, deviation), lengths, axis=0)
    np.copyto(z, np.nan, where=~known)
    positions, begins = ranks(of), np.diff(of, prepend=-1) != 0
    # Each column contiguous: it is read a dozen times.
    columns = np.ascontiguousarray(np.where(known, values, -np.inf).T, np.float32)
    rank = np.array([_ranks(column, of, positions, begins) for column in columns], np.float32)
    rank = rank.reshape(columns.shape).T
    return np.concatenate([values, z, np.where(flat | ~known, np.nan, rank)], axis=1, dtype=np.float32)


def standard(values: Vectors, of: Ints) -> Vectors:
    """Return (m,) float64 the values in standard deviations above the mean of the known ones in their list.

    Unknown values (NaN), and those of a list whose values are all equal, become 0.
    """
    known = np.isfinite(values)
    count = np.maximum(np.bincount(of, known), 1)
    above = np.where(known, values - (np.bincount(of, np.where(known, values, 0.0)) / count)[of], 0.0)
    deviation = np.sqrt(np.bincount(of, above**2) / count)
    standardised: Vectors = above / np.where(deviation > _FLAT, deviation, np.inf)[of]
    return standardised


def _sums(values: Vectors, starts: Ints) -> Vectors:
    if not len(starts):
        return np.zeros((0, values.shape[1]))
    sums: Vectors = np.add.reduceat(values, starts, axis=0, dtype=np.float64)
    return sums


def _ranks(values: Vectors, of: Ints, positions: Ints, begins: Bools) -> Vectors:
    """Return (m,) -ln(position) of each value in its list, given the positions and which of them begin a list."""
    # One number for both, list and value, is sorted in a fifth of the time that two keys take.
    bits = (np.float32(0) - values).view(np.int32)
    order = np.argsort((of.astype(np.int64) << 32) + (bits ^ ((bits >> 31) & 0x7FFFFFFF)))
    ordered = values[order]
    new = begins.copy()
    new[1:] |= ordered[1:] != ordered[:-1]
    # Equal values share their first position.
    first = np.maximum.accumulate(np.where(new, np.arange(len(order)), 0))
    found = np.empty(len(order))
    found[order] = -np.log1p(positions[first])
    return found
