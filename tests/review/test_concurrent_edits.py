"""Editors keep editing while a run writes: the short form of `python -m tests.research.endurance --only editors`."""

import pytest

from tests.review.editors import schedules
from tests.review.reviewers import reviews

SEEDS = pytest.mark.parametrize(
    "seeds", [range(6), pytest.param(range(6, 50), marks=pytest.mark.long)], ids=len
)


@SEEDS
def test_links_stay_with_their_rows_and_editors_keep_every_cell(seeds: range) -> None:
    """Editors sort, insert, delete, rename and type at any moment: links keep their rows, and every edit survives."""
    done = list(schedules(seeds))
    assert sum(len(one.done) for one in done) > len(seeds)
    assert len({act for one in done for act in one.done}) >= 7


@SEEDS
def test_words_stay_beside_their_links(seeds: range) -> None:
    """The same promise for the tab Review, where rows also come and go."""
    done = list(reviews(seeds))
    assert sum(len(one.done) for one in done) > len(seeds)
    assert len({act for one in done for act in one.done}) >= 7
