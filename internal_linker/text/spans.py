"""Where a phrase occurs in a text, and texts without given phrases."""

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from internal_linker.text.words import INSIDE, ONE_LETTER

# A shorter anchor that occurs only inside longer words is not the link's text: "C" in "CSS".
PART_LENGTH = 4
# Letters and signs that are typed for one another, such as an apostrophe that a word processor curls.
_TYPED = str.maketrans({**ONE_LETTER, **dict.fromkeys("’‘ʼ", "'"), **dict.fromkeys("‐‑–", "-")})


def without_anchors(text: str, anchors: Iterable[str]) -> str:
    """Replace every occurrence of the anchors by a space, so that no link can be read off the page's text.

    Positions are unknown, so an anchor that is a common word ("here") disappears everywhere. Whole words and phrases
    in the same case come first; without any, parts of longer words (a prefix may be attached to a link); then other
    cases. Any run of white space equals any other.
    """
    folded = text.casefold()
    phrases = {" ".join(anchor.split()) for anchor in anchors} - {""}
    # Most anchors of menus and footers aren't in the content: don't compile patterns for them.
    phrases = {each for each in phrases if all(word in folded for word in each.casefold().split())}
    pieces, at = [], 0
    for start, end in sorted(span for phrase in phrases for span in spans(text, phrase)):
        if start >= at:
            pieces.append(text[at:start])
        at = max(at, end)
    return " ".join([*pieces, text[at:]])


def spans(text: str, phrase: str) -> list[tuple[int, int]]:
    """Return (start, end) of each occurrence of a phrase, its words separated by spaces, as `without_anchors` does."""
    exact = _found(text, phrase)
    if whole := [span for span in exact if _is_whole(text, span)]:
        return whole
    if exact and len(phrase) >= PART_LENGTH:
        return exact
    return [span for span in _found(text, phrase, re.IGNORECASE) if _is_whole(text, span)]


def occurrences(text: str, phrase: str) -> list[tuple[int, int]]:
    """Return (start, end) of each occurrence of a phrase as whole words, however it is typed: in any case, white space,
    apostrophes and hyphens, and with the Arabic and Persian letters of other keyboards.
    """
    typed, phrase = _as_typed(text), unicodedata.normalize("NFC", phrase).translate(_TYPED)
    # Compiling a pattern takes longer than most searches.
    folded = typed.casefold()
    if not all(word in folded for word in phrase.casefold().split()):
        return []
    return [span for span in _found(typed, phrase, re.IGNORECASE) if _is_whole(text, span)]


def says(text: str, phrase: str) -> bool:
    """Return whether a text is a phrase, however it is typed: see `occurrences`."""
    return (0, len(text)) in occurrences(text, phrase)


@lru_cache(maxsize=1)  # the rules of the house look for many phrases in one text
def _as_typed(text: str) -> str:
    return text if text.isascii() else text.translate(_TYPED)


def place(text: str, phrase: str, start: int = -1) -> tuple[int, int] | None:
    """Return (start, end) of one occurrence of a phrase in the same case, else None; much faster than `spans`.

    Args:
        start: where it stands, or a little behind, as white space before the text may have been cut; -1 where that is
            unknown, for the first occurrence as whole words.
    """
    at = text.rfind(phrase, 0, start + len(phrase)) if start >= 0 else -1
    if at < 0:
        at = text.find(phrase)
        while at >= 0 and not _is_whole(text, (at, at + len(phrase))):
            at = text.find(phrase, at + 1)
    return (at, at + len(phrase)) if phrase and at >= 0 else None


def _found(text: str, phrase: str, flags: int = 0) -> list[tuple[int, int]]:
    pattern = r"\s+".join(map(re.escape, phrase.split()))
    return [match.span() for match in re.finditer(pattern, text, flags)]


def _is_whole(text: str, span: tuple[int, int]) -> bool:
    return not any(INSIDE.match(text, at) for at in span)
