"""Phrases: the words of a text in any language with their positions and stems, and where phrases may break."""

import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from internal_linker.model.arrays import Bools, Ints
from internal_linker.text.segmentation import VOWEL_SIGNS, unspaced_boundaries
from internal_linker.text.stemming import stem
from internal_linker.text.stop_words import stop_words
from internal_linker.text.words import MARKS, UNSPACED

Hashes = NDArray[np.uint32]
# The number of words of an anchor.
MOST_WORDS = 8
# Signs that join the parts of one word: quality-checking, page's, docs.example.com, I/O, app_config.
_JOINERS = r"\-‐‑'’._/@&+:"
_PART = rf"(?:(?![{UNSPACED}])[\w{MARKS}])+"
_JOINED = rf"[$@#]?{_PART}(?:[{_JOINERS}]+{_PART})*"
# Words with their joined parts, and names as in code: <Name>, `name`, name(), $name. In scripts without spaces, a run
# of letters with their signs, which `segmentation` divides into words.
_NAME = rf"{_JOINED}(?:\(\))?|<{_JOINED}>|`{_JOINED}`|\(\){_JOINED}"
_WORD = re.compile(rf"({_NAME}|(?:(?=[{UNSPACED}])\w[{VOWEL_SIGNS}]*)+)")
# The same for a text without such scripts, in half the time.
_SPACED_WORD = re.compile(f"({_NAME})".replace(f"(?![{UNSPACED}])", ""))
_IS_PART = re.compile(rf"[^{_JOINERS}\u200c<>`()$#]+")
_BLANKS = re.compile(r"[^\S\n\r\x1c-\x1e\x85\u2028\u2029]*")
_IS_UNSPACED = re.compile(rf"[{UNSPACED}]")
# The parts of such a word: a run of katakana, or a letter with its signs, so that words that are divided in one place
# but not in another share their stems.
_LETTERS = re.compile(rf"[\u30a1-\u30fa\u30fc]+|\w[{VOWEL_SIGNS}]*")
# Usually endings and particles.
_HIRAGANA = re.compile("[\u3040-\u309f]")
# Cached words per language, and cached names: the numbers and typos of a million pages would fill the memory.
_MOST_KNOWN = 300_000
_MIX = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class Phrases:
    """The words of a text: n words and m stems; a word with several parts has several stems."""

    # starts, ends: (n,) positions in the text
    starts: Ints
    ends: Ints
    segments: Ints  # (n,) the piece of text without punctuation or line break that each word is in, ascending
    words: Hashes  # (n,) hashes of the lower-case words
    stems: Hashes  # (m,) hashes of the stems; function words and single letters have none
    owners: Ints  # (m,) the word of each stem, ascending

    @cached_property
    def pairs(self) -> Hashes:
        """(m - 1,) hashes of each two consecutive stems."""
        mixed = (self.stems[:-1] * _MIX + self.stems[1:]) * _MIX
        return (mixed >> np.uint64(32)).astype(np.uint32)

    @cached_property
    def stops(self) -> Bools:
        """(n,) whether a word has no stem: no anchor begins or ends with it."""
        stops: Bools = np.bincount(self.owners, minlength=len(self.starts)) == 0
        return stops


def joined(texts: Iterable[Phrases], words: int) -> Iterator[tuple[Phrases, Ints]]:
    """Yield the words of many texts in portions of about so many words, each as if it were one text.

    With each portion comes (m,) the number of the text of each stem; none of its pieces has words of two texts.
    """
    portion, count = list[Phrases](), 0
    for text in texts:
        portion.append(text)
        count += len(text.starts)
        if count >= words:
            yield _joined(portion)
            portion, count = [], 0
    if portion:
        yield _joined(portion)


def _joined(texts: Sequence[Phrases]) -> tuple[Phrases, Ints]:
    sizes = np.array([len(text.starts) for text in texts])
    first = np.cumsum(sizes) - sizes
    stems = np.array([len(text.stems) for text in texts])
    pieces = np.cumsum([0, *(1 + int(text.segments[-1]) if len(text.segments) else 0 for text in texts)])

    def column(name: str) -> Any:
        return np.concatenate([getattr(text, name) for text in texts])

    phrases = Phrases(
        column("starts"),
        column("ends"),
        column("segments") + np.repeat(pieces[:-1], sizes),
        column("words"),
        column("stems"),
        column("owners") + np.repeat(first, stems),
    )
    return phrases, np.repeat(np.arange(len(texts)), stems)


class Reader:
    """Finds the words of a site's texts; `fold` maps all spellings of a word to one, and must be picklable."""

    def __init__(self, fold: Callable[[str], str]) -> None:
        self._fold = fold
        self._known: dict[str, dict[str, tuple[int, ...]]] = {}
        self._sets: dict[tuple[str, str], int] = {}

    def __reduce__(self) -> tuple[type["Reader"], tuple[Callable[[str], str]]]:
        return Reader, (self._fold,)

    def read(self, text: str, language: str) -> Phrases:
        """Find the words of a text; its language is a two-letter code, "" where unknown."""
        known = self._known.setdefault(language, {})
        pattern = _SPACED_WORD if text.isascii() or not _IS_UNSPACED.search(text) else _WORD
        # The pieces alternate: between, word, between, word, ..., between.
        parts = pattern.split(text)
        if pattern is _WORD:
            parts = _divided(parts, unspaced_boundaries(text, language))
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

    def stems(self, name: str, language: str) -> Hashes:
        """Return the stems that `read` finds in a short text, in half of its time."""
        if _IS_UNSPACED.search(name):
            return self.read(name, language).stems
        known = self._known.setdefault(language, {})
        found = (
            known.get(word) or self._learn(known, word, language) for word in _SPACED_WORD.split(name)[1::2]
        )
        return np.array([one for hashes in found for one in hashes[1:]], np.uint32)

    def stem_set(self, name: str, language: str) -> int:
        """Return the `stem_set` of a short text, such as an anchor, that may come many times."""
        if (known := self._sets.get((name, language))) is not None:
            return known
        if len(self._sets) >= _MOST_KNOWN:
            self._sets.clear()
        found = self._sets[name, language] = stem_set(self.stems(name, language))
        return found

    def _learn(self, known: dict[str, tuple[int, ...]], word: str, language: str) -> tuple[int, ...]:
        """Return the hash of a word, then the hashes of its stems."""
        if len(known) >= _MOST_KNOWN:
            known.clear()
        stops = stop_words(language)
        lower = word.lower()
        if _IS_UNSPACED.match(lower):
            parts = _LETTERS.findall(lower)
            parts = [] if lower in stops or all(part in stops for part in parts) else parts
        else:
            parts = [] if lower in stops else [part for part in _IS_PART.findall(lower) if part not in stops]
        folded = [self._fold(part) for part in parts]
        stems = [stem(part, language) for part in folded if _tells(part)]
        known[word] = (word_hash(lower), *map(word_hash, stems))
        return known[word]


def _divided(parts: Sequence[str], divides: Bools) -> list[str]:
    """Divide the words in scripts without spaces; `parts` is what is between words, and words, in turn."""
    places, found, at = set(np.flatnonzero(divides).tolist()), list[str](), 0
    for number, part in enumerate(parts):
        if number % 2 and _IS_UNSPACED.match(part):
            cuts = [0, *(cut for cut in range(1, len(part)) if at + cut in places), len(part)]
            for start, end in pairwise(cuts):
                found += (part[start:end], "")
            found.pop()
        else:
            found.append(part)
        at += len(part)
    return found


def breaks(phrases: Phrases) -> tuple[Bools, Bools]:
    """Return (n,) whether a piece of text, as in `segments`, begins with each word, and whether it ends with it."""
    begins, ends = np.ones((2, len(phrases.starts)), np.bool_)
    begins[1:] = ends[:-1] = np.diff(phrases.segments) > 0
    return begins, ends


def stem_set(stems: Hashes) -> int:
    """Return a 64-bit hash of some stems, whatever their order."""
    return int(mixed(stems).sum(dtype=np.uint64))


def mixed(stems: Hashes) -> NDArray[np.uint64]:
    """Return (m,) the summands of `stem_set`."""
    spread = stems.astype(np.uint64) * _MIX
    mixed: NDArray[np.uint64] = (spread ^ (spread >> np.uint64(29))) * _MIX
    return mixed


def word_pairs(words: Hashes) -> NDArray[np.uint64]:
    """Return (n - 1,) a number for each two consecutive words."""
    wide = words.astype(np.uint64)
    pairs: NDArray[np.uint64] = (wide[:-1] << np.uint64(32)) | wide[1:]
    return pairs


def is_among(some: Ints, all_sorted: Ints) -> tuple[Ints, Bools]:
    """Return where each value is, or would be, in a sorted array, and whether it is there."""
    if not len(all_sorted):
        return np.zeros(len(some), np.int64), np.zeros(len(some), np.bool_)
    places = np.minimum(all_sorted.searchsorted(some), len(all_sorted) - 1)
    return places, all_sorted[places] == some


def _tells(folded: str) -> bool:
    """Return whether a word says something alone: it has more than one letter and is no Japanese ending."""
    if _IS_UNSPACED.match(folded):
        return not _HIRAGANA.match(folded)
    return len(folded) > 1


def _goes_on(between: str, word: str) -> bool:
    """Return whether a phrase may continue: over spaces, and where a line is merely wrapped."""
    return word[0].islower() if between == "\n" else _BLANKS.fullmatch(between) is not None


def word_hash(text: str) -> int:
    """Return the hash of a lower-case word or a stem."""
    return zlib.crc32(text.encode("utf-8", "surrogatepass"))
