"""Requests to the Sheets API that create the tab Review, format it, and append rows."""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from internal_linker.model.columns import EDITORS, HIDDEN, REVIEW, REVIEW_KEYS, Language
from internal_linker.model.edges import TIER_NAMES
from internal_linker.review.merge import COLOURS, Board, translation
from internal_linker.review.rows import anchor_span
from internal_linker.sources.google_sheets.spreadsheet import MAX_BYTES, RichText, Tab, new_columns
from internal_linker.sources.tables.columns import Cell, text_of

Request = dict[str, Any]

# This metadata identifies our tab, whatever its title; its value is the tab's number, which a copy doesn't share.
METADATA_KEY = "internal-linker-review"
_COLUMNS = {column.key: column for column in REVIEW}
# Pixels of a character and around a cell's text, as in a workbook.
_CHARACTER, _PADDING = 7, 5
# Rows of a new tab; the grid grows with the links.
_ROWS = 1000
# Status and Anchor stay visible when an editor scrolls to the right.
_FROZEN = 2
# Conditions of the colours in tabs of earlier versions: bounds of scores from 0 to 1, or from 0 to 100.
_FORMER_KINDS = ("NUMBER_GREATER_THAN_EQ", "NUMBER_LESS")
_FORMER_BOUNDS = ("=80/100", "=65/100", "80", "65")
# A filter view shows rows in another order and moves none, so that nobody's row goes away while they type in it.
_VIEW = "Links in the text first"
# Bytes of a request that formats cells, and such requests in one call.
_FRAME, _MOST_REQUESTS = 150, 1000


def new_tab(number: int, title: str, language: Language) -> list[Request]:
    """Return the requests that create the whole tab, without links; send them together."""
    grid = {"rowCount": _ROWS, "columnCount": len(REVIEW), "frozenRowCount": 1, "frozenColumnCount": _FROZEN}
    sheet = {"sheetId": number, "title": title, "gridProperties": grid}
    metadata = {"metadataKey": METADATA_KEY, "metadataValue": str(number), "visibility": "DOCUMENT"}
    board = Board([language.headers[key] for key in REVIEW_KEYS], [])
    return [
        {"addSheet": {"properties": sheet}},
        {"createDeveloperMetadata": {"developerMetadata": {**metadata, "location": {"sheetId": number}}}},
        _header(number, board),
        *chain.from_iterable(_dressed(number, place, name) for name, place in board.columns.items()),
        *formatted(number, board, 1),
        *_colours(number, board.columns["tier"]),
        *_protections(number, board.columns),
        {"setBasicFilter": {"filter": {"range": _range(number, 0, 0, len(REVIEW))}}},
    ]


def formatted(number: int, board: Board, top: int) -> list[Request]:
    """Return the requests that give all rows from `top` (from 0) their drop-down and formats.

    Editors' texts stay texts even if they look like numbers or dates.
    """
    formats = {"anchor": ("TEXT", "@"), "notes": ("TEXT", "@"), "score": ("NUMBER", "0")}
    return [
        *_choices(number, board, top),
        *(
            _repeat(number, board.columns[name], top, {"numberFormat": {"type": kind, "pattern": pattern}})
            for name, (kind, pattern) in formats.items()
        ),
    ]


def _choices(number: int, board: Board, top: int) -> list[Request]:
    """Return the request that gives the rows from `top` (from 0) the drop-down of statuses."""
    if "status" in board.missing:
        return []
    values = [{"userEnteredValue": status} for status in board.language.statuses.values()]
    condition = {"type": "ONE_OF_LIST", "values": values}
    rule = {"condition": condition, "strict": True, "showCustomUi": True}
    status = _range(number, top, board.columns["status"])
    return [{"setDataValidation": {"range": status, "rule": rule, "filteredRowsIncluded": True}}]


def new_column(tab: Tab, place: int, name: str, language: Language) -> list[Request]:
    """Return the requests that insert one of our columns at a place (from 0)."""
    dressed = _dressed(tab.number, place, name)
    return [
        *new_columns(tab, place, [language.headers[name]]),
        *dressed,
        *_protections(tab.number, {name: place}),
    ]


def translated(tab: Tab, board: Board, language: Language) -> list[Request]:
    """Return the requests that translate headers, their notes and the drop-down; nothing if the language is right."""
    headers = translation(board, language)
    if not headers:
        return []
    now = Board([headers.get(at, text) for at, text in enumerate(board.header)], [])
    cells = [
        _first_cell(tab.number, at, _head(headers[at], language.notes.get(key, "")))
        for key, at in now.columns.items()
        if at in headers
    ]
    return [*cells, *_choices(tab.number, now, 1)]


def renewed(tab: Tab, board: Board, rows: int) -> list[Request]:
    """Return the requests for what a tab with so many rows lacks: the filter view, and today's colours.

    Those of an earlier version stood for bounds of the score.
    """
    columns, notes = board.columns, board.language.notes
    if not {"tier", "score"} <= columns.keys():
        return []
    former = [at for at, rule in enumerate(tab.facts.get("conditionalFormats", [])) if _has_bound(rule)]
    if not former:
        return _view(tab, columns, rows)
    return [
        *_view(tab, columns, rows),
        *({"deleteConditionalFormatRule": {"sheetId": tab.number, "index": at}} for at in reversed(former)),
        *_colours(tab.number, columns["tier"]),
        *formatted(tab.number, board, 1),
        *(
            _first_cell(tab.number, columns[name], {"note": text})
            for name, text in notes.items()
            if name in columns
        ),
    ]


def _view(tab: Tab, columns: Mapping[str, int], rows: int) -> list[Request]:
    views = [each for each in tab.facts.get("filterViews", []) if each.get("title") == _VIEW]
    if not views:
        # By its name, "in the text" comes first among the tiers.
        order = [("ASCENDING", columns["tier"]), ("DESCENDING", columns["score"])]
        sorts = [{"sortOrder": way, "dimensionIndex": place} for way, place in order]
        span = {"sheetId": tab.number, "startRowIndex": 0, "startColumnIndex": 0}
        return [{"addFilterView": {"filter": {"title": _VIEW, "range": span, "sortSpecs": sorts}}}]
    # It is the editors': only where it ends above the last row is its range extended.
    view, span = views[0], views[0].get("range", {})
    if span.get("endRowIndex", rows) >= rows:
        return []
    wider = {"filterViewId": view["filterViewId"], "range": _endless(span)}
    return [{"updateFilterView": {"filter": wider, "fields": "range"}}]


def _has_bound(rule: Mapping[str, Any]) -> bool:
    condition = rule.get("booleanRule", {}).get("condition", {})
    values = [each.get("userEnteredValue", "") for each in condition.get("values", [])]
    return condition.get("type") in _FORMER_KINDS and len(values) == 1 and values[0] in _FORMER_BOUNDS


def appended(number: int, rows: Sequence[Sequence[Cell | None]], columns: Mapping[str, int]) -> Request:
    """Return the request that appends rows below the filled range, with anchors in bold; None leaves a cell empty."""
    lines = []
    for row in rows:
        cells = [_cell(cell) for cell in row]
        anchor, sentence = (text_of(row[columns[name]]) for name in ("anchor", "sentence"))
        if runs := bold_runs(sentence, anchor_span(sentence, anchor)):
            cells[columns["sentence"]]["textFormatRuns"] = runs
        lines.append({"values": cells})
    return {"appendCells": {"sheetId": number, "rows": lines, "fields": "userEnteredValue,textFormatRuns"}}


def bold_runs(text: str, span: tuple[int, int] | None) -> list[Request]:
    """Return Google's runs for a text of which one part is in bold; nothing without such a part."""
    if span is None:
        return []
    start, end = (_units(text[:at]) for at in span)
    runs = [{"startIndex": start, "format": {"bold": True}}]
    # A run must start within the text.
    return runs if span[1] == len(text) else [*runs, {"startIndex": end, "format": {"bold": False}}]


def marked(number: int, place: int, rows: Mapping[int, Sequence[Request]]) -> Iterator[list[Request]]:
    """Yield the requests that format parts of cells in a column, by row from 0, in parts that fit one call each."""
    requests: list[Request] = []
    size, before = 0, -2
    for row in sorted(rows):
        cell = {"values": [{"textFormatRuns": list(rows[row])} if rows[row] else {}]}
        size += len(json.dumps(cell)) + (0 if row == before + 1 else _FRAME)
        if requests and (size > MAX_BYTES or len(requests) == _MOST_REQUESTS):
            yield requests
            requests, size, before = [], 0, -2
        if row != before + 1:
            start = {"sheetId": number, "rowIndex": row, "columnIndex": place}
            requests.append({"updateCells": {"start": start, "rows": [], "fields": "textFormatRuns"}})
        requests[-1]["updateCells"]["rows"].append(cell)
        before = row
    if requests:
        yield requests


def wrong_runs(cells: RichText, wanted: Sequence[Request]) -> bool:
    """Return whether the bold part of a text is not the wanted one; False if somebody formatted it otherwise."""
    given = [run.get("format", {}) for run in cells.runs]
    if any({*look} - {"bold"} for look in given):
        return False
    length = _units(cells.text)
    return _bold(cells.runs, length) != _bold(wanted, length)


def _bold(runs: Sequence[Mapping[str, Any]], length: int) -> list[tuple[int, int]]:
    """Return start and end of the parts in bold, in UTF-16 units."""
    starts = [run.get("startIndex", 0) for run in runs]
    spans = zip(runs, starts, [*starts[1:], length], strict=True) if runs else ()
    return [(start, end) for run, start, end in spans if run.get("format", {}).get("bold")]


def _units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def wider_filter(facts: Mapping[str, Any]) -> list[Request]:
    """Return the request that extends an idle filter to new rows; nothing if editors use the filter."""
    found = facts.get("basicFilter")
    if not found or any(found[name] for name in found if name != "range"):
        return []
    return [{"setBasicFilter": {"filter": {"range": _endless(found["range"])}}}]


def _endless(span: Mapping[str, Any]) -> Request:
    return {name: value for name, value in span.items() if name != "endRowIndex"}


def _header(number: int, board: Board) -> Request:
    bold = {"userEnteredFormat": {"textFormat": {"bold": True}}}
    cells = [
        {**_head(board.header[at], board.language.notes.get(key, "")), **bold}
        for key, at in board.columns.items()
    ]
    start = {"sheetId": number, "rowIndex": 0, "columnIndex": 0}
    fields = "userEnteredValue,userEnteredFormat.textFormat,note"
    return {"updateCells": {"start": start, "rows": [{"values": cells}], "fields": fields}}


def _head(text: str, note: str) -> Request:
    return {"userEnteredValue": {"stringValue": text}, "note": note}


def _dressed(number: int, place: int, name: str) -> Iterator[Request]:
    """Yield the requests that give one of our columns its width and look."""
    yield _dimension(number, place, {"pixelSize": _CHARACTER * _COLUMNS[name].width + _PADDING})
    if name in HIDDEN:
        yield _dimension(number, place, {"hiddenByUser": True})
    wrap = {"wrapStrategy": "WRAP"} if _COLUMNS[name].look == "text" else {}
    yield _repeat(number, place, 1, {"verticalAlignment": "TOP", **wrap})


def _first_cell(number: int, place: int, cell: Request) -> Request:
    """Return the request that changes what a cell of the header has, such as its note."""
    start = {"sheetId": number, "rowIndex": 0, "columnIndex": place}
    return {"updateCells": {"start": start, "rows": [{"values": [cell]}], "fields": ",".join(cell)}}


def _dimension(number: int, place: int, properties: Request) -> Request:
    span = {"sheetId": number, "dimension": "COLUMNS", "startIndex": place, "endIndex": place + 1}
    change = {"range": span, "properties": properties, "fields": ",".join(properties)}
    return {"updateDimensionProperties": change}


def _repeat(number: int, place: int, top: int, look: Request) -> Request:
    fields = ",".join(f"userEnteredFormat.{name}" for name in look)
    cell = {"userEnteredFormat": look}
    return {"repeatCell": {"range": _range(number, top, place), "cell": cell, "fields": fields}}


def _colours(number: int, place: int) -> list[Request]:
    requests = []
    for index, (tier, colour) in enumerate(COLOURS.items()):
        rgb = {name: value / 255 for name, value in zip(("red", "green", "blue"), colour, strict=True)}
        condition = {"type": "TEXT_EQ", "values": [{"userEnteredValue": TIER_NAMES[tier]}]}
        look = {"backgroundColorStyle": {"rgbColor": rgb}}
        rule = {"ranges": [_range(number, 1, place)], "booleanRule": {"condition": condition, "format": look}}
        requests.append({"addConditionalFormatRule": {"rule": rule, "index": index}})
    return requests


def _protections(number: int, places: Mapping[str, int]) -> list[Request]:
    """Return requests for a warning before anybody edits the header or one of the tool's columns."""
    ours = [_range(number, 1, place) for name, place in places.items() if name not in EDITORS]
    headers = {**_range(number, 0, min(places.values()), len(places)), "endRowIndex": 1}
    about = {"description": "Written by Internal Linker", "warningOnly": True}
    return [{"addProtectedRange": {"protectedRange": {"range": each, **about}}} for each in (headers, *ours)]


def _range(number: int, top: int, left: int, width: int = 1) -> Request:
    """Return a range of columns from a row (from 0) to the end of the tab."""
    columns = {"startColumnIndex": left, "endColumnIndex": left + width}
    return {"sheetId": number, "startRowIndex": top, **columns}


def _cell(cell: Cell | None) -> Request:
    if cell is None or cell == "":
        return {}
    kind = "stringValue" if isinstance(cell, str) else "numberValue"
    return {"userEnteredValue": {kind: cell}}
