"""Names that people gave to clusters: they follow a cluster's pages when the site is grouped again."""

from collections.abc import Sequence, Set
from dataclasses import dataclass, replace

import numpy as np

from internal_linker.analysis.similarity.cluster_records import SiteClusters

# Shared pages as a share of all pages of both, from which two clusters are the same topic: no two others can reach it.
_SAME = 0.5


@dataclass(frozen=True, slots=True)
class ChosenName:
    """A name for a cluster.

    Attributes:
        name: the name.
        urls: the pages that the cluster had when it got the name.
    """

    name: str
    urls: frozenset[str]


def renamed(found: SiteClusters, chosen: Sequence[ChosenName]) -> SiteClusters:
    """Return the clusters with the chosen names of those whose pages are mostly the same; the others keep theirs."""
    if not chosen:
        return found
    clusters = list(found.clusters)
    for at, cluster in enumerate(clusters):
        urls = urls_of(found, at)
        if name := next((each.name for each in chosen if is_same(each.urls, urls)), ""):
            clusters[at] = replace(cluster, name=name)
    return replace(found, clusters=clusters)


def urls_of(found: SiteClusters, at: int) -> frozenset[str]:
    """Return the URLs of a cluster's pages, by its position."""
    return frozenset(found.urls[row] for row in np.flatnonzero(found.labels == at).tolist())


def is_same(some: Set[str], others: Set[str]) -> bool:
    """Return whether two sets of pages are mostly the same."""
    return len(some & others) > _SAME * len(some | others)
