"""A second look at a page's raw text, independent of the search for anchors: links, titles and the ends of words."""

import re
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

import numpy as np

from internal_linker.model.arrays import Bools
from internal_linker.model.records import ExistingLink
from internal_linker.text.segmentation import boundaries
from internal_linker.text.spans import spans
from internal_linker.text.words import INSIDE, UNSPACED, normalise

Span = tuple[int, int]

_BULLET = re.compile(r"\s*(?:[-*+•·–]|\d{1,3}[.)])\s+")

_UNSPACED = re.compile(f"[{UNSPACED}]")
# Parts of one word: a-b, example.com, 92.5, 1,000, I/O, app_config. An apostrophe parts words in many languages.
# Between letters of scripts with other punctuation, such a sign is no joint, and a full stop lacks its space.
_JOINED = re.compile(
    rf"(?<![{UNSPACED}])(?<=\w)(?:[-‐‑/_@&+:]|(?<=[A-Za-z0-9])\.(?=[A-Za-z0-9])|(?<=\d),(?=\d))(?![{UNSPACED}])(?=\w)"
)
# Arabic prefixes are written onto Latin words; after a tatweel, a prefix stands apart.
_ARABIC = "\u0600-\u06ff"
_PREFIXED = re.compile(rf"(?<=[{_ARABIC}])(?=[A-Za-z])|(?<=[A-Za-z])(?=[{_ARABIC}])|(?<=\u0640)")
_UNIT_BEHIND = re.compile(r"\s?(?:[%‰°℃℉€£¥₽₹٪]|[.,٫]\d)|[+#]{1,2}(?!\w)")
_SIGN_BEFORE = re.compile(r"(?:[$€£¥₽₹#.@]|\d[.,٫])\Z")


def link_spans(content: str, link: ExistingLink) -> list[Span]:
    """Return the spans (start, end) in a plain main content that may be an existing link; its known place, if any."""
    if not link.anchor:
        return []
    if link.start >= 0 and content.startswith(link.anchor, link.start):
        return [(link.start, link.start + len(link.anchor))]
    if not all(word in content for word in link.anchor.split()):
        return []
    return spans(content, " ".join(link.anchor.split()))


def title_spans(content: str, titles: Collection[str]) -> Iterator[Span]:
    """Yield the spans of lines that are one of these folded titles: headings, or items of a list of links."""
    start = 0
    for line in content.split("\n"):
        if normalise(_BULLET.sub("", line, count=1)) in titles:
            yield start, start + len(line)
        start += len(line) + 1


def word_length(text: str, language: str) -> int:
    """Return the number of words as a person counts them, at least 1: a joined name such as "v-for" is one.

    Scripts without spaces are divided into words.
    """
    found = 0
    for part in text.split():
        if _UNSPACED.search(part):
            at = np.flatnonzero(boundaries(part, language)).tolist()
            found += sum(any(map(str.isalnum, part[start:end])) for start, end in pairwise(at))
        else:
            found += 1
    return max(1, found)


def cuts(content: str, start: int, end: int, language: str = "") -> bool:
    """Return whether a span begins or ends in a word, number or joined name, or between a number and its unit."""
    if _UNSPACED.search(content) and not _boundaries(content, language)[[start, end]].all():
        return True
    if any(INSIDE.match(content, at) and not _PREFIXED.match(content, at) for at in (start, end)):
        return True
    if any(
        joint.start() in (start - 1, end) for joint in _JOINED.finditer(content, max(0, start - 2), end + 2)
    ):
        return True
    number_first = content[start : start + 1].isdigit()
    number_last = content[end - 1 : end].isdigit()
    if number_first and _SIGN_BEFORE.search(content, max(0, start - 2), start):
        return True
    return bool(
        (number_last and _UNIT_BEHIND.match(content, end))
        or re.match(r"[+#]{1,2}(?![\w+#])", content[end : end + 3])
    )


# A page has several anchors.
@lru_cache(maxsize=2)
def _boundaries(content: str, language: str) -> Bools:
    return boundaries(content, language)


def unbalanced(text: str) -> bool:
    """Return whether a bracket or quotation mark of the text has no counterpart in it."""
    if text.count('"') % 2:
        return True
    return any(text.count(one) != text.count(other) for one, other in ("()", "[]", "{}", "“”", "«»", "「」"))


def overlaps(span: Span, others: Sequence[Span]) -> bool:
    """Return whether a span has a character in common with one of the others."""
    return any(span[0] < end and start < span[1] for start, end in others)
