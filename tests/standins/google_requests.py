"""The requests in `spreadsheets.batchUpdate`: each changes the tabs or refuses."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from tests.standins import google_looks, google_schema
from tests.standins.a1 import Box
from tests.standins.google_errors import GoogleError, invalid, unknown_name
from tests.standins.grid import EMPTY, MAX_CELL, Cell, Formula, Tab, Value, entered, rendered

MAX_CELLS = 10_000_000  # per spreadsheet
GRID_FIELDS = frozenset({"rowCount", "columnCount", "frozenRowCount", "frozenColumnCount"})
Args = dict[str, Any]
Tabs = list[Tab]


def batch(key: str, tabs: Tabs, body: Args) -> Args:
    """Execute all requests in order; the caller discards the tabs if one is refused."""
    requests = body.get("requests") or []
    if not requests:
        raise invalid("Must specify at least one request.")
    replies = []
    for place, request in enumerate(requests):
        if len(request) != 1:
            raise invalid(f"Invalid value at 'requests[{place}]': exactly one kind of request must be set.")
        kind, args = next(iter(request.items()))
        replies.append(apply(tabs, kind, args, place))
    return {"spreadsheetId": key, "replies": replies}


def apply(tabs: Tabs, kind: str, args: Args, place: int) -> Args:
    """Execute one request on the tabs and return its reply, {} for most kinds."""
    where = f"requests[{place}]"
    try:
        if kind not in KINDS and kind not in google_looks.KINDS:
            raise unknown_name(kind, where)
        google_schema.check(kind, args, where)
        if kind in KINDS:
            reply = KINDS[kind](tabs, args) or {}
        else:
            reply = google_looks.KINDS[kind](lambda number: _tab(tabs, number), args) or {}
    except GoogleError as error:
        error.message = error.message.replace("Invalid request:", f"Invalid {where}.{kind}:")
        raise
    except (KeyError, TypeError) as error:
        raise invalid(f"Invalid value at '{where}.{kind}': {error}") from error
    if sum(tab.rows * tab.columns for tab in tabs) > MAX_CELLS:
        message = "This action would increase the number of cells in the workbook above the limit of"
        raise invalid(f"Invalid {where}.{kind}: {message} {MAX_CELLS} cells.")
    return reply


def properties(tabs: Tabs, tab: Tab) -> Args:
    grid = {"rowCount": tab.rows, "columnCount": tab.columns}
    grid |= {"frozenRowCount": tab.frozen_rows} if tab.frozen_rows else {}
    grid |= {"frozenColumnCount": tab.frozen_columns} if tab.frozen_columns else {}
    shown: Args = {"sheetId": tab.sheet_id, "title": tab.title, "index": tabs.index(tab)}
    shown |= {"sheetType": "GRID", "gridProperties": grid}
    return shown | ({"hidden": True} if tab.hidden else {})


def _tab(tabs: Tabs, sheet_id: Any) -> Tab:
    for tab in tabs:
        if tab.sheet_id == (sheet_id or 0):
            return tab
    raise invalid(f"Invalid request: No grid with id: {sheet_id}")


def _free_title(tabs: Tabs, title: str, but: Tab | None = None) -> str:
    if any(tab.title.casefold() == title.casefold() for tab in tabs if tab is not but):
        message = f'A sheet with the name "{title}" already exists. Please enter another name.'
        raise invalid(f"Invalid request: {message}")
    return title


def _add_sheet(tabs: Tabs, args: Args) -> Args:
    wanted = args.get("properties", {})
    taken = {tab.sheet_id for tab in tabs}
    sheet_id = wanted.get("sheetId", max(taken, default=0) + 101)
    if sheet_id in taken:
        raise invalid(f"Invalid request: Sheet with id {sheet_id} already exists.")
    title = _free_title(tabs, wanted.get("title") or f"Sheet{len(tabs) + 1}")
    grid = wanted.get("gridProperties", {})
    tab = Tab(sheet_id, title, grid.get("rowCount", 1000), grid.get("columnCount", 26))
    tab.frozen_rows, tab.frozen_columns = (grid.get("frozenRowCount", 0), grid.get("frozenColumnCount", 0))
    if tab.frozen_rows >= tab.rows or tab.frozen_columns >= tab.columns:
        raise invalid("Invalid request: You can't freeze all visible rows or columns on the sheet.")
    tab.hidden = wanted.get("hidden", False)
    tabs.insert(wanted.get("index", len(tabs)), tab)
    return {"addSheet": {"properties": properties(tabs, tab)}}


def _update_properties(tabs: Tabs, args: Args) -> None:
    wanted, mask = (args["properties"], set(re.findall(r"[\w*]+", args.get("fields") or "")))
    if not mask:
        raise invalid("Invalid request: At least one field must be listed in 'fields'. (Use '*' for all.)")
    if "*" in mask:
        mask = set(wanted)
    tab, grid = _tab(tabs, wanted.get("sheetId")), wanted.get("gridProperties", {})
    if "title" in mask:
        tab.title = _free_title(tabs, wanted["title"], but=tab)
    if "hidden" in mask:
        tab.hidden = wanted.get("hidden", False)
    if "index" in mask:
        to = wanted["index"] - (wanted["index"] > tabs.index(tab))
        tabs.remove(tab)
        tabs.insert(to, tab)
    if "gridProperties" in mask:
        _update_grid(tab, {name: grid.get(name, 0) for name in (mask & GRID_FIELDS) or set(grid)})


def _update_grid(tab: Tab, grid: Args) -> None:
    frozen = grid.get("frozenRowCount", tab.frozen_rows)
    rows, columns = grid.get("rowCount", tab.rows), grid.get("columnCount", tab.columns)
    if rows < 1 or columns < 1:
        raise invalid("Invalid request: You can't delete all the rows or columns on the sheet.")
    if frozen and frozen >= rows:
        raise invalid("Invalid request: You can't freeze all visible rows on the sheet.")
    tab.frozen_rows, tab.frozen_columns = (frozen, grid.get("frozenColumnCount", tab.frozen_columns))
    tab.resize(rows, columns)


def _span(tabs: Tabs, args: Args) -> tuple[Tab, bool, int, int]:
    span = args["range"]
    tab, rows = _tab(tabs, span.get("sheetId")), span["dimension"] == "ROWS"
    limit = tab.rows if rows else tab.columns
    start, end = span.get("startIndex", 0), span.get("endIndex", limit)
    if not 0 <= start < end:
        raise invalid(f"Invalid request: startIndex {start} must be less than endIndex {end}")
    if start > limit:
        raise invalid(f"Invalid request: startIndex[{start}] is after the last of {limit}")
    return tab, rows, start, end


def _insert_dimension(tabs: Tabs, args: Args) -> None:
    tab, rows, start, end = _span(tabs, args)
    if rows:
        tab.cells[start:start] = [[] for _ in range(end - start)]
        tab.rows += end - start
        return
    for line in tab.cells:
        line[start:start] = [EMPTY] * (end - start)
    tab.columns += end - start
    tab.looks.hidden = {at + (end - start) * (at >= start) for at in tab.looks.hidden}


def _delete_dimension(tabs: Tabs, args: Args) -> None:
    tab, rows, start, end = _span(tabs, args)
    end = min(end, tab.rows if rows else tab.columns)
    if end - start >= (tab.rows if rows else tab.columns):
        raise invalid("Invalid request: You can't delete all the rows or columns on the sheet.")
    if rows:
        del tab.cells[start:end]
        tab.rows -= end - start
        return
    for line in tab.cells:
        del line[start:end]
    tab.columns -= end - start
    tab.looks.hidden = {at - (end - start) * (at >= end) for at in tab.looks.hidden if not start <= at < end}


def _sort_range(tabs: Tabs, args: Args) -> None:
    box = args["range"]
    tab = _tab(tabs, box.get("sheetId"))
    left, right = box.get("startColumnIndex", 0), box.get("endColumnIndex", tab.columns)
    rows = range(box.get("startRowIndex", 0), min(box.get("endRowIndex", tab.rows), tab.rows))
    block = [[tab.at(row, column) for column in range(left, right)] for row in rows]
    for spec in reversed(args.get("sortSpecs", [])):
        place, down = (spec.get("dimensionIndex", 0) - left, spec.get("sortOrder") == "DESCENDING")
        filled = [line for line in block if line[place].value != ""]
        filled.sort(key=lambda line: _sort_key(line[place]), reverse=down)
        block = filled + [line for line in block if line[place].value == ""]
    for row, line in zip(rows, block, strict=True):
        for column, cell in enumerate(line, start=left):
            if cell != tab.at(row, column):
                tab.put(row, column, cell)


def _sort_key(cell: Cell) -> tuple[int, float, str]:
    number = isinstance(cell.value, int | float)
    return (0, float(cell.value), "") if number else (1, 0.0, str(cell.value).casefold())


def _append_cells(tabs: Tabs, args: Args) -> None:
    """Append cells below the last used row; the grid grows in rows, not in columns."""
    tab = _tab(tabs, args.get("sheetId"))
    filled = [row for row, line in enumerate(tab.cells) if any(cell.value != "" for cell in line)]
    top = filled[-1] + 1 if filled else 0
    tab.resize(max(tab.rows, top + len(args["rows"])), tab.columns)
    start = {"sheetId": tab.sheet_id, "rowIndex": top, "columnIndex": 0}
    _update_cells(tabs, {"start": start, "rows": args["rows"], "fields": args.get("fields")})


def _update_cells(tabs: Tabs, args: Args) -> None:
    corner = args.get("start") or args.get("range") or {}
    tab = _tab(tabs, corner.get("sheetId"))
    top = corner.get("rowIndex", corner.get("startRowIndex", 0))
    left = corner.get("columnIndex", corner.get("startColumnIndex", 0))
    if not (fields := str(args.get("fields") or "")):
        raise invalid("Invalid request: At least one field must be listed in 'fields'. (Use '*' for all.)")
    rows = [row.get("values", []) for row in args.get("rows", [])]
    tab.check_write(Box(top, left), [[None] * len(line) for line in rows])
    for row, line in enumerate(rows, start=top):
        for column, given in enumerate(line, start=left):
            _long(given)
            tab.put(row, column, _updated(tab.at(row, column), given, fields))


def _find_replace(tabs: Tabs, args: Args) -> Args:
    """Replace whole cells of a range, as if the replacement were typed; skip cells with formulas."""
    if "range" not in args or not args.get("matchEntireCell") or args.get("includeFormulas"):
        raise invalid("Invalid request: this stand-in replaces whole cells of a range, and no formulas")
    box = args["range"]
    tab = _tab(tabs, box.get("sheetId"))
    pattern = args["find"] if args.get("searchByRegex") else re.escape(args["find"])
    wanted = re.compile(pattern, 0 if args.get("matchCase") else re.IGNORECASE)
    changed = 0
    for row in range(box.get("startRowIndex", 0), min(box.get("endRowIndex", tab.rows), tab.rows)):
        for column in range(
            box.get("startColumnIndex", 0), min(box.get("endColumnIndex", tab.columns), tab.columns)
        ):
            cell = tab.at(row, column)
            is_formula = isinstance(cell.value, Formula)
            if not is_formula and wanted.fullmatch(str(rendered(cell.value, "FORMATTED_VALUE"))):
                tab.put(row, column, Cell(entered(args["replacement"]), cell.note))
                changed += 1
    counts = ("valuesChanged", "rowsChanged", "sheetsChanged", "occurrencesChanged")
    return {"findReplace": dict(zip(counts, (changed, changed, 1, changed), strict=True)) if changed else {}}


def _long(given: Args) -> None:
    text = given.get("userEnteredValue", {}).get("stringValue", "")
    if len(text) > MAX_CELL:
        message = f"Your input contains more than the maximum of {MAX_CELL} characters in a single cell."
        raise invalid(message)


def _updated(old: Cell, given: Args, fields: str) -> Cell:
    note = given.get("note", "") if "note" in fields or fields == "*" else old.note
    # A new value erases the formats of parts of the old one.
    value, runs = old.value, old.runs
    if "userEnteredValue" in fields or fields == "*":
        kind, value = next(iter(given.get("userEnteredValue", {}).items()), ("", ""))
        value, runs = entered(value) if kind == "formulaValue" else value, ()
    if "textFormatRuns" in fields or fields == "*":
        runs = _runs(given.get("textFormatRuns", []), value)
    return Cell(value, note, runs)


def _runs(given: list[Args], value: Value) -> tuple[Args, ...]:
    length = len(value.encode("utf-16-le")) // 2 if isinstance(value, str) else 0
    starts = [run.get("startIndex", 0) for run in given]
    if starts and (starts != sorted(set(starts)) or starts[-1] >= length):
        raise invalid("Invalid request: TextFormatRun.startIndex must ascend and be within the text.")
    return tuple(given)


KINDS: dict[str, Callable[[Tabs, Args], Args | None]] = {
    "addSheet": _add_sheet,
    "updateSheetProperties": _update_properties,
    "insertDimension": _insert_dimension,
    "deleteDimension": _delete_dimension,
    "sortRange": _sort_range,
    "updateCells": _update_cells,
    "appendCells": _append_cells,
    "findReplace": _find_replace,
}
