"""Merging links into a review desk: which cells to write, which rows to add or remove, and what editors wrote."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from hashlib import blake2b
from typing import Any, cast, get_args
from unicodedata import normalize

from internal_linker.model.columns import EDITORS, HIDDEN, LANGUAGES, REVIEW, REVIEW_KEYS, Language, LinkView
from internal_linker.model.edges import TIER_NAMES, VERDICTS, Status, Tier, Verdict, score_of
from internal_linker.sources.tables.columns import Cell, fold_header, text_of
from internal_linker.store.files.plain_text import shortened

Row = Sequence[Any]
"""A row from a desk's library: texts, numbers, booleans, dates; it may lack empty cells at its end."""

# Stands for the proposed anchor where the record of it got lost, because somebody deleted the hidden column.
UNKNOWN = "(unknown)"
# The status that each choice of a status cell means, in any language.
_STATUSES = {word: status for language in LANGUAGES.values() for status, word in language.statuses.items()}
# The headers of each language as they are compared; the first one is that of a board without headers.
_HEADERS = [
    (language, {key: fold_header(header) for key, header in language.headers.items()})
    for language in LANGUAGES.values()
]
# Statuses of a row that no editor has decided.
UNDECIDED = frozenset({"", *get_args(Status)} - set(VERDICTS))

# The colours of score and tier, as red, green and blue: light enough for black text.
COLOURS: Mapping[Tier, tuple[int, int, int]] = {
    "inline": (198, 232, 201),
    "sidebar": (255, 232, 163),
    "review": (224, 224, 224),
}
# What editors write into their columns.
_UNREAD = {"status": "decisions", "anchor": "anchors", "notes": "notes"}
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
        # A column of an editor's own may be called like one of ours in another language: most headings decide.
        self.language, headers = max(_HEADERS, key=lambda each: len({*each[1].values()} & {*folded}))
        self.columns = {key: folded.index(text) for key, text in headers.items() if text in folded}
        """The positions of our columns, from 0, by their keys; other columns may be between them."""
        self.missing = [name for name in REVIEW_KEYS if name not in self.columns]
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
        text = self.text(row, "proposed")
        lost = "proposed" not in self.columns or "proposed" in self._restored
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
        return self.text(row, "link_id").strip()

    def status(self, row: int) -> str:
        """Return the status that the cell names in any language; another text in lower case."""
        return _status(self.text(row, "status"))

    def touched(self, row: int) -> bool:
        """Return whether an editor left a decision, an anchor or a note in the row, or may have left one elsewhere."""
        anchor = self.text(row, "anchor").strip()
        own_anchor = bool(anchor) and anchor != self.text(row, "proposed").strip()
        noted = bool(self.text(row, "notes").strip())
        return bool(self.unread) or self.status(row) not in UNDECIDED or own_anchor or noted

    def _raw(self, row: int, name: str) -> str:
        return text_of(self.cell(row, self.columns.get(name)))

    def _moved_apart(self) -> dict[int, int | None]:
        """Return the rows whose visible and hidden cells were sorted apart, with the row that has their hidden cells.

        None: the row had none. A row whose source or target somebody changed keeps its own hidden cells.
        """
        keys = [self._raw(row, "row_key").strip() for row in range(len(self.rows))]
        if not any(keys) or {"source", "target"} & {*self.missing}:
            return {}
        own = [row_key(self._raw(row, "source"), self._raw(row, "target")) for row in range(len(self.rows))]
        astray = [row for row, key in enumerate(keys) if key and key != own[row]]
        left: dict[str, list[int]] = {}
        for row in reversed(astray):
            left.setdefault(keys[row], []).append(row)
        homes: dict[int, int | None] = {}
        for row in range(len(self.rows)) if astray else ():
            # A row with an id but without a digest was written before there was one.
            may_claim = keys[row] != own[row] if keys[row] else not self._raw(row, "link_id").strip()
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


def merge(board: Board, wanted: Sequence[LinkView]) -> Merge:
    """Compare a desk with the links wanted; if an id comes twice, its last row counts.

    The tool writes Status only over an empty cell or its own status, and Anchor only into an empty cell or over its
    own last text while nobody has decided. An anchor or a note from elsewhere (the terminal, Python) also replaces a
    cell that has not changed since the tool last read it. An editor's copy of a row counts as a row.
    """
    links = {link.edge.id: link for link in wanted}
    # Rows that have the id of another form of the site's URLs get today's.
    todays = {former: link.edge.id for link in wanted for former in link.edge.former_ids}
    copies = _redundant_copies(board)
    changes, removed, seen = {}, [], set[str]()
    for at in range(len(board.rows)):
        if not (link := board.link_id(at)):
            if cells := _different(board, at, board.restored(at)):
                changes[at] = cells
            continue
        link = todays.get(link, link)
        if at in copies or (link not in links and not board.touched(at)):
            removed.append(at)
            continue
        seen.add(link)
        if cells := _changes(board, at, links.get(link)):
            changes[at] = cells
    return Merge(changes, removed, [_cells(board, link) for key, link in links.items() if key not in seen])


def translation(board: Board, language: Language) -> dict[int, str]:
    """Return the headers that translate a desk, by position; {} where a column of editors' own has one of them."""
    if _heading_taken(board, language):
        return {}
    wanted = {at: language.headers[key] for key, at in board.columns.items()}
    return {at: text for at, text in wanted.items() if fold_header(board.header[at]) != fold_header(text)}


def _heading_taken(board: Board, language: Language) -> str:
    """Return the header of a column of editors' own that is one of ours in a language; "" if there is none."""
    headers = {*map(fold_header, language.headers.values())}
    own = (text for at, text in enumerate(board.header) if at not in board.columns.values())
    return next((text for text in own if fold_header(text) in headers), "")


def insertions(board: Board) -> list[tuple[int, str]]:
    """Return where to insert the columns that a desk lacks, one after another: position from 0, and key.

    Each comes after the column that precedes it in a new desk.
    """
    found = list[tuple[int, str]]()
    places = dict(board.columns)
    for name in board.missing:
        before = [places[each] for each in REVIEW_KEYS[: REVIEW_KEYS.index(name)] if each in places]
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
            next((status for status in get_args(Status) if status == board.status(at)), ""),
            board.text(at, "anchor"),
            board.text(at, "notes"),
            board.text(at, "who").strip() or by,
            board.proposed(at),
            board.text(at, "written").strip() or None,
            _unread(board, at),
            wording if "[" in (wording := board.text(at, "sentence").strip()) else "",
        )
        for at in rows
    ]


def remarks(board: Board, desk: str, language: Language) -> list[str]:
    """Return what editors wrote that `verdicts` can't take in a place, `desk`, and what keeps it untranslated."""
    found = list[str]()
    if not any(board.link_id(at) for at in range(len(board.rows))):
        return found
    for name in board.unread:
        what = _UNREAD[name]
        header = board.language.headers[name]
        other = next((each for each in board.header if name == "status" and _has_statuses(board, each)), "")
        where = f"in the column '{other}'" if other else "under another heading"
        found.append(
            f"{desk} has no column '{header}' in row 1, so {what} {where} were not read: stored {what} stay, and the "
            f"column comes back with them. Enter {what} there, and keep its heading '{header}'."
        )
    odd = [at for at in range(len(board.rows)) if board.link_id(at) and _is_odd(board, at)]
    if odd:
        named = [_named(board, at) for at in odd[:_NAMED]]
        more = [f"{len(odd) - _NAMED:,} more"] * (len(odd) > _NAMED)
        found.append(
            f"{desk} has texts in the column '{board.language.headers['status']}' that are no status, so they were not "
            f"read: {', '.join([*named, *more])}. Choose a status from the list."
        )
    taken = _heading_taken(board, language)
    if taken and board.language is not language:
        found.append(
            f"{desk} keeps its headings: a column of yours is called '{taken}', as one of them is to be called. "
            "Rename yours."
        )
    return found


def _unread(board: Board, at: int) -> tuple[str, ...]:
    names = [name for name in EDITORS if name in board.unread or (name == "status" and _is_odd(board, at))]
    return tuple(names)


def _is_odd(board: Board, at: int) -> bool:
    return board.status(at) not in ("", *get_args(Status))


def _has_statuses(board: Board, name: str) -> bool:
    """Return whether a column that is not ours contains editors' decisions."""
    place = board.header.index(name)
    cells = (_status(text_of(board.cell(at, place))) for at in range(len(board.rows)))
    return place not in board.columns.values() and any(cell in VERDICTS for cell in cells)


def _status(text: str) -> str:
    """Return the status that a text names in any language; another text in lower case."""
    folded = normalize("NFC", text).strip().casefold()
    return _STATUSES.get(folded, folded)


def _named(board: Board, at: int) -> str:
    text = shortened(board.text(at, "status").strip())
    near = get_close_matches(board.status(at), board.language.statuses.values(), n=1)
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


def _changes(board: Board, at: int, link: LinkView | None) -> dict[str, Cell]:
    if link is None:
        return _different(board, at, {**board.restored(at), **_upgraded(board, at)})
    cells, edge = _cells(board, link), link.edge
    notes = board.text(at, "notes").strip()
    if notes != edge.cells.notes.strip() and (notes or "notes" not in board.unread):
        del cells["notes"]
    undecided = board.status(at) in UNDECIDED
    if not undecided:
        del cells["status"], cells["written"]
    anchor, proposed = board.text(at, "anchor").strip(), board.proposed(at)
    is_ours = undecided and proposed is not None and anchor == proposed.strip()
    is_older = bool(edge.anchor) and anchor == edge.cells.anchor.strip() and anchor != cells["anchor"]
    if anchor and not (is_ours or is_older):
        if proposed is not None:
            del cells["proposed"]
        elif not edge.anchor and anchor != cells["anchor"]:
            cells["proposed"] = UNKNOWN
        del cells["anchor"]
    return _different(board, at, {**board.restored(at), **cells})


def _different(board: Board, at: int, cells: Mapping[str, Cell]) -> dict[str, Cell]:
    return {
        name: cell for name, cell in cells.items() if not same(board.cell(at, board.columns.get(name)), cell)
    }


def _upgraded(board: Board, at: int) -> dict[str, Cell]:
    """Return score and tier of a row that an earlier version wrote (0.87, inline) as people read them."""
    cells: dict[str, Cell] = {}
    score = board.cell(at, board.columns.get("score"))
    if isinstance(score, float) and 0 < score < 1 and (shown := score_of(score)) is not None:
        cells["score"] = shown
    if (tier := board.text(at, "tier")) in TIER_NAMES:
        cells["tier"] = TIER_NAMES[cast(Tier, tier)]
    return cells


def _cells(board: Board, link: LinkView) -> dict[str, Cell]:
    """Return the cells of a link; without those of titles that nobody looked up."""
    values = {column.key: column.read(link) for column in REVIEW if column.key != "row_key"}
    cells: dict[str, Cell] = {
        key: "" if value is None else clean(value) if isinstance(value, str) else value
        for key, value in values.items()
    }
    for key in ("source_title", "target_title"):
        if not cells[key]:
            del cells[key]
    cells["status"] = board.language.statuses[link.edge.status]
    return {**cells, "row_key": row_key(str(cells["source"]), str(cells["target"]))}


def row_key(source: str, target: str) -> str:
    """Return 8 hex digits for the texts of a row's source and target."""
    return blake2b(
        f"{source.strip()}\n{target.strip()}".encode("utf-8", "surrogatepass"), digest_size=4
    ).hexdigest()
