"""Rows that belong to several texts, in flat arrays: what is done for one text at a time takes ten times as long."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from internal_linker.core.arrays import Bools, Ints


@dataclass(frozen=True, slots=True)
class Pairs:
    """Some rows for each of several texts.

    Attributes:
        of: (p,) which text: its place among them, from 0.
        rows: (p,) the other row.
    """

    of: Ints
    rows: Ints

    def keys(self, n: int) -> Ints:
        """(p,) int64: a number of each pair, where rows are below n; ascending by text, then by row."""
        return self.of.astype(np.int64) * n + self.rows

    def at(self, places: Ints | Bools) -> "Pairs":
        """Those at the given places."""
        return Pairs(self.of[places], self.rows[places])

    def lists(self, count: int) -> list[Ints]:
        """The rows of each of the `count` texts; the pairs of a text follow each other, in the texts' order."""
        return np.split(self.rows, np.searchsorted(self.of, np.arange(1, count)))


NO_PAIRS = Pairs(np.empty(0, np.int64), np.empty(0, np.int64))


def pairs_of(lists: Sequence[Sequence[int] | Ints]) -> Pairs:
    """The rows of several texts as pairs."""
    rows = np.concatenate([NO_PAIRS.rows, *(np.asarray(each, np.int64) for each in lists)])
    return Pairs(np.repeat(np.arange(len(lists)), [len(each) for each in lists]), rows)


def both(*parts: Pairs) -> Pairs:
    """All of them, those of one part behind those of another."""
    of = np.concatenate([part.of for part in parts])
    return Pairs(of.astype(np.int64), np.concatenate([part.rows for part in parts]).astype(np.int64))


def ranks(of: Ints) -> Ints:
    """(m,) the position of each element in its run of equals, from 0."""
    first = np.flatnonzero(np.diff(of, prepend=-1))
    return np.arange(len(of)) - np.repeat(first, np.diff(np.append(first, len(of))))


def is_in(values: Ints, ours: Ints) -> Bools:
    """(len(values),): which of the values are among `ours`; np.isin takes five times as long for few."""
    if not len(ours):
        return np.zeros(len(values), np.bool_)
    ascending = np.sort(ours)
    found: Bools = ascending[np.searchsorted(ascending, values).clip(max=len(ours) - 1)] == values
    return found
