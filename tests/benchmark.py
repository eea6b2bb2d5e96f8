"""Time the product as a user runs it: two runs a site, figures by step, requests, credits, cache, memory.

    python -m tests.benchmark                     the sample site, without keys
    python -m tests.benchmark --standins          the sample site against the stand-in servers
    python -m tests.benchmark --corpus DIR        a folder with pages.csv (URL, Title, Content, Lang)
    python -m tests.benchmark --synthetic 10000   so many made-up pages of 500 tokens (--words 286)
    python -m tests.benchmark --synthetic 10000 --words 500 --links 5 --standins
                                                  ... of 500 words, with 5 links on each already

Figures are those of whole processes on this machine; compare runs of one day only.
"""

import argparse
import csv
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from internal_linker.settings import ENV_PREFIX
from tests.standins import GoogleStandIn, OpenAIStandIn, SerperStandIn

ROOT = Path(__file__).resolve().parent.parent
WORDS_A_PAGE = 286  # about 500 tokens of the made-up words below
PAGES_A_TOPIC = 50
TOPIC_WORDS = 60
csv.field_size_limit(2**31 - 1)


@dataclass(frozen=True)
class Figures:
    """One run: whole seconds, seconds by step, counts of the summary, peak memory in MB (0: unknown)."""

    seconds: float
    steps: dict[str, float]
    counts: dict[str, str]
    peak_mb: float


def main() -> None:
    """Make a project folder, run it twice, print the table."""
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
            figures = _run(project, environment)
            table.append((name, figures, {key: (len(s.ledger), s.units) for key, s in servers.items()}))
        _print(len(urls), table)


def _fill(project: Path, options: argparse.Namespace) -> list[str]:
    """Write the project's input; the answer is its URLs."""
    (project / "files").mkdir()
    (project / "config").mkdir()
    if not options.corpus and not options.synthetic:
        for name in ("urls_rawdata.csv", "main_queries.csv"):
            shutil.copy(ROOT / "files" / name, project / "files" / name)
        shutil.copy(ROOT / "config" / "excluded_urls.txt", project / "config")
    else:
        rows = _corpus(options.corpus) if options.corpus else _synthetic(options.synthetic, options.words)
        pages = [*rows]
        _write(project / "files" / "urls_rawdata.csv", ("URL", "Title", "Main Content", "Lang"), pages)
        queries = [(url, title.lower()) for url, title, *_ in pages]
        _write(project / "files" / "main_queries.csv", ("URL", "Main Query"), queries)
    if options.links:
        links = _links(options.synthetic, options.links)
        _write(project / "files" / "existing_links.csv", ("Source", "Destination", "Anchor"), links)
    with (project / "files" / "urls_rawdata.csv").open(encoding="utf-8-sig", newline="") as file:
        urls = [row["URL"] for row in csv.DictReader(file)]
    host = urlsplit(urls[0]).netloc
    (project / "config" / "settings.toml").write_text(
        f'search_query_template = "site:{host} {{main_query}}"\nmax_serp_credits = 1000000\n',
        encoding="utf-8",
    )
    return urls


def _write(path: Path, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *rows])


def _corpus(folder: Path) -> Iterator[tuple[str, str, str, str]]:
    with (folder / "pages.csv").open(encoding="utf-8-sig", newline="") as file:
        for row in csv.DictReader(file):
            yield row["URL"], row["Title"], row["Content"], row["Lang"]


def _synthetic(count: int, length: int) -> Iterator[tuple[str, str, str, str]]:
    """Pages in topics: a topic has words of its own, and every page some of everybody's."""
    dice = random.Random(7)
    syllables = "ka lo mi ren ta su vel dor pin gar ush eth nor bel qui zan fo tri mar sol".split()
    words = ["".join(dice.choices(syllables, k=dice.randint(2, 3))) for _ in range(20_000)]
    topics = [dice.sample(words, TOPIC_WORDS) for _ in range(_topics(count))]
    for number in range(count):
        topic = topics[number % len(topics)]
        body = dice.choices(topic, k=length // 2) + dice.choices(words, k=length - length // 2)
        dice.shuffle(body)
        title = " ".join(dice.sample(topic, 3)) + f" {number}"
        yield _url(number), title, " ".join(body), "en"


def _links(count: int, each: int) -> Iterator[tuple[str, str, str]]:
    """So many links from each page to others of its topic, a few of them much more often than the rest."""
    dice = random.Random(11)
    for number in range(count):
        others = range(number % _topics(count), count, _topics(count))
        for _ in range(each):
            place = int(len(others) * dice.random() ** 2)
            yield _url(number), _url(others[place]), "more"


def _topics(count: int) -> int:
    return max(1, count // PAGES_A_TOPIC)


def _url(number: int) -> str:
    return f"https://www.synthetic.example/page-{number}/"


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


def _run(project: Path, environment: dict[str, str]) -> Figures:
    log = project / "logfile.txt"
    log.unlink(missing_ok=True)
    began = time.monotonic()
    command = [sys.executable, str(ROOT / "main.py"), "--project", str(project)]
    peak, code = _peak_of(subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL))
    seconds = time.monotonic() - began
    text = log.read_text(encoding="utf-8")
    if code:
        raise SystemExit(f"the run ended with {code}:\n{text[-2000:]}")
    counts = dict(re.findall(r"Summary: ([^:]+): (.*)", text))
    steps = dict(re.findall(r"([A-Z][a-z ]+) ([\d.]+)(?:, |$)", counts.pop("Seconds")))
    return Figures(seconds, {name: float(value) for name, value in steps.items()}, counts, peak)


def _peak_of(process: subprocess.Popen[bytes]) -> tuple[float, int]:
    if not hasattr(os, "wait4"):
        return 0.0, process.wait()
    _, status, usage = os.wait4(process.pid, 0)
    # Linux counts in KB, macOS in bytes.
    return usage.ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3), os.waitstatus_to_exitcode(status)


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
