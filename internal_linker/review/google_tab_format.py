"""Requests to the Sheets API that create the tab Review, format it, and append rows."""

from collections.abc import Mapping, Sequence
from typing import Any

from internal_linker.adapters.tables.columns import Cell
from internal_linker.review.merge import (
    AMBER,
    ANCHOR,
    COLUMNS,
    EDITORS,
    EXPLAINED,
    GREEN,
    HIDDEN,
    NOTES,
    SCORE,
    STATUS,
    STATUSES,
)

Request = dict[str, Any]

# This metadata identifies our tab, whatever its title; its value is the tab's number, which a copy doesn't share.
METADATA_KEY = "internal-linker-review"
# Pixels; the columns of a new tab are about two screens wide.
_WIDTHS = (110, 220, 420, 260, 260, 70, 80, 260, 220, 140, 140, 110, 110)
# Rows of a new tab; the grid grows with the links.
_ROWS = 1000
# Status and Anchor stay visible when an editor scrolls to the right.
_FROZEN = 2
# Light enough for black text.
_GREEN, _AMBER, _GREY = (0.78, 0.91, 0.79), (1.0, 0.91, 0.64), (0.88, 0.88, 0.88)


def new_tab(number: int, title: str) -> list[Request]:
    """Return the requests that create the whole tab, without links; send them together."""
    grid = {"rowCount": _ROWS, "columnCount": len(COLUMNS), "frozenRowCount": 1, "frozenColumnCount": _FROZEN}
    sheet = {"sheetId": number, "title": title, "gridProperties": grid}
    metadata = {"metadataKey": METADATA_KEY, "metadataValue": str(number), "visibility": "DOCUMENT"}
    places = {name: place for place, name in enumerate(COLUMNS)}
    return [
        {"addSheet": {"properties": sheet}},
        {"createDeveloperMetadata": {"developerMetadata": {**metadata, "location": {"sheetId": number}}}},
        _header(number),
        *(_dimension(number, place, {"pixelSize": width}) for place, width in enumerate(_WIDTHS)),
        *(_dimension(number, places[name], {"hiddenByUser": True}) for name in HIDDEN),
        *(_repeat(number, place, 1, {"verticalAlignment": "TOP"}) for place in places.values()),
        _repeat(number, places["Sentence"], 1, {"wrapStrategy": "WRAP"}),
        *formatted(number, places, 1),
        *_colours(number, places[SCORE]),
        *_protections(number),
        {"setBasicFilter": {"filter": {"range": _range(number, 0, 0, len(COLUMNS))}}},
    ]


def formatted(number: int, columns: Mapping[str, int], top: int) -> list[Request]:
    """Return the requests that give all rows from `top` (from 0) their drop-down and formats.

    Editors' texts stay texts even if they look like numbers or dates.
    """
    values = [{"userEnteredValue": status} for status in STATUSES]
    condition = {"type": "ONE_OF_LIST", "values": values}
    rule = {"condition": condition, "strict": True, "showCustomUi": True}
    status = _range(number, top, columns[STATUS])
    formats = {ANCHOR: ("TEXT", "@"), NOTES: ("TEXT", "@"), SCORE: ("NUMBER", "0.00")}
    return [
        {"setDataValidation": {"range": status, "rule": rule, "filteredRowsIncluded": True}},
        *(
            _repeat(number, columns[name], top, {"numberFormat": {"type": kind, "pattern": pattern}})
            for name, (kind, pattern) in formats.items()
        ),
    ]


def appended(number: int, rows: Sequence[Sequence[Cell | None]]) -> Request:
    """Return the request that appends rows below the filled range; None leaves a cell empty."""
    lines = [{"values": [_cell(cell) for cell in row]} for row in rows]
    return {"appendCells": {"sheetId": number, "rows": lines, "fields": "userEnteredValue"}}


def wider_filter(facts: Mapping[str, Any]) -> list[Request]:
    """Return the request that extends an idle filter to new rows; nothing if editors use the filter."""
    found = facts.get("basicFilter")
    if not found or any(found[name] for name in found if name != "range"):
        return []
    span = {name: value for name, value in found["range"].items() if name != "endRowIndex"}
    return [{"setBasicFilter": {"filter": {"range": span}}}]


def _header(number: int) -> Request:
    bold = {"textFormat": {"bold": True}}
    cells = [
        {
            "userEnteredValue": {"stringValue": name},
            "userEnteredFormat": bold,
            "note": EXPLAINED.get(name, ""),
        }
        for name in COLUMNS
    ]
    start = {"sheetId": number, "rowIndex": 0, "columnIndex": 0}
    fields = "userEnteredValue,userEnteredFormat.textFormat,note"
    return {"updateCells": {"start": start, "rows": [{"values": cells}], "fields": fields}}


def _dimension(number: int, place: int, properties: Request) -> Request:
    span = {"sheetId": number, "dimension": "COLUMNS", "startIndex": place, "endIndex": place + 1}
    change = {"range": span, "properties": properties, "fields": ",".join(properties)}
    return {"updateDimensionProperties": change}


def _repeat(number: int, place: int, top: int, look: Request) -> Request:
    fields = ",".join(f"userEnteredFormat.{name}" for name in look)
    cell = {"userEnteredFormat": look}
    return {"repeatCell": {"range": _range(number, top, place), "cell": cell, "fields": fields}}


def _colours(number: int, place: int) -> list[Request]:
    # Formulas, because "0.8" is not a number in locales with a decimal comma.
    bounds = [
        ("NUMBER_GREATER_THAN_EQ", GREEN, _GREEN),
        ("NUMBER_GREATER_THAN_EQ", AMBER, _AMBER),
        ("NUMBER_LESS", AMBER, _GREY),
    ]
    requests = []
    for index, (kind, bound, colour) in enumerate(bounds):
        rgb = dict(zip(("red", "green", "blue"), colour, strict=True))
        condition = {"type": kind, "values": [{"userEnteredValue": f"={bound * 100:.0f}/100"}]}
        look = {"backgroundColorStyle": {"rgbColor": rgb}}
        rule = {"ranges": [_range(number, 1, place)], "booleanRule": {"condition": condition, "format": look}}
        requests.append({"addConditionalFormatRule": {"rule": rule, "index": index}})
    return requests


def _protections(number: int) -> list[Request]:
    """Return requests for a warning before anybody edits the header or one of the tool's columns."""
    ours = [place for place, name in enumerate(COLUMNS) if name not in EDITORS]
    ranges = [
        {**_range(number, 0, 0, len(COLUMNS)), "endRowIndex": 1},
        *(_range(number, 1, place) for place in ours),
    ]
    about = {"description": "Written by Internal Linker", "warningOnly": True}
    return [{"addProtectedRange": {"protectedRange": {"range": each, **about}}} for each in ranges]


def _range(number: int, top: int, left: int, width: int = 1) -> Request:
    """Return a range of columns from a row (from 0) to the end of the tab."""
    columns = {"startColumnIndex": left, "endColumnIndex": left + width}
    return {"sheetId": number, "startRowIndex": top, **columns}


def _cell(cell: Cell | None) -> Request:
    if cell is None or cell == "":
        return {}
    kind = "stringValue" if isinstance(cell, str) else "numberValue"
    return {"userEnteredValue": {kind: cell}}
