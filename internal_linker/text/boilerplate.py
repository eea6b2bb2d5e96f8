"""Boilerplate: blocks of words that occur on many pages of a site, and contents without them."""

import zlib
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from internal_linker.model.arrays import Bools, Ints

# Words of a block: shorter runs are figures of speech, longer ones would not fit between the names that fill a
# template's sentences. White space separates words, so in scripts without any, blocks are long and a mere term of
# many letters is never one.
BLOCK = 8
# A block on a larger share of the pages is boilerplate. Without it, two sites full of templates regained the NDCG@5
# that the templates had cost them, and other sites stayed as they were; 0.05 did as well there.
SHARE = 0.02
# Among a handful of pages, a share says nothing.
FEW_PAGES = 10
# Blocks are counted by two parts of their hash: a rare block shares both with a common one once in a hundred million
# blocks, and the counts take at most 32 MB.
SLOT_BITS = 22
# A table of so many bits, which a processor's cache holds, says which slots are worth counting.
_FEWER_BITS = 18
# On a small site, to count so many blocks one by one is quicker than to fill the memory for all slots.
_MOST_LISTED = 1 << 17
# Words whose blocks are hashed at a time: temporary arrays take 100 bytes for each.
_AT_A_TIME = 1 << 20
# Spreads the 32 bits of a word's checksum over 64.
_MIX = np.uint64(0x9E3779B97F4A7C15)


class TextCounts:
    """Counts, for each slot of `SLOT_BITS` bits, the texts that have it."""

    def __init__(self) -> None:
        self._few: list[Ints] = []
        self._listed = 0
        self._table: Ints | None = None

    def add(self, slots: Ints) -> None:
        """Count a text's slots, each once."""
        if self._table is not None:
            # Fancy indexing counts a slot once, even if the text has it several times.
            self._table[slots] += 1
            return
        self._few.append(np.unique(slots))
        self._listed += len(self._few[-1])
        if self._listed > _MOST_LISTED:
            self._table = np.zeros(1 << SLOT_BITS, np.int32)
            for some in self._few:
                self._table[some] += 1
            self._few = []

    def common(self, least: float) -> Bools:
        """Return (1 << SLOT_BITS,) whether at least so many texts have each slot."""
        if self._table is not None:
            many: Bools = self._table >= least
            return many
        common = np.zeros(1 << SLOT_BITS, np.bool_)
        slots, counts = np.unique(np.concatenate([np.empty(0, np.int64), *self._few]), return_counts=True)
        common[slots[counts >= least]] = True
        return common


class Boilerplate:
    """The blocks of words that occur in many of a site's texts.

    Args:
        checksums: (words,) uint32 `checksums` of all texts, one after the other.
        starts: (n + 1,) where those of each text begin.
    """

    def __init__(self, checksums: Ints, starts: Ints) -> None:
        n = len(starts) - 1
        least = int(max(FEW_PAGES, SHARE * n)) + 1
        self._common: tuple[Bools, ...] = tuple(np.zeros(1 << SLOT_BITS, np.bool_) for _ in range(2))
        if n >= least:
            self._count(checksums, starts, least)

    def _count(self, checksums: Ints, starts: Ints, least: int) -> None:
        times = [np.zeros(1 << _FEWER_BITS, np.int64) for _ in self._common]
        for _, slots, _ in _chunks(checksums, starts):
            for at, some in enumerate(slots):
                times[at] += np.bincount(some >> (SLOT_BITS - _FEWER_BITS), minlength=1 << _FEWER_BITS)
        # Only a slot that occurs so often may be in so many texts.
        often = [count >= least for count in times]
        if not all(each.any() for each in often):
            return
        found: tuple[list[Ints], ...] = ([], [])
        for _, slots, of in _chunks(checksums, starts):
            for many, some, pairs in zip(often, slots, found, strict=True):
                here = many[some >> (SLOT_BITS - _FEWER_BITS)]
                pairs.append(np.unique(some[here] << 32 | of[here]))
        for common, pairs in zip(self._common, found, strict=True):
            # A text is in one chunk only.
            slots, texts = np.unique(np.concatenate(pairs) >> 32, return_counts=True)
            common[slots[texts >= least]] = True

    def __getstate__(self) -> dict[str, Any]:
        return {"slots": [np.flatnonzero(each).astype(np.int32) for each in self._common]}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self._common = tuple(np.zeros(1 << SLOT_BITS, np.bool_) for _ in state["slots"])
        for common, slots in zip(self._common, state["slots"], strict=True):
            common[slots] = True

    def cuts(self, checksums: Ints, starts: Ints) -> dict[int, bytes]:
        """Return what differs whenever `without` removes other words of a text, by the texts that have such blocks."""
        found = dict[int, bytes]()
        if not all(common.any() for common in self._common):
            return found
        for places, (first, second), of in _chunks(checksums, starts):
            here = np.flatnonzero(self._common[0][first] & self._common[1][second])
            texts, at = np.unique(of[here], return_index=True)
            for text, begins in zip(texts.tolist(), np.split(places[here], at)[1:], strict=True):
                own = (begins - starts[text]).astype("<i8")
                found[text] = blake2b(own.tobytes(), digest_size=8).digest()
        return found

    def without(self, text: str) -> str:
        """Return the text without those blocks; a text that has nothing else stays as it is."""
        words = text.split()
        first, second = block_slots(checksums(words) * _MIX)
        begins = self._common[0][first] & self._common[1][second]
        if not begins.any():
            return text
        covered = np.convolve(begins, np.ones(BLOCK)) > 0.5
        return " ".join(word for word, gone in zip(words, covered, strict=True) if not gone) or text


def checksums(words: Sequence[str]) -> NDArray[np.uint32]:
    """Return (n,) the checksums of words that white space separates."""
    # Python's own hash of a word is another one in each process.
    encoded = " ".join(words).encode("utf-8", "surrogatepass").split()
    return np.fromiter(map(zlib.crc32, encoded), np.uint32, len(encoded))


def _chunks(checksums: Ints, starts: Ints) -> Iterator[tuple[Ints, tuple[Ints, Ints], Ints]]:
    first, n = 0, len(starts) - 1
    while first < n:
        last = max(first + 1, int(np.searchsorted(starts, starts[first] + _AT_A_TIME, "right")) - 1)
        start, end = int(starts[first]), int(starts[last])
        slots = block_slots(checksums[start:end].astype(np.uint64) * _MIX)
        # A block ends in the text in which it begins.
        inside = np.ones(end - start, np.bool_)
        for back in range(1, BLOCK):
            at = starts[first + 1 : last + 1] - start - back
            inside[at[at >= 0]] = False
        places = np.flatnonzero(inside)
        of = np.repeat(np.arange(first, last), np.diff(starts[first : last + 1]))[places]
        yield places + start, (slots[0][places], slots[1][places]), of
        first = last


def block_slots(hashes: NDArray[np.uint64]) -> tuple[Ints, Ints]:
    """Return two parts, of 22 bits, of the block's hash for each word of a text that begins a block."""
    blocks = np.zeros(max(0, len(hashes) - BLOCK + 1), np.uint64)
    for at in range(BLOCK):
        blocks = np.uint64(31) * blocks + hashes[at : at + len(blocks)]
    mask = np.uint64((1 << SLOT_BITS) - 1)
    return (blocks & mask).astype(np.int64), (blocks >> np.uint64(64 - SLOT_BITS)).astype(np.int64)
