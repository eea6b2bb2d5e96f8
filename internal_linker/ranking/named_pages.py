"""Which pages the texts of a site name: by their titles, their main queries, or the anchors of known links."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from internal_linker.core.arrays import Ints, Pairs, pairs_of
from internal_linker.core.records import Collected, ExistingLink, Page
from internal_linker.matching.page_names import Name, PageNames, Stems
from internal_linker.text.brands import found_brands, without_brands
from internal_linker.text.words import words

# The least share of links with one anchor that lead to one page for which the anchor is that page's name. One link
# proves nothing.
MOSTLY, FEW = 0.6, 2
_NOBODY, _SEVERAL = -1, -2


class NamedPages:
    """Finds the pages that texts name; `read` each text, pages first, before asking.

    Args:
        collected: the pages, their main queries and existing links.
        stems: finds the stems of words.
    """

    def __init__(self, collected: Collected, stems: Stems) -> None:
        pages, self._rows, self._stems = collected.pages, collected.rows, stems
        self._languages = [page.lang for page in pages]
        brands = found_brands([page.title for page in pages])
        titles = [{*self._titles(page, collected.queries.get(page.key, ""), brands)} for page in pages]
        self._anchors: dict[tuple[str, str], Name] = {}
        names = (*(name for ours in titles for name in ours), *map(self._anchor, collected.links))
        self._names, self._texts = PageNames(names), 0
        self._titled = np.full(len(self._names), _NOBODY)
        for row, ours in enumerate(titles):
            for number in map(self._names.number, ours):
                if number is None:
                    continue
                self._titled[number] = row if self._titled[number] in (_NOBODY, row) else _SEVERAL
        self._found: list[Ints] = []

    def read(self, text: Name) -> None:
        """Read the stems of the next text's content."""
        self._names.read(text)
        self._texts += 1

    def owners(self, links: Iterable[ExistingLink]) -> Ints:
        """Return (k,) the row of the page that each name means, by the titles and these links; below 0: none."""
        owners, times = self._titled.copy(), defaultdict[int, Counter[int]](Counter)
        for link in links:
            number = self._names.number(self._anchor(link))
            if number is not None and owners[number] == _NOBODY and link.target in self._rows:
                times[number][self._rows[link.target]] += 1
        for number, rows in times.items():
            ((row, count),) = rows.most_common(1)
            if count >= max(FEW, MOSTLY * rows.total()):
                owners[number] = row
        return owners

    def of(self, texts: Ints, owners: Ints) -> Pairs:
        """Return the rows of the pages that each text names, ascending; `owners` has the page of each name."""
        if not self._found:
            self._found = self._names.found().lists(self._texts)
        pairs = pairs_of([np.unique(owners[self._found[row]]) for row in texts.tolist()])
        return pairs.at((pairs.rows >= 0) & (pairs.rows != texts[pairs.of]))

    def _titles(self, page: Page, query: str, brands: Sequence[str]) -> Iterator[Name]:
        for name in (without_brands(page.title, brands), without_brands(page.h1, brands), query):
            if stems := self._stems.of(words(name), page.lang):
                yield stems

    def _anchor(self, link: ExistingLink) -> Name:
        """Return the stems of a link's anchor, in the language of its page; none for an unknown page."""
        row = self._rows.get(link.source, -1)
        if row < 0:
            return ()
        written = link.anchor, self._languages[row]
        if written not in self._anchors:
            self._anchors[written] = self._stems.of(words(link.anchor), self._languages[row])
        return self._anchors[written]
