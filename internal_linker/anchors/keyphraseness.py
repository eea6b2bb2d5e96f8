"""The texts of a site and the links that stand in them -> how far each word is one that its editors link."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from internal_linker.core.arrays import Bools, Vectors
from internal_linker.text.phrases import Phrases

# Words are counted by parts of their hashes: 4 MB on a site of any size.
_SLOTS = 1 << 20
# As if each word had been linked so many times, as often as words are on average: a word that was met twice
# proves little. 10 does as well.
_DOUBT = 3.0


@dataclass(frozen=True, slots=True)
class Habits:
    """What editors link.

    Attributes:
        odds: (2**20,) float32, by parts of words' hashes: ln of how many times likelier than the average word it
            stands in a link.
    """

    odds: Vectors

    @classmethod
    def of(cls, texts: Iterable[tuple[Phrases, Bools]]) -> "Habits":
        """Count, in texts with links, which words stand in one: (n,) for n words; texts are gone through once."""
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
        """The odds of each word, (n,)."""
        odds: Vectors = self.odds[phrases.words % np.uint32(_SLOTS)]
        return odds
