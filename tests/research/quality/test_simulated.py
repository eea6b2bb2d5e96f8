"""The tables that compare simulated arrivals with real ones."""

import pytest

from tests.research.quality.arrivals import ARRIVALS
from tests.research.quality.simulated import BASE, OURS, SETTINGS, SIMULATED, figures, tables
from tests.support.corpora import ABSENT, present


def site(base: float, gain: float) -> dict[str, float]:
    return {BASE: base, OURS: base + gain}


def test_the_tables_tell_how_well_a_setting_predicts() -> None:
    """Correlation and mean error are those of the sites' means, and of what the better ranking gains on them."""
    found = {
        name: {
            ARRIVALS: site(0.3 + step, 0.1 + step),
            **{each: site(0.4 + step, 0.1 - step / 2) for each in SETTINGS},
        }
        for name, step in (("one", 0.0), ("two", 0.01), ("three", 0.04))
    }
    lines = list(tables(found))
    assert lines[3] == "| two | 0.310 | 0.420 | +0.110 | 0.410 | 0.505 | +0.095 |"
    *_, real, simulated, _, _, _ = lines
    assert real == f"| {ARRIVALS} | 0.433 |  |  | +0.117 |  |  |"
    assert simulated.startswith(f"| {SIMULATED} | 0.508 | 1.00 | ") and simulated.endswith(
        " | +0.092 | -1.00 | 0.025 |"
    )


@pytest.mark.long
@pytest.mark.skipif(not present("wsl"), reason=ABSENT)
def test_all_settings_are_measured_on_a_site() -> None:
    """Both rankings have figures on real and simulated arrivals, and on links hidden at random."""
    found = figures("wsl")
    assert {*found} == {ARRIVALS, *SETTINGS}
    assert all(0 < each[way] < 1 for each in found.values() for way in (BASE, OURS))
