"""Readings of the tab Review + the links that it is to show -> what to write next, and what could not be placed."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import repeat
from typing import Any

from internal_linker.edges import ReviewRow
from internal_linker.review_rows import ANCHOR, LINK_ID, PROPOSED, Board, Cell, Merge, merge, same, text_of
from internal_linker.services.google_sheets.ranges import Cells, Name, named, same_as
from internal_linker.services.google_sheets.review_work import Line, Work, require_ids, runs_from_below

# Columns are put back twice at the most: an editor may be at work on them.
_INSERTS = 2
# Requests beyond those planned, to mend what editors moved meanwhile.
_REPAIRS = 3


class Placing:
    """The links of one run on their way into a tab that editors may be sorting, widening and filling.

    Each `compare` takes a fresh reading and says what is left to do. Google writes to places, not to
    rows: where editors moved rows or columns between our look and our write, the cells that we hit get
    the text back that they had at our look, and rows that we deleted in the place of others come back.
    """

    def __init__(self, wanted: Sequence[ReviewRow]) -> None:
        self._wanted = wanted
        self._before: Board | None = None
        self._written: dict[tuple[int, int], Cell] = {}
        self._appended: dict[tuple[str, ...], str] = {}
        self._deleted: set[int] = set()
        self._work = Work()
        self._unknown: set[int] = set()
        self._inserts_left = _INSERTS
        self._writes_left = -1

    def compare(self, now: Board) -> Work:
        """What to do next, and what will be left after that; nothing once we tried for long enough.

        Raises:
            OutputError: the column that tells which row is which is gone.
        """
        require_ids(now)
        if now.missing:
            self._work = Work(columns=now.missing)
            self._inserts_left -= 1
            return self._work if self._inserts_left >= 0 else Work()
        mended, strays = self._mended(now)
        found = merge(mended, self._wanted)
        cells = {**strays, **_places(mended, found)}
        lost = self._lost(mended)
        self._work = Work(
            cells={place: cell for place, cell in cells.items() if not _holds(now, place, cell)},
            new=[*lost, *(_line(mended, cells) for cells in found.new)],
            removed=list(runs_from_below(found.removed)),
        )
        self._written, self._appended, self._deleted = {}, {}, set()
        # What will be written over the rest of the strays is what stands there already.
        rest = self._work.cells or {}
        self._before = _with(now, {place: cell for place, cell in strays.items() if place in rest})
        if self._writes_left < 0:
            self._writes_left = self._work.requests + _REPAIRS
        return self._work if self._writes_left else Work()

    def writing(self, cells: Cells) -> None:
        """Note what is about to be written; a failed request may have been carried out all the same."""
        self._written = dict(cells)

    def appending(self, lines: Sequence[Line]) -> None:
        """Note the rows that are about to be appended."""
        assert self._before
        place = self._before.columns[LINK_ID]
        self._appended.update({_texts(line): text_of(line[place]) for line in lines})

    def deleting(self, runs: Sequence[tuple[int, int]]) -> None:
        """Note the rows that are about to be deleted."""
        self._deleted = {row - 2 for first, last in runs for row in range(first, last + 1)}

    def written(self) -> None:
        """Note that a write was answered."""
        self._writes_left -= 1

    def problems(self) -> list[str]:
        """What the last reading showed to be missing or wrong, a sentence a kind."""
        work, sentences = self._work, list[str]()
        if work.columns:
            names = ", ".join(work.columns)
            sentences.append(f"Columns of the tab Review could not be put back: {names}. Run again.")
        if rows := sorted({row for row, _ in work.cells or ()}):
            sentences.append(
                f"Rows of the tab Review that do not keep what was written: {_some(rows)}. Are cells merged, "
                "or is somebody editing them?"
            )
        if work.new:
            sentences.append(f"Links that found no row in the tab Review: {len(work.new)}. Run again.")
        if work.removed:
            sentences.append(
                f"Rows of old links are still in the tab Review: {len(work.removed)}. Run again."
            )
        if self._unknown:
            sentences.append(
                f"Rows of the tab Review that may hold text of another row, which moved while we wrote: "
                f"{_some(sorted(self._unknown))}. File > Version history shows what stood there."
            )
        return sentences

    # -- what editors moved between our look and our write ---------------------------------------

    def _mended(self, now: Board) -> tuple[Board, dict[tuple[int, int], Cell]]:
        """The board as it would be without the cells that our last write put into wrong places; and these."""
        strays = {**self._remarks_on(now), **self._shifted_rows(now)}
        return _with(now, strays), strays

    def _remarks_on(self, now: Board) -> dict[tuple[int, int], Cell]:
        """Cells that hold exactly what we wrote there but belong to others, with the text they had before."""
        hit = {place for place, cell in self._written.items() if _holds(now, place, cell)}
        if not hit or not self._before:
            return {}
        then, columns = self._before, same_as(_column_names(now), _column_names(self._before))
        over = {column - 1 for _, column in hit}
        # An id that we overwrote names no row any more; what stands in the columns that we spared does.
        kept, by_id = [at for at in columns if at not in over], now.columns[LINK_ID] not in over
        before = _row_names(then, [columns[at] for at in kept], by_id)
        rows = same_as(_row_names(now, kept, by_id), before)
        strays: dict[tuple[int, int], Cell] = {}
        for row, column in hit:
            at, was = rows.get(row - 2), columns.get(column - 1)
            if at is None and any(text_of(now.cell(row - 2, spared)) for spared in kept):
                self._unknown.add(row)
            elif at is None or was is None:
                strays[row, column] = ""
            elif (at + 2, was + 1) != (row, column) or self._alone(now, row, column):
                strays[row, column] = then.cell(at, was)
        return strays

    def _alone(self, now: Board, row: int, column: int) -> bool:
        """Whether of a new anchor and the tool's note of it one landed without the other."""
        anchor, proposed = now.columns[ANCHOR], now.columns[PROPOSED]
        other = {anchor: proposed, proposed: anchor}.get(column - 1)
        return other is not None and not same(now.cell(row - 2, other), self._written[row, column])

    def _shifted_rows(self, now: Board) -> dict[tuple[int, int], Cell]:
        """Rows that we appended just when columns moved: all is taken out again, save for the link's id."""
        strays: dict[tuple[int, int], Cell] = {}
        known = {now.link_id(row) for row in range(len(now.rows))} if self._appended else set()
        missing = {line: link for line, link in self._appended.items() if link not in known}
        for row, line in enumerate(now.rows if missing else ()):
            if link := missing.get(_texts(line)):
                strays |= {(row + 2, column + 1): "" for column in range(len(line))}
                strays[row + 2, now.columns[LINK_ID] + 1] = link
        return strays

    def _lost(self, now: Board) -> list[Line]:
        """Rows that are gone while rows that we deleted are still there: they were hit in their place."""
        if not self._deleted or not self._before:
            return []
        then, there = self._before, Counter(map(_key, repeat(now), range(len(now.rows))))
        keys = [_key(then, row) for row in range(len(then.rows))]
        expected = Counter(key for row, key in enumerate(keys) if row not in self._deleted)
        if all(there[keys[row]] <= expected[keys[row]] for row in self._deleted):
            return []
        texts = {_texts(line) for line in now.rows}
        gone = [
            row
            for row, key in enumerate(keys)
            if row not in self._deleted and there[key] < expected[key] and _texts(then.rows[row]) not in texts
        ]
        columns, width = same_as(_column_names(now), _column_names(then)), range(len(now.header))
        return [[then.cell(row, columns[at]) if at in columns else None for at in width] for row in gone]


def _with(board: Board, cells: Mapping[tuple[int, int], Cell]) -> Board:
    """The same board with other texts in some cells."""
    if not cells:
        return board
    rows: list[list[Any]] = [list(row) for row in board.rows]
    for (row, column), cell in cells.items():
        line = rows[row - 2]
        line += [""] * (column - len(line))
        line[column - 1] = cell
    return Board(board.header, rows)


def _places(board: Board, found: Merge) -> dict[tuple[int, int], Cell]:
    return {
        (row + 2, board.columns[name] + 1): cell
        for row, cells in found.changes.items()
        for name, cell in cells.items()
    }


def _line(board: Board, cells: Mapping[str, Cell]) -> Line:
    line: Line = [None] * (max(board.columns.values()) + 1)
    for name, cell in cells.items():
        line[board.columns[name]] = cell
    return line


def _holds(board: Board, place: tuple[int, int], cell: Cell) -> bool:
    row, column = place[0] - 2, place[1] - 1
    return same(board.cell(row, column) if row < len(board.rows) else "", cell)


def _texts(line: Sequence[Any]) -> tuple[str, ...]:
    texts = [text_of(cell) for cell in line]
    while texts and not texts[-1]:
        texts.pop()
    return tuple(texts)


def _row_names(board: Board, columns: Sequence[int], by_id: bool = True) -> dict[int, Name]:
    """What each row is known by: its link's id, or else the texts in these columns."""
    ids = [board.link_id(row) if by_id else "" for row in range(len(board.rows))]
    texts = [
        () if link else tuple(text_of(board.cell(row, at)) for at in columns) for row, link in enumerate(ids)
    ]
    alike = Counter(zip(ids, texts, strict=True))
    # Among rows that look alike only the order is left, which tells nothing once one came or went.
    return named(
        (row, (link, *cells, str(alike[link, cells])))
        for row, (link, cells) in enumerate(zip(ids, texts, strict=True))
    )


def _key(board: Board, row: int) -> tuple[str, ...]:
    """A row's id, or all its texts."""
    link = board.link_id(row)
    return (link,) if link else _texts(board.rows[row])


def _column_names(board: Board) -> dict[int, Name]:
    return named((column, (name,)) for column, name in enumerate(board.header))


def _some(rows: Sequence[int]) -> str:
    shown = ", ".join(map(str, rows[:5]))
    return f"{shown} and {len(rows) - 5} more" if len(rows) > 5 else shown
