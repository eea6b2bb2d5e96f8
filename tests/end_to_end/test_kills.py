"""A run may be killed at any time: the short form of `python -m tests.research.endurance --kills 200`."""

import os
from pathlib import Path

import pytest

from tests.end_to_end.kills import calm, kill_at_boundaries, kill_at_moments

SEED = 1

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(os.name != "posix", reason="Windows has no SIGKILL."),
]


def test_a_run_killed_at_any_time_loses_nothing_and_pays_for_nothing_twice(tmp_path: Path) -> None:
    like = calm(tmp_path / "calm")
    assert like.boundaries > 40 and like.texts == 50
    step = like.boundaries // 3
    done = [*kill_at_boundaries(like, range(SEED, like.boundaries + 1, step), tmp_path)]
    done += kill_at_moments(like, 2, SEED, tmp_path)
    assert len(done) >= 5
