"""Lazy sequences, which make their items on access, and batches of an iterable."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import TypeVar, overload

T = TypeVar("T")
Item_co = TypeVar("Item_co", covariant=True)
# As a list, the links of this many pages take 60 MB.
FEW = 20_000


class Lazy(Sequence[Item_co]):
    """A sequence of `length` items that makes them on access, the same every time, and keeps none of them."""

    def __init__(self, length: int, make: Callable[[int], Item_co]) -> None:
        self._places, self._make = range(length), make

    def __len__(self) -> int:
        return len(self._places)

    def __iter__(self) -> Iterator[Item_co]:
        return map(self._make, self._places)

    @overload
    def __getitem__(self, at: int) -> Item_co: ...
    @overload
    def __getitem__(self, at: slice) -> "Lazy[Item_co]": ...
    def __getitem__(self, at: int | slice) -> "Item_co | Lazy[Item_co]":
        if isinstance(at, int):
            return self._make(self._places[at])
        part = Lazy(0, self._make)
        part._places = self._places[at]
        return part


class Later(Sequence[Item_co]):
    """A sequence of `length` items that is loaded when its first item is needed."""

    def __init__(self, length: int, load: Callable[[], Sequence[Item_co]]) -> None:
        self._length, self._load = length, load
        self._items: Sequence[Item_co] | None = None

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[Item_co]:
        return iter(self._loaded())

    @overload
    def __getitem__(self, at: int) -> Item_co: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Item_co]: ...
    def __getitem__(self, at: int | slice) -> Item_co | Sequence[Item_co]:
        return self._loaded()[at]

    def _loaded(self) -> Sequence[Item_co]:
        if self._items is None:
            self._items = self._load()
        return self._items


def batched(items: Iterable[T], size: int) -> Iterator[tuple[T, ...]]:
    """Yield the items in tuples of `size`, the last one shorter."""
    rest = iter(items)
    while part := tuple(islice(rest, size)):
        yield part


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun: "1 row", "2 rows"; `plural` replaces the noun with an s."""
    return f"{number} {noun if number == 1 else plural or f'{noun}s'}"
