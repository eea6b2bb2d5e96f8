"""The impact of links on simulated sites: the method is as sure as it says."""

import numpy as np
import pytest

from tests.research.quality import impact
from tests.research.quality.impact import KINDS, coverage, false_alarms, naive_misses, trial
from tests.support.impact_sites import HARDER, Kind


def trials(kind: Kind, effect: float, count: int) -> list[impact.Trial]:
    return [trial(kind, effect, seed) for seed in range(count)]


def test_sites_without_effect() -> None:
    """Few are called significant, and nearly all by a comparison of before and after."""
    found = trials(Kind(), 0.0, 60)
    assert false_alarms(found) <= 0.15  # 5% of 60 sites are 3, and more than 9 one time in 5,000
    assert naive_misses(found) > 0.6
    assert abs(np.mean([one.miss for one in found])) < 0.03


def test_sites_with_an_effect() -> None:
    """Most intervals hold it."""
    assert coverage(trials(Kind(), 0.2, 40)) >= 0.85


@pytest.mark.long
@pytest.mark.parametrize("name", KINDS)
def test_false_alarms_of_each_kind_of_site(name: str) -> None:
    """On 300 sites without effect, at most 9% are called significant, three standard errors above 5%."""
    assert false_alarms(trials(KINDS[name], 0.0, 300)) <= 0.09


@pytest.mark.long
@pytest.mark.parametrize("kind", [Kind(), HARDER], ids=["as described", "harder"])
@pytest.mark.parametrize("effect", [0.05, 0.1, 0.2])
def test_intervals_hold_the_effect(kind: Kind, effect: float) -> None:
    """On 300 sites, at least 91% do, three standard errors below 95%."""
    assert coverage(trials(kind, effect, 300)) >= 0.91
