"""A text in any language -> its words as a phrase may begin and end with them: places, stems and breaks."""

import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from internal_linker.core.arrays import Bools, Ints, Vectors
from internal_linker.text.stemming import stem
from internal_linker.text.stop_words import stop_words
from internal_linker.text.words import MARKS, UNSPACED

Hashes = NDArray[np.uint32]
# An anchor has so many words; a character of a script without spaces is a word, as word processors count.
LEAST_WORDS, MOST_WORDS = 2, 8
# Signs that join the parts of one word: quality-checking, page's, docs.example.com, I/O, app_config.
_JOINERS = r"\-‐‑'’._/@&+:"
_PART = rf"(?:(?![{UNSPACED}])[\w{MARKS}])+"
_JOINED = rf"[$@#]?{_PART}(?:[{_JOINERS}]+{_PART})*"
_VOWEL_SIGN = (
    "[\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece"
    "\u102b-\u103e\u1056-\u1059\u17b4-\u17d3]"
)
# Words with their joined parts, and names as code writes them: <Name>, `name`, name(), $name. Of scripts without
# spaces a run of katakana, or one character with its signs.
_NAME = rf"{_JOINED}(?:\(\))?|<{_JOINED}>|`{_JOINED}`|\(\){_JOINED}"
_WORD = re.compile(rf"({_NAME}|[\u30a1-\u30fa\u30fc]+|(?=[{UNSPACED}])\w{_VOWEL_SIGN}*)")
# The same for a text without such scripts, in half of the time.
_SPACED_WORD = re.compile(f"({_NAME})".replace(f"(?![{UNSPACED}])", ""))
_IS_PART = re.compile(rf"[^{_JOINERS}\u200c<>`()$#]+")
_BLANKS = re.compile(r"[^\S\n\r\x1c-\x1e\x85\u2028\u2029]*")
_IS_UNSPACED = re.compile(rf"[{UNSPACED}]")
# Endings and particles, as a rule.
_HIRAGANA = re.compile("[\u3040-\u309f]")
# Words of a language that are remembered: the numbers and typos of a million pages would fill the memory.
_MOST_KNOWN = 300_000
_MIX = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, slots=True)
class Phrases:
    """A text's words: n words, and m stems, several of a word that has parts.

    Attributes:
        starts, ends: (n,) their places in the text.
        segments: (n,) which piece without punctuation or a line's end each is in, rising.
        words: (n,) hashes of the words as they are written, in lower case.
        stems: (m,) hashes of the stems; function words and single letters have none.
        owners: (m,) which word each stem is of, rising.
    """

    starts: Ints
    ends: Ints
    segments: Ints
    words: Hashes
    stems: Hashes
    owners: Ints

    @property
    def pairs(self) -> Hashes:
        """(m - 1,) a hash of each two stems in a row."""
        mixed = (self.stems[:-1] * _MIX + self.stems[1:]) * _MIX
        return (mixed >> np.uint64(32)).astype(np.uint32)

    @property
    def stops(self) -> Bools:
        """(n,) which words no anchor begins or ends with."""
        stops: Bools = np.bincount(self.owners, minlength=len(self.starts)) == 0
        return stops


@dataclass(frozen=True, slots=True)
class Wanted:
    """What an anchor that leads to a page should say; its weights are those of one page among each other, up to 1.

    Attributes:
        stems: (k,) sorted hashes.
        named: (k,) float32, what each is worth in the page's names: its title, its query, texts of links to it.
        told: (k,) float32, what each is worth in its content.
        pairs: (l,) sorted hashes of two stems in a row.
        paired: (l,) float32, what each is worth on top of its stems.
        names: (n,) sorted hashes of the sets of stems that are a whole name.
    """

    stems: Hashes
    named: Vectors
    told: Vectors
    pairs: Hashes
    paired: Vectors
    names: Hashes

    def packed(self) -> bytes:
        """All of it in some 600 bytes, a quarter of what the arrays take."""
        arrays = (self.stems, self.named, self.told, self.pairs, self.paired, self.names)
        lengths = np.array([len(self.stems), len(self.pairs)], np.uint32)
        return lengths.tobytes() + b"".join(array.tobytes() for array in arrays)

    @classmethod
    def unpacked(cls, packed: bytes) -> "Wanted":
        """What `packed` gave."""
        numbers = np.frombuffer(packed, np.uint32)
        k, n = numbers[:2].tolist()
        stems, named, told, pairs, paired, names = np.split(numbers[2:], np.cumsum([k, k, k, n, n]))
        weights = [array.view(np.float32) for array in (named, told, paired)]
        return cls(stems, weights[0], weights[1], pairs, weights[2], names)


class Reader:
    """Reads the texts of a site.

    Args:
        fold: makes one writing of all writings of a word; a function of a module, so that this can be pickled.
    """

    def __init__(self, fold: Callable[[str], str]) -> None:
        self._fold = fold
        self._known: dict[str, dict[str, tuple[int, ...]]] = {}

    def __reduce__(self) -> tuple[type["Reader"], tuple[Callable[[str], str]]]:
        return Reader, (self._fold,)

    def read(self, text: str, language: str) -> Phrases:
        """The words of a text in a language: its two-letter code, "" where it isn't known."""
        known = self._known.setdefault(language, {})
        pattern = _SPACED_WORD if text.isascii() or not _IS_UNSPACED.search(text) else _WORD
        # Between, word, between, word, ..., between.
        parts = pattern.split(text)
        places = np.cumsum(np.fromiter(map(len, parts), np.int64, len(parts)))
        words = parts[1::2]
        found = [
            hashes or self._learn(known, word, language)
            for hashes, word in zip(map(known.get, words), words, strict=True)
        ]
        breaks = [
            not (between == " " or not between or _goes_on(between, word))
            for between, word in zip(parts[2::2], words[1:], strict=False)
        ]
        counts = np.fromiter(map(len, found), np.int64, len(found)) - 1
        hashes = np.array([*chain.from_iterable(found)], np.uint32)
        first = np.cumsum(counts + 1) - counts - 1
        is_stem = np.ones(len(hashes), np.bool_)
        is_stem[first] = False
        return Phrases(
            places[:-1:2],
            places[1::2],
            np.cumsum([False, *breaks])[: len(words)],
            hashes[first],
            hashes[is_stem],
            np.repeat(np.arange(len(found)), counts),
        )

    def _learn(self, known: dict[str, tuple[int, ...]], word: str, language: str) -> tuple[int, ...]:
        """The hash of a word, then those of its stems."""
        if len(known) >= _MOST_KNOWN:
            known.clear()
        stops = stop_words(language)
        lower = word.lower()
        parts = [] if lower in stops else [part for part in _IS_PART.findall(lower) if part not in stops]
        folded = [self._fold(part) for part in parts]
        stems = [stem(part, language) for part in folded if _tells(part)]
        known[word] = (_hash(lower), *map(_hash, stems))
        return known[word]


def set_hash(stems: Hashes) -> int:
    """A hash of a set of stems."""
    return zlib.crc32(np.unique(stems).tobytes())


def is_among(some: Hashes, all_sorted: Hashes) -> tuple[Ints, Bools]:
    """Where each of some values is, or would be, in a sorted array; and whether it is there."""
    if not len(all_sorted):
        return np.zeros(len(some), np.int64), np.zeros(len(some), np.bool_)
    places = np.minimum(np.searchsorted(all_sorted, some), len(all_sorted) - 1)
    return places, all_sorted[places] == some


def _tells(folded: str) -> bool:
    """A word says something alone: more than a letter, and no Japanese ending."""
    if _IS_UNSPACED.match(folded):
        return not _HIRAGANA.match(folded)
    return len(folded) > 1


def _goes_on(between: str, word: str) -> bool:
    """Whether a phrase may go on: at blanks, and where a line was broken for its width."""
    return word[0].islower() if between == "\n" else _BLANKS.fullmatch(between) is not None


def _hash(text: str) -> int:
    return zlib.crc32(text.encode("utf-8", "surrogatepass"))
