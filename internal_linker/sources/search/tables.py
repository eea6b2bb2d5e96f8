"""The tables in exported files of search data: csv files, zip archives, workbooks and Google Analytics' csv files."""

import re
import shutil
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from tempfile import mkdtemp

from internal_linker.model.errors import InputError
from internal_linker.model.records import TableStream
from internal_linker.sources.search.vocabulary import days_of, is_filter_table, is_search_table
from internal_linker.sources.tables.csv_reader import (
    CsvBody,
    CsvRecords,
    RowBlock,
    csv_blocks,
    stream_blocks,
)
from internal_linker.sources.tables.xlsx_reader import XlsxTable

_WORKBOOKS = (".xlsx", ".xlsm")
# Bytes of a table in a zip archive: some ten million rows.
_MOST_BYTES = 2_000_000_000
# Search Console's archives have six tables.
_MOST_MEMBERS = 100
_EIGHT_DIGITS = re.compile(r"\b(\d{8})\b")
_ZIP_REMEDY = "Export it again."

Period = tuple[date, date]


@dataclass(frozen=True, slots=True)
class ExportTable:
    """A table of an exported file."""

    stream: TableStream  # its header and rows
    export: str  # what it was exported with: the archive or workbook, or the folder of a csv file
    period: Period | None = None  # the first and the last day that the file itself names; None: it names none
    # Where the rows of a csv file with no other table begin, none of which has been read
    body: CsvBody | None = None

    def blocks(self) -> Iterator[RowBlock]:
        """Yield the rows by columns.

        Raises:
            InputError: the file is damaged.
        """
        # pandas' fast parser takes separators of one byte.
        if self.body and self.body.separator.isascii():
            return csv_blocks(self.stream, self.body)
        return stream_blocks(self.stream)

    def with_rows(self, rows: Iterable[tuple[int, Sequence[str]]]) -> "ExportTable":
        """Return the table with these rows, some of which have been read."""
        return replace(self, stream=replace(self.stream, rows=iter(rows)), body=None)


def is_search_export(path: Path, folder: Path) -> bool:
    """Return whether a file has search data; files that can't be read have none, as far as this can tell."""
    if path.is_dir() or not path.is_file():
        return False
    try:
        return any(is_search_table(table.stream.header) for table in _of_file(path, folder)) or _only_filters(
            path, folder
        )
    except InputError:
        return False


def export_tables(paths: Sequence[Path], folder: Path) -> Iterator[ExportTable]:
    """Yield the tables of files, those with other content as well.

    Archives are unpacked into the folder, which the caller removes.

    Raises:
        InputError: a file is missing or damaged.
    """
    for path in paths:
        yield from _of_file(path, folder)


def _only_filters(path: Path, folder: Path) -> bool:
    tables = list(_of_file(path, folder))
    return bool(tables) and all(is_filter_table(table.stream.header) for table in tables)


def _of_file(path: Path, folder: Path) -> Iterator[ExportTable]:
    if path.suffix.casefold() in _WORKBOOKS:
        for sheet in XlsxTable(path, str(path)).sheets()[1]:
            yield ExportTable(XlsxTable(path, f"{path} ({sheet})", sheet).stream(), str(path))
    elif path.is_file() and zipfile.is_zipfile(path):
        yield from _of_zip(path, folder)
    else:
        yield from _of_csv(CsvRecords(path), str(path.resolve().parent))


def _of_zip(path: Path, folder: Path) -> Iterator[ExportTable]:
    try:
        with zipfile.ZipFile(path) as archive:
            members = [each for each in archive.infolist() if each.filename.casefold().endswith(".csv")]
            if len(members) > _MOST_MEMBERS or any(each.file_size > _MOST_BYTES for each in members):
                raise InputError(f"{path} is too large for an export of search data. {_ZIP_REMEDY}")
            # Two archives can have the same name.
            own = Path(mkdtemp(dir=folder))
            for number, member in enumerate(members):
                unpacked = own / f"{number}.csv"
                with archive.open(member) as source, unpacked.open("wb") as target:
                    shutil.copyfileobj(source, target)
                yield from _of_csv(CsvRecords(unpacked, f"{path}, {member.filename}"), str(path))
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError) as error:
        raise InputError(f"{path} can't be read: {error}. {_ZIP_REMEDY}") from None


def _of_csv(source: CsvRecords, export: str) -> Iterator[ExportTable]:
    records = source.stream()
    _, header = next(records)
    if not header[0].startswith("#"):
        yield ExportTable(TableStream(source.name, tuple(header), records), export, body=source.body)
        return
    yield from _blocks(source, export)


def _blocks(source: CsvRecords, export: str) -> Iterator[ExportTable]:
    """Yield the tables of a csv file of Google Analytics, which lie below comments and are parted by empty lines."""
    days, before, rows = list[date](), 0, list[tuple[int, Sequence[str]]]()
    for number, cells in source.stream():
        is_comment = cells[0].startswith("#")
        if rows and (is_comment or number > before + 1):
            yield _block(source.name, rows, days, export)
            rows = []
        if is_comment:
            found = days_of(_EIGHT_DIGITS.findall(" ".join(cells)))
            if len(days) >= 2 and any(found.values()):
                days = []
            days += filter(None, found.values())
        else:
            rows.append((number, cells))
        before = number
    if rows:
        yield _block(source.name, rows, days, export)


def _block(
    name: str, rows: Sequence[tuple[int, Sequence[str]]], days: Sequence[date], export: str
) -> ExportTable:
    (_, header), *below = rows
    stream = TableStream(name, tuple(cell.strip() for cell in header), iter(below))
    return ExportTable(stream, export, (min(days), max(days)) if len(days) == 2 else None)


def filters_in(table: ExportTable) -> Mapping[str, str]:
    """Return the filters of Search Console's table of filters, by their names as they are written."""
    return {row[0].strip(): row[1].strip() for _, row in table.stream.rows if len(row) > 1}
