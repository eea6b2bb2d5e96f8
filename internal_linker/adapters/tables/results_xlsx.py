"""Tables of results -> a workbook with a sheet each, replaced whole."""

from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

from internal_linker.adapters.files.atomic import ReplaceBinary, remarks_on, replace_binary
from internal_linker.adapters.tables.xlsx_writer import MOST_ROWS, Sheet, add_sheets, open_book


class ResultsXlsx:
    """A workbook of results.

    Args:
        path: the file.
        write_whole: replaces a file.
    """

    def __init__(self, path: Path, write_whole: ReplaceBinary = replace_binary) -> None:
        self.path, self._write_whole = path, write_whole

    def write(self, sheets: Sequence[Sheet]) -> list[str]:
        """Replace the last one; the answer says in sentences what was unusual.

        Raises:
            OutputError: it can't be written; the earlier file is as it was.
        """

        def body(file: BinaryIO) -> None:
            book = open_book(file)
            add_sheets(book, sheets)
            book.close()

        landed = self._write_whole(self.path, body)
        remarks = [
            f"{self.path.name} has the first {MOST_ROWS:,} of {len(sheet.rows):,} rows of {sheet.name}: "
            "a sheet can't have more."
            for sheet in sheets
            if len(sheet.rows) > MOST_ROWS
        ]
        return remarks + remarks_on(self.path, landed)
