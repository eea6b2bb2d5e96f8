"""Keyphraseness: how likely editors are to link each word and phrase, learned from a site's existing links."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from internal_linker.anchors.site_words import ONE, SLOTS, slots
from internal_linker.core.arrays import Ints, Vectors
from internal_linker.text.phrases import Hashes, Phrases, stem_set

# Each word counts as if it had this many more occurrences at the average rate: two occurrences prove little.
_DOUBT = 3.0
# The longest anchor whose length is counted separately.
LONGEST = 9
# The lengths of anchors before any is known: shares of anchors of 0 to 9 words, as if there were two of them.
_LENGTHS = 2 * np.array([0, 0.3, 0.3, 0.15, 0.1, 0.05, 0.03, 0.03, 0.02, 0.02])

# The first and the last word of an anchor.
Span = tuple[int, int]


@dataclass(frozen=True)
class Habits:
    """What editors link."""

    there: Vectors  # (SLOTS,) how often each word occurs
    linked: Vectors  # (SLOTS,) how often it is in a link
    # begun, ended: (SLOTS,) how many links begin and end with it
    begun: Vectors
    ended: Vectors
    lengths: Vectors  # (10,) ln of the share of anchors of 0 to 9 words; the last counts longer ones, too
    anchors: Ints  # (k,) uint64, sorted: the sets of stems that are anchors somewhere
    times: Vectors  # (k,) how many links have each of these sets
    known: bool  # whether there are any links

    @classmethod
    def of(cls, texts: Iterable[tuple[Phrases, Sequence[Span]]]) -> "Habits":
        """Learn from texts and, for each, the anchors of its links; iterate once."""
        there, linked, begun, ended = (np.zeros(SLOTS, np.float32) for _ in range(4))
        lengths, sets = _LENGTHS.copy(), Counter[int]()
        for phrases, spans in texts:
            words = slots(phrases.words)
            np.add.at(there, words, ONE)
            for begin, end in spans:
                np.add.at(linked, words[begin : end + 1], ONE)
                begun[words[begin]] += 1
                ended[words[end]] += 1
                lengths[min(LONGEST, end - begin + 1)] += 1
                at, to = np.searchsorted(phrases.owners, (begin, end + 1))
                sets[stem_set(phrases.stems[at:to])] += 1
        anchors = np.array(sorted(sets), np.uint64)
        times = np.array([sets[each] for each in anchors.tolist()], np.float32)
        shares = np.log(np.maximum(lengths / lengths.sum(), 1e-4)).astype(np.float32)
        return cls(there, linked, begun, ended, shares, anchors, times, bool(sets))

    @cached_property
    def _shares(self) -> tuple[float, float, float]:
        """The shares of words that are linked, and of linked words that begin and that end an anchor."""
        words, linked = self.there, self.linked
        return _share(linked, words), _share(self.begun, linked), _share(self.ended, linked)

    def inside(self, words: Hashes) -> Vectors:
        """Return (k,) ln of the ratio of each word's rate of links to the average word's."""
        return _odds(self.linked, self.there, self._shares[0], words)

    def first(self, words: Hashes) -> Vectors:
        """Return (k,) the same for how often an anchor with the word begins with it."""
        return _odds(self.begun, self.linked, self._shares[1], words)

    def last(self, words: Hashes) -> Vectors:
        """Return (k,) the same for how often an anchor with the word ends with it."""
        return _odds(self.ended, self.linked, self._shares[2], words)

    def times_linked(self, sets: Ints) -> Vectors:
        """Return (n,) how many links of the site have each of these sets of stems as their anchor."""
        if not len(self.anchors):
            return np.zeros(len(sets), np.float32)
        at = np.minimum(np.searchsorted(self.anchors, sets), len(self.anchors) - 1)
        times: Vectors = np.where(self.anchors[at] == sets, self.times[at], np.float32(0))
        return times


def _share(some: Vectors, total: Vectors) -> float:
    return float(some.sum()) / max(1.0, float(total.sum()))


def _odds(some: Vectors, total: Vectors, share: float, words: Hashes) -> Vectors:
    if not share:
        return np.zeros(len(words), np.float32)
    at = slots(words)
    odds: Vectors = np.log((some[at] / share + _DOUBT) / (total[at] + _DOUBT)).astype(np.float32)
    return odds
