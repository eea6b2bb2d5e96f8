"""The similarities of a site, condensed so that any cut-off answers at once: pairs, off-topic pages, counts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from internal_linker.insight.similarity.pairs import MATCH, PAGE, PAIR, bar_of, pair_columns
from internal_linker.model.arrays import Bools, Ints, Vectors
from internal_linker.model.canonical_hosts import CanonicalHosts
from internal_linker.model.errors import ConfigurationError, InputError
from internal_linker.model.results import Column, Columns, Result, ResultTable, to_named_rows
from internal_linker.model.urls import NormalForms, keys_meant

# Steps of the cut-off from 0 to 1: finer ones can't be told apart on a slider.
STEPS = 100
# Pairs that are less similar are in the histogram only: there are as many as pages squared, and nobody wants them.
LOWEST = 0.2
# Best matches of each page that are listed; more are counted only.
MOST_MATCHES = 20


# A page without a match, with the similarity of its best match, `LOWEST` to 1; None: lower, or there is none.
OFF_TOPIC = (
    Column("url", "Page", 55, "link"),
    PAGE[1],
    MATCH,
    Column("best", "Similarity", 12, "score", kind="number or null"),
)


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
        return {"pairs": self.pair_values(slice(None))}

    def pair_values(self, places: Ints | slice) -> Columns:
        """Return the values of `PAIR` of listed pairs by their places."""
        ends = self.first[places], self.second[places]
        links = self.links[places], self.linked[places]
        return pair_columns(self.urls, self.titles, *ends, self.scores[places], *links)

    def off_topic_values(self, rows: Ints) -> Columns:
        """Return the values of `OFF_TOPIC` of pages by their rows."""
        best = [self._best_match(row) for row in rows.tolist()]
        return {
            "url": [self.urls[row] for row in rows.tolist()],
            "title": [self.titles[row] for row in rows.tolist()],
            "best": [similarity for similarity, _ in best],
            "match": [match for _, match in best],
        }

    def similar_enough(self, cut_off: float) -> int:
        """Return how many pairs are at least as similar; more than are listed."""
        return int(self.histogram[:, step_of(cut_off) :].sum())

    def at(self, cut_off: float, *, unlinked: bool = False) -> tuple[Ints, Ints]:
        """Return the places of the pairs that are listed at a cut-off, and the rows of the pages without a match.

        Listed are those among the best matches of one of their pages, the most similar first. Pages without a match are
        the most isolated first.

        With `unlinked`, only pairs of which neither page links to the other are listed.

        Raises:
            ConfigurationError: it is out of range.
        """
        step = step_of(cut_off)
        count = int(np.searchsorted(-self._bars, -step, side="right"))
        places = np.arange(count)
        if unlinked:
            places = places[~(self.links | self.linked)[:count]]
        order = self._isolated
        return places, order[: int(np.searchsorted(self._best_bars[order], step))]

    def matches(self, page: str, hosts: CanonicalHosts) -> Sequence[Any]:
        """Return the pairs of a page, with it as the first of the two, the most similar first, as rows of `PAIR`.

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
        places = np.flatnonzero((self.first == row) | (self.second == row))
        is_first = self.first[places] == row
        links, linked = self.links[places], self.linked[places]
        pairs = pair_columns(
            self.urls,
            self.titles,
            np.full(len(places), row),
            np.where(is_first, self.second[places], self.first[places]),
            self.scores[places],
            np.where(is_first, links, linked),
            np.where(is_first, linked, links),
        )
        return to_named_rows(pairs)

    def result_tables(self, cut_off: float, *, unlinked: bool = False) -> list[ResultTable]:
        """Return the pairs and the off-topic pages of a cut-off.

        Raises:
            ConfigurationError: the cut-off is out of range.
        """
        places, alone = self.at(cut_off, unlinked=unlinked)
        return [
            ResultTable("Pairs", PAIR, self.pair_values(places)),
            ResultTable("Off-topic pages", OFF_TOPIC, self.off_topic_values(alone)),
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

    def _best_match(self, row: int) -> tuple[float | None, str]:
        """Return similarity and URL of a page's best match; None and "" without one."""
        place = int(self._best[row])
        if place < 0:
            return None, ""
        other = self.second[place] if self.first[place] == row else self.first[place]
        return float(self.scores[place]), self.urls[int(other)]


def step_of(cut_off: float) -> int:
    """Return the step of a cut-off, from 0 to 1, to which it is rounded.

    Raises:
        ConfigurationError: it is out of range.
    """
    if not LOWEST <= cut_off <= 1:
        raise ConfigurationError(f"The cut-off {cut_off:g} must be {LOWEST:g} to 1.")
    return round(cut_off * STEPS)
