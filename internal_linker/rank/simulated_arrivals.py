"""Simulated arrivals: links of pages that are treated as new, to rank as if editors were about to add them.

Links that are hidden one by one are not what editors do next: most links that they add stand on new pages or lead to
them. So all links from and to a group of pages are hidden together, with a few of the others.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from internal_linker.model.records import ExistingLink
from internal_linker.rank.metrics import text_digest

# Each page is new in one of the groups. With a third of the pages, the kinds of the links to be found are about what
# editors add in one or two years: 64% stand on new pages (in fact 67%), 43% lead to them (48%), 14% join old pages
# (17%). Over twelve sites, thirds predict real arrivals about as well as fifths, which take longer, and halves do not.
GROUPS = 3
# Of the links from old pages to new ones, one in this many is to be found: editors would have to go back to pages that
# they had finished.
FROM_OLD = 2
# Of the links between old pages, one in this many is to be found.
BETWEEN_OLD = 6


@dataclass(frozen=True, slots=True)
class Arrivals:
    """A site as if a group of its pages were new."""

    new: frozenset[str]  # keys of the new pages
    # the links that may be known: none from or to a new page, but those from or to what is not a page
    known: tuple[ExistingLink, ...]
    # the (source, target) keys of the links to be found, each once, sorted. Some links are neither known nor to be
    # found.
    added: tuple[tuple[str, str], ...]


def simulated_arrivals(pages: Collection[str], links: Sequence[ExistingLink]) -> Iterator[Arrivals]:
    """Yield the arrivals of each group of pages that has links to be found, at most `GROUPS`, the same on every
    computer.
    """
    keys = frozenset(pages)
    parts = {key: _part(f"new {key}", GROUPS) for key in keys}
    for group in range(GROUPS):
        new = frozenset(key for key, part in parts.items() if part == group)
        known, added = list[ExistingLink](), set[tuple[str, str]]()
        for link in links:
            source, target = link.source, link.target
            if not keys.issuperset((source, target)) or source == target:
                known.append(link)
            elif source in new:
                added.add((source, target))
            elif target in new:
                if _part(f"{source}\n{target}", FROM_OLD) == 0:
                    added.add((source, target))
            elif _part(f"old {source}\n{target}", BETWEEN_OLD) == group:
                added.add((source, target))
            else:
                known.append(link)
        if added:
            yield Arrivals(new, tuple(known), tuple(sorted(added)))


def _part(text: str, parts: int) -> int:
    return int.from_bytes(text_digest(text)[:8]) % parts
