"""Whose name a set of stems is."""

import numpy as np
import pytest

from internal_linker.anchors.site_names import Owners


def owners(titles: dict[int, int]) -> Owners:
    return Owners.from_names(titles.items(), (), ())


def test_a_set_with_the_lowest_bits_of_a_name_is_no_name() -> None:
    dice = np.random.default_rng(0)
    names = dice.integers(0, 2**64, 200, np.uint64)
    found = owners({name: row for row, name in enumerate(names.tolist())})
    others = names ^ (np.uint64(1) << np.uint64(63))
    assert found.of_sets(names).tolist() == [*range(200)]
    assert found.of_sets(others).tolist() == [-1] * 200
    assert found.of_sets(np.concatenate([others[:1], names[:2]])).tolist() == [-1, 0, 1]
    assert owners({}).of_sets(np.array([0, 5], np.uint64)).tolist() == [-1, -1]
    assert found.of_sets(np.empty(0, np.uint64)).tolist() == []


@pytest.mark.parametrize(("parts", "pages"), [(True, [3, 4, -1]), (False, [3, -1, -1])])
def test_parts_of_titles_count_where_they_may(parts: bool, pages: list[int]) -> None:
    found = Owners.from_names([(11, 3), (7, 1), (7, 2)], [(12, 4)], ())
    assert found.of_sets(np.array([11, 12, 7], np.uint64), parts=parts).tolist() == pages
