"""All features of pairs of pages for a learned ranker: of texts, places and links; unknown values are NaN."""

from collections.abc import Sequence
from copy import copy

import numpy as np

from internal_linker.match.candidates import Matches
from internal_linker.match.site_index import Site
from internal_linker.match.tfidf import Fits
from internal_linker.match.word_index import WordIndex
from internal_linker.model.arrays import Bools, Ints, Pairs, Vectors, is_in
from internal_linker.rank.link_features import LinkGraph
from internal_linker.rank.pair_link_features import (
    LINK_FEATURES,
    TARGET_LINK_FEATURES,
    PairLinkFeatures,
    SimilarPagesLinks,
)
from internal_linker.rank.place_features import LIFT_FEATURES, PLACE_FEATURES, PagePositions, lifts
from internal_linker.rank.text_features import TEXT_FEATURES, TextFeatures

PAIR_FEATURES = (*TEXT_FEATURES, *PLACE_FEATURES, *LIFT_FEATURES, *LINK_FEATURES)
# Columns that are hidden where a target is treated as if it were new.
_OF_TARGET_LINKS = np.array([name in TARGET_LINK_FEATURES for name in PAIR_FEATURES])
# Pages that a source links to, of which the similarity to candidates is computed: evenly spread if there are more.
MOST_LINKED = 30


class PairFeatures:
    """Computes the features of any pairs of a site's pages."""

    def __init__(self, site: Site, words: WordIndex, graph: LinkGraph) -> None:
        n = words.bm25.shape[0]
        self._graph, self._n, self._pages = graph, n, n
        self._texts = TextFeatures(site, words)
        self._places = PagePositions([page.key for page in site.pages])
        self._lifts = lifts(self._places, graph)
        self._links = PairLinkFeatures(graph, n)

    def with_guests(
        self, site: Site, words: WordIndex, graph: LinkGraph, keys: Sequence[str], pages: Sequence[str]
    ) -> "PairFeatures":
        """Return the features of the same pages and of guests, given the keys of both; see the arguments above."""
        other, more = copy(self), len(keys)
        other._graph, other._n = graph, self._n + more
        other._texts = self._texts.with_guests(site, words)
        other._places = places = self._places.with_guests(keys, pages)
        sections, folders = self._lifts
        other._lifts = sections.with_guests(places.sections), folders.with_guests(places.folders)
        other._links = self._links.with_guests(graph, more)
        return other

    def with_graph(self, graph: LinkGraph) -> "PairFeatures":
        """Return the features of the same site with other known links."""
        other = copy(self)
        other._graph, other._lifts = graph, lifts(self._places, graph, self._pages)
        other._links = PairLinkFeatures(graph, self._n)
        return other

    def linked(self, texts: Ints) -> list[list[Ints]]:
        """Return the pages that each text links to, at most `MOST_LINKED`, each as a group for `Site.fits`."""
        lists = self._graph.targets(texts).lists(len(texts)) if len(texts) else []
        return [[*rows[:: max(1, -(-len(rows) // MOST_LINKED)), None]] for rows in lists]

    def compute_features(
        self, texts: Ints, matches: Matches, fits: Fits, named: Pairs, similar: SimilarPagesLinks
    ) -> Vectors:
        """Return (m, len(PAIR_FEATURES)) float32 features, NaN where unknown.

        Args:
            texts: (t,) rows of the sources.
            matches: the m candidates of all sources, sorted by source.
            fits: the result of `Site.fits` for the sources, their candidates and `linked`.
            named: the pages that each source's text names, see `named_pages`.
            similar: what the pages similar to the sources link to.
        """
        own, others = texts[matches.of], matches.rows
        is_named = is_in(matches.pairs.keys(self._n), named.keys(self._n))
        passages, linked = [each for each, _ in fits], [each for _, each in fits]
        found = {
            **self._texts.compute_features(texts, matches, passages, is_named),
            **self._places.compare_pages(own, others),
            **{
                name: lift.compute_lift(own, others)
                for name, lift in zip(LIFT_FEATURES, self._lifts, strict=True)
            },
            **self._links.compute_features(texts, matches, linked, similar),
        }
        return np.stack([found[name] for name in PAIR_FEATURES], axis=1).astype(np.float32)


def hidden(features: Vectors, where: Bools) -> Vectors:
    """Return (m, len(PAIR_FEATURES)) features without those of links to the target, for some pairs.

    A ranker that learns with these hidden at random doesn't expect new pages, to which no links are known, to stay
    without links.
    """
    kept = features.copy()
    kept[np.ix_(where, _OF_TARGET_LINKS)] = np.nan
    return kept
