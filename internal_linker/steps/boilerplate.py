"""The contents of a site's pages -> the same without the blocks of words that stand on many of them."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

# So many words in a row are a block: fewer are figures of speech, more would not stand between the names that
# a template's sentences are filled with. Words are parted by white space, so where a script has none a block
# is long, and a mere term of many letters never is one.
BLOCK = 8
# A block on more than this share of the pages is no page's own text: what it cost NDCG@5 on two sites filled
# with templates came back, and without templates nothing changed; 0.05 did as well there.
SHARE = 0.02
# On a handful of pages a share says nothing.
FEW_PAGES = 10


def without_boilerplate(texts: Sequence[str]) -> list[str]:
    """The n texts without footers, calls and templates; one that is nothing else is kept as it is."""
    blocks = [_blocks(text.split()) for text in texts]
    distinct = [np.empty(0, np.int64), *map(np.unique, blocks)]
    block, pages = np.unique(np.concatenate(distinct), return_counts=True)
    common = block[pages > max(FEW_PAGES, SHARE * len(texts))]
    return [_without(text, np.isin(each, common)) for text, each in zip(texts, blocks, strict=True)]


def _blocks(words: Sequence[str]) -> NDArray[np.int64]:
    """For each word that begins a block the block's hash, of 64 bits: two of a site's are never equal by chance."""
    hashes = np.fromiter(map(hash, words), np.int64, len(words))
    blocks = np.zeros(max(0, len(words) - BLOCK + 1), np.int64)
    for at in range(BLOCK):
        blocks = 31 * blocks + hashes[at : at + len(blocks)]
    return blocks


def _without(text: str, begins: NDArray[np.bool_]) -> str:
    """The text without the blocks that begin where `begins` is true."""
    if not begins.any():
        return text
    covered = np.convolve(begins, np.ones(BLOCK)) > 0.5
    return " ".join(word for word, gone in zip(text.split(), covered, strict=True) if not gone) or text
