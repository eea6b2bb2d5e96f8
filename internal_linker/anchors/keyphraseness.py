"""Keyphraseness: how likely editors are to link each word, learned from a site's existing links."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from internal_linker.anchors.site_words import ONE, SLOTS, slots
from internal_linker.model.arrays import Vectors
from internal_linker.text.phrases import Hashes, Phrases

# Each word counts as if it had this many more occurrences at the average rate: two occurrences prove little.
_DOUBT = 3.0

# The first and the last word of an anchor.
Span = tuple[int, int]


@dataclass(frozen=True)
class Habits:
    """What editors link."""

    there: Vectors  # (SLOTS,) how often each word occurs
    linked: Vectors  # (SLOTS,) how often it is in a link
    ended: Vectors  # (SLOTS,) how many links end with it

    @classmethod
    def from_texts(cls, texts: Iterable[tuple[Phrases, Sequence[Span]]]) -> "Habits":
        """Learn from texts and, for each, the anchors of its links; iterate once."""
        there, linked, ended = (np.zeros(SLOTS, np.float32) for _ in range(3))
        for phrases, spans in texts:
            words = slots(phrases.words)
            np.add.at(there, words, ONE)
            for begin, end in spans:
                np.add.at(linked, words[begin : end + 1], ONE)
                ended[words[end]] += 1
        return cls(there, linked, ended)

    @cached_property
    def _shares(self) -> tuple[float, float]:
        """The shares of words that are linked, and of linked words that end an anchor."""
        return _share(self.linked, self.there), _share(self.ended, self.linked)

    def inside(self, words: Hashes) -> Vectors:
        """Return (k,) ln of the ratio of each word's rate of links to the average word's."""
        return _odds(self.linked, self.there, self._shares[0], words)

    def last(self, words: Hashes) -> Vectors:
        """Return (k,) the same for how often an anchor with the word ends with it."""
        return _odds(self.ended, self.linked, self._shares[1], words)


def _share(some: Vectors, total: Vectors) -> float:
    return float(some.sum()) / max(1.0, float(total.sum()))


def _odds(some: Vectors, total: Vectors, share: float, words: Hashes) -> Vectors:
    if not share:
        return np.zeros(len(words), np.float32)
    at = slots(words)
    odds: Vectors = np.log((some[at] / share + _DOUBT) / (total[at] + _DOUBT)).astype(np.float32)
    return odds
