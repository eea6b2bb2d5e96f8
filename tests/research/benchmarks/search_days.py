"""Search data: storing, reading back, matching to pages, importing a file, choosing main queries, and the impact."""

import tempfile
import time
from collections.abc import Callable, Mapping
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pandas as pd

from internal_linker.insight.page_keys import match_pages
from internal_linker.model.canonical_hosts import hosts_of
from internal_linker.model.search_data import SearchTable, sound_rows
from internal_linker.project.impact import impact
from internal_linker.project.import_search_exports import import_search_data
from internal_linker.project.options.evaluation import ImpactOptions, QueriesOptions
from internal_linker.project.options.imports import SearchFilesOptions
from internal_linker.project.project import open_project
from internal_linker.project.queries import queries
from internal_linker.store.engine import open_database
from internal_linker.store.search_days import SearchDays
from tests.research.benchmarks.parts import Work, measured
from tests.research.benchmarks.results import Row, middle
from tests.support.builders import Told
from tests.support.impact_project import TEXT, live_link
from tests.support.small_project import write_csv

SITE, PROPERTY = "a.example", "sc-domain:a.example"
FIRST, DAYS, PAGES = date(2025, 7, 25), 480, 20_000
# Each page is found by some dozens of queries, most of which it shares with no other page.
QUERIES_A_PAGE = 30
TARGET = "60 s, 1,500 MB"
_CPU = "processor seconds:"


def stored_and_read(rows: int, times: int) -> tuple[list[Row], list[float]]:
    """Return the rows of storing, reading and importing so many page-query-day rows, each in a process of its own."""
    found: dict[str, list[tuple[float, float, Mapping[str, float]]]] = {}
    for _ in range(times):
        with tempfile.TemporaryDirectory() as folder:
            for name, work in PARTS.items():
                part = measured(work, folder, rows)
                found.setdefault(name, []).append((part.seconds, part.memory, part.figures))
    lines = []
    for name, parts in found.items():
        note = ", ".join(f"{label} {value:,.0f}" for label, value in parts[0][2].items())
        seconds, memory = middle(part[0] for part in parts), middle(part[1] for part in parts)
        what = f"{rows:,} rows of {DAYS} days, {PAGES:,} pages: {name}"
        lines.append(Row(what, f"{seconds:.1f}", target=TARGET, memory=f"{memory:.0f} MB", note=note))
    return lines, []


def store(folder: str, rows: int) -> Work:
    """Make up each day's rows as the API gives them, check them and store them."""
    pages, queries = _texts()
    dice = np.random.default_rng(5)

    def work() -> Callable[[], Mapping[str, float]]:
        began = time.process_time()
        engine = open_database(f"sqlite:///{folder}/store.sqlite3", Path(folder))
        days, count = SearchDays(engine, SITE, PROPERTY), rows // DAYS
        for at in range(DAYS):
            day = FIRST + timedelta(days=at)
            frame = _day(day, pages, queries, count, dice)
            days.put(SearchTable.QUERIES, day, sound_rows(SearchTable.QUERIES, frame).rows)
        engine.dispose()
        size = Path(folder, "store.sqlite3").stat().st_size
        took = time.process_time() - began
        return lambda: {_CPU: took, "MB on disk:": size / 1e6}

    return work


def read(folder: str, rows: int) -> Work:
    """Read all rows."""

    def work() -> Callable[[], Mapping[str, float]]:
        began = time.process_time()
        frame = _read(folder)
        took = time.process_time() - began
        return lambda: {_CPU: took, "rows:": len(frame), "queries:": frame["query"].cat.categories.size}

    return work


def match(folder: str, rows: int) -> Work:
    """Read all rows, and match their URLs to the pages of a site."""
    keys = [page.rstrip("/") for page in _texts()[0]]

    def work() -> Callable[[], Mapping[str, float]]:
        began = time.process_time()
        matched = match_pages(SearchTable.QUERIES, _read(folder), keys, hosts_of(keys))
        took = time.process_time() - began
        return lambda: {_CPU: took, "pages:": matched.pages}

    return work


def imported(folder: str, rows: int) -> Work:
    """Import the rows from a table, as `import` does with an exported file."""
    pages, queries = _texts()
    dice = np.random.default_rng(5)
    project = Path(folder, "project")
    texts = (TEXT * 8 for _ in pages)
    table_of_pages = [("URL", "Title", "Main Content"), *zip(pages, ["Tea"] * PAGES, texts, strict=True)]
    write_csv(project / "files/urls_rawdata.csv", table_of_pages)
    table = Path(folder, "rows.csv")
    for at in range(DAYS):
        frame = _day(FIRST + timedelta(days=at), pages, queries, rows // DAYS, dice)
        frame.to_csv(table, mode="a", header=at == 0, index=False)

    def work() -> Callable[[], Mapping[str, float]]:
        began = time.process_time()
        import_search_data(open_project(project), SearchFilesOptions(files=[table]), Told())
        took = time.process_time() - began
        return lambda: {_CPU: took, "MB of CSV:": table.stat().st_size / 1e6}

    return work


def chosen(folder: str, rows: int) -> Work:
    """Choose main queries of the project with the imported rows."""

    def work() -> Callable[[], Mapping[str, float]]:
        began = time.process_time()
        found = queries(open_project(Path(folder, "project")), QueriesOptions(), Told())
        took = time.process_time() - began
        return lambda: {_CPU: took, "main queries:": len(found.chosen.queries)}

    return work


def measured_impact(folder: str, rows: int) -> Work:
    """Measure what the links to one page in ten did, with so many rows by page and day."""
    pages, _ = _texts()
    dice = np.random.default_rng(6)
    project = open_project(Path(folder, "project"))
    with project.search_data(PROPERTY, read_only=False) as store:
        for at in range(DAYS):
            day = FIRST + timedelta(days=at)
            store.put(SearchTable.PAGES, day, _page_day(day, pages, rows // DAYS, dice))
    keys = [page.rstrip("/") for page in pages]
    targets, live = keys[: PAGES // 2 : 5], dice.integers(100, DAYS - 40, PAGES // 10).tolist()
    with project.graph(read_only=False) as (edges, _):
        edges.put(
            [
                live_link(keys[-1], key, FIRST + timedelta(days=at))
                for key, at in zip(targets, live, strict=True)
            ]
        )

    def work() -> Callable[[], Mapping[str, float]]:
        began = time.process_time()
        found = impact(project, ImpactOptions(), Told()).findings
        took = time.process_time() - began
        return lambda: {_CPU: took, "targets compared:": len(found.pairs)}

    return work


PARTS = {
    "stored": store,
    "read": read,
    "read and matched": match,
    "imported from a CSV file": imported,
    "main queries chosen": chosen,
    "impact of 2,000 links": measured_impact,
}


def _read(folder: str) -> pd.DataFrame:
    engine = open_database(f"sqlite:///{folder}/store.sqlite3", Path(folder))
    frame = SearchDays(engine, SITE, PROPERTY).read(SearchTable.QUERIES)
    engine.dispose()
    return frame


def _texts() -> tuple[list[str], list[str]]:
    pages = [
        f"https://www.{SITE}/guides/section-{at % 40}/the-article-number-{at}-about-tea/"
        for at in range(PAGES)
    ]
    return pages, [f"how to brew tea of kind {at} at home" for at in range(PAGES * QUERIES_A_PAGE)]


def _page_day(day: date, pages: list[str], count: int, dice: np.random.Generator) -> pd.DataFrame:
    """Return a day's rows by page: a page that has many clicks has a row on most days."""
    seen = np.flatnonzero(dice.random(PAGES) < 2 * count / PAGES * np.linspace(1, 0, PAGES))
    impressions = dice.poisson(10 + 90 * (1 - seen / PAGES))
    return pd.DataFrame(
        {
            "date": pd.Timestamp(day),
            "page": [pages[at] for at in seen],
            "clicks": dice.binomial(impressions, 0.05),
            "impressions": impressions,
            "position": 1 + dice.gamma(2, 8, seen.size),
        }
    )


def _day(
    day: date, pages: list[str], queries: list[str], count: int, dice: np.random.Generator
) -> pd.DataFrame:
    """Return a day's rows: few pages have most of them, and most rows have no click."""
    page = (PAGES * dice.random(count * 3) ** 3).astype(np.int64)
    query = (page * QUERIES_A_PAGE + dice.integers(0, QUERIES_A_PAGE, page.size)) % len(queries)
    _, kept = np.unique(page * len(queries) + query, return_index=True)
    kept = dice.permutation(kept)[:count]
    page, query = page[kept], query[kept]
    impressions = dice.zipf(1.8, page.size).clip(max=5_000)
    position = 1 + dice.gamma(2, 8, page.size)
    return pd.DataFrame(
        {
            "date": day.isoformat(),
            "page": [pages[at] for at in page],
            "query": [queries[at] for at in query],
            "clicks": dice.binomial(impressions, 0.3 / position),
            "impressions": impressions,
            "position": position,
        }
    )
