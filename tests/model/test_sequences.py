"""A lazy sequence behaves like a list and stores nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from internal_linker.model.sequences import Lazy, counted


@given(st.integers(0, 6), st.slices(6), st.integers(-8, 8))
def test_it_reads_as_a_list_does(length: int, part: slice, at: int) -> None:
    lazy, listed = Lazy(length, str), [str(place) for place in range(length)]
    assert (len(lazy), list(lazy)) == (length, listed)
    assert (list(lazy[part]), list(lazy[part][::-1])) == (listed[part], listed[part][::-1])
    try:
        expected = listed[at]
    except IndexError:
        with pytest.raises(IndexError):
            lazy[at]
    else:
        assert lazy[at] == expected


def test_an_item_is_made_when_it_is_asked_for() -> None:
    asked: list[int] = []

    def make(at: int) -> int:
        asked.append(at)
        return at

    lazy = Lazy(3, make)
    part = lazy[1:]
    assert asked == []
    assert (part[0], part[0]) == (1, 1)
    assert asked == [1, 1]


def test_a_number_agrees_with_its_noun() -> None:
    """1 has the singular, 0 and all others the plural."""
    assert [counted(number, "row") for number in (0, 1, 2)] == ["0 rows", "1 row", "2 rows"]
    assert counted(1, "query", "queries") == "1 query" and counted(0, "query", "queries") == "0 queries"
