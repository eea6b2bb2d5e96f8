"""Phrases that stand in a text: where they stand, and the text without them."""

import re
from collections.abc import Iterable

from internal_linker.text.words import INSIDE

# A shorter anchor that stands on the page as a part of words only is no link's text there: "C" in "CSS".
PART_LENGTH = 4


def without_anchors(text: str, anchors: Iterable[str]) -> str:
    """Put a space for every occurrence of the anchors, so that no link can be read off the page's text.

    No positions are known, so an anchor that is a common word ("here") goes wherever it stands. It must be
    a whole word or phrase in the same case; one that is nowhere so is cut out of longer words (a prefix may
    be written onto a link), else in any case. One run of white space equals another.
    """
    folded = text.casefold()
    phrases = {" ".join(anchor.split()) for anchor in anchors} - {""}
    # Most anchors of menus and footers aren't in the content: no pattern is compiled for them.
    phrases = {each for each in phrases if all(word in folded for word in each.casefold().split())}
    pieces, at = [], 0
    for start, end in sorted(span for phrase in phrases for span in spans(text, phrase)):
        if start >= at:
            pieces.append(text[at:start])
        at = max(at, end)
    return " ".join([*pieces, text[at:]])


def spans(text: str, phrase: str) -> list[tuple[int, int]]:
    """Where a phrase, its white space single blanks, stands in a text, as (start, end): see `without_anchors`."""
    exact = _found(text, phrase)
    if whole := [span for span in exact if _is_whole(text, span)]:
        return whole
    if exact and len(phrase) >= PART_LENGTH:
        return exact
    return [span for span in _found(text, phrase, re.IGNORECASE) if _is_whole(text, span)]


def _found(text: str, phrase: str, flags: int = 0) -> list[tuple[int, int]]:
    pattern = r"\s+".join(map(re.escape, phrase.split()))
    return [match.span() for match in re.finditer(pattern, text, flags)]


def _is_whole(text: str, span: tuple[int, int]) -> bool:
    return not any(INSIDE.match(text, at) for at in span)
