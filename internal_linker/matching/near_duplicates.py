"""Words and cosines of pages that are alike -> the pairs of nearly the same text, and which page of each to keep."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from internal_linker.core.arrays import Bools, Ints, Vectors
from internal_linker.core.records import Duplicate, Page

# Words of a shingle. Longer ones make one changed word count more often, shorter ones are set phrases.
SHINGLE = 4
# Shingles that two near-duplicates share, of all that either has (Jaccard). A page in which every tenth word
# was replaced shares half of them with its original. The development sites have no near-duplicates: of one
# pair of pages that were written on one pattern 0.46 are shared (cosine 0.84), of another 0.25 (cosine 0.93).
SAME_TEXT = 0.5
# Pairs of one page that are told of: where all pages of a large site are one text, there are millions.
MOST_PAIRS = 100
# What float32 may take from the cosine of a text with its copy.
_ROUNDING = 1e-6


@dataclass(frozen=True, slots=True)
class Pair:
    """What two near-duplicates have in common: cosines of vectors and of words, shared shingles (0 to 1)."""

    similarity: float
    lexical: float
    overlap: float


class NearDuplicates:
    """Tells which of the texts of a run are near-duplicates of one.

    Args:
        words: gives the words of a text's content, in order, by the text's row.
        least: cosine of two near-duplicates, 0 to 1.
    """

    def __init__(self, words: Callable[[int], Sequence[str]], least: float) -> None:
        self._words, self._least = words, least - _ROUNDING
        self.pairs: dict[tuple[int, int], Pair] = {}
        """All that were found, by their rows, the smaller first; of one text the first `MOST_PAIRS`."""
        self._shingles: dict[int, Ints] = {}
        self._distinct: dict[bytes, Ints] = {}

    def may_be(self, similarity: Vectors, lexical: Vectors) -> Bools:
        """(n,) which pairs of these cosines may be near-duplicates: their texts decide."""
        likely: Bools = np.fmax(similarity, lexical) >= self._least
        return likely

    def among(self, row: int, others: Ints, similarity: Vectors, lexical: Vectors) -> set[int]:
        """Those of the rows `others` that are near-duplicates of `row`.

        Args:
            row: a text.
            others: (n,) other texts, those that count most first.
            similarity: (n,) cosines of the vectors; NaN where one is missing.
            lexical: (n,) cosines of the weighted words.
        """
        found: set[int] = set()
        for place in np.flatnonzero(self.may_be(similarity, lexical)).tolist():
            other = int(others[place])
            overlap = jaccard(self._shingles_of(row), self._shingles_of(other))
            if overlap < SAME_TEXT:
                continue
            found.add(other)
            if len(found) <= MOST_PAIRS:
                pair = Pair(float(similarity[place]), float(lexical[place]), overlap)
                self.pairs.setdefault((min(row, other), max(row, other)), pair)
        return found

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


def canonical_candidates(
    pairs: Mapping[tuple[int, int], Pair], pages: Sequence[Page], inlinks: Mapping[str, int]
) -> dict[tuple[int, int], Duplicate]:
    """Tell which page of each pair to keep: more in-links, then the shorter URL, then the first by the alphabet.

    Args:
        pairs: near-duplicates by their rows; come out in this order, the row of the page to keep second.
        pages: all pages.
        inlinks: how many pages link to a page today, by its key.
    """

    def worth(row: int) -> tuple[int, int, str]:
        return -inlinks.get(pages[row].key, 0), len(pages[row].url), pages[row].url

    found: dict[tuple[int, int], Duplicate] = {}
    for rows in sorted(pairs):
        pair, (keep, other) = pairs[rows], sorted(rows, key=worth)
        found[other, keep] = Duplicate(
            pages[other].url, pages[keep].url, pair.similarity, pair.lexical, pair.overlap
        )
    return found
