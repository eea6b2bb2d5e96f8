"""A site's links -> what they say of a page that may be linked to next: whom similar pages link to, who links back."""

from collections.abc import Iterable, Mapping

import numpy as np

from internal_linker.arrays import Ints, Vectors
from internal_linker.records import ExistingLink


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
        ends = {(rows.get(link.source, -1), rows.get(link.target, -1)) for link in links}
        pairs = sorted((a, b) for a, b in ends if a >= 0 and b >= 0 and a != b)
        self.size, self._n = len(pairs), len(rows)
        sources, targets = np.array(pairs, np.int64).reshape(-1, 2).T
        self._out = _by_row(sources, targets, self._n)
        self._in = _by_row(targets, sources, self._n)
        self.inlinks: Ints = np.bincount(targets, minlength=self._n)

    def votes(self, pages: Ints, weights: Vectors) -> Vectors:
        """(n,) float32, 0 to 1: the weighted share of `pages` (rows) that link to each page."""
        total = float(weights.sum())
        return self._linked_from(pages, weights / total) if total else np.zeros(self._n, np.float32)

    def targets(self, page: int) -> Ints:
        """The rows that `page` links to, ascending; none for a row that is no page."""
        return self._out[page] if page < self._n else np.empty(0, np.int64)

    def linking_to(self, page: int) -> Vectors:
        """(n,) float32: 1 for each page that links to `page`, else 0; all 0 for a row that is no page."""
        linking = np.zeros(self._n, np.float32)
        linking[self._sources(page)] = 1
        return linking

    def cocited(self, page: int) -> Vectors:
        """(n,) float32: how many pages link to each and to `page`."""
        sources = self._sources(page)
        return self._linked_from(sources, np.ones(len(sources)))

    def _sources(self, page: int) -> Ints:
        return self._in[page] if page < self._n else np.empty(0, np.int64)

    def _linked_from(self, pages: Ints, weights: Vectors) -> Vectors:
        """(n,) float32: the sum of the weights of those of `pages` that link to each page."""
        linked = [self._out[page] for page in pages.tolist()]
        each = np.repeat(weights, [len(targets) for targets in linked])
        rows = np.concatenate([np.empty(0, np.int64), *linked])
        return np.bincount(rows, each, minlength=self._n).astype(np.float32)


def _by_row(rows: Ints, others: Ints, n: int) -> list[Ints]:
    """The others of each row 0 to n - 1, ascending."""
    order = np.lexsort((others, rows))
    return np.split(others[order], np.cumsum(np.bincount(rows, minlength=n))[:-1]) if n else []
