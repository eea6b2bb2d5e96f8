"""A1 notation: parse range texts into boxes of row and column numbers, and format boxes as texts."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tests.standins.google_errors import invalid

SHEET = re.compile(r"(?:'((?:[^']|'')*)'|([^'!:]+))(?:!(.*))?", re.DOTALL)
CELL = re.compile(r"\$?([A-Za-z]{0,3})\$?([0-9]*)")
PLAIN_TITLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True)
class Box:
    """A rectangle of cells counted from 0, ends excluded; an end of None is the edge of the grid."""

    top: int = 0
    left: int = 0
    bottom: int | None = None
    right: int | None = None

    @property
    def one_cell(self) -> bool:
        """Whether the text named a single cell, which as a write target means the top left corner."""
        return self.bottom == self.top + 1 and self.right == self.left + 1

    def within(self, rows: int, columns: int) -> Box:
        """Return the box with open ends closed and its far ends clipped to the grid."""
        bottom = rows if self.bottom is None else min(self.bottom, rows)
        right = columns if self.right is None else min(self.right, columns)
        return Box(self.top, self.left, bottom, right)


def split_range(text: str, titles: list[str]) -> tuple[str, Box]:
    """Split `'Sheet'!A1:B2` into a title and a box; a range without a title means the first sheet."""
    found = SHEET.fullmatch(text)
    title = (found[1].replace("''", "'") if found[1] is not None else found[2]) if found else None
    if found and title in titles:
        return str(title), parse_box(found[3], text) if found[3] is not None else Box()
    if "!" not in text and not text.startswith("'") and titles:
        return titles[0], parse_box(text, text)
    raise invalid(f"Unable to parse range: {text}")


def parse_box(cells: str, shown: str) -> Box:
    """Parse `A1:B2`, `A1`, `A:C`, `2:5` or `A2:C`; error messages repeat `shown`."""
    first, colon, last = cells.partition(":")
    start, end = CELL.fullmatch(first), CELL.fullmatch(last if colon else first)
    if not start or not end or not first or (colon and not last):
        raise invalid(f"Unable to parse range: {shown}")
    if not colon and not (start[1] and start[2]):
        raise invalid(f"Unable to parse range: {shown}")
    top, left = int(start[2] or 1) - 1, _number(start[1] or "A") - 1
    bottom, right = ((int(end[2]) if end[2] else None), (_number(end[1]) if end[1] else None))
    if top < 0 or bottom == 0:
        raise invalid(f"Unable to parse range: {shown}")
    rows = sorted((top, bottom - 1)) if bottom is not None else (top, None)
    columns = sorted((left, right - 1)) if right is not None else (left, None)
    return Box(
        rows[0] or 0,
        columns[0] or 0,
        None if rows[1] is None else rows[1] + 1,
        None if columns[1] is None else columns[1] + 1,
    )


def cell_name(row: int, column: int) -> str:
    """Return a cell's name: (0, 0) is A1."""
    return f"{letters(column)}{row + 1}"


def letters(column: int) -> str:
    """Return a column's letters: 0 is A, 25 is Z, 26 is AA."""
    name, number = "", column + 1
    while number:
        number, rest = divmod(number - 1, 26)
        name = chr(ord("A") + rest) + name
    return name


def range_name(title: str, top: int, left: int, bottom: int, right: int) -> str:
    """Return the range as Google does: quotes only where the title needs them, no colon for one cell."""
    shown = title if PLAIN_TITLE.fullmatch(title) else "'" + title.replace("'", "''") + "'"
    first, last = cell_name(top, left), cell_name(bottom - 1, right - 1)
    return f"{shown}!{first}" if first == last else f"{shown}!{first}:{last}"


def _number(name: str) -> int:
    number = 0
    for letter in name.upper():
        number = number * 26 + ord(letter) - ord("A") + 1
    return number
