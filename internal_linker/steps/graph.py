"""A site's links -> what they say of a page that may be linked to next: whom similar pages link to, who links back."""

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from internal_linker.records import ExistingLink, Vectors

Ints = NDArray[np.integer]


class LinkGraph:
    """The links between the n pages of a site, each pair of pages once.

    Args:
        links: all that are known; those from or to another page than `rows` has are left out.
        rows: the row of each page, 0 to n - 1, by its key.
    """

    def __init__(self, links: Iterable[ExistingLink], rows: Mapping[str, int]) -> None:
        ends = {(rows.get(link.source, -1), rows.get(link.target, -1)) for link in links}
        pairs = np.array(sorted((a, b) for a, b in ends if a >= 0 and b >= 0 and a != b), np.int64).reshape(
            -1, 2
        )
        shape = len(rows), len(rows)
        self.size = len(pairs)
        self._out = sparse.csr_matrix((np.ones(len(pairs), np.float32), pairs.T), shape=shape)
        self._in = self._out.T.tocsr()
        self.inlinks: Ints = np.diff(self._in.indptr)
        """(n,) how many pages link to each."""

    def votes(self, pages: Ints, weights: Vectors) -> Vectors:
        """(n,) float32, 0 to 1: the weighted share of `pages` (rows) that link to each page."""
        total = float(weights.sum())
        if not total:
            return np.zeros(len(self.inlinks), np.float32)
        share = sparse.csr_matrix((weights / total, pages, [0, len(pages)]), shape=(1, len(self.inlinks)))
        shared: Vectors = (share @ self._out).toarray().ravel().astype(np.float32)
        return shared

    def targets(self, page: int) -> Ints:
        """The rows that `page` links to, ascending; none for a row that is no page."""
        known = page < len(self.inlinks)
        rows: Ints = (
            self._out.indices[slice(*self._out.indptr[page : page + 2])] if known else np.empty(0, np.int32)
        )
        return rows

    def linking_to(self, page: int) -> Vectors:
        """(n,) 1 for each page that links to `page`, else 0; all 0 for a row that is no page."""
        linking: Vectors = self._linking(page).toarray().ravel()
        return linking

    def cocited(self, page: int) -> Vectors:
        """(n,) how many pages link to each and to `page`."""
        together: Vectors = (self._linking(page) @ self._out).toarray().ravel()
        return together

    def _linking(self, page: int) -> sparse.csr_matrix:
        known = page < len(self.inlinks)
        return self._in[page] if known else sparse.csr_matrix((1, len(self.inlinks)), dtype=np.float32)
