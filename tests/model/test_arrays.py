"""Keys that order as scores and rows do, unit rows, and pairs of texts and rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from internal_linker.model.arrays import (
    NO_PAIRS,
    NOTHING,
    Nearest,
    Pairs,
    both,
    empty_lists,
    is_in,
    keys_of,
    lists_of,
    pairs_of,
    ranks,
    rows_of,
    scores_of,
    shortened,
    unit_rows,
    units,
)
from internal_linker.model.errors import ConfigurationError

SCORES = st.floats(width=32, allow_nan=False, allow_infinity=False)


@given(st.lists(st.tuples(SCORES, st.integers(0, 2**31 - 1)), min_size=1))
def test_keys_order_by_score_then_by_the_smaller_row(pairs: list[tuple[float, int]]) -> None:
    scores, rows = (np.array(column) for column in zip(*pairs, strict=True))
    scores, rows = scores.astype(np.float32) + 0, rows.astype(np.int32)
    keys = keys_of(scores, rows)
    np.testing.assert_array_equal(scores_of(keys), scores)
    np.testing.assert_array_equal(rows_of(keys), rows)
    best = sorted(range(len(pairs)), key=lambda at: (-scores[at], rows[at]))
    assert keys[best].tolist() == sorted(keys.tolist(), reverse=True)


def test_two_zeros_have_one_key() -> None:
    """A score of -0.0 is no worse than 0.0."""
    keys = keys_of(np.array([0.0, -0.0], np.float32), np.array([5, 5], np.int32))
    assert keys[0] == keys[1]


def test_an_empty_place_is_below_everything() -> None:
    """Row -1 has the key NOTHING, which unpacks to row -1 and no score; row 0 is a row."""
    keys = keys_of(np.array([9, -1e30, -1e30], np.float32), np.array([-1, 0, 2**31 - 1], np.int32))
    assert keys[0] == NOTHING < keys[2] < keys[1]
    assert rows_of(keys).tolist() == [-1, 0, 2**31 - 1]
    assert scores_of(keys)[0] == -np.inf


def test_empty_lists_lack_nothing() -> None:
    """They hold row -1, no score, and nothing outside of them scores above anything."""
    lists = empty_lists(2, 3)
    assert lists.rows.tolist() == [[-1] * 3] * 2
    assert (lists.scores == -np.inf).all() and (lists.floors == -np.inf).all()
    assert lists.scores.shape == (2, 3) and lists.floors.shape == (2,)


def test_lists_of_some_texts() -> None:
    lists = Nearest(np.arange(6).reshape(3, 2), np.arange(6.0).reshape(3, 2), np.arange(3.0))
    some = lists_of(lists, np.array([2, 0]))
    assert some.rows.tolist() == [[4, 5], [0, 1]]
    assert (some.scores.tolist(), some.floors.tolist()) == ([[4, 5], [0, 1]], [2, 0])


def test_rows_of_length_one() -> None:
    """A row of zeros stays one; for `units` that goes for rounding errors, too."""
    rows = np.array([[3, 4], [0, 0], [0, 1e-5], [0, 1e-7]], np.float32)
    assert unit_rows(rows.astype(np.float16)[:2]).tolist() == [
        [pytest.approx(0.6), pytest.approx(0.8)],
        [0, 0],
    ]
    assert unit_rows(rows[:2]).dtype == np.float32
    found = units(rows)
    wanted = np.array([[0.6, 0.8], [0, 0], [0, 1], [0, 0]], np.float32)
    np.testing.assert_allclose(found, wanted, rtol=1e-6)
    assert found.dtype == np.float32


def test_shortened_vectors_are_units_again() -> None:
    """The first numbers alone; more than there are is an error with both numbers."""
    vectors = np.array([[3, 4, 12]], np.float32)
    np.testing.assert_allclose(shortened(vectors, 2), [[0.6, 0.8]], rtol=1e-6)
    np.testing.assert_allclose(shortened(vectors, 3), vectors / 13, rtol=1e-6)
    with pytest.raises(
        ConfigurationError, match="vectors of 3 numbers can't be shortened to 4: choose a smaller"
    ):
        shortened(vectors, 4)


def test_pairs_of_texts_and_rows() -> None:
    """From lists and back to them; some of them, and those of two sources together."""
    lists = [[4, 2], [], [7]]
    pairs = pairs_of(lists)
    assert (pairs.of.tolist(), pairs.rows.tolist()) == ([0, 0, 2], [4, 2, 7])
    assert [each.tolist() for each in pairs.lists(3)] == lists
    assert pairs.keys(10).tolist() == [4, 2, 27]
    some = pairs.at(np.array([True, False, True]))
    assert (some.of.tolist(), some.rows.tolist()) == ([0, 2], [4, 7])
    joined = both(some, Pairs(np.array([1], np.int32), np.array([9], np.int32)))
    assert (joined.of.tolist(), joined.rows.tolist()) == ([0, 2, 1], [4, 7, 9])
    assert joined.of.dtype == joined.rows.dtype == np.int64
    assert len(NO_PAIRS.of) == len(pairs_of([]).rows) == 0


def test_ranks_begin_again_with_each_run() -> None:
    """The first of equal neighbours is 0; no element has no rank."""
    assert ranks(np.array([0, 0, 0, 3, 5, 5])).tolist() == [0, 1, 2, 0, 0, 1]
    assert ranks(np.array([], np.int64)).tolist() == []


def test_values_are_looked_up_among_others() -> None:
    """In any order, repeated, below the least and above the greatest; among none there is none."""
    assert is_in(np.array([9, 1, 5, 1, 0]), np.array([5, 1, 7])).tolist() == [False, True, True, True, False]
    assert is_in(np.array([1, 2]), np.array([], np.int64)).tolist() == [False, False]
