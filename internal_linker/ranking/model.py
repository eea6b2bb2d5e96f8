"""Signals of pairs that are links and of pairs that are none -> what tells how probable another link is."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from internal_linker.core.arrays import Vectors

# Pairs whose share of links is taken together: the few with the highest scores alone would show 0 or 1.
_POOL = 50
# How firmly the weights are held to 0, in scikit-learn's terms: with some hundred links, weights held less
# firmly follow chance.
_C = 0.01


@dataclass(frozen=True, slots=True)
class Ranker:
    """A logistic regression.

    Attributes:
        weights: (f,) what each feature counts, per unit of it.
        bias: the logit where all features are 0.
    """

    weights: Vectors
    bias: float

    def logit(self, features: Vectors) -> Vectors:
        """(n,) float64 of (n, f) features; higher is more probable."""
        logits: Vectors = features @ self.weights + self.bias
        return logits


@dataclass(frozen=True, slots=True)
class Calibration:
    """How many of the pairs of each score were links.

    Attributes:
        scores: (k,) ascending.
        shares: (k,) not falling, 0 to 1; between two scores the share is interpolated.
    """

    scores: Vectors
    shares: Vectors

    def probability(self, scores: Vectors) -> Vectors:
        """(n,) 0 to 1."""
        return np.interp(scores, self.scores, self.shares)


def fit(features: Vectors, is_link: NDArray[np.bool_]) -> Ranker:
    """Learn from (n, f) features of n pairs, of which some are links and some are not."""
    # It takes a second to import, and most commands don't need it.
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

    scaler = StandardScaler().fit(features)
    model = LogisticRegression(C=_C, max_iter=500).fit(scaler.transform(features), is_link)
    weights = model.coef_[0] / scaler.scale_
    return Ranker(weights, float(model.intercept_[0] - scaler.mean_ @ weights))


def calibrate(scores: Vectors, is_link: NDArray[np.bool_]) -> Calibration:
    """Learn from n pairs whose scores say nothing of themselves; a higher score is never less probable."""
    from sklearn.isotonic import IsotonicRegression

    order = np.argsort(scores, kind="stable")
    pools = np.array_split(order, max(1, len(order) // _POOL))
    means, shares = (np.array([each[pool].mean() for pool in pools]) for each in (scores, is_link))
    return Calibration(means, IsotonicRegression().fit_transform(means, shares))
