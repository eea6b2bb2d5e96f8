"""The learned ranker, a logistic regression over the features of pairs, and the calibration of its scores."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from internal_linker.core.arrays import Vectors

# Pairs of similar scores whose shares of links are pooled: the few highest scores on their own would give 0 or 1.
_POOL = 50
# Inverse strength of the regularisation (scikit-learn's C): with a few hundred links and weaker regularisation, the
# weights follow chance.
_C = 0.01


@dataclass(frozen=True, slots=True)
class Ranker:
    """A logistic regression.

    Attributes:
        weights: (f,) weight of each feature, per unit.
        bias: logit where all features are 0.
    """

    weights: Vectors
    bias: float

    def logit(self, features: Vectors) -> Vectors:
        """Return (n,) float64 logits of (n, f) features; higher is more probable."""
        logits: Vectors = features @ self.weights + self.bias
        return logits


@dataclass(frozen=True, slots=True)
class Calibration:
    """The share of links among the pairs of each score.

    Attributes:
        scores: (k,) scores, ascending.
        shares: (k,) shares, 0 to 1, never decreasing; shares between two scores are interpolated.
    """

    scores: Vectors
    shares: Vectors

    def probability(self, scores: Vectors) -> Vectors:
        """Return (n,) probabilities, 0 to 1."""
        return np.interp(scores, self.scores, self.shares)


def fit(features: Vectors, is_link: NDArray[np.bool_]) -> Ranker:
    """Learn from (n, f) features of n pairs, some of which are links and some are not."""
    # The import takes a second, and most commands don't need it.
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

    scaler = StandardScaler().fit(features)
    model = LogisticRegression(C=_C, max_iter=500).fit(scaler.transform(features), is_link)
    weights = model.coef_[0] / scaler.scale_
    return Ranker(weights, float(model.intercept_[0] - scaler.mean_ @ weights))


def calibrate(scores: Vectors, is_link: NDArray[np.bool_]) -> Calibration:
    """Learn from n pairs that were hidden when they were scored; a higher score is never less probable."""
    from sklearn.isotonic import IsotonicRegression

    order = np.argsort(scores, kind="stable")
    pools = np.array_split(order, max(1, len(order) // _POOL))
    means, shares = (np.array([each[pool].mean() for pool in pools]) for each in (scores, is_link))
    return Calibration(means, IsotonicRegression().fit_transform(means, shares))
