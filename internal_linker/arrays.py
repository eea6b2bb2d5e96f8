"""The arrays that travel through a run."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.floating]
Ints = NDArray[np.integer]
Bools = NDArray[np.bool_]


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
