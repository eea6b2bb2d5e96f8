"""Decision trees of the ranker: which leaf each candidate reaches."""

import numpy as np
import pytest

from internal_linker.rank.trees import LEAVES, NO_TREES, read_trees

ALL = (1 << LEAVES) - 1
# First column at most 1: leaf 0; else second column at most 5: leaf 1, else leaf 2.
TREE = {
    "columns": [0, 1],
    "thresholds": [1.0, 5.0],
    "unknown_left": [1, 0],
    "right": [ALL & ~0b001, ALL & ~0b010],
    "leaves": [0.5, -2.0, 4.0, *[0.0] * (LEAVES - 3)],
}
# Third column at most 0: leaf 0, else leaf 1.
STUMP = {
    "columns": [2],
    "thresholds": [0.0],
    "unknown_left": [0],
    "right": [ALL & ~0b01],
    "leaves": [10.0, 20.0, *[0.0] * (LEAVES - 2)],
}


@pytest.mark.parametrize(
    ("values", "sums"),
    [
        ((1, 9, 0), 10.5),  # a value at the threshold goes to the left
        ((1.5, 5, 0), 8),
        ((1.5, 6, 1), 24),
        ((np.nan, 6, np.nan), 20.5),  # unknown: to the left, and to the right
        ((2, np.nan, -1), 14),
    ],
)
@pytest.mark.parametrize("others", [1, 1000])
def test_the_leaves_of_all_trees_are_summed(values: tuple[float, ...], sums: float, others: int) -> None:
    candidates = np.array([values, *[(0, 0, 0)] * others], np.float32)
    assert read_trees([TREE, STUMP]).predict(candidates).tolist() == [sums, *[10.5] * others]


def test_without_trees_the_sum_is_0() -> None:
    assert NO_TREES.predict(np.ones((3, 2))).tolist() == [0, 0, 0]
    assert NO_TREES.rows() == []
    assert read_trees([TREE, STUMP]).rows() == [TREE, STUMP]
