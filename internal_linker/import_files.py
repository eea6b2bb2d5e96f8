"""A project's files/, and a crawler's files -> the tables to import, and the places where an import is written."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from internal_linker.importing import Places
from internal_linker.ports import StreamSource
from internal_linker.services.csv_files.lists import RejectedCsv
from internal_linker.services.csv_files.tables import CsvTable
from internal_linker.services.csv_files.writing import write_rows
from internal_linker.services.text_spool import TextSpool
from internal_linker.services.xlsx_tables import XlsxTable
from internal_linker.whole_files import KeepingOld


def crawl_table(path: Path) -> StreamSource:
    """A file as its name says: a workbook or a CSV file; a relative path starts at the current directory."""
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
