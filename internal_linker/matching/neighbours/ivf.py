"""Unit vectors -> cells of near texts, and for each cell the near cells that its texts are compared with."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from internal_linker.core.arrays import Bools, Ints, Vectors

# Texts a centre is placed by, about; what poorer centres cost shows in the recall, which is measured.
SAMPLE = 40
# Rounds of k-means; what the cells gain in later ones a recall that is measured does not need.
ROUNDS = 5
# Rows whose nearest centre is looked for at once: 20 MB of scores with the cells of a million texts.
STEP = 4096


@dataclass(frozen=True, slots=True)
class Cells:
    """A partition of the texts.

    Attributes:
        labels: (n,) int32, the cell of each text.
        order: (cells, cells) int32, each cell's cells, the nearest first.
    """

    labels: Ints
    order: Ints


def cells_of(vectors: Vectors, count: int) -> Cells:
    """Spherical k-means on a sample, then every text into the cell of its nearest centre; the same every time.

    Args:
        vectors: (n, d) float16 or float32 unit rows, n at least `count`; rows of zeros end in any cell.
        count: cells, at least 1.
    """
    sample = np.random.default_rng(0).permutation(len(vectors))[: count * SAMPLE]
    some = vectors[np.sort(sample)].astype(np.float32)
    centres = vectors[sample[:count]].astype(np.float32)
    for _ in range(ROUNDS):
        centres = _moved(centres, some, _labels(some, centres))
    order = np.argsort(-(centres @ centres.T), axis=1, kind="stable").astype(np.int32)
    return Cells(_labels(vectors, centres), order)


def _labels(vectors: Vectors, centres: Vectors) -> Ints:
    labels = np.empty(len(vectors), np.int32)
    for start in range(0, len(vectors), STEP):
        some = vectors[start : start + STEP].astype(np.float32, copy=False)
        labels[start : start + STEP] = np.argmax(some @ centres.T, axis=1)
    return labels


def _moved(centres: Vectors, vectors: Vectors, labels: Ints) -> Vectors:
    """The mean direction of each cell's texts; an empty cell's centre stays."""
    members = np.ones(len(labels), np.float32), (labels, np.arange(len(labels)))
    sums = sparse.csr_matrix(members, shape=(len(centres), len(labels))) @ vectors
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    moved: Vectors = np.where(lengths > 0, sums / np.where(lengths > 0, lengths, 1), centres)
    return moved


def probes_for(cells: Cells, rows: Ints, neighbours: Ints, recall: float) -> int:
    """How many cells each text must be compared with, that so many of these neighbours are found.

    Args:
        cells: the partition.
        rows: (m,) texts.
        neighbours: (m, k) their true neighbours, -1 behind the end of a list.
        recall: 0 to 1.
    """
    places = np.argsort(cells.order, axis=1)
    owners, at = np.nonzero(neighbours >= 0)
    found = np.sort(places[cells.labels[rows[owners]], cells.labels[neighbours[owners, at]]])
    needed = int(np.ceil(recall * len(found)))
    return int(found[needed - 1]) + 1 if needed else 1


def share(cells: Cells, targets: Bools, probes: int) -> float:
    """Which part of all pairs of texts and targets is compared with so many probes, 0 to 1."""
    count = len(cells.order)
    rows = np.bincount(cells.labels, minlength=count).astype(float)
    columns = np.bincount(cells.labels[targets], minlength=count).astype(float)
    pairs = rows @ columns[cells.order[:, :probes]].sum(axis=1)
    return float(pairs / max(1.0, rows.sum() * columns.sum()))


def partition(cells: Cells, targets: Bools, probes: int) -> Iterator[tuple[Ints, Ints]]:
    """Each cell's rows, and the targets in the `probes` cells that are nearest to it."""
    count = len(cells.order)
    members = np.argsort(cells.labels, kind="stable")
    ends = np.cumsum(np.bincount(cells.labels, minlength=count))
    parts = np.split(members, ends[:-1])
    for cell, rows in enumerate(parts):
        columns = np.concatenate(
            [parts[other][targets[parts[other]]] for other in cells.order[cell, :probes]]
        )
        if len(rows) and len(columns):
            yield rows, np.sort(columns)
