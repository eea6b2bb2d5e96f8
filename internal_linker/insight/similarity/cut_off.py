"""The similarities of a site, condensed so that any cut-off answers at once: pairs, off-topic pages, counts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from internal_linker.insight.similarity.pairs import (
    MATCH,
    PAGE,
    PAIR,
    SIMILARITY,
    PagePair,
    bar_of,
    pair_columns,
)
from internal_linker.model.arrays import Bools, Ints, Vectors
from internal_linker.model.canonical_hosts import CanonicalHosts
from internal_linker.model.errors import ConfigurationError, InputError
from internal_linker.model.results import Columns, Result, ResultTable, table_of
from internal_linker.model.sequences import Lazy
from internal_linker.model.urls import NormalForms, keys_meant

# Steps of the cut-off from 0 to 1: finer ones can't be told apart on a slider.
STEPS = 100
# Pairs that are less similar are in the histogram only: there are as many as pages squared, and nobody wants them.
LOWEST = 0.2
# Best matches of each page that are listed; more are counted only.
MOST_MATCHES = 20


@dataclass(frozen=True, slots=True)
class OffTopicPage:
    """A page without a match.

    Attributes:
        best: the similarity of its best match, `LOWEST` to 1; None: lower, or there is none.
        match: the URL of that match; "" without one.
    """

    url: str
    title: str
    best: float | None
    match: str


@dataclass(frozen=True, slots=True)
class CutOff:
    """What a cut-off means."""

    cut_off: float  # the lowest similarity of a pair, `LOWEST` to 1
    pairs: int  # how many pairs are similar enough
    # how many of them can be listed: those among the best matches of one of their pages; without the linked ones, if
    # only unlinked ones were asked for
    listed: int
    off_topic: int  # how many pages have no match
    shown: Sequence[PagePair]  # the listed pairs, the most similar first
    alone: Sequence[OffTopicPage]  # the pages without a match, the most isolated first


@dataclass(frozen=True, repr=False)
class SimilarityView(Result):
    """The similarities of n pages."""

    made: str  # when they were computed, as ISO 8601
    by: Sequence[str]  # the fields that the pages were compared by
    encoder: str  # the encoder that was asked for; "": the one in the settings
    urls: Sequence[str]  # n URLs
    titles: Sequence[str]  # n titles without brand
    first: Ints  # (p,) rows of the listed pairs, the most similar first
    second: Ints  # (p,) rows
    scores: Vectors  # (p,) float32 similarities
    links: Bools  # (p,) whether the first page links to the second
    linked: Bools  # (p,) whether the second page links to the first
    histogram: Ints  # (2, `STEPS`) counts of all pairs by similarity: within sections, and across
    left_out: Mapping[str, int]  # how many pages were not compared, by the reason

    def tables(self) -> dict[str, Columns]:
        """Return `pairs`: the listed pairs, best first."""
        return {"pairs": self._pairs(slice(None))}

    def _pairs(self, places: Ints | slice) -> Columns:
        ends = self.first[places], self.second[places]
        links = self.links[places], self.linked[places]
        return pair_columns(self.urls, self.titles, *ends, self.scores[places], *links)

    def at(self, cut_off: float, *, unlinked: bool = False) -> CutOff:
        """Return what a cut-off, `LOWEST` to 1 and rounded to a step, means.

        With `unlinked`, only pairs of which neither page links to the other are listed.

        Raises:
            ConfigurationError: it is out of range.
        """
        step, places, alone = self._reached(cut_off, unlinked=unlinked)
        return CutOff(
            step / STEPS,
            int(self.histogram[:, step:].sum()),
            len(places),
            len(alone),
            Lazy(len(places), lambda at: self._pair(int(places[at]))),
            Lazy(len(alone), lambda at: self._off_topic(int(alone[at]))),
        )

    def _reached(self, cut_off: float, *, unlinked: bool) -> tuple[int, Ints, Ints]:
        step = _step(cut_off)
        count = int(np.searchsorted(-self._bars, -step, side="right"))
        places = np.arange(count)
        if unlinked:
            places = places[~(self.links | self.linked)[:count]]
        order = self._isolated
        return step, places, order[: int(np.searchsorted(self._best_bars[order], step))]

    def matches(self, page: str, hosts: CanonicalHosts) -> list[PagePair]:
        """Return the pairs of a page, with it as the first of the two, the most similar first.

        The page is a URL, with or without https://, or a path.

        Raises:
            InputError: it is none of the compared pages.
        """
        forms = NormalForms(of=hosts.identity)
        rows = {forms[url]: row for row, url in enumerate(self.urls)}
        try:
            found = keys_meant(page, rows, lambda url: hosts.identity(hosts.key(url)))
        except ValueError as error:
            raise InputError(f"{page}: {error}.") from None
        if len(found) != 1 or found[0] not in rows:
            raise InputError(f"{page} is none of the pages that were compared: use a page's whole URL.")
        row = rows[found[0]]
        places = np.flatnonzero((self.first == row) | (self.second == row)).tolist()
        return [self._turned(self._pair(place), self.urls[row]) for place in places]

    @staticmethod
    def _turned(pair: PagePair, url: str) -> PagePair:
        if pair.page == url:
            return pair
        return PagePair(
            page=pair.match,
            title=pair.match_title,
            match=pair.page,
            match_title=pair.title,
            similarity=pair.similarity,
            links=pair.linked,
            linked=pair.links,
        )

    def result_tables(self, cut_off: float, *, unlinked: bool = False) -> list[ResultTable]:
        """Return the pairs and the off-topic pages of a cut-off.

        Raises:
            ConfigurationError: the cut-off is out of range.
        """
        _, places, alone = self._reached(cut_off, unlinked=unlinked)
        off_topic = [
            (one.url, one.title, one.match, one.best or None) for one in map(self._off_topic, alone.tolist())
        ]
        return [
            ResultTable("Pairs", PAIR, self._pairs(places)),
            table_of("Off-topic pages", (*PAGE, MATCH, SIMILARITY), off_topic),
        ]

    @cached_property
    def _bars(self) -> Ints:
        return bar_of(self.scores, STEPS)

    @cached_property
    def _best(self) -> Ints:
        best = np.full(len(self.urls), -1, np.int64)
        # The most similar pairs come last, and so overwrite the others.
        backwards = np.arange(len(self.first))[::-1]
        best[self.second[backwards]] = backwards
        firsts = np.full(len(self.urls), -1, np.int64)
        firsts[self.first[backwards]] = backwards
        both = np.where((firsts >= 0) & ((best < 0) | (firsts < best)), firsts, best)
        return np.asarray(both, np.int64)

    @cached_property
    def _best_bars(self) -> Ints:
        if not len(self.scores):
            return np.full(len(self.urls), -1, np.int64)
        return np.where(self._best >= 0, self._bars[self._best], -1)

    @cached_property
    def _isolated(self) -> Ints:
        return np.argsort(self._best_bars, kind="stable")

    def _pair(self, at: int) -> PagePair:
        page, match = int(self.first[at]), int(self.second[at])
        return PagePair(
            page=self.urls[page],
            title=self.titles[page],
            match=self.urls[match],
            match_title=self.titles[match],
            similarity=float(self.scores[at]),
            links=bool(self.links[at]),
            linked=bool(self.linked[at]),
        )

    def _off_topic(self, row: int) -> OffTopicPage:
        place = int(self._best[row])
        if place < 0:
            return OffTopicPage(self.urls[row], self.titles[row], None, "")
        other = self.second[place] if self.first[place] == row else self.first[place]
        return OffTopicPage(
            self.urls[row], self.titles[row], float(self.scores[place]), self.urls[int(other)]
        )


def _step(cut_off: float) -> int:
    if not LOWEST <= cut_off <= 1:
        raise ConfigurationError(f"The cut-off {cut_off:g} must be {LOWEST:g} to 1.")
    return round(cut_off * STEPS)
