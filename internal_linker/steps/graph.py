"""A site's links -> what they say of a page that may be linked to next: whom similar pages link to, who links back."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from internal_linker.arrays import Ints, Vectors
from internal_linker.records import ExistingLink

_NONE = np.empty(0, np.int64)


@dataclass(frozen=True, slots=True)
class Counted:
    """What some pages count, the others nothing.

    Attributes:
        rows: (m,) those pages, ascending.
        counts: (m,) float32.
    """

    rows: Ints
    counts: Vectors

    def of(self, rows: Ints) -> Vectors:
        """(len(rows),) float32: what each of these pages counts."""
        if not len(self.rows):
            return np.zeros(len(rows), np.float32)
        at = np.searchsorted(self.rows, rows).clip(max=len(self.rows) - 1)
        counts: Vectors = np.where(self.rows[at] == rows, self.counts[at], np.float32(0))
        return counts


class LinkGraph:
    """The links between the n pages of a site, each pair of pages once.

    Args:
        links: all that are known; those from or to another page than `rows` has are left out.
        rows: the row of each page, 0 to n - 1, by its key.

    Attributes:
        size: how many pairs they are.
        inlinks: (n,) how many pages link to each.
    """

    def __init__(self, links: Iterable[ExistingLink], rows: Mapping[str, int]) -> None:
        ends = np.array(
            [(rows.get(link.source, -1), rows.get(link.target, -1)) for link in links], np.int64
        ).reshape(-1, 2)
        pairs = np.unique(ends[(ends.min(axis=1, initial=0) >= 0) & (ends[:, 0] != ends[:, 1])], axis=0)
        self.size, n = len(pairs), len(rows)
        ones = np.ones(self.size, np.int8)
        self._out = sparse.csr_matrix((ones, (pairs[:, 0], pairs[:, 1])), shape=(n, n))
        self._in = self._out.T.tocsr()
        self._in.sort_indices()
        self.inlinks: Ints = np.diff(self._in.indptr).astype(np.int64)

    def votes(self, pages: Ints, weights: Vectors) -> Counted:
        """The weighted share, 0 to 1, of `pages` (rows) that link to each page."""
        total = float(weights.sum())
        return self._linked_from(pages, weights / total) if total else Counted(_NONE, np.empty(0, np.float32))

    def targets(self, page: int) -> Ints:
        """The rows that `page` links to, ascending; none for a row that is no page."""
        return _of(self._out, page)

    def sources(self, page: int) -> Ints:
        """The rows that link to `page`, ascending; none for a row that is no page."""
        return _of(self._in, page)

    def cocited(self, page: int) -> Counted:
        """How many pages link to each and to `page`."""
        sources = self.sources(page)
        return self._linked_from(sources, np.ones(len(sources)))

    def _linked_from(self, pages: Ints, weights: Vectors) -> Counted:
        """The sum of the weights of those of `pages` that link to each page."""
        linked = [self.targets(page) for page in pages.tolist()]
        each = np.repeat(weights, [len(targets) for targets in linked])
        rows, at = np.unique(np.concatenate([_NONE, *linked]), return_inverse=True)
        return Counted(rows, np.bincount(at, each, minlength=len(rows)).astype(np.float32))


def _of(links: sparse.csr_matrix, page: int) -> Ints:
    """The columns of a row, ascending."""
    if page >= links.shape[0]:
        return _NONE
    columns: Ints = links.indices[links.indptr[page] : links.indptr[page + 1]]
    return columns
