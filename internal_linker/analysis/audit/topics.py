"""Topics of a site's pages, found by vectors or title words and named by distinctive words."""

from collections import Counter
from collections.abc import Sequence
from math import sqrt

import numpy as np
from scipy import sparse
from sklearn.cluster import MiniBatchKMeans
from sklearn.utils.extmath import randomized_svd

from internal_linker.core.arrays import Ints, Vectors, units

# Nobody can read a treemap of more.
MOST_TOPICS = 60
# Fewer pages are a coincidence, not a topic.
SMALLEST = 3
# Latent dimensions of short titles; more of them are single words again.
_DIMENSIONS = 50
# Words of a topic's name.
_NAMING = 3
# A word in a larger share of the titles is the brand or says nothing.
_COMMON = 0.3
_FEW = 10


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
    """Return (n,) each page's topic from 0 by k-means of unit rows; -1 for a page whose row is zero.

    The number of topics grows with the root of the number of pages: 4 for 50 pages, 16 for 1,000.
    """
    labels = np.full(len(vectors), -1, np.int64)
    some = np.flatnonzero(vectors.any(axis=1))
    count = min(MOST_TOPICS, max(2, round(sqrt(len(some)) / 2)))
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


def topic_names(labels: Ints, titles: Sequence[Sequence[str]]) -> list[str]:
    """Name each topic by the words that its titles have more often than all titles; all names differ."""
    known = np.flatnonzero(labels >= 0)
    count = int(labels.max(initial=-1)) + 1
    chosen = [titles[at] for at in known.tolist()]
    words = _counts(chosen)
    vocabulary = list(dict.fromkeys(word for title in chosen for word in dict.fromkeys(title)))
    member = sparse.csr_matrix(
        (np.ones(len(known)), (labels[known], np.arange(len(known)))), (count, len(known))
    )
    inside = (member @ words).tocsr()
    everywhere = np.asarray(words.sum(axis=0)).ravel()
    topics = np.bincount(inside.indices, minlength=inside.shape[1])
    sizes = np.bincount(labels[known], minlength=count)
    names: Counter[str] = Counter()
    found = []
    for topic in range(count):
        row = inside[[topic]]
        # The share of the topic's titles with the word, times its lift over all titles, times its rarity among topics.
        share = row.data / sizes[topic]
        worth = share * np.log(share * len(known) / everywhere[row.indices])
        worth *= np.log1p(count / topics[row.indices])
        best = row.indices[np.lexsort((row.indices, -worth))[:_NAMING]]
        name = ", ".join(vocabulary[at] for at in best) or "untitled"
        names[name] += 1
        found.append(name if names[name] == 1 else f"{name} ({names[name]})")
    return found


def _counts(titles: Sequence[Sequence[str]]) -> sparse.csr_matrix:
    """Return (n, words) whether each title has each word; columns in order of first appearance."""
    column: dict[str, int] = {}
    rows = [[column.setdefault(word, len(column)) for word in dict.fromkeys(title)] for title in titles]
    starts = np.cumsum([0, *map(len, rows)])
    indices = np.array([at for row in rows for at in row], np.int64)
    return sparse.csr_matrix((np.ones(len(indices)), indices, starts), shape=(len(rows), max(1, len(column))))
