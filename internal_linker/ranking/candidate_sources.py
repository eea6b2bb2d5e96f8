"""Candidates besides a source's most similar pages: by search in both directions, titles, and shared links."""

from copy import copy

import numpy as np

from internal_linker.core.arrays import Bools, Ints, Pairs, both
from internal_linker.matching.inverted_index import Postings
from internal_linker.matching.word_index import WordIndex
from internal_linker.ranking.link_features import LinkGraph
from internal_linker.ranking.pair_link_features import SimilarPagesLinks

# Candidates of a source from each search: its telling words in other texts, their telling words and titles in its own.
IN_TARGETS, IN_SOURCE, TITLES = 30, 30, 25
# Candidates of a source from its links: pages that most similar pages link to, or the most similar page does; pages
# with which it shares links to or from.
VOTED, LINKED_NEARBY, COCITED, COUPLED = 30, 20, 20, 20
# To share a link to a page with more links than this says little, and would take long to count.
MOST_INLINKS = 200


class CandidateSources:
    """Finds candidates; 100 to 150 of a source together with its most similar pages and those that its text names.

    Args:
        words: all texts, stemmed.
        among: (n,) whether each text may be a candidate.
        languages: (n,) language codes, see `Postings`.
    """

    def __init__(self, words: WordIndex, among: Bools, languages: Ints) -> None:
        self._among = among
        self._searches: tuple[tuple[Postings, int], ...] = (
            (Postings(words.bm25, among, languages, words.queries), IN_TARGETS),
            (Postings(words.queries, among, languages, words.bm25), IN_SOURCE),
            (Postings(words.titles, among, languages, words.contents), TITLES),
        )

    def with_guests(self, words: WordIndex, languages: Ints) -> "CandidateSources":
        """Return what finds candidates of further texts, too; `words` and `languages` are those of all texts."""
        other, queries = copy(self), (words.queries, words.bm25, words.contents)
        other._searches = tuple(
            (postings.with_guests(each, languages), keep)
            for (postings, keep), each in zip(self._searches, queries, strict=True)
        )
        return other

    def by_words(self, texts: Ints) -> Pairs:
        """Return the candidates of each text (row) that the searches find, in any order and some repeatedly."""
        return both(*(_padded(postings.nearest(texts, keep)) for postings, keep in self._searches))

    def by_links(self, texts: Ints, graph: LinkGraph, similar: SimilarPagesLinks) -> Pairs:
        """Return the candidates of each text from links, in any order and some repeatedly, old links among them.

        Args:
            texts: (t,) rows of the texts.
            graph: the known links.
            similar: what the pages similar to the texts link to.
        """
        counted = (
            (similar.votes, VOTED),
            (similar.best, LINKED_NEARBY),
            (graph.cocited(texts), COCITED),
            (graph.coupled(texts, MOST_INLINKS), COUPLED),
        )
        every = both(*(counts.strongest(keep) for counts, keep in counted))
        return every.at(self._among[every.rows] & (every.rows != texts[every.of]))


def _padded(rows: Ints) -> Pairs:
    """Return the pairs of lists that are padded with -1."""
    of, at = np.nonzero(rows >= 0)
    return Pairs(of, rows[of, at].astype(np.int64))
