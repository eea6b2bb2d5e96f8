"""Joins of unit vectors: ours compared with scikit-learn, faiss and the machine's peak; incremental; by cells."""

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from internal_linker.model.arrays import Vectors
from tests.research.benchmarks import ours, peers, projects
from tests.research.benchmarks.parts import Part, Work, measured
from tests.research.benchmarks.results import Row, middle
from tests.research.benchmarks.vectors import embedded

KEEP = 10
# With more pages the whole matrix doesn't fit into memory (two matrices of 8 and 4 bytes a cell).
WHOLE_MATRIX = 20_000
TARGETS = {
    (10_000, 384): "6 times scikit-learn",
    (100_000, 384): "9 times scikit-learn; 70% of the peak; 150 MB",
}
# Fewer real vectors show nothing.
LEAST_REAL = 500
FASTER = {0.03: "25 times at 20,000"}


@dataclass(frozen=True, slots=True)
class Times:
    """The parts of each round, one after the other, by name."""

    rounds: Sequence[dict[str, Part]]

    def seconds(self, name: str) -> float:
        """Return the median, extrapolated to all rows if a sample was timed."""
        return middle(_whole(each[name]) for each in self.rounds)

    def ratio(self, slow: str, fast: str) -> float:
        """Return the median over the rounds of how many times faster one is than the other."""
        return middle(_whole(each[slow]) / _whole(each[fast]) for each in self.rounds)

    def share(self, name: str, flops: float) -> str:
        """Return the share of the peak that it reaches."""
        return f"{middle(each[name].share(flops) / each[name].figures.get('scale', 1) for each in self.rounds):.0%}"

    def extra(self, name: str) -> str:
        """Return its memory beyond the vectors."""
        return f"{middle(each[name].extra for each in self.rounds):.0f} MB extra"

    def figure(self, name: str, what: str) -> float:
        """Return the median of one of the part's own figures."""
        return middle(each[name].figures[what] for each in self.rounds)

    @property
    def peaks(self) -> list[float]:
        """Return the machine's peak with each part."""
        return [part.peak for each in self.rounds for part in each.values()]


def rounds(times: int, parts: Mapping[str, tuple[Callable[..., Work], Sequence[object]]]) -> Times:
    """Run all parts this many times, round by round."""
    return Times(
        [{name: measured(prepare, *given) for name, (prepare, given) in parts.items()} for _ in range(times)]
    )


def join(sizes: Sequence[int], dimensions: Sequence[int], times: int) -> tuple[list[Row], list[float]]:
    """Measure the exact join of all pages with all at each size."""
    rows: list[Row] = []
    peaks: list[float] = []
    for width in dimensions:
        for count in sizes:
            with _saved(projects.clustered(count, width)) as path:
                peer = peers.whole_matrix if count <= WHOLE_MATRIX else peers.row_by_row
                parts = {"ours": (ours.full, (path, KEEP)), "scikit-learn": (peer, (path, KEEP))}
                if find_spec("faiss"):
                    parts["faiss"] = peers.faiss_exact, (path, KEEP)
                done = rounds(times, parts)
            rows += _lines(done, count, width, scaled=count > WHOLE_MATRIX)
            peaks += done.peaks
    return rows, peaks


def incremental(count: int, shares: Sequence[float], times: int) -> tuple[list[Row], list[float]]:
    """Measure a join after some pages changed against the join of all, and whether both find the same."""
    with _saved(projects.clustered(count, 384)) as path:
        parts: dict[str, tuple[Callable[..., Work], Sequence[object]]] = {"full": (ours.full, (path, KEEP))}
        parts |= {f"{share:.0%}": (ours.incremental, (path, KEEP, share)) for share in shares}
        done = rounds(times, parts)
    rows = [Row(f"{count:,} x 384, all", f"{done.seconds('full'):.2f}", memory=done.extra("full"))]
    for share in shares:
        name = f"{share:.0%}"
        rows.append(
            Row(
                f"{name} changed",
                f"{done.seconds(name):.3f}",
                f"{done.ratio('full', name):.1f} times faster",
                FASTER.get(share, ""),
                memory=done.extra(name),
                note=f"scores differ from a full join's by {done.figure(name, 'difference'):.0e} at most",
            )
        )
    return rows, done.peaks


def on_cluster(count: int, times: int) -> tuple[list[Row], list[float]]:
    """Measure the exact join on a local cluster against the one in this process, its start included."""
    with _saved(projects.clustered(count, 384)) as path:
        parts = {"threads": (ours.full, (path, KEEP)), "cluster": (ours.on_cluster, (path, KEEP))}
        done = rounds(times, parts)
    row = Row(
        f"{count:,} x 384 on two worker processes",
        f"{done.seconds('cluster'):.1f} (two threads {done.seconds('threads'):.1f})",
        f"{done.ratio('cluster', 'threads'):.2f} times as long",
        note=f"{done.figure('cluster', 'differing'):.0f} lists differ",
    )
    return [row], done.peaks


def by_cells(real: Path, corpora: Sequence[Path], made_up: int, times: int) -> tuple[list[Row], list[float]]:
    """Measure the join by cells against the exact one, on the available real vectors, then on synthetic ones."""
    vectors = embedded(real, [folder for folder in corpora if (folder / "pages.csv").exists()]).vectors
    rows: list[Row] = []
    peaks: list[float] = []
    for name, given in (("real", vectors), ("made up", projects.clustered(made_up, 384))):
        if len(given) < LEAST_REAL:
            print(f"{len(given)} {name} vectors are too few: see --help.")
            continue
        with _saved(given) as path:
            done = rounds(times, {"exact": (ours.full, (path, KEEP)), "cells": (ours.by_cells, (path, KEEP))})
        way = "" if done.figure("cells", "clustered") else "; was done exactly: cells did not pay"
        probes, recall = done.figure("cells", "probes"), done.figure("cells", "recall")
        rows.append(
            Row(
                f"{len(given):,} x 384, {name}",
                f"{done.seconds('cells'):.2f} (exact {done.seconds('exact'):.2f})",
                f"{done.ratio('exact', 'cells'):.1f} times faster",
                "8 times at recall 0.99, real",
                memory=done.extra("cells"),
                note=f"recall {recall:.4f} on 500 exact rows, {probes:.0f} probes{way}",
            )
        )
        peaks += done.peaks
    return rows, peaks


def _lines(done: Times, count: int, width: int, *, scaled: bool) -> Iterator[Row]:
    flops = 2.0 * count * count * width
    yield Row(
        f"**{count:,} x {width}**",
        f"{done.seconds('ours'):.3f}",
        target=TARGETS.get((count, width), ""),
        share=done.share("ours", flops),
        memory=done.extra("ours"),
    )
    for name in [name for name in done.rounds[0] if name != "ours"]:
        sampled = scaled and name == "scikit-learn"
        yield Row(
            f"{name}, {'row by row' if sampled else 'whole matrix' if name == 'scikit-learn' else 'exact'}",
            f"{done.seconds(name):.3f}",
            f"ours is {done.ratio(name, 'ours'):.2f} times as fast",
            share=done.share(name, flops),
            memory=done.extra(name),
            note=f"scaled from {peers.SAMPLE} rows" if sampled else "",
        )


@contextmanager
def _saved(vectors: Vectors) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "vectors.npy"
        np.save(path, vectors)
        yield path


def _whole(part: Part) -> float:
    return part.seconds * part.figures.get("scale", 1.0)
