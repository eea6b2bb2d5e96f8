"""A text -> where its sentences and paragraphs begin, in any language."""

import re

# A sentence ends in a mark with what closes it, and a blank; in Chinese and Japanese without one.
_END = re.compile(r"[.!?…؟۔।]+[\"'”’»)\]]*\s+|[。！？]+[」』”）]*|\s*\n\s*")
_LINE_END = re.compile(r"\s*\n\s*")
_INITIAL = re.compile(r"(?:^|[\s.(])\w\.\s+")


def sentences(text: str) -> list[int]:
    """Where each sentence begins, rising from 0: not after an initial, nor where the text goes on in lower case."""
    return _begins(text, _END)


def paragraphs(text: str) -> list[int]:
    """Where each paragraph begins, rising from 0: after a line's end, if the line wasn't broken for its width."""
    return _begins(text, _LINE_END)


def _begins(text: str, end: re.Pattern[str]) -> list[int]:
    return [0, *(at.end() for at in end.finditer(text) if at.end() < len(text) and _ends(text, at))]


def _ends(text: str, mark: re.Match[str]) -> bool:
    if "\n" in mark.group():
        return mark.group().count("\n") > 1 or not text[mark.end()].islower()
    return not text[mark.end()].islower() and not _INITIAL.fullmatch(
        text[max(0, mark.start() - 2) : mark.end()]
    )
