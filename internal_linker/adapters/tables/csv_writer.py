"""Writes CSV files, completely or not at all, in which no cell runs as a formula."""

import csv
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from internal_linker.adapters.files.atomic import ReplaceWhole, remarks_on, replace_whole

# Lookups, which write no workbook, start without its library.
if TYPE_CHECKING:
    from internal_linker.adapters.tables.xlsx_writer import Sheet

Row = Sequence[str | int]

# Characters that spreadsheet programs treat as the start of a formula, also behind what they or an import skip; some
# accept the full-width ones, too.
_FORMULA = re.compile(
    r'[\s\x00-\x20"“”„«»\x7f\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]*[=+\-@\t\r\n\uff0b\uff0d\uff1d\uff20]'
)
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")


def write_rows(
    path: Path,
    header: Sequence[str],
    rows: Iterable[Row],
    write_whole: ReplaceWhole,
    encoding: str = "utf-8-sig",
) -> list[str]:
    """Replace the file; return what was unusual, one sentence each.

    Args:
        path: the file.
        header: its first row.
        rows: the other rows, read one at a time.
        write_whole: replaces the file.
        encoding: Excel needs the byte order mark of "utf-8-sig"; other programs may fail on it.

    Raises:
        OutputError: the file can't be written; the earlier file stays as it was.
    """

    def body(file: TextIO) -> None:
        write_cells(file, chain([header], rows))

    return remarks_on(path, write_whole(path, body, encoding=encoding))


def write_cells(file: TextIO, rows: Iterable[Row]) -> None:
    """Write rows of cells as lines; no cell runs as a formula."""
    # Of a million cells, nearly all need no call.
    csv.writer(file, lineterminator="\r\n").writerows(
        [cell if isinstance(cell, int) or not cell or cell[:1].isalnum() else harmless(cell) for cell in row]
        for row in rows
    )


def defuse(cell: str) -> str:
    """Put `'` before a cell that a spreadsheet program would run as a formula; idempotent."""
    # The first test avoids the search for nearly all cells.
    return cell if cell[:1].isalnum() or not _FORMULA.match(cell) else "'" + cell


def decimal(value: float) -> str:
    """Format a number with four decimal places; "" for NaN."""
    return f"{value:z.4f}" if math.isfinite(value) else ""


def harmless(cell: str) -> str:
    """Put `'` before a cell that a spreadsheet program would run, unless it is a number."""
    return cell if _NUMBER.fullmatch(cell) else defuse(cell)


class ResultCsv:
    """A table of results, with four decimal places per figure.

    Args:
        path: the file.
        write_whole: replaces a file.
    """

    def __init__(self, path: Path, write_whole: ReplaceWhole = replace_whole) -> None:
        self.path, self._write_whole = path, write_whole

    def write(self, sheet: "Sheet") -> list[str]:
        """Replace the file; return what was unusual, one sentence each.

        Raises:
            OutputError: the file can't be written; the earlier file stays as it was.
        """
        header = [column.name for column in sheet.columns]
        return write_rows(self.path, header, _rows(sheet), self._write_whole)


def _rows(sheet: "Sheet") -> Iterator[Row]:
    for cells in sheet.rows:
        yield [decimal(cell) if isinstance(cell, float) else cell for cell in cells]
