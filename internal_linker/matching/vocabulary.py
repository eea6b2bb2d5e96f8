"""The numbers of a site's words as two arrays, which need no loading where they are mapped into memory."""

from collections.abc import Iterable, Sequence
from hashlib import blake2b

import numpy as np

from internal_linker.core.arrays import Ints


class Vocabulary:
    """Finds the numbers of words by their 64-bit hashes; 12 bytes a word.

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


def _hash(word: str) -> int:
    return int.from_bytes(blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")
