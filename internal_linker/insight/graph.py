"""The graph of a site's links: paths, closed circles, PageRank and communities."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from internal_linker.model.arrays import Bools, Ints, Vectors
from internal_linker.model.cli_commands import needs_extra


@dataclass(frozen=True, slots=True)
class SiteGraph:
    """The links between the n pages of a site in one state (existing, proposed, or both), each pair of pages once."""

    sources: Ints  # (e,) rows of the source pages
    targets: Ints  # (e,) rows of the target pages, never the source itself
    # (e,) 1 for an existing link, 0 for one that passes no weight, the strength of a proposed one
    weights: Vectors


# SciPy's predecessor of an unreachable page.
_NOWHERE = -9999


def graph_of(sources: Ints, targets: Ints, weights: Vectors, n: int) -> SiteGraph:
    """Make a graph: each pair of pages once with its largest weight, sorted, without links to the page itself."""
    other = np.flatnonzero((sources != targets) & (sources >= 0) & (targets >= 0))
    keys = sources[other].astype(np.int64) * n + targets[other]
    order = np.lexsort((-weights[other], keys))
    keys = keys[order]
    first = np.flatnonzero(np.diff(keys, prepend=-1))
    one, two = np.divmod(keys[first], max(1, n))
    return SiteGraph(one, two, weights[other][order][first].astype(np.float64))


def adopted(existing: SiteGraph, proposed: SiteGraph, n: int) -> SiteGraph:
    """Merge two graphs; a pair in both keeps the larger weight."""
    return graph_of(
        np.concatenate([existing.sources, proposed.sources]),
        np.concatenate([existing.targets, proposed.targets]),
        np.concatenate([existing.weights, proposed.weights]),
        n,
    )


def pair_keys(graph: SiteGraph, n: int) -> Ints:
    """Return (e,) int64 keys of the links of n pages, ascending."""
    return graph.sources.astype(np.int64) * n + graph.targets


def degrees(graph: SiteGraph, n: int) -> tuple[Ints, Ints]:
    """Return (n,) in-degrees, of the links that pass weight, and (n,) out-degrees, of all links."""
    return np.bincount(graph.targets[graph.weights > 0], minlength=n), np.bincount(graph.sources, minlength=n)


def click_depth(graph: SiteGraph, n: int, home: int) -> Ints:
    """Return (n,) clicks from `home`, -1 for unreachable pages."""
    depth = np.full(n, -1, np.int64)
    if home < 0:
        return depth
    order, before = csgraph.breadth_first_order(_matrix(graph, n), home)
    clicks = depth.tolist()
    clicks[home] = 0
    came = before.tolist()
    for page in order[1:].tolist():
        clicks[page] = clicks[came[page]] + 1
    return np.array(clicks, np.int64)


def shortest_path(graph: SiteGraph, n: int, start: int, end: int) -> list[int]:
    """Return the pages of a shortest path including both ends; empty if there is no path."""
    _, before = csgraph.breadth_first_order(_matrix(graph, n), start)
    path = [end]
    while path[-1] != start:
        if before[path[-1]] == _NOWHERE:
            return []
        path.append(int(before[path[-1]]))
    return path[::-1]


def reciprocal_pairs(graph: SiteGraph, n: int) -> Ints:
    """Return (p, 2) rows of the pairs of pages that link to each other, the smaller row first, ascending."""
    forth, back = pair_keys(graph, n), graph.targets.astype(np.int64) * n + graph.sources
    both = forth[np.isin(forth, back) & (graph.sources < graph.targets)]
    return np.stack(np.divmod(both, max(1, n)), axis=1)


def components(graph: SiteGraph, n: int) -> int:
    """Return the number of weakly connected components."""
    if not n:
        return 0
    count: int = csgraph.connected_components(_matrix(graph, n), return_labels=False)
    return count


def component_labels(graph: SiteGraph, n: int) -> Ints:
    """Return (n,) the weakly connected component of each page."""
    labels: Ints = csgraph.connected_components(_matrix(graph, n))[1].astype(np.int64)
    return labels


def closed_circles(graph: SiteGraph, n: int, home: int) -> list[Ints]:
    """Return groups of pages that all reach each other and that no other page links to, without the home page's.

    Each page of such a circle has links to it, so that none is an orphan; yet no visitor comes in.
    """
    if not n:
        return []
    count, group = csgraph.connected_components(_matrix(graph, n), connection="strong")
    entered = np.zeros(count, np.bool_)
    entered[group[graph.targets[group[graph.sources] != group[graph.targets]]]] = True
    closed = (np.bincount(group, minlength=count) > 1) & ~entered
    if home >= 0:
        closed[group[home]] = False
    order = np.argsort(group, kind="stable")
    order = order[closed[group[order]]]
    parts = np.split(order, np.flatnonzero(np.diff(group[order])) + 1)
    return sorted((part for part in parts if len(part)), key=lambda part: int(part[0]))


def across(graph: SiteGraph, labels: Ints) -> Bools:
    """Return (e,) whether each link leads from one topic to another; pages with a label below 0 have no topic."""
    one, other = labels[graph.sources], labels[graph.targets]
    found: Bools = (one >= 0) & (other >= 0) & (one != other)
    return found


def between(graph: SiteGraph, labels: Ints, count: int) -> Ints:
    """Count links from group to group, (count, count); `labels` (n,) is 0 to count - 1, or below 0 for no group."""
    one, other = labels[graph.sources], labels[graph.targets]
    known = (one >= 0) & (other >= 0)
    counts = np.bincount(one[known] * count + other[known], minlength=count * count)
    return counts.reshape(count, count)


def _matrix(graph: SiteGraph, n: int) -> sparse.csr_matrix:
    # Visitors follow links of any weight.
    ones = np.ones(len(graph.sources))
    return sparse.csr_matrix((ones, (graph.sources, graph.targets)), shape=(n, n))


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


_SEED = 1
# Each round starts from the communities of the last. One round reaches less modularity than the Louvain method, five
# reach more on seven of eight graphs of two sites; ten gain at most 0.0006 more and take twice as long.
_LEIDEN_ROUNDS = 5
# Rounding errors could move a page back and forth between two equal communities forever. No graph needed ten sweeps.
_SWEEPS = 100


def communities(graph: SiteGraph, n: int) -> Ints:
    """Find communities by the Leiden method; each is connected, and the result is deterministic.

    Args:
        graph: links between n pages; their weights count, their direction does not.

    Returns:
        (n,) int64 labels from 0; a page without links is a community of its own.
    """
    if not len(graph.sources):
        return np.arange(n)
    with needs_extra("graph", "Finding groups of pages that link to each other"):
        from graspologic_native import leiden_csr

    # A link that passes no weight still says that two pages belong together.
    weights = np.where(graph.weights > 0, graph.weights, 1.0)
    links = sparse.csr_matrix((weights, (graph.sources, graph.targets)), shape=(n, n))
    links = links + links.T
    _, found = leiden_csr(
        links.indptr.astype(np.int64),
        links.indices.astype(np.int32),
        links.data,
        n,
        iterations=_LEIDEN_ROUNDS,
        seed=_SEED,
        max_local_moving_iterations=_SWEEPS,
    )
    return np.fromiter((found[page] for page in range(n)), np.int64, n)
