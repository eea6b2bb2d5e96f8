"""The clusters of an audit's pages: those of `clusters`, or on a large site communities of its links."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import sqrt

import numpy as np
from scipy import sparse
from sklearn.cluster import MiniBatchKMeans
from sklearn.utils.extmath import randomized_svd

from internal_linker.insight.graph import SiteGraph, communities
from internal_linker.insight.similarity.cluster_names import cluster_names
from internal_linker.model.arrays import Ints, Vectors, units
from internal_linker.model.records import Page
from internal_linker.text.brands import found_brands, without_brands
from internal_linker.text.phrases import Reader
from internal_linker.text.words import normalise, words

# Nobody can read a treemap of more.
MOST_CLUSTERS = 60
# Fewer pages are a coincidence, not a cluster.
SMALLEST = 3
# Latent dimensions of short titles; more of them are single words again.
_DIMENSIONS = 50
# The share of pages with a link from which links define clusters; below it, too many pages would be in none.
_ENOUGH_LINKED = 0.9
# A word in a larger share of the titles is the brand or says nothing.
_COMMON = 0.3
_FEW = 10


@dataclass(frozen=True, slots=True)
class PageClusters:
    """The clusters of n pages."""

    labels: Ints  # (n,) clusters from 0, the largest first; -1 for a page in none
    names: Sequence[str]  # their names, all different
    by: str  # what they were grouped by: "content", "title", "h1" or "links"


def page_clusters(
    pages: Sequence[Page],
    graph: SiteGraph,
    similar: Callable[[Sequence[Page]], tuple[Ints, str] | None],
    languages: Callable[[Sequence[Page]], Sequence[str]],
) -> PageClusters:
    """Group the pages that links may lead to, and name the groups.

    Args:
        graph: their links, which group the pages of a large site.
        similar: returns (m,) the clusters of m pages and the field that they were compared by; None: too many pages.
        languages: returns m language codes, "" where unknown.
    """
    rows = np.array([row for row, page in enumerate(pages) if not page.issue], np.int64)
    compared = [pages[row] for row in rows.tolist()]
    compared = [replace(page, lang=lang) for page, lang in zip(compared, languages(compared), strict=True)]
    labels = np.full(len(pages), -1, np.int64)
    found = similar(compared)
    if found is not None:
        labels[rows], by = found
    elif len(np.union1d(graph.sources, graph.targets)) >= _ENOUGH_LINKED * len(pages):
        by = "links"
        labels[rows] = ordered(communities(graph, len(pages))[rows])
    else:
        titles = [words(f"{page.title} {page.h1 if page.h1 != page.title else ''}") for page in compared]
        labels[rows], by = ordered(by_vectors(title_vectors(titles))), "title"
    names = cluster_names(labels[rows], compared, plain_titles(compared), Reader(normalise))
    return PageClusters(labels, names, by)


def plain_titles(pages: Sequence[Page]) -> list[str]:
    """Return the pages' titles, or first headings, without the brands that titles of their language end in."""
    brands = {
        lang: found_brands([page.title for page in pages if page.lang == lang])
        for lang in {page.lang for page in pages}
    }
    return [without_brands(page.title, brands[page.lang]).strip() or page.h1.strip() for page in pages]


def title_vectors(titles: Sequence[Sequence[str]]) -> Vectors:
    """Return (n, d) float32 unit rows of title words by LSA; zeros for titles without shared words."""
    counts = _counts(titles)
    frequency = np.bincount(counts.indices, minlength=counts.shape[1])
    telling = np.flatnonzero((frequency > 1) & (frequency <= max(_FEW, _COMMON * len(titles))))
    weighted = counts[:, telling].tocsc()
    weighted.data *= np.repeat(np.log(len(titles) / frequency[telling]) + 1, frequency[telling])
    kept = min(_DIMENSIONS, min(weighted.shape) - 1)
    if kept < 1:
        return np.zeros((len(titles), 1), np.float32)
    rows, sizes, _ = randomized_svd(weighted.tocsr(), kept, n_iter=2, random_state=0)
    return units((rows * sizes).astype(np.float32))


def by_vectors(vectors: Vectors) -> Ints:
    """Return (n,) each page's cluster from 0 by k-means of unit rows; -1 for a page whose row is zero.

    The number of clusters grows with the root of the number of pages: 4 for 50 pages, 16 for 1,000.
    """
    labels = np.full(len(vectors), -1, np.int64)
    some = np.flatnonzero(vectors.any(axis=1))
    count = min(MOST_CLUSTERS, max(2, round(sqrt(len(some)) / 2)))
    if len(some) <= count:
        labels[some] = 0
        return labels
    means = MiniBatchKMeans(count, batch_size=4096, n_init=3, random_state=0)
    labels[some] = means.fit_predict(vectors[some])
    return labels


def ordered(labels: Ints) -> Ints:
    """Renumber groups by size, the largest 0; pages of groups smaller than `SMALLEST` get -1."""
    kept = labels >= 0
    sizes = np.bincount(labels[kept], minlength=1)
    order = np.argsort(-sizes, kind="stable")
    place = np.full(len(sizes) + 1, -1, np.int64)
    place[order] = np.where(sizes[order] >= min(SMALLEST, sizes.max()), np.arange(len(sizes)), -1)
    found: Ints = np.where(kept, place[labels], -1)
    return found


def _counts(titles: Sequence[Sequence[str]]) -> sparse.csr_matrix:
    """Return (n, words) whether each title has each word; columns in order of first appearance."""
    column: dict[str, int] = {}
    rows = [[column.setdefault(word, len(column)) for word in dict.fromkeys(title)] for title in titles]
    starts = np.cumsum([0, *map(len, rows)])
    indices = np.array([at for row in rows for at in row], np.int64)
    return sparse.csr_matrix((np.ones(len(indices)), indices, starts), shape=(len(rows), max(1, len(column))))
