"""Targets are matched with pages that fared alike and got no link."""

import numpy as np
import pytest

from internal_linker.insight.impact.matching import Matching, matched
from internal_linker.insight.impact.panel import Panel
from internal_linker.insight.impact.records import NEVER, DonorPool, Dropped
from internal_linker.model.arrays import Ints, Vectors

WEEKS, FIRST = 20, 700_000
DAY = FIRST + 13 * 7


def panel(levels: list[list[float]]) -> Panel:
    """Return pages with so many clicks a day in each week; the last figure holds until the end."""
    weekly = np.array([[*each, *[each[-1]] * (WEEKS - len(each))] for each in levels])
    clicks: Vectors = np.repeat(weekly, 7, axis=1)
    return Panel(tuple(map(str, range(len(levels)))), FIRST, clicks, clicks, clicks)


def site(
    count: int, links: dict[int, int], *, strata: list[int] | None = None, held: tuple[int, ...] = ()
) -> DonorPool:
    firsts: Ints = np.full(count, NEVER, np.int64)
    for row, day in links.items():
        firsts[row] = day
    return DonorPool(
        strata=np.array(strata or [0] * count),
        first_links=firsts,
        held=np.isin(np.arange(count), held),
    )


def found(data: Panel, of: DonorPool, *, day: int = DAY, weeks: int = 4, at_random: bool = False) -> Matching:
    """Match page 0, whose link went live on a day."""
    return matched(data, of, np.array([0]), np.array([day]), np.array([weeks]), at_random=at_random)


STEADY = [2.0]
SINKING = [2.0] * 9 + [1.0]


def test_level_and_trend_are_matched() -> None:
    data = panel([SINKING, *[STEADY] * 6, *[[20.0] * 9 + [10.0]] * 3, *[SINKING] * 3])
    assert sorted(found(data, site(13, {0: DAY})).controls) == [10, 11, 12]


@pytest.mark.parametrize(
    ("day", "is_control"),
    [(DAY - 70, False), (DAY, False), (DAY + 27, False), (DAY + 28, True)],
)
def test_pages_with_links_are_no_controls(day: int, is_control: bool) -> None:
    data = panel([STEADY] * 13)
    controls = found(data, site(13, {0: DAY, 5: day})).controls.tolist()
    assert (5 in controls) is is_control
    assert 0 not in controls


def test_controls_are_of_the_same_section() -> None:
    """As long as it has enough pages; otherwise all sections are searched, and this is counted."""
    data = panel([STEADY] * 31)
    own = found(data, site(31, {0: DAY}, strata=[0] * 12 + [1] * 19))
    assert max(own.controls) < 12
    assert own.elsewhere == 0
    other = found(data, site(31, {0: DAY}, strata=[0] * 5 + [1] * 26))
    assert max(other.controls) >= 12
    assert other.elsewhere == 1


@pytest.mark.parametrize(
    ("row", "day", "why"),
    [
        (-1, DAY, Dropped.UNKNOWN),
        (0, FIRST + WEEKS * 7 - 27, Dropped.RECENT),
        (0, FIRST + 12 * 7 - 1, Dropped.EARLY),
    ],
)
def test_targets_without_data_are_counted(row: int, day: int, why: Dropped) -> None:
    """With the reason; a comparison that is a day short is none."""
    data = panel([STEADY] * 13)
    got = matched(data, site(13, {0: day}), np.array([row]), np.array([day]), np.array([4]), at_random=False)
    assert (len(got), got.dropped) == (0, {why: 1})


def test_a_target_without_similar_pages_is_counted() -> None:
    got = found(panel([STEADY, *[[50.0]] * 12]), site(13, {0: DAY}))
    assert (len(got), got.dropped) == (0, {Dropped.NO_CONTROL: 1})


def test_held_back_pages_are_all_controls() -> None:
    """However similar they are and whether or not a link to them went live, since they were drawn at random."""
    data = panel([STEADY, *[STEADY] * 6, *[[50.0]] * 3])
    got = found(data, site(10, {0: DAY, 8: DAY + 1}, held=(2, 8)), at_random=True)
    assert got.controls.tolist() == [2, 8]
