"""Communities of a graph of pages: groups that link to each other more than by chance (Leiden method)."""

import numpy as np
from graspologic_native import leiden_csr
from scipy import sparse

from internal_linker.analysis.graph.site_graph import SiteGraph
from internal_linker.core.arrays import Ints

_SEED = 1
# Each round starts from the communities of the last. One round reaches less modularity than the Louvain method, five
# reach more on seven of eight graphs of two sites; ten gain at most 0.0006 more and take twice as long.
_ROUNDS = 5
# Rounding errors could move a page back and forth between two equal communities forever. No graph needed ten sweeps.
_SWEEPS = 100


def communities(graph: SiteGraph, n: int) -> Ints:
    """Find communities by the Leiden method; each is connected, and the result is deterministic.

    Args:
        graph: links between n pages; their weights count, their direction does not.
        n: the number of pages.

    Returns:
        (n,) int64 labels from 0; a page without links is a community of its own.
    """
    if not len(graph.sources):
        return np.arange(n)
    # A link that passes no weight still says that two pages belong together.
    weights = np.where(graph.weights > 0, graph.weights, 1.0)
    links = sparse.csr_matrix((weights, (graph.sources, graph.targets)), shape=(n, n))
    links = links + links.T
    _, found = leiden_csr(
        links.indptr.astype(np.int64),
        links.indices.astype(np.int32),
        links.data,
        n,
        iterations=_ROUNDS,
        seed=_SEED,
        max_local_moving_iterations=_SWEEPS,
    )
    return np.fromiter((found[page] for page in range(n)), np.int64, n)
