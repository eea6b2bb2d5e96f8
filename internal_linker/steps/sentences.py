"""A text and a place in it -> the sentence and the paragraphs around, in any language."""

import re

# A sentence ends in a mark with what closes it, and a blank; Chinese and Japanese have none.
_END = re.compile(r"[.!?…؟۔।]+[\"'”’»)\]]*(?=\s)|[。！？]+[」』”）]*|\n\s*")
_INITIAL = re.compile(r"(?:^|[\s.(])\w\.")
# Looked at on each side: no sentence that anybody reads is longer.
_FARTHEST = 600


def sentence(text: str, start: int, end: int) -> str:
    """The sentence that text[start:end] stands in, as it is written."""
    low, high = max(0, start - _FARTHEST), min(len(text), end + _FARTHEST)
    first = max((at.end() for at in _END.finditer(text, low, start) if _ends(text, at)), default=low)
    last = next((at for at in _END.finditer(text, end, high) if _ends(text, at)), None)
    return text[first : last.end() if last else high].strip()


def paragraphs(text: str) -> list[int]:
    """Where each paragraph begins, rising from 0: after a line's end, if the line wasn't broken for its width."""
    return [0, *(at.end() for at in re.finditer(r"\n\s*", text) if _ends(text, at) and at.end() < len(text))]


def _ends(text: str, mark: re.Match[str]) -> bool:
    """Whether something ends at a mark: not at an initial, and not where the text goes on in lower case."""
    if mark.group().startswith("\n"):
        return mark.group().count("\n") > 1 or not text[mark.end() : mark.end() + 1].islower()
    after = text[mark.end() :][:2].lstrip()
    return not after[:1].islower() and not _INITIAL.fullmatch(text[max(0, mark.start() - 2) : mark.end()])
