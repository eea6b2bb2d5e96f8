"""`audit --no-report` on synthetic sites: the whole command, and its steps."""

import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from internal_linker.model.records import Candidate, Link, Recommendation, Source
from internal_linker.model.runs import Version, VersionRow
from internal_linker.model.urls import normal_form
from internal_linker.project.project import open_project
from internal_linker.store.runs import RunStore
from tests.research.benchmarks import projects
from tests.research.benchmarks.results import Row, middle
from tests.research.benchmarks.runs import peak_of
from tests.support.synthetic_pages import Row as PageRow
from tests.support.synthetic_pages import synthetic

WORDS_A_PAGE = 30  # an audit only reads titles and counts words


def audited(pages: int, edges: int, times: int) -> tuple[list[Row], list[float]]:
    """Return the rows of a site with this many links, half of them proposed, and of one with as many of either kind."""
    rows: list[Row] = []
    for existing, proposed in ((edges // 2, edges // 2), (edges, edges)):
        with tempfile.TemporaryDirectory() as folder:
            project = Path(folder)
            _fill(project, pages, existing // pages, proposed // pages)
            found = [_audit(project) for _ in range(times)]
        what = f"{pages:,} pages, {existing:,} links and {proposed:,} proposed ones"
        target = "60 s, 2,000 MB" if not rows else ""
        memory = f"{middle(peak for _, peak, _ in found):.0f} MB"
        rows.append(
            Row(what, f"{middle(seconds for seconds, _, _ in found):.1f}", target=target, memory=memory)
        )
        for step in found[0][2]:
            rows.append(Row(f"... {step}", f"{middle(steps[step] for _, _, steps in found):.1f}"))
    return rows, []


def _fill(project: Path, pages: int, links: int, proposed: int) -> None:
    texts = synthetic(pages, WORDS_A_PAGE)
    urls = projects.fill(project, texts, _anchored(projects.synthetic_links(pages, links), texts))
    opened = open_project(project)
    engine = opened.databases.store()
    version = Version("20261101", "", "all rows", "made up", len(urls), len(urls) * proposed)
    RunStore(engine, opened.site).put(version, _proposals(urls, proposed))
    engine.dispose()


def _anchored(links: Iterable[tuple[str, str, str]], pages: list[PageRow]) -> Iterator[tuple[str, str, str]]:
    """Return the links with anchors of two title words each, mostly of the target's, as editors write them."""
    dice, titles = random.Random(17), {url: title.split() for url, title, *_ in pages}
    every = list(titles)
    for source, target, _ in links:
        named = target if dice.random() < 0.95 else dice.choice(every)
        yield source, target, " ".join(titles[named][:2])


def _proposals(urls: list[str], each: int) -> Iterator[VersionRow]:
    dice, keys = random.Random(19), [normal_form(url) for url in urls]
    for source, key in zip(urls, keys, strict=True):
        targets = [Candidate(one, one, dice.gauss(3, 1), 0.5, 0.4) for one in dice.choices(keys, k=each)]
        links = tuple(Link(target, rank, "semantic") for rank, target in enumerate(targets, 1))
        yield VersionRow(Recommendation(Source(key, source, "", None, in_sheet=False), links))


def _audit(project: Path) -> tuple[float, float, dict[str, float]]:
    """Return the command's seconds and MB in a process of its own, and the seconds of its steps.

    Raises:
        SystemExit: the command failed.
    """
    command = [
        sys.executable,
        str(projects.ROOT / "main.py"),
        "audit",
        "--no-report",
        "--project",
        str(project),
    ]
    with (project / "told.txt").open("w+", encoding="utf-8") as told:
        began = time.monotonic()
        peak, code = peak_of(
            subprocess.Popen(command, env=os.environ, stdout=subprocess.DEVNULL, stderr=told)
        )
        seconds = time.monotonic() - began
        told.seek(0)
        text = told.read()
    if code:
        raise SystemExit(f"the audit ended with {code}:\n{text[-2000:]}")
    steps = {name: float(took) for name, took in re.findall(r"^(\w+): .*\(([\d.]+) s\)$", text, re.MULTILINE)}
    return seconds, peak, steps
