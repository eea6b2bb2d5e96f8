"""Tables by columns, many rows at a time: large ones are read several times as fast as row by row."""

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np
from numpy.typing import NDArray

from internal_linker.adapters.files.encodings import unreadable
from internal_linker.adapters.tables.csv_reader import CsvBody
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
        beyond: (n,) bool, whether a row has text in any cell beyond the header's columns.
    """

    numbers: NDArray[np.int64]
    columns: Sequence[Texts]
    beyond: NDArray[np.bool_]


def stream_blocks(table: TableStream) -> Iterator[Block]:
    """Yield the rows of any table."""
    width = len(table.header)
    for rows in batched(table.rows, _ROWS):
        numbers = np.array([number for number, _ in rows], np.int64)
        columns = [
            np.array([row[at] if at < len(row) else "" for _, row in rows], object) for at in range(width + 1)
        ]
        beyond = [len(row) > width and any(map(str.strip, row[width:])) for _, row in rows]
        yield Block(numbers, columns, np.array(beyond, np.bool_))


def csv_blocks(table: TableStream, body: CsvBody) -> Iterator[Block]:
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


def _block(frame: "DataFrame", before: int) -> Block:
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
        Block(numbers, columns, beyond)
        if filled.all()
        else Block(numbers[filled], [column[filled] for column in columns], beyond[filled])
    )


def _with_text(cells: Texts) -> NDArray[np.bool_]:
    return np.array([bool(text) and not text.isspace() for text in cells], np.bool_)
