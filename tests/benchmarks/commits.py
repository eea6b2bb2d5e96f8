"""What users wait for, compared with an earlier commit: first runs, lookups, reruns, and a large site."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.benchmarks import projects
from tests.benchmarks.parts import sgemm_peak
from tests.benchmarks.results import Row, middle
from tests.benchmarks.runs import peak_of
from tests.benchmarks.whole import CHANGED, EMBEDDED_WORDS, LINKS_A_PAGE

# What was measured, with its seconds and its peak in MB.
Measured = dict[str, tuple[float, float]]
RERUN_TARGETS = {"rerun, nothing changed": "10,000: 10 s", "rerun, 1% changed": "10,000: 15 s"}
LARGE_TARGETS = {"first run, vectors cached": "300 s, 3,000 MB", "rerun, nothing changed": "90 s"}
# Measures a project of this many pages with the program in a folder.
Measure = Callable[[Path, Path, int], Measured]


def compared(
    measure: Measure, sizes: Sequence[int], base: str, times: int, targets: dict[str, str] | None = None
) -> tuple[list[Row], list[float]]:
    """Measure both commits in turn; return a row for each size and what was measured, and the peaks.

    Args:
        measure: what to measure.
        sizes: numbers of pages.
        base: the earlier commit.
        times: rounds, of which the median counts.
        targets: what the figures should be, by what was measured.
    """
    rows, peaks = list[Row](), list[float]()
    with checkout(base) as earlier:
        for pages in sizes:
            found = dict[Path, list[Measured]]()
            for _ in range(times):
                peaks.append(sgemm_peak())
                for root in (earlier, projects.ROOT):
                    with tempfile.TemporaryDirectory() as folder:
                        found.setdefault(root, []).append(measure(root, Path(folder), pages))
                    # A failing last round must not lose an hour's work.
                    print(pages, root.name, found[root][-1], file=sys.stderr, flush=True)
            rows += _rows(pages, found[projects.ROOT], found[earlier], targets or {})
    return rows, peaks


def first_run(root: Path, project: Path, pages: int) -> Measured:
    """Measure a first run without keys, in which everything is embedded by the default encoder."""
    _fill(project, projects.synthetic(pages, EMBEDDED_WORDS))
    return {"first run": _timed(root, "--project", str(project))}


def lookup(root: Path, project: Path, pages: int) -> Measured:
    """Measure the links of one page and of one query; the first lookup after a run may prepare the others."""
    texts = _cached(project, pages)
    at, query = ("--project", str(project)), texts[pages // 2][1].lower()
    _timed(root, *at)
    measured = {"first lookup after a run": _timed(root, "lookup", texts[0][0], *at)}
    measured["lookup of a page"] = _timed(root, "lookup", texts[pages // 3][0], *at)
    measured["lookup of a query"] = _timed(root, "lookup", query, *at)
    return measured


def rerun(root: Path, project: Path, pages: int) -> Measured:
    """Measure runs whose vectors are cached: the first, one on the same input, and one with 1% of the texts changed.

    The local model embeds the changed texts.
    """
    texts = _cached(project, pages)
    at = ("--project", str(project))
    measured = {"first run, vectors cached": _timed(root, *at)}
    measured["rerun, nothing changed"] = _timed(root, *at)
    _fill(project, projects.changed(texts, CHANGED))
    projects.use_local(project)
    # The changed texts' vectors are of another kind than the synthetic ones of the others, which looks like drift.
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


def _cached(project: Path, pages: int) -> list[projects.Row]:
    texts = projects.synthetic(pages)
    _fill(project, texts)
    projects.fill_cache(project, texts)
    return texts


def _fill(project: Path, texts: Sequence[projects.Row]) -> None:
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


def _rows(
    pages: int, ours: Sequence[Measured], base: Sequence[Measured], targets: dict[str, str]
) -> list[Row]:
    rows = []
    for what in ours[0]:
        seconds, before = ([each[what][0] for each in some] for some in (ours, base))
        ratio = middle(now / then for now, then in zip(seconds, before, strict=True))
        peaks = [middle(each[what][1] for each in some) for some in (ours, base)]
        rows.append(
            Row(
                f"{pages:,} pages: {what}",
                f"{middle(seconds):.1f} (before: {middle(before):.1f})",
                f"{ratio:.2f} times as long",
                targets.get(what, ""),
                memory=f"{peaks[0]:.0f} MB (before: {peaks[1]:.0f} MB)",
            )
        )
    return rows
