"""Brands at the end of titles, such as " | Slow Kettle", and titles without them."""

import re
from collections import Counter
from collections.abc import Sequence

# One of these separates a brand, as in "Cold brew | Slow Kettle"; a dash without spaces is part of a word.
_LAST_PART = re.compile(r"(?:\s+[-–—·•:»]\s+|\s*[|｜]\s*)(?P<brand>[^\s|｜](?:(?!\s[-–—·•:»]\s)[^|｜])*)$")
# The share of titles from which a common end is a brand.
_MOST = 0.5
# Fewer titles may share an end by chance.
_FEW = 3
# "Cold brew | Blog | Slow Kettle" ends in two.
_DEEPEST = 3


def found_brands(titles: Sequence[str]) -> list[str]:
    """Return the parts behind `|`, `-`, `–`, `—`, `·` and the like in which most titles end, outermost first."""
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
    """Return the title without these parts at its end, outermost first; a title that is nothing else stays."""
    for brand in brands:
        found = _LAST_PART.search(title)
        if found and _folded(found["brand"]) == _folded(brand):
            title = title[: found.start()].rstrip() or title
    return title


def _folded(part: str) -> str:
    return " ".join(part.casefold().split())
