"""Listwise learning of linear weights: the softmax over each list's candidates is to match their shares of links."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from internal_linker.model.arrays import Ints, Vectors

# Newton steps; the loss is convex, and five to eight suffice.
_STEPS, _SMALL = 20, 1e-3


@dataclass(frozen=True, slots=True)
class Choices:
    """What to learn from: l lists of p candidates in all, each list with at least one link."""

    columns: Vectors  # (p, c) float32 values of the candidates, standardised, 0 where unknown
    starts: Ints  # (l,) first candidate of each list
    target: Vectors  # (p,) share of each link among the links of its list, 0 for other candidates
    weights: Vectors  # (l,) weight of each list


@dataclass(frozen=True, slots=True)
class Prior:
    """What the weights are before anything is learned."""

    weights: Vectors  # (c,) expected weights
    strength: float  # loss of a squared difference from them, beside the weighted sum of the lists' losses


def fit_weights(parts: Sequence[Choices], prior: Prior, start: Vectors | None = None) -> Vectors:
    """Return (c,) float64 the weights with the least loss: cross-entropy of the lists, and distance from the prior.

    From similar weights as `start`, fewer steps are needed than from the prior.
    """
    weights = prior.weights if start is None else start

    def loss(some: Vectors) -> float:
        away = some - prior.weights
        return float(sum(_loss(part, some) for part in parts) + prior.strength * away @ away)

    now = loss(weights)
    for _ in range(_STEPS):
        slopes = [_slopes(part, weights) for part in parts]
        gradient = sum(each for each, _ in slopes) + 2 * prior.strength * (weights - prior.weights)
        curvature = sum(each for _, each in slopes) + 2 * prior.strength * np.eye(len(weights))
        step = np.linalg.solve(curvature, gradient)
        # Far from the optimum, a whole step can lead away from it.
        while (new := loss(weights - step)) > now and np.abs(step).max() > _SMALL / 10:
            step /= 2
        weights, now = weights - step, new
        if np.abs(step).max() < _SMALL:
            break
    return weights


def _probabilities(part: Choices, weights: Vectors) -> tuple[Vectors, Vectors, Vectors, Ints]:
    """Return (p,) scores, (p,) their softmax in each list, (l,) logarithms of the lists' sums, and (l,) lengths."""
    lengths = np.diff(np.append(part.starts, len(part.columns)))
    scores = (part.columns @ weights.astype(np.float32)).astype(np.float64)
    top = np.maximum.reduceat(scores, part.starts)
    raised = np.exp(scores - np.repeat(top, lengths))
    sums = np.add.reduceat(raised, part.starts)
    return scores, raised / np.repeat(sums, lengths), np.log(sums) + top, lengths


def _loss(part: Choices, weights: Vectors) -> float:
    scores, _, logs, _ = _probabilities(part, weights)
    return float((part.weights * (logs - np.add.reduceat(part.target * scores, part.starts))).sum())


def _slopes(part: Choices, weights: Vectors) -> tuple[Vectors, Vectors]:
    """Return (c,) gradient and (c, c) Hessian of the loss."""
    columns, starts = part.columns, part.starts
    _, shares, _, lengths = _probabilities(part, weights)
    of_pairs = np.repeat(part.weights, lengths)
    gradient = columns.T @ (of_pairs * (shares - part.target)).astype(np.float32)
    weighted = columns * np.sqrt(of_pairs * shares).astype(np.float32)[:, None]
    means = np.add.reduceat(columns * shares.astype(np.float32)[:, None], starts, axis=0)
    means *= np.sqrt(part.weights).astype(np.float32)[:, None]
    hessian = weighted.T @ weighted - means.T @ means
    return gradient.astype(np.float64), hessian.astype(np.float64)
