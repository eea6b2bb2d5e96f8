"""Keyphraseness: how likely editors are to link each word, learned from a site's existing links."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from internal_linker.core.arrays import Bools, Vectors
from internal_linker.text.phrases import Phrases

# Words are counted by part of their hash: 4 MB on a site of any size.
_SLOTS = 1 << 20
# Smoothing: each word counts as if it had this many more links, at the average rate, because a word with two
# occurrences proves little. 10 does as well.
_DOUBT = 3.0


@dataclass(frozen=True, slots=True)
class Habits:
    """What editors link.

    Attributes:
        odds: (2**20,) float32, by part of a word's hash: ln of the ratio of its rate of links to the average word's.
    """

    odds: Vectors

    @classmethod
    def of(cls, texts: Iterable[tuple[Phrases, Bools]]) -> "Habits":
        """Learn from texts and, for each, (n,) whether its n words are in links; iterate once."""
        linked, there = np.zeros((2, _SLOTS), np.int32)
        for phrases, inside in texts:
            slots = phrases.words % np.uint32(_SLOTS)
            np.add.at(there, slots, 1)
            np.add.at(linked, slots[inside], 1)
        if not linked.any():
            return cls(np.zeros(_SLOTS, np.float32))
        share = linked.sum() / there.sum()
        return cls(np.log((linked + _DOUBT) / (there + _DOUBT / share) / share).astype(np.float32))

    def __call__(self, phrases: Phrases) -> Vectors:
        """Return (n,) the odds of each word."""
        odds: Vectors = self.odds[phrases.words % np.uint32(_SLOTS)]
        return odds
