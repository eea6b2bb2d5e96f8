"""Titles of a site -> the brand that stands at their ends, and the titles without it."""

import re
from collections import Counter
from collections.abc import Sequence

# A brand is parted by one of these, as in "Cold brew | Slow Kettle"; a dash without spaces is part of a word.
_LAST_PART = re.compile(r"(?:\s+[-–—·•:»]\s+|\s*[|｜]\s*)(?P<brand>[^\s|｜](?:(?!\s[-–—·•:»]\s)[^|｜])*)$")
# Titles end in this part more often than not.
_MOST = 0.5
# Fewer titles may have the same end by chance.
_FEW = 3
# "Cold brew | Blog | Slow Kettle" ends in two.
_DEEPEST = 3


def found_brands(titles: Sequence[str]) -> list[str]:
    """The parts behind the last `|`, `-`, `–`, `—`, `·` and the like that most titles end in, outermost first."""
    brands: list[str] = []
    rest = [title for title in titles if title.strip()]
    for _ in range(_DEEPEST):
        parts = [found["brand"].strip() for title in rest if (found := _LAST_PART.search(title))]
        folded, count = next(iter(Counter(map(_folded, parts)).most_common(1)), ("", 0))
        if count < _FEW or count <= _MOST * len(rest):
            break
        brands.append(next(part for part in parts if _folded(part) == folded))
        rest = [without_brands(title, brands[-1:]) for title in rest]
    return brands


def without_brands(title: str, brands: Sequence[str]) -> str:
    """The title without these parts at its end, in their order; one that is nothing else stays as it is."""
    for brand in brands:
        found = _LAST_PART.search(title)
        if found and _folded(found["brand"]) == _folded(brand):
            title = title[: found.start()].rstrip() or title
    return title


def _folded(part: str) -> str:
    return " ".join(part.casefold().split())
