"""An editor sorts, inserts, deletes, renames and writes in the Sheet between our requests; every cell is checked."""

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import gspread
from gspread.utils import rowcol_to_a1

from internal_linker.model.records import Recommendation
from tests.research.endurance.desks import at_work
from tests.standins import GoogleStandIn
from tests.standins.gspread_client import gspread_client
from tests.support.sheets import SITE, insert, links_for, sheet

ROWS, LINKS = 12, 3
# The column that identifies a row; the editor never changes it.
ROW = "Row"
_OURS = re.compile(rf"{SITE}.*-to-\d")
OURS = [f"Link {rank}" for rank in range(1, LINKS + 1)]
# The columns that identify a row for us; the editor leaves them in place.
KEYS = ["URL", "Main Query"]
KEPT = {ROW, *KEYS}


@dataclass
class Editor:
    """Another client of the same Sheet, which makes one change at a time, and everything in it besides our links.

    Attributes:
        tab: the tab in gspread's own client.
        dice: the random choice of what to do, and where.
        theirs: each row's texts that aren't ours, by column.
        done: the actions so far, in order.
    """

    tab: gspread.Worksheet
    dice: random.Random
    theirs: dict[str, dict[str, str]]
    done: list[str] = field(default_factory=list)
    _count: int = 0

    def act(self) -> None:
        """Make one random change."""
        grid = self.tab.get_all_values()
        rows = [self._sort, self._insert_row, self._fill_row, self._delete_row]
        columns = [self._insert_column, self._fill_column, self._delete_column, self._rename]
        act = self.dice.choice([*rows, *columns, self._ask_otherwise, self._note, self._note])
        act(grid)
        self.done.append(act.__name__.strip("_"))

    def _sort(self, grid: list[list[str]]) -> None:
        order = self.dice.choice(["asc", "des"])
        last = rowcol_to_a1(len(grid), len(grid[0]))
        self.tab.sort((self._any_column(grid), order), range=f"A2:{last}")  # type: ignore[arg-type]

    def _insert_row(self, grid: list[list[str]]) -> None:
        """Insert an empty row."""
        insert(self.tab, "ROWS", self.dice.randint(1, len(grid)))

    def _fill_row(self, grid: list[list[str]]) -> None:
        """Turn an empty row, if one exists, into another page's, which links may lead to."""
        empty = [at for at, line in enumerate(grid) if not any(line)]
        if empty:
            at, name = self.dice.choice(empty), self._name("new")
            url = self.dice.choice([SITE + name, *_targets(self.dice.choice(sorted(self.theirs)))])
            texts = {ROW: name, "URL": url, "Main Query": f"{name} query"}
            self.tab.update([[texts.get(column, "") for column in grid[0]]], rowcol_to_a1(at + 1, 1))
            self.theirs[name] = {
                column: texts.get(column, "") for column in grid[0] if self._is_theirs(column)
            }

    def _delete_row(self, grid: list[list[str]]) -> None:
        at = self.dice.choice(self._rows(grid))
        self.tab.delete_rows(at + 1)
        del self.theirs[grid[at][grid[0].index(ROW)]]

    def _insert_column(self, grid: list[list[str]]) -> None:
        """Insert an empty column."""
        insert(self.tab, "COLUMNS", self.dice.randint(0, len(grid[0])))

    def _fill_column(self, grid: list[list[str]]) -> None:
        """Give an empty column, if one exists, a name and a text in each row."""
        empty = [at for at, name in enumerate(grid[0]) if not name]
        if empty:
            at, name = self.dice.choice(empty), self._name("Extra")
            texts = [self._name("extra") if line[grid[0].index(ROW)] else "" for line in grid[1:]]
            self.tab.update([[name], *([text] for text in texts)], rowcol_to_a1(1, at + 1))
            for line, text in zip(grid[1:], texts, strict=True):
                if row := line[grid[0].index(ROW)]:
                    self.theirs[row][name] = text

    def _delete_column(self, grid: list[list[str]]) -> None:
        free = [name for name in grid[0] if name not in KEPT and self._is_theirs(name)]
        if free:
            name = self.dice.choice(free)
            self.tab.delete_columns(grid[0].index(name) + 1)
            for texts in self.theirs.values():
                texts.pop(name, None)

    def _rename(self, grid: list[list[str]]) -> None:
        """Rename one of our columns, which then belongs to the editor."""
        ours = [name for name in grid[0] if name in OURS]
        if ours:
            old, new = self.dice.choice(ours), self._name("Kept")
            at = grid[0].index(old)
            self.tab.update_cell(1, at + 1, new)
            for row in self._rows(grid):
                name, text = grid[row][grid[0].index(ROW)], grid[row][at]
                # We may take back what we have just written there.
                if not _OURS.fullmatch(text):
                    self.theirs[name][new] = text

    def _ask_otherwise(self, grid: list[list[str]]) -> None:
        self._type(grid, "Main Query", self._name("other query"))

    def _note(self, grid: list[list[str]]) -> None:
        free = [name for name in grid[0] if name not in KEPT and self._is_theirs(name)]
        if free:
            self._type(grid, self.dice.choice(free), self._name("note"))

    def _type(self, grid: list[list[str]], column: str, text: str) -> None:
        at = self.dice.choice(self._rows(grid))
        self.tab.update_cell(at + 1, grid[0].index(column) + 1, text)
        self.theirs[grid[at][grid[0].index(ROW)]][column] = text

    def _rows(self, grid: list[list[str]]) -> list[int]:
        """Return the positions of rows of pages, from 0."""
        return [at for at, line in enumerate(grid) if at and line[grid[0].index(ROW)]]

    def _is_theirs(self, column: str) -> bool:
        return bool(column) and column not in OURS

    def _any_column(self, grid: list[list[str]]) -> int:
        return self.dice.randint(1, len(grid[0]))

    def _name(self, kind: str) -> str:
        self._count += 1
        return f"{kind} {self._count}"


@dataclass(frozen=True)
class Edited:
    """The result of one schedule: the editor's actions, and the number of messages about links without a place."""

    when: str
    done: Sequence[str]
    reported: int


def schedules(seeds: range) -> Iterator[Edited]:
    """Deliver twice per seed: with an editor at work, then without.

    Raises:
        AssertionError: a cell of the editor's has changed, or a link is in the wrong place; the message names
            the seed.
    """
    for seed in seeds:
        dice = random.Random(seed)
        with GoogleStandIn(
            {"Main": _grid(dice)}, columns=30, reads_per_minute=10_000, writes_per_minute=10_000
        ) as google:
            yield _schedule(google, f"seed {seed}", dice)


def _schedule(google: GoogleStandIn, when: str, dice: random.Random) -> Edited:
    before = google.grid("Main")
    at = {name: before[0].index(name) for name in before[0]}
    theirs = {
        line[0]: {name: _cell(line, place) for name, place in at.items() if name not in OURS}
        for line in before[1:]
    }
    old = {line[0]: {_cell(line, at[name]) for name in OURS if name in at} for line in before[1:]}
    links = [
        links_for(SITE + name, *_targets(name), query=texts["Main Query"]) for name, texts in theirs.items()
    ]
    tab = gspread_client(google).open_by_key(google.spreadsheet_id).worksheet("Main")
    editor = Editor(tab, dice, theirs)
    ours = sheet(google, links=LINKS)
    with at_work(google, editor):
        gaps = ours.deliver(links, "run")
    when = f"{when}, {', '.join(editor.done)}"
    placed = _check(google.grid("Main"), editor, old, when)
    told = " ".join(gaps)
    for item in links:
        there = _row_of(item) in editor.theirs
        assert _row_of(item) in placed or item.source.url in told or not there, (
            f"{when}: not reported: {item.source}"
        )
    # Without an editor at work, the next run corrects everything.
    again = ours.deliver(links, "run")
    placed = _check(google.grid("Main"), editor, old, f"{when}, again")
    missing = {name for name in editor.theirs if name in old} - placed
    assert not missing, f"{when}: {missing} have no links after a second run, which said {again}"
    return Edited(when, editor.done, len(gaps))


def _check(grid: list[list[str]], editor: Editor, old: dict[str, set[str]], when: str) -> set[str]:
    """Assert that the editor's cells are unchanged, and that ours have a row's own links or its old texts.

    Returns:
        The names of the rows that have all of their links.
    """
    header, rows = grid[0], {_cell(line, grid[0].index(ROW)): line for line in grid[1:] if any(line)}
    assert rows.keys() == editor.theirs.keys(), f"{when}: rows {rows.keys() ^ editor.theirs.keys()}"
    placed = set()
    for name, line in rows.items():
        for column, text in editor.theirs[name].items():
            found = _cell(line, header.index(column)) if column in header else "no such column"
            assert found == text, f"{when}: {column} of {name} is {found!r} and was {text!r}"
        texts = [_cell(line, header.index(column)) for column in OURS if column in header]
        strange = {*texts} - {*_targets(name)} - old.get(name, set()) - {""}
        assert not strange, f"{when}: {strange} in the row {name}"
        if texts == _targets(name):
            placed.add(name)
    return placed


def _grid(dice: random.Random) -> list[list[str]]:
    """Return a tab with all, some or none of our columns."""
    ours = OURS[: dice.choice([0, 1, LINKS, LINKS])]
    names = [f"row{number:02}" for number in range(ROWS)]
    rows = []
    for name in names:
        keys = [name, SITE + name, f"{name} query"]
        rows.append([*keys, *(f"old {name} {column}" for column in ours), f"owner {name}", f"notes {name}"])
    return [[ROW, *KEYS, *ours, "Owner", "Notes"], *rows]


def _targets(name: str) -> list[str]:
    return [f"{SITE}{name}-to-{rank}" for rank in range(1, LINKS + 1)]


def _row_of(item: Recommendation) -> str:
    return item.source.url.removeprefix(SITE)


def _cell(line: Sequence[Any], at: int) -> str:
    return str(line[at]) if at < len(line) else ""
