"""Sources of an import: tables from a crawler's files or from a site, and the places where the import is written."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from internal_linker.model.errors import ConfigurationError, InputError, ServiceError
from internal_linker.model.ports import Progress, StreamSource
from internal_linker.model.records import ReadReport
from internal_linker.model.sequences import counted
from internal_linker.model.urls import encoded, normal_form
from internal_linker.sources.import_crawl import ImportPaths
from internal_linker.sources.tables.columns import names_columns
from internal_linker.sources.tables.csv_reader import CsvTable
from internal_linker.sources.tables.csv_writer import write_rows
from internal_linker.sources.tables.lists_csv import RejectedCsv
from internal_linker.sources.tables.xlsx_reader import XlsxTable
from internal_linker.sources.web.access import SiteAccess
from internal_linker.sources.web.client import NOT_ALLOWED, PROTECTED, SiteClient
from internal_linker.sources.web.fetch import (
    DISALLOWED,
    FAILED,
    FETCHED,
    UNCHANGED,
    Fetcher,
    Order,
    Visit,
)
from internal_linker.sources.web.page_table import LinkSpool, LinkTable, PageTable
from internal_linker.sources.web.saved_pages import SUFFIXES, SavedPages, html_files
from internal_linker.sources.web.site_files import Robots, sitemap_urls
from internal_linker.store.answers import StoredPages
from internal_linker.store.files.atomic import KeepingOld
from internal_linker.store.files.plain_text import plain_text, shortened
from internal_linker.store.files.text_spool import TextSpool

# Maximum bytes of a list of URLs: about a million URLs.
_MOST_BYTES = 100_000_000
# A host without a scheme in front, such as example.com or example.com/sitemap.xml.
_HOST = re.compile(r"[^\s:/?#@]+\.[^\s:/?#@]+(:\d+)?([/?#]|$)")


@dataclass(frozen=True, slots=True)
class FetchOptions:
    """What to fetch from a site, and how."""

    sitemap: str = ""  # the address of a sitemap, or of a host that has one; "" for none
    urls: Path | None = None  # a file with one URL per line; None for none
    delay: float = 0.5  # seconds between two requests to a host
    allow_private: bool = False  # whether a host may be in a private network
    limit: int = 0  # maximum of pages; 0: all
    # Headers, passwords and proxies by the origins that get them
    access: Mapping[str, SiteAccess] = field(default_factory=dict)


def crawl_tables(
    paths: Sequence[Path], base_url: str, links: LinkSpool, sheets: Sequence[str] = ()
) -> list[StreamSource]:
    """Return the tables of files: workbooks, CSV files, HTML files and folders of HTML files.

    `base_url` is the address of folders of HTML files, for files that don't state their own. Without `sheets`, the
    sheet of a workbook with pages or links is read.

    Raises:
        InputError: a folder has no HTML files, or `base_url` is not a URL.
    """
    saved = [path for path in paths if path.is_dir() or path.suffix.lower() in SUFFIXES]
    tables = [table for path in paths if path not in saved for table in _tables(path, sheets)]
    if saved:
        name = shortened(", ".join(map(str, saved)), 200)
        found = html_files(saved)
        pages = SavedPages(found, base_url)
        tables += [PageTable(name, len(found), pages.rows, links), LinkTable(name, links)]
    return tables


def site_tables(
    options: FetchOptions,
    reason: Callable[[str], str],
    cache: StoredPages,
    links: LinkSpool,
    progress: Progress,
) -> list[StreamSource]:
    """Fetch pages into the cache; return tables of the pages and of their links.

    `reason` returns why not to fetch a page, by its normal form; "": fetch it.

    Raises:
        InputError: the sitemap or the list is missing, or the site is in a private network.
        ServiceError: the site doesn't answer, or returned no page.
    """
    name, asides = " and ".join(filter(None, (options.sitemap, str(options.urls or "")))), ReadReport()
    with closing(
        SiteClient(options.delay, allow_private=options.allow_private, access=options.access)
    ) as client:
        robots = Robots(client)
        fetcher = Fetcher(client, robots, cache)
        urls = list(listed_urls(options.urls)) if options.urls else []
        if options.urls and not urls:
            raise InputError(f"{options.urls} has no URL: write one URL per line.")
        if options.sitemap:
            progress.start("Sitemap", 0, "")
            try:
                found = list(
                    enumerate(sitemap_urls(client, robots, sitemap_address(options.sitemap), asides), 1)
                )
            except ServiceError as error:
                if not urls:
                    raise
                found = []
                asides.gaps.append(str(error))
            progress.finish(counted(len(found), "page"))
            urls += found
        progress.start("Fetching", len(urls), "pages")
        visits = fetcher.visit(Order(name, urls, reason, options.limit), asides, progress)
        fetched = ((asides.facts[FETCHED], "fetched"), (asides.facts[UNCHANGED], "unchanged"))
        others = ((asides.facts[FAILED], "failed"), (asides.left_out[DISALLOWED], DISALLOWED))
        progress.finish(", ".join(f"{count} {what}" for count, what in (*fetched, *others)))
        for remark in robots.remarks:
            progress.warn(remark)
    _require_pages(name, visits, asides.left_out[DISALLOWED])
    return [
        PageTable(name, len(visits), partial(fetcher.rows, name, visits), links, asides),
        LinkTable(name, links),
    ]


def _require_pages(name: str, visits: Sequence[Visit], disallowed: int) -> None:
    """Check that a site that answered gave any page; some sites answer only browsers."""
    if disallowed and not visits:
        raise InputError(
            f"{name}: robots.txt disallows the pages ({disallowed}), and no table was changed. If the site is yours, "
            "allow the user agent InternalLinker there, or set ignore_robots in config/site_access.toml."
        )
    if visits and all(visit.status != 200 for visit in visits):
        statuses = Counter(visit.status for visit in visits).most_common(3)
        remedy = (
            PROTECTED
            if any(visit.status in NOT_ALLOWED for visit in visits)
            else "If a browser shows them, ask the site's operator to allow the user agent InternalLinker."
        )
        summary = ", ".join(f"{count} times HTTP {status}" for status, count in statuses)
        raise ServiceError(
            "The site",
            f"none of the URLs of {name} returned a page ({summary}). No table was changed. {remedy}",
        )


def listed_urls(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines of a file with their numbers, without a header, empty lines and lines that begin with #.

    Raises:
        InputError: the file is missing or can't be read.
    """
    if not path.is_file():
        raise InputError(f"{path} not found: check the path. The file needs one URL per line.")
    try:
        lines = plain_text(path, str(path), _MOST_BYTES).splitlines()
    except ConfigurationError as error:
        raise InputError(str(error)) from None
    for number, line in enumerate(map(str.strip, lines), 1):
        if line and not line.startswith("#") and not (number == 1 and names_columns([line])):
            yield number, line


def sitemap_address(url: str) -> str:
    """Return the full address of a sitemap or host; without a scheme, it is https.

    Raises:
        InputError: it is not an address.
    """
    address = encoded(url)
    address = f"https://{address}" if _HOST.match(address) else address
    try:
        normal_form(address)
    except ValueError as error:
        raise InputError(f"--sitemap {url}: {error}.") from None
    return address


def _tables(path: Path, sheets: Sequence[str]) -> list[StreamSource]:
    if path.suffix.casefold() not in (".xlsx", ".xlsm"):
        return [CsvTable(path, str(path))]
    if len(sheets) < 2:
        return [XlsxTable(path, str(path), *sheets)]
    return [XlsxTable(path, f"{path} ({sheet})", sheet) for sheet in sheets]


@contextmanager
def import_places(files: Path) -> Iterator[tuple[ImportPaths, KeepingOld]]:
    """Yield where to write an import, and what keeps copies of the replaced files."""
    keeping = KeepingOld()
    spool = TextSpool(files)
    pages, links, vectors = (
        partial(write_rows, files / name, write_whole=keeping)
        for name in ("urls_rawdata.csv", "existing_links.csv", "page_vectors.csv")
    )
    try:
        yield (
            ImportPaths(spool.keep, pages, links, vectors, RejectedCsv(files / "rejected_rows.csv")),
            keeping,
        )
    finally:
        spool.close()
