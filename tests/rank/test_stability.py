"""Stable lists: links of the last run stay where nothing changed, and elsewhere give way only to better ones."""

import numpy as np
import pytest

from internal_linker.model.arrays import Pairs, pairs_of
from internal_linker.rank.fusion import Ranked
from internal_linker.rank.stability import MARGIN, Earlier, arrange_links, best, preferences


def ranked(*scores: list[float]) -> Ranked:
    of = np.repeat(np.arange(len(scores)), [len(each) for each in scores])
    targets = np.concatenate([np.arange(len(each)) for each in scores])
    known, none = np.concatenate(scores).astype(np.float32), np.zeros(len(of), np.float32)
    return Ranked(of, targets, np.zeros(len(of), np.int32), known, none, none, none, known)


def earlier(lists: list[list[int]], changed: list[int] = [], unsettled: list[int] = []) -> Earlier:  # noqa: B006
    pages, sources = np.zeros((2, 9), np.bool_)
    pages[changed], sources[unsettled] = True, True
    return Earlier(pairs_of(lists), pages, sources)


def links(candidates: Ranked, before: Earlier | None, first: list[int] | None = None) -> list[list[int]]:
    liked, named = preferences(candidates, before), np.zeros(len(candidates.of), np.bool_)
    named[first or []] = True
    found = arrange_links(
        candidates, best(candidates.of, named, liked.worth, 3), named, named & False, liked, 3
    )
    return [found.targets[found.of == source][:3].tolist() for source in range(int(found.of.max()) + 1)]


def test_a_list_stays_where_nothing_changed_but_for_lost_links_and_the_users_setting() -> None:
    assert links(ranked([4, 3, 2, 1], [3, 2]), None) == [[0, 1, 2], [0, 1]]
    candidates = ranked([9, 8, 7, 1, 0.5, 0])
    assert links(candidates, earlier([[5, 3, 4]])) == [[5, 3, 4]]
    assert links(ranked([5, 4, 1, 1 - MARGIN / 2]), earlier([[7, 1, 3]], unsettled=[0])) == [[0, 1, 3]]
    candidates = ranked([1, 2, 9, 8])
    assert links(candidates, earlier([[3, 2, 1]]), first=[0]) == [[0, 3, 2]]


@pytest.mark.parametrize("change", [{"changed": [0]}, {"unsettled": [0]}])
def test_near_a_change_a_link_gives_way_only_to_a_clearly_better_one(change: dict[str, list[int]]) -> None:
    before = earlier([[1, 2, 3]], **change)
    close = [3 + MARGIN / 2, 3, 3, 3]
    assert links(ranked(close), before) == [[1, 2, 3]]
    assert links(ranked([3 + 2 * MARGIN, 3, 3, 3]), before) == [[0, 1, 2]]


def test_near_a_change_links_overtake_only_by_the_margin() -> None:
    before = earlier([[2, 1, 0]], unsettled=[0])
    assert links(ranked([3 + 2 * MARGIN, 3, 3 - MARGIN / 2, 0]), before) == [[0, 2, 1]]
    assert links(ranked([3 + MARGIN / 2, 3, 3 - MARGIN / 2, 0]), before) == [[2, 1, 0]]


def test_only_a_changed_page_that_could_be_a_link_affects_a_list() -> None:
    candidates = ranked([9, 8, 7, 6, 5], [9, 8, 7, 6, 5])
    lists = [[1, 2, 3], [1, 2, 4]]
    assert links(candidates, earlier(lists, changed=[4])) == [[1, 2, 3], [0, 1, 2]]
    assert links(candidates, earlier(lists[1:] * 2, changed=[3])) == [[0, 1, 2], [0, 1, 2]]
    assert links(candidates, earlier(lists[:1] * 2, changed=[4])) == lists[:1] * 2


def test_pages_beyond_the_known_ones_can_be_candidates() -> None:
    """Search results that are not pages have numbers above the rows of pages; they don't count as changed."""
    candidates = ranked([3, 2, 1, 0])
    before = Earlier(
        Pairs(np.zeros(3, np.int64), np.array([1, 2, 3])), np.zeros(2, np.bool_), np.zeros(1, np.bool_)
    )
    assert links(candidates, before) == [[1, 2, 3]]


def test_a_needier_page_competes_without_the_margin() -> None:
    none, two = np.zeros(0, np.bool_), np.array([False, False])
    score = np.array([2.0, 1.0, 0.9])
    found = Ranked(np.zeros(3, np.int64), np.arange(3), np.zeros(3, np.int64), *[score] * 5)
    links = Pairs(np.array([0, 0]), np.array([0, 1]))
    bonus = np.array([0.0, 0.0, 0.2])
    changed, rose = np.array([False, False, True]), np.array([False, False, True])
    kept = preferences(found, Earlier(links, changed, two[:1], none), bonus).worth
    assert kept.tolist() == pytest.approx([2.0 + MARGIN, 1.0 + MARGIN, 1.1])
    moved = preferences(found, Earlier(links, changed, two[:1], rose), bonus).worth
    assert moved.tolist() == pytest.approx([2.0, 1.0, 1.1])
    far = preferences(found, Earlier(links, changed, two[:1], rose), 0.5 * bonus).worth
    assert far[1] > far[2]
