"""Merging links into a review desk: which cells to write, which rows to add or remove, and what editors wrote."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from internal_linker.adapters.tables.columns import Cell, fold_header, text_of
from internal_linker.core.edges import VERDICTS, ReviewRow, Status, Verdict

Row = Sequence[Any]
"""A row from a desk's library: texts, numbers, booleans, dates; it may lack empty cells at its end."""

STATUS, ANCHOR, NOTES, SCORE = "Status", "Anchor", "Notes", "Score"
SOURCE, TARGET = "Source", "Target"
# Hidden: the row's id, and the anchor that the tool wrote last.
LINK_ID, PROPOSED = "Link ID", "Proposed Anchor"
# Editors may add this column to say who decided.
WHO = "Who"
# In the order of a new desk.
COLUMNS = (*(STATUS, ANCHOR, "Sentence", SOURCE, TARGET, SCORE, "Tier", "Why", NOTES, LINK_ID, PROPOSED),)
HIDDEN = (LINK_ID, PROPOSED)
# Editors write into these columns, and the tool into the others.
EDITORS = (STATUS, ANCHOR, NOTES)
STATUSES: tuple[Status, ...] = get_args(Status)
# Statuses of a row that no editor has decided.
UNDECIDED = frozenset({"", *STATUSES} - set(VERDICTS))

# The default thresholds of the tiers: green from the first, amber from the second.
GREEN, AMBER = 0.80, 0.65
EXPLAINED = {
    STATUS: "Choose accepted or rejected, or edited if you changed the anchor. The tool writes "
    "proposed, live (found on the site) and withdrawn, and never changes your decision.",
    ANCHOR: "The text to put the link on. Change it freely: the tool never changes your text.",
    SCORE: "The strength of the link, from 0 to 1: green from 0.80, amber from 0.65, grey below.",
    "Tier": "Where the link belongs: inline in the text (strong), in a sidebar, or only after your review.",
    NOTES: "Your own notes. The tool reads them and never changes them.",
}

# Excel's limit in UTF-16 units; Google's is 50,000.
LONGEST_CELL = 32_767
_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ufffe\uffff]+")
# Scores are written with four decimals.
_SAME_SCORE = 5e-5


class Board:
    """One reading of a desk; rows count from 0 below the header.

    Args:
        header: the first row.
        rows: all other rows, including those without an id.
    """

    def __init__(self, header: Row, rows: Sequence[Row]) -> None:
        self.header, self.rows = [text_of(cell) for cell in header], rows
        folded = [fold_header(name) for name in self.header]
        known = {name: fold_header(name) for name in (*COLUMNS, WHO)}
        self.columns = {name: folded.index(text) for name, text in known.items() if text in folded}
        """The positions of our columns, from 0; other columns may be between them."""
        self.missing = [name for name in COLUMNS if name not in self.columns]

    def cell(self, row: int, column: int | None) -> Any:
        """Return a cell's content, "" outside the filled range."""
        line = self.rows[row]
        return "" if column is None or column >= len(line) else line[column]

    def text(self, row: int, name: str) -> str:
        """Return the text in one of our columns."""
        return text_of(self.cell(row, self.columns.get(name)))

    def link_id(self, row: int) -> str:
        """Return the id of the row's link; "" for a row that somebody else added."""
        return self.text(row, LINK_ID).strip()

    def status(self, row: int) -> str:
        """Return the text of the status cell in lower case."""
        return self.text(row, STATUS).strip().casefold()

    def touched(self, row: int) -> bool:
        """Return whether an editor left a decision, an anchor or a note in the row."""
        anchor = self.text(row, ANCHOR).strip()
        own_anchor = bool(anchor) and anchor != self.text(row, PROPOSED).strip()
        return self.status(row) not in UNDECIDED or own_anchor or bool(self.text(row, NOTES).strip())


@dataclass(frozen=True, slots=True)
class Merge:
    """The changes that make a desk show the links wanted, without changing anything that editors wrote.

    Attributes:
        changes: the new contents of cells, by row and column name.
        removed: rows of links that are no longer wanted and that no editor touched, and redundant copies of rows.
        new: the rows of new links, with all columns.
    """

    changes: Mapping[int, Mapping[str, Cell]]
    removed: Sequence[int]
    new: Sequence[Mapping[str, Cell]]


def merge(board: Board, wanted: Sequence[ReviewRow]) -> Merge:
    """Compare a desk with the links wanted; if an id comes twice, its last row counts.

    The tool writes Status only over an empty cell or its own status, and Anchor only into an empty cell or over its
    own last text while nobody has decided. It writes Notes only in new rows. An editor's copy of a row counts as a row.
    """
    rows = {row.id: row for row in wanted}
    copies = _redundant_copies(board)
    changes, removed, seen = {}, [], set[str]()
    for at in range(len(board.rows)):
        if not (link := board.link_id(at)):
            continue
        if at in copies or (link not in rows and not board.touched(at)):
            removed.append(at)
            continue
        seen.add(link)
        if link in rows and (cells := _changes(board, at, rows[link])):
            changes[at] = cells
    return Merge(changes, removed, [_cells(row) for row in rows.values() if row.id not in seen])


def verdicts(board: Board, by: str) -> list[Verdict]:
    """Return what editors wrote beside each link, in row order; an id repeats only if several copies say something."""
    copies = _redundant_copies(board)
    rows = [at for at in range(len(board.rows)) if board.link_id(at) and at not in copies]
    return [
        Verdict(
            board.link_id(at),
            next((status for status in STATUSES if status == board.status(at)), ""),
            board.text(at, ANCHOR),
            board.text(at, NOTES),
            board.text(at, WHO).strip() or by,
        )
        for at in rows
    ]


def same(cell: Any, wanted: Cell) -> bool:
    """Return whether a cell has the wanted content, numbers to four decimals."""
    if isinstance(wanted, str):
        return text_of(cell) == wanted
    try:
        return abs(float(cell) - wanted) <= _SAME_SCORE
    except (TypeError, ValueError):
        return False


def clean(text: str) -> str:
    """Return a text that fits any cell: without control characters and lone surrogates, and not too long."""
    line = _CONTROLS.sub(" ", text).strip()
    return line.encode("utf-16-le", "ignore")[: 2 * LONGEST_CELL].decode("utf-16-le", "ignore")


def _redundant_copies(board: Board) -> set[int]:
    """Return the rows that add nothing to other rows of their link; one row per link always stays."""
    found: dict[str, list[int]] = {}
    for at in range(len(board.rows)):
        if link := board.link_id(at):
            found.setdefault(link, []).append(at)
    redundant: set[int] = set()
    for rows in found.values():
        if len(rows) > 1:
            redundant.update(set(rows) - set([at for at in rows if board.touched(at)] or rows[:1]))
    return redundant


def _changes(board: Board, at: int, row: ReviewRow) -> dict[str, Cell]:
    cells = _cells(row)
    del cells[NOTES]
    undecided = board.status(at) in UNDECIDED
    if not undecided:
        del cells[STATUS]
    anchor = board.text(at, ANCHOR).strip()
    if anchor and not (undecided and anchor == board.text(at, PROPOSED).strip()):
        del cells[ANCHOR], cells[PROPOSED]
    return {
        name: cell for name, cell in cells.items() if not same(board.cell(at, board.columns.get(name)), cell)
    }


def _cells(row: ReviewRow) -> dict[str, Cell]:
    score: Cell = "" if math.isnan(row.score) else round(row.score, 4)
    anchor = clean(row.anchor)
    texts = (clean(text) for text in (row.sentence, row.source, row.target))
    why, notes = clean(row.why), clean(row.notes)
    return dict(
        zip(COLUMNS, (row.status, anchor, *texts, score, row.tier, why, notes, row.id, anchor), strict=True)
    )
