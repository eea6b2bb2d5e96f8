"""The lists that commands write, one CSV file each, and the tables of vectors and of pages' source files."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from internal_linker.model.arrays import Vectors
from internal_linker.model.errors import InputError
from internal_linker.model.results import Column
from internal_linker.model.urls import normal_form
from internal_linker.sources.tables.columns import find_named
from internal_linker.sources.tables.csv_reader import CsvTable
from internal_linker.sources.tables.csv_writer import rows_of, write_rows
from internal_linker.store.files.atomic import ReplaceWhole, replace_whole

# Digits that restore a float16 and a float32 exactly, by bytes per number; a float64 needs 17.
_DIGITS = {2: 5, 4: 9}


class ListCsv:
    """A `ListSink` in a file: one row per item, only the header if there are none."""

    def __init__(
        self, path: Path, columns: Sequence[Column], write_whole: ReplaceWhole = replace_whole
    ) -> None:
        self.path, self.name = path, path.name
        self._columns, self._write_whole = columns, write_whole

    def write(self, items: Iterable[Any]) -> Sequence[str]:
        """Replace the list of the last run, item by item; return what was unusual, one sentence each.

        Raises:
            OutputError: the file can't be written; the earlier file stays as it was.
        """
        header = [column.header for column in self._columns]
        return write_rows(self.path, header, rows_of(self._columns, items), self._write_whole)


def _json_list(vector: Vectors) -> str:
    digits = _DIGITS.get(vector.itemsize, 17)
    return "[" + ", ".join([f"{number:.{digits}g}" for number in vector.tolist()]) + "]"


# vectorized_urls.csv: pairs of a page and its vector (d,), as a JSON list of numbers that restores it exactly.
PAGE_VECTORS = (
    Column("url", "URL", value=lambda pair: pair[0]),
    Column("embedding", "Embedding", value=lambda pair: _json_list(pair[1])),
)

_URL, _FILE, _FOUND = "Page URL", "File", "Found by"


class SourcePagesCsv:
    """The table of pages and their source files."""

    def __init__(self, path: Path, write_whole: ReplaceWhole = replace_whole) -> None:
        self.path, self._write_whole = path, write_whole

    def read(self) -> dict[str, str]:
        """Return the files by page URL; rows without a file are left out, and nothing is read if there is no table.

        Raises:
            InputError: the table can't be read, lacks a column, or has a broken URL or two files for a page; the
                row is named.
        """
        if not self.path.exists():
            return {}
        table = CsvTable(self.path)
        stream = table.stream()
        url, file = (find_named(stream.header, name) for name in (_URL, _FILE))
        if url is None or file is None:
            lacking = _URL if url is None else _FILE
            raise InputError(
                f"{self.path} has no column '{lacking}'. Add it, or delete the file to have it made again."
            )
        found = dict[str, str]()
        for number, cells in stream.rows:
            address, named = (
                cells[column].strip().removeprefix("'") if column < len(cells) else ""
                for column in (url, file)
            )
            if not address or not named:
                continue
            try:
                normal_form(address)
            except ValueError as error:
                raise InputError(f"{self.path}, row {number}: {error}. Correct the page's URL.") from None
            path = named.replace("\\", "/").removeprefix("./")
            if found.setdefault(address, path) != path:
                raise InputError(
                    f"{self.path}, row {number}: {address} has another file in a row above. Keep one."
                )
        return found

    def found_by(self) -> dict[str, str]:
        """Return how the files were found, by page URL; {} if there is no table or no such column."""
        if not self.path.exists():
            return {}
        stream = CsvTable(self.path).stream()
        url, found = (find_named(stream.header, name) for name in (_URL, _FOUND))
        if url is None or found is None:
            return {}
        rows = (cells for _, cells in stream.rows if len(cells) > max(url, found))
        return {cells[url].strip(): cells[found].strip() for cells in rows}

    def write(self, rows: Iterable[tuple[str, str, str]]) -> list[str]:
        """Replace the table; return what was unusual, one sentence each.

        Args:
            rows: pages' URLs, files, "" for none, and how each was found or what it may be.

        Raises:
            OutputError: the file can't be written; the earlier file stays as it was.
        """
        return write_rows(self.path, (_URL, _FILE, _FOUND), rows, self._write_whole)
