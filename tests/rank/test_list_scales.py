"""Scales within lists: z-scores and ranks of known values, list by list."""

from math import log, nan, sqrt

import numpy as np

from internal_linker.rank.list_scales import scale_values, scaled_names, standard

OF = np.array([0, 0, 0, 2, 2, 3])
VALUES = np.array([[1.0, nan], [3.0, nan], [1.0, nan], [5.0, 0.0], [5.0, 2.0], [7.0, 1.0]])


def test_columns_are_values_then_z_scores_then_ranks() -> None:
    assert scaled_names(["a", "b"]) == ["raw a", "raw b", "z a", "z b", "rank a", "rank b"]
    found = scale_values(VALUES, OF)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found[:, :2], VALUES.astype(np.float32))
    np.testing.assert_allclose(found[:, 2], [-sqrt(0.5), sqrt(2), -sqrt(0.5), 0, 0, 0], rtol=1e-6)
    np.testing.assert_allclose(found[:, 3], [nan, nan, nan, -1, 1, 0], rtol=1e-6)
    np.testing.assert_allclose(found[:, 4], [-log(2), 0, -log(2), nan, nan, nan], rtol=1e-6)
    np.testing.assert_allclose(found[:, 5], [nan, nan, nan, -log(2), 0, nan], rtol=1e-6)
    assert scale_values(np.empty((0, 2)), np.empty(0, np.int64)).shape == (0, 6)


def test_lists_do_not_depend_on_each_other() -> None:
    rng = np.random.default_rng(0)
    values, of = rng.random((30, 4)), np.sort(rng.integers(0, 6, 30))
    values[rng.random(values.shape) < 0.2] = nan
    found = scale_values(values, of)
    for number in np.unique(of).tolist():
        alone = scale_values(values[of == number], of[of == number])
        np.testing.assert_allclose(found[of == number], alone, rtol=1e-5, atol=1e-6)


def test_standard_deviations_leave_out_what_is_unknown() -> None:
    values = np.array([1.0, np.nan, 3.0, np.nan, np.nan, 2.0, 2.0, np.nan])
    assert standard(values, np.array([0, 0, 0, 1, 1, 2, 2, 2])).tolist() == [-1, 0, 1, 0, 0, 0, 0, 0]
    assert standard(np.empty(0), np.empty(0, int)).shape == (0,)
