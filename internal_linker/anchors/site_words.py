"""What a site's texts tell about its words: how rare each is, and what stands beside it."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from internal_linker.core.arrays import Ints, Vectors
from internal_linker.text.phrases import Hashes, Phrases, breaks

# Words are counted by part of their hash: two frequent words of a site hardly ever share one, and the counts take 5 MB.
SLOTS = 1 << 18
# Each word counts as if it had occurred this many times more in average company: a few occurrences prove little.
_DOUBT = 3.0
# A number of the counts' own type: NumPy adds others a hundred times as slowly.
ONE = np.float32(1)


def slots(hashes: Hashes) -> Ints:
    """Return the place of each word or stem in a table of `SLOTS`."""
    return (hashes % np.uint32(SLOTS)).astype(np.int64)


@dataclass(frozen=True)
class SiteWords:
    """Counts of a site's words.

    Attributes:
        pages: (SLOTS,) how many pages have each stem.
        n: count of all pages.
        total: (SLOTS,) how often each word occurs.
        opened: (SLOTS,) how often it follows a function word, punctuation or a break, where a phrase may begin.
        closed: (SLOTS,) how often one of these follows it.
    """

    pages: Vectors
    n: int
    total: Vectors
    opened: Vectors
    closed: Vectors

    @classmethod
    def of(cls, contents: Iterable[Phrases]) -> "SiteWords":
        """Count the words of all contents; iterate once."""
        pages, total, opened, closed = (np.zeros(SLOTS, np.float32) for _ in range(4))
        n = 0
        for phrases in contents:
            # Fancy indexing counts a stem once per page, even if the page has it several times.
            pages[slots(phrases.stems)] += 1
            n += 1
            begins, ends = breaks(phrases)
            stops, words = phrases.stops, slots(phrases.words)
            begins[1:] |= stops[:-1]
            ends[:-1] |= stops[1:]
            np.add.at(total, words, ONE)
            np.add.at(opened, words[begins], ONE)
            np.add.at(closed, words[ends], ONE)
        return cls(pages, n, total, opened, closed)

    def rarity(self, stems: Hashes) -> Vectors:
        """Return (k,) float32: ln of the ratio of all pages to those with each stem, at least 0.05."""
        there = np.maximum(self.pages[slots(stems)], 1)
        rarity: Vectors = np.log((1 + self.n) / (0.5 + np.minimum(there, self.n)))
        return np.maximum(rarity, 0.05).astype(np.float32)

    def opens(self, words: Hashes) -> Vectors:
        """Return (k,) how much more often than the average word each is where a phrase may begin, -1 to 1."""
        return self._above_average(self.opened, self._averages[0], words)

    def closes(self, words: Hashes) -> Vectors:
        """Return (k,) how much more often than the average word each is where a phrase may end, -1 to 1."""
        return self._above_average(self.closed, self._averages[1], words)

    @cached_property
    def _averages(self) -> tuple[float, float]:
        """The share of all words at which a phrase may begin, and the share at which one may end."""
        total = max(1.0, float(self.total.sum()))
        return float(self.opened.sum()) / total, float(self.closed.sum()) / total

    def _above_average(self, counts: Vectors, average: float, words: Hashes) -> Vectors:
        at = slots(words)
        above: Vectors = (counts[at] + _DOUBT * average) / (self.total[at] + _DOUBT) - average
        return above.astype(np.float32)
