"""What speaks for each candidate of one source -> its score by fixed weights, and features to learn from."""

from dataclasses import dataclass

import numpy as np

from internal_linker.arrays import Ints, Vectors

# What the features of `features` are called, in their order.
FEATURES = (
    "match", "words", "embedding", "passage", "time", "votes", "like linked",
    "no in-link", "in-links", "links back", "cocited",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Weights:
    """What each signal counts, all in standard deviations among a source's candidates.

    Chosen on both development sites together, those of known links so that cold pages are found at least 1.05
    times as well as by words and passages; tests/quality/WEIGHTS.md has the rule and the tables.

    Attributes:
        match: of the blend of words and embedding.
        passage: of the passage that fits best.
        time: of the nearness in time, for pages with a date in their URL.
        votes: of the links of similar pages.
        alike: of the likeness to what the source links to.
        unlinked: what is added for a page that nobody links to. Votes know nothing of it; without this, new
            pages would be found worse than by words alone.
    """

    match: float = 1.0
    passage: float = 0.6
    time: float = 0.5
    votes: float = 0.4
    alike: float = 0.2
    unlinked: float = 1.0


FIXED_WEIGHTS = Weights()


@dataclass(frozen=True, slots=True)
class Signals:
    """The candidates of one source; all arrays are (n,).

    Attributes:
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


def fixed_score(signals: Signals, weights: Weights = FIXED_WEIGHTS) -> Vectors:
    """(n,) float64: the weighted sum, higher is better."""
    similar = weights.match, 0.0, 0.0, weights.passage
    score = np.array([*similar, weights.time, weights.votes, weights.alike]) @ _standards(signals)
    weighted: Vectors = score + weights.unlinked * (signals.inlinks == 0)
    return weighted


def reordered(score: Vectors, logits: Vectors, inlinks: Ints) -> Vectors:
    """(n,) the same scores, changed about between the pages that are linked to, by their logits.

    What is learned from links says that nobody links to a new page; so new pages keep their places.
    """
    settled = np.flatnonzero(inlinks > 0)
    moved = score.copy()
    moved[settled[np.argsort(-logits[settled], kind="stable")]] = np.sort(score[settled])[::-1]
    return moved


def features(signals: Signals) -> Vectors:
    """(n, len(FEATURES)) float32, most of them in standard deviations among the source's candidates."""
    counted = signals.inlinks == 0, np.log1p(signals.inlinks), signals.back, np.log1p(signals.cocited)
    return np.concatenate([_standards(signals), np.stack(counted)]).T.astype(np.float32)


def _standards(signals: Signals) -> Vectors:
    """(7, n) float64: the first features, in standard deviations."""
    words = signals.match, signals.lexical, signals.similarity, signals.passage
    return standard(np.stack([*words, signals.nearness, signals.votes, signals.alike]))


def standard(values: Vectors) -> Vectors:
    """(s, n) values of s signals in standard deviations above the mean of the known ones.

    0 where unknown, and zeros if all are equal.
    """
    known = np.isfinite(values)
    count = np.maximum(known.sum(axis=1, keepdims=True), 1)
    mean = np.where(known, values, 0.0).sum(axis=1, keepdims=True) / count
    above = np.where(known, values - mean, 0.0)
    deviation = np.sqrt((above**2).sum(axis=1, keepdims=True) / count)
    standardised: Vectors = above / np.where(deviation > 1e-6, deviation, np.inf)
    return standardised
