"""Signals of a site's links for the next ones: which pages similar pages link to, which link back, co-citations."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from copy import copy
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from internal_linker.model.arrays import Ints, Pairs, Vectors, ranks
from internal_linker.model.records import ExistingLink


@dataclass(frozen=True, slots=True)
class Counted:
    """Sparse counts of pages for each of several texts; pages that are not listed count 0."""

    pairs: Pairs  # the pages of each text, ascending
    counts: Vectors  # (p,) float32 count of each pair
    n: int  # count of all pages

    def look_up(self, pairs: Pairs) -> Vectors:
        """Return (len(pairs),) float32 the count of each of these pages for its text."""
        ours, wanted = self.pairs.keys(self.n), pairs.keys(self.n)
        if not len(ours):
            return np.zeros(len(wanted), np.float32)
        at = np.searchsorted(ours, wanted).clip(max=len(ours) - 1)
        counts: Vectors = np.where(ours[at] == wanted, self.counts[at], np.float32(0))
        return counts

    def strongest(self, keep: int) -> Pairs:
        """Return the `keep` pages with the highest counts of each text, best first; of equal ones, the lower row."""
        best = self.pairs.at(np.lexsort((-self.counts, self.pairs.of)))
        return best.at(ranks(best.of) < keep)


class LinkGraph:
    """The links between the n pages of a site, each pair of pages once; links of pages without a row are left out.

    Attributes:
        size: count of linked pairs.
        inlinks: (n,) how many pages link to each page, with links that pass weight.
        degrees: (n,) how many pages link to each page, with any link.
    """

    def __init__(self, links: Collection[ExistingLink], rows: Mapping[str, int]) -> None:
        ends = [(rows.get(link.source, -1), rows.get(link.target, -1)) for link in links]
        pairs = np.array(ends, np.int64).reshape(-1, 2)
        within = (pairs >= 0).all(axis=1) & (pairs[:, 0] != pairs[:, 1])
        counted = np.unique(pairs[within & np.array([link.followed for link in links], np.bool_)], axis=0)
        pairs = np.unique(pairs[within], axis=0)
        self.size, self._n = len(pairs), len(rows)
        ones = np.ones(self.size, np.int8)
        self._out = sparse.csr_matrix((ones, (pairs[:, 0], pairs[:, 1])), shape=(self._n, self._n))
        self._in = self._out.T.tocsr()
        self._in.sort_indices()
        self.inlinks: Ints = np.bincount(counted[:, 1], minlength=self._n)
        self.degrees: Ints = np.bincount(pairs[:, 1], minlength=self._n)

    def with_guests(self, count: int) -> "LinkGraph":
        """Return the links between the same pages, for so many texts more, which have no links."""
        other, none = copy(self), np.zeros(count, self.degrees.dtype)
        other._n = self._n + count
        other._out, other._in = with_empty_rows(self._out, count), with_empty_rows(self._in, count)
        other.inlinks, other.degrees = np.append(self.inlinks, none), np.append(self.degrees, none)
        return other

    def votes(self, voters: Pairs, weights: Vectors) -> Counted:
        """Return the weighted share, 0 to 1, of each text's voters (pages) that link to each page."""
        total = np.bincount(voters.of, weights)
        share = weights / np.where(total > 0, total, 1)[voters.of]
        return self._linked_from(voters.at(share > 0), share[share > 0])

    def targets(self, pages: Ints) -> Pairs:
        """Return the rows that each page links to, ascending; none for a row that is not a page."""
        return _links(self._out, pages)

    def sources(self, pages: Ints) -> Pairs:
        """Return the rows that link to each page, ascending; none for a row that is not a page."""
        return _links(self._in, pages)

    @property
    def pairs(self) -> Pairs:
        """All linked pairs: source and target."""
        return Pairs(
            np.repeat(np.arange(self._n), np.diff(self._out.indptr)), self._out.indices.astype(np.int64)
        )

    def cocited(self, pages: Ints) -> Counted:
        """Count the pages that link both to each page and to one of `pages`."""
        return self.linked_from(self.sources(pages))

    def coupled(self, pages: Ints, most: int) -> Counted:
        """Count the pages with at most `most` links to them that both each page and one of `pages` link to."""
        links = self.targets(pages)
        links = links.at(self.degrees[links.rows] <= most)
        others = self.sources(links.rows)
        return self._counted(Pairs(links.of[others.of], others.rows), np.ones(len(others.of)))

    def best_linking(self, near: Pairs, cosines: Vectors) -> Counted:
        """Return, for each page that some of a text's similar pages link to, the highest cosine of these, above 0."""
        links = self.targets(near.rows)
        keys = Pairs(near.of[links.of], links.rows).keys(self._n)
        values = cosines[links.of]
        order = np.lexsort((-values, keys))
        first = order[np.diff(keys[order], prepend=-1) > 0]
        return Counted(
            Pairs(*np.divmod(keys[first], max(1, self._n))), values[first].astype(np.float32), self._n
        )

    def linked_from(self, pages: Pairs) -> Counted:
        """Count each text's pages that link to each page."""
        return self._linked_from(pages, np.ones(len(pages.rows)))

    def _linked_from(self, pages: Pairs, weights: Vectors) -> Counted:
        links = self.targets(pages.rows)
        return self._counted(Pairs(pages.of[links.of], links.rows), weights[links.of])

    def _counted(self, pairs: Pairs, weights: Vectors) -> Counted:
        keys, at = np.unique(pairs.keys(self._n), return_inverse=True)
        counts = np.bincount(at, weights, minlength=len(keys)).astype(np.float32)
        return Counted(Pairs(*np.divmod(keys, max(1, self._n))), counts, self._n)


def _links(links: sparse.csr_matrix, pages: Ints) -> Pairs:
    starts, n = links.indptr, links.shape[0]
    known = np.flatnonzero(pages < n)
    first, counts = starts[pages[known]], np.diff(starts)[pages[known]]
    of = np.repeat(np.arange(len(known)), counts)
    at = np.arange(len(of)) - np.repeat(np.cumsum(counts) - counts, counts) + first[of]
    return Pairs(known[of], links.indices[at].astype(np.int64))


def inlinks(links: Iterable[ExistingLink]) -> Counter[str]:
    """Count the pages that link to each page today with links that pass weight, by the target's normal form."""
    return Counter(target for _, target in {(link.source, link.target) for link in links if link.followed})


def with_empty_rows(matrix: sparse.csr_matrix, count: int) -> sparse.csr_matrix:
    """Return an (n, n) matrix with `count` empty rows and columns more, sharing its values in memory."""
    n, ends = matrix.shape[0] + count, np.full(count, matrix.indptr[-1], matrix.indptr.dtype)
    return sparse.csr_matrix((matrix.data, matrix.indices, np.append(matrix.indptr, ends)), shape=(n, n))
