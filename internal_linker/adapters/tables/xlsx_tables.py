"""An .xlsx workbook -> the table of its first sheet that has one, its cells as text."""

from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any

from python_calamine import CalamineSheet

from internal_linker.adapters.tables.columns import names_columns
from internal_linker.adapters.tables.xlsx_reader import readable, worksheets
from internal_linker.core.errors import InputError
from internal_linker.core.records import TableStream

_REMEDY = 'Export it again as CSV, or open it in a spreadsheet program and save it as "CSV UTF-8".'

Record = tuple[int, Sequence[str]]


class XlsxTable:
    """A StreamSource; rows are numbered as Excel shows them.

    Args:
        path: the file.
        name: what rejects call the table.
    """

    def __init__(self, path: Path, name: str) -> None:
        self.path, self.name = path, name
        self.remarks: tuple[str, ...] = ()
        """Once the stream is open: which sheet is left out, one sentence each."""

    def stream(self) -> TableStream:
        """The header and, while they are gone through, the rows; a title line above the header is no row.

        Raises:
            InputError: the file is missing, damaged, too large, empty or no workbook.
        """
        if not self.path.is_file():
            raise InputError(f"{self.path} is not there. Put the file there, or correct its name.")
        with readable(self.path, _REMEDY):
            sheets = worksheets(self.path)
            sheet = next((sheet for sheet in sheets if sheet.start is not None), None)
            more = [each.name for each in sheets if each.start is not None]
        if sheet is None:
            raise InputError(f"{self.path} is empty. Fill in the table with its header line.")
        if more:
            self.remarks = (f"{self.path}: only the sheet {sheet.name} is read, not {', '.join(more)}.",)
        records = _records(sheet)
        # Older crawl exports begin with a line like "All Inlinks".
        head = list(islice(records, 2))
        if len(head) == 2 and _is_title(head[0][1]) and names_columns(head[1][1]):
            del head[0]
        header = tuple(cell.strip() for cell in head[0][1])
        return TableStream(self.name, header, chain(head[1:], records))


def _is_title(cells: Sequence[str]) -> bool:
    return sum(map(bool, cells)) == 1 and not names_columns(cells)


def _records(sheet: CalamineSheet) -> Iterator[Record]:
    """Each row that is not wholly empty, with its number."""
    assert sheet.start is not None, "an empty sheet has no rows"
    for number, cells in enumerate(sheet.iter_rows(), sheet.start[0] + 1):
        texts = tuple(map(_text, cells))
        if any(text and not text.isspace() for text in texts):
            yield number, texts


def _text(cell: Any) -> str:
    """What a person sees in the cell: 200 for 200.0, TRUE for a truth."""
    if isinstance(cell, bool):
        return str(cell).upper()
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)
