"""The records of a site's clusters: what each is called and holds, and which links within it are missing."""

from collections.abc import Sequence
from dataclasses import dataclass

from internal_linker.core.arrays import Ints, Vectors
from internal_linker.core.sequences import Lazy

REASONS = ("hub to page", "page to hub", "similar pages")
"""Why a link within a cluster is missing, by the numbers that `MissingLinks` has."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """One cluster.

    Attributes:
        number: from 1, the largest first.
        name: what sets its titles apart.
        pages: how many.
        hub: the URL of the page that most of its pages link to.
        hub_title: of it.
        links: that stand within it.
        density: these as a share of all that could stand, 0 to 1; NaN for one page.
        missing: links within it that are missing, as far as they are listed.
        distance: of its pages from the centre, the mean.
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
    """Links that don't stand, cluster by cluster: those of the hub first, then those of similar pages.

    Attributes:
        sources: (m,) rows.
        targets: (m,) rows.
        reasons: (m,) places in `REASONS`.
        left_out: links from a hub beyond those that one page should have.
    """

    sources: Ints
    targets: Ints
    reasons: Ints
    left_out: int


@dataclass(frozen=True, slots=True)
class ClusteredPage:
    """A page with its cluster.

    Attributes:
        cluster: its number; None for a page that is in none.
        name: of the cluster, "" likewise.
        title: without brand, or the first heading where there is no title.
        url: its address.
        distance: from the cluster's centre, 0 to 2; NaN for a page that is in none.
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
    """A link that doesn't stand.

    Attributes:
        source: the URL of the page that should link.
        target: that of the page to link to.
        similarity: of the two.
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
        rows: (m,) which pages, ascending.
        places: (m, 2) from -1 to 1.
    """

    rows: Ints
    places: Vectors


@dataclass(frozen=True, slots=True)
class SiteClusters:
    """All clusters of a site's n pages.

    Attributes:
        site: its host.
        by: what the pages were compared by, and how they were grouped; goes on after a comma.
        urls: n of them.
        titles: n of them, without brand, or the first heading where there is no title.
        labels: (n,) places in `clusters`; -1: in none.
        distances: (n,) from the cluster's centre, 0 to 2; NaN in none.
        clusters: k of them.
        hubs: (k,) rows.
        missing: links that the clusters lack.
        similarities: (m,) of the ends of these.
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
        """Each page, in the input's order."""
        return Lazy(len(self.urls), self._page)

    @property
    def missing_links(self) -> Sequence[MissingLink]:
        """Each missing link, cluster by cluster."""
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
