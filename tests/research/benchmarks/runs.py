"""Time the product as users run it: two runs per site, figures by step, requests, credits, cache, memory.

    python -m tests.research.benchmarks.runs                     the sample site, without keys
    python -m tests.research.benchmarks.runs --standins          the sample site against the stand-in servers
    python -m tests.research.benchmarks.runs --corpus DIR        a folder with pages.csv (URL, Title, Content, Lang)
    python -m tests.research.benchmarks.runs --synthetic 10000   10,000 synthetic pages of 286 words (--words 286)
    python -m tests.research.benchmarks.runs --synthetic 10000 --words 500 --links 5 --standins
                                                  ... of 500 words, with 5 existing links on each

Figures are for whole processes on this machine; compare only runs of the same day.
"""

import argparse
import csv
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from internal_linker.project.settings.settings import ENV_PREFIX
from tests.research.benchmarks import projects
from tests.standins import GoogleStandIn, OpenAIStandIn, SerperStandIn
from tests.support.synthetic_pages import WORDS_A_PAGE, synthetic

# Seconds between two readings of the memory.
_LOOK = 0.2


@dataclass(frozen=True)
class Figures:
    """One run: whole seconds, seconds by step, counts of the summary, peak memory in MB (0: unknown)."""

    seconds: float
    steps: dict[str, float]
    counts: dict[str, str]
    peak_mb: float


def main() -> None:
    """Make a project folder, run it twice and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--corpus", type=Path)
    parser.add_argument("--synthetic", type=int, default=0, metavar="PAGES")
    parser.add_argument("--words", type=int, default=WORDS_A_PAGE, help="words of each made-up page")
    parser.add_argument("--links", type=int, default=0, help="links that stand on each made-up page already")
    parser.add_argument(
        "--standins", action="store_true", help="use the servers of tests.standins, not the local model"
    )
    parser.add_argument("--searches-per-second", type=int, default=50)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        project = Path(folder)
        urls = _fill(project, options)
        environment = dict(os.environ)
        servers: dict[str, SerperStandIn | OpenAIStandIn | GoogleStandIn] = {}
        if options.standins:
            servers, more = stack.enter_context(_servers(project, urls, options.searches_per_second))
            environment |= more
        table = []
        for name in ("first run", "rerun"):
            for server in servers.values():
                server.forget()
            figures = run(project, environment)
            table.append((name, figures, {key: (len(s.ledger), s.units) for key, s in servers.items()}))
        _print(len(urls), table)


def _fill(project: Path, options: argparse.Namespace) -> list[str]:
    """Write the project's input and return its URLs."""
    if not options.corpus and not options.synthetic:
        return projects.fill_sample(project)
    made = options.corpus is None
    pages = synthetic(options.synthetic, options.words) if made else projects.corpus(options.corpus)
    return projects.fill(project, pages, projects.synthetic_links(len(pages) if made else 0, options.links))


@contextmanager
def _servers(
    project: Path, urls: Sequence[str], per_second: int
) -> Iterator[tuple[dict[str, SerperStandIn | OpenAIStandIn | GoogleStandIn], dict[str, str]]]:
    with (project / "files" / "main_queries.csv").open(encoding="utf-8-sig", newline="") as file:
        grid = list(csv.reader(file))

    def answers(words: str, site: str) -> list[str]:
        return random.Random(words).sample(list(urls), min(20, len(urls)))

    with (
        SerperStandIn(answers, balance=10**9, rate_limit=2 * per_second, latency=0.2) as serper,
        OpenAIStandIn(rate_limit_tokens=10**9) as openai,
        GoogleStandIn({"Main": grid}, rows=len(grid) + 10) as google,
    ):
        account = json.dumps(google.service_account)
        values = {
            "google_sheet_id": google.spreadsheet_id,
            "google_api_url": google.url,
            "serper_url": serper.url,
            "base_url": f"{openai.url}/v1",
            "serp_requests_per_second": per_second,
            "serp_requests_in_flight": 32,
            "serper_api_key": serper.api_key,
            "openai_api_key": openai.api_key,
            "service_account": account,
        }
        environment = {f"{ENV_PREFIX}{name.upper()}": str(value) for name, value in values.items()}
        yield {"serper": serper, "openai": openai, "google": google}, environment


def run(project: Path, environment: Mapping[str, str]) -> Figures:
    """Run the product in a project's folder, in a separate process.

    Raises:
        SystemExit: the run failed; the message is the end of its log.
    """
    log = project / "logfile.txt"
    log.unlink(missing_ok=True)
    began = time.monotonic()
    command = [sys.executable, str(projects.ROOT / "main.py"), "--project", str(project)]
    peak, code = peak_of(subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL))
    seconds = time.monotonic() - began
    text = log.read_text(encoding="utf-8")
    if code:
        raise SystemExit(f"the run ended with {code}:\n{text[-2000:]}")
    counts = dict(re.findall(r"Summary: ([^:]+): (.*)", text))
    steps = dict(re.findall(r"([A-Z][a-z ]+) ([\d.]+)(?:, |$)", counts.pop("Seconds")))
    return Figures(seconds, {name: float(value) for name, value in steps.items()}, counts, peak)


def peak_of(process: subprocess.Popen[bytes]) -> tuple[float, int]:
    """Return the process's peak MB, or on Linux that of all its processes together if higher, and its exit code."""
    if not hasattr(os, "wait4"):
        return 0.0, process.wait()
    held, ended, wait = 0.0, 0, _LOOK / 50
    while not ended:
        held = max(held, _held(process.pid))
        time.sleep(wait)
        # At first often, so that the seconds of a short process are right.
        wait = min(1.05 * wait, _LOOK)
        ended, status, usage = os.wait4(process.pid, os.WNOHANG)
    # Linux includes the starting process's memory; macOS counts in bytes.
    return held or usage.ru_maxrss / 1e6, os.waitstatus_to_exitcode(status)


def _held(process: int) -> float:
    """Return its own peak MB, or its and its children's present MB if more, shared files counted once; 0 if unknown."""
    own, files, highest = list[int](), [0], [0]
    with suppress(OSError):
        children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
        for one in (str(process), *children):
            status = Path(f"/proc/{one}/status").read_text()
            found = dict(re.findall(r"(RssAnon|RssFile|VmHWM):\s+(\d+)", status))
            own.append(int(found.get("RssAnon", 0)))
            files.append(int(found.get("RssFile", 0)))
            highest.append(int(found.get("VmHWM", 0)))
    return max(sum(own) + max(files), *highest) / 1e3


def _print(pages: int, table: list[tuple[str, Figures, dict[str, tuple[int, int]]]]) -> None:
    for name, figures, served in table:
        print(f"\n{name}: {pages} pages in {figures.seconds:.1f} s, peak memory {figures.peak_mb:.0f} MB")
        for step, seconds in figures.steps.items():
            print(f"  {step:<16}{seconds:8.1f} s {pages / max(seconds, 0.05):10.0f} pages/s")
        for server, (calls, units) in served.items():
            per_thousand = f"{1000 * calls / pages:.1f} calls, {1000 * units / pages:.0f} units"
            print(f"  {server:<8}{calls} calls, {units} units; per 1,000 pages {per_thousand}")
        encoded, cached = map(int, figures.counts["Texts embedded / from the cache"].split(" / "))
        print(f"  embedding cache hits {cached / max(1, encoded + cached):.0%}")
        calls, _ = map(int, figures.counts["SERP calls / credits"].split(" / "))
        hits = int(figures.counts["SERP pages from the cache"])
        print(f"  search cache hits {hits / max(1, calls + hits):.0%}")
    print(f"\nrerun / first run: {table[1][1].seconds / table[0][1].seconds:.3f}")


if __name__ == "__main__":
    main()
