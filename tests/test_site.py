"""A site's pages are compared: likeness to what is linked, and new links without near-duplicates."""

from functools import partial

import numpy as np

from internal_linker.records import Text
from internal_linker.site import Site
from internal_linker.steps.terms import FIXED_TERMS
from tests.builders import page

BODIES = ["tea pot clay", "tea cup clay", "iron pan", "iron pot pan", "tea tin", "wood spoon", ""]


def site(*more: str) -> Site:
    """Pages with these contents, and queries behind them."""
    pages = [page(number, body) for number, body in enumerate(BODIES)]
    texts = [Text("", body) for body in (*BODIES, *more)]
    return Site(pages, texts, np.zeros((len(texts), 1), np.float32), FIXED_TERMS, 0.95)


def _not_in(known: set[int], row: int) -> bool:
    return row not in known


def test_likeness_is_the_mean_cosine() -> None:
    """To several pages it is the mean of what it is to each, the same both ways; to none it is 0."""
    made, others = site(), np.arange(len(BODIES))
    each = np.stack([made.likeness(others, np.array([row])) for row in range(len(BODIES))])
    np.testing.assert_allclose(each, each.T, atol=1e-6)
    assert each[0, 1] > 0 == each[0, 5]
    mean = made.likeness(others, np.array([0, 2, 4]))
    np.testing.assert_allclose(mean, each[[0, 2, 4]].mean(axis=0), atol=1e-6)
    assert mean.min() >= 0 and mean.max() <= 1 and each[6].tolist() == [0] * len(BODIES)
    assert made.likeness(others, np.empty(0, np.int64)).tolist() == [0] * len(BODIES)


def test_new_ones_are_as_many_as_are_wanted() -> None:
    """What is linked already takes no place: the list grows until there are enough, or all were seen."""
    made = site("tea clay pot")
    rows = range(len(BODIES) - 1)
    for row in (0, len(BODIES)):
        (matches,) = made.matches([row], list(rows), 1, 1.0)
        crowding = set(matches.rows[:3].tolist())
        found, places, twins = made.fresh(row, matches, 1, partial(_not_in, crowding))
        assert places and not crowding & {int(found.rows[place]) for place in places}
        assert not twins
        _, places, _ = made.fresh(row, matches, 1, lambda other: False)
        assert places == []


def test_those_asked_for_stand_behind_the_best() -> None:
    """A row that is asked for is among the matches, wherever it ranks."""
    made = site()
    (matches,) = made.matches([0], list(range(6)), 1, 1.0)
    assert 5 not in matches.rows[:2]
    found, places, _ = made.fresh(0, matches, 1, lambda other: True, [5])
    assert 5 in found.rows[places]


def test_a_query_has_no_date() -> None:
    """Nearness in time is known between dated pages only."""
    assert np.isnan(site("tea").nearness(len(BODIES), np.arange(3))).all()
