"""A tab of a spreadsheet: typed cells with notes in a bounded grid."""

from __future__ import annotations

import re
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tests.standins.a1 import Box, letters, range_name
from tests.standins.google_errors import invalid

MAX_CELL = 50_000  # characters
NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")
HYPERLINK = re.compile(r'=HYPERLINK\(\s*"[^"]*"\s*[,;]\s*"([^"]*)"\s*\)', re.IGNORECASE)


class Formula(str):
    """Text entered as a formula; only HYPERLINK's label can be shown, all else shows as an error."""


Value = str | int | float | bool  # "" is an empty cell


class Cell(NamedTuple):
    """A cell's value and note, and the formats of parts of its text."""

    value: Value = ""
    note: str = ""
    runs: tuple[Any, ...] = ()


EMPTY = Cell()


@dataclass
class Looks:
    """A tab's appearance, as the requests that set it describe it; `hidden` are columns from 0."""

    validations: list[tuple[dict[str, Any], Any]] = field(default_factory=list)
    formats: list[tuple[dict[str, Any], dict[str, Any]]] = field(default_factory=list)
    rules: list[dict[str, Any]] = field(default_factory=list)
    protected: list[dict[str, Any]] = field(default_factory=list)
    metadata: list[dict[str, Any]] = field(default_factory=list)
    filter: dict[str, Any] | None = None
    views: list[dict[str, Any]] = field(default_factory=list)
    hidden: set[int] = field(default_factory=set)

    def copy(self) -> Looks:
        return Looks(**{name: copy(value) for name, value in self.__dict__.items()})


@dataclass
class Tab:
    """A grid of rows x columns; `cells` has one ragged list for every row."""

    sheet_id: int
    title: str
    rows: int = 1000
    columns: int = 26
    frozen_rows: int = 0
    frozen_columns: int = 0
    hidden: bool = False
    cells: list[list[Cell]] = field(default_factory=list)
    looks: Looks = field(default_factory=Looks)

    def __post_init__(self) -> None:
        self.resize(self.rows, self.columns)

    def copy(self) -> Tab:
        given = {**self.__dict__, "cells": [list(row) for row in self.cells], "looks": self.looks.copy()}
        return Tab(**given)

    def resize(self, rows: int, columns: int) -> None:
        """Grow or shrink the grid; cells beyond the edge are lost."""
        self.rows, self.columns = rows, columns
        del self.cells[rows:]
        self.cells += [[] for _ in range(rows - len(self.cells))]
        for row in self.cells:
            del row[columns:]

    def at(self, row: int, column: int) -> Cell:
        """Return the cell at a position, EMPTY if it was never written."""
        line = self.cells[row]
        return line[column] if column < len(line) else EMPTY

    def put(self, row: int, column: int, cell: Cell) -> None:
        line = self.cells[row]
        line += [EMPTY] * (column + 1 - len(line))
        line[column] = cell

    def values(self, box: Box, render: str = "FORMATTED_VALUE") -> list[list[Any]]:
        """Return the values in the box, without trailing empty cells and rows."""
        inside = box.within(self.rows, self.columns)
        lines: list[list[Any]] = []
        for line in self.cells[inside.top : inside.bottom]:
            shown = [rendered(cell.value, render) for cell in line[inside.left : inside.right]]
            lines.append(_trimmed(shown, ""))
        return _trimmed(lines, [])

    def check_start(self, box: Box) -> None:
        """Refuse a range that begins outside the grid, in Google's words."""
        if box.top >= self.rows or box.left >= self.columns:
            bottom = box.bottom if box.bottom is not None else box.top + 1
            right = box.right if box.right is not None else box.left + 1
            raise self.outside(box.top, box.left, bottom, right)

    def check_write(self, box: Box, block: Sequence[Sequence[Any]]) -> None:
        """Refuse a block that doesn't fit into the range or the grid, or a cell that is too long."""
        self.check_start(box)
        height, width = len(block), max(map(len, block), default=0)
        bottom, right = box.top + height, box.left + width
        if not box.one_cell:
            self._check_within(box, bottom, right)
        if block and (bottom > self.rows or right > self.columns):
            raise self.outside(box.top, box.left, bottom, max(right, box.left + 1))
        for value in (value for line in block for value in line):
            if not isinstance(value, str | int | float | None):
                raise invalid(f"Invalid values: {type(value).__name__} is no value of a cell")
            if isinstance(value, str) and len(value) > MAX_CELL:
                message = (
                    f"Your input contains more than the maximum of {MAX_CELL} characters in a single cell."
                )
                raise invalid(message)

    def _check_within(self, box: Box, bottom: int, right: int) -> None:
        inside = box.within(self.rows, self.columns)
        asked = range_name(self.title, box.top, box.left, inside.bottom or 1, inside.right or 1)
        if box.bottom is not None and bottom > box.bottom:
            raise invalid(
                f"Requested writing within range [{asked}], but tried writing to row [{box.bottom + 1}]"
            )
        if box.right is not None and right > box.right:
            beyond = letters(box.right)
            raise invalid(f"Requested writing within range [{asked}], but tried writing to column [{beyond}]")

    def outside(self, top: int, left: int, bottom: int, right: int) -> Exception:
        """Return the error for a range beyond the grid."""
        name = range_name(self.title, top, left, bottom, right)
        limits = f"Max rows: {self.rows}, max columns: {self.columns}"
        return invalid(f"Range ({name}) exceeds grid limits. {limits}")

    def write(self, top: int, left: int, block: Sequence[Sequence[Any]], *, parse: bool = False) -> int:
        """Write a checked block and return the number of cells; None leaves a cell alone, notes stay."""
        count = 0
        for row, line in enumerate(block, start=top):
            for column, value in enumerate(line, start=left):
                if value is not None:
                    self.put(row, column, Cell(entered(value) if parse else value, self.at(row, column).note))
                    count += 1
        return count


def entered(value: Value) -> Value:
    """Return what Sheets makes of typed text: numbers, booleans, formulas, or plain text after an apostrophe."""
    if not isinstance(value, str):
        return value
    if value.startswith("'"):
        return value[1:]
    if value.startswith("=") and len(value) > 1:
        return Formula(value)
    if value.upper() in ("TRUE", "FALSE"):
        return value.upper() == "TRUE"
    if NUMBER.fullmatch(value):
        return float(value) if "." in value else int(value)
    return value


def rendered(value: Value, render: str) -> Value:
    """Return a value as the API does: FORMATTED_VALUE, UNFORMATTED_VALUE or FORMULA."""
    if isinstance(value, Formula):
        label = HYPERLINK.fullmatch(value)
        return str(value) if render == "FORMULA" else label[1] if label else "#ERROR!"
    if render != "FORMATTED_VALUE" or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).upper()
    return str(value) if isinstance(value, int) else f"{value:.10g}"


def _trimmed(items: list[Any], blank: Any) -> list[Any]:
    while items and items[-1] == blank:
        items.pop()
    return items
