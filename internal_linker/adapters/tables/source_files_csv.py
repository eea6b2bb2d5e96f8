"""source_files.csv: which source file is which page, as it was found, or as a person corrected it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from internal_linker.adapters.files.atomic import ReplaceWhole, replace_whole
from internal_linker.adapters.tables.columns import fold_header
from internal_linker.adapters.tables.csv_reader import CsvRecords
from internal_linker.adapters.tables.csv_writer import defuse, write_rows
from internal_linker.core.errors import InputError

HEADER = ("URL", "File", "Found by")
# What a person writes as the file of a page that has none.
NO_FILE = "none"


@dataclass(frozen=True, slots=True)
class SourceFileRow:
    """A page and its file.

    Attributes:
        url: the page's URL.
        file: the path of its file, "" if it is not known, `NO_FILE` if a person says that there is none.
        how: how it was found, or why it was not.
    """

    url: str
    file: str
    how: str


class SourceFilesCsv:
    """The file of one project.

    Args:
        path: its path; it need not exist.
        write_whole: replaces a file.
    """

    def __init__(self, path: Path, write_whole: ReplaceWhole = replace_whole) -> None:
        self.path, self.name, self._write_whole = path, path.name, write_whole

    def read(self) -> list[SourceFileRow]:
        """Read all rows; return [] if the file does not exist.

        Raises:
            InputError: it can't be read, or lacks a column.
        """
        if not self.path.exists():
            return []
        name = f"files/{self.name}"
        rows = CsvRecords(self.path, name).stream()
        names = [fold_header(cell) for cell in next(rows)[1]]
        if missing := [column for column in HEADER if fold_header(column) not in names]:
            raise InputError(
                f"{name} has no column {missing[0]}: add it, or delete the file to have it made again."
            )
        at = [names.index(fold_header(column)) for column in HEADER]
        found = ([cells[one].strip() if one < len(cells) else "" for one in at] for _, cells in rows)
        return [SourceFileRow(*map(_undone, cells)) for cells in found if cells[0]]

    def write(self, rows: Iterable[SourceFileRow]) -> Sequence[str]:
        """Replace the file; return what was unusual, one sentence each.

        Raises:
            OutputError: it can't be written; the earlier file stays as it was.
        """
        return write_rows(
            self.path, HEADER, ((row.url, row.file, row.how) for row in rows), self._write_whole
        )


def _undone(cell: str) -> str:
    """Return a cell without the mark that keeps spreadsheet programs from running it."""
    return cell[1:] if cell[:1] == "'" and defuse(cell[1:]) == cell else cell
