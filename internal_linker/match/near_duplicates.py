"""Near-duplicates: pairs of pages with nearly the same text, and which page of each pair to keep."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from internal_linker.model.arrays import Bools, Ints, Vectors
from internal_linker.model.records import Duplicate, Page

# Words of a shingle. With longer ones, a changed word counts more often; shorter ones are common phrases.
SHINGLE = 4
# Minimum overlap of two near-duplicates' shingles (Jaccard). A page with every tenth word replaced shares half of
# them with its original. The development sites have no near-duplicates: one pair of pages from a common template
# shares 0.46 (cosine 0.84), another 0.25 (cosine 0.93).
SAME_TEXT = 0.5
# Reported pairs per page: if all pages of a large site have one text, the site has millions of pairs.
MOST_PAIRS = 100
# Rounding in float32 may lower the cosine of a text with its copy by this much.
_ROUNDING = 1e-6


@dataclass(frozen=True, slots=True)
class Pair:
    """The similarity of two near-duplicates: cosines of vectors and of words, overlap of shingles (0 to 1)."""

    similarity: float
    lexical: float
    overlap: float


class NearDuplicates:
    """Finds near-duplicates among the texts of a run, those with at least this cosine, 0 to 1.

    Args:
        words: returns the words of a text's content, in order, by the text's row.
    """

    def __init__(self, words: Callable[[int], Sequence[str]], least: float) -> None:
        self._words, self.least = words, least
        self._least = least - _ROUNDING
        self.pairs: dict[tuple[int, int], Pair] = {}
        """The pairs found so far, by their rows, the smaller first; up to `MOST_PAIRS` per text."""
        self._shingles: dict[int, Ints] = {}
        self._distinct: dict[bytes, Ints] = {}

    def with_guests(self, contents: Sequence[Sequence[str]], first: int) -> "NearDuplicates":
        """Return what finds the same and further texts, given their words, from row `first`."""

        def words(row: int) -> Sequence[str]:
            return contents[row - first] if row >= first else self._words(row)

        other = NearDuplicates(words, self.least)
        other.pairs, other._shingles = dict(self.pairs), dict(self._shingles)
        other._distinct = dict(self._distinct)
        return other

    def may_be(self, similarity: Vectors, lexical: Vectors) -> Bools:
        """Return (n,) whether pairs with these cosines may be near-duplicates; their shingles decide."""
        likely: Bools = np.fmax(similarity, lexical) >= self._least
        return likely

    def among(self, row: int, others: Ints, similarity: Vectors, lexical: Vectors) -> set[int]:
        """Return which of `others`, the most important first, are near-duplicates of `row`.

        Args:
            similarity: (n,) cosines of the vectors; NaN if one is missing.
            lexical: (n,) cosines of the TF-IDF rows.
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
            # Equal texts share one array, which saves time and memory on a site with many copies.
            self._shingles[row] = self._distinct.setdefault(ours.tobytes(), ours)
        return self._shingles[row]


def shingles(words: Sequence[str]) -> Ints:
    """Return the sorted distinct hashes of all `SHINGLE` consecutive words; they are valid within one process."""
    rows = zip(*(words[start:] for start in range(SHINGLE)), strict=False)
    return np.unique(np.fromiter(map(hash, rows), np.int64))


def jaccard(one: Ints, other: Ints) -> float:
    """Return the Jaccard index of two arrays without repeats, 0 to 1; 0 if both are empty."""
    if one is other:
        return float(len(one) > 0)
    both = len(np.intersect1d(one, other, assume_unique=True))
    return both / max(1, len(one) + len(other) - both)


def canonical_candidates(
    pairs: Mapping[tuple[int, int], Pair], pages: Sequence[Page], inlinks: Mapping[str, int]
) -> dict[tuple[int, int], Duplicate]:
    """Choose the page of each pair to keep: more inlinks, then the shorter URL, then the first in the alphabet.

    Returns:
        The pairs sorted by their rows, with keys (other page's row, row of the page to keep).
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
