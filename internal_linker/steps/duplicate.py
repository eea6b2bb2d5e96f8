"""Words and cosines of pages that are alike -> the pairs that are nearly the same text: near-duplicates."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from internal_linker.records import Vectors

Ints = NDArray[np.integer]

# Words of a shingle. Longer ones make one changed word count more often, shorter ones are set phrases.
SHINGLE = 4
# Shingles that two near-duplicates share, of all that either has (Jaccard). A page in which every tenth word
# was replaced shares half of them with its original. The development sites have no near-duplicates: of one
# pair of pages that were written on one pattern 0.46 are shared (cosine 0.84), of another 0.25 (cosine 0.93).
SAME_TEXT = 0.5
# What float32 may take from the cosine of a text with its copy.
_ROUNDING = 1e-6


class NearDuplicates:
    """Tells which of the texts of a run are near-duplicates of one.

    Args:
        words: gives the words of a text's content, in order, by the text's row.
        least: cosine of two near-duplicates, 0 to 1.
    """

    def __init__(self, words: Callable[[int], Sequence[str]], least: float) -> None:
        self._words, self._least = words, least - _ROUNDING
        self._shingles: dict[int, Ints] = {}
        self._distinct: dict[bytes, Ints] = {}

    def among(self, row: int, others: Ints, similarity: Vectors, lexical: Vectors) -> dict[int, float]:
        """Those of the rows `others` that are near-duplicates of `row`, each with the share of their shingles, 0 to 1.

        Args:
            row: a text.
            others: (n,) other texts.
            similarity: (n,) cosines of the vectors; NaN where one is missing.
            lexical: (n,) cosines of the weighted words.
        """
        alike = others[np.fmax(similarity, lexical) >= self._least].tolist()
        overlaps = {other: jaccard(self._shingles_of(row), self._shingles_of(other)) for other in alike}
        return {other: overlap for other, overlap in overlaps.items() if overlap >= SAME_TEXT}

    def _shingles_of(self, row: int) -> Ints:
        if row not in self._shingles:
            ours = shingles(self._words(row))
            # Equal texts share one array, so that a site of many of them is quick and small.
            self._shingles[row] = self._distinct.setdefault(ours.tobytes(), ours)
        return self._shingles[row]


def shingles(words: Sequence[str]) -> Ints:
    """Every `SHINGLE` words in a row, each once, as sorted numbers of one process; none of a shorter text."""
    rows = zip(*(words[start:] for start in range(SHINGLE)), strict=False)
    return np.unique(np.fromiter(map(hash, rows), np.int64))


def jaccard(one: Ints, other: Ints) -> float:
    """The share of what both have in what either has, 0 to 1, of two arrays without repeats; 0 if both are empty."""
    if one is other:
        return float(len(one) > 0)
    both = len(np.intersect1d(one, other, assume_unique=True))
    return both / max(1, len(one) + len(other) - both)
