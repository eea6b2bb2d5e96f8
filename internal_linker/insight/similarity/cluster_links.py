"""Links within clusters: each cluster's hub, the density of its links, and the links that are missing."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from internal_linker.insight.similarity.cluster_records import MissingLinks
from internal_linker.insight.similarity.similarity import MOST_ROWS, TILE
from internal_linker.model.arrays import Bools, Ints, Vectors, is_in

# For each page, so many of the most similar pages of its cluster that it doesn't link to.
NEAREST = 3
# No page should link to more; the rest of a large cluster can be reached from these.
MOST_FROM_HUB = 50
# Fewer links to a page than this say little about it, even if no page has more.
_FEW_LINKS = 3
# The weight of the name beside closeness and links: a page can be the hub without naming the topic.
_NAMED = 0.5
# Distances from the centre that differ by less don't tell a typical page from an untypical one.
_LEAST_RANGE = 0.4


@dataclass(frozen=True, slots=True)
class InnerLinks:
    """The links within k clusters."""

    hubs: Ints  # (k,) the row of each cluster's hub
    links: Ints  # (k,) links from one page of the cluster to another
    # (k,) float64: these as a share of all possible links, 0 to 1; NaN in a cluster of one page
    densities: Vectors


def inner_links(labels: Ints, distances: Vectors, named: Vectors, links: Ints, followed: Ints) -> InnerLinks:
    """Count the links within each cluster and find its hub.

    The hub is the page with the highest weighted sum of three figures, each 0 to 1: how near it is to the centre, how
    much of the cluster's name is in its title, and how many pages of the cluster link to it (on a logarithmic scale).

    Args:
        labels: (n,) clusters from 0, none of them empty; -1 for a page in none.
        distances: (n,) distances from the centre.
        named: (n,) how much of its cluster's name is in each page's title, 0 to 1.
        links: keys of existing links, source * n + target, ascending.
        followed: keys of those that pass weight: only they make a hub.
    """
    n, count = len(labels), int(labels.max(initial=-1)) + 1
    sources, targets = np.divmod(links, n)
    within = (labels[sources] == labels[targets]) & (labels[sources] >= 0) & (sources != targets)
    sizes = np.bincount(labels[labels >= 0], minlength=count)
    found = np.bincount(labels[sources[within]], minlength=count)
    ends = np.divmod(followed, n)
    inlinks = np.bincount(ends[1][(labels[ends[0]] == labels[ends[1]]) & (ends[0] != ends[1])], minlength=n)
    linked, rates = np.log1p(inlinks), np.zeros(n)
    for label in range(count):
        rows = np.flatnonzero(labels == label)
        most = max(np.log1p(_FEW_LINKS), linked[rows].max())
        rates[rows] = _closeness(distances[rows]) + _NAMED * named[rows] + linked[rows] / most
    order = np.lexsort((np.arange(n), distances, -rates, labels))
    hubs = order[np.searchsorted(labels[order], np.arange(count))]
    could = sizes * (sizes - 1)
    densities = np.divide(found, could, out=np.full(count, np.nan), where=could > 0)
    return InnerLinks(hubs, found, densities)


def _closeness(distances: Vectors) -> Vectors:
    low, high = float(distances.min()), float(distances.max())
    closeness: Vectors = 1 - (distances - low) / max(_LEAST_RANGE, high - low)
    return closeness


def missing_links(
    points: Vectors,
    labels: Ints,
    hubs: Ints,
    links: Ints,
    advance: Callable[[int], None] = lambda _: None,
    *,
    gives: Bools | None = None,
    takes: Bools | None = None,
) -> MissingLinks:
    """Find the links that are missing between hub and members, and from each page to the nearest ones.

    Args:
        points: (n, d) unit rows whose products are similarities.
        labels: (n,) clusters from 0; -1 for a page in none.
        links: keys of existing links, source * n + target, ascending.
        advance: called with the number of further pages done.
        gives, takes: (n,) whether each page gets links, and whether links may lead to it; None: all.
    """
    n, left_out = len(labels), 0
    gives = np.ones(n, np.bool_) if gives is None else gives
    takes = np.ones(n, np.bool_) if takes is None else takes
    parts: list[tuple[Ints, Ints, Ints]] = [(np.empty(0, np.int64),) * 3]
    ends = np.divmod(links, n)
    for label, hub in enumerate(hubs.tolist()):
        members = np.flatnonzero(labels == label)
        others = members[members != hub]
        others = others[np.lexsort((others, -(points[others] @ points[hub])))]
        hubs_own = np.full(len(others), hub)
        away = gives[hub] & takes[others] & ~is_in(hub * n + others, links)
        back = gives[others] & takes[hub] & ~is_in(others * n + hub, links)
        away, beyond = _first(away, MOST_FROM_HUB)
        left_out += beyond
        near = [*_nearest(points, members, hub, ends, advance=advance, gives=gives, takes=takes)]
        parts += [_part(hubs_own[away], others[away], 0), _part(others[back], hubs_own[back], 1)]
        parts += [_part(sources, targets, 2) for sources, targets in near]
    sources, targets, reasons = (np.concatenate(each) for each in zip(*parts, strict=True))
    return MissingLinks(sources, targets, reasons, left_out)


def _part(sources: Ints, targets: Ints, reason: int) -> tuple[Ints, Ints, Ints]:
    return sources, targets, np.full(len(sources), reason)


def _first(wanted: Bools, most: int) -> tuple[Bools, int]:
    """Keep only the first `most` that are wanted; return how many are not among them, too."""
    kept: Bools = wanted & (np.cumsum(wanted) <= most)
    return kept, int(wanted.sum() - kept.sum())


def _nearest(
    points: Vectors,
    members: Ints,
    hub: int,
    links: tuple[Ints, Ints],
    *,
    advance: Callable[[int], None],
    gives: Bools,
    takes: Bools,
) -> Iterator[tuple[Ints, Ints]]:
    """Yield sources and targets for a block of the cluster's pages, each source's nearest first."""
    count = len(members)
    height, kept = max(1, min(MOST_ROWS, TILE // max(1, count))), min(NEAREST, count)
    sources, targets = (_places(members, ends) for ends in links)
    within = (sources >= 0) & (targets >= 0)
    sources, targets = sources[within], targets[within]
    for start in range(0, count, height):
        rows = members[start : start + height]
        near = points[rows] @ points[members].T
        near[:, (members == hub) | ~takes[members]] = -np.inf
        near[(rows == hub) | ~gives[rows]] = -np.inf
        near[np.arange(len(rows)), np.arange(start, start + len(rows))] = -np.inf
        here = (sources >= start) & (sources < start + len(rows))
        near[sources[here] - start, targets[here]] = -np.inf
        best = np.argpartition(-near, kept - 1, axis=1)[:, :kept]
        scores = np.take_along_axis(near, best, axis=1)
        order = np.lexsort((best, -scores), axis=1)
        best, scores = np.take_along_axis(best, order, axis=1), np.take_along_axis(scores, order, axis=1)
        found = np.isfinite(scores)
        yield np.repeat(rows, found.sum(axis=1)), members[best[found]]
        advance(len(rows))


def _places(members: Ints, rows: Ints) -> Ints:
    """Return (len(rows),) each row's position among the ascending members, -1 if it is none of them."""
    at = np.searchsorted(members, rows).clip(max=len(members) - 1)
    return np.where(members[at] == rows, at, -1)
