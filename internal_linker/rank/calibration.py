"""Calibration: how probable it is that an editor adds a link, by its score among a source's candidates."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from internal_linker.model.arrays import Bools, Ints, Vectors

# A list that is shorter counts as if candidates with the mean score filled it up: the shortest that the calibration was
# learned from has 23, and the share of an only candidate says nothing.
LEAST = 20
# Bounds of the ranges of probability that are compared with the observed shares of links.
_BOUNDS = (0.0, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 1.01)


@dataclass(frozen=True, slots=True)
class LinkProbability:
    """The probability that editors add a link, among those that they add to its source, by the link's share.

    The share is the softmax of the scores of a source's candidates: a page has so many links to give, and a candidate
    gets less of them the more others score as high.
    """

    # intercept, slope: the log-odds of a link are `intercept` + `slope` * the log-odds of its share. With 0 and 1,
    # the probability is the share.
    intercept: float = 0.0
    slope: float = 1.0

    def probability(self, scores: Vectors, of: Ints) -> Vectors:
        """Return (m,) probabilities, 0 to 1, in the order of the scores within each list; see `log_odds`."""
        logits = self.intercept + self.slope * log_odds(scores, of)
        found: Vectors = 0.5 + 0.5 * np.tanh(logits / 2)
        return found


def log_odds(scores: Vectors, of: Ints) -> Vectors:
    """Return (m,) float64 the log-odds of each candidate's share: the softmax of the scores in its list.

    Args:
        scores: (m,) scores in standard deviations above the mean of a source's candidates.
        of: (m,) position of each candidate's source, ascending.
    """
    if not len(of):
        return np.zeros(0)
    starts = np.flatnonzero(np.diff(of, prepend=-1))
    lengths = np.diff(np.append(starts, len(of)))
    missing = np.maximum(LEAST - lengths, 0)
    top = np.repeat(np.maximum(np.maximum.reduceat(scores, starts), 0), lengths)
    raised = np.exp(scores - top)
    sums = np.repeat(np.add.reduceat(raised, starts), lengths) + np.repeat(missing, lengths) * np.exp(-top)
    # A candidate that is so far above the others that rounding leaves them no share.
    others = np.maximum(sums - raised, np.finfo(np.float64).eps)
    found: Vectors = scores - top - np.log(others)
    return found


# The probability is the share.
UNCALIBRATED = LinkProbability()


@dataclass(frozen=True, slots=True)
class Range:
    """Pairs whose expected probability is between two bounds."""

    # low, high: the bounds; the upper bound is exclusive
    low: float
    high: float
    expected: float  # mean expected probability
    links: float  # share of the pairs that are links
    pairs: int  # count of the pairs


def reliability(expected: Vectors, is_link: Bools, weights: Vectors | None = None) -> Sequence[Range]:
    """Compare (m,) expected probabilities, 0 to 1, with observed shares of links, in ranges of probability.

    By default all pairs have the same weight.
    """
    counted = np.ones(len(expected)) if weights is None else weights
    within = np.searchsorted(_BOUNDS, expected, side="right") - 1
    return [
        Range(
            low,
            high,
            float(np.average(expected[here], weights=counted[here])),
            float(np.average(is_link[here], weights=counted[here])),
            int(here.sum()),
        )
        for at, (low, high) in enumerate(pairwise(_BOUNDS))
        if (here := within == at).any()
    ]
