"""The records of a site's clusters: names, pages, and the links that are missing within them."""

from collections.abc import Sequence
from dataclasses import dataclass

from internal_linker.core.arrays import Ints, Vectors
from internal_linker.core.sequences import Lazy

REASONS = ("hub to page", "page to hub", "similar pages")
"""Kinds of missing links; `MissingLinks.reasons` has their positions."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """One cluster.

    Attributes:
        number: 1 for the largest cluster, and so on.
        name: up to three terms that set its pages apart.
        pages: how many pages it has.
        hub: URL of the page that is central to its topic and links.
        hub_title: the hub's title.
        links: existing links within the cluster.
        density: these as a share of all possible links, 0 to 1; NaN for a single page.
        missing: missing links within the cluster that are listed.
        distance: mean distance of its pages from the centre, 0 to 2.
    """

    number: int
    name: str
    pages: int
    hub: str
    hub_title: str
    links: int
    density: float
    missing: int
    distance: float


@dataclass(frozen=True, slots=True)
class MissingLinks:
    """Missing links, cluster by cluster: those from and to the hub first, then those between similar pages.

    Attributes:
        sources: (m,) rows.
        targets: (m,) rows.
        reasons: (m,) positions in `REASONS`.
        left_out: links from hubs beyond the number that a page should have.
    """

    sources: Ints
    targets: Ints
    reasons: Ints
    left_out: int


@dataclass(frozen=True, slots=True)
class ClusteredPage:
    """A page with its cluster.

    Attributes:
        cluster: the cluster's number; None for a page in none.
        name: the cluster's name, "" for a page in none.
        title: the page's title without brand, or its first heading.
        url: the page's URL.
        distance: distance from the cluster's centre, 0 to 2; NaN for a page in none.
        hub: whether it is the cluster's hub.
    """

    cluster: int | None
    name: str
    title: str
    url: str
    distance: float
    hub: bool


@dataclass(frozen=True, slots=True)
class MissingLink:
    """A link that is missing within a cluster.

    Attributes:
        source: URL of the page that should link.
        target: URL of the page to link to.
        similarity: the pages' similarity, -1 to 1.
        why: one of `REASONS`.
        cluster: the number of their cluster.
    """

    source: str
    target: str
    similarity: float
    why: str
    cluster: int


@dataclass(frozen=True, slots=True)
class PageMap:
    """Pages on a flat map.

    Attributes:
        rows: (m,) rows of the pages, ascending.
        places: (m, 2) coordinates, -1 to 1.
    """

    rows: Ints
    places: Vectors


@dataclass(frozen=True, slots=True)
class SiteClusters:
    """All clusters of a site's n pages.

    Attributes:
        site: the site's host.
        by: what the pages were compared by and how they were grouped, as the end of a sentence.
        urls: n URLs.
        titles: n titles without brand, or first headings.
        labels: (n,) positions in `clusters`; -1 for a page in none.
        distances: (n,) distances from the cluster's centre, 0 to 2; NaN for a page in none.
        clusters: k clusters, the largest first.
        hubs: (k,) rows.
        missing: the links that are missing.
        similarities: (m,) similarities of the missing links' ends.
    """

    site: str
    by: str
    urls: Sequence[str]
    titles: Sequence[str]
    labels: Ints
    distances: Vectors
    clusters: Sequence[Cluster]
    hubs: Ints
    missing: MissingLinks
    similarities: Vectors

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
