"""A path -> the sheets of an .xlsx workbook, unless it is damaged or unpacks without end."""

import functools
import re
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from python_calamine import CalamineError, CalamineSheet, CalamineWorkbook, SheetTypeEnum

from internal_linker.core.errors import InputError

# A cell that holds something, by its address.
_CELL = re.compile(rb'<c r="([A-Z]{1,3})([0-9]+)"[^>]*[^/]>')
# A part's bytes, unpacked; and cells from the first to the last: twenty times what a review workbook has.
_MOST_BYTES, _MOST_CELLS = 100_000_000, 5_000_000


class TooLarge(ValueError):
    """A workbook that would fill the memory."""


def worksheets(path: Path) -> Iterator[CalamineSheet]:
    """Each sheet of cells, one at a time; to be gone through within `readable`."""
    with path.open("rb") as file:
        _refuse_bombs(file)
        book = CalamineWorkbook.from_filelike(file)
        for each in book.sheets_metadata:
            if each.typ == SheetTypeEnum.WorkSheet:
                yield book.get_sheet_by_name(each.name)


@contextmanager
def readable(path: Path, remedy: str) -> Iterator[None]:
    """Say in one sentence that a file can't be read, whatever its libraries call that.

    Args:
        path: the file.
        remedy: a second sentence, on what to do.

    Raises:
        InputError: the block failed to read it.
    """
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
        why = (error.strerror if isinstance(error, OSError) else "") or "it is damaged or no Excel file"
        raise InputError(f"{path} can't be read: {why}. {remedy}") from None


def _refuse_bombs(file: BinaryIO) -> None:
    """Refuse what unpacks without end, or has a cell so far away that all those before it fill the memory.

    Raises:
        TooLarge: it is such a file.
    """
    with zipfile.ZipFile(file) as parts:
        for part in parts.infolist():
            if part.file_size > _MOST_BYTES:
                raise TooLarge(f"its part {part.filename} unpacks to more than {_MOST_BYTES:,} bytes")
            if part.filename.startswith("xl/worksheets/"):
                cells = _CELL.findall(parts.read(part))
                columns = max((_column(letters) for letters, _ in cells), default=0)
                if columns * max((int(row[:9]) for _, row in cells), default=0) > _MOST_CELLS:
                    raise TooLarge(f"its part {part.filename} has more than {_MOST_CELLS:,} cells")
    file.seek(0)


def _column(letters: bytes) -> int:
    """1 for A, 28 for AB."""
    return int(functools.reduce(lambda number, letter: 26 * number + letter - 64, letters, 0))
