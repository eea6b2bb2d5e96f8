"""Brands at the end of titles, such as " | Slow Kettle", and titles without them."""

import re
from collections import Counter
from collections.abc import Sequence

# One of these separates a brand, as in "Cold brew | Slow Kettle"; a dash without spaces is part of a word.
_LAST_PART = re.compile(r"(?:\s+[-–—·•:»]\s+|\s*[|｜]\s*)(?P<brand>[^\s|｜](?:(?!\s[-–—·•:»]\s)[^|｜])*)$")
# The share of titles from which a common end is a brand. A site with several brands has some of a smaller share, but
# such an end may also be a topic, which other titles have in their middle.
_MOST, _MANY = 0.5, 0.15
# Fewer titles may share an end by chance.
_FEW, _FEW_OF_MANY = 3, 5
# "Cold brew | Blog | Slow Kettle" ends in two.
_DEEPEST = 3


def found_brands(titles: Sequence[str]) -> list[str]:
    """Return the parts behind `|`, `-`, `–`, `—`, `·` and the like in which many titles end, outermost first.

    A brand ends more than half of the titles, or 15% of them and stands in no other place of several titles.
    """
    brands: list[str] = []
    rest = [title for title in titles if title.strip()]
    for _ in range(_DEEPEST):
        parts = [found["brand"].strip() for title in rest if (found := _LAST_PART.search(title))]
        counts = Counter(map(_folded, parts))
        common = [
            folded
            for folded, count in counts.most_common()
            if (count >= _FEW and count > _MOST * len(rest))
            or (count >= _FEW_OF_MANY and count >= _MANY * len(rest) and not _is_topic(folded, rest))
        ]
        if not common:
            break
        brands += [next(part for part in parts if _folded(part) == folded) for folded in common]
        rest = [without_brands(title, brands[-len(common) :]) for title in rest]
    return brands


def _is_topic(folded: str, titles: Sequence[str]) -> bool:
    start = re.compile(rf"(?<!\w){re.escape(folded)}(?!\w)")
    bodies = (_folded(_LAST_PART.sub("", title)) for title in titles)
    return sum(start.search(body) is not None for body in bodies) > 1


def without_brands(title: str, brands: Sequence[str]) -> str:
    """Return the title without these parts at its end, outermost first; a title that is nothing else stays."""
    for brand in brands:
        found = _LAST_PART.search(title)
        if found and _folded(found["brand"]) == _folded(brand):
            title = title[: found.start()].rstrip() or title
    return title


def _folded(part: str) -> str:
    return " ".join(part.casefold().split())
