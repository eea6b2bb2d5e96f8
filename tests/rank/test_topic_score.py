"""The topic of queries and planned pages alone decides: words and meaning, not links or dates."""

import numpy as np
import pytest

from internal_linker.model.arrays import Vectors
from internal_linker.rank.pair_features import PAIR_FEATURES
from internal_linker.rank.rank import topic_score

OF_TOPIC = [PAIR_FEATURES.index(name) for name in ("embedding", "words", "passage")]


def features(n: int) -> Vectors:
    values = np.random.default_rng(0).random((n, len(PAIR_FEATURES))).astype(np.float32)
    values[0, PAIR_FEATURES.index("embedding")] = np.nan
    return values


def test_the_score_of_a_topic_ignores_links_and_dates() -> None:
    ours, coverage = features(12), np.linspace(0, 1, 12)
    of, content = np.zeros(12, int), np.ones(12, np.bool_)
    score = topic_score(ours, of, coverage, content)
    others = 1 - ours
    others[:, OF_TOPIC] = ours[:, OF_TOPIC]
    assert topic_score(others, of, coverage, content).tolist() == score.tolist()
    more = topic_score(ours, of, coverage[::-1].copy(), content) - score
    assert more[0] > more[5] > more[6] > more[11] and more[0] > 0 > more[11]


@pytest.mark.parametrize("content", [True, False])
def test_a_topic_without_embeddings_is_scored_by_words(*, content: bool) -> None:
    ours = features(50)
    ours[:, PAIR_FEATURES.index("embedding")] = np.nan
    score = topic_score(ours, np.zeros(50, int), np.linspace(0, 1, 50), np.full(50, content))
    assert np.isfinite(score).all() and score.std() == pytest.approx(1)
