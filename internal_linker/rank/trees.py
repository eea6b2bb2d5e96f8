"""Decision trees over the columns of a ranker, which see what a sum can't: that a value matters beside another one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from internal_linker.model.arrays import Bools, Ints, Vectors

# Leaves of a tree at most: each is a bit.
LEAVES = 16
_ALL = np.uint16(0xFFFF)
# So few candidates go through all nodes at once: a node at a time would take longer than the comparisons.
_FEW = 200
# The number of the lowest bit of 2^0 to 2^15.
_NUMBER = np.zeros(1 << LEAVES, np.uint8)
_NUMBER[1 << np.arange(LEAVES)] = np.arange(LEAVES)


@dataclass(frozen=True, slots=True)
class Trees:
    """A sum of trees, by their nodes in any order and their leaves from left to right.

    A node excludes leaves from those that a candidate can reach, and the first that remains is its leaf: so all
    candidates go through a node at a time (QuickScorer, Lucchese et al. 2015).
    """

    starts: Ints  # (t + 1,) first node of each of t trees, and the count of all k nodes
    columns: Ints  # (k,) the column that a node looks at
    thresholds: Vectors  # (k,) float32: a candidate goes to the left if its value is at most this
    unknown_left: Bools  # (k,) whether a candidate goes to the left if its value is unknown
    right: Ints  # (k,) uint16, bits of the leaves that remain for a candidate that goes to the right
    leaves: Vectors  # (t, `LEAVES`) float32 value of each leaf

    def predict(self, values: Vectors) -> Vectors:
        """Return (m,) float32 sums for (m, c) values, NaN where unknown."""
        found = np.zeros(len(values), np.float32)
        if not len(self.columns):
            return found
        if len(values) <= _FEW:
            return self._predict_few(values)
        used, places = np.unique(self.columns, return_inverse=True)
        by_column = np.ascontiguousarray(values[:, used].T, np.float32)
        for tree, (first, end) in enumerate(pairwise(self.starts.tolist())):
            remaining = np.full(len(values), _ALL)
            for node in range(first, end):
                column, threshold = by_column[places[node]], self.thresholds[node]
                goes_right = column > threshold if self.unknown_left[node] else ~(column <= threshold)
                # All bits where it goes to the left.
                remaining &= (goes_right.view(np.uint8) - np.uint16(1)) | self.right[node]
            found += self.leaves[tree][_leaf(remaining)]
        return found

    def _predict_few(self, values: Vectors) -> Vectors:
        by_node = np.ascontiguousarray(values[:, self.columns].T, np.float32)
        goes_left = by_node <= self.thresholds[:, None]
        goes_left[self.unknown_left] |= np.isnan(by_node[self.unknown_left])
        remain = np.where(goes_left, _ALL, self.right[:, None])
        leaves = _leaf(np.bitwise_and.reduceat(remain, self.starts[:-1]))
        found: Vectors = np.take_along_axis(self.leaves, leaves, axis=1).sum(axis=0, dtype=np.float32)
        return found

    def rows(self) -> list[Mapping[str, Any]]:
        """Return a record of each tree, for `read_trees`."""
        return [
            {
                "columns": self.columns[first:end].tolist(),
                "thresholds": [float(str(value)) for value in self.thresholds[first:end]],
                "unknown_left": self.unknown_left[first:end].astype(int).tolist(),
                "right": self.right[first:end].tolist(),
                "leaves": [float(str(value)) for value in leaves],
            }
            for (first, end), leaves in zip(pairwise(self.starts.tolist()), self.leaves, strict=True)
        ]


def _leaf(remaining: Ints) -> Ints:
    lowest: Ints = _NUMBER[remaining & (~remaining + np.uint16(1))].astype(np.intp)
    return lowest


def read_trees(rows: Sequence[Mapping[str, Any]]) -> Trees:
    """Return the trees with these records, none without any."""

    def joined(name: str, of: type[np.generic]) -> Any:
        return np.array([value for row in rows for value in row[name]], of)

    return Trees(
        np.cumsum([0, *(len(row["columns"]) for row in rows)]),
        joined("columns", np.int64),
        joined("thresholds", np.float32),
        joined("unknown_left", np.bool_),
        joined("right", np.uint16),
        joined("leaves", np.float32).reshape(-1, LEAVES),
    )


NO_TREES = read_trees(())
