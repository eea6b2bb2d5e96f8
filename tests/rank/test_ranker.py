"""The learned ranker: a linear model over scaled features that can be written and read."""

import json
from dataclasses import replace

import numpy as np
import pytest

from internal_linker.rank.calibration import LinkProbability
from internal_linker.rank.list_scales import standard
from internal_linker.rank.pair_features import PAIR_FEATURES
from internal_linker.rank.ranker import (
    COLUMNS,
    LearnedRanker,
    packaged_ranker,
    read_ranker,
    written_ranker,
)
from internal_linker.rank.trees import LEAVES, read_trees

OF = np.repeat([0, 1, 3], [4, 3, 1])
WORDS, INLINKS = PAIR_FEATURES.index("words"), PAIR_FEATURES.index("inlinks")


def features() -> np.ndarray:
    values = np.random.default_rng(0).random((len(OF), len(PAIR_FEATURES)))
    values[::2, INLINKS] = np.nan
    return values


def ranker(**weights: float) -> LearnedRanker:
    """Return a ranker with these weights of columns; "_" in their names stands for a space."""
    each = [weights.get(name.replace(" ", "_"), 0.0) for name in COLUMNS]
    means, deviations = (
        np.array([value] * (len(COLUMNS) - 1) + [of_trees]) for value, of_trees in ((0.5, 0), (2.0, 1))
    )
    return LearnedRanker(means, deviations, np.array(each))


def test_scores_are_weighted_sums_in_deviations() -> None:
    values = features()
    found = ranker(raw_words=3.0).score(values, OF)
    np.testing.assert_allclose(found, standard(values[:, WORDS].astype(np.float32), OF), atol=1e-4)
    both = ranker(z_words=1.0, rank_words=1.0).score(values, OF)
    for here in (OF == 0, OF == 1):
        assert np.argsort(both[here]).tolist() == np.argsort(values[here, WORDS]).tolist()
    leaves = [-1.0, 1.0, *[0.0] * (LEAVES - 2)]
    at, known = COLUMNS.index("raw words"), {"thresholds": [0.5], "unknown_left": [1], "leaves": leaves}
    trees = read_trees([{**known, "columns": [at], "right": [0b10]}])
    values = features()
    found = replace(ranker(trees=0.5), trees=trees).score(values, OF)
    expected = np.where(values[:, WORDS].astype(np.float32) > 0.5, 0.5, -0.5)
    np.testing.assert_allclose(found, standard(expected, OF), atol=1e-6)


def test_unknown_values_count_as_the_mean() -> None:
    values = features()
    made = ranker(raw_inlinks=1.0)
    assert made.standardised(np.full((1, len(COLUMNS) - 1), np.nan)).tolist() == [[0.0] * len(COLUMNS)]
    gained = replace(made, bonus=0.3).score(values, OF) - made.score(values, OF)
    np.testing.assert_allclose(gained, 0.3 * np.isnan(values[:, INLINKS]))
    found = ranker().standardised(np.array([[value] * (len(COLUMNS) - 1) for value in (1000.0, -1000.0)]))
    assert found.min() == -6 and found.max() == 6


def test_a_ranker_is_read_as_it_was_written() -> None:
    made = replace(ranker(raw_words=0.25, z_match=-1.5), bonus=0.1, calibration=LinkProbability(1.5, 0.9))
    text = written_ranker(made, {"sites": ["one", "other"]})
    again = read_ranker(text)
    for name in ("means", "deviations", "weights"):
        np.testing.assert_array_equal(getattr(again, name), getattr(made, name))
    assert (again.bonus, again.calibration) == (0.1, LinkProbability(1.5, 0.9))
    assert json.loads(text)["sites"] == ["one", "other"]
    assert text.count("\n") == len(COLUMNS) + 8
    text = written_ranker(ranker(), {}).replace('"raw words"', '"raw letters"')
    with pytest.raises(ValueError, match="train it again"):
        read_ranker(text)


def test_the_packaged_ranker_is_for_the_features_of_the_program() -> None:
    made = packaged_ranker()
    assert made is packaged_ranker()
    assert np.abs(made.weights).max() > 0.1 and np.isfinite(made.score(features(), OF)).all()
