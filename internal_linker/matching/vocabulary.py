"""The numbers of a site's words, and which pairs of numbers may be among many, as arrays."""

from collections.abc import Iterable, Sequence
from hashlib import blake2b

import numpy as np

from internal_linker.core.arrays import Bools, Ints


class Vocabulary:
    """Finds the numbers of words by their 64-bit hashes; 12 bytes a word, which need no loading where they are mapped.

    Args:
        words: distinct words, in the order of their numbers.
    """

    def __init__(self, words: Iterable[str]) -> None:
        hashes = np.fromiter(map(_hash, words), np.uint64)
        order = np.argsort(hashes)
        self._hashes, self._numbers = hashes[order], order.astype(np.int32)

    def __len__(self) -> int:
        return len(self._hashes)

    def numbers(self, words: Sequence[str]) -> Ints:
        """Return (len(words),) int64 numbers; unknown words get numbers from `len(self)`, equal for equal words."""
        if not len(words):
            return np.empty(0, np.int64)
        hashes = np.fromiter(map(_hash, words), np.uint64, len(words))
        found = np.unique(hashes, return_inverse=True)[1].reshape(-1) + len(self)
        if len(self):
            at = np.searchsorted(self._hashes, hashes).clip(max=len(self) - 1)
            found = np.where(self._hashes[at] == hashes, self._numbers[at], found)
        return found.astype(np.int64)


class PairSieve:
    """Says quickly which pairs of numbers may be among known ones: most others are recognised.

    Args:
        first, second: (n,) the known pairs, 0 or more.
    """

    _BITS = 22

    def __init__(self, first: Ints, second: Ints) -> None:
        self._known = np.zeros(1 << self._BITS, np.bool_)
        self._known[self._slots(first, second)] = True

    def __call__(self, first: Ints, second: Ints) -> Bools:
        """Return (m,) whether each pair may be known."""
        found: Bools = self._known[self._slots(first, second)]
        return found

    def _slots(self, first: Ints, second: Ints) -> Ints:
        mixed = first.astype(np.int64) * 0x9E3779B1 + second
        slots: Ints = (mixed ^ (mixed >> self._BITS)) & ((1 << self._BITS) - 1)
        return slots


def _hash(word: str) -> int:
    return int.from_bytes(blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")
