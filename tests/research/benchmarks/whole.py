"""Whole runs in synthetic projects: by step, again with 1% changed, and with all vectors cached."""

import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.research.benchmarks import projects
from tests.research.benchmarks.parts import sgemm_peak
from tests.research.benchmarks.results import Row, middle
from tests.research.benchmarks.runs import Figures, run
from tests.support.synthetic_pages import Row as PageRow
from tests.support.synthetic_pages import synthetic

CHANGED = 0.01
LINKS_A_PAGE = 3
# About 500 tokens for the local encoder, which doesn't know synthetic words.
EMBEDDED_WORDS = 183


def keyless(pages: int, times: int) -> tuple[list[Row], list[float]]:
    """Measure a cold run without keys by step, a rerun, and a rerun with 1% of the texts changed, with the peaks."""
    cold, same, other, peaks = [], [], [], []
    texts = synthetic(pages, EMBEDDED_WORDS)
    for _ in range(times):
        with tempfile.TemporaryDirectory() as folder:
            project = Path(folder)
            peaks.append(sgemm_peak())
            _fill(project, texts)
            cold.append(run(project, os.environ))
            same.append(run(project, os.environ))
            _fill(project, projects.changed(texts, CHANGED))
            other.append(run(project, os.environ))
        # A failing last round must not lose an hour's work.
        print(*(f"{each[-1].seconds:.1f} s" for each in (cold, same, other)), file=sys.stderr, flush=True)
    return [
        *_by_step(f"cold run of {pages:,} pages", cold),
        _rerun("rerun, nothing changed", same, cold, ""),
        _rerun(f"rerun, {CHANGED:.0%} changed", other, cold, "at most 5%"),
    ], peaks


def cached(pages: int, times: int) -> tuple[list[Row], list[float]]:
    """Measure a first run of a site whose vectors are all in the cache.

    Raises:
        SystemExit: the run used the encoder, since it didn't find the vectors that were put into the cache.
    """
    runs, peaks = [], []
    texts = synthetic(pages)
    for _ in range(times):
        with tempfile.TemporaryDirectory() as folder:
            project = Path(folder)
            _fill(project, texts)
            projects.fill_cache(project, texts)
            peaks.append(sgemm_peak())
            runs.append(run(project, os.environ))
        embedded = runs[-1].counts["Texts embedded / from the cache"].partition(" / ")[0]
        if embedded != "0":
            raise SystemExit(f"{embedded} texts were embedded: the cache that was filled is not the run's.")
    return _by_step(f"run of {pages:,} pages, vectors in the cache", runs, "100,000: 600 s, 4,000 MB"), peaks


def _fill(project: Path, texts: Sequence[PageRow]) -> None:
    projects.fill(project, texts, projects.synthetic_links(len(texts), LINKS_A_PAGE))


def _by_step(what: str, runs: Sequence[Figures], target: str = "") -> list[Row]:
    whole = middle(each.seconds for each in runs)
    rows = [Row(what, f"{whole:.1f}", target=target, memory=_memory(runs))]
    for step in runs[0].steps:
        seconds = middle(each.steps[step] for each in runs)
        rows.append(Row(f"... {step}", f"{seconds:.1f}", f"{seconds / whole:.0%} of it"))
    return rows


def _rerun(what: str, runs: Sequence[Figures], cold: Sequence[Figures], target: str) -> Row:
    ratio = middle(again.seconds / first.seconds for again, first in zip(runs, cold, strict=True))
    seconds = middle(each.seconds for each in runs)
    return Row(what, f"{seconds:.1f}", f"{ratio:.1%} of the cold run", target, memory=_memory(runs))


def _memory(runs: Sequence[Figures]) -> str:
    return f"{middle(each.peak_mb for each in runs):.0f} MB"
