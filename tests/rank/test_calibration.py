"""Calibration of scores: probabilities rise with the score, divide a page's links, and are shares of links."""

import numpy as np

from internal_linker.model.arrays import Ints, Vectors
from internal_linker.rank.calibration import LEAST, LinkProbability, Range, reliability
from internal_linker.rank.ranker import packaged_ranker


def lists(count: int, length: int, seed: int = 0) -> tuple[Vectors, Ints]:
    return np.random.default_rng(seed).normal(size=count * length), np.repeat(np.arange(count), length)


def test_probabilities_without_calibration_are_shares() -> None:
    scores, of = lists(3, 40)
    found = LinkProbability().probability(scores, of).reshape(3, 40)
    raised = np.exp(scores.reshape(3, 40))
    np.testing.assert_allclose(found, raised / raised.sum(axis=1, keepdims=True))
    assert LinkProbability().probability(np.zeros(0), np.zeros(0, np.int64)).shape == (0,)


def test_probabilities_rise_with_the_score_within_a_list() -> None:
    calibration = packaged_ranker().calibration
    of = np.repeat([0, 2, 3], [60, 3, 25])
    scores = np.random.default_rng(0).normal(0, 5, len(of))
    scores[-1] = 900.0
    found = calibration.probability(scores, of)
    assert found.min() >= 0 and found.max() <= 1
    for at in (0, 2, 3):
        here = of == at
        assert (np.diff(found[here][np.argsort(scores[here])]) >= 0).all()


def test_equal_candidates_divide_the_links_of_a_page_and_an_only_one_is_not_certain() -> None:
    calibration = packaged_ranker().calibration
    few, many = (calibration.probability(np.zeros(count), np.zeros(count, np.int64)) for count in (30, 120))
    assert 2 < few.sum() < 4 and 2 < many.sum() < 4 and few[0] > many[0]
    # A list of few candidates counts as if average ones filled it up.
    calibration = packaged_ranker().calibration
    alone = calibration.probability(np.zeros(1), np.zeros(1, np.int64))
    full = calibration.probability(np.zeros(LEAST), np.zeros(LEAST, np.int64))
    np.testing.assert_allclose(alone, full[:1])
    assert alone[0] < 0.25


def test_reliability_compares_with_the_shares_of_links() -> None:
    expected, is_link = np.array([0.0625, 0.0875, 0.4, 0.5]), np.array([True, False, True, True])
    assert reliability(expected, is_link) == [
        Range(0.05, 0.1, 0.075, 0.5, 2),
        Range(0.3, 0.5, 0.4, 1.0, 1),
        Range(0.5, 1.01, 0.5, 1.0, 1),
    ]
    assert reliability(expected, is_link, np.array([3.0, 1, 1, 1]))[0] == Range(0.05, 0.1, 0.06875, 0.75, 2)
