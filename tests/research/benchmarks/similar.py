"""`pairs` and `clusters` as whole processes, compared with the notebooks' method on CPU torch.

Both read 1,341 pages (those of the development sites, and second halves of the longest) and write their files, one
after the other in each round, ours with an empty cache each time. Relevance is compared on 18f-blog alone, with the
anchors of its links cut: each page's five most similar pages against its editors' links.
"""

import csv
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from internal_linker.insight.evaluation.holdout import Hidden
from internal_linker.model.arrays import Vectors
from internal_linker.model.records import Page
from internal_linker.rank.metrics import measure
from tests.research.benchmarks import similar_side
from tests.research.benchmarks.results import Row, middle
from tests.support.corpora import DEVELOPMENT, site, whole_site

ROOT = Path(__file__).parents[3]
PAGES = 1_341
# The command, and the fields that it compares.
MODES = (
    *(("pairs", "title"), ("pairs", "content"), ("pairs", "title,content")),
    *(("clusters", "title"), ("clusters", "content")),
)
TARGET = "3 times as fast, NDCG@5 not lower"
_LEAST, _COUNT = "0.5", "15"
_MORE = {"pairs": "", "clusters": f" --k {_COUNT}"}
_HEADER = "URL", "Title", "H1", "Main Content", "Lang"


def against_notebooks(torch_python: str, rounds: int) -> tuple[list[Row], list[float]]:
    """Compare all modes; return no rows without torch."""
    if not torch_python:
        print("pairs is left out: it needs --torch-python.", file=sys.stderr)
        return [], []
    rows = []
    with TemporaryDirectory() as folder:
        work = Path(folder)
        write_pages(work / "many.csv", many_pages())
        hidden = site(DEVELOPMENT[0])
        write_pages(work / "site.csv", hidden.pages)
        for command, by in MODES:
            times: dict[str, list[float]] = {"ours": [], "theirs": []}
            for number in range(rounds):
                times["ours"].append(_ours(work, "many.csv", command, by))
                times["theirs"].append(_theirs(torch_python, work, "many.csv", command, by))
                print(f"{command} by {by}: {number + 1} of {rounds} rounds", file=sys.stderr)
            ratio = middle(their / our for their, our in zip(times["theirs"], times["ours"], strict=True))
            note = _relevance(torch_python, work, by, hidden) if command == "pairs" else ""
            rows.append(
                Row(
                    f"{command} --by {by}{_MORE[command]}, {PAGES:,} pages",
                    f"{middle(times['ours']):.1f}; notebook {middle(times['theirs']):.1f}",
                    f"{ratio:.1f} times as fast",
                    TARGET if command == "pairs" else TARGET.partition(",")[0],
                    note=note,
                )
            )
    return rows, []


def many_pages(count: int = PAGES) -> list[Page]:
    """Return all pages of the development sites, then second halves of the longest, titled with their first words."""
    pages = [page for name in DEVELOPMENT for page in whole_site(name).pages]
    longest = sorted(pages, key=lambda page: -len(str(page.content)))[: max(0, count - len(pages))]
    for page in longest:
        words = str(page.content).split()
        half = words[len(words) // 2 :]
        url, title = f"{page.url.rstrip('/')}-part-2/", " ".join(half[:9])
        pages.append(Page(url, url, title, title, " ".join(half), page.lang))
    return pages[:count]


def _ours(work: Path, table: str, command: str, by: str, *more: str) -> float:
    """Return the seconds of the whole command, with an empty cache."""
    project = work / "project"
    shutil.rmtree(project, ignore_errors=True)
    (project / "files").mkdir(parents=True)
    shutil.copy(work / table, project / "files" / "urls_rawdata.csv")
    asked = {"pairs": ["--min-similarity", _LEAST, "--max-per-page", "0"], "clusters": ["--k", _COUNT]}[
        command
    ]
    return _timed(
        [
            *(sys.executable, "-m", "internal_linker", command, "--by", by, "--project", str(project)),
            *asked,
            *more,
        ]
    )


def _theirs(python: str, work: Path, table: str, command: str, by: str) -> float:
    script = [
        python,
        "-P",
        similar_side.__file__,
        str(work / table),
        command,
        by,
        str(work / "theirs"),
        _LEAST,
    ]
    return _timed(script)


def _timed(command: Sequence[str]) -> float:
    began = time.perf_counter()
    subprocess.run(command, cwd=ROOT, env=os.environ, check=True, capture_output=True)
    return time.perf_counter() - began


def _relevance(python: str, work: Path, by: str, hidden: Hidden) -> str:
    """Return both sides' NDCG@5 on the editors' links."""
    _ours(work, "site.csv", "pairs", by, "--full-matrix", "npy")
    ours: Vectors = np.load(work / "project" / "files" / "similarity.npy")
    _theirs(python, work, "site.csv", "pairs", by)
    vectors: Vectors = np.load(work / "theirs.npy")
    theirs = vectors @ vectors.T  # of unit length
    urls = [page.url for page in hidden.pages]
    figures = [measure(hidden.truth, first_five(urls, matrix)).ndcg for matrix in (ours, theirs)]
    told = (f"{one.mean:.4f} [{one.low:.3f}, {one.high:.3f}]" for one in figures)
    return "NDCG@5 on 18f-blog {}, notebook {}".format(*told)


def first_five(urls: Sequence[str], similarity: Vectors) -> Mapping[str, Sequence[str]]:
    """Return the five most similar other pages of each page."""
    others = similarity.copy()
    np.fill_diagonal(others, -np.inf)
    best = np.argsort(-others, axis=1, kind="stable")[:, :5]
    return {url: [urls[at] for at in row] for url, row in zip(urls, best.tolist(), strict=True)}


def write_pages(path: Path, pages: Sequence[Page]) -> None:
    """Write a table of pages as a project has it."""
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        table = csv.writer(file)
        table.writerow(_HEADER)
        table.writerows((page.url, page.title, page.h1, str(page.content), page.lang) for page in pages)
