"""Candidates besides a source's most similar pages: by search in both directions, titles, and shared links."""

from collections.abc import Iterable, Sequence
from copy import copy

import numpy as np

from internal_linker.match.inverted_index import Postings, Search, search
from internal_linker.match.site_index import Site
from internal_linker.match.word_index import WordIndex
from internal_linker.model.arrays import Bools, Ints, Pairs, both
from internal_linker.rank.link_features import LinkGraph
from internal_linker.rank.pair_link_features import SimilarPagesLinks

# Candidates of a source from each search: its telling words in other texts, their telling words and titles in its own.
IN_TARGETS, IN_SOURCE, TITLES = 30, 30, 25
# Candidates of a source from its links: pages that most similar pages link to, or the most similar page does; pages
# with which it shares links to or from.
VOTED, LINKED_NEARBY, COCITED, COUPLED = 30, 20, 20, 20
# To share a link to a page with more links than this says little, and would take long to count.
MOST_INLINKS = 200
# Texts to search for at a time.
_BLOCK = 256


class CandidateSources:
    """Finds candidates; 100 to 150 of a source together with its most similar pages and those that its text names.

    Args:
        among: (n,) whether each text may be a candidate.
        languages: (n,) language codes, see `Postings`.
    """

    def __init__(self, words: WordIndex, among: Bools, languages: Ints) -> None:
        self._among = among
        self._found: dict[int, Ints] = {}
        self.searches: Sequence[Search] = (
            (Postings(words.bm25, among, languages, words.queries), IN_TARGETS),
            (Postings(words.queries, among, languages, words.bm25), IN_SOURCE),
            (Postings(words.titles, among, languages, words.contents), TITLES),
        )

    def with_guests(self, words: WordIndex, languages: Ints) -> "CandidateSources":
        """Return what finds candidates of further texts, too; `words` and `languages` are those of all texts."""
        other, queries = copy(self), (words.queries, words.bm25, words.contents)
        other._found = {}
        other.searches = tuple(
            (postings.with_guests(each, languages), keep)
            for (postings, keep), each in zip(self.searches, queries, strict=True)
        )
        return other

    def prepare(self, site: Site, texts: Iterable[int]) -> None:
        """Do the searches for these texts (rows) in the processes that compare the site's texts, if there are any."""
        wanted = np.array([row for row in dict.fromkeys(texts) if row not in self._found], np.int64)
        blocks = [wanted[first : first + _BLOCK] for first in range(0, len(wanted), _BLOCK)]
        for block, found in zip(blocks, site.searched(blocks) or (), strict=False):
            self._found.update(zip(block.tolist(), found, strict=True))
            # Only the other processes need them.
            self.searches = ()

    def by_words(self, texts: Ints) -> Pairs:
        """Return the candidates of each text (row) that the searches find, in any order and some repeatedly."""
        shared = self._found and len(texts)
        found = (
            np.stack([self._found[row] for row in texts.tolist()]) if shared else search(self.searches, texts)
        )
        of, at = np.nonzero(found >= 0)
        return Pairs(of, found[of, at].astype(np.int64))

    def by_links(self, texts: Ints, graph: LinkGraph, similar: SimilarPagesLinks) -> Pairs:
        """Return the candidates of each text from links, in any order and some repeatedly, old links among them."""
        counted = (
            (similar.votes, VOTED),
            (similar.best, LINKED_NEARBY),
            (graph.cocited(texts), COCITED),
            (graph.coupled(texts, MOST_INLINKS), COUPLED),
        )
        every = both(*(counts.strongest(keep) for counts, keep in counted))
        return every.at(self._among[every.rows] & (every.rows != texts[every.of]))
