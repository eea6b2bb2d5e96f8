"""The tab Review of a Google Sheet: shows proposed links while editors work in it, and reads their decisions."""

import json
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count

from internal_linker.model.columns import ENGLISH, REVIEW_KEYS, Language, LinkView
from internal_linker.model.edges import Verdict
from internal_linker.model.errors import InputError, OutputError, ServiceError
from internal_linker.review.google_tab_format import (
    METADATA_KEY,
    appended,
    bold_runs,
    formatted,
    marked,
    new_column,
    new_tab,
    renewed,
    translated,
    wider_filter,
    wrong_runs,
)
from internal_linker.review.merge import Board, insertions, merge, remarks, verdicts
from internal_linker.review.rows import anchor_span
from internal_linker.sources.google_sheets.client import GOOGLE
from internal_linker.sources.google_sheets.reconcile import Line, Reading, Writes
from internal_linker.sources.google_sheets.spreadsheet import (
    MAX_BYTES,
    Cells,
    Spreadsheet,
    Tab,
    chunks,
    tabs_of,
)
from internal_linker.sources.http.limits import with_retries
from internal_linker.sources.tables.columns import Cell, text_of

_TITLE = "Review"
# How often links are written and formatted if rows move in the meantime.
_ROUNDS = 3
# Numbers in full, whatever their format; dates as the Sheet shows them.
_AS_THEY_ARE = {"valueRenderOption": "UNFORMATTED_VALUE", "dateTimeRenderOption": "FORMATTED_STRING"}

# Bytes of Google's JSON around each appended cell.
_FRAME = 50
# Runs of rows to delete in one call; each is a separate request to Google and shifts all rows below.
MAX_RUNS = 1000

# How often missing columns are restored; an editor may be changing them.
_INSERTS = 2
# How often the hidden cells are put beside their links again.
_REUNIONS = 2
# Writes beyond those planned: some to place links again after editors moved rows, and some to restore editors' cells
# that a write hit.
_REPAIRS, _CORRECTIONS = 3, 6


@dataclass(frozen=True, slots=True)
class Work:
    """What a reading shows to be left; the first attribute that is not empty comes next."""

    # Names of columns to insert.
    columns: Sequence[str] = ()
    cells: Cells | None = None
    # Rows to append, with a cell for each column of the tab.
    new: Sequence[Line] = ()
    # Runs of rows to delete, as first and last row from 1, the bottom run first.
    removed: Sequence[tuple[int, int]] = ()

    def __bool__(self) -> bool:
        return bool(self.columns or self.cells or self.new or self.removed)

    @property
    def requests(self) -> int:
        """The count of writes with a reading before each; new rows need only one reading."""
        parts = sum(1 for _ in chunks(self.cells)) if self.cells else 0
        return parts + bool(self.new) + -(-len(self.removed) // MAX_RUNS)


def require_ids(board: Board) -> None:
    """Refuse a board whose rows can't be identified.

    Raises:
        OutputError: the hidden column of ids is gone, but others are there.
    """
    if "link_id" in board.missing and (board.columns or board.rows):
        raise OutputError(
            "The tab Review has no column 'Link ID' in row 1 any more, so its rows can't be "
            "identified. Restore it with File > Version history, or delete the tab: the next run creates a new one."
        )


def parts_of(lines: Sequence[Line]) -> Iterator[Sequence[Line]]:
    """Split rows into parts that fit one request each."""
    part: list[Line] = []
    size = 0
    for line in lines:
        own = sum(_FRAME + len(json.dumps(cell)) for cell in line)
        if part and size + own > MAX_BYTES:
            yield part
            part, size = [], 0
        part.append(line)
        size += own
    if part:
        yield part


def runs_from_below(rows: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield runs of rows in the sheet's numbers, the bottom run first, from row numbers that start below the header."""
    last: int | None = None
    first = 0
    for row in sorted((at + 2 for at in rows), reverse=True):
        if last is not None and row == first - 1:
            first = row
            continue
        if last is not None:
            yield first, last
        first = last = row
    if last is not None:
        yield first, last


class Placing:
    """The placing of one run's links in a tab that editors may be sorting, widening and filling.

    Each `compare` takes a new reading and returns what is left to do. Cells that a write hit because rows or columns
    moved get back their texts, and rows that were deleted instead of others come back (`Writes`).
    """

    def __init__(self, wanted: Sequence[LinkView]) -> None:
        self._wanted = wanted
        self._writes = Writes()
        self._board: Board | None = None
        self.seen: Board | None = None
        """The last reading."""
        self._anchors: dict[str, tuple[str, str]] = {}
        self._work = Work()
        self._restored = set[str]()
        self._inserts_left, self._reunions_left = _INSERTS, _REUNIONS
        self._corrections_left = _CORRECTIONS
        self._writes_left = -1

    def compare(self, now: Board) -> Work:
        """Return what is left to do; nothing once no write is left.

        Raises:
            OutputError: the column of ids is gone.
        """
        require_ids(now)
        self.seen = now
        table = _table(now)
        strays, gone = self._writes.compare(table)
        self._restored.update(now.missing)
        if now.missing:
            self._work = Work(columns=now.missing)
            self._inserts_left -= 1
            return self._work if self._inserts_left >= 0 else Work()
        strays |= self._half_anchors(_board(table.changed(strays)))
        self._board = corrected = _board(table.changed(strays), self._restored)
        if apart := _places(corrected, corrected.apart):
            return self._reunite(apart)
        found = merge(corrected, self._wanted)
        cells = {**strays, **_places(corrected, found.changes)}
        back = {text_of(line[corrected.columns["link_id"]]) for line in gone}
        lines = [*gone, *(_line(corrected, cells) for cells in found.new if cells["link_id"] not in back)]
        self._work = Work(cells=cells, new=lines, removed=list(runs_from_below(found.removed)))
        if self._writes_left < 0:
            self._writes_left = self._work.requests + _REPAIRS
        if (strays or gone) and not self._writes_left and self._corrections_left:
            self._corrections_left -= 1
            self._writes_left = 1
            return Work(cells=cells if strays else None, new=gone)
        return self._work if self._writes_left else Work()

    def _reunite(self, apart: Cells) -> Work:
        """Return the write of all hidden cells that were sorted apart from their links: all at once, or none.

        Raises:
            OutputError: they are too many for one request, or did not stay.
        """
        self._reunions_left -= 1
        if self._reunions_left < 0 or sum(1 for _ in chunks(apart)) > 1:
            raise OutputError(
                "Rows of the tab Review were sorted without its hidden columns, so they can't be updated; what editors "
                "decided in them was read. Undo the sort with File > Version history, or delete the tab: the next run "
                "creates a new one with all decisions."
            )
        self._work = Work(cells=apart)
        return self._work

    def writing(self, cells: Cells) -> None:
        """Record the cells that are about to be written; even a failed request may have been carried out."""
        assert self._board
        self._writes.sending(cells)
        board, at = self._board, self._board.columns
        self._anchors |= {
            board.link_id(row - 2): (board.text(row - 2, "anchor"), str(cell))
            for (row, column), cell in cells.items()
            if column == at["proposed"] + 1 and cells.get((row, at["anchor"] + 1)) == cell
        }

    def appending(self, lines: Sequence[Line]) -> None:
        """Record the rows that are about to be appended."""
        assert self._board
        self._writes.appending(lines)
        at = self._board.columns
        texts = [[text_of(line[at[name]]) for name in ("link_id", "anchor", "proposed")] for line in lines]
        self._anchors |= {link: ("", anchor) for link, anchor, proposed in texts if anchor == proposed}

    def deleting(self, runs: Sequence[tuple[int, int]]) -> None:
        """Record the rows that are about to be deleted."""
        self._writes.deleting(row for first, last in runs for row in range(first, last + 1))

    def written(self) -> None:
        """Record that a write succeeded."""
        self._writes_left -= 1

    def problems(self) -> list[str]:
        """Describe what the last reading showed to be missing or wrong, one sentence per kind."""
        work, sentences = self._work, list[str]()
        if work.columns:
            assert self.seen
            names = ", ".join(self.seen.language.headers[key] for key in work.columns)
            sentences.append(f"Columns of the tab Review could not be restored: {names}. Run again.")
        if rows := sorted({row for row, _ in work.cells or ()}):
            sentences.append(
                f"Rows of the tab Review did not keep what was written: {_some(rows)}. Check whether their cells are "
                "merged or being edited."
            )
        if work.new:
            sentences.append(f"{len(work.new)} links could not be added to the tab Review. Run again.")
        if work.removed:
            sentences.append(
                f"{len(work.removed)} rows of old links could not be removed from the tab Review. Run again."
            )
        if self._writes.lost:
            sentences.append(
                f"Rows of the tab Review may contain another row's text, because rows moved while links were written: "
                f"{_some(sorted(self._writes.lost))}. File > Version history shows their earlier content."
            )
        return sentences

    def _half_anchors(self, board: Board) -> dict[tuple[int, int], str]:
        """Return both cells of rows that got a new anchor without the tool's record of it, or the reverse."""
        cells = dict[tuple[int, int], str]()
        for row in range(len(board.rows)):
            old, new = self._anchors.get(board.link_id(row), ("", ""))
            shown, noted = board.text(row, "anchor"), board.text(row, "proposed")
            if new and (shown == new) != (noted == new) and shown in (old, new):
                cells |= {(row + 2, board.columns[name] + 1): new for name in ("anchor", "proposed")}
        return cells


def _places(board: Board, changes: Mapping[int, Mapping[str, Cell]]) -> dict[tuple[int, int], Cell]:
    return {
        (row + 2, board.columns[name] + 1): cell
        for row, cells in changes.items()
        for name, cell in cells.items()
    }


def _line(board: Board, cells: Mapping[str, Cell]) -> Line:
    line: Line = [None] * (max(board.columns.values()) + 1)
    for name, cell in cells.items():
        line[board.columns[name]] = cell
    return line


def _board(table: Reading, restored: Collection[str] = ()) -> Board:
    return Board(table.values[0], table.values[1:], restored)


def _table(board: Board) -> Reading:
    at = {name: column + 1 for name, column in board.columns.items() if name in REVIEW_KEYS}
    keys = [["link_id"], ["source", "target"]]
    known = [[at[name] for name in names] for names in keys if at.keys() >= {*names}]
    return Reading([board.header, *board.rows], 1, known, [*at.values()])


def _some(rows: Sequence[int]) -> str:
    shown = ", ".join(map(str, rows[:5]))
    return f"{shown} and {len(rows) - 5} more" if len(rows) > 5 else shown


class ReviewTab:
    """A ReviewDesk in the spreadsheet of the main queries; contacts Google only when it is used.

    The first `write` creates the tab. Metadata identifies the tab even if somebody renames it; hidden ids identify
    rows, and headers identify columns.

    Raises:
        ConfigurationError: `service_account` is not a usable key.
    """

    name = f"Google Sheet '{_TITLE}'"

    def __init__(
        self, service_account: str, sheet_id: str, language: Language = ENGLISH, *, api_url: str = GOOGLE
    ) -> None:
        ours, remedy = f"cells of the tab {_TITLE} are", "Run again."
        self._spreadsheet = Spreadsheet(service_account, sheet_id, api_url, ours, remedy)
        self._language = language
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
        self._remarks = remarks(board, self.name, self._language)
        return verdicts(board, f"{tab.title} tab")

    def remarks(self) -> Sequence[str]:
        """Return what the last `read` couldn't take as a decision, one sentence each."""
        return self._remarks

    def write(self, items: Iterable[LinkView]) -> list[str]:
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
                return [f"The format of the tab Review is not complete; the next run tries again: {error}"]
        return []

    def _format(self, tab: Tab, seen: Board | None) -> bool:
        """Put anchors in bold within their sentences, and add what a tab of an earlier version lacks.

        Leaves the editors' own rows and formats alone. Returns whether anything was to be changed.
        """
        names = ("link_id", "anchor", "sentence")
        if seen is None or {*names} & {*seen.missing}:
            return False
        columns = [seen.columns[name] for name in names]
        rows = self._spreadsheet.rich_texts(tab, columns)
        if not rows or [cell.text for cell in rows[0]] != [seen.header[column] for column in columns]:
            # Somebody moved the columns in the meantime.
            return False
        # As it is now: requests of which the answer got lost were carried out.
        found, _ = self._found()
        requests = renewed(found, seen, len(rows)) if found else []
        wrong = {}
        for row, (link, anchor, sentence) in enumerate(rows):
            wanted = bold_runs(sentence.text, anchor_span(sentence.text, anchor.text.strip()))
            if row and link.text and sentence.text and wrong_runs(sentence, wanted):
                wrong[row] = wanted
        if requests:
            self._spreadsheet.change(requests)
        for some in marked(tab.number, seen.columns["sentence"], wrong):
            self._spreadsheet.change(some)
        return bool(requests or wrong)

    def _look_and_write(self, tab: Tab, placing: Placing) -> bool:
        """Read the tab and do the first part of what is left; return False if nothing is, or no write is left."""
        board = self._board(tab)
        require_ids(board)
        if not placing.seen and (requests := translated(tab, board, self._language)):
            self._spreadsheet.change(requests)
            board = self._board(tab)
        work = placing.compare(board)
        if not work:
            return False
        if work.columns:
            inserted = (new_column(tab, place, name, board.language) for place, name in insertions(board))
            self._spreadsheet.change([*chain.from_iterable(inserted)])
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
        looks = [*formatted(tab.number, board, len(board.rows) + 1), *wider_filter(tab.facts)]
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
        self._spreadsheet.change(new_tab(number, title, self._language))
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
