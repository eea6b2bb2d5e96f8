"""Tables by columns, many rows at a time: large ones are read several times as fast as row by row."""

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np
from numpy.typing import NDArray

from internal_linker.adapters.files.encodings import unreadable
from internal_linker.adapters.tables.csv_reader import CsvBody
from internal_linker.core.errors import InputError
from internal_linker.core.records import TableStream
from internal_linker.core.sequences import batched

if TYPE_CHECKING:
    from pandas import DataFrame

# Rows of a block: some tens of MB.
_ROWS = 100_000
Texts = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Block:
    """Some rows of a table.

    Attributes:
        numbers: (n,) int64, the numbers of the rows.
        columns: for each column of the header, and for the first cell beyond them, (n,) objects: the texts of the
            cells; "" for those that a row lacks.
    """

    numbers: NDArray[np.int64]
    columns: Sequence[Texts]


def stream_blocks(table: TableStream) -> Iterator[Block]:
    """Yield the rows of any table."""
    for rows in batched(table.rows, _ROWS):
        numbers = np.array([number for number, _ in rows], np.int64)
        columns = [
            np.array([row[at] if at < len(row) else "" for _, row in rows], object)
            for at in range(len(table.header) + 1)
        ]
        yield Block(numbers, columns)


def csv_blocks(table: TableStream, body: CsvBody) -> Iterator[Block]:
    """Yield the rows of a csv file of which only the header has been read.

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
    except OSError as error:
        raise unreadable(table.name, error) from error
    except ParserError as error:
        # The other reader names the row.
        for _ in table.rows:
            pass
        raise InputError(f"{table.name} can't be read: {error}. Export it again.") from None


class _Rows(io.TextIOBase):
    """The rest of a text below another header, without the NULs of broken exports, at which the parser would stop."""

    def __init__(self, header: str, file: TextIO) -> None:
        self._header, self._file = header, file

    def read(self, size: int | None = -1, /) -> str:
        header, self._header = self._header, ""
        return header or self._file.read(-1 if size is None else size).replace("\0", "")


def _frames(file: TextIO, separator: str, width: int) -> Iterator["DataFrame"]:
    import pandas as pd

    header = separator.join(map(str, range(width))) + "\n"
    with pd.read_csv(
        _Rows(header, file),
        sep=separator,
        # Any function lets rows be longer or shorter than the header.
        usecols=lambda name: True,
        index_col=False,
        dtype=object,
        na_filter=False,
        skip_blank_lines=False,
        chunksize=_ROWS,
        low_memory=False,
        engine="c",
    ) as frames:
        yield from frames


def _block(frame: "DataFrame", before: int) -> Block:
    """Return the rows that are not wholly empty; `before` is the number of the row above the first."""
    numbers = np.arange(before + 1, before + 1 + len(frame))
    columns = [frame[at].to_numpy() for at in frame]
    filled = np.array([bool(text) and not text.isspace() for text in columns[0]], np.bool_)
    for column in columns[1:]:
        empty = np.flatnonzero(~filled)
        filled[empty] = [bool(text) and not text.isspace() for text in column[empty]]
    return (
        Block(numbers, columns)
        if filled.all()
        else Block(numbers[filled], [column[filled] for column in columns])
    )
