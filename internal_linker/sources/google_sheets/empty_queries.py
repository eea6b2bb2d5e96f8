"""Filling empty main queries of the Sheet so that no query of an editor is overwritten, however late it is typed.

Google's requests write to places, whatever they hold by then. Only find and replace looks first: it replaces empty
cells by a mark and the mark by the query, and cells that are no longer empty stay as they are. It can't see whether the
row still has its URL. If rows moved just before, the next reading shows queries in rows of other pages, and the next
request replaces these by nothing, again only where they still are.
"""

import re
import secrets
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from internal_linker.model.sequences import counted
from internal_linker.sources.google_sheets.spreadsheet import Tab
from internal_linker.sources.tables.columns import QueryRows

# Rows that one request fills: each takes a replacement.
MOST_ROWS = 500
# Google reads what replaces a text as if it were typed.
_FORMULA = re.compile(r"[=+\-@']")
Request = dict[str, Any]


def is_formula(query: str) -> bool:
    """Return whether Google would take a query that is typed for a formula, or leave out its apostrophe."""
    return bool(_FORMULA.match(query))


class Filling:
    """Main queries (`wanted`, by page) on their way into a tab; each reading of the tab tells what to send next."""

    def __init__(self, wanted: Mapping[str, str]) -> None:
        self._wanted = {page: query for page, query in wanted.items() if not is_formula(query)}
        self._refused = {page: query for page, query in wanted.items() if page not in self._wanted}
        self._before: Counter[tuple[str, str]] = Counter()
        self._sent: frozenset[str] = frozenset()

    def requests(self, tab: Tab, rows: QueryRows, *, more: bool) -> list[Request]:
        """Return the requests of `spreadsheets.batchUpdate` to send together; [] if there is nothing left to do.

        `more`: whether to fill cells, or only to take back what stands in another page's row.
        """
        strays = self._strays(rows)
        found = [_replace(tab, rows, row, row, text, "") for row, text in strays]
        cells = {**rows.cells, **{row: (rows.cells[row][0], "") for row, _ in strays}}
        empty = {page: row for page, row in _empty(cells).items() if not _is_locked(tab, rows, row)}
        pages = [page for page in self._wanted if page in empty][:MOST_ROWS]
        if more and pages:
            self._before = Counter(cells.values())
            self._sent = frozenset(self._wanted[page] for page in pages)
            mark = f"internal-linker {secrets.token_hex(8)}"
            queries = {empty[page]: self._wanted[page] for page in pages}
            found += [
                _replace(tab, rows, first, last, "^$", mark, searchByRegex=True)
                for first, last in _runs(sorted(queries))
            ]
            found += [_replace(tab, rows, row, row, mark, query) for row, query in queries.items()]
        return found

    def problems(self, tab: Tab, rows: QueryRows, account: str) -> Iterator[str]:
        """Yield what the last reading shows to be missing or wrong, one sentence each."""
        for row, text in self._strays(rows):
            yield (
                f"Row {row} has the main query of another page ({text}), because rows moved while queries were "
                "written. Empty the cell."
            )
        empty = {page: rows.empty[page] for page in self._wanted if page in rows.empty}
        if locked := [row for row in empty.values() if _is_locked(tab, rows, row)]:
            yield (
                f"{counted(len(locked), 'empty main query', 'empty main queries')} of protected ranges, such as row "
                f"{min(locked)}, could not be filled. Allow {account} to edit them under Data > Protect sheets and "
                "ranges."
            )
        for page, row in empty.items():
            if row not in locked:
                yield (
                    f"{page}: row {row} did not take its main query. Check whether its cell is merged, hidden by a "
                    "filter, or has a formula."
                )
        for page, row in rows.blank.items():
            if page in self._wanted or page in self._refused:
                yield f"{page}: row {row} stays as it is, because its cell has spaces. Empty the cell."
        for page, query in self._refused.items():
            if page in rows.empty:
                yield (
                    f"{page}: row {rows.empty[page]} stays empty, because Google would take {query} for a formula. "
                    "Type it after an apostrophe."
                )
        for row, (page, text) in rows.cells.items():
            query = self._wanted.get(page, "")
            if query in self._sent and text != query and text.strip() and any(map(str.isdigit, query)):
                yield (
                    f"{page}: row {row} has {text} and not {query}: somebody wrote it meanwhile, or Google took the "
                    "query for a number or date."
                )

    def _strays(self, rows: QueryRows) -> list[tuple[int, str]]:
        """Return row and text of queries from the last request that stand in the row of another page."""
        left = Counter(rows.cells.values()) - self._before
        found = []
        for row, cell in rows.cells.items():
            page, text = cell
            if left[cell] > 0 and text in self._sent and self._wanted.get(page) != text:
                left[cell] -= 1
                found.append((row, text))
        return found


def _empty(cells: Mapping[int, tuple[str, str]]) -> dict[str, int]:
    filled = {page for page, text in cells.values() if text.strip()}
    rows = dict[str, int]()
    for row, (page, text) in cells.items():
        if page and not text and page not in filled:
            rows.setdefault(page, row)
    return rows


def _replace(
    tab: Tab, rows: QueryRows, first: int, last: int, find: str, replacement: str, **options: bool
) -> Request:
    """Return a request that changes whole cells of main queries in these rows; formulas stay."""
    assert rows.query is not None, "the caller has looked"
    span = {
        "sheetId": tab.number,
        "startRowIndex": first - 1,
        "endRowIndex": last,
        "startColumnIndex": rows.query,
        "endColumnIndex": rows.query + 1,
    }
    exactly = {"matchCase": True, "matchEntireCell": True}
    return {
        "findReplace": {"find": find, "replacement": replacement, "range": span, **exactly, **options},
    }


def _is_locked(tab: Tab, rows: QueryRows, row: int) -> bool:
    return any(
        _within(each.get("range", {}), row, rows.query)
        and not any(_within(free, row, rows.query) for free in each.get("unprotectedRanges", []))
        for each in tab.facts.get("protectedRanges", [])
        if not each.get("warningOnly") and not each.get("requestingUserCanEdit")
    )


def _within(box: Mapping[str, int], row: int, column: int | None) -> bool:
    assert column is not None, "the caller has looked"
    return box.get("startRowIndex", 0) < row <= box.get("endRowIndex", row) and box.get(
        "startColumnIndex", 0
    ) <= column < box.get("endColumnIndex", column + 1)


def _runs(numbers: Sequence[int]) -> list[tuple[int, int]]:
    runs: list[tuple[int, int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1] = runs[-1][0], number
        else:
            runs.append((number, number))
    return runs
