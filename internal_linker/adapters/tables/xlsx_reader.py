"""Reading .xlsx workbooks, except damaged ones and those that would fill the memory."""

import functools
import re
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO

from python_calamine import CalamineError, CalamineSheet, CalamineWorkbook, SheetTypeEnum

from internal_linker.adapters.tables.columns import Kind, find_column, names_columns
from internal_linker.core.errors import InputError
from internal_linker.core.records import TableStream

# The address of a cell with content.
_CELL = re.compile(rb'<c r="([A-Z]{1,3})([0-9]+)"[^>]*[^/]>')
# Limits: decompressed bytes of a part, and cells from the first to the last, twenty times a review workbook's.
_MOST_BYTES, _MOST_CELLS = 100_000_000, 5_000_000


class TooLarge(ValueError):
    """The workbook would fill the memory."""


def worksheets(path: Path) -> Iterator[CalamineSheet]:
    """Yield each worksheet, one at a time; iterate within `readable`."""
    with path.open("rb") as file:
        _refuse_bombs(file)
        book = CalamineWorkbook.from_filelike(file)
        for each in book.sheets_metadata:
            if each.typ == SheetTypeEnum.WorkSheet:
                yield book.get_sheet_by_name(each.name)


@contextmanager
def readable(path: Path, remedy: str) -> Iterator[None]:
    """Translate the libraries' errors on reading a file into one sentence.

    Args:
        path: the file.
        remedy: a second sentence, on what to do.

    Raises:
        InputError: the block failed to read the file, or it is a pipe, which might never end.
    """
    if path.exists() and not path.is_file() and not path.is_dir():
        raise InputError(f"{path} is a pipe or a device, not a file. {remedy}")
    try:
        yield
    except TooLarge as error:
        raise InputError(f"{path} can't be read: {error}. {remedy}") from None
    except (
        CalamineError,
        zipfile.BadZipFile,
        zlib.error,
        OSError,
        EOFError,
        ValueError,
        NotImplementedError,
    ) as error:
        why = (error.strerror if isinstance(error, OSError) else "") or "it is damaged or not an Excel file"
        raise InputError(f"{path} can't be read: {why}. {remedy}") from None


def _refuse_bombs(file: BinaryIO) -> None:
    """Refuse a workbook whose decompressed parts, or whose empty cells before a distant one, would fill the memory.

    Raises:
        TooLarge: the workbook exceeds a limit.
    """
    with zipfile.ZipFile(file) as parts:
        for part in parts.infolist():
            if part.file_size > _MOST_BYTES:
                raise TooLarge(f"its part {part.filename} decompresses to more than {_MOST_BYTES:,} bytes")
            if part.filename.startswith("xl/worksheets/"):
                cells = _CELL.findall(parts.read(part))
                columns = max((_column(letters) for letters, _ in cells), default=0)
                if columns * max((int(row[:9]) for _, row in cells), default=0) > _MOST_CELLS:
                    raise TooLarge(f"its part {part.filename} has more than {_MOST_CELLS:,} cells")
    file.seek(0)


def _column(letters: bytes) -> int:
    """Return a column's number from its letters: 1 for A, 28 for AB."""
    return int(functools.reduce(lambda number, letter: 26 * number + letter - 64, letters, 0))


_REMEDY = 'Export it again as CSV, or open it in a spreadsheet program and save it as "CSV UTF-8".'

Record = tuple[int, Sequence[str]]


class XlsxTable:
    """A StreamSource whose row numbers are those that Excel shows.

    Args:
        path: the file.
        name: the table's name in the list of rejected rows.
        sheet: the name of the sheet to read, in any case; "": the first one with pages or links, else the first.
    """

    def __init__(self, path: Path, name: str, sheet: str = "") -> None:
        self.path, self.name, self._sheet = path, name, sheet
        self.remarks: tuple[str, ...] = ()
        """Sentences on sheets that are not read; available once the stream is open."""

    def stream(self) -> TableStream:
        """Open a sheet and return its header and its rows, without a title line above the header.

        Raises:
            InputError: the file is missing, damaged, too large, empty or not a workbook, or has no such sheet.
        """
        if not self.path.is_file():
            raise InputError(f"{self.path} not found: check the path.")
        with readable(self.path, _REMEDY):
            sheet, names = self._chosen()
        if not names:
            raise InputError(f"{self.path} is empty: add a header row and at least one row below it.")
        if sheet is None:
            raise InputError(
                f"{self.path} has no sheet {self._sheet} with cells (it has: {', '.join(names)})."
            )
        if not self._sheet and len(names) > 1:
            others = ", ".join(name for name in names if name != sheet.name)
            self.remarks = (
                f"{self.path}: only the sheet {sheet.name} is read, not {others}. To read another one, use "
                "import --sheet.",
            )
        records = _table_of(sheet)
        _, header = next(records)
        return TableStream(self.name, tuple(cell.strip() for cell in header), records)

    def _chosen(self) -> tuple[CalamineSheet | None, list[str]]:
        """Return the sheet to read, None if there is none of its name, and the names of all sheets with cells."""
        chosen, names, fits = None, list[str](), False
        for sheet in worksheets(self.path):
            header = next(_table_of(sheet), None) if sheet.start is not None else None
            if header is None:
                continue
            names.append(sheet.name)
            if self._sheet:
                if sheet.name.strip().casefold() == self._sheet.strip().casefold():
                    chosen = sheet
            elif chosen is None or not fits:
                now = _has_pages_or_links(header[1])
                chosen, fits = (sheet, now) if chosen is None or now else (chosen, fits)
        return chosen, names


def _table_of(sheet: CalamineSheet) -> Iterator[Record]:
    """Yield the header and the rows of a sheet, without a title line such as the "All Inlinks" of older exports."""
    records = _records(sheet)
    head = list(islice(records, 2))
    if len(head) == 2 and _is_title(head[0][1]) and names_columns(head[1][1]):
        del head[0]
    return chain(head, records)


def _has_pages_or_links(header: Sequence[str]) -> bool:
    return find_column(header, Kind.URL) is not None or (
        find_column(header, Kind.SOURCE) is not None and find_column(header, Kind.DESTINATION) is not None
    )


def _is_title(cells: Sequence[str]) -> bool:
    return sum(map(bool, cells)) == 1 and not names_columns(cells)


def _records(sheet: CalamineSheet) -> Iterator[Record]:
    """Yield each row that has content, with its number."""
    assert sheet.start is not None, "an empty sheet has no rows"
    for number, cells in enumerate(sheet.iter_rows(), sheet.start[0] + 1):
        texts = tuple(map(_text, cells))
        if any(text and not text.isspace() for text in texts):
            yield number, texts


def _text(cell: Any) -> str:
    """Return a cell's text as Excel shows it: 200 for 200.0, TRUE for True."""
    if isinstance(cell, bool):
        return str(cell).upper()
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)
