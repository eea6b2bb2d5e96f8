"""Editors keep editing while a run writes: the short form of `python -m tests.endurance --only editors`."""

import pytest

from tests.endurance.editors import schedules
from tests.endurance.reviewers import reviews

SEEDS = pytest.mark.parametrize(
    "seeds", [range(10), pytest.param(range(10, 50), marks=pytest.mark.long)], ids=len
)


@SEEDS
def test_links_stay_with_their_rows_and_editors_keep_every_cell(seeds: range) -> None:
    """Sorting, inserting, deleting, renaming and writing at any moment; what found no place is told and healed."""
    done = list(schedules(seeds))
    assert sum(len(one.done) for one in done) > len(seeds)
    assert len({act for one in done for act in one.done}) >= 7


@SEEDS
def test_words_stay_beside_their_links(seeds: range) -> None:
    """The same in the tab Review, where rows come and go, too."""
    done = list(reviews(seeds))
    assert sum(len(one.done) for one in done) > len(seeds)
    assert len({act for one in done for act in one.done}) >= 7
