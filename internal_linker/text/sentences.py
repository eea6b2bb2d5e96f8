"""A text -> where its sentences and paragraphs begin, in any language, and the one around a place."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence

# A sentence ends in a mark with what closes it, and a blank; in Chinese and Japanese without one.
_END = re.compile(r"[.!?…؟۔।]+[\"'”’»)\]]*\s+|[。！？]+[」』”）]*|\s*\n\s*")
_LINE_END = re.compile(r"\s*\n\s*")
# Characters that are kept at each side of an anchor, for some texts have no full stops; those of a word.
_ROOM, _WORD = 280, 40
_INITIAL = re.compile(r"(?:^|[\s.(])\w\.\s+")


def sentences(text: str) -> list[int]:
    """Where each sentence begins, rising from 0: not after an initial, nor where the text goes on in lower case."""
    return _begins(text, _END)


def paragraphs(text: str) -> list[int]:
    """Where each paragraph begins, rising from 0: after a line's end, if the line wasn't broken for its width."""
    return _begins(text, _LINE_END)


def around(text: str, begins: Sequence[int], start: int, end: int) -> str:
    """What a text has between the beginnings around a place, without the blanks at its ends.

    Of very long ones some whole words around the place.
    """
    after = bisect_left(begins, end)
    first = begins[bisect_right(begins, start) - 1]
    last = begins[after] if after < len(begins) else len(text)
    if start - first > _ROOM:
        first = start - _ROOM
        first = max(first, text.find(" ", first, first + _WORD))
    if last - end > _ROOM:
        last = end + _ROOM
        blank = text.rfind(" ", last - _WORD, last)
        last = blank if blank >= 0 else last
    return text[first:last].strip()


def _begins(text: str, end: re.Pattern[str]) -> list[int]:
    return [0, *(at.end() for at in end.finditer(text) if at.end() < len(text) and _ends(text, at))]


def _ends(text: str, mark: re.Match[str]) -> bool:
    if "\n" in mark.group():
        return mark.group().count("\n") > 1 or not text[mark.end()].islower()
    return not text[mark.end()].islower() and not _INITIAL.fullmatch(
        text[max(0, mark.start() - 2) : mark.end()]
    )
