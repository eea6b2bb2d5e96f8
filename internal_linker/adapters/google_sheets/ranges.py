"""Cells to write -> ranges that fit one request each."""

import json
from collections.abc import Iterator, Mapping, Sequence

Cells = Mapping[tuple[int, int], str | float]
"""Texts and numbers by row and column, both from 1."""

# Google advises against requests above 2 MB; the rest is left for the frame around the data.
MAX_BYTES = 1_500_000
# Each range is located and checked on its own, so that thousands of tiny ones would time out.
MAX_RANGES = 500
# Skipping up to so many cells with null costs fewer bytes than the frame of one more range.
MAX_GAP = 8


def chunks(cells: Cells) -> Iterator[Cells]:
    """Cut the cells, in their order, into parts that fit one request each; a row is never cut."""
    rows = list(dict.fromkeys(row for row, _ in cells))
    by_row: dict[int, dict[tuple[int, int], str | float]] = {row: {} for row in rows}
    for place, text in cells.items():
        by_row[place[0]][place] = text
    while rows:
        take = len(rows)
        while True:
            part = {place: text for row in rows[:take] for place, text in by_row[row].items()}
            blocks = ranges(part)
            size = len(json.dumps([block for _, _, block in blocks]))
            share = min(MAX_BYTES / size, MAX_RANGES / len(blocks))
            if share >= 1 or take == 1:
                break
            take = max(1, min(take - 1, int(take * share)))
        yield part
        rows = rows[take:]


def ranges(cells: Cells) -> list[tuple[int, int, list[list[str | float | None]]]]:
    """Blocks to write as (top row, left column, rows of texts): None where a cell is to be left alone."""
    columns = sorted({column for _, column in cells})
    found = []
    for left, right in _runs(columns, 1):
        rows = sorted({row for row, column in cells if left <= column <= right})
        for top, bottom in _runs(rows, MAX_GAP):
            block = [
                [cells.get((row, column)) for column in range(left, right + 1)]
                for row in range(top, bottom + 1)
            ]
            found.append((top, left, block))
    return found


def _runs(numbers: Sequence[int], gap: int) -> list[tuple[int, int]]:
    """Ascending numbers -> first and last of each run whose neighbours are at most `gap` apart."""
    runs: list[tuple[int, int]] = []
    for number in numbers:
        if runs and number - runs[-1][1] <= gap:
            runs[-1] = runs[-1][0], number
        else:
            runs.append((number, number))
    return runs
