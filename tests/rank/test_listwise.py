"""Listwise learning of weights: the optimum of lists and a prior."""

import numpy as np
import pytest

from internal_linker.model.arrays import Vectors
from internal_linker.rank.listwise import Choices, Prior, fit_weights

COLUMNS = 3
NOTHING = np.zeros(COLUMNS)


def made(lists: int, seed: int = 0, weight: float = 1.0) -> Choices:
    columns = np.random.default_rng(seed).normal(size=(10 * lists, COLUMNS)).astype(np.float32)
    first = columns[:, 0].reshape(lists, 10)
    target = (first == first.max(axis=1, keepdims=True)).astype(np.float64).ravel()
    return Choices(columns, np.arange(0, 10 * lists, 10), target, np.full(lists, weight))


def loss(parts: list[Choices], prior: Prior, weights: Vectors) -> float:
    away = weights - prior.weights
    total = prior.strength * float(away @ away)
    for part in parts:
        ends = [*part.starts[1:].tolist(), len(part.columns)]
        for start, end, weight in zip(part.starts.tolist(), ends, part.weights.tolist(), strict=True):
            scores = part.columns[start:end].astype(np.float64) @ weights
            shares = np.exp(scores) / np.exp(scores).sum()
            total -= weight * float(part.target[start:end] @ np.log(shares))
    return total


@pytest.mark.parametrize("strength", [0.1, 10.0])
def test_no_other_weights_have_less_loss(strength: float) -> None:
    parts, prior = [made(20), made(5, seed=1, weight=0.5)], Prior(np.array([0.0, 1.0, -1.0]), strength)
    weights = fit_weights(parts, prior)
    best = loss(parts, prior, weights)
    for at in range(COLUMNS):
        for step in (-0.02, 0.02):
            assert loss(parts, prior, weights + step * (np.arange(COLUMNS) == at)) > best


def test_a_strong_prior_is_kept_and_a_weak_one_gives_way() -> None:
    parts, expected = [made(20)], np.array([-2.0, 0.5, 0.0])
    np.testing.assert_allclose(fit_weights(parts, Prior(expected, 1e6)), expected, atol=1e-3)
    assert fit_weights(parts, Prior(expected, 0.1))[0] > 1
    firsts = [fit_weights(parts, Prior(NOTHING, strength))[0] for strength in (100.0, 10.0, 1.0)]
    assert firsts == sorted(firsts) and firsts[0] > 0
    expected = np.array([1.0, 2.0, 3.0])
    np.testing.assert_array_equal(fit_weights([], Prior(expected, 1.0)), expected)


def test_the_start_does_not_change_the_result() -> None:
    prior = Prior(NOTHING, 0.5)
    far = fit_weights([made(20)], prior, np.array([-30.0, 20.0, 10.0]))
    np.testing.assert_allclose(far, fit_weights([made(20)], prior), atol=1e-3)
    np.testing.assert_array_equal(
        fit_weights([made(20)], Prior(NOTHING, 1.0)), fit_weights([made(20)], Prior(NOTHING, 1.0))
    )
