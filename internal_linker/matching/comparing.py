"""Vectors and terms of a site's texts -> candidates, and how well words fit in detail: pure work on arrays."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from internal_linker.core.arrays import Bools, Ints, Vectors
from internal_linker.matching.candidates import Comparer, Index, Pool
from internal_linker.matching.inverted_index import Postings
from internal_linker.matching.tfidf import Fits, TermFit, TermIndex

# Candidates of a text by its vector, and as many by its words, or twice as many where it has no vector. With 100
# the development sites' links are the same.
SERVED = 64


@dataclass(frozen=True, slots=True)
class Comparison:
    """All that comparing a site's texts takes, in arrays alone, so that other processes can do it, too.

    Attributes:
        index, comparer, postings, fit: of all texts.
    """

    index: Index
    comparer: Comparer
    postings: Postings
    fit: TermFit

    @classmethod
    def of(
        cls, vectors: Vectors, terms: TermIndex, languages: Ints, columns: Bools, order: Ints
    ) -> "Comparison":
        """See `Index` and `Comparer`."""
        index = Index(vectors, terms.rows, languages, columns)
        return cls(index, Comparer(index, order), Postings(terms.rows, columns, languages), TermFit(terms))

    def pools(self, texts: Ints, near: Ints) -> list[Pool]:
        """Find and compare the candidates of some texts.

        Args:
            texts: (t,) rows.
            near: (t, k) the rows of the pages that are nearest to each by the vectors; -1 where there are no more.
        """
        lexical = np.full((len(texts), 2 * SERVED), -1, np.int32)
        by_both = (near >= 0).any(axis=1)
        for which, count in ((by_both, SERVED), (~by_both, 2 * SERVED)):
            lexical[which, :count] = self.postings.nearest(texts[which], count)
        every = np.sort(np.concatenate([near, lexical], axis=1), axis=1)
        new = every >= 0
        new[:, 1:] &= every[:, 1:] != every[:, :-1]
        return self.comparer.pools(texts, [ours[fresh] for ours, fresh in zip(every, new, strict=True)])

    def fits(self, texts: Ints, others: Sequence[Ints], linked: Sequence[Sequence[Ints]]) -> Fits:
        """See `TermFit.of`."""
        return self.fit.of(texts, others, linked)
