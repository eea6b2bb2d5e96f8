"""The tables of the adaptation: each trial with what the cross-validation said, and the means of the sites."""

import numpy as np

from internal_linker.rank.adaptation import Adaptation
from internal_linker.rank.metrics import Estimate
from tests.research.quality.adaptation import Measured, tables


def test_each_site_counts_the_same_in_the_means() -> None:
    """A site with more pages or more trials has no more weight than another; too few links are no adaptation."""
    low, gain = Estimate(0.3, 0.2, 0.4), Estimate(0.1, 0.05, 0.15)
    adaptation = Adaptation(200, 0, low, Estimate(0.4, 0.3, 0.5), gain, True)
    better, same = np.tile([0.2, 0.4], (30, 1)), np.tile([0.6, 0.6], (5, 1))
    found: dict[str, list[Measured]] = {
        "one": [("half", adaptation, better), ("half", adaptation, better)],
        "two": [("half", None, same)],
    }
    lines = [*tables(found)]
    assert "| one | half | 200 | +0.1000 [+0.050, +0.150] * | yes | 0.200 | 0.400 |" in lines[2]
    assert lines[4].startswith("| two | half |  |  | no | 0.600 | 0.600 | +0.0000 [+0.000, +0.000] |")
    assert "| half | 2 | 0.4000 [" in lines[-1] and "| 0.5000 [" in lines[-1] and "| +0.1000 [" in lines[-1]
