"""What speaks for each candidate of one source -> its score by fixed weights, and features to learn from."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from internal_linker.core.arrays import Ints, Vectors
from internal_linker.ranking.rules import FIXED_WEIGHTS, Weights

# What the features of `features` are called, in their order.
FEATURES = (
    "match", "words", "embedding", "passage", "time", "votes", "like linked",
    "no in-link", "in-links", "links back", "cocited",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Signals:
    """The candidates of several sources; all arrays are (n,).

    Attributes:
        of: the place of the source, ascending.
        rows: the candidates' rows in the index.
        match: blend of words and embedding, standard deviations above the source's average target.
        similarity: cosine of the vectors, -1 to 1; NaN where one is missing.
        lexical: cosine of TF-IDF, 0 to 1.
        passage: fit of the source's best passage, 0 to 1.
        nearness: in time, see `dates.nearness`; NaN where it is unknown.
        votes: weighted share, 0 to 1, of the most similar pages that link to it.
        alike: mean cosine, 0 to 1, of its words with those of the pages that the source links to.
        inlinks: how many pages link to it.
        back: 1 where it links to the source, else 0.
        cocited: how many pages link to it and to the source.
    """

    of: Ints
    rows: Ints
    match: Vectors
    similarity: Vectors
    lexical: Vectors
    passage: Vectors
    nearness: Vectors
    votes: Vectors
    alike: Vectors
    inlinks: Ints
    back: Vectors
    cocited: Vectors

    def split(self, count: int) -> Iterator["Signals"]:
        """Yield those of each of the `count` sources."""
        ends = np.searchsorted(self.of, np.arange(1, count))
        columns = [np.split(getattr(self, name), ends) for name in Signals.__slots__[1:]]
        for rows, *others in zip(*columns, strict=True):
            yield Signals(np.zeros(len(rows), np.int64), rows, *others)


def fixed_score(signals: Signals, weights: Weights = FIXED_WEIGHTS) -> Vectors:
    """(n,) float64: the weighted sum, higher is better."""
    similar = weights.match, 0.0, 0.0, weights.passage
    score = np.array([*similar, weights.time, weights.votes, weights.alike]) @ _standards(signals)
    weighted: Vectors = score + weights.unlinked * (signals.inlinks == 0)
    return weighted


def reordered(score: Vectors, logits: Vectors, signals: Signals) -> Vectors:
    """(n,) the same scores, changed about between a source's pages that are linked to, by their logits.

    What is learned from links says that nobody links to a new page; so new pages keep their places.
    """
    settled = np.flatnonzero(signals.inlinks > 0)
    of = signals.of[settled]
    moved = score.copy()
    moved[settled[np.lexsort((-logits[settled], of))]] = score[settled[np.lexsort((-score[settled], of))]]
    return moved


def features(signals: Signals) -> Vectors:
    """(n, len(FEATURES)) float32, most of them in standard deviations among a source's candidates."""
    counted = signals.inlinks == 0, np.log1p(signals.inlinks), signals.back, np.log1p(signals.cocited)
    return np.concatenate([_standards(signals), np.stack(counted)]).T.astype(np.float32)


def _standards(signals: Signals) -> Vectors:
    """(7, n) float64: the first features, in standard deviations."""
    words = signals.match, signals.lexical, signals.similarity, signals.passage
    others = signals.nearness, signals.votes, signals.alike
    return np.stack([standard(each, signals.of) for each in (*words, *others)])


def standard(values: Vectors, of: Ints) -> Vectors:
    """(n,) in standard deviations above the mean of a source's known ones; 0 where unknown, and where all are equal.

    Args:
        values: (n,) NaN where unknown.
        of: (n,) the place of each value's source.
    """
    known = np.isfinite(values)
    count = np.maximum(np.bincount(of, known), 1)
    above = np.where(known, values - (np.bincount(of, np.where(known, values, 0.0)) / count)[of], 0.0)
    deviation = np.sqrt(np.bincount(of, above**2) / count)
    standardised: Vectors = above / np.where(deviation > 1e-6, deviation, np.inf)[of]
    return standardised
