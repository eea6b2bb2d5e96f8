"""Requests that change a tab's appearance, not its values: stored, checked, and shown in its metadata."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any

from tests.standins.google_errors import invalid
from tests.standins.google_token import EMAIL
from tests.standins.grid import Looks, Tab

Args = dict[str, Any]
Find = Callable[[Any], Tab]  # returns the tab with this id

# Conditions that require a value.
WITH_VALUE = re.compile(r"ONE_OF_LIST|NUMBER_\w+|TEXT_\w+|CUSTOM_FORMULA")


def set_validation(find: Find, args: Args) -> None:
    """Set a validation rule for each cell of a range; without a rule, remove the existing ones."""
    tab = _ranged(find, args["range"])
    if rule := args.get("rule"):
        _condition(rule["condition"])
    tab.looks.validations.append((args["range"], rule))


def repeat_cell(find: Find, args: Args) -> None:
    """Set a format for each cell of a range; this stand-in repeats no values."""
    mask = _mask(args)
    if any(not name.startswith("userEnteredFormat.") for name in mask):
        raise invalid("Invalid request: this stand-in repeats formats only")
    _ranged(find, args["range"]).looks.formats.append((args["range"], args["cell"]["userEnteredFormat"]))


def add_rule(find: Find, args: Args) -> None:
    """Insert a conditional format at an index among the existing ones."""
    rule = args["rule"]
    if not rule.get("ranges"):
        raise invalid("Invalid request: ConditionalFormatRule.ranges must be specified.")
    for each in rule["ranges"]:
        tab = _ranged(find, each)
    _condition(rule["booleanRule"]["condition"])
    index = args.get("index", 0)
    if index > len(tab.looks.rules):
        raise invalid(f"Invalid request: Index {index} is out of bounds.")
    tab.looks.rules.insert(index, rule)


def delete_rule(find: Find, args: Args) -> None:
    rules = find(args.get("sheetId")).looks.rules
    if args.get("index", 0) >= len(rules):
        raise invalid("Invalid request: No conditional format on sheet at index.")
    del rules[args.get("index", 0)]


def protect(find: Find, args: Args) -> Args:
    """Protect a range; with `warningOnly` the protection refuses nothing."""
    given = args["protectedRange"]
    tab = _ranged(find, given["range"])
    if given.get("warningOnly") and given.get("editors"):
        raise invalid("Invalid request: Editors can't be set on a protected range with warning only.")
    made = {"protectedRangeId": len(tab.looks.protected) + 1, **given}
    tab.looks.protected.append(made)
    return {"addProtectedRange": {"protectedRange": made}}


def set_filter(find: Find, args: Args) -> None:
    """Set the tab's only filter; an open end becomes the grid's."""
    given = deepcopy(args["filter"])
    tab = _ranged(find, given["range"])
    given["range"].setdefault("endRowIndex", tab.rows)
    tab.looks.filter = given


def add_view(find: Find, args: Args) -> Args:
    """Add a filter view, whose sort order moves no cells; open ends become the grid's."""
    made = {
        "filterViewId": len(find(args["filter"]["range"].get("sheetId")).looks.views) + 1,
        **args["filter"],
    }
    tab = _ranged(find, made["range"])
    if any(each["filterViewId"] == made["filterViewId"] for each in tab.looks.views):
        raise invalid(f"Invalid request: Filter view with id {made['filterViewId']} already exists.")
    made["range"] = {"endRowIndex": tab.rows, "endColumnIndex": tab.columns, **made["range"]}
    tab.looks.views.append(made)
    return {"addFilterView": {"filter": made}}


def update_view(find: Find, args: Args) -> None:
    """Change fields of a filter view; this stand-in looks for it in the tab of the new range."""
    given, mask = args["filter"], _mask(args)
    tab = _ranged(find, given["range"])
    view = next((each for each in tab.looks.views if each["filterViewId"] == given["filterViewId"]), None)
    if view is None:
        raise invalid(f"Invalid request: No filter view with id: {given['filterViewId']}")
    view |= {name: given[name] for name in mask}
    view["range"] = {"endRowIndex": tab.rows, "endColumnIndex": tab.columns, **view["range"]}


def update_dimension(find: Find, args: Args) -> None:
    """Set column widths, and hide or show columns."""
    span = args["range"]
    tab, mask = find(span.get("sheetId")), _mask(args)
    limit = tab.rows if span["dimension"] == "ROWS" else tab.columns
    start, end = span.get("startIndex", 0), span.get("endIndex", limit)
    if not 0 <= start < end <= limit:
        raise invalid(f"Invalid request: DimensionRange {start} to {end} is not within {limit}")
    if span["dimension"] == "COLUMNS" and "hiddenByUser" in mask:
        places = set(range(start, end))
        hide = args["properties"].get("hiddenByUser", False)
        tab.looks.hidden = tab.looks.hidden | places if hide else tab.looks.hidden - places


def create_metadata(find: Find, args: Args) -> Args:
    """Add developer metadata to a tab, which users don't see."""
    given = args["developerMetadata"]
    for name in ("metadataKey", "visibility", "location"):
        if not given.get(name):
            raise invalid(f"Invalid request: developerMetadata.{name} must be specified.")
    location = {"locationType": "SHEET", **given["location"]}
    tab = find(given["location"]["sheetId"])
    made = {"metadataId": len(tab.looks.metadata) + 1, **given, "location": location}
    tab.looks.metadata.append(made)
    return {"createDeveloperMetadata": {"developerMetadata": made}}


def shown(looks: Looks) -> Args:
    """Return what a tab's metadata says of its appearance, without empty entries."""
    found = {
        "basicFilter": looks.filter,
        "filterViews": looks.views,
        "conditionalFormats": looks.rules,
        "protectedRanges": [
            {**each, "requestingUserCanEdit": may_edit(each, EMAIL)} for each in looks.protected
        ],
        "developerMetadata": looks.metadata,
    }
    return {name: value for name, value in found.items() if value}


def check_protection(old: Sequence[Tab], new: Sequence[Tab], email: str) -> None:
    """Refuse a change of a cell in a protected range that this account may not edit."""
    before = {tab.sheet_id: tab for tab in old}
    for tab in new:
        for each in tab.looks.protected:
            was = before.get(tab.sheet_id)
            if was and not may_edit(each, email) and _inside(was, each) != _inside(tab, each):
                raise invalid(
                    "You are trying to edit a protected cell or object. Please contact the spreadsheet "
                    "owner to remove protection if you need to edit."
                )


def may_edit(protected: Args, email: str) -> bool:
    """Return whether an account may edit a protected range."""
    return bool(protected.get("warningOnly")) or email in protected.get("editors", {}).get("users", [])


def _inside(tab: Tab, protected: Args) -> list[list[Any]]:
    box = protected["range"]
    rows = slice(box.get("startRowIndex"), box.get("endRowIndex"))
    columns = slice(box.get("startColumnIndex"), box.get("endColumnIndex"))
    return [line[columns] for line in tab.cells[rows] if line[columns]]


def _ranged(find: Find, box: Args) -> Tab:
    """Return the tab that contains the range."""
    tab = find(box.get("sheetId"))
    for axis, limit in (("Row", tab.rows), ("Column", tab.columns)):
        start, end = box.get(f"start{axis}Index", 0), box.get(f"end{axis}Index", limit)
        if not 0 <= start < end <= limit:
            raise invalid(f"Invalid request: {axis} range {start} to {end} is not within the grid of {limit}")
    return tab


def _condition(condition: Args) -> None:
    if WITH_VALUE.fullmatch(condition["type"]) and not condition.get("values"):
        raise invalid(f"Invalid request: {condition['type']} needs a value")


def _mask(args: Args) -> list[str]:
    if not args.get("fields"):
        raise invalid("Invalid request: At least one field must be listed in 'fields'. (Use '*' for all.)")
    return str(args["fields"]).split(",")


KINDS: dict[str, Callable[[Find, Args], Args | None]] = {
    "setDataValidation": set_validation,
    "repeatCell": repeat_cell,
    "addConditionalFormatRule": add_rule,
    "deleteConditionalFormatRule": delete_rule,
    "addProtectedRange": protect,
    "setBasicFilter": set_filter,
    "addFilterView": add_view,
    "updateFilterView": update_view,
    "updateDimensionProperties": update_dimension,
    "createDeveloperMetadata": create_metadata,
}
