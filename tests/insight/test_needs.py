"""Needs of pages: earnings, few in-links and age, each within bounds and explained."""

from datetime import date

import numpy as np
import pandas as pd
import pytest

from internal_linker.insight.needs import page_needs
from internal_linker.model.needs import LEVELS, PageNeeds

TODAY = date(2026, 11, 20)
N = 40
ROWS = {f"p{row}": row for row in range(N)}


def gains(some: dict[str, float], impressions: float = 100.0) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "page": [*some],
            "impressions": [impressions] * len(some),
            "position": [8.4] * len(some),
            "gain": [*some.values()],
        }
    )


def needs(
    found: pd.DataFrame, inlinks: list[int] | None = None, published: dict[int, float] | None = None
) -> PageNeeds:
    days = np.full(N, np.nan)
    for row, day in (published or {}).items():
        days[row] = day
    return page_needs(found, ROWS, np.array(inlinks or [5] * N, np.int64), days, TODAY)


def test_a_page_that_would_earn_more_needs_more() -> None:
    """With equal in-links, the order of the needs is that of the gains; unknown URLs change nothing."""
    found = needs(gains({"p3": 200.0, "p4": 20.0, "p5": 1.0, "elsewhere": 9000.0}))
    assert found.values[3] == 1.0
    assert found.values[3] >= found.values[4] >= found.values[5] >= found.values[6]
    assert found.values[3] > found.values[5]
    assert (found.impressions[3], found.positions[3], found.impressions[6], found.positions[6]) == (
        100,
        8,
        0,
        0,
    )


def test_one_huge_page_does_not_hide_the_others() -> None:
    some = {f"p{row}": 10.0 + row for row in range(1, 30)}
    alone, beside = needs(gains(some)), needs(gains({**some, "p0": 1e7}))
    assert (beside.values[1:30] >= alone.values[1:30] / 2).all()


def test_few_in_links_count_unless_no_links_are_known() -> None:
    """A page without in-links needs more than one with 20; without any known link all are equal."""
    found = needs(gains({}), [0] + [20] * (N - 1))
    assert found.values[0] > found.values[1]
    assert not needs(gains({}), [0] * N).values.any()


def test_a_new_page_needs_more_for_a_while() -> None:
    """The age counts less from day to day, and only a page of the last 90 days is called new; a date ahead is none."""
    day = TODAY.toordinal()
    found = needs(
        gains({}),
        published={**dict.fromkeys((0, 5, 6, 7), day - 3.0), 1: day - 100.0, 2: day - 900.0, 3: day + 30.0},
    )
    assert found.values[0] > found.values[1] >= found.values[2] >= found.values[4]
    assert found.ages[:5].tolist() == [3, -1, -1, -1, -1]
    assert found.values[3] == found.values[4]


def test_needs_are_steps_from_0_to_1() -> None:
    random = np.random.default_rng(0)
    some = {key: float(gain) for key, gain in zip(ROWS, random.lognormal(2, 2, N), strict=True)}
    found = needs(gains(some))
    assert set((found.values * LEVELS).tolist()) <= set(range(LEVELS + 1))
    assert (found.values.min(), found.values.max()) == (0.0, 1.0)
    assert (found.values == 1.0).sum() >= 2
    again = needs(gains({key: gain * 1.01 for key, gain in some.items()}))
    assert (found.values != again.values).sum() <= 1


def test_needs_of_other_shapes_or_sizes_are_refused() -> None:
    """Values beyond 0 to 1, and arrays of different lengths, are an error."""
    none = np.zeros(2, np.int64)
    with pytest.raises(ValueError, match="0 to 1"):
        PageNeeds(np.array([0.0, 1.5], np.float32), none, none, none)
    with pytest.raises(ValueError, match="must be"):
        PageNeeds(np.zeros(3, np.float32), none, none, none)
