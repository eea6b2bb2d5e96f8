"""The clusters of a site: their records, the names that people gave them, and their tables."""

from collections.abc import Sequence, Set
from dataclasses import dataclass, replace

import numpy as np

from internal_linker.adapters.tables.xlsx_writer import Cell, Column, Sheet
from internal_linker.core.arrays import Ints, Vectors
from internal_linker.core.sequences import Lazy

REASONS = ("hub to page", "page to hub", "similar pages")
"""Kinds of missing links; `MissingLinks.reasons` has their positions."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """One cluster."""

    number: int  # 1 for the largest cluster, and so on
    name: str  # up to three terms that set its pages apart
    pages: int  # how many pages it has
    hub: str  # URL of the page that is central to its topic and links
    hub_title: str  # the hub's title
    links: int  # existing links within the cluster
    density: float  # these as a share of all possible links, 0 to 1; NaN for a single page
    missing: int  # missing links within the cluster that are listed
    distance: float  # mean distance of its pages from the centre, 0 to 2


@dataclass(frozen=True, slots=True)
class MissingLinks:
    """Missing links, cluster by cluster: those from and to the hub first, then those between similar pages."""

    sources: Ints  # (m,) rows
    targets: Ints  # (m,) rows
    reasons: Ints  # (m,) positions in `REASONS`
    left_out: int  # links from hubs beyond the number that a page should have


@dataclass(frozen=True, slots=True)
class ClusteredPage:
    """A page with its cluster."""

    cluster: int | None  # the cluster's number; None for a page in none
    name: str  # the cluster's name, "" for a page in none
    title: str  # the page's title without brand, or its first heading
    url: str  # the page's URL
    distance: float  # distance from the cluster's centre, 0 to 2; NaN for a page in none
    hub: bool  # whether it is the cluster's hub


@dataclass(frozen=True, slots=True)
class MissingLink:
    """A link that is missing within a cluster."""

    source: str  # URL of the page that should link
    target: str  # URL of the page to link to
    similarity: float  # the pages' similarity, -1 to 1
    why: str  # one of `REASONS`
    cluster: int  # the number of their cluster


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
    clusters: Sequence[Cluster]  # k clusters, the largest first
    hubs: Ints  # (k,) rows
    missing: MissingLinks  # the links that are missing
    similarities: Vectors  # (m,) similarities of the missing links' ends

    @property
    def pages(self) -> Sequence[ClusteredPage]:
        """All pages, in the input's order."""
        return Lazy(len(self.urls), self._page)

    @property
    def missing_links(self) -> Sequence[MissingLink]:
        """All missing links, cluster by cluster."""
        return Lazy(len(self.missing.sources), self._missing_link)

    def _page(self, row: int) -> ClusteredPage:
        title, url, distance = self.titles[row], self.urls[row], float(self.distances[row])
        label = int(self.labels[row])
        if label < 0:
            return ClusteredPage(None, "", title, url, distance, False)
        cluster = self.clusters[label]
        return ClusteredPage(
            cluster.number, cluster.name, title, url, distance, bool(self.hubs[label] == row)
        )

    def _missing_link(self, at: int) -> MissingLink:
        source, target = int(self.missing.sources[at]), int(self.missing.targets[at])
        similarity, why = float(self.similarities[at]), REASONS[self.missing.reasons[at]]
        cluster = self.clusters[self.labels[source]].number
        return MissingLink(self.urls[source], self.urls[target], similarity, why, cluster)


# Shared pages as a share of all pages of both, from which two clusters are the same topic: no two others can reach it.
_SAME = 0.5


@dataclass(frozen=True, slots=True)
class ChosenName:
    """A name for a cluster."""

    name: str  # the name
    urls: frozenset[str]  # the pages that the cluster had when it got the name


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


def page_sheet(found: SiteClusters) -> Sheet:
    """List the pages by cluster, those nearest to the centre first; pages in no cluster come last."""
    last = np.where(found.labels < 0, len(found.clusters), found.labels)
    order, pages = np.lexsort((np.nan_to_num(found.distances), last)), found.pages

    def row(at: int) -> Sequence[Cell]:
        page = pages[int(order[at])]
        hub = "yes" if page.hub else "no"
        return [page.cluster or "", page.name, page.title, page.url, page.distance, hub]

    columns = [
        *(Column("Cluster"), Column("Name", 35), Column("Title", 45), Column("URL", 55, "link")),
        *(Column("Distance", 12, "score"), Column("Hub")),
    ]
    return Sheet("Pages", columns, Lazy(len(order), row))


def missing_sheet(found: SiteClusters) -> Sheet:
    """List the missing links with their kind."""
    missing, titles, links = found.missing, found.titles, found.missing_links

    def row(at: int) -> Sequence[Cell]:
        link = links[at]
        ends = titles[missing.sources[at]], titles[missing.targets[at]]
        name = found.clusters[link.cluster - 1].name
        return [link.source, link.target, link.similarity, link.why, *ends, link.cluster, name]

    columns = [
        *(Column("Source", 55, "link"), Column("Target", 55, "link"), Column("Similarity", 12, "score")),
        *(Column("Why", 14), Column("Source Title", 45), Column("Target Title", 45)),
        *(Column("Cluster"), Column("Name", 35)),
    ]
    return Sheet("Missing links", columns, Lazy(len(missing.sources), row))


def summary_sheet(found: SiteClusters) -> Sheet:
    """List the clusters with their figures."""
    columns = [
        *(Column("Cluster"), Column("Name", 35), Column("Pages", 12, "bar"), Column("Hub", 55, "link")),
        *(Column("Inner Links"), Column("Density", 12, "score"), Column("Missing Links")),
        Column("Mean Distance", 14, "score"),
    ]
    rows = [
        (one.number, one.name, one.pages, one.hub, one.links, one.density, one.missing, one.distance)
        for one in found.clusters
    ]
    return Sheet("Clusters", columns, rows)
