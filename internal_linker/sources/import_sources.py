"""Sources of an import: tables from a crawler's files or from a site, and the places where the import is written."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from internal_linker.model.columns import REJECTED_ROWS
from internal_linker.model.errors import ConfigurationError, InputError, ServiceError
from internal_linker.model.ports import Progress, StreamSource
from internal_linker.model.records import ReadReport
from internal_linker.model.sequences import counted
from internal_linker.model.urls import encoded, normal_form
from internal_linker.sources.import_crawl import ImportPaths
from internal_linker.sources.sites import ReadExport, export_formats
from internal_linker.sources.sites.wordpress import Account
from internal_linker.sources.tables.columns import names_columns
from internal_linker.sources.tables.csv_reader import CsvTable
from internal_linker.sources.tables.csv_writer import write_rows
from internal_linker.sources.tables.lists_csv import ListCsv
from internal_linker.sources.tables.xlsx_reader import XlsxTable
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
from internal_linker.sources.web.page_table import LinkSpool, LinkTable, PageTable, post_tables
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
class SiteReader:
    """What a site is read with."""

    client: SiteClient  # fetches, at the pace and with the access that the user named
    account: Callable[[str], Account | None]  # returns the account for the WordPress site at an address
    reason: Callable[[str], str]  # returns why not to fetch a page, by its normal form; "": fetch it
    limit: int  # maximum of pages; 0: all
    cache: StoredPages  # keeps what was fetched for the next import
    links: LinkSpool  # gets the pages' links
    progress: Progress  # shows the steps


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
    tables = list[StreamSource]()
    for path in paths:
        if read_export := export_formats().get(path.suffix.lower()):
            tables += _export_tables(path, read_export, base_url, links)
        elif path not in saved:
            tables += _tables(path, sheets)
    if saved:
        name = shortened(", ".join(map(str, saved)), 200)
        found = html_files(saved)
        pages = SavedPages(found, base_url)
        tables += [PageTable(name, len(found), pages.rows, links), LinkTable(name, links)]
    return tables


def site_tables(sitemap: str, listed: Path | None, reader: SiteReader) -> list[StreamSource]:
    """Fetch pages into the cache; return tables of the pages and of their links.

    Args:
        sitemap: the address of a sitemap, or of a host that has one; "" for none.
        listed: a file with one URL per line; None for none.
        reader: what to read with.

    Raises:
        InputError: the sitemap or the list is missing, or the site is in a private network.
        ServiceError: the site doesn't answer, or returned no page.
    """
    name, asides = " and ".join(filter(None, (sitemap, str(listed or "")))), ReadReport()
    client, progress = reader.client, reader.progress
    robots = Robots(client)
    fetcher = Fetcher(client, robots, reader.cache)
    urls = list(listed_urls(listed)) if listed else []
    if listed and not urls:
        raise InputError(f"{listed} has no URL: write one URL per line.")
    if sitemap:
        progress.start("Sitemap", 0, "")
        try:
            found = list(enumerate(sitemap_urls(client, robots, sitemap_address(sitemap), asides), 1))
        except ServiceError as error:
            if not urls:
                raise
            found = []
            asides.gaps.append(str(error))
        progress.finish(counted(len(found), "page"))
        urls += found
    progress.start("Fetching", len(urls), "pages")
    visits = fetcher.visit(Order(name, urls, reader.reason, reader.limit), asides, progress)
    fetched = ((asides.facts[FETCHED], "fetched"), (asides.facts[UNCHANGED], "unchanged"))
    others = ((asides.facts[FAILED], "failed"), (asides.left_out[DISALLOWED], DISALLOWED))
    progress.finish(", ".join(f"{count} {what}" for count, what in (*fetched, *others)))
    for remark in robots.remarks:
        progress.warn(remark)
    _require_pages(name, visits, asides.left_out[DISALLOWED])
    return [
        PageTable(name, len(visits), partial(fetcher.rows, name, visits), reader.links, asides),
        LinkTable(name, reader.links),
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


def _export_tables(
    path: Path, read_export: ReadExport, base_url: str, links: LinkSpool
) -> list[StreamSource]:
    asides = ReadReport()
    posts = read_export(path, base_url, asides)
    return post_tables(str(path), lambda _: enumerate(posts, 1), links, asides, size=len(posts))


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
            ImportPaths(
                spool.keep, pages, links, vectors, ListCsv(files / "rejected_rows.csv", REJECTED_ROWS)
            ),
            keeping,
        )
    finally:
        spool.close()
