"""Sequences and mappings that make one item when it is asked for, and all of them for whoever iterates."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Generic, TypeVar, overload

T = TypeVar("T")
Item_co = TypeVar("Item_co", covariant=True)
# Whoever asks for so many items may ask for all: to make them one by one takes up to ten times as long.
_MANY = 1_000


class SequenceOnDemand(Sequence[Item_co], Generic[Item_co]):
    """A sequence that keeps its items: each place has the same one every time.

    Args:
        length: the number of items.
        make: returns the items at a slice of places whose step is 1.
    """

    def __init__(self, length: int, make: Callable[[slice], Sequence[Item_co]]) -> None:
        self._places, self._make = range(length), make
        self._some: dict[int, Item_co] = {}
        self._all: Sequence[Item_co] | None = None

    def __len__(self) -> int:
        return len(self._places)

    def __iter__(self) -> Iterator[Item_co]:
        return iter(self._whole())

    @overload
    def __getitem__(self, at: int) -> Item_co: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Item_co]: ...
    def __getitem__(self, at: int | slice) -> Item_co | Sequence[Item_co]:
        if self._all is not None or isinstance(at, slice) or len(self._some) > _MANY:
            return self._whole()[at]
        place = self._places[at]
        if place not in self._some:
            (self._some[place],) = self._make(slice(place, place + 1))
        return self._some[place]

    def _whole(self) -> Sequence[Item_co]:
        if self._all is None:
            every = [*self._make(slice(0, len(self)))]
            for place, item in [*self._some.items()]:
                every[place] = item
            self._all = every
        return self._all


class Chained(Sequence[Item_co], Generic[Item_co]):
    """The items of a sequence, then those of another one, without a copy."""

    def __init__(self, first: Sequence[Item_co], second: Sequence[Item_co]) -> None:
        self._first, self._second = first, second

    def __len__(self) -> int:
        return len(self._first) + len(self._second)

    def __iter__(self) -> Iterator[Item_co]:
        return chain(self._first, self._second)

    @overload
    def __getitem__(self, at: int) -> Item_co: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Item_co]: ...
    def __getitem__(self, at: int | slice) -> Item_co | Sequence[Item_co]:
        if isinstance(at, slice):
            return [*self][at]
        place = range(len(self))[at] - len(self._first)
        return self._first[place] if place < 0 else self._second[place]


class MappingOnDemand(Mapping[str, T]):
    """A mapping that keeps its values.

    Args:
        find: returns the value of a key, None if there is none.
        every: returns the whole mapping.
    """

    def __init__(self, find: Callable[[str], T | None], every: Callable[[], Mapping[str, T]]) -> None:
        self._find, self._every = find, every
        self._some: dict[str, T | None] = {}
        self._all: Mapping[str, T] | None = None

    def __len__(self) -> int:
        return len(self._whole())

    def __iter__(self) -> Iterator[str]:
        return iter(self._whole())

    def __getitem__(self, key: str) -> T:
        if self._all is not None or len(self._some) > _MANY:
            return self._whole()[key]
        if key not in self._some:
            self._some[key] = self._find(key)
        found = self._some[key]
        if found is None:
            raise KeyError(key)
        return found

    def _whole(self) -> Mapping[str, T]:
        if self._all is None:
            self._all = self._every()
        return self._all
