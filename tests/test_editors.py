"""Editors keep editing while a run writes: the short form of `python -m tests.endurance --editors 200`."""

from tests.endurance.editors import schedules


def test_links_stay_with_their_rows_and_editors_keep_every_cell() -> None:
    """Sorting, inserting, deleting, renaming and writing at any moment; what found no place is told and healed."""
    done = list(schedules(range(40)))
    assert sum(len(one.done) for one in done) > 40
    assert len({act for one in done for act in one.done}) >= 7
