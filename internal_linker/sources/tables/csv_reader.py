"""CSV files from any program: their records, numbered as a spreadsheet program shows them, and blocks of columns."""

import csv
import io
import re
from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np
from numpy.typing import NDArray

from internal_linker.model.errors import InputError
from internal_linker.model.records import TableStream
from internal_linker.model.sequences import batched
from internal_linker.sources.tables.columns import names_columns
from internal_linker.store.files.encodings import recognise, unreadable

# Characters of a cell: far more than any page's text, and small enough for the C long of Windows.
LONGEST_CELL = 100_000_000
_SEPARATORS = (",", ";", "\t")
# Characters of the first lines from which the shape is detected; a longer header is still read whole.
_HEAD = 1_000_000
# The first line with which a file names its separator for Excel.
_EXCEL_LINE = re.compile(r'"?sep=([^\w\s"]|\t)"?', re.IGNORECASE)
_QUOTED = re.compile(r'"[^"]*(?:"|$)')
_BLANK = " ,;\t\r\n\ufeff"
# No text contains it once NULs are removed: two cells of it end the file, and in one cell, they mean that the cell's
# quotes were never closed.
_END = "\0end\0"
_QUOTE_REMEDY = "A quotation mark is not closed or the file is cut off: correct that row or export it again."

Record = tuple[int, Sequence[str]]


@dataclass(frozen=True, slots=True)
class CsvBody:
    """Where the rows of a CSV file begin, and how to read them."""

    path: Path
    encoding: str  # to open it with errors="replace"
    separator: str  # the character between two cells
    lines: int  # how many lines end with the header
    number: int  # the number of the header's record


class CsvRecords:
    """The records of one CSV file, which can be read any number of times and are never all in memory.

    The first is the header, its cells stripped. Numbers count records, not physical lines. Wholly empty records count
    but are left out, as is the title line of older crawl exports; a `sep=;` line doesn't count.

    Args:
        name: its name in messages; "": its path.
        head: how many bytes to detect the encoding from; 0: all.
    """

    def __init__(self, path: Path, name: str = "", head: int = 0) -> None:
        self.path, self.name, self._head = path, name or str(path), head
        self.remarks: tuple[str, ...] = ()
        """Once the first record is read: what was replaced or left out, one sentence each."""
        self.body: CsvBody | None = None
        """Once the first record is read: where the rows begin."""

    def stream(self) -> Generator[Record, None, None]:
        """Read the file, one record at a time.

        Raises:
            InputError: the file is missing, unreadable, empty, damaged or not CSV.
        """
        # A setting of the whole process: never lower somebody else's limit.
        csv.field_size_limit(max(csv.field_size_limit(), LONGEST_CELL))
        text = recognise(self.path, name=self.name, head=self._head)
        self.remarks = text.remarks
        try:
            with self.path.open(encoding=text.encoding, errors="replace", newline="") as file:
                yield from self._parse((line.replace("\0", "") for line in file), text.encoding)
        except OSError as error:
            raise unreadable(self.name, error) from error

    def _parse(self, lines: Iterator[str], encoding: str) -> Iterator[Record]:
        head = list(islice(lines, 20))
        shape = _shape_of([*io.StringIO("".join(head)[:_HEAD], newline="")])
        reader = csv.reader(
            chain(head[shape.sep_line :], lines, [shape.separator.join([_END, _END])]),
            delimiter=shape.separator,
        )
        del head
        records = self._numbered(reader)
        if shape.title_line:
            next(records)
        number, header = next(records, (0, ()))
        if not header:
            raise InputError(f"{self.name} is empty: add a header row and at least one row below it.")
        above = shape.sep_line + reader.line_num
        self.body = CsvBody(self.path, encoding, shape.separator, above, number)
        yield number, tuple(cell.strip(" \t\r\n\ufeff") for cell in header)
        yield from records

    def _numbered(self, reader: Iterator[list[str]]) -> Iterator[tuple[int, Sequence[str]]]:
        number = 0
        try:
            for number, cells in enumerate(reader, 1):
                if cells and cells[-1].endswith(_END):
                    break
                # Of most records, the first cell tells.
                if cells and ((cells[0] and not cells[0].isspace()) or "".join(cells).strip()):
                    yield number, cells
        except csv.Error as error:
            raise InputError(f"{self.name}, row {number + 1}: {error}. {_QUOTE_REMEDY}") from None
        if cells != [_END, _END]:
            raise InputError(f"{self.name}, row {number}: the file ends inside a cell. {_QUOTE_REMEDY}")


@dataclass(frozen=True, slots=True)
class _Shape:
    """The separator, and the lines above the header: Excel's `sep=;` line and a title line."""

    separator: str
    sep_line: bool = False
    title_line: bool = False


def _shape_of(lines: Sequence[str]) -> _Shape:
    if lines and (told := _EXCEL_LINE.fullmatch(lines[0].rstrip("\r\n"))):
        return _Shape(told[1], sep_line=True)
    unquoted = _QUOTED.sub("x", "".join(lines))
    # Two non-empty lines: the header and a row, or a title and the header.
    first, *second = [line for line in unquoted.splitlines() if line.strip(_BLANK)][:2] or [unquoted]
    if second and not any(map(first.count, _SEPARATORS)) and any(map(second[0].count, _SEPARATORS)):
        # Older crawl exports begin with a line like "All Inlinks".
        separator = max(_SEPARATORS, key=second[0].count)
        records = _first_records(lines, separator, 2)
        if len(records) == 2 and names_columns(records[1]) and not names_columns(records[0]):
            return _Shape(separator, title_line=True)
    return _Shape(max(_SEPARATORS, key=lambda each: (first.count(each), _makes_known_name(lines, each))))


def _makes_known_name(lines: Sequence[str], separator: str) -> bool:
    return any(map(names_columns, _first_records(lines, separator, 1)))


def _first_records(lines: Sequence[str], separator: str, count: int) -> list[list[str]]:
    records = (cells for cells in csv.reader(lines, delimiter=separator) if any(map(str.strip, cells)))
    found: list[list[str]] = []
    # Reading the file will name the row of such an error.
    with suppress(csv.Error):
        found.extend(islice(records, count))
    return found


class CsvTable:
    """A CSV file as a StreamSource; rows are numbered as a spreadsheet program shows them. See `CsvRecords`."""

    def __init__(self, path: Path, name: str | None = None, head: int = 0) -> None:
        self.path, self.name, self._head = path, name or path.name, head
        self.remarks: tuple[str, ...] = ()
        """Once the stream is open: what was replaced or left out of the file, one sentence each."""

    def stream(self) -> TableStream:
        """Return the header and an iterator over the rows, which may be shorter or longer than the header.

        Raises:
            InputError: the file is missing, unreadable, empty or not CSV; a damaged row raises it during iteration.
        """
        source = CsvRecords(self.path, self.name, self._head)
        records = source.stream()
        _, header = next(records)
        self.remarks = source.remarks
        return TableStream(self.name, tuple(header), records)


if TYPE_CHECKING:
    from pandas import DataFrame

# Rows of a block: some tens of MB.
_ROWS = 100_000
Texts = NDArray[Any]


@dataclass(frozen=True, slots=True)
class RowBlock:
    """Some rows of a table."""

    numbers: NDArray[np.int64]  # (n,) int64, the numbers of the rows
    # For each column of the header, and for the first cell beyond them, (n,) objects: the texts of the cells;
    # "" for those that a row lacks.
    columns: Sequence[Texts]
    beyond: NDArray[np.bool_]  # (n,) bool, whether a row has text in any cell beyond the header's columns


def stream_blocks(table: TableStream) -> Iterator[RowBlock]:
    """Yield the rows of any table."""
    width = len(table.header)
    for rows in batched(table.rows, _ROWS):
        numbers = np.array([number for number, _ in rows], np.int64)
        columns = [
            np.array([row[at] if at < len(row) else "" for _, row in rows], object) for at in range(width + 1)
        ]
        beyond = [len(row) > width and any(map(str.strip, row[width:])) for _, row in rows]
        yield RowBlock(numbers, columns, np.array(beyond, np.bool_))


def csv_blocks(table: TableStream, body: CsvBody) -> Iterator[RowBlock]:
    """Yield the rows of a csv file of which only the header has been read, as `stream_blocks` does, but faster.

    Raises:
        InputError: the file can't be read, or its last cell is not closed.
    """
    from pandas.errors import ParserError

    number = body.number
    try:
        with body.path.open(encoding=body.encoding, errors="replace", newline="") as file:
            for _ in range(body.lines):
                file.readline()
            for frame in _frames(file, body.separator, len(table.header) + 1):
                yield _block(frame, number)
                number += len(frame)
        return
    except OSError as error:
        raise unreadable(table.name, error) from error
    except ParserError:
        # NULs, several cells beyond the header, or a cell that is not closed, whose row the other reader names.
        pass
    yield from stream_blocks(replace(table, rows=(row for row in table.rows if row[0] > number)))


class _Rows(io.TextIOBase):
    """The rest of a text below other rows; fails at the NULs of broken exports, at which the parser would stop."""

    def __init__(self, above: str, file: TextIO) -> None:
        self._above, self._file = above, file

    def read(self, size: int | None = -1, /) -> str:
        above, self._above = self._above, ""
        text = above or self._file.read(-1 if size is None else size)
        if "\0" in text:
            from pandas.errors import ParserError

            raise ParserError("the text has NULs")
        return text


def _frames(file: TextIO, separator: str, width: int) -> Iterator["DataFrame"]:
    """Yield the rows of a file.

    Raises:
        ParserError: a row has more cells than `width`, or the parser can't read the file.
    """
    import pandas as pd

    # The parser takes whatever count of cells the first row below the header has, and refuses longer ones after it.
    first = separator.join(map(str, range(width))) + "\n" + separator * (width - 1) + "\n"
    with pd.read_csv(
        _Rows(first, file),
        sep=separator,
        index_col=False,
        dtype=object,
        na_filter=False,
        skip_blank_lines=False,
        chunksize=_ROWS,
        low_memory=False,
        engine="c",
    ) as frames:
        for at, frame in enumerate(frames):
            yield frame if at else frame[1:]


def _block(frame: "DataFrame", before: int) -> RowBlock:
    """Return the rows that are not wholly empty; `before` is the number of the row above the first."""
    numbers = np.arange(before + 1, before + 1 + len(frame))
    columns = [frame[at].to_numpy() for at in frame]
    beyond = columns[-1] != ""
    beyond[beyond] = _with_text(columns[-1][beyond])
    filled = _with_text(columns[0])
    for column in columns[1:]:
        empty = np.flatnonzero(~filled)
        filled[empty] = _with_text(column[empty])
    return (
        RowBlock(numbers, columns, beyond)
        if filled.all()
        else RowBlock(numbers[filled], [column[filled] for column in columns], beyond[filled])
    )


def _with_text(cells: Texts) -> NDArray[np.bool_]:
    return np.array([bool(text) and not text.isspace() for text in cells], np.bool_)
