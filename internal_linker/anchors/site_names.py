"""What the names of a site's pages stand for: whose they are, and how many pages have them."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from internal_linker.anchors.site_words import WORDS_AT_ONCE
from internal_linker.model.arrays import Bools, Ints
from internal_linker.rank.named_pages import FEW, MOSTLY
from internal_linker.text.phrases import Hashes, Phrases, is_among, joined, mixed

# Names of more stems are not counted.
_LONGEST = 5
# Cells of the Bloom filter for each name: of the sets that are no names, at most one in eight passes it.
_CELLS = 8


@dataclass(frozen=True, slots=True)
class Owners:
    """Which names belong to which page."""

    sets: Ints  # (k,) uint64, sorted: the sets of stems of the names
    pages: Ints  # (k,) the row of each name's page; -1: several pages have it
    whole: Bools  # (k,) whether it is a whole name, not a part of a title
    # (a power of two,) a Bloom filter by a set's lowest bits: whether it may be one of the names. Most of a text's
    # sets are none, and to search for each of them takes longer.
    passes: Bools

    @classmethod
    def from_names(
        cls,
        titles: Iterable[tuple[int, int]],
        parts: Iterable[tuple[int, int]],
        anchors: Iterable[tuple[int, int]],
    ) -> "Owners":
        """Find the owners of names, given by their sets of stems with the row of their page or link's target.

        Parts of titles count where they are nobody's title.
        """
        owners = _owned(titles)
        of_parts = {name: page for name, page in _owned(parts).items() if name not in owners}
        links: dict[int, Counter[int]] = {}
        for name, page in anchors:
            links.setdefault(name, Counter())[page] += 1
        for name, pages in links.items():
            ((page, count),) = pages.most_common(1)
            if name not in owners and count >= max(FEW, MOSTLY * pages.total()):
                owners[name] = page
        pages_of = of_parts | owners
        sets = np.array(sorted(pages_of), np.uint64)
        of_sets = np.array([pages_of[name] for name in sets.tolist()], np.int64)
        whole = np.array([name in owners for name in sets.tolist()], np.bool_)
        passes = np.zeros(1 << (_CELLS * len(sets)).bit_length(), np.bool_)
        passes[_cells(sets, passes)] = True
        return cls(sets, of_sets, whole, passes)

    def foreign(self, sets: Ints, page: Ints, *, parts: bool = False) -> Bools:
        """Return (n,) whether each set of stems names a page other than the one (row) beside it, and not several."""
        pages = self.of_sets(sets, parts=parts)
        foreign: Bools = (pages >= 0) & (pages != page)
        return foreign

    def of_sets(self, sets: Ints, *, parts: bool = True) -> Ints:
        """Return (n,) the row of the page that each set of stems is the name of; -1: of none, or of several."""
        pages = np.full(len(sets), -1)
        some = np.flatnonzero(self.passes[_cells(sets, self.passes)])
        at, there = is_among(sets[some], self.sets)
        there &= self.whole[at] | parts
        pages[some[there]] = self.pages[at[there]]
        return pages


def _cells(sets: Ints, passes: Bools) -> Ints:
    return (sets & np.uint64(len(passes) - 1)).astype(np.int64)


def _owned(names: Iterable[tuple[int, int]]) -> dict[int, int]:
    owners: dict[int, int] = {}
    for name, page in names:
        owners[name] = page if owners.get(name, page) == page else -1
    return owners


@dataclass(frozen=True, slots=True)
class NameCounts:
    """How many pages have names in their titles and texts."""

    titles: Ints  # (k,) uint64, sorted: the sets of stems of two to five consecutive stems of titles
    titled: Ints  # (k,) how many pages have each in their title or H1
    known: Ints  # (m,) uint64, sorted: the sets of stems of the anchors of known links
    pages: Ints  # (m,) how many pages have each in their text

    @classmethod
    def from_texts(
        cls, titles: Iterable[Sequence[Hashes]], known: Iterable[int], contents: Iterable[Phrases]
    ) -> "NameCounts":
        """Count from the stems of the title and H1 of each page, the anchors of known links, and each page's text, read
        once.
        """
        of_titles = [
            np.unique(np.concatenate([np.empty(0, np.uint64), *(_runs(stems, 2) for stems in some)]))
            for some in titles
        ]
        sets, counts = np.unique(np.concatenate([np.empty(0, np.uint64), *of_titles]), return_counts=True)
        wanted = np.unique(np.fromiter(known, np.uint64))
        pages = np.zeros(len(wanted), np.int64)
        for phrases, text in joined(contents, WORDS_AT_ONCE) if len(wanted) else ():
            runs, places = _runs_of_texts(phrases.stems, text)
            at = np.minimum(np.searchsorted(wanted, runs), len(wanted) - 1)
            there = wanted[at] == runs
            # A page counts once for a set, even if it has the set several times.
            found = np.unique(text[places[there]] * len(wanted) + at[there])
            pages += np.bincount(found % len(wanted), minlength=len(wanted))
        return cls(sets, counts, wanted, pages)

    def titles_with(self, sets: Ints) -> Ints:
        """Return (n,) how many pages have each set of stems in their title or H1."""
        return _looked_up(self.titles, self.titled, sets)

    def pages_with(self, sets: Ints) -> Ints:
        """Return (n,) how many pages have each set of stems in their text; 0 if it is no known anchor."""
        return _looked_up(self.known, self.pages, sets)


def _runs(stems: Hashes, shortest: int) -> Ints:
    total = np.zeros(len(stems) + 1, np.uint64)
    np.cumsum(mixed(stems), out=total[1:])
    runs = [total[n:] - total[:-n] for n in range(shortest, min(_LONGEST, len(stems)) + 1)]
    return np.concatenate([np.empty(0, np.uint64), *runs])


def _runs_of_texts(stems: Hashes, texts: Ints) -> tuple[Ints, Ints]:
    """Return the sets of all runs of up to five consecutive stems of a text, and where each run begins."""
    total = np.zeros(len(stems) + 1, np.uint64)
    np.cumsum(mixed(stems), out=total[1:])
    runs, places = [np.empty(0, np.uint64)], [np.empty(0, np.int64)]
    for n in range(1, min(_LONGEST, len(stems)) + 1):
        begins = np.flatnonzero(texts[n - 1 :] == texts[: len(texts) - n + 1])
        runs.append(total[begins + n] - total[begins])
        places.append(begins)
    return np.concatenate(runs), np.concatenate(places)


def _looked_up(sets: Ints, counts: Ints, wanted: Ints) -> Ints:
    if not len(sets):
        return np.zeros(len(wanted), np.int64)
    at = np.minimum(np.searchsorted(sets, wanted), len(sets) - 1)
    found: Ints = np.where(sets[at] == wanted, counts[at], 0)
    return found
