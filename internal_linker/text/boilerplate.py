"""The contents of a site's pages -> the same without the blocks of words that stand on many of them."""

from collections.abc import Iterable, Sequence

import numpy as np

from internal_linker.core.arrays import Bools, Ints

# So many words in a row are a block: fewer are figures of speech, more would not stand between the names that
# a template's sentences are filled with. Words are parted by white space, so where a script has none a block
# is long, and a mere term of many letters never is one.
BLOCK = 8
# A block on more than this share of the pages is no page's own text: what it cost NDCG@5 on two sites filled
# with templates came back, and without templates nothing changed; 0.05 did as well there.
SHARE = 0.02
# On a handful of pages a share says nothing.
FEW_PAGES = 10
# Blocks are counted by two parts of their hash: what is rare shares both with what is common once in a hundred
# million blocks, and the counts take 32 MB on a site of any size.
_SLOT_BITS = 22


class Boilerplate:
    """The blocks of words that stand on many of n texts.

    Args:
        texts: all of them, gone through once.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        counts, n = np.zeros((2, 1 << _SLOT_BITS), np.int32), 0
        for text in texts:
            n += 1
            for count, slots in zip(counts, _slots(text.split()), strict=True):
                # A text that holds a block several times counts once: that is what this form does.
                count[slots] += 1
        self._common: Bools = counts > max(FEW_PAGES, SHARE * n)

    def without(self, text: str) -> str:
        """The text without those blocks; one that is nothing else stays as it is."""
        words = text.split()
        first, second = _slots(words)
        begins = self._common[0][first] & self._common[1][second]
        if not begins.any():
            return text
        covered = np.convolve(begins, np.ones(BLOCK)) > 0.5
        return " ".join(word for word, gone in zip(words, covered, strict=True) if not gone) or text


def _slots(words: Sequence[str]) -> tuple[Ints, Ints]:
    """For each word that begins a block two parts of the block's hash."""
    hashes = np.fromiter(map(hash, words), np.int64, len(words)).view(np.uint64)
    blocks = np.zeros(max(0, len(words) - BLOCK + 1), np.uint64)
    for at in range(BLOCK):
        blocks = np.uint64(31) * blocks + hashes[at : at + len(blocks)]
    mask = np.uint64((1 << _SLOT_BITS) - 1)
    return (blocks & mask).astype(np.int64), (blocks >> np.uint64(64 - _SLOT_BITS)).astype(np.int64)
