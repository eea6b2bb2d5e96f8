"""A project's files/, and a crawler's files -> the tables to import, and the places where an import is written."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from internal_linker.importing import Places
from internal_linker.plain_text import shortened
from internal_linker.ports import StreamSource
from internal_linker.services.csv_files.lists import RejectedCsv
from internal_linker.services.csv_files.tables import CsvTable
from internal_linker.services.csv_files.writing import write_rows
from internal_linker.services.text_spool import TextSpool
from internal_linker.services.web_pages.saved_files import SUFFIXES, SavedPages, html_files
from internal_linker.services.web_pages.tables import LinkSpool, LinkTable, PageTable
from internal_linker.services.xlsx_tables import XlsxTable
from internal_linker.whole_files import KeepingOld


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
        pages = SavedPages(html_files(saved), base_url)
        tables += [PageTable(name, pages.rows, links), LinkTable(name, links)]
    return tables


def _table(path: Path) -> StreamSource:
    workbook = path.suffix.casefold() in (".xlsx", ".xlsm")
    return XlsxTable(path, str(path)) if workbook else CsvTable(path, str(path))


@contextmanager
def import_places(files: Path) -> Iterator[tuple[Places, KeepingOld]]:
    """Where an import is written, and what keeps the files that were there."""
    keeping = KeepingOld()
    spool = TextSpool(files)
    pages, links = (
        partial(write_rows, files / name, write_whole=keeping)
        for name in ("urls_rawdata.csv", "existing_links.csv")
    )
    try:
        yield Places(spool.keep, pages, links, RejectedCsv(files / "rejected_rows.csv")), keeping
    finally:
        spool.close()
