"""Trees that are grown for the ranker."""

import numpy as np
import pytest

from internal_linker.rank.listwise import Choices
from tests.research.quality import ranker_trees
from tests.research.quality.ranker_trees import grown


@pytest.fixture(autouse=True)
def _one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    # On a busy computer, threads that wait for each other take half a minute for lists as short as these.
    monkeypatch.setitem(ranker_trees._PARAMETERS, "num_threads", 1)


def choices(seed: int, count: int = 1500, size: int = 8) -> Choices:
    """Return lists whose link has the highest product of two columns; a third one is unknown for half of them."""
    values = np.random.default_rng(seed).normal(size=(count * size, 3)).astype(np.float32)
    best = (values[:, 0] * values[:, 1]).reshape(count, size).argmax(axis=1) + np.arange(count) * size
    target = np.zeros(len(values))
    target[best] = 1
    values[::2, 2] = np.nan
    return Choices(values, np.arange(0, len(values), size), target, np.ones(count))


def first(part: Choices, scores: np.ndarray, size: int = 8) -> float:
    """Return the share of lists in which the link has the highest score."""
    links = part.target.reshape(-1, size).argmax(axis=1)
    return float((scores.reshape(-1, size).argmax(axis=1) == links).mean())


def test_trees_see_what_a_sum_cannot() -> None:
    """Whether a value is good depends on another one; no linear score finds it. Columns left out aren't looked at."""
    part, other = choices(0), choices(1)
    trees = grown([part], [np.zeros(len(part.columns))], [0, 1, 2])
    assert first(other, trees.predict(other.columns)) > 0.4
    without = grown([part], [np.zeros(len(part.columns))], [0, 2])
    assert {*without.columns.tolist()} <= {0, 2} and first(other, without.predict(other.columns)) < 0.3


def test_trees_learn_only_what_the_scores_lack() -> None:
    """With scores that are right already, they hardly add anything."""
    part = choices(0)
    added = grown([part], [50 * part.target], [0, 1, 2]).predict(part.columns)
    assert np.abs(added).max() < 0.1


def test_growing_is_deterministic() -> None:
    part = choices(0, 300)
    scores = np.zeros(len(part.columns))
    assert grown([part], [scores], [0, 1]).rows() == grown([part], [scores], [0, 1]).rows()
