"""What users wait for, compared with an earlier commit: first runs, lookups, reruns, and a large site."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from tests.research.benchmarks import projects
from tests.research.benchmarks.parts import sgemm_peak
from tests.research.benchmarks.results import Row, middle
from tests.research.benchmarks.runs import peak_of
from tests.research.benchmarks.whole import CHANGED, EMBEDDED_WORDS, LINKS_A_PAGE
from tests.support.synthetic_pages import Row as PageRow
from tests.support.synthetic_pages import synthetic

# What was measured, with its seconds and its peak in MB.
Measured = dict[str, tuple[float, float]]
FIRST_RUN_TARGETS = {"first run": "not slower"}
RERUN_TARGETS = {
    **FIRST_RUN_TARGETS,
    "rerun, nothing changed": "10,000: 5 s",
    "rerun, 1% changed": "10,000: 45 s",
}
LARGE_TARGETS = {
    "first run, vectors cached": "not slower",
    "rerun, nothing changed": "30 s",
    **dict.fromkeys(("lookup of a page", "lookup of a query", "brief of a title"), "2 s"),
    **dict.fromkeys(("a page, the site being open", "a query, the site being open"), "0.15 s"),
}
LOOKUP_TARGETS = {
    **dict.fromkeys(("lookup of a page", "lookup of a query", "brief of a title"), "10,000: 1 s"),
    **dict.fromkeys(("a page, the site being open", "a query, the site being open"), "10,000: 0.05 s"),
}
# What is quick is measured this many times in each round; what takes more seconds than the second number, once.
TIMES, SLOW = 3, 20.0
OPEN_SITE = "internal_linker/project/open_site.py"
# Prints the median of the seconds that a lookup takes, and the peak in MB, for pages and for queries.
_MANY_LOOKUPS = """
import statistics, sys, time
from pathlib import Path
from internal_linker import open_site

def timed(site, what):
    began = time.monotonic()
    site.lookup(what, search=False)
    return time.monotonic() - began

def peak():
    # ru_maxrss would be at least what the program that starts this one takes.
    status = Path("/proc/self/status")
    return int(status.read_text().partition("VmHWM:")[2].split()[0]) / 1024 if status.exists() else 0.0

with open_site(sys.argv[1]) as site:
    page, query = "https://www.synthetic.example/page-{}/", sys.argv[2] + " {}"
    for what in (page, query):
        timed(site, what.format(0))
        seconds = statistics.median(timed(site, what.format(number)) for number in range(1, 40, 2))
        print(seconds, peak())
"""
# Measures a project of this many pages with the program in a folder.
Measure = Callable[[Path, Path, int], Measured]


def compared(
    measure: Measure,
    sizes: Sequence[int],
    base: str,
    times: int,
    targets: dict[str, str] | None = None,
    *,
    prepare: Callable[[Path, Path, int], object] | None = None,
) -> tuple[list[Row], list[float]]:
    """Measure both commits in turn; return a row for each size and what was measured, and the peaks.

    Args:
        measure: what to measure.
        sizes: numbers of pages.
        base: the earlier commit.
        times: rounds, of which the median counts.
        targets: what the figures should be, by what was measured.
        prepare: makes the project that all rounds of a commit measure; None: each round has an empty folder.
    """
    rows, peaks = list[Row](), list[float]()
    with checkout(base) as earlier:
        for pages in sizes:
            found = dict[Path, list[Measured]]()
            with tempfile.TemporaryDirectory() as lasting:
                places = {earlier: Path(lasting) / "before", projects.ROOT: Path(lasting) / "now"}
                if prepare:
                    for root, place in places.items():
                        place.mkdir()
                        prepare(root, place, pages)
                for _ in range(times):
                    peaks.append(sgemm_peak())
                    for root, place in places.items():
                        with tempfile.TemporaryDirectory() as folder:
                            project = place if prepare else Path(folder)
                            found.setdefault(root, []).append(measure(root, project, pages))
                        # A failing last round must not lose an hour's work.
                        print(pages, root.name, found[root][-1], file=sys.stderr, flush=True)
            rows += _rows(pages, found[projects.ROOT], found[earlier], targets or {})
    return rows, peaks


def first_run(root: Path, project: Path, pages: int) -> Measured:
    """Measure a first run without keys, in which everything is embedded by the default encoder."""
    _fill(project, synthetic(pages, EMBEDDED_WORDS))
    return {"first run": _timed(root, "--project", str(project))}


def prepare_lookups(root: Path, project: Path, pages: int) -> None:
    """Run once, and look one page up, which may prepare further lookups."""
    texts, at = _cached(root, project, pages), ("--project", str(project))
    _timed(root, *at)
    _timed(root, "lookup", texts[0][0], *at)


def lookup(root: Path, project: Path, pages: int) -> Measured:
    """Measure lookups and a content brief after a run, and lookups of a site that stays open."""
    return _lookups(root, project, synthetic(pages))


def _lookups(root: Path, project: Path, texts: Sequence[PageRow]) -> Measured:
    at, pages, measured = ("--project", str(project)), len(texts), Measured()
    # Nobody's main query.
    query = " ".join(texts[pages // 2][1].lower().split()[:2])
    for what, command in {
        "lookup of a page": ("lookup", texts[pages // 3][0]),
        "lookup of a query": ("lookup", query),
        "brief of a title": ("content-brief", f"A guide to {query}"),
    }.items():
        measured[what] = _repeated(root, *command, *at)
    if not (root / OPEN_SITE).exists():
        return measured
    found = subprocess.run(
        [sys.executable, "-c", _MANY_LOOKUPS, str(project), query],
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    )
    measured["a page, the site being open"], measured["a query, the site being open"] = (
        (float(seconds), float(peak)) for seconds, peak in map(str.split, found.stdout.splitlines())
    )
    return measured


def rerun(root: Path, project: Path, pages: int) -> Measured:
    """Measure runs without keys, which embed by the default encoder: the first, one on the same input, and one later.

    Before the last one, 1% of the texts change.
    """
    texts = synthetic(pages, EMBEDDED_WORDS)
    _fill(project, texts)
    return _runs(root, project, texts, "first run")


def large(root: Path, project: Path, pages: int) -> Measured:
    """Measure what users wait for on a large site: the first run, whose vectors are cached, reruns and lookups.

    An earlier commit, which took minutes for each lookup, does without.
    """
    texts = _cached(root, project, pages)
    found = _runs(root, project, texts, "first run, vectors cached")
    if not (root / OPEN_SITE).exists():
        return found
    first = _timed(root, "lookup", texts[0][0], "--project", str(project))
    return {**found, "first lookup after a run": first, **_lookups(root, project, texts)}


def _runs(root: Path, project: Path, texts: Sequence[PageRow], first: str) -> Measured:
    at = ("--project", str(project))
    measured = {first: _timed(root, *at), "rerun, nothing changed": _repeated(root, *at)}
    _fill(project, projects.changed(texts, CHANGED))
    # Made-up vectors beside real ones look like drift.
    measured[f"rerun, {CHANGED:.0%} changed"] = _timed(root, "--accept-drift", *at)
    return measured


@contextmanager
def checkout(commit: str) -> Iterator[Path]:
    """Check a commit out into a folder of its own, for as long as this is open.

    Raises:
        SystemExit: there is no such commit, or this is no clone of the repository.
    """
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "earlier"
        _git("worktree", "add", "--detach", str(place), commit)
        try:
            yield place
        finally:
            _git("worktree", "remove", "--force", str(place))


def _git(*arguments: str) -> None:
    done = subprocess.run(["git", *arguments], cwd=projects.ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"git {' '.join(arguments)} failed: {done.stderr.strip()}")


def _cached(root: Path, project: Path, pages: int) -> list[PageRow]:
    """Write a project whose vectors are cached, by the program in a folder: an earlier one can't read a newer cache."""
    texts = synthetic(pages)
    _fill(project, texts)
    # Earlier commits have the benchmarks in another folder.
    fill = """
from pathlib import Path
from sys import argv
try:
    from tests.research.benchmarks.projects import fill_cache
    from tests.support.synthetic_pages import synthetic
except ImportError:
    from tests.benchmarks.projects import fill_cache, synthetic
fill_cache(Path(argv[1]), synthetic(int(argv[2])))
"""
    subprocess.run([sys.executable, "-c", fill, str(project), str(pages)], cwd=root, check=True)
    return texts


def _fill(project: Path, texts: Sequence[PageRow]) -> None:
    projects.fill(project, texts, projects.synthetic_links(len(texts), LINKS_A_PAGE))


def _timed(root: Path, *arguments: str) -> tuple[float, float]:
    """Return the seconds and the peak in MB of a command of the program in a folder.

    Raises:
        SystemExit: the command failed; the message is what it wrote.
    """
    with tempfile.TemporaryFile() as output:
        began = time.monotonic()
        command = [sys.executable, str(root / "main.py"), *arguments]
        process = subprocess.Popen(command, env=os.environ, cwd=root, stdout=output, stderr=output)
        peak, code = peak_of(process)
        seconds = time.monotonic() - began
        output.seek(0)
        text = output.read().decode(errors="replace")
    if code:
        raise SystemExit(f"{' '.join(arguments)} in {root} ended with {code}:\n{text[-2000:]}")
    return seconds, peak


def _repeated(root: Path, *arguments: str) -> tuple[float, float]:
    """Return the median seconds and peak of a command of the program, of one round if it is slow."""
    first = _timed(root, *arguments)
    if first[0] > SLOW:
        return first
    return _middle([first, *(_timed(root, *arguments) for _ in range(1, TIMES))])


def _middle(each: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Return the medians of seconds and peaks."""
    return middle(seconds for seconds, _ in each), middle(peak for _, peak in each)


def _rows(
    pages: int, ours: Sequence[Measured], base: Sequence[Measured], targets: dict[str, str]
) -> list[Row]:
    rows = []
    for what in ours[0]:
        seconds, peak = _middle([each[what] for each in ours])
        row = Row(
            f"{pages:,} pages: {what}", _short(seconds), "", targets.get(what, ""), memory=f"{peak:.0f} MB"
        )
        if what in base[0]:
            before, peak_before = _middle([each[what] for each in base])
            ratio = middle(now[what][0] / then[what][0] for now, then in zip(ours, base, strict=True))
            row = replace(
                row,
                seconds=f"{row.seconds} (before: {_short(before)})",
                ratio=f"{ratio:.2f} times as long",
                memory=f"{row.memory} (before: {peak_before:.0f} MB)",
            )
        rows.append(row)
    return rows


def _short(seconds: float) -> str:
    return f"{seconds:.1f}" if seconds >= 10 else f"{seconds:.2g}"
