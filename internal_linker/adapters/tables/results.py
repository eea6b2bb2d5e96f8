"""A table of results, or the similarities of all pages -> a CSV file, replaced whole."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from internal_linker.adapters.files.atomic import ReplaceWhole, replace_whole
from internal_linker.adapters.tables.csv_writer import Row, decimal, write_rows
from internal_linker.adapters.tables.xlsx_writer import Sheet
from internal_linker.core.arrays import Vectors


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


class MatrixCsv:
    """The similarities of all pages: URLs above and at the left, four decimals a figure.

    Args:
        path: the file.
        write_whole: replaces a file.
    """

    def __init__(self, path: Path, write_whole: ReplaceWhole = replace_whole) -> None:
        self.path, self._write_whole = path, write_whole

    def write(self, urls: Sequence[str], tiles: Iterable[Vectors]) -> list[str]:
        """Replace the last one; the answer says in sentences what was unusual.

        Args:
            urls: n of them.
            tiles: (r, n) each, all rows in their order.

        Raises:
            OutputError: it can't be written; the earlier file is as it was.
        """
        figures = (row for tile in tiles for row in tile.tolist())
        rows = ([url, *map(decimal, row)] for url, row in zip(urls, figures, strict=True))
        return write_rows(self.path, ["", *urls], rows, self._write_whole)


def _rows(sheet: Sheet) -> Iterator[Row]:
    for cells in sheet.rows:
        yield [decimal(cell) if isinstance(cell, float) else cell for cell in cells]
