"""k-means clusters of similar pages: a given number of them, or the number with the best silhouette."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from scipy import sparse
from sklearn.cluster import KMeans, MiniBatchKMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import silhouette_score
from sklearn.utils.extmath import randomized_svd
from threadpoolctl import threadpool_limits

from internal_linker.insight.similarity.similarity import Similarity
from internal_linker.model.arrays import Bools, Ints, Vectors, units

# From this many pages on, mini-batches give nearly the same clusters in a fraction of the time.
MANY_PAGES = 5_000
# Latent dimensions of words; more of them are single words again.
_DIMENSIONS = 100
# Numbers of clusters tried between the bounds: more of them cost time and tell nothing new.
_MOST_TRIES = 12
# The highest default bound: the silhouette of texts keeps rising with the number of clusters, and nobody reads a
# hundred names.
_MOST_BY_ITSELF = 60
# Pages on which the silhouette is measured; their distances take 36 MB.
_SAMPLE = 3_000
_STARTS = 4


@dataclass(frozen=True, slots=True)
class Clusters:
    """Clusters of n pages."""

    labels: Ints  # (n,) each page's cluster, from 0 for the largest; -1 for a page in none
    centres: Vectors  # (k, d) float32 unit rows: the means of the clusters' points
    # (n,) float32, 1 - the cosine of a page and its cluster's centre, 0 to 2; NaN for a page in none
    distances: Vectors


@dataclass(frozen=True, slots=True)
class Tried:
    """Numbers of clusters that were tried for the pages of one language, and how well each separates them."""

    counts: Sequence[int]  # numbers of clusters, ascending
    silhouettes: Sequence[float]  # the mean silhouette by cosine distance of each number, -1 to 1

    @property
    def best(self) -> int:
        """The number with the highest silhouette, the lowest of equals."""
        return self.counts[int(np.argmax(self.silhouettes))]


def points_of(similarity: Similarity) -> Vectors:
    """Return (n, d) float32 unit rows whose products approximate weighted cosines; zeros for a page without text."""
    words = similarity.words()
    parts = [similarity.points(), *([] if words is None else [_directions(words)])]
    rows: Vectors = np.hstack(parts).astype(np.float32)
    return units(rows)


def by_means(
    points: Vectors,
    languages: Ints,
    bounds: tuple[int, int] | None,
    advance: Callable[[int], None] = lambda _: None,
) -> tuple[Ints, list[Tried]]:
    """Group pages by k-means.

    On a site in several languages, each language has its own clusters; a page in an unknown language goes to the
    nearest one.

    Args:
        points: (n, d) unit rows, or zeros.
        languages: (n,) language codes, -1 where unknown.
        bounds: the lowest and highest number of clusters; None: as suits the number of pages.
        advance: called with the number of further numbers tried.

    Returns:
        (n,) labels, -1 for a page without text; and the numbers that were tried, if there was a choice.
    """
    labels = np.full(len(points), -1, np.int64)
    tried: list[Tried] = []
    known = np.asarray(points.any(axis=1))
    groups = language_groups(known, languages)
    with threadpool_limits(1):  # several threads add up in another order each time
        for rows, within in zip(groups, _shared_bounds(groups, bounds), strict=True):
            found, trials = _best(points[rows], within, advance)
            labels[rows] = found + labels.max(initial=-1) + 1
            tried += [trials] if trials else []
    rest = np.flatnonzero(known & (labels < 0))
    if len(rest):
        labels[rest] = (points[rest] @ _centres(points, labels).T).argmax(axis=1)
    return labels, tried


def tries(known: Bools, languages: Ints, bounds: tuple[int, int] | None) -> int:
    """Return how many numbers of clusters `by_means` will try."""
    groups = language_groups(known, languages)
    within = zip(groups, _shared_bounds(groups, bounds), strict=True)
    return sum(len(_counts(len(rows), *ends)) for rows, ends in within)


def ordered(points: Vectors, labels: Ints) -> Clusters:
    """Return the same clusters, the largest first; of equals, the one with the earlier page."""
    known = labels >= 0
    names, first, sizes = np.unique(labels[known], return_index=True, return_counts=True)
    place = np.empty(len(names), np.int64)
    place[np.lexsort((first, -sizes))] = np.arange(len(names))
    found = np.full(len(labels), -1, np.int64)
    found[known] = place[np.searchsorted(names, labels[known])]
    centres = _centres(points, found)
    distances = np.full(len(labels), np.nan, np.float32)
    distances[known] = 1 - np.einsum("ij,ij->i", points[known], centres[found[known]])
    return Clusters(found, centres, np.maximum(distances, 0, out=distances))


def language_groups(known: Bools, languages: Ints) -> list[Ints]:
    """Return the rows of known pages by language; all together if no more than one language is known."""
    told = np.unique(languages[known & (languages >= 0)])
    if len(told) <= 1:
        return [np.flatnonzero(known)]
    return [np.flatnonzero(known & (languages == each)) for each in told]


def _shared_bounds(groups: Sequence[Ints], bounds: tuple[int, int] | None) -> list[tuple[int, int]]:
    """Return the bounds of each group, in proportion to its pages; every group has at least one cluster."""
    sizes = [len(rows) for rows in groups]
    if bounds is None:
        return [_usual(size) for size in sizes]
    return list(zip(*(_shared_out(bound, sizes) for bound in bounds), strict=True))


def _usual(pages: int) -> tuple[int, int]:
    """4 to 7 for 50 pages, 16 to 32 for 1,000."""
    return max(2, min(_MOST_BY_ITSELF // 2, round(sqrt(pages) / 2))), min(
        _MOST_BY_ITSELF, max(3, round(sqrt(pages)))
    )


def _shared_out(count: int, sizes: Sequence[int]) -> list[int]:
    """Split a number by size into whole parts, none below 1 or above its size (largest remainders)."""
    total = max(1, sum(sizes))
    exact = [count * size / total for size in sizes]
    parts = [min(max(1, int(each)), size) for each, size in zip(exact, sizes, strict=True)]
    while sum(parts) < min(count, total):
        open_ = [at for at, part in enumerate(parts) if part < sizes[at]]
        parts[max(open_, key=lambda at: exact[at] - parts[at])] += 1
    return parts


def _counts(pages: int, low: int, high: int) -> list[int]:
    if low == high or pages <= 2:
        return [min(low, pages) if low == high else 1]
    low, high = min(max(2, low), pages - 1), min(high, pages - 1)
    if high - low < _MOST_TRIES:
        return list(range(low, max(low, high) + 1))
    return sorted(set(np.geomspace(low, high, _MOST_TRIES).round().astype(int).tolist()))


def _best(
    points: Vectors, bounds: tuple[int, int], advance: Callable[[int], None]
) -> tuple[Ints, Tried | None]:
    """Return (n,) labels of the number of clusters with the best silhouette between the bounds."""
    counts = _counts(len(points), *bounds)
    if len(counts) == 1:
        advance(1)
        return _means(points, counts[0]), None
    sample = np.sort(np.random.default_rng(0).permutation(len(points))[:_SAMPLE])
    apart = 1 - points[sample] @ points[sample].T
    np.fill_diagonal(np.maximum(apart, 0, out=apart), 0)
    best: Ints = np.zeros(len(points), np.int64)
    silhouettes = list[float]()
    for count in counts:
        labels = _means(points, count)
        silhouette = _silhouette(apart, labels[sample])
        best = labels if silhouette > max(silhouettes, default=-2) else best
        silhouettes.append(silhouette)
        advance(1)
    return best, Tried(counts, silhouettes)


def _silhouette(apart: Vectors, labels: Ints) -> float:
    """Return the mean silhouette; -1 if all pages are one cluster, or each page is one."""
    found = len(np.unique(labels))
    if not 1 < found < len(labels):
        return -1.0
    return float(silhouette_score(apart, labels, metric="precomputed"))


def _means(points: Vectors, count: int) -> Ints:
    if count < 2:
        return np.zeros(len(points), np.int64)
    if len(points) < MANY_PAGES:
        means = KMeans(count, n_init=_STARTS, random_state=0)
    else:
        means = MiniBatchKMeans(count, batch_size=4096, n_init=_STARTS, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # equal pages can't be separated
        labels: Ints = means.fit_predict(points).astype(np.int64)
    return labels


def _directions(words: sparse.csr_matrix) -> Vectors:
    if min(words.shape) <= _DIMENSIONS:
        return np.asarray(words.toarray(), np.float32)
    rows, sizes, _ = randomized_svd(words, _DIMENSIONS, n_iter=4, random_state=0)
    lengths = np.sqrt(np.asarray(words.multiply(words).sum(axis=1)))
    found: Vectors = units((rows * sizes).astype(np.float32)) * lengths.astype(np.float32)
    return found


def _centres(points: Vectors, labels: Ints) -> Vectors:
    known = np.flatnonzero(labels >= 0)
    count = int(labels.max(initial=-1)) + 1
    member = sparse.csr_matrix(
        (np.ones(len(known), np.float32), (labels[known], known)), (count, len(points))
    )
    return units(np.asarray(member @ points, np.float32))
