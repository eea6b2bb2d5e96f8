"""The last run's lists applied to this run's rows: removed texts, new texts, and merged lists."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from internal_linker.match.neighbours.incremental import known, merge
from internal_linker.model.arrays import Nearest, Neighbourhood, keys_of, rows_of, scores_of


def digests(*names: int) -> NDArray[np.uint8]:
    found = np.zeros((len(names), 16), np.uint8)
    found[:, 15] = names
    return found


def listed(*lists: list[tuple[int, float]], keep: int = 4, floors: list[float] | None = None) -> Nearest:
    rows, scores = np.full((len(lists), keep), -1, np.int32), np.full((len(lists), keep), -np.inf, np.float32)
    for at, entries in enumerate(lists):
        for place, (row, score) in enumerate(entries):
            rows[at, place], scores[at, place] = row, score
    return Nearest(rows, scores, np.array(floors or [-np.inf] * len(lists), np.float32))


def test_lists_follow_their_texts() -> None:
    """Texts 5, 6, 7 become 7, 9, 5: rows are renumbered, the entry of 6 is removed, and the list closes the gap."""
    lists = listed([(1, 0.9), (2, 0.8)], [(0, 0.9)], [(0, 0.8)])
    found = known(Neighbourhood(digests(5, 6, 7), lists), digests(7, 9, 5), served=1)
    assert found.lists.rows[:, :2].tolist() == [[2, -1], [-1, -1], [0, -1]]
    np.testing.assert_allclose(found.lists.scores[[0, 2], 0], 0.8)
    assert (found.changed.tolist(), found.short.tolist(), found.removed) == ([1], [], 1)


def test_a_list_that_lost_too_much_is_short() -> None:
    entries = [(1, 0.9), (2, 0.8)]
    lists = listed(entries, entries, entries, floors=[0.7, -np.inf, -np.inf])
    old = Neighbourhood(digests(1, 2, 3), lists)
    found = known(old, digests(1, 2), served=2)
    assert found.short.tolist() == [0]
    assert found.lists.rows[0].tolist() == [-1] * 4
    assert found.lists.rows[1].tolist() == [1, -1, -1, -1]
    three, two = digests(4, 4, 4), digests(4, 4)
    fewer = known(Neighbourhood(three, listed([], [], [])), two, 1)
    more = known(Neighbourhood(two, listed([], [])), three, 1)
    assert (len(fewer.changed), fewer.removed) == (0, 1)
    assert (len(more.changed), more.removed) == (1, 0)


@given(st.data())
def test_a_merge_knows_what_both_sides_know(data: st.DataObject) -> None:
    scores = data.draw(st.lists(st.integers(-4, 4), min_size=1, max_size=14))
    side = data.draw(st.lists(st.booleans(), min_size=len(scores), max_size=len(scores)))
    ranked = sorted((-score / 4, row) for row, score in enumerate(scores))
    parts = []
    for wanted in (True, False):
        mine = [(row, -score) for score, row in ranked if side[row] is wanted]
        floor = mine[3][1] if len(mine) > 4 else -np.inf
        parts.append(listed(mine[:4], floors=[floor]))
    merge(parts[0], np.array([0]), parts[1])
    rows, floor = parts[0].rows[0], parts[0].floors[0]
    count = int((rows >= 0).sum())
    assert rows[:count].tolist() == [row for _, row in ranked[:count]]
    left = [-score for score, _ in ranked[count:]]
    assert max(left, default=-np.inf) <= floor
    assert count >= min(4, len(ranked))


@given(st.lists(st.tuples(st.floats(-1, 1, width=32), st.integers(0, 2**31 - 1)), min_size=1))
def test_keys_order_as_scores_and_then_rows_do(pairs: list[tuple[float, int]]) -> None:
    scores, rows = np.array([p[0] for p in pairs], np.float32), np.array([p[1] for p in pairs], np.int32)
    keys = keys_of(scores, rows)
    np.testing.assert_array_equal(scores_of(keys), scores)
    np.testing.assert_array_equal(rows_of(keys), rows)
    order = np.argsort(-keys, kind="stable")
    assert order.tolist() == np.lexsort((rows, -scores)).tolist()
