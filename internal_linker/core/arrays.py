"""The arrays that travel through a run."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from internal_linker.core.errors import ConfigurationError

Vectors = NDArray[np.floating]
Ints = NDArray[np.integer]
Bools = NDArray[np.bool_]
Keys = NDArray[np.int64]
"""Score and row as one integer each: the higher the better, of equal scores the smaller row."""

NOTHING = np.iinfo(np.int64).min
"""The key of an empty place: below all others."""
_LOW = 0x7FFFFFFF


@dataclass(frozen=True, slots=True)
class Nearest:
    """The nearest targets of m texts, best first; equals by row.

    Attributes:
        rows: (m, k) int32, the targets' rows; -1 behind the end of a list.
        scores: (m, k) float32; -inf behind the end of a list.
        floors: (m,) float32: no target that is missing in a list scores above it; -inf where none is missing.
    """

    rows: Ints
    scores: Vectors
    floors: Vectors


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """What a join leaves for the next run: texts by their digests, and the nearest of each by their places.

    Attributes:
        digests: (n, 16) uint8, of everything about a text that its lists depend on.
        nearest: of all n texts; its rows are places in `digests`.
    """

    digests: NDArray[np.uint8]
    nearest: Nearest


@dataclass(frozen=True, slots=True)
class Block:
    """One task of a join: independent of all others, and the same result whenever it is run.

    Attributes:
        name: says what is compared; equal names in one join have equal results.
        rows: (m,) texts that lists are wanted for.
        columns: (c,) distinct texts that may stand in these lists.
        keep: the longest list.
        above: (m,) only scores above these are wanted; None: all are.
        mutual: lists of the columns, with the rows in them, are wanted too; they follow those of the rows.
    """

    name: str
    rows: Ints
    columns: Ints
    keep: int
    above: Vectors | None = None
    mutual: bool = False


def keys_of(scores: Vectors, rows: Ints) -> Keys:
    """Keys of finite float32 scores; `NOTHING` where a row is -1."""
    # Bits of floats below zero are turned, so that integers order as floats do; -0 would be below 0.
    bits = (scores + np.float32(0)).view(np.int32)
    keys = (bits ^ ((bits >> 31) & _LOW)).astype(np.int64)
    keys <<= 32
    keys |= _LOW - rows.astype(np.int64)
    keys[rows < 0] = NOTHING
    return keys


def scores_of(keys: Keys) -> Vectors:
    """The float32 scores in keys; -inf where there is nothing."""
    bits = (keys >> 32).astype(np.int32)
    bits ^= (bits >> 31) & _LOW
    scores: Vectors = np.where(keys == NOTHING, np.float32(-np.inf), bits.view(np.float32))
    return scores


def rows_of(keys: Keys) -> Ints:
    """The int32 rows in keys; -1 where there is nothing."""
    return np.where(keys == NOTHING, -1, _LOW - (keys & _LOW)).astype(np.int32)


def empty_lists(count: int, keep: int) -> Nearest:
    """Lists of nothing, of which nothing is missing."""
    rows, scores = np.full((count, keep), -1, np.int32), np.full((count, keep), -np.inf, np.float32)
    return Nearest(rows, scores, np.full(count, -np.inf, np.float32))


def lists_of(lists: Nearest, texts: Ints | slice) -> Nearest:
    """The lists of some texts."""
    return Nearest(lists.rows[texts], lists.scores[texts], lists.floors[texts])


def unit_rows(vectors: Vectors) -> Vectors:
    """(n, d) float32 rows of length one: float16 storage and some servers leave lengths slightly off it."""
    rows = vectors.astype(np.float32)
    norms = np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None]
    rows /= np.where(norms > 0, norms, 1)
    return rows


def units(rows: Vectors) -> Vectors:
    """(n, d) the same rows of length one; zeros where a row is the little that sums of numbers leave of nothing."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    found: Vectors = np.where(lengths > 1e-6, rows / np.maximum(lengths, 1e-6), 0).astype(rows.dtype)
    return found


def shortened(vectors: Vectors, first: int) -> Vectors:
    """(n, first) float32 rows of length one: the beginnings of (n, d) vectors, which Matryoshka models are made for.

    Raises:
        ConfigurationError: the vectors are shorter than that.
    """
    if first > vectors.shape[1]:
        raise ConfigurationError(
            f"vectors of {vectors.shape[1]} numbers can't be shortened to {first}: "
            "choose a smaller number, or 0 for all."
        )
    return unit_rows(vectors[:, :first])


@dataclass(frozen=True, slots=True)
class Pairs:
    """Some rows for each of several texts.

    Attributes:
        of: (p,) which text: its place among them, from 0.
        rows: (p,) the other row.
    """

    of: Ints
    rows: Ints

    def keys(self, n: int) -> Ints:
        """(p,) int64: a number of each pair, where rows are below n; ascending by text, then by row."""
        return self.of.astype(np.int64) * n + self.rows

    def at(self, places: Ints | Bools) -> "Pairs":
        """Those at the given places."""
        return Pairs(self.of[places], self.rows[places])

    def lists(self, count: int) -> list[Ints]:
        """The rows of each of the `count` texts; the pairs of a text follow each other, in the texts' order."""
        return np.split(self.rows, np.searchsorted(self.of, np.arange(1, count)))


NO_PAIRS = Pairs(np.empty(0, np.int64), np.empty(0, np.int64))


def pairs_of(lists: Sequence[Sequence[int] | Ints]) -> Pairs:
    """The rows of several texts as pairs."""
    rows = np.concatenate([NO_PAIRS.rows, *(np.asarray(each, np.int64) for each in lists)])
    return Pairs(np.repeat(np.arange(len(lists)), [len(each) for each in lists]), rows)


def both(*parts: Pairs) -> Pairs:
    """All of them, those of one part behind those of another."""
    of = np.concatenate([part.of for part in parts])
    return Pairs(of.astype(np.int64), np.concatenate([part.rows for part in parts]).astype(np.int64))


def ranks(of: Ints) -> Ints:
    """(m,) the position of each element in its run of equals, from 0."""
    first = np.flatnonzero(np.diff(of, prepend=-1))
    return np.arange(len(of)) - np.repeat(first, np.diff(np.append(first, len(of))))


def is_in(values: Ints, ours: Ints) -> Bools:
    """(len(values),): which of the values are among `ours`; np.isin takes five times as long for few."""
    if not len(ours):
        return np.zeros(len(values), np.bool_)
    ascending = np.sort(ours)
    found: Bools = ascending[np.searchsorted(ascending, values).clip(max=len(ours) - 1)] == values
    return found
