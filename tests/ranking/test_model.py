"""The ranker recovers the weights that generated the links, and its probabilities equal shares of links."""

import numpy as np
import pytest
from numpy.typing import NDArray

from internal_linker.core.arrays import Vectors
from internal_linker.ranking.model import Calibration, calibrate, fit


def cases(n: int, seed: int = 0) -> tuple[Vectors, NDArray[np.bool_], Vectors]:
    """Return the features of n pairs, which of them are links, and the odds that generated these."""
    rng = np.random.default_rng(seed)
    features = (rng.normal(size=(n, 3)) * [1, 5, 1] + [0, 10, 0]).astype(np.float32)
    odds = 1 / (1 + np.exp(3 - 1.5 * features[:, 0] - 0.2 * (features[:, 1] - 10)))
    return features, rng.random(n) < odds, odds


def test_the_weights_that_made_the_links_are_found() -> None:
    """With many pairs, weights and bias are near the true ones in any units, and near 0 for noise."""
    features, is_link, odds = cases(100_000)
    ranker = fit(features, is_link)
    np.testing.assert_allclose(ranker.weights, [1.5, 0.2, 0], atol=0.1)
    learned = 1 / (1 + np.exp(-ranker.logit(features)))
    np.testing.assert_allclose(learned.mean(), odds.mean(), atol=0.005)
    assert np.abs(learned - odds).mean() < 0.01


@pytest.mark.parametrize("seed", range(3))
def test_probabilities_are_the_shares_of_links(seed: int) -> None:
    """The learned probabilities equal the known odds of each score."""
    rng = np.random.default_rng(seed)
    scores = rng.uniform(-3, 3, 40_000)
    odds = 0.5 / (1 + np.exp(-scores))
    made = calibrate(scores, rng.random(len(scores)) < odds)
    at = np.linspace(-2.5, 2.5, 21)
    np.testing.assert_allclose(made.probability(at), 0.5 / (1 + np.exp(-at)), atol=0.05)
    told = made.probability(scores)
    assert abs(told.mean() - odds.mean()) < 0.01


@pytest.mark.parametrize("n", [2, 49, 120, 5000])
def test_a_higher_score_is_never_less_probable(n: int) -> None:
    """Probabilities are in 0 to 1 and never fall with the score, even for unseen scores and random links."""
    rng = np.random.default_rng(n)
    made = calibrate(rng.normal(size=n), rng.random(n) < 0.3)
    told = made.probability(np.linspace(-10, 10, 500))
    assert (np.diff(told) >= 0).all()
    assert told.min() >= 0 and told.max() <= 1


def test_the_few_highest_scores_are_not_taken_for_certain() -> None:
    """A single link with the highest score is pooled with others, because it isn't certain evidence."""
    scores = np.arange(1000.0)
    is_link = scores == 999
    assert calibrate(scores, is_link).probability(np.array([999.0]))[0] <= 0.02


def test_equal_scores_are_equally_probable() -> None:
    """If all scores are equal, each pair has the overall share of links."""
    is_link = np.arange(400) % 4 == 0
    made = calibrate(np.zeros(400), is_link)
    np.testing.assert_allclose(made.probability(np.array([-1.0, 0.0, 1.0])), 0.25, atol=0.011)


def test_between_two_scores_the_probability_is_interpolated() -> None:
    """Halfway between two known scores the probability is halfway between their shares."""
    made = Calibration(np.array([0.0, 2.0]), np.array([0.1, 0.3]))
    np.testing.assert_allclose(made.probability(np.array([-5, 0, 1, 2, 5])), [0.1, 0.1, 0.2, 0.3, 0.3])
