"""An inverted index of champion lists, which finds candidates: the pages that share a text's characteristic words.

The product of all texts with all pages is too expensive on a large site, and nearly all of its cost is due to words
that many pages have, which say little. So the index has, for each term, only the pages in which it weighs most (its
champion list). It finds candidates only; their cosines are then computed in full.
"""

from collections.abc import Sequence
from copy import copy

import numpy as np
from scipy import sparse

from internal_linker.match.guest_rows import GrownMatrix
from internal_linker.model.arrays import Bools, Ints, Vectors

# Length of a champion list. On 10,000 pages of Debian's documentation, 100 candidates include 0.97 of the 50 nearest
# pages with lists of 50, 0.98 with 100, 0.99 with 200; of the 20 nearest, at least 0.998 with each length.
CHAMPIONS = 100
# Above the first number of texts, a lower bound on the best ones is taken from as many texts as the second number.
_MANY, _SOME = 4096, 2048
# Cells of a block's product in memory at a time, 12 bytes each.
BLOCK_CELLS = 4_000_000


class Postings:
    """The champion lists of a site's terms.

    Args:
        terms: (n, v) float32 weights of the terms by which each text is found, such as rows of unit length.
        columns: (n,) whether each text may be found.
        languages: (n,) language codes; two texts match if their codes are equal or one is -1 (unknown).
        queries: (n, v) float32 weights of the terms by which each text finds others; None: `terms`.
    """

    def __init__(
        self,
        terms: sparse.csr_matrix,
        columns: Bools,
        languages: Ints,
        queries: sparse.csr_matrix | None = None,
    ) -> None:
        self._queries, self._languages = terms if queries is None else queries, _several(languages)
        self._lists = _champions(terms, columns)
        work = np.bincount(self._queries.indices, minlength=terms.shape[1]) @ np.diff(self._lists.indptr)
        self._step = max(1, int(BLOCK_CELLS * terms.shape[0] / max(1, work)))

    def nearest(self, rows: Ints, keep: int) -> Ints:
        """Return (len(rows), keep) int32: the texts that share most with each row, ascending, padded with -1."""
        found = np.full((len(rows), keep), -1, np.int32)
        for first in range(0, len(rows), self._step):
            some = rows[first : first + self._step]
            shared = self._queries[some] @ self._lists
            for at, row in enumerate(some.tolist()):
                here = slice(shared.indptr[at], shared.indptr[at + 1])
                best = _best(shared.indices[here], shared.data[here], row, self._languages, keep)
                found[first + at, : len(best)] = best
        return found

    def with_guests(self, queries: GrownMatrix, languages: Ints) -> "Postings":
        """Return the lists for further texts, which find others and are found by none; see the arguments above."""
        other = copy(self)
        other._queries, other._languages = queries, _several(languages)
        return other


# An inverted index, and how many texts it finds.
Search = tuple[Postings, int]


def search(searches: Sequence[Search], rows: Ints) -> Ints:
    """Return (len(rows), k) int32: the texts that each of the searches finds for each row, padded with -1."""
    none = np.full((len(rows), 0), -1, np.int32)
    return np.concatenate([none, *(postings.nearest(rows, keep) for postings, keep in searches)], axis=1)


def _several(languages: Ints) -> Ints | None:
    """Return language codes, or None if they are all the same: then any two texts match."""
    return languages if len(languages) and (languages != languages[0]).any() else None


def _champions(terms: sparse.csr_matrix, columns: Bools) -> sparse.csr_matrix:
    lists = sparse.diags_array(columns.astype(np.float32)).dot(terms).T.tocsr()
    lists.eliminate_zeros()
    kept = np.ones(lists.nnz, bool)
    for term in np.flatnonzero(np.diff(lists.indptr) > CHAMPIONS).tolist():
        here = slice(lists.indptr[term], lists.indptr[term + 1])
        light = np.argpartition(-lists.data[here], CHAMPIONS)[CHAMPIONS:]
        kept[here][light] = False
    sizes = np.add.reduceat(np.append(kept, False), lists.indptr[:-1], dtype=np.int64)
    sizes[np.diff(lists.indptr) == 0] = 0
    starts = np.concatenate([[0], np.cumsum(sizes)])
    return sparse.csr_matrix((lists.data[kept], lists.indices[kept], starts), shape=lists.shape)


def _best(texts: Ints, shared: Vectors, row: int, languages: Ints | None, keep: int) -> Ints:
    """Return the `keep` texts that share most, ascending, without `row` and those in another language than its own."""
    allowed = texts != row
    if languages is not None and languages[row] >= 0:
        theirs = languages[texts]
        allowed &= (theirs == languages[row]) | (theirs < 0)
    shared = np.where(allowed, shared, -np.inf)
    if len(texts) > _MANY:
        # Most of the others are below the best of some texts.
        least = np.partition(shared[:_SOME], _SOME - keep)[_SOME - keep]
        allowed &= shared >= least
    some = np.flatnonzero(allowed)
    if len(some) > keep:
        some = some[np.argpartition(-shared[some], keep)[:keep]]
    return np.sort(texts[some])
