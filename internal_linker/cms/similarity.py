"""Similarity of a source file and a page: their titles, and fingerprints of their texts."""

import heapq
import re
from collections.abc import Iterator
from zlib import crc32

# Titles end with the site's name behind one of these.
_BRAND = re.compile(r"\s+[|\-–—·•»:]\s+")
_WORDS = re.compile(r"\w+")
# A text's fingerprint: the smallest hashes of its runs of words.
_RUN, _PRINTS = 4, 64
# A fingerprint covers this many characters from the beginning of a text.
MOST_CHARACTERS = 50_000


def titles(title: str) -> Iterator[str]:
    """Yield the forms of a page's title: whole, and without what is behind or before a separator."""
    parts = _BRAND.split(title)
    for form in dict.fromkeys((title, parts[0], *(parts[-1:] if len(parts) == 2 else ()))):
        if words := folded(form):
            yield words


def folded(text: str) -> str:
    """Return the words of a text in small letters."""
    return " ".join(_WORDS.findall(text.casefold()))


def prints_of(text: str) -> frozenset[int]:
    """Return a text's fingerprint: equal for equal texts, and sharing as much as they share runs of words."""
    words = _WORDS.findall(text[:MOST_CHARACTERS].casefold())
    runs = {" ".join(words[start : start + _RUN]) for start in range(max(len(words) - _RUN + 1, 0))}
    return frozenset(heapq.nsmallest(_PRINTS, {crc32(run.encode("utf-8", "replace")) for run in runs}))


def share_of(one: frozenset[int], other: frozenset[int]) -> float:
    """Estimate the share, 0 to 1, of equal runs of words in two texts."""
    smallest = heapq.nsmallest(_PRINTS, one | other)
    return (
        sum(1 for number in smallest if number in one and number in other) / len(smallest)
        if smallest
        else 0.0
    )
