"""Items are made when they are asked for, and each is the same one every time."""

from collections.abc import Sequence

import pytest

from internal_linker.core.on_demand import Chained, MappingOnDemand, SequenceOnDemand


def test_a_sequence_makes_only_what_is_read() -> None:
    """One item is made alone, from either end; whoever iterates gets all, among them those that were there."""
    made: list[slice] = []

    def make(part: slice) -> Sequence[list[int]]:
        made.append(part)
        return [[at] for at in range(part.start, part.stop)]

    found = SequenceOnDemand(5, make)
    last = found[-1]
    assert (len(found), last, found[4] is last, made) == (5, [4], True, [slice(4, 5)])
    with pytest.raises(IndexError):
        found[5]
    assert [*found] == [[0], [1], [2], [3], [4]] and [*found][4] is last
    assert found[1:3] == [[1], [2]] and made == [slice(4, 5), slice(0, 5)]


def test_two_sequences_read_like_one() -> None:
    """Items are found from either end and by slices; the second sequence's follow the first one's."""
    both = Chained([1, 2], [3])
    assert (len(both), [*both], both[0], both[2], both[-1], both[-3]) == (3, [1, 2, 3], 1, 3, 3, 1)
    assert (both[1:], both[::-1]) == ([2, 3], [3, 2, 1])
    for outside in (3, -4):
        with pytest.raises(IndexError):
            both[outside]


def test_a_mapping_finds_only_what_is_read() -> None:
    """A key is looked up once, even if it has no value; whoever iterates or counts gets the whole mapping."""
    asked: list[str] = []

    def find(key: str) -> int | None:
        asked.append(key)
        return {"a": 1, "b": 2}.get(key)

    found = MappingOnDemand(find, lambda: {"a": 1, "b": 2})
    assert (found["a"], found.get("c"), "c" in found, found.get("a")) == (1, None, False, 1)
    assert asked == ["a", "c"]
    assert dict(found) == {"a": 1, "b": 2} and len(found) == 2
    assert found.get("c") is None and asked == ["a", "c"]


def test_many_items_are_made_at_once() -> None:
    """Who asks for thousands of items one by one doesn't wait for each of them."""
    calls: list[slice] = []

    def make(part: slice) -> Sequence[int]:
        calls.append(part)
        return range(part.start, part.stop)

    found = SequenceOnDemand(50_000, make)
    assert [found[at] for at in range(50_000)] == [*range(50_000)]
    assert len(calls) < 2_000
