"""A run may be killed at any time: the short form of `python -m tests.endurance --kills 200`."""

import os
from pathlib import Path

import pytest

from tests.endurance.kills import calm, kill_at_boundaries, kill_at_moments

SEED = 1


@pytest.mark.skipif(os.name != "posix", reason="Windows has no SIGKILL.")
def test_a_killed_run_loses_nothing_and_pays_for_nothing_twice(tmp_path: Path) -> None:
    """But for what was in flight; the files are whole, the next run's result is that of a run nobody disturbed."""
    like = calm(tmp_path)
    assert like.boundaries > 40 and like.texts == 50
    step = like.boundaries // 3
    done = [*kill_at_boundaries(like, range(SEED, like.boundaries + 1, step), tmp_path)]
    done += kill_at_moments(like, 2, SEED, tmp_path)
    assert len(done) >= 5
