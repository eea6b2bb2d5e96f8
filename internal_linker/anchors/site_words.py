"""What a site's texts tell about its words: how rare each is, and what stands beside it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from internal_linker.anchors.source_text import ARTICLES, JOINING_WORDS, as_hashes
from internal_linker.model.arrays import Bools, Ints, Vectors
from internal_linker.text.phrases import Hashes, Phrases, breaks, joined

# Words are counted by part of their hash: two frequent words of a site hardly ever share one, and the counts take 5 MB.
SLOTS = 1 << 18
# The same for pairs of words, counted twice, by two parts of their hash; the smaller count is right (8 MB).
_PAIR_SLOTS = 1 << 20
# Words of pages that are counted together: a page alone is too short for NumPy.
WORDS_AT_ONCE = 50_000
# A number of the counts' own type: NumPy adds others a hundred times as slowly.
ONE = np.float32(1)
_BOUND = 4
_RARE = 3.0
# Function words that stand before verbs rather than nouns, and the other way round; articles come after verbs, too.
_BEFORE_VERBS = as_hashes(
    "to we they i you it he she who will can could would should may might must not be been was were is are has have had"
)
_BEFORE_NOUNS = as_hashes(f"of in for with by on from at about into as and or {ARTICLES} {JOINING_WORDS}")
_AFTER_VERBS = as_hashes(ARTICLES)
# What an article after a word counts beside a word before it; and how much more often than with signs of nouns, and in
# what share of its occurrences, a word stands with signs of verbs to be one.
_AFTER, _MORE, _VERBAL, _ENOUGH = 1.5, 2.5, 0.15, 8
_MIX = np.uint64(0x9E3779B97F4A7C15)


def slots(hashes: Hashes) -> Ints:
    """Return the place of each word or stem in a table of `SLOTS`."""
    return (hashes & np.uint32(SLOTS - 1)).astype(np.int64)


@dataclass(frozen=True)
class SiteWords:
    """Counts of a site's words."""

    pages: Vectors  # (SLOTS,) how many pages have each stem
    n: int  # count of all pages
    total: Vectors  # (SLOTS,) how often each word occurs
    # verbal, nominal: (SLOTS,) how often it stands beside function words that verbs, and that nouns stand beside
    verbal: Vectors
    nominal: Vectors
    together: Vectors  # (2, 2^20) how often each two words follow each other, by two hashes

    @classmethod
    def from_texts(cls, contents: Iterable[Phrases]) -> "SiteWords":
        """Count the words of all contents; iterate once."""
        pages, total, verbal, nominal = (np.zeros(SLOTS, np.float32) for _ in range(4))
        together = np.zeros((2, _PAIR_SLOTS), np.float32)
        n = 0

        def counted() -> Iterator[Phrases]:
            nonlocal n
            for phrases in contents:
                # Fancy indexing counts a stem once per page, even if the page has it several times.
                pages[slots(phrases.stems)] += 1
                n += 1
                yield phrases

        for phrases, _ in joined(counted(), WORDS_AT_ONCE):
            _, ends = breaks(phrases)
            within, words = ~ends[:-1], slots(phrases.words)
            np.add.at(total, words, ONE)
            before, after = phrases.words[:-1][within], phrases.words[1:][within]
            np.add.at(verbal, slots(after[np.isin(before, _BEFORE_VERBS)]), ONE)
            np.add.at(nominal, slots(after[np.isin(before, _BEFORE_NOUNS)]), ONE)
            np.add.at(verbal, slots(before[np.isin(after, _AFTER_VERBS)]), np.float32(_AFTER))
            for counts, at in zip(together, _pair_slots(phrases.words), strict=True):
                np.add.at(counts, at[within], ONE)
        return cls(pages, n, total, verbal, nominal, together)

    def rarity(self, stems: Hashes) -> Vectors:
        """Return (k,) float32: ln of the ratio of all pages to those with each stem, at least 0.05."""
        there = np.maximum(self.pages[slots(stems)], 1)
        rarity: Vectors = np.log((1 + self.n) / (0.5 + np.minimum(there, self.n)))
        return np.maximum(rarity, 0.05).astype(np.float32)

    @property
    def rare(self) -> float:
        """The rarity of a rare word: one on 5% of the pages, or on one page of a small site."""
        return min(_RARE, float(np.log((1 + self.n) / 1.5)))

    def bound(self, words: Hashes) -> tuple[Vectors, Vectors]:
        """Return (n - 1,) the share of each word's occurrences before the next word, and of that one's after it."""
        together = np.minimum(
            *(counts[at] for counts, at in zip(self.together, _pair_slots(words), strict=True))
        )
        # A few occurrences prove nothing.
        together = np.where(together < _BOUND, 0, together)
        total = np.maximum(self.total[slots(words)], 1)
        return together / total[:-1], together / total[1:]

    def verbs(self, words: Hashes) -> Bools:
        """Return (k,) whether each word is mostly a verb: only in languages with articles, above all in English."""
        at = slots(words)
        verbal, total = self.verbal[at], self.total[at]
        verbs: Bools = (verbal > _MORE * self.nominal[at]) & (verbal >= _VERBAL * total) & (total >= _ENOUGH)
        return verbs


def _pair_slots(words: Hashes) -> tuple[Ints, Ints]:
    mixed = (words[:-1] * _MIX + words[1:]) * _MIX
    return (mixed >> np.uint64(24)) % _PAIR_SLOTS, (mixed >> np.uint64(44)) % _PAIR_SLOTS
