"""An editor sorts, inserts, deletes and decides in the tab Review between our requests; every cell is checked."""

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import gspread
from gspread.utils import rowcol_to_a1

from internal_linker.model.errors import ServiceError
from internal_linker.review.merge import Board, merge
from tests.research.endurance.desks import at_work
from tests.research.endurance.editors import Edited
from tests.standins import GoogleStandIn
from tests.standins.gspread_client import gspread_client
from tests.support.reviews import Row, put, review_tab, row, shown
from tests.support.sheets import SITE, insert

# Links of the first run; the second run keeps the first of them, withdraws the rest, and has some new ones.
OLD, KEPT = [f"old{number:02}" for number in range(12)], 8
NEW = ["newx", "newy", "newz"]
# The tool's columns that an editor may rename.
FREE = ["Sentence", "Score", "Tier", "Why"]
EDITORS = ("Status", "Anchor", "Notes")
WORDS = {"Status": ("accepted", "rejected"), "Anchor": ("own anchor",), "Notes": ("own note",)}


@dataclass
class Reviewer:
    """Another client of the tab, which makes one change at a time, and everything in it that isn't ours.

    Attributes:
        tab: the tab in gspread's own client.
        dice: the random choice of what to do, and where.
        wanted: ids of links that this run shows.
        steady: the wanted ids whose status and anchor this run doesn't write: if two clients write into a cell at
            once, the last one wins.
        words: each link's texts that aren't ours, by column.
        own: texts of rows without a link.
        deleted: links whose rows were deleted; if we were about to delete others, they come back unchanged.
        done: the actions so far, in order.
    """

    tab: gspread.Worksheet
    dice: random.Random
    wanted: set[str]
    steady: set[str]
    words: dict[str, dict[str, str]]
    own: set[str] = field(default_factory=set)
    deleted: set[str] = field(default_factory=set)
    done: list[str] = field(default_factory=list)
    _count: int = 0

    def act(self) -> None:
        """Make one random change."""
        grid = self.tab.get_all_values()
        rows = [self._sort, self._sort, self._insert_row, self._own_row, self._delete_row]
        columns = [self._insert_column, self._fill_column, self._delete_column, self._rename]
        act = self.dice.choice([*rows, *columns, self._decide, self._decide, self._decide])
        if "Link ID" in grid[0]:
            act(grid)
            self.done.append(act.__name__.strip("_"))

    def _sort(self, grid: list[list[str]]) -> None:
        order, by = self.dice.choice(["asc", "des"]), self.dice.randint(1, len(grid[0]))
        self.tab.sort((by, order), range=f"A2:{rowcol_to_a1(len(grid), len(grid[0]))}")  # type: ignore[arg-type]

    def _insert_row(self, grid: list[list[str]]) -> None:
        """Insert an empty row."""
        insert(self.tab, "ROWS", self.dice.randint(1, len(grid)))

    def _own_row(self, grid: list[list[str]]) -> None:
        """Write a text into an empty row without a link, in one of the editors' columns or one of their own."""
        empty = [at for at, line in enumerate(grid) if not any(line)]
        places = [at for at, name in enumerate(grid[0]) if name == "Notes" or self._is_own(name)]
        if empty and places:
            self.own.add(name := self._name("own row"))
            self.tab.update_cell(self.dice.choice(empty) + 1, self.dice.choice(places) + 1, name)

    def _delete_row(self, grid: list[list[str]]) -> None:
        """Delete one of the tool's rows; a wanted link comes back, without its texts."""
        if rows := self._links(grid):
            link = self.dice.choice([*rows])
            self.tab.delete_rows(rows[link] + 1)
            self.words.pop(link, None)
            self.deleted.add(link)

    def _insert_column(self, grid: list[list[str]]) -> None:
        """Insert an empty column."""
        insert(self.tab, "COLUMNS", self.dice.randint(0, len(grid[0])))

    def _fill_column(self, grid: list[list[str]]) -> None:
        """Give an empty column, if one exists, a name and a text in each wanted link's row."""
        empty = [at for at, name in enumerate(grid[0]) if not name]
        if empty and not any(line[empty[0]] for line in grid):
            name, rows = self._name("Own"), self._links(grid)
            texts = {rows[link]: self._name("own") for link in rows if link in self.wanted}
            cells = [[name], *([texts.get(at, "")] for at in range(1, len(grid)))]
            self.tab.update(cells, rowcol_to_a1(1, empty[0] + 1))
            for link, at in rows.items():
                if at in texts:
                    self.words.setdefault(link, {})[name] = texts[at]

    def _delete_column(self, grid: list[list[str]]) -> None:
        own = [at for at, name in enumerate(grid[0]) if self._is_own(name)]
        if own:
            at = self.dice.choice(own)
            self.own -= {line[at] for line in grid}
            self.tab.delete_columns(at + 1)
            for texts in self.words.values():
                texts.pop(grid[0][at], None)

    def _rename(self, grid: list[list[str]]) -> None:
        """Rename one of the tool's columns, which the tool then leaves alone."""
        free = [at for at, name in enumerate(grid[0]) if name in FREE]
        if free:
            self.tab.update_cell(1, self.dice.choice(free) + 1, self._name("Kept"))

    def _decide(self, grid: list[list[str]]) -> None:
        """Write a decision or text beside a link that stays."""
        rows = {link: at for link, at in self._links(grid).items() if link in self.wanted}
        columns = [name for name in grid[0] if name in EDITORS or self._is_own(name)]
        if rows and columns:
            link, column = self.dice.choice([*rows]), self.dice.choice(columns)
            if column in ("Status", "Anchor") and link not in self.steady:
                column = "Notes"
            text = self.dice.choice(WORDS.get(column, ("own text",)))
            text = text if column == "Status" else self._name(text)
            self.tab.update_cell(rows[link] + 1, grid[0].index(column) + 1, text)
            self.words.setdefault(link, {})[column] = text

    def _links(self, grid: list[list[str]]) -> dict[str, int]:
        """Return the positions from 0 of rows that both the tool (by id) and people (by source) recognise."""
        link, source = (grid[0].index(name) for name in ("Link ID", "Source"))
        known = {row(name).id: row(name).source for name in (*OLD, *NEW)}
        return {line[link]: at for at, line in enumerate(grid) if line[source] == known.get(line[link])}

    def _is_own(self, column: str) -> bool:
        return column.startswith("Own ")

    def _name(self, kind: str) -> str:
        self._count += 1
        return f"{kind} {self._count}"


def reviews(seeds: range) -> Iterator[Edited]:
    """Deliver twice per seed: with an editor at work, then without.

    Raises:
        AssertionError: a text of the editor's has changed, or a row is wrong; the message names the seed.
    """
    for seed in seeds:
        with GoogleStandIn({"Main": []}, reads_per_minute=10_000, writes_per_minute=10_000) as google:
            yield _schedule(google, f"seed {seed}", random.Random(seed))


def _schedule(google: GoogleStandIn, when: str, dice: random.Random) -> Edited:
    links = [row(name, target=SITE + name) for name in OLD]
    review_tab(google).write(links)
    words: dict[str, dict[str, str]] = {}
    for link in dice.sample(links, 5):
        column = dice.choice(EDITORS)
        words[link.id] = {column: dice.choice(WORDS[column])}
        put(google, link, column, words[link.id][column])
    wanted = [_changed(name, dice) for name in OLD[:KEPT]] + [row(name) for name in NEW]
    tab = gspread_client(google).open_by_key(google.spreadsheet_id).worksheet("Review")
    steady = {new.id for old, new in zip(links, wanted, strict=False) if _steady(old) == _steady(new)}
    reviewer = Reviewer(tab, dice, {link.id for link in wanted}, steady, words)
    with at_work(google, reviewer):
        gaps = _write(google, wanted)
    when = f"{when}, {', '.join(reviewer.done)}"
    _check(shown(google), reviewer, when)
    left = _left(google, wanted)
    assert gaps or not left, f"{when}: not reported: {left}"
    # Without an editor at work, the next run corrects everything.
    again = review_tab(google).write(wanted)
    _check(shown(google), reviewer, f"{when}, again")
    left = _left(google, wanted)
    assert not again and not left, f"{when}: {left} is left, and {again}"
    return Edited(when, reviewer.done, len(gaps))


def _write(google: GoogleStandIn, wanted: Sequence[Row]) -> list[str]:
    """Return what could not be done; the Sheet rejects a write whose columns were just deleted."""
    try:
        return review_tab(google).write(wanted)
    except ServiceError as error:
        if "is after the last" not in str(error):
            raise
        return [str(error)]


def _changed(name: str, dice: random.Random) -> Row:
    """Return a link as the second run has it, partly changed."""
    return row(
        name,
        target=SITE + name,
        score=dice.choice([0.75, 0.9, 0.8]),
        found_by=dice.choice(["", "better"]),
        status="live" if dice.random() < 0.5 else "proposed",
        anchor=dice.choice([f"{name} anchor", f"new {name} anchor"]),
    )


def _steady(link: Row) -> tuple[str, str]:
    return link.edge.status, link.anchor


def _check(grid: list[list[str]], reviewer: Reviewer, when: str) -> None:
    """Assert that each text is beside its link, which has one row, and that other rows have only editors' texts."""
    header, place = grid[0], grid[0].index("Link ID")
    rows = Counter(line[place] for line in grid[1:] if line[place])
    assert not rows - Counter({*rows}), f"{when}: two rows of {rows - Counter({*rows})}"
    known = [*(row(name, target=SITE + name) for name in OLD), *map(row, NEW)]
    assert {*rows} <= {link.id for link in known}, f"{when}: ids {[*rows]}"
    for link, texts in reviewer.words.items():
        line = next((line for line in grid[1:] if line[place] == link), None)
        assert line, f"{when}: the row of {link} is gone, with {texts}"
        for column, text in texts.items():
            found = line[header.index(column)] if column in header else "no such column"
            assert found == text, f"{when}: {column} of {link} is {found!r} and was {text!r}"
    _check_silence(grid, reviewer, when)
    others = {text for line in grid[1:] if not line[place] for text in line if text}
    assert others == reviewer.own, f"{when}: {others ^ reviewer.own} in rows without a link"


def _check_silence(grid: list[list[str]], reviewer: Reviewer, when: str) -> None:
    """Assert that no cell looks edited that no editor wrote."""
    at = {name: grid[0].index(name) for name in (*EDITORS, "Link ID", "Proposed Anchor")}
    for line in grid[1:]:
        said = reviewer.words.get(line[at["Link ID"]], {})
        if line[at["Link ID"]] in reviewer.deleted:
            continue
        if line[at["Link ID"]] and not said.keys() & {*EDITORS}:
            assert line[at["Status"]] in {"proposed", "live"}, f"{when}: status {line}"
            assert line[at["Anchor"]] == line[at["Proposed Anchor"]], f"{when}: anchor {line}"
            assert not line[at["Notes"]], f"{when}: notes {line}"
        for column, name in enumerate(grid[0]):
            own = not name or name.startswith("Own ")
            assert not (own and line[at["Link ID"]]) or line[column] == said.get(name, ""), (
                f"{when}: {name} {line}"
            )


def _left(google: GoogleStandIn, wanted: Sequence[Row]) -> str:
    """Return what the tab lacks, "" for nothing."""
    grid = shown(google)
    board = Board(grid[0], grid[1:])
    left = merge(board, wanted)
    return str(board.missing or left) if board.missing or left.changes or left.new or left.removed else ""
