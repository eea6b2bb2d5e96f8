"""The product's own joins of unit vectors in a file, ready to be timed."""

import os
from collections.abc import Callable, Mapping
from math import inf
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from internal_linker.match.compute.dask import DaskCompute
from internal_linker.match.compute.local import Threads
from internal_linker.match.neighbours.knn_join import Joined, join
from internal_linker.model.arrays import Vectors
from internal_linker.model.ports import Compute
from tests.research.benchmarks.parts import Work
from tests.support.dask_clusters import local_cluster
from tests.support.join_stores import MemoryStore


class Silent:
    """A progress reporter without output."""

    def start(self, step: str, total: int, unit: str) -> None: ...
    def advance(self, count: int = 1) -> None: ...
    def finish(self, note: str) -> None: ...
    def warn(self, text: str) -> None: ...


def full(path: Path, keep: int) -> Work:
    """Join all pages with all exactly, with the vectors as they are stored, in float16."""
    vectors = np.load(path).astype(np.float16)
    digests = _digests(len(vectors))

    def work() -> Callable[[], Mapping[str, float]]:
        _join(vectors, digests, keep, None, inf)
        return lambda: {}

    return work


def on_cluster(path: Path, keep: int) -> Work:
    """Join all pages on two worker processes of a local cluster; figures: lists that differ from this process's."""
    vectors = np.load(path).astype(np.float16)
    digests = _digests(len(vectors))

    def work() -> Callable[[], Mapping[str, float]]:
        with local_cluster(2) as cluster:
            found = _join(vectors, digests, keep, None, inf, DaskCompute(cluster.scheduler_address))

        def figures() -> Mapping[str, float]:
            alone = _join(vectors, digests, keep, None, inf).nearest.rows
            return {"differing": float((found.nearest.rows != alone).any(axis=1).sum())}

        return figures

    return work


def incremental(path: Path, keep: int, share: float) -> Work:
    """Join after this share of the pages has changed; figures: the scores' distance from a full join's."""
    vectors, store = np.load(path).astype(np.float16), MemoryStore()
    digests = _digests(len(vectors))
    _join(vectors, digests, keep, store, inf)
    dice = np.random.default_rng(17)
    rows = dice.choice(len(vectors), round(share * len(vectors)), replace=False)
    vectors[rows] = vectors[dice.permutation(rows)]
    digests[rows, 8:] = 255

    def work() -> Callable[[], Mapping[str, float]]:
        found = _join(vectors, digests, keep, store, inf)
        return lambda: {"difference": _difference(found, _join(vectors, digests, keep, None, inf))}

    return work


def by_cells(path: Path, keep: int) -> Work:
    """Join all pages with all by cells; figures: recall and probes."""
    vectors = np.load(path).astype(np.float16)
    digests = _digests(len(vectors))

    def work() -> Callable[[], Mapping[str, float]]:
        found = _join(vectors, digests, keep, None, 0.0)
        return lambda: {
            "recall": found.recall,
            "probes": found.probes,
            "clustered": float(found.way == "clustered"),
        }

    return work


def _join(
    vectors: Vectors,
    digests: NDArray[np.uint8],
    keep: int,
    store: MemoryStore | None,
    exact_seconds: float,
    compute: Compute | None = None,
) -> Joined:
    count = len(vectors)
    languages, targets = np.zeros(count, np.int32), np.ones(count, bool)
    threads = Threads(int(os.environ.get("OMP_NUM_THREADS") or os.cpu_count() or 1))
    return join(
        "benchmark",
        vectors,
        digests,
        languages,
        targets,
        served=keep,
        store=store,
        compute=compute or threads,
        progress=Silent(),
        exact_seconds=exact_seconds,
    )


def _digests(count: int) -> NDArray[np.uint8]:
    numbers = np.zeros((count, 2), np.uint64)
    numbers[:, 0] = np.arange(count)
    return numbers.view(np.uint8)


def _difference(found: Joined, whole: Joined) -> float:
    if found.way != "incremental":
        raise SystemExit(f"The join was {found.way}, not incremental: nothing was measured.")
    both = np.isfinite(found.nearest.scores) & np.isfinite(whole.nearest.scores)
    return float(np.abs(found.nearest.scores - whole.nearest.scores)[both].max(initial=0))
