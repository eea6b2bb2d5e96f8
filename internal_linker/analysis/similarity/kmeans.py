"""The similarity of pages -> clusters of them: as many as asked, or as many as part best."""

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

from internal_linker.analysis.similarity.similarity import Similarity
from internal_linker.core.arrays import Bools, Ints, Vectors, units

# From so many pages on a batch of them at a time gives nearly the same clusters in a fraction of the time.
MANY_PAGES = 5_000
# Directions of meaning in words; more are single words again.
_DIMENSIONS = 100
# Numbers of clusters that are tried between the bounds: more tell no more, and take as long as they are many.
_MOST_TRIES = 12
# Where nobody names bounds: the silhouette of texts rises on and on with the number of clusters, and a hundred
# names are nothing that a person reads.
_MOST_BY_ITSELF = 60
# Pages whose silhouette is measured; their distances take 36 MB.
_SAMPLE = 3_000
_STARTS = 4


@dataclass(frozen=True, slots=True)
class Clusters:
    """Clusters of n pages.

    Attributes:
        labels: (n,) each page's cluster from 0, the largest 0; -1: it is in none.
        centres: (k, d) float32 unit rows: the means of the clusters' points.
        distances: (n,) float32, 1 - the cosine of a page and its cluster's centre, 0 to 2; NaN in none.
    """

    labels: Ints
    centres: Vectors
    distances: Vectors


@dataclass(frozen=True, slots=True)
class Tried:
    """Numbers of clusters that were tried for the pages of one language, and how well each parts them.

    Attributes:
        counts: of clusters, ascending.
        silhouettes: by the cosine, -1 to 1: how much nearer pages are to their own cluster than to the next.
    """

    counts: Sequence[int]
    silhouettes: Sequence[float]

    @property
    def best(self) -> int:
        """The count with the highest silhouette, the lowest of equals."""
        return self.counts[int(np.argmax(self.silhouettes))]


def points_of(similarity: Similarity) -> Vectors:
    """(n, d) float32 unit rows whose products are weighted cosines, nearly; zeros where nothing is known of a page."""
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
    """(n,) labels by k-means, -1 for a page of which nothing is known; and what was tried, if anything was.

    A site in several languages has clusters of each for itself. A page in an unknown one goes to the nearest.

    Args:
        points: (n, d) unit rows, or zeros.
        languages: (n,) codes, -1 where unknown.
        bounds: the lowest and highest number of clusters; None: what suits the number of pages.
        advance: is told how many more counts of clusters were tried.
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
    """How many counts of clusters `by_means` will try."""
    groups = language_groups(known, languages)
    within = zip(groups, _shared_bounds(groups, bounds), strict=True)
    return sum(len(_counts(len(rows), *ends)) for rows, ends in within)


def ordered(points: Vectors, labels: Ints) -> Clusters:
    """The same clusters, the largest first; of equals that which has the first page."""
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
    """The rows of known pages by language; all together where one language is known at most."""
    told = np.unique(languages[known & (languages >= 0)])
    if len(told) <= 1:
        return [np.flatnonzero(known)]
    return [np.flatnonzero(known & (languages == each)) for each in told]


def _shared_bounds(groups: Sequence[Ints], bounds: tuple[int, int] | None) -> list[tuple[int, int]]:
    """For each group the lowest and highest count of clusters, shared out by pages; each has one at least."""
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
    """A count as whole parts by size, of which none is below 1 or above its size; largest remainders first."""
    total = max(1, sum(sizes))
    exact = [count * size / total for size in sizes]
    parts = [min(max(1, int(each)), size) for each, size in zip(exact, sizes, strict=True)]
    while sum(parts) < min(count, total):
        open_ = [at for at, part in enumerate(parts) if part < sizes[at]]
        parts[max(open_, key=lambda at: exact[at] - parts[at])] += 1
    return parts


def _counts(pages: int, low: int, high: int) -> list[int]:
    """The counts to try, ascending; one where there is nothing to choose."""
    if low == high or pages <= 2:
        return [min(low, pages) if low == high else 1]
    low, high = min(max(2, low), pages - 1), min(high, pages - 1)
    if high - low < _MOST_TRIES:
        return list(range(low, max(low, high) + 1))
    return sorted(set(np.geomspace(low, high, _MOST_TRIES).round().astype(int).tolist()))


def _best(
    points: Vectors, bounds: tuple[int, int], advance: Callable[[int], None]
) -> tuple[Ints, Tried | None]:
    """(n,) the labels of the count whose silhouette is best, of those between the bounds."""
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
    """-1 where all pages are one cluster, or each is one."""
    found = len(np.unique(labels))
    if not 1 < found < len(labels):
        return -1.0
    return float(silhouette_score(apart, labels, metric="precomputed"))


def _means(points: Vectors, count: int) -> Ints:
    """(n,) labels by k-means, the same ones every time; fewer than `count` where pages are equal."""
    if count < 2:
        return np.zeros(len(points), np.int64)
    if len(points) < MANY_PAGES:
        means = KMeans(count, n_init=_STARTS, random_state=0)
    else:
        means = MiniBatchKMeans(count, batch_size=4096, n_init=_STARTS, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # equal pages can't be parted
        labels: Ints = means.fit_predict(points).astype(np.int64)
    return labels


def _directions(words: sparse.csr_matrix) -> Vectors:
    """(n, d) float32 the words by what they mean beside each other; rows keep their lengths."""
    if min(words.shape) <= _DIMENSIONS:
        return np.asarray(words.toarray(), np.float32)
    rows, sizes, _ = randomized_svd(words, _DIMENSIONS, n_iter=4, random_state=0)
    lengths = np.sqrt(np.asarray(words.multiply(words).sum(axis=1)))
    found: Vectors = units((rows * sizes).astype(np.float32)) * lengths.astype(np.float32)
    return found


def _centres(points: Vectors, labels: Ints) -> Vectors:
    """(k, d) float32 unit rows: the mean of each cluster's points."""
    known = np.flatnonzero(labels >= 0)
    count = int(labels.max(initial=-1)) + 1
    member = sparse.csr_matrix(
        (np.ones(len(known), np.float32), (labels[known], known)), (count, len(points))
    )
    return units(np.asarray(member @ points, np.float32))
