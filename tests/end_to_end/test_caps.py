"""Caps hold however services fail: the short form of `python -m tests.research.endurance`."""

import pytest

from tests.end_to_end.caps import IN_FLIGHT, spend


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.long)])
def test_the_ledgers_never_pass_the_caps(seed: int) -> None:
    """With 1 to 32 requests in flight, the client counts what the servers charge, which never exceeds the caps."""
    trials = list(spend(seed))
    assert len(trials) == 2 * len(IN_FLIGHT)
    for trial in trials:
        trial.check()
        assert trial.charged > 0
