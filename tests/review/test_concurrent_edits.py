"""Editors keep editing while a run writes: the short form of `python -m tests.endurance --only editors`."""

from tests.endurance.editors import schedules
from tests.endurance.reviewers import reviews


def test_links_stay_with_their_rows_and_editors_keep_every_cell() -> None:
    """Sorting, inserting, deleting, renaming and writing at any moment; what found no place is told and healed."""
    done = list(schedules(range(40)))
    assert sum(len(one.done) for one in done) > 40
    assert len({act for one in done for act in one.done}) >= 7


def test_words_stay_beside_their_links() -> None:
    """The same in the tab Review, where rows come and go, too."""
    done = list(reviews(range(40)))
    assert sum(len(one.done) for one in done) > 40
    assert len({act for one in done for act in one.done}) >= 7
