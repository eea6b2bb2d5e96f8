"""The workbook files/review.xlsx: shows proposed links, and reads editors' decisions."""

import os
import re
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, BinaryIO

import xlsxwriter

from internal_linker.model.columns import ENGLISH, HIDDEN, REVIEW, REVIEW_KEYS, Language, LinkView
from internal_linker.model.edges import TIER_NAMES, Verdict
from internal_linker.model.errors import InputError, OutputError
from internal_linker.model.version import __version__
from internal_linker.review.merge import (
    COLOURS,
    Board,
    Merge,
    clean,
    insertions,
    merge,
    remarks,
    translation,
    verdicts,
)
from internal_linker.review.rows import anchor_span
from internal_linker.sources.tables.columns import text_of
from internal_linker.sources.tables.xlsx_reader import Sheet, readable, worksheets
from internal_linker.sources.tables.xlsx_writer import Marked, put_marked, put_text
from internal_linker.store.files.atomic import PAUSES_S, copy_aside, dated_name, remarks_on, replace_binary

_SHEET = "Review"
# The document property that holds a digest of the rows' order as the tool wrote it.
_ORDER = "Order of the links"
# The document property that names the version whose formats the workbook has.
_MADE, _MADE_BY = "Made by", f"internal-linker {__version__}"
# What the document properties look like until another program saves the workbook: it was never modified, by nobody.
_NEVER_SAVED = re.compile(
    rb"<dc:creator></dc:creator><cp:lastModifiedBy></cp:lastModifiedBy>"
    rb"<dcterms:created[^>]*>([^<]+)</dcterms:created><dcterms:modified[^>]*>\1</dcterms:modified>"
)
_OPTIONS = {
    # A title "=1+1" must not become a formula, and URLs must not use up the 65,530 links that a sheet may have.
    **{"strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False},
    **{"in_memory": True, "remove_timezone": True, "default_date_format": "yyyy-mm-dd hh:mm"},
}
# Parts of a workbook that rewriting its cells would lose.
_MORE = re.compile(r"xl/(comments|threadedComments|drawings|charts|media|persons)")
_FORMULA = re.compile(rb"<f[ />]")
# The columns that say what editors decided on which link.
_SAID = ("status", "anchor", "sentence", "notes", "who", "source", "target", *HIDDEN)
# Texts of which a workbook has another form, or which the library takes for such forms.
_UNUSUAL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]|_x[0-9A-Fa-f]{4}_|^<r>")
_REMEDY = "Move it to another folder and run again: the run creates a new one with all earlier decisions."
# How often the file is merged again because somebody saved it while the new one was being written.
_ATTEMPTS = 3


class _SavedMeanwhileError(Exception):
    """Somebody saved the file after it was read for the merge."""


class ReviewWorkbook:
    """A ReviewDesk in a file, which each `write` rebuilds as a whole, in the editors' order of rows and columns.

    Rows that nobody moved, and to which nobody added rows, come in the order of the links that are written. `replace`
    and `pauses` are as in `replace_binary`. The file need not exist.
    """

    def __init__(
        self,
        path: Path,
        language: Language = ENGLISH,
        *,
        replace: Callable[[Path, Path], None] = os.replace,
        pauses: Sequence[float] = PAUSES_S,
    ) -> None:
        self.path, self.name = path, path.name
        self._language, self._replace, self._pauses = language, replace, pauses
        self._last_read: tuple[bytes, list[list[list[Any]]]] | None = None
        self._written: tuple[str, Board] | None = None
        self._remarks: Sequence[str] = ()

    def state(self) -> str:
        """Return a digest of the file's content, "" if the file is missing or unreadable."""
        return (self._digest() or b"").hex()

    def read(self) -> Sequence[Verdict]:
        """Return what editors wrote beside each link; nothing if there is no file.

        Raises:
            InputError: the file is damaged, locked, or not one of our workbooks.
        """
        self._remarks = ()
        if not self.path.exists():
            return []
        board = self._board()
        self._remarks = remarks(board, self.name, self._language)
        return verdicts(board, self.name)

    def remarks(self) -> Sequence[str]:
        """Return what the last `read` couldn't take as a decision, one sentence each."""
        return self._remarks

    def write(self, items: Iterable[LinkView]) -> list[str]:
        """Rebuild the file; return sentences on what was unusual.

        A file that has all the rows already stays as it is. Compares the file right before replacing it: what somebody
        saved in the meantime is merged again. A file that keeps changing, or can't be read any more, stays, and the
        new one gets a dated name beside it.

        Raises:
            OutputError: the existing file can't be read, so it stays unchanged, or the new one can't be written.
        """
        wanted, told = list(items), list[str]()
        board = Board([self._language.headers[key] for key in REVIEW_KEYS], [])
        ours, self._written = True, None
        for attempt in range(_ATTEMPTS):
            seen = self._digest()
            try:
                # A file that is gone now may be one that an editor's program is about to replace.
                if seen is not None:
                    before = self._board()
                    board, ours = self._completed(before), self._in_our_order(before)
                    lines = _merged(board, wanted, ours=ours)
                    if lines == board.rows and board.header == before.header and self._is_as_written:
                        self._written = seen.hex(), board
                        return told
                    told += self._set_aside(before.unread)
                else:
                    lines = _merged(board, wanted, ours=ours)
            except InputError as error:
                if attempt:
                    break
                raise OutputError(str(error)) from None
            try:
                landed = self._rewrite(self.path, board, lines, seen, ours=ours)
            except _SavedMeanwhileError:
                continue
            return [*told, *remarks_on(self.path, landed)]
        lines = _merged(board, wanted, ours=ours)
        landed = self._rewrite(dated_name(self.path), board, lines, None, ours=ours)
        saved = f"{self.name} was being saved by another program and stays as it was saved;"
        return [*told, f"{saved} the new one is {landed.name}. Run again when nobody is saving it."]

    def written(self) -> tuple[str, Sequence[Verdict]] | None:
        """Return the state in which `write` left the file, and what `read` returns in it.

        None: it wrote none, or one with unusual texts, which might be read otherwise than they were written.
        """
        if self._written is None:
            return None
        state, board = self._written
        return (state, verdicts(board, self.name)) if _is_plain(board) else None

    def _rewrite(
        self, path: Path, board: Board, lines: Sequence[list[Any]], seen: bytes | None, *, ours: bool
    ) -> Path:
        """Write the merged rows to a file and return where it is.

        `seen` is the digest of `path` when the board was read, None for another file; `ours`: whether the rows are in
        the order of the links.

        Raises:
            _SavedMeanwhileError: `path` is our file, and its content is no longer the one that was `seen`.
        """
        state = ""

        def replace(new: Path, target: Path) -> None:
            nonlocal state
            if path == self.path and self._digest() != seen:
                raise _SavedMeanwhileError
            state = blake2b(new.read_bytes()).hexdigest()
            self._replace(new, target)

        landed = replace_binary(
            path, lambda file: _fill(file, board, lines, ours=ours), replace=replace, pauses=self._pauses
        )
        self._written = (state, Board(board.header, lines)) if landed == self.path else None
        return landed

    @property
    def _is_as_written(self) -> bool:
        """Whether this version wrote the file: other programs may lose formats, such as the anchor in bold."""
        made = _MADE_BY.encode() in self._part("docProps/custom.xml")
        return made and bool(_NEVER_SAVED.search(self._part("docProps/core.xml")))

    def _in_our_order(self, board: Board) -> bool:
        """Return whether the rows stand as the tool wrote them: none moved, none added, none removed."""
        ids = [board.link_id(at) for at in range(len(board.rows))]
        if not all(ids) or board.apart:
            return False
        # Without the record, which says nothing about links, the editors' order stays.
        return not ids or _order(ids).encode() in self._part("docProps/custom.xml")

    def _part(self, name: str) -> bytes:
        """Return a part of the file; b"" if there is none, or it can't be read."""
        try:
            with zipfile.ZipFile(self.path) as parts:
                return parts.read(name)
        except (KeyError, zipfile.BadZipFile, zlib.error, OSError, EOFError, ValueError, NotImplementedError):
            return b""

    def _digest(self) -> bytes | None:
        """Return a digest of the file's content; None if it does not exist, b"" if it can't be read."""
        if not self.path.exists():
            return None
        try:
            return blake2b(self.path.read_bytes()).digest() if self.path.is_file() else b""
        except OSError:
            return b""

    def _board(self) -> Board:
        boards = [Board(rows[0], rows[1:]) for rows in self._tables() if rows]
        board = next((each for each in boards if "link_id" in each.columns), None)
        if board is None:
            raise InputError(
                f"{self.path} has no sheet with the column 'Link ID' in row 1, so its rows can't be "
                f"identified. {_REMEDY}"
            )
        return board

    def _tables(self) -> list[list[list[Any]]]:
        """Return the cells of each sheet; a file that stayed the same is read once."""
        digest = self._digest()
        if digest and self._last_read and self._last_read[0] == digest:
            return self._last_read[1]
        with readable(self.path, _REMEDY):
            tables = [_from_the_corner(sheet) for sheet in worksheets(self.path)]
        # Somebody may have saved it while it was being read.
        self._last_read = (digest, tables) if digest and digest == self._digest() else None
        return tables

    def _completed(self, found: Board) -> Board:
        """Return the board in the desk's language, with the columns that it lacks, empty, each in its place."""
        header = [*found.header]
        for at, text in translation(found, self._language).items():
            header[at] = text
        board = Board(header, found.rows)
        if not board.missing and all(len(line) == len(header) for line in board.rows):
            return board
        places: list[int | None] = [*range(len(header))]
        for at, name in insertions(board):
            places.insert(at, None)
            header.insert(at, board.language.headers[name])
        width = len(board.header)
        rows = [[*line, *[""] * (width - len(line))] for line in board.rows]
        # Cells beyond the header stay beyond it.
        return Board(
            header,
            [["" if at is None else line[at] for at in places] + line[width:] for line in rows],
            board.missing,
        )

    def _set_aside(self, unread: Sequence[str]) -> list[str]:
        """Copy a file with content that the new one can't contain, or whose columns of editors are `unread`."""
        with readable(self.path, _REMEDY), zipfile.ZipFile(self.path) as parts:
            names = parts.namelist()
            sheets = [name for name in names if name.startswith("xl/worksheets/sheet")]
            more = any(map(_MORE.match, names)) or any(_FORMULA.search(parts.read(name)) for name in sheets)
        more = more or sum(map(bool, self._tables())) != 1
        if not more and not unread:
            return []
        copy = copy_aside(self.path).name
        if not more:
            columns = ", ".join(unread)
            return [
                f"{copy} is a copy of {self.name} as it was before the run added columns again: {columns}."
            ]
        return [f"{self.name} had more than rows of links (sheets, comments or formulas); {copy} is a copy."]


def _from_the_corner(sheet: Sheet) -> list[list[Any]]:
    """Return the cells from A1 on; nothing of an empty sheet."""
    return [[*[""] * sheet.column, *cells] for cells in sheet.rows]


def _fill(file: BinaryIO, board: Board, lines: Sequence[Sequence[Any]], *, ours: bool) -> None:
    """Write the workbook; `ours` says that the rows are in the tool's order."""
    with xlsxwriter.Workbook(file, _OPTIONS) as book:
        sheet = book.add_worksheet(_SHEET)
        bold = book.add_format({"bold": True})
        formats = _format_columns(book, sheet, board)
        for column, name in enumerate(board.header):
            put_text(sheet, 0, column, name, bold)
        for at, line in enumerate(lines, 1):
            marked = _marked(board, line)
            for column, cell in enumerate(line):
                if marked and column == board.columns["sentence"]:
                    put_marked(sheet, at, column, marked, bold=bold, style=formats.get(column))
                elif isinstance(cell, str):
                    put_text(sheet, at, column, cell, formats.get(column))
                elif cell is not None:
                    sheet.write(at, column, cell, formats.get(column))
        _format_rows(book, sheet, board, max(1, len(lines)))
        book.set_custom_property(_MADE, _MADE_BY, "text")
        if ours:
            ids = [text_of(line[board.columns["link_id"]]).strip() for line in lines]
            book.set_custom_property(_ORDER, _order(ids), "text")


def _marked(board: Board, line: Sequence[Any]) -> Marked | None:
    """Return the sentence of a row with its anchor in bold; None if it is not there, or the row is an editor's own."""
    link, sentence, anchor = (
        text_of(line[board.columns[name]]) for name in ("link_id", "sentence", "anchor")
    )
    span = anchor_span(sentence, anchor.strip()) if link else None
    return Marked(sentence, *span) if span else None


def _is_plain(board: Board) -> bool:
    """Return whether all that `verdicts` reads in the rows is read from a file as it was written there."""
    columns = [at for name, at in board.columns.items() if name in _SAID]
    cells = (line[at] for line in board.rows for at in columns)
    return all(isinstance(cell, str) and cell == cell.strip() and not _UNUSUAL.search(cell) for cell in cells)


def _order(ids: Sequence[str]) -> str:
    """Return a digest of the order of rows."""
    return blake2b("\n".join(ids).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _ordered(lines: Sequence[list[Any]], board: Board, wanted: Sequence[LinkView]) -> list[list[Any]]:
    """Return rows in the order of the links; rows of other links follow those of their page, else come last."""
    place = {link.edge.id: at for at, link in enumerate(wanted)}
    last = {clean(link.edge.source_url): at for at, link in enumerate(wanted)}

    def key(line: Sequence[Any]) -> tuple[int, bool]:
        at = place.get(text_of(line[board.columns["link_id"]]).strip())
        after = last.get(text_of(line[board.columns["source"]]).strip(), len(wanted))
        return (after, True) if at is None else (at, False)

    return sorted(lines, key=key)


def _merged(board: Board, wanted: Sequence[LinkView], *, ours: bool) -> Sequence[list[Any]]:
    """Return the rows of a board with all its columns, as they become; `ours` says that the links' order counts."""
    lines = [*_lines(board, merge(board, wanted))]
    return _ordered(lines, board, wanted) if ours else lines


def _lines(board: Board, found: Merge) -> Iterator[list[Any]]:
    gone, width = set(found.removed), len(board.header)
    for at, cells in enumerate(board.rows):
        if at not in gone:
            line = [*cells, *[""] * (width - len(cells))]
            for name, cell in found.changes.get(at, {}).items():
                line[board.columns[name]] = cell
            yield line
    for new in found.new:
        line = [""] * width
        for name, cell in new.items():
            line[board.columns[name]] = cell
        yield line


def _format_columns(book: Any, sheet: Any, board: Board) -> dict[int, Any]:
    """Set widths, notes and hidden columns; return the formats of cells by column."""
    formats: dict[str, dict[str, Any]] = {
        "anchor": {"num_format": "@"},  # an anchor "2024" stays text
        "notes": {"num_format": "@"},
        "score": {"num_format": "0"},
    }
    looks = dict[int, Any]()
    for column in REVIEW:
        at, key = board.columns[column.key], column.key
        wrap = {"text_wrap": True} if column.look == "text" else {}
        looks[at] = book.add_format({"valign": "top", **formats.get(key, {}), **wrap})
        sheet.set_column(at, at, column.width, looks[at], {"hidden": key in HIDDEN})
        if text := board.language.notes.get(key):
            message = {"validate": "any", "input_title": board.header[at], "input_message": text}
            sheet.data_validation(0, at, 0, at, message)
    return looks


def _format_rows(book: Any, sheet: Any, board: Board, last: int) -> None:
    """Add frozen panes, filter, drop-down and colours, down to the last row."""
    sheet.freeze_panes(1, 2)
    sheet.autofilter(0, 0, last, len(board.header) - 1)
    status = board.columns["status"]
    listed = {"validate": "list", "source": [*board.language.statuses.values()]}
    sheet.data_validation(1, status, last, status, listed)
    tier = board.columns["tier"]
    for name, colour in COLOURS.items():
        look = book.add_format({"bg_color": "#" + bytes(colour).hex()})
        rule = {"type": "cell", "criteria": "==", "value": f'"{TIER_NAMES[name]}"', "format": look}
        sheet.conditional_format(1, tier, last, tier, rule)
