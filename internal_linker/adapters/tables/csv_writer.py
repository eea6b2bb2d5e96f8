"""A header and rows -> a CSV file, whole or not at all, in which no cell runs as a formula."""

import csv
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TextIO

from internal_linker.adapters.files.atomic import ReplaceWhole, remarks_on, replace_whole
from internal_linker.adapters.tables.xlsx_writer import Sheet

Row = Sequence[str | int]

# Signs that spreadsheet programs take for a formula's first, also behind what they or an import skip;
# some take the full-width ones too.
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
    """Replace the file; the answer says in sentences what was unusual.

    Args:
        path: the file.
        header: its first row.
        rows: taken one at a time.
        write_whole: puts the file in its place.
        encoding: Excel needs the byte order mark of "utf-8-sig"; other programs may stumble over it.

    Raises:
        OutputError: it can't be written; the earlier file is as it was.
    """

    def body(file: TextIO) -> None:
        writer = csv.writer(file, lineterminator="\r\n")
        writer.writerow(header)
        writer.writerows(map(_harmless, row) for row in rows)

    return remarks_on(path, write_whole(path, body, encoding=encoding))


def defuse(cell: str) -> str:
    """Put `'` before a cell that a spreadsheet program would run as a formula; twice does as much as once."""
    # The first test spares the search for nearly all cells.
    return cell if cell[:1].isalnum() or not _FORMULA.match(cell) else "'" + cell


def decimal(value: float) -> str:
    """Four decimals, or "" where there is no number."""
    return f"{value:z.4f}" if math.isfinite(value) else ""


def _harmless(cell: str | int) -> str | int:
    """A number is no formula, and `'` would make a text of it."""
    if isinstance(cell, int):
        return cell
    harmless = defuse(cell)
    return cell if harmless is cell or _NUMBER.fullmatch(cell) else harmless


class ResultCsv:
    """A table of results; four decimals a figure.

    Args:
        path: the file.
        write_whole: replaces a file.
    """

    def __init__(self, path: Path, write_whole: ReplaceWhole = replace_whole) -> None:
        self.path, self._write_whole = path, write_whole

    def write(self, sheet: Sheet) -> list[str]:
        """Replace the last one; the answer says in sentences what was unusual.

        Raises:
            OutputError: it can't be written; the earlier file is as it was.
        """
        header = [column.name for column in sheet.columns]
        return write_rows(self.path, header, _rows(sheet), self._write_whole)


def _rows(sheet: Sheet) -> Iterator[Row]:
    for cells in sheet.rows:
        yield [decimal(cell) if isinstance(cell, float) else cell for cell in cells]
