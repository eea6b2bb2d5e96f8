"""Calls to one Google spreadsheet, with our own errors: what all its tabs share."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import quote

from gspread.utils import absolute_range_name, rowcol_to_a1

from internal_linker.sources.google_sheets.client import SERVICE, SheetRefusals, SheetsClient
from internal_linker.sources.http.google import key_fields
from internal_linker.sources.http.limits import Circuit

Cells = Mapping[tuple[int, int], str | float]
"""Texts and numbers by row and column, both from 1."""

# Google advises against requests above 2 MB; the rest is for the JSON around the data.
MAX_BYTES = 1_500_000
# Google locates and checks each range separately, so thousands of tiny ones would time out.
MAX_RANGES = 500
# Skipping up to this many cells with null costs fewer bytes than the JSON of one more range.
MAX_GAP = 8


def chunks(cells: Cells) -> Iterator[Cells]:
    """Split the cells, in their order, into parts that fit one request each; rows stay whole."""
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
    """Return blocks to write as (top row, left column, rows of texts); None leaves a cell unchanged."""
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
    runs: list[tuple[int, int]] = []
    for number in numbers:
        if runs and number - runs[-1][1] <= gap:
            runs[-1] = runs[-1][0], number
        else:
            runs.append((number, number))
    return runs


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RichText:
    """The text of a cell; "" for a number or formula."""

    text: str = ""
    # Google's `textFormatRuns`: formats of parts of the text, from `startIndex` (UTF-16 units) on.
    runs: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True, slots=True)
class Tab:
    """A tab that has cells; `facts` is its whole metadata."""

    title: str
    number: int
    columns: int
    facts: Mapping[str, Any]


class Spreadsheet:
    """One spreadsheet; contacts Google only when it is used. No message contains the key.

    `ours` and `tab_remedy` are as in `SheetRefusals`.

    Raises:
        ConfigurationError: `service_account` is not a usable key.
    """

    def __init__(self, service_account: str, sheet_id: str, api_url: str, ours: str, tab_remedy: str) -> None:
        info = key_fields(service_account)
        self.account = str(info["client_email"])
        project = str(info.get("project_id", ""))
        self._refusals = SheetRefusals(self.account, project, sheet_id, ours, tab_remedy)
        self._http, self._circuit = (
            SheetsClient(service_account, api_url, self._refusals.to_error),
            Circuit(SERVICE),
        )
        self._id = quote(sheet_id, safe="")

    def metadata(self) -> Mapping[str, Any]:
        """Return Google's metadata of the spreadsheet and its tabs, without cells."""
        return self._ask(lambda: self._http.fetch_sheet_metadata(self._id), _with_tabs)

    def values(self, tab: Tab, cells: str | None = None, **options: str) -> list[list[Any]]:
        """Return the ragged rows of the tab, or of a range in it; `options` have Google's names."""
        name = absolute_range_name(tab.title, cells)
        return self._ask(lambda: self._http.values_get(self._id, name, params={**options}), _rows)

    def rich_texts(self, tab: Tab, columns: Sequence[int]) -> list[list[RichText]]:
        """Return the texts of some columns (from 0) with their formats within the cell, row by row."""
        names = [_column_letters(column) for column in columns]
        ranges = [absolute_range_name(tab.title, f"{name}:{name}") for name in names]
        fields = "sheets(data(startColumn,rowData(values(userEnteredValue(stringValue),textFormatRuns))))"
        asked: dict[str, Any] = {"ranges": ranges, "fields": fields}
        return self._ask(
            lambda: self._http.fetch_sheet_metadata(self._id, asked),
            lambda reply: _rich_rows(reply, columns),
        )

    def write(self, tab: Tab | None, cells: Cells) -> None:
        """Write cells verbatim, all or none."""
        # RAW: a text that begins with "=" must not become a formula.
        body = {"valueInputOption": "RAW", "data": _blocks(tab, cells) if tab else []}
        self._ask(lambda: self._http.values_batch_update(self._id, body), dict)

    def change(self, requests: Sequence[Mapping[str, Any]]) -> None:
        """Carry out requests of `spreadsheets.batchUpdate`, all or none."""
        self._ask(lambda: self._http.batch_update(self._id, {"requests": list(requests)}), dict)

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def _ask(self, call: Callable[[], Any], reader: Callable[[Any], T]) -> T:
        """Make one call and read its answer; raise InputError or ServiceError, with the remedy, if it failed."""
        with self._circuit.closed():
            reply = call()
            try:
                return reader(reply)
            except (LookupError, TypeError, AttributeError):
                raise self._http.unreadable("it has another form", retryable=True) from None


def _with_tabs(reply: Mapping[str, Any]) -> Mapping[str, Any]:
    tabs_of(reply)
    return reply


def _rows(reply: Mapping[str, Any]) -> list[list[Any]]:
    return [list(row) for row in reply.get("values", [])]


def _rich_rows(reply: Mapping[str, Any], columns: Sequence[int]) -> list[list[RichText]]:
    # Google returns the ranges in their order or by column.
    found = {data.get("startColumn", 0): data.get("rowData", []) for data in reply["sheets"][0]["data"]}
    height = max(map(len, found.values()), default=0)
    return [[_rich(found.get(column, []), row) for column in columns] for row in range(height)]


def _rich(rows: Sequence[Mapping[str, Any]], row: int) -> RichText:
    cell = (rows[row].get("values") or [{}])[0] if row < len(rows) else {}
    return RichText(cell.get("userEnteredValue", {}).get("stringValue", ""), cell.get("textFormatRuns", ()))


def _column_letters(column: int) -> str:
    return rowcol_to_a1(1, column + 1).rstrip("0123456789")


def tabs_of(metadata: Mapping[str, Any]) -> list[Tab]:
    """Return the tabs that have cells, in their order."""
    found = [(sheet["properties"], sheet) for sheet in metadata["sheets"]]
    return [
        Tab(item["title"], item["sheetId"], item["gridProperties"]["columnCount"], facts)
        for item, facts in found
        if "gridProperties" in item
    ]


def new_header(tab: Tab, names: Sequence[str]) -> list[dict[str, Any]]:
    """Return requests that insert a first row with these names; send them together, so that they overwrite nothing."""
    span = {"sheetId": tab.number, "dimension": "ROWS", "startIndex": 0, "endIndex": 1}
    cells = [{"userEnteredValue": {"stringValue": name}} if name else {} for name in names]
    start = {"sheetId": tab.number, "rowIndex": 0, "columnIndex": 0}
    header = {"start": start, "rows": [{"values": cells}], "fields": "userEnteredValue"}
    return [{"insertDimension": {"range": span, "inheritFromBefore": False}}, {"updateCells": header}]


def new_columns(tab: Tab, after: int, names: Sequence[str], *, top: int = 0) -> list[dict[str, Any]]:
    """Return requests that insert columns with these names; send them together, so that they overwrite nothing.

    `after` is the count of columns to the left of the new ones, `top` that of the rows above the header.
    """
    span = {"sheetId": tab.number, "dimension": "COLUMNS", "startIndex": after}
    span["endIndex"] = after + len(names)
    # At the grid's edge there is no column on the right to inherit the format from.
    insert = {"range": span, "inheritFromBefore": after >= tab.columns}
    cells = [{"userEnteredValue": {"stringValue": name}} for name in names]
    start = {"sheetId": tab.number, "rowIndex": top, "columnIndex": after}
    header = {"start": start, "rows": [{"values": cells}], "fields": "userEnteredValue"}
    return [{"insertDimension": insert}, {"updateCells": header}]


def _blocks(tab: Tab, cells: Cells) -> list[dict[str, Any]]:
    blocks = []
    for top, left, texts in ranges(cells):
        bottom, right = top + len(texts) - 1, left + len(texts[0]) - 1
        corners = f"{rowcol_to_a1(top, left)}:{rowcol_to_a1(bottom, right)}"
        blocks.append({"range": absolute_range_name(tab.title, corners), "values": texts})
    return blocks
