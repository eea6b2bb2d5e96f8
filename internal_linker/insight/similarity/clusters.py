"""Clusters of a site's pages: grouped by k-means or as communities, named, with hubs and missing links."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from internal_linker.insight.graph import SiteGraph
from internal_linker.insight.graph import communities as graph_communities
from internal_linker.insight.similarity.cluster_links import InnerLinks, inner_links, missing_links
from internal_linker.insight.similarity.cluster_names import cluster_names, named_shares
from internal_linker.insight.similarity.cluster_records import (
    MissingLinks,
    SiteClusters,
)
from internal_linker.insight.similarity.pairs import similar_pairs
from internal_linker.insight.similarity.similarity import ComparedPages
from internal_linker.model.arrays import Ints, Vectors
from internal_linker.model.errors import ConfigurationError, InputError
from internal_linker.model.ports import Progress
from internal_linker.model.results import Columns, Result, to_named_rows
from internal_linker.store.files.plain_text import shortened
from internal_linker.text.phrases import Reader
from internal_linker.text.words import normalise

# scikit-learn takes as long to load as 600 titles take to embed, so use cases load it while they embed.
if TYPE_CHECKING:
    from pandas import DataFrame

    from internal_linker.insight.similarity.kmeans import Clusters, Tried

METHODS = {"kmeans": "by k-means", "communities": "as communities of the graph of similar pages"}
# Nobody reads the names of more.
MOST_CLUSTERS = 1_000
# Neighbours of a page in the graph of similar pages: with more, communities merge.
_NEAREST = 10
_COUNT = re.compile(r"([0-9]{1,6})(?:-([0-9]{1,6}))?")


@dataclass(frozen=True, repr=False)
class Clustering(Result):
    """The clusters of a site's pages."""

    compared: ComparedPages  # the pages
    tried: "Sequence[Tried]"  # the numbers of clusters that were tried, language by language
    found: SiteClusters  # the clusters
    points: Vectors  # (n, d) float32 unit rows, or zeros: what the pages were grouped by
    files: tuple[str, ...] = ()  # the files of files/ that were written

    @property
    def clusters(self) -> Sequence[Any]:
        """All clusters, the largest first, as rows of their table."""
        return to_named_rows(self.tables()["clusters"])

    @property
    def pages(self) -> Sequence[Any]:
        """Each page with its cluster, in the input's order, as rows of `page_columns`."""
        return to_named_rows(self.found.page_columns())

    @property
    def missing_links(self) -> Sequence[Any]:
        """Links that the clusters lack, as rows of `link_columns`."""
        return to_named_rows(self.found.link_columns())

    @property
    def alone(self) -> int:
        """Pages that are in no cluster."""
        return int((self.found.labels < 0).sum())

    def tables(self) -> dict[str, Columns]:
        """`clusters`, the largest first; `pages`, in the input's order; `missing_links`, cluster by cluster."""
        return self.found.columns()


def count_bounds(count: str) -> tuple[int, int] | None:
    """Return the lowest and highest number of clusters of "12" or "5-40"; None for "".

    Raises:
        ConfigurationError: it is neither, the first number is the higher one, or there are too many.
    """
    if not count.strip():
        return None
    found = _COUNT.fullmatch(count.strip())
    low, high = (int(found[1]), int(found[2] or found[1])) if found else (0, 0)
    if not 1 <= low <= high <= MOST_CLUSTERS:
        raise ConfigurationError(
            f"--k {shortened(count)}: write a number, such as 12, or a range, such as 5-40; "
            f"the maximum is {MOST_CLUSTERS:,}."
        )
    return low, high


def k_means(
    compared: ComparedPages,
    points: Vectors,
    bounds: tuple[int, int] | None,
    progress: Progress,
) -> "tuple[Ints, list[Tried]]":
    """Group the pages by k-means, each language by itself.

    Args:
        points: (n, d) float32 unit rows, or zeros for a page of which nothing is known.
        bounds: the lowest and highest number of clusters; None: as suits the site.

    Returns:
        (n,) labels from 0, -1 for a page of which nothing is known; and the numbers of clusters that were tried.

    Raises:
        ConfigurationError: there are fewer pages than clusters wanted.
    """
    from internal_linker.insight.similarity.kmeans import by_means, tries

    known = np.asarray(points.any(axis=1))
    wanted = (
        "" if bounds is None else str(bounds[0]) if bounds[0] == bounds[1] else f"{bounds[0]}-{bounds[1]}"
    )
    if bounds and bounds[0] > known.sum():
        raise ConfigurationError(
            f"--k {wanted}: there are only {known.sum()} pages to group. Choose fewer clusters."
        )
    count = tries(known, compared.languages, bounds)
    progress.start("Clusters", count if count > 1 else 0, "tries")
    labels, tried = by_means(points, compared.languages, bounds, progress.advance)
    count = len(np.unique(labels[labels >= 0]))
    progress.finish(f"{count}{''.join(map(_told, tried))}")
    if bounds and not bounds[0] <= count <= bounds[1]:
        progress.warn(
            f"{count} clusters instead of {wanted}: each language has at least one, and identical pages share one."
        )
    return labels, tried


def _told(tried: "Tried") -> str:
    ends = f"{tried.counts[0]} to {tried.counts[-1]}"
    return f"; {tried.best} chosen from {ends} by silhouette ({max(tried.silhouettes):.3f})"


def communities(compared: ComparedPages, at_least: float, progress: Progress) -> Ints:
    """Group the pages into communities of the graph that joins each page and its nearest ones, if similar enough.

    Returns:
        (n,) labels from 0; -1 for a page that has no neighbour.

    Raises:
        InputError: no two pages are similar enough.
    """
    n = len(compared.pages)
    progress.start("Clusters", n, "pages")
    pairs = similar_pairs(compared.similarity, compared.languages, at_least, _NEAREST, progress.advance)
    # A similarity may be 0 or below, and no weight is.
    weights = np.maximum(pairs.scores, 1e-3).astype(np.float64)
    labels = graph_communities(SiteGraph(pairs.first, pairs.second, weights), n)
    labels[pairs.alone] = -1
    progress.finish(f"{len(np.unique(labels[labels >= 0]))} communities, {len(pairs.alone)} pages in none")
    if len(pairs.alone) == n:
        raise InputError(
            f"No two pages have a similarity of {at_least} or more: there are no communities. "
            "Lower --min-similarity."
        )
    return labels


def describe_clusters(
    compared: ComparedPages,
    points: Vectors,
    labels: Ints,
    progress: Progress,
    *,
    site: str,
    method: str,
    copies: Ints,
) -> SiteClusters:
    """Name the clusters, and find their hubs and the links that they lack.

    Args:
        points: (n, d) float32 unit rows, or zeros.
        labels: (n,) clusters from 0; -1 for a page in none.
        method: how the pages were grouped, one of `METHODS`.
        copies: keys, source * n + target, of links between near-duplicates, which are never missing.
    """
    from internal_linker.insight.similarity.kmeans import ordered

    clusters, n = ordered(points, labels), len(compared.pages)
    titles = [
        title.strip() or page.h1.strip() for title, page in zip(compared.titles, compared.pages, strict=True)
    ]
    languages = [page.lang for page in compared.pages]
    reader = Reader(normalise)
    names = cluster_names(clusters.labels, compared.pages, titles, reader)
    named = named_shares(names, clusters.labels, titles, languages, reader)
    inner = inner_links(clusters.labels, clusters.distances, named, compared.links, compared.followed)
    progress.start("Links", n, "pages")
    # Pages of nearly the same text are not linked to each other: one of them should go.
    unwanted = np.union1d(compared.links, copies)
    missing = missing_links(
        points,
        clusters.labels,
        inner.hubs,
        unwanted,
        progress.advance,
        gives=compared.gives,
        takes=compared.takes,
    )
    progress.finish(f"{len(missing.sources)} missing within clusters")
    urls = [page.url for page in compared.pages]
    return SiteClusters(
        site=site,
        by=f"compared by {', '.join(each.name for each in compared.similarity.fields)}, grouped {METHODS[method]}",
        urls=urls,
        titles=titles,
        labels=clusters.labels,
        distances=clusters.distances,
        clusters=_clusters(names, urls, titles, clusters, inner=inner, missing=missing),
        hubs=inner.hubs,
        missing=missing,
        similarities=compared.similarity.compare_rows(missing.sources, missing.targets),
    )


def _clusters(
    names: Sequence[str],
    urls: Sequence[str],
    titles: Sequence[str],
    clusters: "Clusters",
    *,
    inner: InnerLinks,
    missing: MissingLinks,
) -> "DataFrame":
    from pandas import DataFrame

    kept, k = clusters.labels >= 0, len(names)
    sizes = np.bincount(clusters.labels[kept], minlength=k)
    distances = np.bincount(clusters.labels[kept], clusters.distances[kept], minlength=k)
    return DataFrame(
        {
            "number": np.arange(1, k + 1),
            "name": names,
            "pages": sizes,
            "hub": [urls[hub] for hub in inner.hubs.tolist()],
            "hub_title": [titles[hub] for hub in inner.hubs.tolist()],
            "links": inner.links,
            "density": inner.densities,
            "missing": np.bincount(clusters.labels[missing.sources], minlength=k),
            "distance": distances / np.maximum(sizes, 1),
            "computed": names,
        }
    )
