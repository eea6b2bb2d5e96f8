"""Merging links into a review desk: which cells to write, which rows to add or remove, and what editors wrote."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from hashlib import blake2b
from typing import Any, cast, get_args
from urllib.parse import unquote

from internal_linker.model.edges import TIER_NAMES, VERDICTS, ReviewRow, Status, Tier, Verdict, score_of
from internal_linker.model.sections import section_of
from internal_linker.review.rows import reason
from internal_linker.sources.tables.columns import Cell, fold_header, text_of
from internal_linker.store.files.plain_text import shortened

Row = Sequence[Any]
"""A row from a desk's library: texts, numbers, booleans, dates; it may lack empty cells at its end."""

STATUS, ANCHOR, SENTENCE, NOTES = "Status", "Anchor", "Sentence", "Notes"
SCORE, TIER, WHY = "Score", "Tier", "Why"
SOURCE, TARGET = "Source", "Target"
SOURCE_TITLE, TARGET_TITLE, SECTION = "Source Title", "Target Title", "Source Section"
# Hidden: the row's id, the anchor and the status that a run wrote last, and a digest of the row's source and target,
# which shows that somebody sorted the visible columns without the hidden ones.
LINK_ID, PROPOSED, WRITTEN, ROW_KEY = "Link ID", "Proposed Anchor", "Written Status", "Row Key"
# Stands for the proposed anchor where the record of it got lost, because somebody deleted the hidden column.
UNKNOWN = "(unknown)"
# Editors may add this column to say who decided.
WHO = "Who"
# In the order of a new desk.
HIDDEN = (LINK_ID, PROPOSED, WRITTEN, ROW_KEY)
COLUMNS = (
    *(STATUS, ANCHOR, SENTENCE, SOURCE_TITLE, TARGET_TITLE, SECTION),
    *(SCORE, TIER, WHY, NOTES, SOURCE, TARGET, *HIDDEN),
)
# Editors write into these columns, and the tool into the others.
EDITORS = (STATUS, ANCHOR, NOTES)
STATUSES: tuple[Status, ...] = get_args(Status)
# Statuses of a row that no editor has decided.
UNDECIDED = frozenset({"", *STATUSES} - set(VERDICTS))

# The colours of score and tier, as red, green and blue: light enough for black text.
COLOURS: Mapping[Tier, tuple[int, int, int]] = {
    "inline": (198, 232, 201),
    "sidebar": (255, 232, 163),
    "review": (224, 224, 224),
}
EXPLAINED = {
    STATUS: "Choose accepted or rejected, or edited if you changed the anchor. The tool writes "
    "proposed, live (found on the site) and withdrawn, and never changes your decision.",
    ANCHOR: "The text to put the link on. Change it freely: the tool never changes your text.",
    SENTENCE: "The sentence in which the link goes; the anchor is in bold. Words in [brackets] are new text: if you "
    "accept the link, apply adds them. To accept it for a related box instead, empty this cell first.",
    SCORE: "How good the link is, from 0 to 100; links in the text always score more than others of their page.",
    TIER: "Where the link belongs: in the text (green), in a box of related links (amber), or only after your look at "
    "it (grey).",
    WHY: "Why the tool proposes the link. 'New text' means the title, for a box of related links or new words. "
    "A warning comes first if the anchor is not in the page's text, or only in a link or a heading.",
    NOTES: "Your own notes. The tool never changes what you write here.",
}

# What editors write into their columns.
_UNREAD = {STATUS: "decisions", ANCHOR: "anchors", NOTES: "notes"}
# How many rows a sentence names.
_NAMED = 3
# Excel's limit in UTF-16 units; Google's is 50,000.
LONGEST_CELL = 32_767
_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ufffe\uffff]+")
# Scores are whole numbers; a cell that an editor's program calculated may be off by a rounding error.
_SAME_SCORE = 5e-5


class Board:
    """One reading of a desk; rows count from 0 below the header.

    `restored` are names of our columns that were missing and have just been added, so that they are empty.
    """

    def __init__(self, header: Row, rows: Sequence[Row], restored: Collection[str] = ()) -> None:
        self.header, self.rows = [text_of(cell) for cell in header], rows
        folded = [fold_header(name) for name in self.header]
        known = {name: fold_header(name) for name in (*COLUMNS, WHO)}
        self.columns = {name: folded.index(text) for name, text in known.items() if text in folded}
        """The positions of our columns, from 0; other columns may be between them."""
        self.missing = [name for name in COLUMNS if name not in self.columns]
        self._restored = restored
        self.unread = [name for name in EDITORS if name in self.missing or name in restored]
        """The columns of editors that are missing or were just added: they say nothing about what editors decided."""
        self._homes = self._moved_apart()

    def cell(self, row: int, column: int | None) -> Any:
        """Return a cell's content, "" outside the filled range."""
        line = self.rows[row]
        return "" if column is None or column >= len(line) else line[column]

    def text(self, row: int, name: str) -> str:
        """Return the text in one of our columns; the hidden ones belong to the row's source and target."""
        home = self._homes.get(row, row) if name in HIDDEN else row
        return "" if home is None else self._raw(home, name)

    def proposed(self, row: int) -> str | None:
        """Return the anchor that a run last wrote into the row; None if the record of it got lost."""
        text = self.text(row, PROPOSED)
        lost = PROPOSED not in self.columns or PROPOSED in self._restored
        return None if lost or text == UNKNOWN else text

    def restored(self, row: int) -> dict[str, Cell]:
        """Return the hidden cells of a row whose visible cells were sorted without them; {} for all other rows."""
        return {name: self.text(row, name) for name in HIDDEN} if row in self._homes else {}

    @property
    def apart(self) -> dict[int, dict[str, Cell]]:
        """The hidden cells to write, by row, if the visible columns were sorted without the hidden ones."""
        return {row: cells for row in self._homes if (cells := _different(self, row, self.restored(row)))}

    def link_id(self, row: int) -> str:
        """Return the id of the row's link; "" for a row that somebody else added."""
        return self.text(row, LINK_ID).strip()

    def status(self, row: int) -> str:
        """Return the text of the status cell in lower case."""
        return self.text(row, STATUS).strip().casefold()

    def touched(self, row: int) -> bool:
        """Return whether an editor left a decision, an anchor or a note in the row, or may have left one elsewhere."""
        anchor = self.text(row, ANCHOR).strip()
        own_anchor = bool(anchor) and anchor != self.text(row, PROPOSED).strip()
        noted = bool(self.text(row, NOTES).strip())
        return bool(self.unread) or self.status(row) not in UNDECIDED or own_anchor or noted

    def _raw(self, row: int, name: str) -> str:
        return text_of(self.cell(row, self.columns.get(name)))

    def _moved_apart(self) -> dict[int, int | None]:
        """Return the rows whose visible and hidden cells were sorted apart, with the row that has their hidden cells.

        None: the row had none. A row whose source or target somebody changed keeps its own hidden cells.
        """
        keys = [self._raw(row, ROW_KEY).strip() for row in range(len(self.rows))]
        if not any(keys) or {SOURCE, TARGET} & {*self.missing}:
            return {}
        own = [row_key(self._raw(row, SOURCE), self._raw(row, TARGET)) for row in range(len(self.rows))]
        astray = [row for row, key in enumerate(keys) if key and key != own[row]]
        left: dict[str, list[int]] = {}
        for row in reversed(astray):
            left.setdefault(keys[row], []).append(row)
        homes: dict[int, int | None] = {}
        for row in range(len(self.rows)) if astray else ():
            # A row with an id but without a digest was written before there was one.
            may_claim = keys[row] != own[row] if keys[row] else not self._raw(row, LINK_ID).strip()
            if may_claim and left.get(own[row]):
                homes[row] = left[own[row]].pop()
        taken = {*homes.values()}
        return homes | {row: None for row in astray if row in taken and row not in homes}


@dataclass(frozen=True, slots=True)
class Merge:
    """The changes that make a desk show the links wanted, without changing anything that editors wrote."""

    # The new contents of cells, by row and column name.
    changes: Mapping[int, Mapping[str, Cell]]
    # Rows of links that are no longer wanted and that no editor touched, and redundant copies of rows.
    removed: Sequence[int]
    # The rows of new links, with all columns.
    new: Sequence[Mapping[str, Cell]]


def merge(board: Board, wanted: Sequence[ReviewRow]) -> Merge:
    """Compare a desk with the links wanted; if an id comes twice, its last row counts.

    The tool writes Status only over an empty cell or its own status, and Anchor only into an empty cell or over its
    own last text while nobody has decided. An anchor or a note from elsewhere (the terminal, Python) also replaces a
    cell that has not changed since the tool last read it. An editor's copy of a row counts as a row.
    """
    rows = {row.id: row for row in wanted}
    # Rows that have the id of another form of the site's URLs get today's.
    todays = {former: row.id for row in wanted for former in row.former_ids}
    copies = _redundant_copies(board)
    changes, removed, seen = {}, [], set[str]()
    for at in range(len(board.rows)):
        if not (link := board.link_id(at)):
            if cells := _different(board, at, board.restored(at)):
                changes[at] = cells
            continue
        link = todays.get(link, link)
        if at in copies or (link not in rows and not board.touched(at)):
            removed.append(at)
            continue
        seen.add(link)
        if cells := _changes(board, at, rows.get(link)):
            changes[at] = cells
    return Merge(changes, removed, [_cells(row) for row in rows.values() if row.id not in seen])


def insertions(board: Board) -> list[tuple[int, str]]:
    """Return where to insert the columns that a desk lacks, one after another: position from 0, and name.

    Each comes after the column that precedes it in a new desk.
    """
    found = list[tuple[int, str]]()
    places = dict(board.columns)
    for name in board.missing:
        before = [places[each] for each in COLUMNS[: COLUMNS.index(name)] if each in places]
        at = before[-1] + 1 if before else 0
        places = {each: place + (place >= at) for each, place in places.items()} | {name: at}
        found.append((at, name))
    return found


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
            board.proposed(at),
            board.text(at, WRITTEN).strip() or None,
            _unread(board, at),
            wording if "[" in (wording := board.text(at, SENTENCE).strip()) else "",
        )
        for at in rows
    ]


def remarks(board: Board, desk: str) -> list[str]:
    """Return what editors wrote that `verdicts` can't take, one sentence per kind; `desk` names the place."""
    found = list[str]()
    if not any(board.link_id(at) for at in range(len(board.rows))):
        return found
    for name in board.unread:
        what = _UNREAD[name]
        other = next((each for each in board.header if name == STATUS and _has_statuses(board, each)), "")
        where = f"in the column '{other}'" if other else "under another heading"
        found.append(
            f"{desk} has no column '{name}' in row 1, so {what} {where} were not read: stored {what} stay, and the "
            f"column comes back with them. Enter {what} there, and keep its heading '{name}'."
        )
    odd = [at for at in range(len(board.rows)) if board.link_id(at) and _is_odd(board, at)]
    if odd:
        named = [_named(board, at) for at in odd[:_NAMED]]
        more = [f"{len(odd) - _NAMED:,} more"] * (len(odd) > _NAMED)
        found.append(
            f"{desk} has texts in the column '{STATUS}' that are no status, so they were not read: "
            f"{', '.join([*named, *more])}. Choose a status from the list."
        )
    return found


def _unread(board: Board, at: int) -> tuple[str, ...]:
    names = [name for name in EDITORS if name in board.unread or (name == STATUS and _is_odd(board, at))]
    return tuple(name.lower() for name in names)


def _is_odd(board: Board, at: int) -> bool:
    return board.status(at) not in ("", *STATUSES)


def _has_statuses(board: Board, name: str) -> bool:
    """Return whether a column that is not ours contains editors' decisions."""
    place = board.header.index(name)
    cells = (text_of(board.cell(at, place)).strip().casefold() for at in range(len(board.rows)))
    return place not in board.columns.values() and any(cell in VERDICTS for cell in cells)


def _named(board: Board, at: int) -> str:
    text = shortened(board.text(at, STATUS).strip())
    near = get_close_matches(board.status(at), STATUSES, n=1)
    return f"row {at + 2} '{text}'" + (f" (did you mean {near[0]}?)" if near else "")


def same(cell: Any, wanted: Cell) -> bool:
    """Return whether a cell has the wanted content, numbers apart from rounding errors."""
    if isinstance(wanted, str):
        return text_of(cell) == wanted
    try:
        return abs(float(cell) - wanted) <= _SAME_SCORE
    except (TypeError, ValueError):
        return False


def clean(text: str) -> str:
    """Return a text that fits any cell: without control characters and lone surrogates, and not too long."""
    if 2 * len(text) <= LONGEST_CELL and text.isprintable():
        return text.strip()
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


def _changes(board: Board, at: int, row: ReviewRow | None) -> dict[str, Cell]:
    if row is None:
        return _different(board, at, {**board.restored(at), **_upgraded(board, at)})
    cells = _cells(row)
    notes = board.text(at, NOTES).strip()
    if notes != row.read.notes.strip() and (notes or NOTES not in board.unread):
        del cells[NOTES]
    undecided = board.status(at) in UNDECIDED
    if not undecided:
        del cells[STATUS], cells[WRITTEN]
    anchor, proposed = board.text(at, ANCHOR).strip(), board.proposed(at)
    is_ours = undecided and proposed is not None and anchor == proposed.strip()
    is_older = row.proposed is not None and anchor == row.read.anchor.strip() and anchor != cells[ANCHOR]
    if anchor and not (is_ours or is_older):
        if proposed is not None:
            del cells[PROPOSED]
        elif row.proposed is None and anchor != cells[ANCHOR]:
            cells[PROPOSED] = UNKNOWN
        del cells[ANCHOR]
    return _different(board, at, {**board.restored(at), **cells})


def _different(board: Board, at: int, cells: Mapping[str, Cell]) -> dict[str, Cell]:
    return {
        name: cell for name, cell in cells.items() if not same(board.cell(at, board.columns.get(name)), cell)
    }


def _upgraded(board: Board, at: int) -> dict[str, Cell]:
    """Return score and tier of a row that an earlier version wrote (0.87, inline) as people read them."""
    cells: dict[str, Cell] = {}
    score = board.cell(at, board.columns.get(SCORE))
    if isinstance(score, float) and 0 < score < 1 and (shown := score_of(score)) is not None:
        cells[SCORE] = shown
    if (tier := board.text(at, TIER)) in TIER_NAMES:
        cells[TIER] = TIER_NAMES[cast(Tier, tier)]
    return cells


def _cells(row: ReviewRow) -> dict[str, Cell]:
    """Return the cells of a link; without those of titles that nobody looked up."""
    score = score_of(row.score)
    source, target = clean(row.source), clean(row.target)
    titles = {SOURCE_TITLE: clean(row.source_title), TARGET_TITLE: clean(row.target_title)}
    return {
        STATUS: row.status,
        ANCHOR: clean(row.anchor),
        SENTENCE: clean(row.wording or row.sentence),
        **{name: title for name, title in titles.items() if title},
        SECTION: clean(unquote(section_of(row.source if "://" in row.source else f"https://{row.source}"))),
        SCORE: "" if score is None else score,
        TIER: TIER_NAMES[row.tier],
        WHY: clean(reason(row.warning, row.why)),
        NOTES: clean(row.notes),
        SOURCE: source,
        TARGET: target,
        LINK_ID: row.id,
        PROPOSED: clean(row.anchor if row.proposed is None else row.proposed),
        WRITTEN: row.status,
        ROW_KEY: row_key(source, target),
    }


def row_key(source: str, target: str) -> str:
    """Return 8 hex digits for the texts of a row's source and target."""
    return blake2b(
        f"{source.strip()}\n{target.strip()}".encode("utf-8", "surrogatepass"), digest_size=4
    ).hexdigest()
