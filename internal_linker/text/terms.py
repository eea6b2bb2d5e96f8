"""Terms: the words and phrases of a text that can name what it is about, in any language."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from internal_linker.text.phrases import Phrases, Reader
from internal_linker.text.stop_words import stop_words
from internal_linker.text.words import UNSPACED

# Terms of fewer than two characters say nothing, and neither do terms of fewer than three letters of an alphabet.
_LEAST_CHARACTERS, _LEAST_LETTERS = 2, 3
# Anything longer is not a term.
_LONGEST = 60
_IS_UNSPACED = re.compile(rf"[{UNSPACED}]")
_IS_LETTER = re.compile(r"[^\W\d_]")
_FIRST_EAST_ASIAN = "\u2e80"

Stems = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Term:
    """A term of a text."""

    stems: Stems  # hashes of the stems of its words without function words, in their order
    text: str  # its spelling in the text, with single spaces
    words: int  # how many words it has, without function words
    joined: bool  # whether there is a function word inside, as in "terms of service"
    spaced: bool  # whether its script has spaces between words


def terms(text: str, language: str, reader: Reader, most: int) -> Iterator[Term]:
    """Yield the terms of a text that don't cross punctuation, in their order; none begins or ends in a function word.

    A term has at most `most` words, function words included.
    """
    phrases = reader.read(text, language)
    words = [text[start:end] for start, end in zip(phrases.starts, phrases.ends, strict=True)]
    unspaced = [_IS_UNSPACED.match(word) is not None for word in words]
    listed, english = stop_words(language), stop_words("en")
    # Words in Latin letters on a Japanese or Arabic page are English.
    stops = [
        bool(stop) or (word.isascii() and word.lower() in english)
        for stop, word in zip(phrases.stops, words, strict=True)
    ]
    stems = _stems_of(phrases)
    for first in (at for at, stop in enumerate(stops) if not stop):
        inside = 0
        for last in range(first, min(len(words), first + most)):
            if last > first and not _goes_on(phrases, unspaced, last):
                break
            if stops[last]:
                # Hiragana endings occur in the middle of Japanese words; elsewhere, one run of function words joins
                # two parts, and a second one makes a sentence.
                inside += not unspaced[last] and not stops[last - 1]
                if inside > 1 or (unspaced[last] and words[last] in listed):
                    break
                continue
            written = " ".join(text[phrases.starts[first] : phrases.ends[last]].split())
            if _tells(written):
                own = [each for each in stems[first : last + 1] if each]
                yield Term(
                    tuple(stem for word in own for stem in word),
                    written,
                    len(own),
                    inside > 0,
                    not unspaced[first],
                )


def _goes_on(phrases: Phrases, unspaced: Sequence[bool], word: int) -> bool:
    """Return whether a term may continue with this word: in a script without spaces, if there is none between."""
    if unspaced[word] != unspaced[word - 1] or phrases.segments[word] != phrases.segments[word - 1]:
        return False
    return not unspaced[word] or bool(phrases.starts[word] == phrases.ends[word - 1])


def _tells(text: str) -> bool:
    if len(text) > _LONGEST:
        return False
    if not _IS_UNSPACED.match(text):
        return _IS_LETTER.search(text) is not None
    return len(text) >= (_LEAST_CHARACTERS if text >= _FIRST_EAST_ASIAN else _LEAST_LETTERS)


def _stems_of(phrases: Phrases) -> list[list[int]]:
    found: list[list[int]] = [[] for _ in range(len(phrases.starts))]
    for owner, stem in zip(phrases.owners.tolist(), phrases.stems.tolist(), strict=True):
        found[owner].append(stem)
    return found
