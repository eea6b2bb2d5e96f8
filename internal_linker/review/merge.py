"""A review desk as it stands + the links that it is to show -> which cells to write, and what editors said."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from internal_linker.adapters.tables.columns import Cell, fold_header, text_of
from internal_linker.core.edges import VERDICTS, ReviewRow, Status, Verdict

"""What the tool writes into a cell; only the score is a number."""
Row = Sequence[Any]
"""A row as a desk's library gives it: texts, numbers, truth values, dates; it may end early."""

STATUS, ANCHOR, NOTES, SCORE = "Status", "Anchor", "Notes", "Score"
SOURCE, TARGET = "Source", "Target"
# Hidden: what a row is known by, and the anchor that the tool itself wrote last.
LINK_ID, PROPOSED = "Link ID", "Proposed Anchor"
# Editors may add it, to say who decided.
WHO = "Who"
# In the order in which a new desk has them.
COLUMNS = (*(STATUS, ANCHOR, "Sentence", SOURCE, TARGET, SCORE, "Tier", "Why", NOTES, LINK_ID, PROPOSED),)
HIDDEN = (LINK_ID, PROPOSED)
# What editors write into; the rest is the tool's.
EDITORS = (STATUS, ANCHOR, NOTES)
STATUSES: tuple[Status, ...] = get_args(Status)
# Where one of these stands, no editor has decided.
UNDECIDED = frozenset({"", *STATUSES} - set(VERDICTS))

# From here on a link is good, and below this it is doubtful: the tiers' default bounds.
GREEN, AMBER = 0.80, 0.65
EXPLAINED = {
    STATUS: "Choose accepted or rejected; edited, if you changed the anchor. The tool itself writes "
    "proposed, live (found on the site) and withdrawn, and never changes your word.",
    ANCHOR: "The text to put the link on. Change it freely: the tool leaves your text alone.",
    SCORE: "How strong the link is, from 0 to 1: green from 0.80, amber from 0.65, grey below.",
    "Tier": "Where the link belongs: inline in the text (strong), in a sidebar, or only after your review.",
    NOTES: "For your own notes; the tool reads them and never changes them.",
}

# Excel's limit in units of UTF-16; Google takes 50,000.
LONGEST_CELL = 32_767
_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ufffe\uffff]+")
# Scores are written with four decimals.
_SAME_SCORE = 5e-5


class Board:
    """One reading of a desk; rows count from 0 below the header.

    Args:
        header: the first row.
        rows: all others, those of nobody included.
    """

    def __init__(self, header: Row, rows: Sequence[Row]) -> None:
        self.header, self.rows = [text_of(cell) for cell in header], rows
        folded = [fold_header(name) for name in self.header]
        known = {name: fold_header(name) for name in (*COLUMNS, WHO)}
        self.columns = {name: folded.index(text) for name, text in known.items() if text in folded}
        """Where our columns stand, from 0, whatever stands between them."""
        self.missing = [name for name in COLUMNS if name not in self.columns]

    def cell(self, row: int, column: int | None) -> Any:
        """What stands there, "" outside of what is filled."""
        line = self.rows[row]
        return "" if column is None or column >= len(line) else line[column]

    def text(self, row: int, name: str) -> str:
        """The text in one of our columns."""
        return text_of(self.cell(row, self.columns.get(name)))

    def link_id(self, row: int) -> str:
        """Which link the row is about; "" for a row of somebody else's."""
        return self.text(row, LINK_ID).strip()

    def status(self, row: int) -> str:
        """The status in small letters, whatever it is."""
        return self.text(row, STATUS).strip().casefold()

    def touched(self, row: int) -> bool:
        """Whether an editor left a word in it: a status, an anchor or a note."""
        anchor = self.text(row, ANCHOR).strip()
        own_anchor = bool(anchor) and anchor != self.text(row, PROPOSED).strip()
        return self.status(row) not in UNDECIDED or own_anchor or bool(self.text(row, NOTES).strip())


@dataclass(frozen=True, slots=True)
class Merge:
    """What a desk lacks to show the links that are wanted, with every word of the editors in its place.

    Attributes:
        changes: by row, the columns that have another text to hold.
        removed: rows of links that are wanted no more and that no editor touched, and their needless copies.
        new: links that stand nowhere yet, all columns each.
    """

    changes: Mapping[int, Mapping[str, Cell]]
    removed: Sequence[int]
    new: Sequence[Mapping[str, Cell]]


def merge(board: Board, wanted: Sequence[ReviewRow]) -> Merge:
    """Compare a desk with the links wanted; an id that is wanted twice counts once, the last time.

    Status is written only where the tool's own word or nothing stands, Anchor only where nothing
    stands or where the tool's last text still does and nobody has decided, Notes only in a new row.
    An editor's copy of a row is a row like others.
    """
    rows = {row.id: row for row in wanted}
    copies = _needless_copies(board)
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
    """What stands beside each link, in the rows' order; an id appears again only where editors said more."""
    copies = _needless_copies(board)
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
    """Whether a cell holds what is wanted, numbers to four decimals."""
    if isinstance(wanted, str):
        return text_of(cell) == wanted
    try:
        return abs(float(cell) - wanted) <= _SAME_SCORE
    except (TypeError, ValueError):
        return False


def clean(text: str) -> str:
    """A text as any cell can hold it: no control characters, no half letters, not too long."""
    line = _CONTROLS.sub(" ", text).strip()
    return line.encode("utf-16-le", "ignore")[: 2 * LONGEST_CELL].decode("utf-16-le", "ignore")


def _needless_copies(board: Board) -> set[int]:
    """Of several rows of a link, those that say nothing beside others; one always stays."""
    found: dict[str, list[int]] = {}
    for at in range(len(board.rows)):
        if link := board.link_id(at):
            found.setdefault(link, []).append(at)
    needless: set[int] = set()
    for rows in found.values():
        if len(rows) > 1:
            needless.update(set(rows) - set([at for at in rows if board.touched(at)] or rows[:1]))
    return needless


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
