"""Large sites over years: the short form of `python -m tests.endurance --only soak --only year`."""

from pathlib import Path

import pytest

from tests.endurance.soak import soak
from tests.endurance.year import check, year


@pytest.mark.long
def test_a_run_with_failing_services_takes_bounded_memory_and_log(tmp_path: Path) -> None:
    """Memory and log stay bounded while services fail; a second run without changes pays for nothing."""
    assert len([*soak(500, tmp_path, 1)]) == 2


@pytest.mark.long
def test_a_folder_stops_growing(tmp_path: Path) -> None:
    """Runs a third of a year apart show in a few weeks that the folder stops growing after half a year."""
    days = 107
    check([*year(tmp_path, 6, 100, churn=0.2, days=days)], days)
