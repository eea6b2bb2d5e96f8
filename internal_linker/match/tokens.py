"""The words of a site's texts as numbers; a later run splits into words only the texts that it doesn't have."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import accumulate
from typing import Any

import numpy as np

from internal_linker.model.arrays import Bools, Ints
from internal_linker.model.records import Text
from internal_linker.text.boilerplate import Boilerplate, checksums
from internal_linker.text.words import words


class Vocabulary:
    """Finds the numbers of distinct words by their 64-bit hashes; 12 bytes a word, mapped without loading."""

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
    """Says quickly which pairs of numbers may be among (n,) known ones: most others are recognised."""

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


# Words to renumber at a time, so that temporary arrays stay small.
_AT_A_TIME = 1 << 20


@dataclass(frozen=True, slots=True)
class Tokens:
    """The words of n texts, 8 bytes a word; with `digests` and `cuts`, all that a later run needs of them."""

    vocabulary: Sequence[str]  # the distinct words, in the order in which they first occur
    # int32 the words of the first text's title, of its body without boilerplate, of the second's title,
    numbers: Ints
    starts: Ints  # (2n + 1,) int64 where each title and each body begins in `numbers`
    checksums: Ints  # uint32 those of all bodies' words, boilerplate included; see `Boilerplate`
    checksum_starts: Ints  # (n + 1,) int64 where those of each body begin
    digests: Sequence[bytes]  # the texts' digests
    # by the rows of the texts that have boilerplate, what was cut; see `Boilerplate.cuts`
    cuts: dict[int, bytes]

    def __len__(self) -> int:
        return len(self.digests)

    @property
    def titles(self) -> list[Ints]:
        """The numbers of each title's words."""
        return self._parts(0)

    @property
    def bodies(self) -> list[Ints]:
        """The numbers of each body's words, without boilerplate."""
        return self._parts(1)

    def _parts(self, first: int) -> list[Ints]:
        ends = self.starts.tolist()
        return [self.numbers[ends[at] : ends[at + 1]] for at in range(first, len(ends) - 1, 2)]


@dataclass(frozen=True, slots=True)
class Tokenized:
    """The texts of one run, tokenized."""

    tokens: Tokens  # their words
    boilerplate: Boilerplate  # the blocks that many of the texts have
    with_text: Bools  # (n,) which texts have a title or a body
    new: int  # count of the texts that were split into words


def tokenize(texts: Sequence[Text], known: Tokens | None = None) -> Tokenized:
    """Tokenize all texts of a site, with what an earlier run knew of them; the result has its own memory."""
    before = {digest: row for row, digest in enumerate(known.digests)} if known else {}
    digests, with_text, sums = list[bytes](), list[bool](), list[Ints]()
    for text in texts:
        digests.append(_digest(text))
        with_text.append(bool(text.whole))
        row = before.get(digests[-1])
        if known is None or row is None:
            sums.append(checksums(text.body.split()))
        else:
            sums.append(known.checksums[known.checksum_starts[row] : known.checksum_starts[row + 1]])
    every, starts = _joined(sums, np.uint32)
    del sums
    boilerplate = Boilerplate(every, starts)
    cuts = boilerplate.cuts(every, starts)
    rows = [
        row if known and row is not None and known.cuts.get(row) == cuts.get(at) else None
        for at, row in enumerate(map(before.get, digests))
    ]
    vocabulary, numbers, word_starts = _numbered(texts, boilerplate, known, rows)
    tokens = Tokens(vocabulary, numbers, word_starts, every, starts, digests, cuts)
    return Tokenized(tokens, boilerplate, np.array(with_text, np.bool_), rows.count(None))


def _numbered(
    texts: Sequence[Text], boilerplate: Boilerplate, known: Tokens | None, rows: Sequence[int | None]
) -> tuple[list[str], Ints, Ints]:
    numbers: defaultdict[str, int] = defaultdict()
    numbers.default_factory = numbers.__len__
    if known:
        numbers.update((word, number) for number, word in enumerate(known.vocabulary))
    known_starts = known.starts.tolist() if known else []
    parts, ends = list[Ints](), [0]
    for at, row in enumerate(rows):
        if known is None or row is None:
            text = texts[at]
            both = words(text.title), words(boilerplate.without(text.body) if text.body else "")
            parts += [np.array([numbers[word] for word in each], np.int32) for each in both]
            lengths = [*map(len, both)]
        else:
            first, middle, last = known_starts[2 * row : 2 * row + 3]
            parts.append(known.numbers[first:last])
            lengths = [middle - first, last - middle]
        ends += [*accumulate(lengths, initial=ends[-1])][1:]
    found = _joined(parts, np.int32)[0]
    order = renumber(found, len(numbers))
    names = [*numbers]
    return [names[number] for number in order.tolist()], found, np.array(ends, np.int64)


def renumber(numbers: Ints, count: int) -> Ints:
    """Replace numbers, (n,) int32 below `count`, by those in the order of their first occurrence; return the former
    ones in this order.
    """
    first, n = np.full(count, len(numbers)), len(numbers)
    for start in range((n - 1) // _AT_A_TIME * _AT_A_TIME, -1, -_AT_A_TIME):
        some = numbers[start : start + _AT_A_TIME]
        # A repeated number gets its last value, which is its first position.
        first[some[::-1]] = np.arange(start, start + len(some))[::-1]
    order = np.argsort(first)[: np.count_nonzero(first < n)]
    places = np.empty(count, np.int32)
    places[order] = np.arange(len(order))
    for start in range(0, n, _AT_A_TIME):
        numbers[start : start + _AT_A_TIME] = places[numbers[start : start + _AT_A_TIME]]
    return order


def _joined(parts: Sequence[Ints], kind: type[Any]) -> tuple[Ints, Ints]:
    starts = np.cumsum([0, *map(len, parts)], dtype=np.int64)
    return np.concatenate([np.empty(0, kind), *parts]), starts


def _digest(text: Text) -> bytes:
    whole = f"{len(text.title)}\n{text.title}{text.body}".encode("utf-8", "surrogatepass")
    return blake2b(whole, digest_size=16).digest()
