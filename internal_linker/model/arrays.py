"""The arrays that travel through a run."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from math import isnan, nan
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from internal_linker.model.errors import ConfigurationError

T = TypeVar("T")
Vectors = NDArray[np.floating]
Ints = NDArray[np.integer]
Bools = NDArray[np.bool_]
Keys = NDArray[np.int64]
"""Score and row packed into one integer each: higher is better; of equal scores, the smaller row."""

NOTHING = np.iinfo(np.int64).min
"""The key of an empty entry: below all others."""
_LOW = 0x7FFFFFFF


@dataclass(frozen=True, slots=True)
class Nearest:
    """The nearest targets of m texts, best first; of equal scores, the smaller row first."""

    rows: Ints  # (m, k) int32 rows of the targets; -1 past the end of a list
    scores: Vectors  # (m, k) float32; -inf past the end of a list
    floors: Vectors  # (m,) float32: no target missing from a list scores above it; -inf if none is missing


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """The result of a k-NN join for the next run: texts by their digests, and the nearest texts of each."""

    digests: NDArray[np.uint8]  # (n, 16) uint8 digests of everything about a text that its lists depend on
    nearest: Nearest  # the lists of all n texts; their rows are positions in `digests`


@dataclass(frozen=True, slots=True)
class JoinTask:
    """One task of a join: independent of all others, with the same result whenever it runs."""

    name: str  # what is compared; equal names in one join have equal results
    rows: Ints  # (m,) texts whose lists are wanted
    columns: Ints  # (c,) distinct texts that may be in these lists
    keep: int  # the maximum length of a list
    above: Vectors | None = None  # (m,) keep only scores above these; None: all scores
    mutual: bool = False  # also make lists of the columns with the rows in them; they follow the rows' lists


def keys_of(scores: Vectors, rows: Ints) -> Keys:
    """Pack finite float32 scores and rows into keys; `NOTHING` where a row is -1."""
    # Flip the bits of floats below zero, so that integers order as floats do; -0 would be below 0.
    bits = (scores + np.float32(0)).view(np.int32)
    keys = (bits ^ ((bits >> 31) & _LOW)).astype(np.int64)
    keys <<= 32
    keys |= _LOW - rows.astype(np.int64)
    keys[rows < 0] = NOTHING
    return keys


def scores_of(keys: Keys) -> Vectors:
    """Unpack the float32 scores of keys; -inf for empty entries."""
    bits = (keys >> 32).astype(np.int32)
    bits ^= (bits >> 31) & _LOW
    scores: Vectors = np.where(keys == NOTHING, np.float32(-np.inf), bits.view(np.float32))
    return scores


def rows_of(keys: Keys) -> Ints:
    """Unpack the int32 rows of keys; -1 for empty entries."""
    return np.where(keys == NOTHING, -1, _LOW - (keys & _LOW)).astype(np.int32)


def empty_lists(count: int, keep: int) -> Nearest:
    """Return empty lists from which nothing is missing."""
    rows, scores = np.full((count, keep), -1, np.int32), np.full((count, keep), -np.inf, np.float32)
    return Nearest(rows, scores, np.full(count, -np.inf, np.float32))


def lists_of(lists: Nearest, texts: Ints | slice) -> Nearest:
    """Return the lists of some texts."""
    return Nearest(lists.rows[texts], lists.scores[texts], lists.floors[texts])


def unit_rows(vectors: Vectors) -> Vectors:
    """Return (n, d) float32 unit rows: float16 storage and some servers leave lengths slightly off one."""
    rows = vectors.astype(np.float32)
    norms = np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None]
    rows /= np.where(norms > 0, norms, 1)
    return rows


def units(rows: Vectors) -> Vectors:
    """Return (n, d) unit rows; zeros for a row that is zero but for rounding errors."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    found: Vectors = np.where(lengths > 1e-6, rows / np.maximum(lengths, 1e-6), 0).astype(rows.dtype)
    return found


def shortened(vectors: Vectors, first: int) -> Vectors:
    """Truncate (n, d) vectors to (n, first) float32 unit rows, as Matryoshka models allow.

    Raises:
        ConfigurationError: the vectors have fewer dimensions.
    """
    if first > vectors.shape[1]:
        raise ConfigurationError(
            f"vectors of {vectors.shape[1]} numbers can't be shortened to {first}: "
            "choose a smaller number, or 0 for all."
        )
    return unit_rows(vectors[:, :first])


@dataclass(frozen=True, slots=True)
class Pairs:
    """Pairs of a text and a row: some rows for each of several texts."""

    of: Ints  # (p,) the text's position, from 0
    rows: Ints  # (p,) the row paired with it

    def keys(self, n: int) -> Ints:
        """Return (p,) int64 numbers of the pairs for rows below n; they order by text, then by row."""
        return self.of.astype(np.int64) * n + self.rows

    def at(self, places: Ints | Bools) -> "Pairs":
        """Return the pairs at these positions."""
        return Pairs(self.of[places], self.rows[places])

    def lists(self, count: int) -> list[Ints]:
        """Return the rows of each of the `count` texts; the pairs must be sorted by text."""
        return np.split(self.rows, np.searchsorted(self.of, np.arange(1, count)))


NO_PAIRS = Pairs(np.empty(0, np.int64), np.empty(0, np.int64))


def pairs_of(lists: Sequence[Sequence[int] | Ints]) -> Pairs:
    """Turn the rows of several texts into pairs."""
    rows = np.concatenate([NO_PAIRS.rows, *(np.asarray(each, np.int64) for each in lists)])
    return Pairs(np.repeat(np.arange(len(lists)), [len(each) for each in lists]), rows)


def both(*parts: Pairs) -> Pairs:
    """Concatenate pairs."""
    of = np.concatenate([part.of for part in parts])
    return Pairs(of.astype(np.int64), np.concatenate([part.rows for part in parts]).astype(np.int64))


def floats(numbers: Iterable[float]) -> list[float]:
    """Return the numbers with one NaN object for all missing ones: two records are equal only if they share it."""
    return [nan if isnan(number) else number for number in numbers]


def ranks(of: Ints) -> Ints:
    """Return (m,) the position of each element within its run of equal elements, from 0."""
    first = np.flatnonzero(np.diff(of, prepend=-1))
    return np.arange(len(of)) - np.repeat(first, np.diff(np.append(first, len(of))))


def is_in(values: Ints, ours: Ints) -> Bools:
    """Return (len(values),) whether each value is among `ours`; np.isin takes five times as long for few values."""
    if not len(ours):
        return np.zeros(len(values), np.bool_)
    ascending = np.sort(ours)
    found: Bools = ascending[np.searchsorted(ascending, values).clip(max=len(ours) - 1)] == values
    return found


def joined(parts: list[T]) -> T:
    """Return records of arrays, all of one class, as one; `parts` is emptied.

    One attribute after the other: all parts and the whole would be the most that a run has in memory.
    """
    kind: Any = type(parts[0])
    columns = {each.name: [getattr(part, each.name) for part in parts] for each in fields(kind)}
    parts.clear()
    whole: T = kind(**{name: np.concatenate(columns.pop(name)) for name in [*columns]})
    return whole
