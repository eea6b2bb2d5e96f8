"""The clusters of a site: their records, the names that people gave them, and their tables."""

from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from internal_linker.model.arrays import Ints, Vectors
from internal_linker.model.results import Column, Columns, ResultTable

if TYPE_CHECKING:
    from pandas import DataFrame

REASONS = ("hub to page", "page to hub", "similar pages")
"""Kinds of missing links; `MissingLinks.reasons` has their positions."""


@dataclass(frozen=True, slots=True)
class MissingLinks:
    """Missing links, cluster by cluster: those from and to the hub first, then those between similar pages."""

    sources: Ints  # (m,) rows
    targets: Ints  # (m,) rows
    reasons: Ints  # (m,) positions in `REASONS`
    left_out: int  # links from hubs beyond the number that a page should have


@dataclass(frozen=True, slots=True)
class PageMap:
    """Pages on a flat map."""

    rows: Ints  # (m,) rows of the pages, ascending
    places: Vectors  # (m, 2) coordinates, -1 to 1


@dataclass(frozen=True, slots=True)
class SiteClusters:
    """All clusters of a site's n pages."""

    site: str  # the site's host
    by: str  # what the pages were compared by and how they were grouped, as the end of a sentence
    urls: Sequence[str]  # n URLs
    titles: Sequence[str]  # n titles without brand, or first headings
    labels: Ints  # (n,) positions in `clusters`; -1 for a page in none
    distances: Vectors  # (n,) distances from the cluster's centre, 0 to 2; NaN for a page in none
    # `CLUSTERS`, `hub_title` and `computed`, the name as it was computed, of k clusters, the largest first
    clusters: "DataFrame"
    hubs: Ints  # (k,) rows
    missing: MissingLinks  # the links that are missing
    similarities: Vectors  # (m,) similarities of the missing links' ends

    def page_columns(self) -> dict[str, Sequence[Any]]:
        """Return all pages, in the input's order.

        `cluster` is the number of a page's cluster, None for a page in none, `name` its name, `title` the page's title
        without brand or its first heading, `distance` that from the cluster's centre, 0 to 2, and `hub` whether it is
        the cluster's hub.
        """
        labels, hub = self.labels.tolist(), np.zeros(len(self.urls), np.bool_)
        hub[self.hubs] = True
        # A page in none has the label -1, which stands for the last one.
        names = [*self.clusters["name"], ""]
        return {
            "cluster": [label + 1 if label >= 0 else None for label in labels],
            "name": [names[label] for label in labels],
            "title": self.titles,
            "url": self.urls,
            "distance": self.distances.tolist(),
            "hub": hub.tolist(),
        }

    def link_columns(self) -> dict[str, Sequence[Any]]:
        """Return all missing links, cluster by cluster: their `source` and `target`, the pages' `similarity`, -1 to 1.

        `why` is one of `REASONS`, and `cluster` the number of their cluster.
        """
        sources, targets = self.missing.sources.tolist(), self.missing.targets.tolist()
        return {
            "source": [self.urls[row] for row in sources],
            "target": [self.urls[row] for row in targets],
            "similarity": self.similarities.tolist(),
            "why": [REASONS[reason] for reason in self.missing.reasons.tolist()],
            "cluster": (self.labels[sources] + 1).tolist(),
        }

    def columns(self) -> dict[str, Columns]:
        """Return `clusters`, the largest first; `pages`, in the input's order; `missing_links`, cluster by cluster."""
        return {
            "clusters": self.clusters.drop(columns="computed").to_dict("list"),
            "pages": self.page_columns(),
            "missing_links": self.link_columns(),
        }


# Shared pages as a share of all pages of both, from which two clusters are the same topic: no two others can reach it.
_SAME = 0.5


@dataclass(frozen=True, slots=True)
class ChosenName:
    """A name for a cluster."""

    name: str  # the name
    urls: frozenset[str]  # the pages that the cluster had when it got the name


def rename_clusters(found: SiteClusters, chosen: Sequence[ChosenName]) -> SiteClusters:
    """Return the clusters with the chosen names of those whose pages are mostly the same, the others as computed."""
    names = [*found.clusters["computed"]]
    for at in range(len(names) if chosen else 0):
        urls = urls_of(found, at)
        names[at] = next((each.name for each in chosen if is_same(each.urls, urls)), names[at])
    return replace(found, clusters=found.clusters.assign(name=names))


def urls_of(found: SiteClusters, at: int) -> frozenset[str]:
    """Return the URLs of a cluster's pages, by its position."""
    return frozenset(found.urls[row] for row in np.flatnonzero(found.labels == at).tolist())


def is_same(some: Set[str], others: Set[str]) -> bool:
    """Return whether two sets of pages are mostly the same."""
    return len(some & others) > _SAME * len(some | others)


_PAGES = (
    Column("cluster", "Cluster"),
    Column("name", "Name", 35),
    Column("title", "Title", 45),
    Column("url", "URL", 55, "link"),
    Column("distance", "Distance", 12, "score"),
    Column("hub", "Hub"),
)
_MISSING_LINKS = (
    Column("source", "Source", 55, "link"),
    Column("target", "Target", 55, "link"),
    Column("similarity", "Similarity", 12, "score"),
    Column("why", "Why", 14),
    Column("source_title", "Source Title", 45),
    Column("target_title", "Target Title", 45),
    Column("cluster", "Cluster"),
    Column("name", "Name", 35),
)
CLUSTERS = (
    Column("number", "Cluster", kind="integer"),
    Column("name", "Name", 35),
    Column("pages", "Pages", 12, "bar", kind="integer"),
    Column("hub", "Hub", 55, "link"),
    Column("links", "Inner Links", kind="integer"),
    Column("density", "Density", 12, "score", kind="number or null"),
    Column("missing", "Missing Links", kind="integer"),
    Column("distance", "Mean Distance", 14, "score", kind="number"),
)


def cluster_tables(found: SiteClusters) -> list[ResultTable]:
    """Return the clusters, their pages (the nearest to the centre first, those in none last) and missing links."""
    columns = found.columns()
    last = np.where(found.labels < 0, len(found.clusters), found.labels)
    order = np.lexsort((np.nan_to_num(found.distances), last)).tolist()
    pages = {name: [values[row] for row in order] for name, values in columns["pages"].items()}
    ends = {"source_title": found.missing.sources, "target_title": found.missing.targets}
    links = {
        **columns["missing_links"],
        **{name: [found.titles[row] for row in rows.tolist()] for name, rows in ends.items()},
        "name": [*found.clusters["name"].take(found.labels[found.missing.sources])],
    }
    return [
        ResultTable("Clusters", CLUSTERS, columns["clusters"]),
        ResultTable("Pages", _PAGES, pages),
        ResultTable("Missing links", _MISSING_LINKS, links),
    ]
