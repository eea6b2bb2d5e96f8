"""An inverted file (IVF): cells of near texts, and for each cell the near cells to compare its texts with."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from internal_linker.model.arrays import Bools, Ints, Vectors

# Texts in the sample per cell; poorer centres would lower the recall, which is measured.
SAMPLE = 40
# Rounds of k-means; as the recall is measured, the small gains of later rounds are not needed.
ROUNDS = 5
# Rows to assign to their nearest centres at a time: 20 MB of scores with the cells of a million texts.
STEP = 4096


@dataclass(frozen=True, slots=True)
class Partition:
    """A partition of the texts."""

    labels: Ints  # (n,) int32 cell of each text
    order: Ints  # (cells, cells) int32 all cells by their nearness to each cell, nearest first


def cells_of(vectors: Vectors, count: int) -> Partition:
    """Run spherical k-means on a sample and assign every text to its nearest centre; deterministic.

    Args:
        vectors: (n, d) float16 or float32 unit rows, n at least `count`; rows of zeros may be in any cell.
    """
    sample = np.random.default_rng(0).permutation(len(vectors))[: count * SAMPLE]
    some = vectors[np.sort(sample)].astype(np.float32)
    centres = vectors[sample[:count]].astype(np.float32)
    for _ in range(ROUNDS):
        centres = _moved(centres, some, _labels(some, centres))
    order = np.argsort(-(centres @ centres.T), axis=1, kind="stable").astype(np.int32)
    return Partition(_labels(vectors, centres), order)


def _labels(vectors: Vectors, centres: Vectors) -> Ints:
    labels = np.empty(len(vectors), np.int32)
    for start in range(0, len(vectors), STEP):
        some = vectors[start : start + STEP].astype(np.float32, copy=False)
        labels[start : start + STEP] = np.argmax(some @ centres.T, axis=1)
    return labels


def _moved(centres: Vectors, vectors: Vectors, labels: Ints) -> Vectors:
    """Return the mean direction of each cell's texts; an empty cell's centre stays."""
    members = np.ones(len(labels), np.float32), (labels, np.arange(len(labels)))
    sums = sparse.csr_matrix(members, shape=(len(centres), len(labels))) @ vectors
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    moved: Vectors = np.where(lengths > 0, sums / np.where(lengths > 0, lengths, 1), centres)
    return moved


def probes_for(cells: Partition, rows: Ints, neighbours: Ints, recall: float) -> int:
    """Return how many cells each text must be compared with to find this share, 0 to 1, of its neighbours.

    `neighbours` has the true ones of `rows`, (m, k), padded with -1.
    """
    places = np.argsort(cells.order, axis=1)
    owners, at = np.nonzero(neighbours >= 0)
    found = np.sort(places[cells.labels[rows[owners]], cells.labels[neighbours[owners, at]]])
    needed = int(np.ceil(recall * len(found)))
    return int(found[needed - 1]) + 1 if needed else 1


def share(cells: Partition, targets: Bools, probes: int) -> float:
    """Return the share, 0 to 1, of all pairs of texts and targets that this count of probes compares."""
    count = len(cells.order)
    rows = np.bincount(cells.labels, minlength=count).astype(float)
    columns = np.bincount(cells.labels[targets], minlength=count).astype(float)
    pairs = rows @ columns[cells.order[:, :probes]].sum(axis=1)
    return float(pairs / max(1.0, rows.sum() * columns.sum()))


def partition(cells: Partition, targets: Bools, probes: int) -> Iterator[tuple[Ints, Ints]]:
    """Yield each cell's rows, and the targets in the `probes` cells nearest to it."""
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
