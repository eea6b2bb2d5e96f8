"""A text as its readers see it: passages of visible characters, and anchors and sentences compared as they are seen."""

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

from internal_linker.text.segmentation import unspaced_boundaries
from internal_linker.text.spans import PART_LENGTH
from internal_linker.text.words import INSIDE, UNSPACED

Span = tuple[int, int]


class UnreadableText(Exception):
    """A text that can't be read as its format."""


class Piece(NamedTuple):
    """Visible characters that follow each other in the source."""

    text: str  # what readers see
    start: int  # where it begins in the source
    # Where it ends. If that is as far as the text is long, the source has the same characters; otherwise the
    # text stands for the whole of it, as `é` for `&eacute;`.
    end: int
    is_open: bool  # whether a link may stand here


class Mark(NamedTuple):
    """Markup without visible characters."""

    start: int  # where it begins in the source
    end: int
    nesting: int  # 1 opens, -1 closes, 0 stands alone


@dataclass(frozen=True)
class Content:
    """The pieces of a passage and the markup between them, in the order of the source."""

    pieces: Sequence[Piece] = ()
    marks: Sequence[Mark] = ()


@dataclass(frozen=True)
class Passage:
    """A paragraph, an item of a list, or a cell of a table."""

    look: str  # its characters as a first look has them: markup may be among them, words may be cut by it
    is_open: bool  # whether a link may stand in it at all
    read: Callable[[], Content]

    @cached_property
    def content(self) -> Content:
        """The pieces and the markup."""
        return self.read()

    @cached_property
    def visible(self) -> str:
        """What readers see."""
        return "".join(piece.text for piece in self.content.pieces)


class Document(Protocol):
    """A text that was read as its format."""

    @property
    def source(self) -> str:
        """The text as it was given."""

    @property
    def passages(self) -> Sequence[Passage]:
        """All passages in order, also those where no link may stand."""

    @property
    def hrefs(self) -> Sequence[str]:
        """Where the links of the text lead, as the text writes it."""

    @property
    def closed(self) -> Sequence[Span]:
        """Places in the source where no link may stand, whatever passage they are in; sorted, apart from each other."""

    def link(self, href: str) -> tuple[str, str]:
        """Return what is written before and after an anchor to make it a link."""

    def written(self, href: str) -> str:
        """Return an href as the text has it once it is written: with what can't be written escaped."""

    def is_only_linked(self, text: str, start: int, href: str) -> bool:
        """Return whether a new text is this one with one more link in body text, at `start` in it, and nothing else."""

    def plain(self, words: str) -> str:
        """Return words as they are written in body text."""

    def is_only_worded(self, text: str, start: int, words: str) -> bool:
        """Return whether a new text is this one with words added to its body text, at its `start`, and nothing else."""


def joined(spans: Sequence[Span]) -> list[Span]:
    """Return spans sorted, with those that touch made one."""
    found: list[Span] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


# Ranks of occurrences, the best first: in the sentence as whole words, as parts of words, in another case; elsewhere.
_WHOLE, _PART, LAST_IN_SENTENCE, _ELSEWHERE, _OTHER_CASE = range(5)
# Generators write typographic signs for plain ones; the others have no width: joiners, soft hyphens, directions.
_SIGNS = {
    **dict.fromkeys("’‘‛′", "'"),
    **dict.fromkeys("“”„‟″", '"'),
    "…": "...",
    **dict.fromkeys("\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff", ""),
    **dict.fromkeys("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069", ""),
}
_SIGN = re.compile(f"[{''.join(_SIGNS)}]")
_SPACES = re.compile(r"\s+")
_DASHES = re.compile("[-‐‑–—−]+")
_RUN = re.compile(r"\s\s|[-‐‑–—−]{2}")
# The signs that a letter before them may be one character with, Hangul's vowels and finals included.
_MARK = (
    r"\u0300-\u036f\u0653-\u0655\u093c\u09bc\u09be\u09d7\u0a3c\u0b3c\u0b3e\u0b56\u0b57\u0bbe\u0bd7\u0c56\u0cc2\u0cd5\u0cd6"
    r"\u0d3e\u0d57\u0dca\u0dcf\u0ddf\u102e\u1161-\u1175\u11a8-\u11c2\u3099\u309a"
)
_UNIT = re.compile(rf"\s+|[-‐‑–—−]+|[^\s][{_MARK}]*", re.DOTALL)
_UNSPACED = re.compile(f"[{UNSPACED}]")


@dataclass(frozen=True)
class Folded:
    """A text in the spelling in which texts are compared."""

    text: str  # m characters
    starts: Sequence[int]  # (m,) where what each stands for begins in the text itself
    ends: Sequence[int]  # (m,) where it ends


def folded(text: str) -> str:
    """Return a text in the spelling in which texts are compared, stripped."""
    if not text.isascii():
        text = _SIGN.sub(lambda sign: _SIGNS[sign[0]], unicodedata.normalize("NFC", text))
    return _SPACES.sub(" ", _DASHES.sub("-", text)).strip()


def folded_places(text: str) -> Folded:
    """Return a text in the spelling in which texts are compared, with the place of each character."""
    if _is_plain(text):
        return Folded(_DASHES.sub("-", _SPACES.sub(" ", text)), range(len(text)), range(1, len(text) + 1))
    found, starts, ends = list[str](), list[int](), list[int]()
    for unit in _UNIT.finditer(text):
        start, end = unit.span()
        if text[start].isspace():
            # A sign without a width may stand between two spaces.
            if found and found[-1] == " ":
                continue
            plain = " "
        elif _DASHES.match(unit[0]):
            plain = "-"
        elif unit[0].isascii():
            plain = unit[0]
        else:
            plain = "".join(_SIGNS.get(sign, sign) for sign in unicodedata.normalize("NFC", unit[0]))
        found.extend(plain)
        starts.extend([start] * len(plain))
        ends.extend([end] * len(plain))
    return Folded("".join(found), starts, ends)


def _is_plain(text: str) -> bool:
    return not _RUN.search(text) and (
        text.isascii() or (unicodedata.is_normalized("NFC", text) and not _SIGN.search(text))
    )


def occurrences(
    visible: str, text: Folded, anchor: str, sentences: Sequence[Span] = ()
) -> Iterator[tuple[int, Span]]:
    """Yield the occurrences of an anchor: the rank of each (0 is the best), and its span in the visible text.

    In `sentences`, spans of the folded text, also a part of a word may be the anchor.
    """
    exact = set(all_places(text.text, anchor))
    lower = text.text.lower()
    others = set(all_places(lower, anchor.lower())) if len(lower) == len(text.text) else set()
    for at in sorted(exact | others):
        end = at + len(anchor)
        span = text.starts[at], text.ends[end - 1]
        # Where one sign stands for several letters, they can't be parted.
        if (at and text.starts[at - 1] == span[0]) or (end < len(text.ends) and text.ends[end] == span[1]):
            continue
        is_whole = not any(INSIDE.match(visible, place) for place in span)
        is_within = any(first <= at and end <= last for first, last in sentences)
        if is_within and at in exact and (is_whole or len(anchor) >= PART_LENGTH):
            yield (_WHOLE if is_whole else _PART), span
        elif is_within and is_whole:
            yield LAST_IN_SENTENCE, span
        elif is_whole and _is_divided(visible, span):
            yield (_ELSEWHERE if at in exact else _OTHER_CASE), span


def _is_divided(visible: str, span: Span) -> bool:
    if not _UNSPACED.search(visible[max(0, span[0] - 1) : span[1] + 1]):
        return True
    return bool(unspaced_boundaries(visible, "")[list(span)].all())


def all_places(text: str, phrase: str) -> Iterator[int]:
    """Yield where a phrase stands in a text, also where it overlaps itself."""
    at = text.find(phrase)
    while at >= 0:
        yield at
        at = text.find(phrase, at + 1)
