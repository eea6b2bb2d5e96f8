"""The Google stand-in stores a tab's appearance, and refuses what Google's schema doesn't have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gspread
import pytest
from gspread.exceptions import APIError

from tests.standins import GoogleStandIn
from tests.standins.gspread_client import gspread_client

COLUMN = {"sheetId": 0, "startColumnIndex": 1, "endColumnIndex": 2}
SPAN = {"sheetId": 0, "dimension": "COLUMNS", "startIndex": 1, "endIndex": 2}
PROTECTED: dict[str, Any] = {"addProtectedRange": {"protectedRange": {"range": COLUMN}}}


@pytest.fixture
def google() -> Iterator[GoogleStandIn]:
    with GoogleStandIn({"Main": [["URL", "Main Query"], ["/b", "bee"], [], ["", "sea"]]}, rows=5) as stand_in:
        yield stand_in


@pytest.fixture
def sheet(google: GoogleStandIn) -> gspread.Spreadsheet:
    return gspread_client(google).open_by_key(google.spreadsheet_id)


def change(sheet: gspread.Spreadsheet, kind: str, **args: Any) -> Any:
    return sheet.batch_update({"requests": [{kind: args}]})["replies"][0]


def test_rows_are_appended_below_the_last_that_holds_anything(
    google: GoogleStandIn, sheet: gspread.Spreadsheet
) -> None:
    """Rows are appended below the last used row as text; the grid grows in rows and never in columns."""
    cells = [{"userEnteredValue": {"stringValue": "=1+1"}}, {}, {"userEnteredValue": {"numberValue": 0.5}}]
    change(sheet, "appendCells", sheetId=0, rows=[{"values": cells}] * 3, fields="userEnteredValue")
    assert google.grid("Main")[3:] == [["", "sea"], *[["=1+1", "", "0.5"]] * 3]
    assert google.tab("Main").rows == 7
    with pytest.raises(APIError, match="exceeds grid limits"):
        change(sheet, "appendCells", sheetId=0, rows=[{"values": [{}] * 27}], fields="userEnteredValue")


def test_formats_within_a_text_stay_until_it_changes(
    google: GoogleStandIn, sheet: gspread.Spreadsheet
) -> None:
    """Runs are stored with their cell and returned on request, in the order of the ranges; a new value erases them."""
    runs = [{"startIndex": 1, "format": {"bold": True}}]
    start = {"sheetId": 0, "rowIndex": 1, "columnIndex": 1}
    rows = [{"values": [{"textFormatRuns": runs}]}]
    change(sheet, "updateCells", start=start, rows=rows, fields="textFormatRuns")
    asked: Any = {"ranges": ["Main!B:B", "Main!A:A"], "fields": "sheets(data(rowData(values)))"}
    second, first = sheet.client.fetch_sheet_metadata(sheet.id, asked)["sheets"][0]["data"]
    assert second["startColumn"] == 1 and second["rowData"][1]["values"] == [
        {"formattedValue": "bee", "userEnteredValue": {"stringValue": "bee"}, "textFormatRuns": runs}
    ]
    assert "textFormatRuns" not in first["rowData"][1]["values"][0]
    sheet.worksheet("Main").update_acell("B2", "be")
    assert google.tab("Main").at(1, 1).runs == ()


def test_hidden_columns_stay_with_their_column(google: GoogleStandIn, sheet: gspread.Spreadsheet) -> None:
    hide = {"properties": {"hiddenByUser": True}, "fields": "hiddenByUser"}
    change(sheet, "updateDimensionProperties", range=SPAN, **hide)
    change(sheet, "insertDimension", range={**SPAN, "startIndex": 0, "endIndex": 1})
    assert google.tab("Main").looks.hidden == {2}
    change(sheet, "moveDimension", source={**SPAN, "startIndex": 2, "endIndex": 3}, destinationIndex=0)
    assert google.tab("Main").looks.hidden == {0}
    assert google.grid("Main")[0] == ["Main Query", "", "URL"]
    change(sheet, "deleteDimension", range={**SPAN, "startIndex": 0, "endIndex": 1})
    assert google.tab("Main").looks.hidden == set()


def test_metadata_tells_filter_rules_protection_and_marks(sheet: gspread.Spreadsheet) -> None:
    assert set(sheet.fetch_sheet_metadata()["sheets"][0]) == {"properties"}
    mark = {"metadataKey": "k", "metadataValue": "v", "visibility": "DOCUMENT", "location": {"sheetId": 0}}
    condition = {"type": "NUMBER_LESS", "values": [{"userEnteredValue": "=1/2"}]}
    rule = {"ranges": [COLUMN], "booleanRule": {"condition": condition, "format": {}}}
    change(sheet, "createDeveloperMetadata", developerMetadata=mark)
    change(sheet, "addConditionalFormatRule", rule=rule, index=0)
    change(sheet, "setBasicFilter", filter={"range": COLUMN})
    change(sheet, "addProtectedRange", protectedRange={"range": COLUMN, "warningOnly": True})
    found = sheet.fetch_sheet_metadata()["sheets"][0]
    assert found["developerMetadata"][0]["metadataValue"] == "v"
    assert found["conditionalFormats"] == [rule]
    assert found["basicFilter"] == {"range": {**COLUMN, "endRowIndex": 5}}
    assert found["protectedRanges"][0]["warningOnly"]


def test_protection_keeps_others_out(google: GoogleStandIn, sheet: gspread.Spreadsheet) -> None:
    google.edit("addProtectedRange", protectedRange={"range": {**COLUMN, "endRowIndex": 2}})
    tab = sheet.worksheet("Main")
    with pytest.raises(APIError, match="trying to edit a protected cell"):
        tab.update([["x"]], "B2")
    tab.update([["x"]], "B3")
    assert [row[1:] for row in google.grid("Main")] == [["Main Query"], ["bee"], ["x"], ["sea"]]


@pytest.mark.long
@pytest.mark.parametrize(
    ("kind", "args", "words"),
    [
        (
            "setDataValidation",
            {"range": COLUMN, "rules": {}},
            'Unknown name "rules" at .*set_data_validation',
        ),
        ("setDataValidation", {"range": {**COLUMN, "startColumnIndex": "1"}}, "TYPE_INT32"),
        ("setDataValidation", {"range": {**COLUMN, "endColumnIndex": 27}}, "is not within the grid"),
        (
            "setDataValidation",
            {"range": COLUMN, "rule": {"condition": {"type": "ONE_OF_LIST"}}},
            "ONE_OF_LIST needs a value",
        ),
        ("repeatCell", {"range": COLUMN, "cell": {}}, "At least one field must be listed"),
        ("updateDimensionProperties", {"range": SPAN, "properties": {}}, "At least one field must be listed"),
        ("createDeveloperMetadata", {"developerMetadata": {"metadataKey": "k"}}, "visibility must be"),
        ("addConditionalFormatRule", {"rule": {"booleanRule": {}}}, "ranges must be specified"),
        (
            "updateCells",
            {
                "start": {"sheetId": 0, "rowIndex": 1, "columnIndex": 1},
                "rows": [{"values": [{"textFormatRuns": [{"startIndex": 3, "format": {}}]}]}],
                "fields": "textFormatRuns",
            },
            "startIndex must ascend and be within the text",
        ),
        ("appendCells", {"sheetId": 7, "rows": [], "fields": "*"}, "No grid with id: 7"),
        ("appendCells", {"sheetId": 0, "rows": []}, "At least one field must be listed"),
    ],
)
def test_requests_that_google_refuses(
    sheet: gspread.Spreadsheet, kind: str, args: dict[str, Any], words: str
) -> None:
    """An unknown name, a wrong type, a range off the grid or a missing part is a 400."""
    with pytest.raises(APIError, match=words) as refused:
        change(sheet, kind, **args)
    assert refused.value.code == 400
