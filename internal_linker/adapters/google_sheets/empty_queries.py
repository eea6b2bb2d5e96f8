"""Filling empty main queries of the Sheet so that no query of an editor is overwritten, however late it is typed.

Google writes to places, whatever they hold by then. So each request brings formulas that compare: they take our query
only if the row still has its URL and its query is still empty. Google carries out a request's parts together.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from gspread.utils import rowcol_to_a1

from internal_linker.adapters.google_sheets.spreadsheet import Tab
from internal_linker.adapters.tables.query_rows import QueryRows

# Rows that one request fills: each takes a formula.
MOST_ROWS = 500


def fill_requests(
    tab: Tab, rows: QueryRows, urls: Mapping[str, str], wanted: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Return the requests of `spreadsheets.batchUpdate` that fill empty main queries; send them together.

    They put formulas into a new last column, paste the formulas' values over the main queries, and delete the column.

    Args:
        tab: the tab, as it is now.
        rows: its rows; those that are filled have no main query.
        urls: the text in the column of URLs, by page.
        wanted: the main query of each page to fill, by page.
    """
    assert rows.query is not None, "the caller has looked"
    column = tab.columns
    span = {"sheetId": tab.number, "dimension": "COLUMNS", "startIndex": column, "endIndex": column + 1}
    requests: list[dict[str, Any]] = [{"insertDimension": {"range": span, "inheritFromBefore": True}}]
    formulas = {
        rows.empty[page]: _formula(rows.empty[page], rows.url, rows.query, urls[page], query)
        for page, query in wanted.items()
    }
    for first, last in _runs(sorted(formulas)):
        cells = [
            {"values": [{"userEnteredValue": {"formulaValue": formulas[row]}}]}
            for row in range(first, last + 1)
        ]
        start = {"sheetId": tab.number, "rowIndex": first - 1, "columnIndex": column}
        requests.append({"updateCells": {"start": start, "rows": cells, "fields": "userEnteredValue"}})
        places = {"sheetId": tab.number, "startRowIndex": first - 1, "endRowIndex": last}
        requests.append(
            {
                "copyPaste": {
                    "source": {**places, "startColumnIndex": column, "endColumnIndex": column + 1},
                    "destination": {
                        **places,
                        "startColumnIndex": rows.query,
                        "endColumnIndex": rows.query + 1,
                    },
                    "pasteType": "PASTE_VALUES",
                }
            }
        )
    requests.append({"deleteDimension": {"range": span}})
    return requests


def _formula(row: int, url_column: int, query_column: int, url: str, query: str) -> str:
    """Return a formula that is the query if its row is as it was, and what the cell has otherwise."""
    at_url, at_query = rowcol_to_a1(row, url_column + 1), rowcol_to_a1(row, query_column + 1)
    return f'=IF(ISBLANK({at_query}),IF({at_url}={_text(url)},{_text(query)},""),{at_query})'


def _text(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def _runs(numbers: Sequence[int]) -> list[tuple[int, int]]:
    runs: list[tuple[int, int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1] = runs[-1][0], number
        else:
            runs.append((number, number))
    return runs
