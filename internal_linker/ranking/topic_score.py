"""The score of candidates by their topic alone, for queries and planned pages."""

import numpy as np

from internal_linker.core.arrays import Bools, Ints, Vectors
from internal_linker.ranking.list_scales import standard
from internal_linker.ranking.pair_features import PAIR_FEATURES
from internal_linker.ranking.rules import TOPIC_WEIGHTS, TopicWeights


def topic_score(
    features: Vectors, of: Ints, coverage: Vectors, has_content: Bools, weights: TopicWeights = TOPIC_WEIGHTS
) -> Vectors:
    """Return (m,) float64 the weighted sum of the features of topic, in standard deviations above the list's mean.

    Args:
        features: (m, len(PAIR_FEATURES)) features of the candidates.
        of: (m,) position of each candidate's source, ascending.
        coverage: (m,) how much of the source's title, or of its words if it is a query, each candidate covers, 0 to 1.
        has_content: (m,) whether the source of each candidate has more than a title.
    """
    meaning, cosine, passage = (
        standard(features[:, PAIR_FEATURES.index(name)], of) for name in ("embedding", "words", "passage")
    )
    title = standard(coverage, of)
    # Without embeddings, the words decide alone.
    alone = np.bincount(of, np.abs(meaning))[of] == 0
    words = np.where(has_content | alone, cosine, title)
    score: Vectors = weights.meaning * np.where(alone, words, meaning)
    score += weights.words * words + weights.passage * passage + weights.title * title
    return standard(score, of)
