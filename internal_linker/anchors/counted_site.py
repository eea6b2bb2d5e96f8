"""A site's words and names, and its editors' habits: what is counted on all pages before anchors are found."""

import pickle
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, islice
from typing import Any, TypeVar

import numpy as np

from internal_linker.anchors.keyphraseness import Habits, Span
from internal_linker.anchors.link_places import link_places, words_in
from internal_linker.anchors.page_words import KeptWords, PageWords
from internal_linker.anchors.site_names import NameCounts, Owners
from internal_linker.anchors.site_words import SiteWords
from internal_linker.anchors.target_names import PARTS, TargetNames, target_names
from internal_linker.model.records import Collected, ExistingLink, Page
from internal_linker.text.blocks import Templates
from internal_linker.text.brands import found_brands, without_brands
from internal_linker.text.phrases import Hashes, Phrases, Reader
from internal_linker.text.words import normalise

T = TypeVar("T")
# On a site of any size, this many pages suffice to learn how rare words are and how editors link.
_SAMPLE = 5_000
# Targets whose names are kept ready, 75 MB; those of all others are kept packed, in a fifth of that. Each page is the
# target of some twenty others, and to read it again takes as long as to compare a text with it.
_MOST_TARGETS = 10_000
# What is counted on the pages.
_LASTING = (
    "words", "name_counts", "habits", "templates", "brands", "brand_stems", "site_name", "owners", "sole_owners",
)  # fmt: skip


class CountedSite:
    """A site's pages and links, and what is counted on them; can be pickled.

    Args:
        words: the words of texts that an earlier run read.
        page_queries: returns the queries by which people find each page, by its key.
    """

    def __init__(
        self,
        site: Collected,
        words: KeptWords | None = None,
        page_queries: Callable[[Collected], Mapping[str, Sequence[str]]] | None = None,
    ) -> None:
        self.collected, self._find_queries = site, page_queries
        self.links: Mapping[str, Sequence[ExistingLink]] = site.links_from
        self._known = site.anchored_to
        self.reader = Reader(normalise)
        self.page_words = PageWords(self.reader, words)
        self._targets: dict[str, TargetNames] = {}
        self._packed: dict[str, bytes] = {}
        self._resumed = False

    @property
    def counted(self) -> bool:
        """Whether something was counted on the pages."""
        return not self._resumed and any(name in vars(self) for name in _LASTING)

    def lasting(self) -> dict[str, Any]:
        """Return all that is counted on the pages, to be pickled: see `resume`."""
        return {name: getattr(self, name) for name in ("page_queries", *_LASTING)}

    def resume(self, counted: Mapping[str, Any]) -> None:
        """Take what was counted for the same pages before."""
        self._resumed = True
        vars(self).update(counted)

    def hosting(self, site: Collected, planned: str, links: Sequence[ExistingLink]) -> "CountedSite":
        """Return the site with a page that does not exist yet, by its key; what is counted stays that of its other
        pages.
        """
        other = object.__new__(CountedSite)
        other.__dict__ = {**self.__dict__, **self.lasting()}
        other.collected = site
        other.links = {**self.links, planned: links}
        # Another planned page may have the same key.
        other.page_words, other._targets, other._packed = PageWords(self.reader), {}, {}
        return other

    def with_habits_of(self, taught_by: Callable[[str], bool]) -> "CountedSite":
        """Return a copy that learns editors' habits only from pages whose keys `taught_by` accepts."""
        other = object.__new__(CountedSite)
        other.__dict__ = {**self.__dict__, "habits": self._learned(taught_by)}
        return other

    @cached_property
    def page_queries(self) -> Mapping[str, Sequence[str]]:
        """The queries by which people find each page, by its key."""
        return self._find_queries(self.collected) if self._find_queries else {}

    # These read many pages, so they wait until an anchor is needed: most runs need few.
    @cached_property
    def words(self) -> SiteWords:
        """The words of the site's pages."""
        return SiteWords.from_texts(self.read(page) for page in _spread(self.collected.pages, _SAMPLE))

    @cached_property
    def name_counts(self) -> dict[str, NameCounts]:
        """How many pages have each name, by language."""
        by_language = defaultdict[str, list[Page]](list)
        for page in _spread(self.collected.pages, _SAMPLE):
            by_language[page.lang].append(page)
        return {
            language: NameCounts.from_texts(
                ([self.reader.stems(name, language) for name in self.titles(page)] for page in pages),
                (name for name, _ in self._anchors(language)),
                (self.read(page) for page in pages),
            )
            for language, pages in by_language.items()
        }

    @cached_property
    def habits(self) -> Habits:
        """What the site's editors link."""
        return self._learned(lambda key: True)

    @cached_property
    def templates(self) -> Templates:
        """The sentences that many pages have."""
        return Templates(str(page.content) for page in self.collected.pages)

    @cached_property
    def brands(self) -> list[str]:
        """The brands in the pages' titles."""
        return found_brands([page.title for page in self.collected.pages])

    @cached_property
    def brand_stems(self) -> list[Hashes]:
        """The stems of each brand."""
        found = (np.unique(self.reader.read(brand, "").stems) for brand in self.brands)
        return [stems for stems in found if len(stems)]

    @cached_property
    def site_name(self) -> Hashes:
        """The sorted stems of the site's name, by its titles and its host."""
        hosts = Counter(page.key.partition("://")[2].partition("/")[0] for page in self.collected.pages)
        host = max(sorted(hosts), key=hosts.__getitem__, default="")
        label = max(host.removeprefix("www.").split(".")[:-1], key=len, default="")
        names = [self.reader.read(name, "") for name in (*self.brands, label, host)]
        return np.unique(np.concatenate([np.empty(0, np.uint32), *(name.stems for name in names)]))

    @cached_property
    def owners(self) -> dict[str, Owners]:
        """Which page each name belongs to, by language: pages of another one are no competitors."""
        return {
            language: Owners.from_names(
                ((self.reader.stem_set(name, language), row) for name, row in names),
                (
                    (self.reader.stem_set(part, language), row)
                    for part, row in chain(
                        ((part, row) for name, row in names for part in PARTS.split(name)),
                        self._asked(language),
                    )
                ),
                self._anchors(language),
            )
            for language, names in self._named.items()
        }

    @cached_property
    def sole_owners(self) -> Owners:
        """Which page each whole name belongs to, as the only one of the site."""
        languages = list(self._named)
        titles = (
            (self.reader.stem_set(name, each), row) for each in languages for name, row in self._named[each]
        )
        return Owners.from_names(titles, (), chain.from_iterable(map(self._anchors, languages)))

    @cached_property
    def _named(self) -> dict[str, list[tuple[str, int]]]:
        named = defaultdict[str, list[tuple[str, int]]](list)
        for row, page in enumerate(self.collected.pages):
            names = dict.fromkeys((*self.titles(page), self.collected.queries.get(page.key, "")))
            named[page.lang] += [(name, row) for name in names if name]
        return named

    def _asked(self, language: str) -> Iterator[tuple[str, int]]:
        for key, queries in self.page_queries.items():
            if self.collected.page(key).lang == language:
                yield from ((query, self.collected.rows[key]) for query in queries)

    def _anchors(self, language: str) -> Iterator[tuple[int, int]]:
        for target, links in self._known.items():
            page = self.collected.find(target)
            if page and page.lang == language:
                yield from (
                    (self.reader.stem_set(link.anchor, language), self.collected.rows[target])
                    for link in links
                )

    def titles(self, page: Page) -> tuple[str, str]:
        """Return a page's title and H1 without the site's brand."""
        return without_brands(page.title, self.brands), without_brands(page.h1, self.brands)

    def target(self, target: str) -> TargetNames:
        """Return what an anchor for a page can say, and keep it."""
        if target not in self._targets:
            if len(self._targets) >= _MOST_TARGETS:
                new = self._targets.keys() - self._packed.keys()
                self._packed |= {key: pickle.dumps(self._targets[key]) for key in new}
                self._targets.clear()
            packed = self._packed.get(target)
            self._targets[target] = pickle.loads(packed) if packed else self.names(target)
        return self._targets[target]

    def names(self, target: str, without: str = "") -> TargetNames:
        """Return what an anchor for a page can say; links from the source `without` do not count."""
        page = self.collected.find(target) or Page(target, target)
        title, h1 = self.titles(page)
        return target_names(
            page,
            self.read(page),
            title=title,
            h1=h1,
            query=self.collected.queries.get(target, ""),
            queries=self.page_queries.get(target, ()),
            known=Counter(link.anchor for link in self._known.get(target, ()) if link.source != without),
            reader=self.reader,
            words=self.words,
        )

    def known_anchors(self, page: str) -> list[str]:
        """Return the anchors of the known links to a page."""
        return [link.anchor for link in self._known.get(page, ())]

    def _learned(self, taught_by: Callable[[str], bool]) -> Habits:
        sources = [key for key in self.links if key in self.collected.rows and taught_by(key)]
        return Habits.from_texts(self._linked(self.collected.page(key)) for key in _spread(sources, _SAMPLE))

    def _linked(self, page: Page) -> tuple[Phrases, list[Span]]:
        content, phrases = str(page.content), self.read(page)
        places = dict.fromkeys(
            place for link in self.links[page.key] for place in link_places(content, link)[:1]
        )
        return phrases, [span for place in places if (span := words_in(phrases, *place))]

    def read(self, page: Page) -> Phrases:
        """Return the words of a page's content."""
        return self.page_words.read_page(page)


def _spread(items: Sequence[T], most: int) -> Iterator[T]:
    return islice(items, 0, None, max(1, -(-len(items) // most)))
