"""A project's files/, a crawler's files, a site -> the tables to import, and the places where an import is written."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from internal_linker.adapters.files.atomic import KeepingOld
from internal_linker.adapters.files.plain_text import plain_text, shortened
from internal_linker.adapters.files.text_spool import TextSpool
from internal_linker.adapters.tables.columns import names_columns
from internal_linker.adapters.tables.csv_reader import CsvTable
from internal_linker.adapters.tables.csv_writer import write_rows
from internal_linker.adapters.tables.lists_csv import RejectedCsv
from internal_linker.adapters.tables.xlsx_reader import XlsxTable
from internal_linker.core.errors import ConfigurationError, InputError, ServiceError
from internal_linker.core.ports import Progress, StreamSource
from internal_linker.core.records import Asides, PageCache
from internal_linker.core.urls import normal_form
from internal_linker.ingest.import_crawl import Places
from internal_linker.ingest.web.client import SiteClient
from internal_linker.ingest.web.fetch import (
    DISALLOWED,
    FAILED,
    FETCHED,
    UNCHANGED,
    Fetcher,
    Order,
    Visit,
)
from internal_linker.ingest.web.page_table import LinkSpool, LinkTable, PageTable
from internal_linker.ingest.web.robots import Robots
from internal_linker.ingest.web.saved_pages import SUFFIXES, SavedPages, html_files
from internal_linker.ingest.web.sitemaps import sitemap_urls

# Bytes of a list of URLs: a million of them.
_MOST_BYTES = 100_000_000


@dataclass(frozen=True, slots=True)
class Wish:
    """What to fetch from a site, and how.

    Attributes:
        sitemap: its address, or that of a host that has one; "" for none.
        urls: a file with a URL a line; None for none.
        delay: seconds between two requests to a host.
        allow_private: whether a host may be in a private network.
        limit: pages at the most; 0: all.
    """

    sitemap: str = ""
    urls: Path | None = None
    delay: float = 0.5
    allow_private: bool = False
    limit: int = 0


def link_spool(files: Path) -> LinkSpool:
    """Where links lie meanwhile; `files` is the project's."""
    return LinkSpool(files)


def crawl_tables(paths: Sequence[Path], base_url: str, links: LinkSpool) -> list[StreamSource]:
    """Files as their names say: workbooks, CSV files, HTML files and folders of these.

    Args:
        paths: relative ones start at the current directory.
        base_url: the address of folders of HTML files, where the files don't say it themselves.
        links: keeps the links of HTML files until all of these were read.

    Raises:
        InputError: there is no HTML file in a folder, or `base_url` is none.
    """
    saved = [path for path in paths if path.is_dir() or path.suffix.lower() in SUFFIXES]
    tables: list[StreamSource] = [_table(path) for path in paths if path not in saved]
    if saved:
        name = shortened(", ".join(map(str, saved)), 200)
        found = html_files(saved)
        pages = SavedPages(found, base_url)
        tables += [PageTable(name, len(found), pages.rows, links), LinkTable(name, links)]
    return tables


def site_tables(
    wish: Wish, reason: Callable[[str], str], cache: PageCache, links: LinkSpool, progress: Progress
) -> list[StreamSource]:
    """Fetch pages into the cache; tables of them and of their links.

    Args:
        wish: which, and how.
        reason: why a page is not wanted, by its normal form; "" if it is.
        cache: what was fetched earlier, and is now.
        links: keeps the links until all pages were read.
        progress: told of each page.

    Raises:
        InputError: there is no sitemap or list, or the site is in a private network.
        ServiceError: the site doesn't answer, or gives no page.
    """
    name, asides = " and ".join(filter(None, (wish.sitemap, str(wish.urls or "")))), Asides()
    with closing(SiteClient(wish.delay, allow_private=wish.allow_private)) as client:
        robots = Robots(client)
        fetcher = Fetcher(client, robots, cache)
        urls = list(listed_urls(wish.urls)) if wish.urls else []
        if wish.sitemap:
            progress.start("Sitemap", 0, "")
            found = list(enumerate(sitemap_urls(client, robots, _address(wish.sitemap), asides), 1))
            progress.finish(f"{len(found)} pages")
            urls += found
        progress.start("Fetching", len(urls), "pages")
        visits = fetcher.visit(Order(name, urls, reason, wish.limit), asides, progress)
        told = ((asides.facts[FETCHED], "fetched"), (asides.facts[UNCHANGED], "unchanged"))
        more = ((asides.facts[FAILED], "failed"), (asides.left_out[DISALLOWED], DISALLOWED))
        progress.finish(", ".join(f"{count} {what}" for count, what in (*told, *more)))
        for remark in robots.remarks:
            progress.warn(remark)
    _require_pages(name, visits)
    return [
        PageTable(name, len(visits), partial(fetcher.rows, name, visits), links, asides),
        LinkTable(name, links),
    ]


def _require_pages(name: str, visits: Sequence[Visit]) -> None:
    """Refuse a site that answered and gave no page at all: most of all one that shuts out what is no browser.

    Raises:
        ServiceError: there are answers, and none is a page.
    """
    if visits and all(visit.status != 200 for visit in visits):
        statuses = Counter(visit.status for visit in visits).most_common(3)
        told = ", ".join(f"{count} times HTTP {status}" for status, count in statuses)
        raise ServiceError(
            "The site",
            f"none of the URLs of {name} gave a page ({told}). No table was changed. Where a browser shows them, ask "
            "whoever runs the site to let the user agent InternalLinker in.",
        )


def listed_urls(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a file with their numbers, without a header, empty ones and those that begin with #.

    Raises:
        InputError: it is not there or can't be read.
    """
    if not path.is_file():
        raise InputError(f"{path} is not there. Put the file there, a URL a line, or correct its name.")
    try:
        lines = plain_text(path, str(path), _MOST_BYTES).splitlines()
    except ConfigurationError as error:
        raise InputError(str(error)) from None
    for number, line in enumerate(map(str.strip, lines), 1):
        if line and not line.startswith("#") and not (number == 1 and names_columns([line])):
            yield number, line


def _address(url: str) -> str:
    try:
        normal_form(url)
    except ValueError as error:
        raise InputError(f"--sitemap {url}: {error}.") from None
    return url.strip()


def _table(path: Path) -> StreamSource:
    workbook = path.suffix.casefold() in (".xlsx", ".xlsm")
    return XlsxTable(path, str(path)) if workbook else CsvTable(path, str(path))


@contextmanager
def import_places(files: Path) -> Iterator[tuple[Places, KeepingOld]]:
    """Where an import is written, and what keeps the files that were there."""
    keeping = KeepingOld()
    spool = TextSpool(files)
    pages, links, vectors = (
        partial(write_rows, files / name, write_whole=keeping)
        for name in ("urls_rawdata.csv", "existing_links.csv", "page_vectors.csv")
    )
    try:
        yield Places(spool.keep, pages, links, vectors, RejectedCsv(files / "rejected_rows.csv")), keeping
    finally:
        spool.close()
