"""A project -> the clusters of its pages, with names, hubs and the links that they lack; and the files of it."""

import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING

import numpy as np

from internal_linker.adapters.files.plain_text import shortened
from internal_linker.analysis.audit.outputs import duplicates_of
from internal_linker.analysis.graph.communities import communities
from internal_linker.analysis.graph.site_graph import SiteGraph
from internal_linker.analysis.similarity.cluster_links import InnerLinks, inner_links, missing_links
from internal_linker.analysis.similarity.cluster_names import cluster_names
from internal_linker.analysis.similarity.cluster_records import (
    Cluster,
    ClusteredPage,
    MissingLink,
    MissingLinks,
    PageMap,
    SiteClusters,
)
from internal_linker.analysis.similarity.cluster_tables import missing_sheet, page_sheet, summary_sheet
from internal_linker.analysis.similarity.outputs import rows_of, write_cluster_page, write_tables
from internal_linker.analysis.similarity.pairs import alike
from internal_linker.core.arrays import Ints, Vectors
from internal_linker.core.errors import ConfigurationError, InputError
from internal_linker.core.ports import Progress
from internal_linker.core.sequences import Lazy
from internal_linker.text.phrases import Reader
from internal_linker.text.words import normalise
from internal_linker.usecases.compare import Compared, Comparison, compare
from internal_linker.usecases.project import Project

# scikit-learn takes as long to be loaded as 600 titles to be embedded, so one is done beside the other.
if TYPE_CHECKING:
    from internal_linker.analysis.similarity.kmeans import Clusters, Tried

METHODS = {"kmeans": "by k-means", "communities": "as communities of the graph of similar pages"}
# Nobody reads the names of more.
MOST_CLUSTERS = 1_000
# Neighbours of a page in the graph of similar pages: with more, communities flow together.
_NEAREST = 10
_COUNT = re.compile(r"([0-9]{1,6})(?:-([0-9]{1,6}))?")


@dataclass(frozen=True, slots=True)
class ClusterWish:
    """Which clusters are wanted.

    Attributes:
        comparison: how pages are compared.
        method: one of `METHODS`.
        count: "12" clusters, or as many between "5-40" as part best; "": as suits the site.
        min_similarity: for communities: two pages less similar than that are not joined.
    """

    comparison: Comparison = field(default_factory=Comparison)
    method: str = "kmeans"
    count: str = ""
    min_similarity: float = 0.4


@dataclass(frozen=True, slots=True)
class Clustering:
    """What came of it.

    Attributes:
        compared: the pages.
        tried: numbers of clusters that were tried, language by language.
        found: the clusters.
        points: (n, d) float32 unit rows, or zeros: what they were made of.
    """

    compared: Compared
    tried: "Sequence[Tried]"
    found: SiteClusters
    points: Vectors

    @property
    def clusters(self) -> Sequence[Cluster]:
        """All clusters, the largest first."""
        return self.found.clusters

    @property
    def pages(self) -> Sequence[ClusteredPage]:
        """Each page with its cluster, in the input's order."""
        return self.found.pages

    @property
    def missing_links(self) -> Sequence[MissingLink]:
        """Links that the clusters lack."""
        return self.found.missing_links

    @property
    def alone(self) -> int:
        """Pages that are in no cluster."""
        return int((self.found.labels < 0).sum())


def find_clusters(project: Project, wish: ClusterWish, progress: Progress) -> Clustering:
    """Group the pages; nothing is written but vectors into the cache.

    Raises:
        ConfigurationError: an option is wrong.
        InputError: there are not two pages, or nothing to compare them by.
    """
    bounds = count_bounds(wish.count)
    _check_method(wish)
    with ThreadPoolExecutor(1, thread_name_prefix="load") as loading:
        loading.submit(import_module, "internal_linker.analysis.similarity.kmeans")
        compared = compare(project, wish.comparison, progress)
    from internal_linker.analysis.similarity.kmeans import by_means, points_of, tries

    progress.start("Points", 0, "pages")
    points = points_of(compared.similarity)
    known = np.asarray(points.any(axis=1))
    progress.finish(f"{known.sum()} pages in {points.shape[1]} directions of meaning")
    if not known.any():
        raise InputError(
            f"files/urls_rawdata.csv: no page has words by which it can be compared (--by {wish.comparison.by})."
        )
    tried: list[Tried] = []
    if wish.method == "communities":
        labels = _communities(compared, wish.min_similarity, progress)
    else:
        if bounds and bounds[0] > known.sum():
            raise ConfigurationError(
                f"--k {wish.count}: there are only {known.sum()} pages to be grouped. Take fewer clusters."
            )
        count = tries(known, compared.languages, bounds)
        progress.start("Clusters", count if count > 1 else 0, "tries")
        labels, tried = by_means(points, compared.languages, bounds, progress.advance)
        count = len(np.unique(labels[labels >= 0]))
        progress.finish(f"{count}{''.join(map(_told, tried))}")
        if bounds and not bounds[0] <= count <= bounds[1]:
            progress.warn(
                f"{count} clusters instead of {wish.count}: each language has one at least, and equal pages share one."
            )
    return Clustering(compared, tried, _described(project, wish, compared, points, labels, progress), points)


def write_clusters(project: Project, result: Clustering, progress: Progress) -> list[str]:
    """Write clusters.csv, cluster_links.csv, clusters.xlsx and clusters.html; the answer names them.

    Raises:
        OutputError: a file can't be written; it is as it was.
    """
    from internal_linker.analysis.similarity.page_map import drawn, places

    files, found = project.root / "files", result.found
    tables = {"clusters.csv": page_sheet(found), "cluster_links.csv": missing_sheet(found)}
    sheets = [summary_sheet(found), *tables.values()]
    rows = drawn(found.labels, found.hubs)
    progress.start("Map", 0, "pages")
    page_map = PageMap(rows, places(result.points[rows]))
    progress.finish(f"{len(rows)} pages")
    progress.start("Writing", rows_of([*tables.values(), *sheets]), "rows")
    remarks = write_tables(files, tables, "clusters.xlsx", sheets, progress.advance)
    page, more = write_cluster_page(files, found, page_map)
    names = [*tables, "clusters.xlsx", page]
    progress.finish(", ".join(names))
    for remark in [*remarks, *more]:
        progress.warn(remark)
    return names


def count_bounds(count: str) -> tuple[int, int] | None:
    """The lowest and highest number of clusters of "12" or "5-40"; None for "".

    Raises:
        ConfigurationError: it is neither, the first number is the higher one, or there are too many.
    """
    if not count.strip():
        return None
    found = _COUNT.fullmatch(count.strip())
    low, high = (int(found[1]), int(found[2] or found[1])) if found else (0, 0)
    if not 1 <= low <= high <= MOST_CLUSTERS:
        raise ConfigurationError(
            f"--k {shortened(count)}: write a number, as in 12, or the lowest and the highest, as in 5-40; "
            f"{MOST_CLUSTERS:,} at the most."
        )
    return low, high


def _check_method(wish: ClusterWish) -> None:
    if wish.method not in METHODS:
        raise ConfigurationError(f"--method {shortened(wish.method)}: take {' or '.join(METHODS)}.")
    if wish.method == "communities" and wish.count:
        raise ConfigurationError(
            f"--k {wish.count}: communities are as many as there are. Leave it out, or take --method kmeans."
        )


def _communities(compared: Compared, at_least: float, progress: Progress) -> Ints:
    """(n,) labels of the communities of the graph that joins each page and its nearest; -1 for a page without any."""
    n = len(compared.pages)
    progress.start("Clusters", n, "pages")
    pairs = alike(compared.similarity, compared.languages, at_least, _NEAREST, progress.advance)
    # A similarity may be 0 or below, and no weight is.
    weights = np.maximum(pairs.scores, 1e-3).astype(np.float64)
    labels = communities(SiteGraph(pairs.first, pairs.second, weights), n)
    labels[pairs.alone] = -1
    progress.finish(f"{len(np.unique(labels[labels >= 0]))} communities, {len(pairs.alone)} pages in none")
    if len(pairs.alone) == n:
        raise InputError(
            f"No two pages have a similarity of {at_least} or more: there are no communities. "
            "Lower --min-similarity."
        )
    return labels


def _told(tried: "Tried") -> str:
    ends = f"{tried.counts[0]} to {tried.counts[-1]}"
    return f", {tried.best} of {ends} by silhouette ({max(tried.silhouettes):.3f})"


def _described(
    project: Project, wish: ClusterWish, compared: Compared, points: Vectors, labels: Ints, progress: Progress
) -> SiteClusters:
    """The clusters with all that is told of them."""
    from internal_linker.analysis.similarity.kmeans import ordered

    clusters, n = ordered(points, labels), len(compared.pages)
    titles = [
        title.strip() or page.h1.strip() for title, page in zip(compared.titles, compared.pages, strict=True)
    ]
    languages = [page.lang for page in compared.pages]
    names = cluster_names(clusters.labels, titles, languages, Reader(normalise))
    inner = inner_links(clusters.labels, clusters.distances, compared.links)
    progress.start("Links", n, "pages")
    # Pages of nearly the same text are not linked to each other: one of them should go.
    unwanted = np.union1d(compared.links, _copies(project, compared))
    asked = points, clusters.labels, inner.hubs, unwanted
    missing = missing_links(*asked, progress.advance)
    progress.finish(f"{len(missing.sources)} missing within clusters")
    urls = Lazy(n, lambda row: compared.pages[row].url)
    return SiteClusters(
        site=project.site,
        by=f"compared by {', '.join(each.name for each in compared.similarity.fields)}, grouped {METHODS[wish.method]}",
        urls=urls,
        titles=titles,
        labels=clusters.labels,
        distances=clusters.distances,
        clusters=_clusters(names, urls, titles, clusters, inner, missing),
        hubs=inner.hubs,
        missing=missing,
        similarities=compared.similarity.of(missing.sources, missing.targets),
    )


def _copies(project: Project, compared: Compared) -> Ints:
    """Keys of links, source * n + target, between pages that the last run found to be near-duplicates."""
    n, rows = len(compared.pages), {page.url: row for row, page in enumerate(compared.pages)}
    found = [
        (rows.get(one.page), rows.get(one.canonical)) for one in duplicates_of(project.root / "files") or ()
    ]
    pairs = [(one, other) for one, other in found if one is not None and other is not None]
    return np.array([key for one, other in pairs for key in (one * n + other, other * n + one)], np.int64)


def _clusters(
    names: Sequence[str],
    urls: Sequence[str],
    titles: Sequence[str],
    clusters: "Clusters",
    inner: InnerLinks,
    missing: MissingLinks,
) -> list[Cluster]:
    kept, k = clusters.labels >= 0, len(names)
    sizes = np.bincount(clusters.labels[kept], minlength=k)
    distances = np.bincount(clusters.labels[kept], clusters.distances[kept], minlength=k) / np.maximum(
        sizes, 1
    )
    lacking = np.bincount(clusters.labels[missing.sources], minlength=k)
    return [
        Cluster(
            number=at + 1,
            name=names[at],
            pages=int(sizes[at]),
            hub=urls[hub],
            hub_title=titles[hub],
            links=int(inner.links[at]),
            density=float(inner.densities[at]),
            missing=int(lacking[at]),
            distance=float(distances[at]),
        )
        for at, hub in enumerate(inner.hubs.tolist())
    ]
