"""The tab Review of a Google Sheet: proposed links go out as rows, what editors say of them comes in."""

import zlib
from collections.abc import Iterable, Sequence
from itertools import chain, count

from internal_linker.adapters.google_sheets.client import GOOGLE
from internal_linker.adapters.google_sheets.spreadsheet import Spreadsheet, Tab, chunks, new_columns, tabs_of
from internal_linker.adapters.http.limits import with_retries
from internal_linker.core.edges import ReviewRow, Verdict
from internal_linker.core.errors import InputError, OutputError
from internal_linker.review.google_tab_format import (
    METADATA_KEY,
    appended,
    dressed,
    new_tab,
    wider_filter,
)
from internal_linker.review.google_tab_placing import MAX_RUNS, Line, Placing, parts_of, require_ids
from internal_linker.review.merge import HIDDEN, Board, verdicts

_TITLE = "Review"
# Numbers as they are, however they are shown; dates as they are shown.
_AS_THEY_ARE = {"valueRenderOption": "UNFORMATTED_VALUE", "dateTimeRenderOption": "FORMATTED_STRING"}


class ReviewTab:
    """A ReviewDesk in the spreadsheet of the main queries; nothing is contacted until it is used.

    The tab is made when links are first written, and known by a mark in its metadata whatever it is
    renamed to; a row is known by its hidden id, a column by its name.

    Args:
        service_account: the JSON text of a service account's key; it is kept in no message.
        sheet_id: the spreadsheet's id, as its address has it.
        api_url: where the Sheets API is; anything but Google's is for a proxy.

    Raises:
        ConfigurationError: `service_account` is no usable key.
    """

    name = f"Google Sheet '{_TITLE}'"

    def __init__(self, service_account: str, sheet_id: str, *, api_url: str = GOOGLE) -> None:
        ours, remedy = f"cells of the tab {_TITLE} are", "Run again."
        self._spreadsheet = Spreadsheet(service_account, sheet_id, api_url, ours, remedy)

    def read(self) -> Sequence[Verdict]:
        """What stands beside each link; nothing where the tab was not made yet.

        Raises:
            InputError: there is no such spreadsheet, or the tab's column of ids is gone.
            ServiceError: Google refused or failed.
        """
        tab, _ = with_retries(self._found)
        if tab is None:
            return []
        board = with_retries(lambda: self._board(tab))
        try:
            require_ids(board)
        except OutputError as error:
            raise InputError(str(error)) from None
        return verdicts(board, f"{tab.title} tab")

    def write(self, items: Iterable[ReviewRow]) -> list[str]:
        """Show these links; the answer names what could not be done, one sentence each.

        Rows are looked at right before each request and read back afterwards. A tab is made even
        without links.

        Raises:
            OutputError: the spreadsheet or the tab's column of ids is gone.
            ServiceError: Google refused or failed; what was written so far stays whole.
        """
        placing = Placing(list(items))
        try:
            tab = with_retries(self._found_or_made)
            # A failed write is not simply sent again: rows may have moved during the pause.
            while with_retries(lambda: self._look_and_write(tab, placing)):
                pass
        except InputError as error:
            raise OutputError(str(error)) from None
        return placing.problems()

    def close(self) -> None:
        """Give the connections back."""
        self._spreadsheet.close()

    def _look_and_write(self, tab: Tab, placing: Placing) -> bool:
        """Read the tab and do the first part of what is left; False: all is right, or no write is left."""
        board = self._board(tab)
        work = placing.compare(board)
        if not work:
            return False
        if work.columns:
            self._add_columns(tab, board, work.columns)
            return True
        if work.cells:
            part = next(chunks(work.cells))
            placing.writing(part)
            self._spreadsheet.write(tab, part)
        elif work.new:
            self._append(tab, board, placing, work.new)
        else:
            runs = work.removed[:MAX_RUNS]
            placing.deleting(runs)
            self._spreadsheet.change([_deleted(tab, *run) for run in runs])
        placing.written()
        return True

    def _append(self, tab: Tab, board: Board, placing: Placing, lines: Sequence[Line]) -> None:
        """Put rows at the end, part by part, as long as the columns stand where they stood."""
        looks = [*dressed(tab.number, board.columns, len(board.rows) + 1), *wider_filter(tab.facts)]
        for number, part in enumerate(parts_of(lines)):
            if number and self._board(tab, "1:1").header != board.header:
                return
            placing.appending(part)
            self._spreadsheet.change([appended(tab.number, part), *looks])

    def _add_columns(self, tab: Tab, board: Board, names: Sequence[str]) -> None:
        width = max(map(len, (board.header, *board.rows)))
        requests = new_columns(tab, width, names)
        for place, name in enumerate(names, start=width):
            if name in HIDDEN:
                span = {"sheetId": tab.number, "dimension": "COLUMNS", "startIndex": place}
                span["endIndex"] = place + 1
                hide = {"range": span, "properties": {"hiddenByUser": True}, "fields": "hiddenByUser"}
                requests.append({"updateDimensionProperties": hide})
        self._spreadsheet.change(requests)

    def _board(self, tab: Tab, cells: str | None = None) -> Board:
        values = self._spreadsheet.values(tab, cells, **_AS_THEY_ARE)
        return Board(values[0] if values else [], values[1:])

    def _found(self) -> tuple[Tab | None, list[Tab]]:
        """Our tab, and all there are."""
        tabs = tabs_of(self._spreadsheet.metadata())
        found = next((tab for tab in tabs if _is_ours(tab)), None)
        if found:
            self.name = f"Google Sheet '{found.title}'"
        return found, tabs

    def _found_or_made(self) -> Tab:
        tab, tabs = self._found()
        if tab:
            return tab
        taken = {each.title.casefold() for each in tabs}
        titles = chain([_TITLE], (f"{_TITLE} (Internal Linker {number})" for number in count(1)))
        title = next(each for each in titles if each.casefold() not in taken)
        used = {each.number for each in tabs}
        # Any number of 31 bits will do; requests that come with the new tab must know it.
        first = zlib.crc32(METADATA_KEY.encode()) >> 1
        number = next(each for each in count(first) if each not in used)
        self._spreadsheet.change(new_tab(number, title))
        found, _ = self._found()
        if not found:
            raise InputError(f"{self.name}: the tab was deleted while we worked. Run again.")
        return found


def _is_ours(tab: Tab) -> bool:
    marks = tab.facts.get("developerMetadata", [])
    # A tab that somebody copied has its original's number in the mark.
    return any(
        mark.get("metadataKey") == METADATA_KEY and mark.get("metadataValue") == str(tab.number)
        for mark in marks
    )


def _deleted(tab: Tab, first: int, last: int) -> dict[str, object]:
    span = {"sheetId": tab.number, "dimension": "ROWS", "startIndex": first - 1, "endIndex": last}
    return {"deleteDimension": {"range": span}}
