"""Where a page's existing links are in its text, and which of its words they cover."""

from collections.abc import Iterable, Iterator
from itertools import islice

import numpy as np

from internal_linker.anchors.keyphraseness import Span
from internal_linker.model.arrays import Bools
from internal_linker.model.records import ExistingLink
from internal_linker.text.phrases import Phrases
from internal_linker.text.spans import spans

# Characters to search for links on one page: for example, 300,000 characters for 1,000 links.
_MOST_SEARCHED = 300_000_000


def words_in(phrases: Phrases, start: int, end: int) -> Span | None:
    """Return the first and the last word in a part of a text, if it has any."""
    first = int(np.searchsorted(phrases.ends, start, side="right"))
    last = int(np.searchsorted(phrases.starts, end)) - 1
    return (first, last) if first <= last else None


def link_places(content: str, link: ExistingLink) -> list[tuple[int, int]]:
    """Return the spans (start, end) that may be a link: its known position, else each match of its anchor."""
    if not link.anchor:
        return []
    if link.start >= 0 and content.startswith(link.anchor, link.start):
        return [(link.start, link.start + len(link.anchor))]
    # Most links in menus and the like aren't in the content: skip compiling a pattern for them.
    if not all(word in content for word in link.anchor.split()):
        return []
    found = spans(content, link.anchor)
    return [place for place in found if place[0] == link.start] or found


def linked_places(content: str, links: Iterable[ExistingLink]) -> Iterator[tuple[int, int]]:
    """Yield the spans where a page's links may be in its text; in a huge text, only for its first links."""
    for link in islice(links, _MOST_SEARCHED // max(1, len(content))):
        yield from link_places(content, link)


def covered(phrases: Phrases, places: Iterable[tuple[int, int]]) -> Bools:
    """Return (n,) whether each word overlaps one of the spans."""
    ends = np.array([*places], np.int64).reshape(-1, 2)
    first = np.searchsorted(phrases.ends, ends[:, 0], side="right")
    last = np.maximum(np.searchsorted(phrases.starts, ends[:, 1]), first)
    n = len(phrases.starts)
    # How many more spans begin than end before or at each word.
    open_ = np.cumsum(np.bincount(first, minlength=n + 1) - np.bincount(last, minlength=n + 1))
    covered: Bools = open_[:n] > 0
    return covered
