"""The values calls of Sheets v4: reading and writing ranges of a spreadsheet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.standins import google_looks
from tests.standins.a1 import Box, range_name, split_range
from tests.standins.google_errors import invalid
from tests.standins.google_requests import properties
from tests.standins.grid import Cell, Formula, Tab, rendered

Options = Mapping[str, Any]  # query parameters or the body's options, by Google's names
INPUT = ("RAW", "USER_ENTERED")
RENDER = ("FORMATTED_VALUE", "UNFORMATTED_VALUE", "FORMULA")


class Values:
    """The values of one spreadsheet."""

    def __init__(self, key: str, tabs: list[Tab]) -> None:
        self.key = key
        self.tabs = tabs

    def find(self, text: str) -> tuple[Tab, Box]:
        """Return the tab and box of a range text."""
        title, box = split_range(text, [tab.title for tab in self.tabs])
        return next(tab for tab in self.tabs if tab.title == title), box

    def metadata(self, title: str, query: Mapping[str, list[str]]) -> dict[str, Any]:
        """Return the spreadsheet's properties and tabs, with cells and notes if `fields` or includeGridData ask."""
        found = [self.find(text) for text in query.get("ranges", [])] or [(tab, Box()) for tab in self.tabs]
        with_data = "data" in query.get("fields", [""])[0] or query.get("includeGridData") == ["true"]
        sheets: list[dict[str, Any]] = []
        for tab in [tab for tab in self.tabs if any(tab is each for each, _ in found)]:
            ranges = [_grid_data(tab, box) for each, box in found if each is tab]
            data = {"data": ranges} if with_data else {}
            sheets.append({"properties": properties(self.tabs, tab), **google_looks.shown(tab.looks), **data})
        about = {"title": title, "locale": "en_US", "autoRecalc": "ON_CHANGE", "timeZone": "Etc/GMT"}
        address = f"https://docs.google.com/spreadsheets/d/{self.key}/edit"
        return {"spreadsheetId": self.key, "properties": about, "sheets": sheets, "spreadsheetUrl": address}

    def get(self, text: str, options: Options) -> dict[str, Any]:
        """Return a ValueRange, without `values` if the range is empty."""
        tab, box = self.find(text)
        tab.check_start(box)
        return self._read(tab, box.within(tab.rows, tab.columns), options)

    def update(self, text: str, body: Options, options: Options) -> dict[str, Any]:
        tab, box = self.find(text)
        parse, block = _parses(options), _rows(body)
        tab.check_write(box, block)
        return self._put(tab, box, block, parse)

    def batch_update(self, body: Options) -> dict[str, Any]:
        """Write several ranges one after another."""
        data = body.get("data") or []
        responses = [self.update(str(item.get("range")), item, body) for item in data]
        totals = {
            f"total{name}": total
            for name in ("UpdatedRows", "UpdatedColumns", "UpdatedCells")
            if (total := sum(item.get(name[0].lower() + name[1:], 0) for item in responses))
        }
        sheets = len({self.find(text["range"])[0].sheet_id for text in data})
        totals |= {"totalUpdatedSheets": sheets} if sheets else {}
        return {"spreadsheetId": self.key, **totals, "responses": responses}

    def _put(self, tab: Tab, box: Box, block: list[list[Any]], parse: bool) -> dict[str, Any]:
        count = tab.write(box.top, box.left, block, parse=parse)
        width = max(map(len, block), default=0)
        written = Box(box.top, box.left, box.top + max(1, len(block)), box.left + max(1, width))
        sizes = {"updatedRows": len(block), "updatedColumns": width, "updatedCells": count} if count else {}
        return {"spreadsheetId": self.key, "updatedRange": self._name(tab, written), **sizes}

    def _read(self, tab: Tab, box: Box, options: Options) -> dict[str, Any]:
        render = options.get("valueRenderOption") or RENDER[0]
        if render not in RENDER:
            raise invalid(f"Invalid value at 'value_render_option': \"{render}\"")
        lines = tab.values(box, render)
        answer: dict[str, Any] = {"range": self._name(tab, box), "majorDimension": "ROWS"}
        return answer | ({"values": lines} if lines else {})

    def _name(self, tab: Tab, box: Box) -> str:
        return range_name(tab.title, box.top, box.left, box.bottom or tab.rows, box.right or tab.columns)


def _grid_data(tab: Tab, box: Box) -> dict[str, Any]:
    start = {"startColumn": box.left} if box.left else {}
    return {**start, "rowData": _row_data(tab, box)}


def _row_data(tab: Tab, box: Box) -> list[dict[str, Any]]:
    inside = box.within(tab.rows, tab.columns)
    lines = [line[inside.left : inside.right] for line in tab.cells[inside.top : inside.bottom]]
    return [{"values": [_cell_data(cell) for cell in line]} if line else {} for line in lines]


def _cell_data(cell: Cell) -> dict[str, Any]:
    value: dict[str, Any] = {"formattedValue": rendered(cell.value, RENDER[0])} if cell.value != "" else {}
    if isinstance(cell.value, str) and cell.value and not isinstance(cell.value, Formula):
        value["userEnteredValue"] = {"stringValue": cell.value}
    value |= {"textFormatRuns": list(cell.runs)} if cell.runs else {}
    return value | ({"note": cell.note} if cell.note else {})


def _parses(options: Options) -> bool:
    """Return whether written values are parsed as if typed; without a valid option, refuse the write."""
    how = options.get("valueInputOption")
    if how not in INPUT:
        raise invalid(f"'valueInputOption' is required but not specified or invalid: {how}")
    return bool(how == "USER_ENTERED")


def _rows(body: Options) -> list[list[Any]]:
    block = body.get("values") or []
    if not isinstance(block, list) or not all(isinstance(line, list) for line in block):
        raise invalid("Invalid values: a list of lists was expected")
    return block
