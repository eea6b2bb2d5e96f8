"""PageRank of a link graph, and its concentration.

No library does this better: scikit-network 0.33 gives pages without links too much, and networkx takes forty times
as long.
"""

import numpy as np
from scipy import sparse

from internal_linker.analysis.graph.site_graph import SiteGraph
from internal_linker.core.arrays import Vectors

# The damping factor: the chance that a visitor follows a link instead of jumping to any page; Brin and Page's value.
DAMPING = 0.85
# Sum of all differences between two iterations at which they stop; 0.85 ** 150 is below it.
_TOLERANCE = 1e-10
_ROUNDS = 200


def pagerank(graph: SiteGraph, n: int) -> Vectors:
    """Return (n,) float64 PageRank, weighted, summing to 1.

    From a page without links that pass weight, and now and then from any, the visitor goes to any page, all as likely.
    """
    if not n:
        return np.empty(0)
    total = np.bincount(graph.sources, graph.weights, minlength=n)
    there = graph.weights > 0
    shares = graph.weights[there] / total[graph.sources[there]]
    links = sparse.csr_matrix((shares, (graph.targets[there], graph.sources[there])), shape=(n, n))
    ends = total == 0
    rank: Vectors = np.full(n, 1 / n)
    for _ in range(_ROUNDS):
        last = rank
        rank = DAMPING * (links @ last + last[ends].sum() / n) + (1 - DAMPING) / n
        rank /= rank.sum()
        if np.abs(rank - last).sum() < _TOLERANCE:
            break
    return rank


def gini(values: Vectors) -> float:
    """Return the Gini coefficient of amounts of 0 or more: 0 if all are equal, nearly 1 if one has everything."""
    n, total = len(values), float(values.sum())
    if not n or total <= 0:
        return 0.0
    place = np.arange(1, n + 1)
    # Rounding could push perfect equality below 0.
    return max(0.0, float(2 * (place * np.sort(values)).sum() / (n * total) - (n + 1) / n))


def top_share(values: Vectors, part: float = 0.1) -> float:
    """Return the share of the largest tenth (at least one) of the amounts, 0 to 1; 0 if there are none."""
    total = float(values.sum())
    most = np.sort(values)[::-1][: max(1, round(part * len(values)))]
    return float(most.sum()) / total if total > 0 else 0.0
