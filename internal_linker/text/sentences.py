"""Sentences and paragraphs of a text in any language, and the one around a position."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence

# A sentence ends with a mark, closing quotes or brackets, and a space; in Chinese and Japanese without the space.
# With one set of characters to begin with, the pattern is found much faster than with three alternatives.
_END = re.compile(
    r"[.!?…؟۔।。！？\n](?:(?<=\n)\s*|(?<=[。！？])[。！？]*[」』”）]*|(?<=[.!?…؟۔।])[.!?…؟۔।]*[\"'”’»)\]]*\s+)"
)
_LINE_END = re.compile(r"\n\s*")
# Characters kept on each side of an anchor, since some texts have no full stops; and those of a word.
_ROOM, _WORD = 280, 40
_INITIAL = re.compile(r"(?:^|[\s.(])\w\.\s+")


def sentences(text: str) -> list[int]:
    """Return where sentences begin, ascending from 0: not after an initial, and not before a lower-case letter."""
    return _begins(text, _END)


def paragraphs(text: str) -> list[int]:
    """Return where paragraphs begin, ascending from 0: after a line break that is not a mere wrap."""
    return _begins(text, _LINE_END)


def around(text: str, begins: Sequence[int], start: int, end: int) -> str:
    """Return the sentence or paragraph around a position, stripped; of a very long one, whole words around it.

    `begins` is where the text's sentences or paragraphs begin, ascending from 0.
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
