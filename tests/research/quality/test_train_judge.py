"""Training of the judge: what readers said is what the packaged judge believes, and drafts are measured as written."""

import numpy as np
import pytest

from internal_linker.anchors.judge import COLUMNS, LinkPlaces, packaged_judge
from tests.research.quality.draft_places import Draft, chosen, f1, reached
from tests.research.quality.train_judge import accepted, learned


def draft(right: list[int], of: list[int], starts: list[int], url: str = "u") -> Draft:
    n = len(right)
    columns = np.zeros((n, len(COLUMNS)), np.float32)
    columns[:, 0] = np.array(right) + np.arange(n) / 100
    places = LinkPlaces(
        np.array(of),
        np.array(starts),
        np.array(starts) + 5,
        np.ones(n, np.bool_),
        np.zeros(n, np.bool_),
        columns,
    )
    return Draft(url, places, np.arange(9), np.array(right), wanted=2)


def test_the_packaged_judge_believes_the_readers() -> None:
    assert packaged_judge().accepted == pytest.approx(accepted())


def test_one_place_of_each_target_is_chosen_and_none_over_another() -> None:
    one = draft([2, 2, 1, 0], [0, 0, 1, 2], [0, 10, 12, 30])
    assert chosen(one, np.array([4.0, 3.0, 2.0, 1.0])) == [0, 2, 3]
    assert chosen(one, np.array([3.0, 4.0, 2.0, np.nan])) == [1]
    assert reached([one], [np.array([4.0, 3.0, 2.0, 1.0])]) == (1.0, 0.5, 3.0)
    assert f1("green tea leaves", "Green tea") == pytest.approx(0.8)


def test_trees_prefer_what_editors_linked() -> None:
    rng = np.random.default_rng(1)
    drafts = [
        draft([*rng.permutation([2, 0, 0, 1])], [0, 1, 2, 3], [0, 9, 18, 27], f"u{at}") for at in range(80)
    ]
    trees = learned({"site": {"new": drafts}})
    values = np.zeros((2, len(COLUMNS)), np.float32)
    values[0, 0] = 2
    best, worst = trees.predict(values).tolist()
    assert best > worst
