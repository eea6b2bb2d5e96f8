"""The click curve: the site's own where it has data, a documented one where not, and always falling."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest

from internal_linker.insight.needs import PRIOR, click_curve


def rows(positions: Sequence[float], impressions: Sequence[int], clicks: Sequence[int]) -> pd.DataFrame:
    return pd.DataFrame({"position": positions, "impressions": impressions, "clicks": clicks})


def test_a_site_with_many_impressions_has_its_own_curve() -> None:
    """With 200,000 impressions at each position, the curve is the one that the clicks were drawn from."""
    random, places = np.random.default_rng(0), np.arange(1, 21)
    true = 0.4 / places
    clicks = random.binomial(200_000, true)
    found = click_curve(rows(places.tolist(), [200_000] * 20, clicks.tolist()))
    assert found.rates == pytest.approx(true, rel=0.05)
    assert found.impressions.tolist() == [200_000] * 20


def test_without_rows_the_curve_is_the_documented_one() -> None:
    """No rows, or rows beyond position 20, leave the prior as it is."""
    for some in (rows([], [], []), rows([35.0], [9000], [900])):
        found = click_curve(some)
        assert found.rates == pytest.approx(PRIOR)
        assert not found.impressions.any()


def test_a_few_lucky_impressions_hardly_move_the_curve() -> None:
    """Ten impressions with ten clicks at position 9 raise its share by less than two points, no better one."""
    found = click_curve(rows([9.0], [10], [10]))
    assert PRIOR[8] < found.rates[8] < PRIOR[8] + 0.02
    assert found.rates[:6] == pytest.approx(PRIOR[:6])


@pytest.mark.parametrize("seed", range(5))
def test_no_position_earns_more_than_a_better_one(seed: int) -> None:
    """Whatever the rows, the curve falls and stays between 0 and 1; between two positions it is linear."""
    random = np.random.default_rng(seed)
    seen = random.integers(0, 5000, 60)
    found = click_curve(
        rows(random.uniform(1, 25, 60).tolist(), seen.tolist(), random.integers(0, seen + 1).tolist())
    )
    assert (np.diff(found.rates) <= 1e-12).all()
    assert 0 <= found.rates.min() <= found.rates.max() <= 1
    middle = found.at(np.array([4.5, 20.0, 90.0]))
    assert middle == pytest.approx([found.rates[3:5].mean(), found.rates[19], found.rates[19]])
