"""Cells, rows to append and rows to delete in the tab Review -> parts that fit one request of Google's each."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from internal_linker.adapters.google_sheets.ranges import MAX_BYTES, Cells, chunks
from internal_linker.core.errors import OutputError
from internal_linker.review.merge import LINK_ID, Board, Cell

Line = list[Cell | None]

# What Google's JSON needs around each appended cell, in bytes.
_FRAME = 50
# Runs of rows deleted by one request; each is a request of its own to Google, and shifts all that is below.
MAX_RUNS = 1000


@dataclass(frozen=True, slots=True)
class Work:
    """What a reading shows to be done: the first that is not empty comes next.

    Attributes:
        columns: names of columns to insert right of all that is filled.
        cells: by row and column, both from 1.
        new: rows to append, a cell for each column of the tab.
        removed: runs of rows to delete, first and last from 1, the lowest run first.
    """

    columns: Sequence[str] = ()
    cells: Cells | None = None
    new: Sequence[Line] = ()
    removed: Sequence[tuple[int, int]] = ()

    def __bool__(self) -> bool:
        return bool(self.columns or self.cells or self.new or self.removed)

    @property
    def requests(self) -> int:
        """How many writes it takes, one look before each; new rows need one look only."""
        parts = sum(1 for _ in chunks(self.cells)) if self.cells else 0
        return parts + bool(self.new) + -(-len(self.removed) // MAX_RUNS)


def require_ids(board: Board) -> None:
    """Refuse a board whose rows can't be told apart.

    Raises:
        OutputError: the hidden column is gone, though there are others.
    """
    if LINK_ID in board.missing and (board.columns or board.rows):
        raise OutputError(
            f"The tab Review has no column '{LINK_ID}' in row 1 any more, so its rows can't be told apart. "
            "Bring it back with File > Version history, or delete the tab: the next run makes a new one."
        )


def parts_of(lines: Sequence[Line]) -> Iterator[Sequence[Line]]:
    """Cut rows into parts that fit one request each."""
    part: list[Line] = []
    size = 0
    for line in lines:
        own = sum(_FRAME + len(json.dumps(cell)) for cell in line)
        if part and size + own > MAX_BYTES:
            yield part
            part, size = [], 0
        part.append(line)
        size += own
    if part:
        yield part


def runs_from_below(rows: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Rows from 0 below the header -> runs of rows as the sheet numbers them, the lowest first."""
    last: int | None = None
    first = 0
    for row in sorted((at + 2 for at in rows), reverse=True):
        if last is not None and row == first - 1:
            first = row
            continue
        if last is not None:
            yield first, last
        first = last = row
    if last is not None:
        yield first, last
