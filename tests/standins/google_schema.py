"""The bodies of `spreadsheets.batchUpdate` in Google's schema: only its names and types pass."""

from __future__ import annotations

from typing import Any

from tests.standins.google_errors import invalid, unknown_name

# Type -> its fields; a field's type is a basic type, a type here, or a list of either. Fields that nobody
# sends are left out.
TYPES: dict[str, dict[str, Any]] = {
    "GridRange": dict.fromkeys(
        ("sheetId", "startRowIndex", "endRowIndex", "startColumnIndex", "endColumnIndex"), int
    ),
    "GridCoordinate": dict.fromkeys(("sheetId", "rowIndex", "columnIndex"), int),
    "DimensionRange": {"sheetId": int, "dimension": str, "startIndex": int, "endIndex": int},
    "GridProperties": dict.fromkeys(("rowCount", "columnCount", "frozenRowCount", "frozenColumnCount"), int),
    "SheetProperties": {
        **{"sheetId": int, "title": str, "index": int, "sheetType": str, "hidden": bool},
        "gridProperties": "GridProperties",
    },
    "Color": dict.fromkeys(("red", "green", "blue", "alpha"), float),
    "ColorStyle": {"rgbColor": "Color", "themeColor": str},
    "NumberFormat": {"type": str, "pattern": str},
    "TextFormat": {"bold": bool, "italic": bool, "fontSize": int, "foregroundColorStyle": "ColorStyle"},
    "CellFormat": {
        **{"numberFormat": "NumberFormat", "textFormat": "TextFormat", "wrapStrategy": str},
        **{"backgroundColorStyle": "ColorStyle", "horizontalAlignment": str, "verticalAlignment": str},
    },
    "ExtendedValue": {"stringValue": str, "numberValue": float, "boolValue": bool, "formulaValue": str},
    "CellData": {
        **{"userEnteredValue": "ExtendedValue", "userEnteredFormat": "CellFormat", "note": str},
        **{"dataValidation": "DataValidationRule", "textFormatRuns": ["TextFormatRun"]},
    },
    "TextFormatRun": {"startIndex": int, "format": "TextFormat"},
    "RowData": {"values": ["CellData"]},
    "ConditionValue": {"userEnteredValue": str, "relativeDate": str},
    "BooleanCondition": {"type": str, "values": ["ConditionValue"]},
    "DataValidationRule": {
        **{"condition": "BooleanCondition", "inputMessage": str, "strict": bool, "showCustomUi": bool}
    },
    "BooleanRule": {"condition": "BooleanCondition", "format": "CellFormat"},
    "ConditionalFormatRule": {"ranges": ["GridRange"], "booleanRule": "BooleanRule"},
    "Editors": {"users": [str], "groups": [str], "domainUsersCanEdit": bool},
    "ProtectedRange": {
        **{"protectedRangeId": int, "range": "GridRange", "description": str, "warningOnly": bool},
        "editors": "Editors",
    },
    "SortSpec": {"dimensionIndex": int, "sortOrder": str},
    "FilterCriteria": {"hiddenValues": [str], "condition": "BooleanCondition"},
    "FilterSpec": {"columnIndex": int, "filterCriteria": "FilterCriteria"},
    "BasicFilter": {"range": "GridRange", "sortSpecs": ["SortSpec"], "filterSpecs": ["FilterSpec"]},
    "FilterView": {
        **{"filterViewId": int, "title": str, "range": "GridRange", "sortSpecs": ["SortSpec"]},
        "filterSpecs": ["FilterSpec"],
    },
    "DimensionProperties": {"pixelSize": int, "hiddenByUser": bool},
    "DeveloperMetadataLocation": {"sheetId": int, "spreadsheet": bool, "dimensionRange": "DimensionRange"},
    "DeveloperMetadata": {
        **{"metadataId": int, "metadataKey": str, "metadataValue": str, "visibility": str},
        "location": "DeveloperMetadataLocation",
    },
    "AddSheetRequest": {"properties": "SheetProperties"},
    "UpdateSheetPropertiesRequest": {"properties": "SheetProperties", "fields": str},
    "InsertDimensionRequest": {"range": "DimensionRange", "inheritFromBefore": bool},
    "DeleteDimensionRequest": {"range": "DimensionRange"},
    "SortRangeRequest": {"range": "GridRange", "sortSpecs": ["SortSpec"]},
    "UpdateCellsRequest": {
        **{"rows": ["RowData"], "fields": str, "start": "GridCoordinate", "range": "GridRange"}
    },
    "AppendCellsRequest": {"sheetId": int, "rows": ["RowData"], "fields": str},
    "FindReplaceRequest": {
        **dict.fromkeys(("find", "replacement"), str),
        **dict.fromkeys(("matchCase", "matchEntireCell", "searchByRegex", "includeFormulas"), bool),
        **{"range": "GridRange", "sheetId": int, "allSheets": bool},
    },
    "RepeatCellRequest": {"range": "GridRange", "cell": "CellData", "fields": str},
    "SetDataValidationRequest": {
        **{"range": "GridRange", "rule": "DataValidationRule", "filteredRowsIncluded": bool}
    },
    "AddConditionalFormatRuleRequest": {"rule": "ConditionalFormatRule", "index": int},
    "DeleteConditionalFormatRuleRequest": {"sheetId": int, "index": int},
    "AddProtectedRangeRequest": {"protectedRange": "ProtectedRange"},
    "SetBasicFilterRequest": {"filter": "BasicFilter"},
    "AddFilterViewRequest": {"filter": "FilterView"},
    "UpdateFilterViewRequest": {"filter": "FilterView", "fields": str},
    "UpdateDimensionPropertiesRequest": {
        **{"range": "DimensionRange", "properties": "DimensionProperties", "fields": str}
    },
    "CreateDeveloperMetadataRequest": {"developerMetadata": "DeveloperMetadata"},
}
NAMES = {str: "TYPE_STRING", int: "TYPE_INT32", float: "TYPE_FLOAT", bool: "TYPE_BOOL"}


def check(kind: str, args: Any, where: str) -> None:
    """Refuse names that Google doesn't know, and values of another type than it requires."""
    _check(args, f"{kind[:1].upper()}{kind[1:]}Request", f"{where}.{_snake(kind)}")


def _check(value: Any, wanted: Any, where: str) -> None:
    if isinstance(wanted, list):
        if not isinstance(value, list):
            raise invalid(f"Invalid value at '{where}': a list was expected")
        for place, item in enumerate(value):
            _check(item, wanted[0], f"{where}[{place}]")
    elif isinstance(wanted, str):
        if not isinstance(value, dict):
            raise invalid(f"Invalid value at '{where}' (type.googleapis.com/google.apps.sheets.v4.{wanted})")
        for name, item in value.items():
            if name not in TYPES[wanted]:
                raise unknown_name(name, where)
            _check(item, TYPES[wanted][name], f"{where}.{_snake(name)}")
    else:
        fits = (int, float) if wanted is float else (wanted,)
        if not isinstance(value, fits) or (isinstance(value, bool) and wanted is not bool):
            raise invalid(f"Invalid value at '{where}' ({NAMES[wanted]}), {value!r}")


def _snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)
