"""The tab Review of a Google Sheet: shows proposed links, and reads editors' decisions."""

import zlib
from collections.abc import Iterable, Sequence
from itertools import chain, count

from internal_linker.adapters.google_sheets.client import GOOGLE
from internal_linker.adapters.google_sheets.spreadsheet import Spreadsheet, Tab, chunks, tabs_of
from internal_linker.adapters.http.limits import with_retries
from internal_linker.core.edges import ReviewRow, Verdict
from internal_linker.core.errors import InputError, OutputError, ServiceError
from internal_linker.review.google_tab_format import (
    METADATA_KEY,
    appended,
    bold_runs,
    formatted,
    marked,
    new_column,
    new_tab,
    renewed,
    wider_filter,
    wrong_runs,
)
from internal_linker.review.google_tab_placing import MAX_RUNS, Line, Placing, parts_of, require_ids
from internal_linker.review.merge import ANCHOR, LINK_ID, SENTENCE, Board, insertions, remarks, verdicts
from internal_linker.review.rows import anchor_span

_TITLE = "Review"
# How often links are written and formatted if rows move in the meantime.
_ROUNDS = 3
# Numbers in full, whatever their format; dates as the Sheet shows them.
_AS_THEY_ARE = {"valueRenderOption": "UNFORMATTED_VALUE", "dateTimeRenderOption": "FORMATTED_STRING"}


class ReviewTab:
    """A ReviewDesk in the spreadsheet of the main queries; contacts Google only when it is used.

    The first `write` creates the tab. Metadata identifies the tab even if somebody renames it; hidden ids identify
    rows, and headers identify columns.

    Args:
        service_account: the JSON text of a service account's key; no message contains it.
        sheet_id: the spreadsheet's id, from its address.
        api_url: the address of the Sheets API; change it only for a proxy.

    Raises:
        ConfigurationError: `service_account` is not a usable key.
    """

    name = f"Google Sheet '{_TITLE}'"

    def __init__(self, service_account: str, sheet_id: str, *, api_url: str = GOOGLE) -> None:
        ours, remedy = f"cells of the tab {_TITLE} are", "Run again."
        self._spreadsheet = Spreadsheet(service_account, sheet_id, api_url, ours, remedy)
        self._is_renewed = False
        self._remarks: Sequence[str] = ()

    def state(self) -> str:
        """Return "": only reading the tab shows what changed."""
        return ""

    def written(self) -> None:
        """Return None: somebody may write into the tab at any time."""

    def read(self) -> Sequence[Verdict]:
        """Return what editors wrote beside each link; nothing if there is no tab yet.

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
        self._remarks = remarks(board, self.name)
        return verdicts(board, f"{tab.title} tab")

    def remarks(self) -> Sequence[str]:
        """Return what the last `read` couldn't take as a decision, one sentence each."""
        return self._remarks

    def write(self, items: Iterable[ReviewRow]) -> list[str]:
        """Show these links; return what could not be done, one sentence each.

        Reads the rows right before each request and again afterwards. Creates the tab even without links.

        Raises:
            OutputError: the spreadsheet or the tab's column of ids is gone.
            ServiceError: Google refused or failed; rows written so far are complete.
        """
        placing = Placing(list(items))
        try:
            tab = with_retries(self._found_or_made)
            problems = self._place_and_format(tab, placing)
        except InputError as error:
            raise OutputError(str(error)) from None
        return [*placing.problems(), *problems]

    def close(self) -> None:
        """Close the connections."""
        self._spreadsheet.close()

    def _place_and_format(self, tab: Tab, placing: Placing) -> list[str]:
        """Write the links and format their rows; return problems with the format.

        Rows may have moved before they were formatted, so both are looked at again after each change of the format.
        """
        for left in reversed(range(_ROUNDS)):
            # A retry reads the tab again before it writes: rows may have moved during the pause.
            while with_retries(lambda: self._look_and_write(tab, placing)):
                pass
            try:
                if not left or not with_retries(lambda: self._format(tab, placing.seen)):
                    break
            except (InputError, ServiceError) as error:
                return [f"Not all anchors of the tab Review are in bold; the next run tries again: {error}"]
        return []

    def _format(self, tab: Tab, seen: Board | None) -> bool:
        """Put anchors in bold within their sentences, and renew the looks of an earlier version.

        Leaves the editors' own rows and formats alone. Returns whether anything was to be changed.
        """
        names = (LINK_ID, ANCHOR, SENTENCE)
        if seen is None or {*names} & {*seen.missing}:
            return False
        columns = [seen.columns[name] for name in names]
        rows = self._spreadsheet.rich_texts(tab, columns)
        if not rows or [cell.text for cell in rows[0]] != [seen.header[column] for column in columns]:
            # Somebody moved the columns in the meantime.
            return False
        requests = [] if self._is_renewed else renewed(tab, seen.columns)
        wrong = {}
        for row, (link, anchor, sentence) in enumerate(rows):
            wanted = bold_runs(sentence.text, anchor_span(sentence.text, anchor.text.strip()))
            if row and link.text and sentence.text and wrong_runs(sentence, wanted):
                wrong[row] = wanted
        if requests:
            self._spreadsheet.change(requests)
            self._is_renewed = True
        for some in marked(tab.number, seen.columns[SENTENCE], wrong):
            self._spreadsheet.change(some)
        return bool(requests or wrong)

    def _look_and_write(self, tab: Tab, placing: Placing) -> bool:
        """Read the tab and do the first part of what is left; return False if nothing is, or no write is left."""
        board = self._board(tab)
        work = placing.compare(board)
        if not work:
            return False
        if work.columns:
            requests = [new_column(tab, place, name) for place, name in insertions(board)]
            self._spreadsheet.change([*chain.from_iterable(requests)])
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
        """Append rows part by part, as long as the columns keep their positions."""
        looks = [*formatted(tab.number, board.columns, len(board.rows) + 1), *wider_filter(tab.facts)]
        for number, part in enumerate(parts_of(lines)):
            if number and self._board(tab, "1:1").header != board.header:
                return
            placing.appending(part)
            self._spreadsheet.change([appended(tab.number, part, board.columns), *looks])

    def _board(self, tab: Tab, cells: str | None = None) -> Board:
        values = self._spreadsheet.values(tab, cells, **_AS_THEY_ARE)
        return Board(values[0] if values else [], values[1:])

    def _found(self) -> tuple[Tab | None, list[Tab]]:
        """Return our tab and all tabs."""
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
        # Any number of 31 bits works, but requests that are sent with the new tab must know the number.
        first = zlib.crc32(METADATA_KEY.encode()) >> 1
        number = next(each for each in count(first) if each not in used)
        self._spreadsheet.change(new_tab(number, title))
        found, _ = self._found()
        if not found:
            raise InputError(f"{self.name}: the tab was deleted during the run. Run again.")
        return found


def _is_ours(tab: Tab) -> bool:
    marks = tab.facts.get("developerMetadata", [])
    # In a copy of our tab the metadata has the original's number.
    return any(
        mark.get("metadataKey") == METADATA_KEY and mark.get("metadataValue") == str(tab.number)
        for mark in marks
    )


def _deleted(tab: Tab, first: int, last: int) -> dict[str, object]:
    span = {"sheetId": tab.number, "dimension": "ROWS", "startIndex": first - 1, "endIndex": last}
    return {"deleteDimension": {"range": span}}
