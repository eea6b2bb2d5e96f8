"""Which pages the texts of a site name: by their titles, their main queries, or the anchors of known links."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from internal_linker.match.page_names import Name, PageNames, Stems
from internal_linker.model.arrays import Ints, Pairs, pairs_of
from internal_linker.model.records import Collected, ExistingLink, Page
from internal_linker.text.brands import found_brands, without_brands
from internal_linker.text.words import words

# The least share of links with one anchor that lead to one page for which the anchor is that page's name. One link
# proves nothing.
MOSTLY, FEW = 0.6, 2
_NOBODY, _SEVERAL = -1, -2


class NamedPages:
    """Finds the pages that texts name; `read` each text, pages first, before asking."""

    def __init__(self, collected: Collected, stems: Stems) -> None:
        self._site, self._stems = collected, stems
        self._anchors: dict[tuple[str, str], Name] = {}
        titles = self._all_titles()
        self._names: PageNames | None = self._all_names(titles)
        self._texts = 0
        self._titled = np.full(len(self._names), _NOBODY)
        for row, ours in enumerate(titles):
            for number in map(self._names.number, ours):
                if number is None:
                    continue
                self._titled[number] = row if self._titled[number] in (_NOBODY, row) else _SEVERAL
        # The numbers of the names in each text, one text after the other, and where each text's begin.
        self._found: tuple[Ints, Ints] | None = None
        self._common: Ints = np.empty(0, np.int64)

    def __getstate__(self) -> dict[str, Any]:
        """Return what was found in the texts; the names, which take longer to load than to read again, are left out."""
        found = self._found_names
        return {**vars(self), "_found": found, "_names": None, "_anchors": {}, "_stems": Stems()}

    @property
    def _known_names(self) -> PageNames:
        if self._names is None:
            self._names = self._all_names(self._all_titles())
        return self._names

    def _all_titles(self) -> list[set[Name]]:
        pages, queries = self._site.pages, self._site.queries
        brands = found_brands([page.title for page in pages])
        return [{*self._titles(page, queries.get(page.key, ""), brands)} for page in pages]

    def _all_names(self, titles: Iterable[Collection[Name]]) -> PageNames:
        # Sorted, since a set of texts has another order in each process.
        names = (name for ours in titles for name in sorted(ours))
        return PageNames((*names, *map(self._anchor, self._site.links)))

    @property
    def _found_names(self) -> tuple[Ints, Ints]:
        if self._found is None:
            pairs, self._common = self._known_names.found()
            starts = np.searchsorted(pairs.of, np.arange(self._texts + 1))
            self._found = pairs.rows, starts
        return self._found

    def read(self, stems: Ints, starts: Ints, known: Sequence[str]) -> None:
        """Read the stems of the next texts' contents; see `PageNames.read`."""
        self._known_names.read(stems, starts, known)
        self._texts += len(starts) - 1

    def with_guests(self, texts: Sequence[Name]) -> "NamedPages":
        """Return what finds the names in further texts, too, given the stems of their contents."""
        (numbers, starts), other = self._found_names, object.__new__(NamedPages)
        vars(other).update(vars(self))
        # The names themselves may have to be read again.
        each = [self._known_names.in_text(text) if text else [] for text in texts]
        found = [np.setdiff1d(np.array(some, np.int64), self._common) for some in each]
        more = np.concatenate([np.empty(0, np.int64), *found])
        ends = len(numbers) + np.cumsum([len(some) for some in found], dtype=np.int64)
        other._found = np.concatenate([numbers, more]), np.append(starts, ends)
        return other

    def owners(self, links: Iterable[ExistingLink]) -> Ints:
        """Return (k,) the row of the page that each name means, by the titles and these links; below 0: none."""
        owners, times = self._titled.copy(), defaultdict[int, Counter[int]](Counter)
        names, rows_of = self._known_names, self._site.rows
        for link in links:
            number = names.number(self._anchor(link))
            if number is not None and owners[number] == _NOBODY and link.target in rows_of:
                times[number][rows_of[link.target]] += 1
        for number, rows in times.items():
            ((row, count),) = rows.most_common(1)
            if count >= max(FEW, MOSTLY * rows.total()):
                owners[number] = row
        return owners

    def find_pages(self, texts: Ints, owners: Ints) -> Pairs:
        """Return the rows of the pages that each text names, ascending; `owners` has the page of each name."""
        numbers, starts = self._found_names
        found = (numbers[starts[row] : starts[row + 1]] for row in texts.tolist())
        pairs = pairs_of([np.unique(owners[each]) for each in found])
        return pairs.at((pairs.rows >= 0) & (pairs.rows != texts[pairs.of]))

    def _titles(self, page: Page, query: str, brands: Sequence[str]) -> Iterator[Name]:
        for name in (without_brands(page.title, brands), without_brands(page.h1, brands), query):
            if stems := self._stems.stem_words(words(name), page.lang):
                yield stems

    def _anchor(self, link: ExistingLink) -> Name:
        page = self._site.find(link.source)
        if page is None:
            return ()
        written = link.anchor, page.lang
        if written not in self._anchors:
            self._anchors[written] = self._stems.stem_words(words(link.anchor), page.lang)
        return self._anchors[written]
