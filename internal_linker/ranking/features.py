"""The signals of a source's candidates: their score by fixed weights, and the features that the ranker learns from."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from internal_linker.core.arrays import Bools, Ints, Vectors
from internal_linker.ranking.rules import FIXED_WEIGHTS, TOPIC_WEIGHTS, TopicWeights, Weights

# Names of the columns of `features`, in order.
FEATURES = (
    "match", "words", "embedding", "passage", "time", "votes", "linked similarity",
    "no inlink", "inlinks", "links back", "cocited", "named",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Signals:
    """The candidates of several sources; all arrays are (n,).

    Attributes:
        of: position of the source, ascending.
        rows: the candidates' rows in the index.
        match: blend of words and embedding, in standard deviations above the source's average target.
        similarity: cosine of the vectors, -1 to 1; NaN where one is missing.
        lexical: cosine of TF-IDF, 0 to 1.
        passage: fit of the source's best passage, 0 to 1.
        nearness: nearness in time, see `dates.nearness`; NaN where it is unknown.
        votes: weighted share, 0 to 1, of the source's most similar pages that link to the candidate.
        linked_similarity: mean cosine, 0 to 1, of the candidate's words with those of the pages the source links to.
        inlinks: how many pages link to the candidate.
        back: 1 where the candidate links to the source, else 0.
        cocited: how many pages link both to the candidate and to the source.
        named: 1 where the source's text has a name of the candidate, else 0; see `named_pages`.
    """

    of: Ints
    rows: Ints
    match: Vectors
    similarity: Vectors
    lexical: Vectors
    passage: Vectors
    nearness: Vectors
    votes: Vectors
    linked_similarity: Vectors
    inlinks: Ints
    back: Vectors
    cocited: Vectors
    named: Vectors

    def split(self, count: int) -> Iterator["Signals"]:
        """Yield the signals of each of the `count` sources."""
        ends = np.searchsorted(self.of, np.arange(1, count))
        columns = [np.split(getattr(self, name), ends) for name in Signals.__slots__[1:]]
        for rows, *others in zip(*columns, strict=True):
            yield Signals(np.zeros(len(rows), np.int64), rows, *others)


def fixed_score(signals: Signals, weights: Weights = FIXED_WEIGHTS) -> Vectors:
    """Return (n,) float64 the weighted sum of the signals; higher is better."""
    similar = weights.match, 0.0, 0.0, weights.passage
    score = np.array([*similar, weights.time, weights.votes, weights.linked_similarity]) @ _standards(signals)
    weighted: Vectors = score + weights.unlinked * (signals.inlinks == 0) + weights.named * signals.named
    return weighted


def topic_score(
    signals: Signals, coverage: Vectors, has_content: Bools, weights: TopicWeights = TOPIC_WEIGHTS
) -> Vectors:
    """Return (n,) float64 the weighted sum of the signals of topic alone; higher is better.

    Args:
        signals: the candidates.
        coverage: (n,) how much of the source's title, or of its words if it is a query, each candidate covers, 0 to 1.
        has_content: (n,) whether the source of each candidate has more than a title.
        weights: the weights of the signals.
    """
    of = signals.of
    given = signals.similarity, signals.lexical, signals.passage, coverage
    meaning, cosine, passage, title = (standard(each, of) for each in given)
    # Without embeddings, the words decide alone.
    alone = np.bincount(of, np.abs(meaning))[of] == 0
    words = np.where(has_content | alone, cosine, title)
    score: Vectors = weights.meaning * np.where(alone, words, meaning)
    score += weights.words * words + weights.passage * passage + weights.title * title
    return score


def reordered(score: Vectors, logits: Vectors, signals: Signals) -> Vectors:
    """Return (n,) the same scores, reassigned by logit among those of a source's candidates that have inlinks.

    A model learned from links expects none to a new page, which has no inlinks; so new pages keep their ranks.
    """
    settled = np.flatnonzero(signals.inlinks > 0)
    of = signals.of[settled]
    moved = score.copy()
    moved[settled[np.lexsort((-logits[settled], of))]] = score[settled[np.lexsort((-score[settled], of))]]
    return moved


def features(signals: Signals) -> Vectors:
    """Return (n, len(FEATURES)) float32 features, most of them in standard deviations among a source's candidates."""
    links = signals.inlinks == 0, np.log1p(signals.inlinks), signals.back, np.log1p(signals.cocited)
    return np.concatenate([_standards(signals), np.stack([*links, signals.named])]).T.astype(np.float32)


def _standards(signals: Signals) -> Vectors:
    """Return (7, n) float64 the first seven features, in standard deviations."""
    words = signals.match, signals.lexical, signals.similarity, signals.passage
    others = signals.nearness, signals.votes, signals.linked_similarity
    return np.stack([standard(each, signals.of) for each in (*words, *others)])


def standard(values: Vectors, of: Ints) -> Vectors:
    """Return (n,) the values in standard deviations above the mean of the source's known ones.

    Unknown values, and those of a source whose values are all equal, become 0.

    Args:
        values: (n,) values, NaN where unknown.
        of: (n,) position of each value's source.
    """
    known = np.isfinite(values)
    count = np.maximum(np.bincount(of, known), 1)
    above = np.where(known, values - (np.bincount(of, np.where(known, values, 0.0)) / count)[of], 0.0)
    deviation = np.sqrt(np.bincount(of, above**2) / count)
    standardised: Vectors = above / np.where(deviation > 1e-6, deviation, np.inf)[of]
    return standardised
