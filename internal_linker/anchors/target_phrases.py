"""What an anchor for a page should say, by the page's names and content, and how rare words are on the site."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from internal_linker.core.arrays import Vectors
from internal_linker.text.phrases import Hashes, Phrases, TargetPhrases, set_hash

# All weights were measured on both development sites (tests/quality/test_anchors.py); near these values, the share of
# editors' anchors that are found changes by a point or less.
# The fewer words a name has, the more each is worth: up to three times its rarity in a name of one word.
_NAME_SHARE = 2.0
# The most telling stems and pairs of the content; twice as many cost a point on one site, half as many cost nothing.
_KEY_STEMS, _KEY_PAIRS = 12, 12
# The weights of a stem and of a pair of the content, compared with one of a name.
_CONTENT_STEM, _CONTENT_PAIR = 0.7, 0.5
# Stems are counted by part of their hash: two words of a page hardly ever share one, and the counts take 4 MB.
_SLOTS = 1 << 20


@dataclass(frozen=True, slots=True)
class Rarity:
    """How many of a site's pages have each stem.

    Attributes:
        pages: (2**20,) counts of pages, by part of the stems' hashes.
        n: count of all pages.
    """

    pages: NDArray[np.int32]
    n: int

    @classmethod
    def of(cls, contents: Iterable[Phrases]) -> "Rarity":
        """Count the stems of all contents; iterate once."""
        pages, n = np.zeros(_SLOTS, np.int32), 0
        for content in contents:
            # Fancy indexing counts a stem once per page, even if the page has it several times.
            pages[content.stems % np.uint32(_SLOTS)] += 1
            n += 1
        return cls(pages, n)

    def __call__(self, stems: Hashes) -> Vectors:
        """Return (k,) float32: ln of the ratio of all pages to those with each stem, 0 for a stem on all pages."""
        there = np.maximum(self.pages[stems % np.uint32(_SLOTS)], 1)
        rarity: Vectors = np.log((1 + self.n) / (1 + np.minimum(there, self.n))).astype(np.float32)
        return rarity


def wanted(names: Sequence[tuple[Phrases, float]], content: Phrases, rarity: Rarity) -> TargetPhrases:
    """Return what an anchor for a page should say.

    Args:
        names: the page's names, with weights from 0 to 1.
        content: the page's text.
        rarity: the rarity of stems on the site.
    """
    stems: dict[int, list[float]] = {}
    pairs: dict[int, float] = {}
    for name, weight in names:
        _add_name(stems, pairs, name, weight, rarity(name.stems))
    _add_content(stems, pairs, content, rarity)
    most = max((max(each) for each in stems.values()), default=0.0) or 1.0
    sorted_stems, sorted_pairs = sorted(stems), sorted(pairs)
    weights = np.array([stems[each] for each in sorted_stems], np.float32).reshape(-1, 2) / most
    return TargetPhrases(
        np.array(sorted_stems, np.uint32),
        np.ascontiguousarray(weights[:, 0]),
        np.ascontiguousarray(weights[:, 1]),
        np.array(sorted_pairs, np.uint32),
        np.array([pairs[each] for each in sorted_pairs], np.float32) / np.float32(most),
        np.array(sorted({set_hash(name.stems) for name, _ in names if len(name.stems)}), np.uint32),
    )


def _add_name(
    stems: dict[int, list[float]], pairs: dict[int, float], name: Phrases, weight: float, rarity: Vectors
) -> None:
    share = rarity / max(float(rarity.sum()), 1e-9)
    worth = weight * rarity * (1 + _NAME_SHARE * share)
    for stem, value in zip(name.stems.tolist(), worth.tolist(), strict=True):
        known = stems.setdefault(stem, [0.0, 0.0])
        known[0] = max(known[0], value)
    both = weight * (rarity[:-1] + rarity[1:]) / 2
    for pair, value in zip(name.pairs.tolist(), both.tolist(), strict=True):
        pairs[pair] = max(pairs.get(pair, 0.0), value)


def _add_content(
    stems: dict[int, list[float]], pairs: dict[int, float], content: Phrases, rarity: Rarity
) -> None:
    found, times = np.unique(content.stems, return_counts=True)
    worth = rarity(found)
    for stem, value in _best(found, worth, 1 + np.log(times), _KEY_STEMS):
        stems.setdefault(stem, [0.0, 0.0])[1] = _CONTENT_STEM * value
    both = rarity(content.stems)
    found, first, times = np.unique(content.pairs, return_index=True, return_counts=True)
    worth = ((both[:-1] + both[1:]) / 2)[first]
    # ln 1 = 0 drops pairs that occur once: they are not typical phrases of the page.
    for pair, value in _best(found, worth, np.log(times), _KEY_PAIRS):
        pairs[pair] = max(pairs.get(pair, 0.0), _CONTENT_PAIR * value)


def _best(found: Hashes, worth: Vectors, times: Vectors, count: int) -> Iterable[tuple[int, float]]:
    """Return the `count` most telling ones, each with its worth, scaled down for the less telling."""
    score = times * worth
    order = np.argsort(-score, kind="stable")[:count]
    order = order[score[order] > 0]
    return zip(
        found[order].tolist(), (worth * score / max(score.max(initial=0), 1e-9))[order].tolist(), strict=True
    )
