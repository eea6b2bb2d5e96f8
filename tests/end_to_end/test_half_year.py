"""Half a year in one test: 26 weekly runs, active editors in the Sheet, and pages that come, change and go."""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import gspread
import pytest
from gspread.utils import rowcol_to_a1

from internal_linker.model.edges import Edge
from internal_linker.model.records import RowSelection
from internal_linker.model.urls import normal_form
from internal_linker.project.log import new_run_id
from internal_linker.project.pipeline.run import Run
from internal_linker.project.project import open_project
from tests.standins import GoogleStandIn
from tests.standins.gspread_client import gspread_client
from tests.support.builders import Told
from tests.support.sheets import insert
from tests.support.sites import read_csv, sample_pages, sample_queries, use_standins
from tests.support.small_project import write_csv

WEEKS = 26
HEADER = ("URL", "Title", "Main Content")
VERDICTS = ("accepted", "rejected", "edited")
Pair = tuple[str, str]


@dataclass
class Editors:
    """The editors' last decision on each link, by its id: the reference model of everything that must stay."""

    status: dict[str, str] = field(default_factory=dict)
    anchor: dict[str, str] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)

    def work(self, sheet: gspread.Spreadsheet, dice: random.Random) -> None:
        """Decide some links, edit anchors, write notes and rearrange the tab through gspread."""
        tab = sheet.worksheet("Review")
        rows = tab.get_all_values()
        places = {name: at for at, name in enumerate(rows[0])}
        waiting = [at for at, row in enumerate(rows[1:], 2) if row[places["Status"]] == "proposed"]
        cells: list[gspread.Cell] = []

        def write(row: int, column: str, text: str) -> None:
            cells.append(gspread.Cell(row, places[column] + 1, text))

        for at in dice.sample(waiting, min(3, len(waiting))):
            link, word = rows[at - 1][places["Link ID"]], dice.choice(VERDICTS)
            self.status[link] = word
            write(at, "Status", word)
            if word == "edited":
                self.anchor[link] = f"anchor of week {dice.random()}"
                write(at, "Anchor", self.anchor[link])
        at = dice.choice([at for at, row in enumerate(rows[1:], 2) if row[places["Link ID"]]])
        link = rows[at - 1][places["Link ID"]]
        self.notes[link] = f"note {dice.random()}"
        write(at, "Notes", self.notes[link])
        tab.update_cells(cells)
        if dice.random() < 0.4:
            tab.sort((places["Score"] + 1, dice.choice(["asc", "des"])), range=f"A2:Z{len(rows)}")
        if dice.random() < 0.1:
            # gspread's insert_cols makes Google append the texts below the table.
            column = dice.randrange(1, 5)
            insert(tab, "COLUMNS", column - 1)
            tab.update([["Our own"], *[["x"]] * (len(rows) - 1)], rowcol_to_a1(1, column))
        decided = [link for link, word in self.status.items() if word == "rejected"]
        if decided and dice.random() < 0.15:
            self._take_back(tab, dice.choice(decided))

    def _take_back(self, tab: gspread.Worksheet, link: str) -> None:
        """Ask for a rejected link again."""
        rows = tab.get_all_values()
        at = next(at for at, row in enumerate(rows, 1) if link in row)
        tab.update_cell(at, rows[0].index("Status") + 1, "proposed")
        del self.status[link]


@dataclass
class Site:
    """Pages that come, change and go, and links that editors add to them."""

    folder: Path
    pages: dict[str, list[str]]
    ahead: list[list[str]]
    links: set[Pair] = field(default_factory=set)

    def live(self, dice: random.Random) -> None:
        """Let a week pass."""
        if self.ahead and dice.random() < 0.5:
            page = self.ahead.pop()
            self.pages[page[0]] = page
        if dice.random() < 0.4:
            self.pages[dice.choice(list(self.pages))][2] += f" Added in a week: {dice.random()}."
        if len(self.pages) > 12 and dice.random() < 0.2:
            gone = dice.choice(list(self.pages))
            self.ahead.insert(0, self.pages.pop(gone))
        proposed = (
            read_csv(self.folder / "files/links.csv") if (self.folder / "files/links.csv").exists() else []
        )
        for link in dice.sample(proposed, min(2, len(proposed))):
            self.links.add((link["Source"], link["Target"]))
        if self.links and dice.random() < 0.2:
            self.links.remove(dice.choice(sorted(self.links)))
        self.write()

    def write(self) -> None:
        write_csv(self.folder / "files/urls_rawdata.csv", [HEADER, *self.pages.values()])
        table = [("Source", "Destination"), *sorted(self.links)]
        write_csv(self.folder / "files/existing_links.csv", table)


@pytest.fixture
def google() -> Iterator[GoogleStandIn]:
    rows = [["Owner", "URL", "Main Query"], *(["me", *row] for row in sample_queries(sample_pages(40)))]
    # Google's rate limit window is shorter than a week.
    with GoogleStandIn(
        {"Main": rows}, rows=60, columns=5, reads_per_minute=10_000, writes_per_minute=10_000
    ) as server:
        yield server


@pytest.mark.parametrize("weeks", [5, pytest.param(WEEKS, marks=pytest.mark.long)])
def test_half_a_year_of_weeks_loses_no_word_of_an_editor(
    weeks: int, tmp_path: Path, google: GoogleStandIn
) -> None:
    dice, editors = random.Random(5), Editors()
    rows = [[page["URL"], page["Title"], page["Main Content"]] for page in sample_pages(40)]
    site = Site(tmp_path, {row[0]: row for row in rows[:16]}, rows[16:])
    site.folder.joinpath("config").mkdir()
    use_standins(
        tmp_path, google=google, settings={"embedding_provider": "lsa", "approval_sections": ["/espresso"]}
    )
    sheet = gspread_client(google).open_by_key(google.spreadsheet_id)
    for week in range(weeks):
        site.live(dice) if week else site.write()
        run(tmp_path, f"{week:02}")
        check(tmp_path, google, site, editors)
        editors.work(sheet, dice)
    words = set(editors.status.values())
    assert words == set(VERDICTS) and len(editors.status) > 1.5 * weeks, "the editors did work"


def run(folder: Path, name: str) -> None:
    project = open_project(folder)
    with project.context(Told()) as context:
        report = Run(context, project.rules(), RowSelection(), Told()).execute(f"{name}-{new_run_id()}")
    assert not report.failure and not report.gaps, (report.failure, report.gaps)


def check(folder: Path, google: GoogleStandIn, site: Site, editors: Editors) -> None:
    """Assert everything that must hold after each run."""
    listed = {normal_form(url) for url in site.pages}
    # The row of a page that is gone only has suggestions, which are no links.
    shown = {pair for pair in links_shown(read_csv(folder / "files/Output.csv")) if pair[0] in listed}
    in_sheet = links_shown(
        [dict(zip(google.grid("Main")[0], row, strict=False)) for row in google.grid("Main")[1:]]
    )
    assert {pair for pair in in_sheet if pair[0] in listed} <= shown
    linked = {(normal_form(source), normal_form(target)) for source, target in site.links}
    with open_project(folder).graph() as (store, _):
        edges = {edge.id: edge for edge in store.each()}
    for edge in edges.values():
        pair = edge.source, edge.target
        word = editors.status.get(edge.id, "")
        if word == "rejected":
            assert pair not in shown | in_sheet, "a rejected pair came back"
        assert edge.verdict == word and edge.notes == editors.notes.get(edge.id, "")
        assert edge.anchor == editors.anchor.get(edge.id, "")
        assert edge.status == expected(edge, pair in shown, pair in linked, word), edge
        waits = ".example/espresso/" in edge.source + edge.target and word not in ("accepted", "edited")
        assert not (waits and pair in shown), "nobody approved it"
    texts = [(edge.source, edge.anchors[0].text.casefold()) for edge in edges.values() if shows(edge, shown)]
    assert len(set(texts)) == len(texts), "one text for two targets of a page"
    words_stay(google, editors)


def shows(edge: Edge, shown: set[Pair]) -> bool:
    return bool(edge.anchors) and (edge.source, edge.target) in shown


def expected(edge: Edge, shown: bool, linked: bool, word: str) -> str:
    """Return the status that the rules alone give."""
    held = (
        edge.rank == 0 and edge.last_run == max(edge.last_run, edge.first_run) and edge.status == "proposed"
    )
    if edge.kind in ("duplicate", "canonical"):
        return edge.status
    if linked:
        return "live"
    if word == "rejected":
        return "rejected"
    if not shown and not held:
        return "withdrawn"
    return word or "proposed"


def words_stay(google: GoogleStandIn, editors: Editors) -> None:
    """Assert that each cell that an editor filled still has its text."""
    grid = google.grid("Review")
    places = {name: at for at, name in enumerate(grid[0])}
    rows = {row[places["Link ID"]]: row for row in grid[1:] if len(row) > places["Link ID"]}
    for column, words in (("Status", editors.status), ("Anchor", editors.anchor), ("Notes", editors.notes)):
        for link, word in words.items():
            assert rows[link][places[column]] == word, (column, link)


def links_shown(rows: list[dict[str, str]]) -> set[Pair]:
    return {
        (normal_form(row["URL"]), normal_form(row[f"Link {rank}"]))
        for row in rows
        for rank in range(1, 6)
        if row.get(f"Link {rank}")
    }
