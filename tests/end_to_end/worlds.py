"""A project with its services on loopback; its state can be copied for each trial."""

import copy
import csv
import io
import json
import shutil
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.standins import GoogleStandIn, OpenAIStandIn, SerperStandIn
from tests.support.sites import use_standins
from tests.support.small_project import finish, start, write_csv
from tests.support.synthetic_pages import synthetic

# Enough pages for two embedding requests, with searches for a tenth of them.
PAGES, WORDS, QUERIED = 300, 30, 30
HEADER = ["URL", "Main Query", "Owner", "Link 1", "Link 2", "Link 3", "Link 4", "Link 5"]
# The number of links that are the editors' own.
FOREIGN = 3
# The most requests in flight, by the settings.
TEXTS_IN_FLIGHT, SEARCHES_IN_FLIGHT = 4 * 256, 16
FILES = (
    "Output.csv",
    "links.csv",
    "excluded_targets.csv",
    "duplicates.csv",
    "orphans.csv",
    "rejected_rows.csv",
)


@dataclass
class World:
    """A project folder, its three services, and the number of pages it began with."""

    project: Path
    serper: SerperStandIn
    openai: OpenAIStandIn
    google: GoogleStandIn
    pages: int

    def run(self, *more: str, longest: float = 60.0) -> tuple[int, str]:
        """Run the real program to its end, and return the exit code and all output."""
        code, out, err = finish(self.start(*more), longest)
        return code, out + err

    def start(self, *more: str) -> Any:
        """Start the real program as a process."""
        return start("-m", "internal_linker", "run", *more, "--project", str(self.project), cwd=self.project)

    def results(self) -> dict[str, str]:
        """Return the result files without the name of the run."""
        found = {}
        for name in FILES:
            path = self.project / "files" / name
            found[name] = _without_run(path.read_text(encoding="utf-8-sig")) if path.exists() else ""
        return found

    def sheet(self) -> list[list[str]]:
        """Return the tab with the main queries, each row as wide as the header."""
        return [[*row, *[""] * (len(HEADER) - len(row))] for row in self.google.grid("Main")]

    def outcome(self) -> "Outcome":
        """Return everything that a run leaves for users."""
        return Outcome(self.results(), self.sheet(), sorted(self.google.grid("Review")))

    def embedded(self) -> Counter[str]:
        """Return how often each text was paid for."""
        calls = [call for call in self.openai.calls("embeddings") if call.units]
        return Counter(text for call in calls for text in call.body["input"])

    def searched(self) -> Counter[tuple[str, int]]:
        """Return how often each result page was paid for."""
        calls = [call for call in self.serper.calls("search") if call.units]
        return Counter((call.body["q"], call.body["page"]) for call in calls)


@dataclass(frozen=True)
class Outcome:
    """What users see: the result files by name, the tab with the main queries, the rows of the tab Review."""

    results: Mapping[str, str]
    sheet: Sequence[Sequence[str]]
    review: Sequence[Sequence[str]]

    def differs(self, wanted: "Outcome") -> str:
        """Return the first difference from the wanted outcome; "" for none."""
        for name, text in self.results.items():
            for ours, theirs in zip_longest(text.splitlines(), wanted.results[name].splitlines()):
                if ours != theirs:
                    cells = zip_longest((ours or "").split("\t"), (theirs or "").split("\t"))
                    other = ", ".join(f"{mine!r} and not {their!r}" for mine, their in cells if mine != their)
                    return f"{name} has {other} in {(ours or theirs or '')[:100]!r}"
        for name, tab, other_tab in (
            ("Main", self.sheet, wanted.sheet),
            ("Review", self.review, wanted.review),
        ):
            for row, theirs_too in zip_longest(tab, other_tab):
                if row != theirs_too:
                    return f"the tab {name} has {row} and not {theirs_too}"
        return ""


@dataclass(frozen=True)
class State:
    """What a world starts from: the project's folder and the Sheet."""

    folder: Path
    spreadsheets: Mapping[str, Any]


def kept(project: Path, table: str) -> int:
    """Return the rows of a table of a project's cache."""
    with closing(sqlite3.connect(project / "files/cache.sqlite3")) as file:
        return int(file.execute(f"SELECT count(*) FROM {table}").fetchone()[0])


@contextmanager
def world(
    folder: Path,
    state: State | None = None,
    *,
    latency: float = 0.02,
    settings: Mapping[str, object] | None = None,
    pages: int = PAGES,
) -> Iterator[World]:
    """Yield a separate world in an empty folder, new or from a state, with these settings besides the usual ones."""
    site = synthetic(pages, WORDS)
    urls = sorted({url for url, *_ in site})
    if state:
        shutil.copytree(state.folder, folder, dirs_exist_ok=True)
    (folder / "config").mkdir(parents=True, exist_ok=True)
    with (
        SerperStandIn(lambda words, host: _found(words, urls), balance=10**6, latency=latency) as serper,
        OpenAIStandIn(dimensions=64, rate_limit_tokens=10**9, latency=latency) as openai,
        GoogleStandIn(
            {"Main": [HEADER, *queries(site, pages // QUERIED)]},
            columns=len(HEADER),
            reads_per_minute=10_000,
            writes_per_minute=10_000,
        ) as google,
    ):
        openai.says = _last_words
        if state:
            google.spreadsheets = copy.deepcopy(dict(state.spreadsheets))
        else:
            fill(folder, site)
        template = f"site:{urlsplit(site[0][0]).netloc} {{main_query}}"
        values = {"search_query_template": template, **(settings or {})}
        use_standins(folder, google=google, serper=serper, openai=openai, settings=values)
        yield World(folder, serper, openai, google, pages)


def keep(of: World, folder: Path) -> State:
    """Return a state that worlds can start from."""
    shutil.copytree(of.project, folder)
    return State(folder, copy.deepcopy(of.google.spreadsheets))


def fill(project: Path, pages: Sequence[Sequence[str]]) -> None:
    """Write the pages into the project's folder."""
    write_csv(project / "files/urls_rawdata.csv", [("URL", "Title", "Main Content", "Lang"), *pages])


def a_week_later(of: World) -> None:
    """Change a tenth of the pages, remove some and add some; editors have other queries."""
    pages = [list(page) for page in synthetic(of.pages, WORDS)]
    for at in range(0, len(pages), 10):
        pages[at][2] = " ".join(reversed(pages[at][2].split()))
    more = [[f"{pages[0][0]}-new-{at}", f"New {at}", pages[at][2] + " new", "en"] for at in range(20)]
    fill(of.project, [*pages[20:], *more])
    grid = of.sheet()
    for row in grid[1:11]:
        row[1] += " guide"
    of.google.set_grid("Main", grid)


def queries(pages: Sequence[Sequence[str]], every: int) -> list[list[str]]:
    """Return the rows of the tab with the main queries: every `every`-th page has one."""
    rows = enumerate(pages[::every])
    return [[url, f"{title.lower()} tips", f"editor {at}"] for at, (url, title, *_) in rows]


def _found(words: str, urls: Sequence[str]) -> list[str]:
    """Return five results for a query, always the same ones."""
    first = sum(words.encode()) % len(urls)
    return [urls[(first + 7 * step) % len(urls)] for step in range(5)]


def _last_words(asked: str) -> str:
    """Return a chat model's answer about anchors: the end of each sentence."""
    ends = {str(link["link"]): link["sentence"].split()[-3:] for link in json.loads(asked)}
    return json.dumps({link: " ".join(words).strip(".") for link, words in ends.items()})


def _without_run(text: str) -> str:
    rows = list(csv.reader(io.StringIO(text)))
    at = rows[0].index("Run") if rows and "Run" in rows[0] else -1
    lines = [row[:at] + row[at + 1 :] if at >= 0 else row for row in rows]
    return "\n".join(map("\t".join, lines))
