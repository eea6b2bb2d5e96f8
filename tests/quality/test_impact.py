"""The impact of links on simulated sites: the method is as sure as docs/impact.md says."""

import re

import numpy as np

from internal_linker.insight.impact.analysis import click_effect
from internal_linker.insight.impact.records import Conclusion
from tests.support.impact_sites import Kind, simulated
from tests.support.small_project import REPOSITORY


def test_few_sites_without_effect_are_called_significant() -> None:
    sites = [simulated(seed, Kind(), 0.0) for seed in range(60)]
    found = [click_effect(site.panel, site.treated, site.strata).clicks for site in sites]
    assert sum(one is not None for one in found) > 50
    alarms = [one.verdict is not Conclusion.UNCLEAR for one in found if one]
    assert np.mean(alarms) <= 0.15  # 5% of 60 sites are 3, and more than 9 one time in 5,000
    assert abs(np.mean([one.effect for one in found if one])) < 0.03


def test_most_intervals_hold_the_effect() -> None:
    sites = [simulated(seed, Kind(), 0.2) for seed in range(40)]
    found = [click_effect(site.panel, site.treated, site.strata).clicks for site in sites]
    assert sum(one is not None for one in found) > 30
    assert np.mean([one.low <= np.log1p(0.2) <= one.high for one in found if one]) >= 0.85


def test_the_measured_figures_stand_in_the_documentation() -> None:
    measured = (REPOSITORY / "tests/research/quality/IMPACT.md").read_text("utf-8")
    told = (REPOSITORY / "docs/impact.md").read_text("utf-8")
    alarms = re.search(r"^\| as described \| 2000 \| (\S+) \| (\S+) \|", measured, re.M)
    assert alarms is not None
    assert f"{alarms[1]} of 2,000 simulated sites" in told
    assert f"before and after alone calls {alarms[2]}" in told
    for effect, held in re.findall(r"^\| as described \| (\d+%) \| (\S+) \|", measured, re.M):
        assert f"| {effect} | {held} |" in told
