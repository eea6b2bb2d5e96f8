"""Editors sort, insert, delete and type while we write a tab: no link in a wrong row, no cell of theirs lost."""

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from internal_linker.model.errors import OutputError
from tests.standins import GoogleStandIn, Request
from tests.support.reviews import APPEND, cells, ids, put, rearrange, review_tab, row, shown
from tests.support.sheets import READ, SITE, WRITE, before, links_for, sheet

SEEDS = pytest.mark.parametrize(
    "seeds", [range(3), pytest.param(range(3, 53), marks=pytest.mark.long)], ids=len
)


@dataclass
class Editor:
    """Changes a tab before some of our requests."""

    google: GoogleStandIn
    tab: str
    # The column that identifies rows.
    key: str
    dice: random.Random
    # The texts that must stay, by row and column.
    texts: dict[str, dict[str, str]]
    # Columns of this run's rows in which the editor types.
    columns: list[str]
    rows: Sequence[str]
    acts: int = 0

    def works(self, request: Request) -> None:
        if re.search("/values|batchUpdate", request.path) and self.acts < 6 and self.dice.random() < 0.6:
            rearrange(self.google, self.act, self.tab)() if self.tab == "Review" else self.google.set_grid(
                self.tab, self.act(self.google.grid(self.tab))
            )

    def act(self, grid: list[list[Any]]) -> list[list[Any]]:
        width = max(map(len, grid))
        header, *rows = [[*line, *[""] * (width - len(line))] for line in grid]
        place = header.index(self.key)
        known = [line for line in rows if line[place] in self.rows]
        self.acts += 1
        act = self.dice.choice(["sort", "sort", "row", "delete", "column", "fill", "type", "type"])
        if act == "sort":
            self.dice.shuffle(rows)
        elif act == "row":
            rows.insert(self.dice.randint(0, len(rows)), [""] * width)
        elif act == "delete" and known:
            gone = self.dice.choice(known)
            rows.remove(gone)
            self.texts.pop(gone[place], None)
        elif act == "column":
            at = self.dice.randint(0, width)
            for line in (header, *rows):
                line.insert(at, "")
        elif act == "fill" and (empty := [at for at, name in enumerate(header) if not name]):
            at = self.dice.choice(empty)
            header[at] = f"Own {self.acts}"
            for line in rows:
                line[at] = f"own {self.acts} {line[place]}" if line in known else ""
            for line in known:
                self.texts.setdefault(line[place], {})[header[at]] = line[at]
        elif known:
            line, column = self.dice.choice(known), self.dice.choice(self.columns)
            line[header.index(column)] = f"typed {self.acts}"
            self.texts.setdefault(line[place], {})[column] = f"typed {self.acts}"
        return [header, *rows]

    def check(self, grid: Sequence[Sequence[str]], when: str) -> dict[str, dict[str, str]]:
        """Assert that what the editor wrote is in its place; return the rows by key."""
        lines = [dict(zip(grid[0], line, strict=False)) for line in grid[1:]]
        found = {line[self.key]: line for line in lines if line.get(self.key)}
        for name, texts in self.texts.items():
            assert {column: found[name].get(column) for column in texts} == texts, f"{when}: {name}"
        left = [line for line in lines if not line.get(self.key) and any(line.values())]
        assert not left, f"{when}: {left}"
        return found


@SEEDS
def test_links_stay_with_their_rows(seeds: range) -> None:
    """The tab of the main queries: a second run completes what the first could only name."""
    names = [f"row{number:02}" for number in range(10)]
    own = {SITE + name: [f"{SITE}{name}-to-{rank}" for rank in (1, 2, 3)] for name in names}
    links = [links_for(url, *own[url], query=f"{url} query") for url in [*own][:8]]
    ours = ["Link 1", "Link 2", "Link 3"]
    for seed in seeds:
        rows = [[url, f"{url} query", *(f"old {url} {one}" for one in ours), "kept", "kept"] for url in own]
        with GoogleStandIn(
            {"Main": [["URL", "Main Query", *ours, "Owner", "Notes"], *rows]}, columns=20
        ) as google:
            texts = {url: {"Owner": "kept", "Notes": "kept"} for url in own}
            for url in [*own][8:]:
                texts[url] |= {one: f"old {url} {one}" for one in ours}
            editor = Editor(google, "Main", "URL", random.Random(seed), texts, ["Owner", "Notes"], [*own][:8])
            google.on_request = editor.works
            gaps = " ".join(sheet(google).deliver(links, "run"))
            google.on_request = None
            for url, line in editor.check(google.grid("Main"), f"seed {seed}").items():
                found = [line.get(one, "") for one in ours]
                assert {*found} <= {"", *own[url], *(f"old {url} {one}" for one in ours)}, (
                    f"seed {seed}: {url}"
                )
                assert found == own[url] or url in gaps or url not in [*own][:8], f"seed {seed}: {url}"
            sheet(google).deliver(links, "run")
            rows_now = editor.check(google.grid("Main"), f"seed {seed}, again")
            for url in [*own][:8]:
                if url in rows_now:
                    assert [rows_now[url][one] for one in ours] == own[url], f"seed {seed}, again: {url}"


@SEEDS
def test_words_stay_beside_their_links(seeds: range) -> None:
    old = [row(f"old{number:02}") for number in range(10)]
    kept = [row(f"old{number:02}", score=0.9, found_by="better") for number in range(6)]
    wanted = [*kept, row("newx"), row("newy")]
    for seed in seeds:
        with GoogleStandIn({"Main": []}) as google:
            review_tab(google).write(old)
            texts = {link.id: {"Notes": f"noted {link.id}"} for link in (*old[:3], old[8])}
            for link in (*old[:3], old[8]):
                put(google, link, "Notes", f"noted {link.id}")
            dice = random.Random(seed)
            editor = Editor(
                google, "Review", "Link ID", dice, texts, ["Anchor", "Notes"], [link.id for link in wanted]
            )
            google.on_request = editor.works
            gaps = review_tab(google).write(wanted)
            google.on_request = None
            found = editor.check(shown(google), f"seed {seed}")
            assert gaps or {link.id for link in wanted} <= {*found}, f"seed {seed}"
            assert review_tab(google).write(wanted) == [], f"seed {seed}, again"
            found = editor.check(shown(google), f"seed {seed}, again")
            assert {link.id for link in wanted} <= {*found}
            for link in wanted:
                line = found[link.id]
                assert line["Sentence"] == link.sentence and line["Why"] == link.why, f"seed {seed}: {line}"
                assert line["Anchor"] == link.anchor or "typed" in line["Anchor"], f"seed {seed}: {line}"


def test_columns_that_move_before_a_write_take_their_cells_along(google: GoogleStandIn) -> None:
    links = [row(name) for name in "abcdefgh"]
    for moment in (WRITE, APPEND):
        google.set_grid("Main", [])
        review_tab(google).write(links)
        put(google, links[1], "Notes", "n")
        before(google, moment, rearrange(google, lambda grid: [[*reversed(line)] for line in grid]))
        new = [row(name, anchor=f"new {name}", score=0.9, status="live") for name in "abc"]
        assert review_tab(google).write([*new, *links[3:7], row("z")]) == []
        google.on_request = None
        grid = shown(google)
        lines = {
            line["Link ID"]: line for line in (dict(zip(grid[0], line, strict=True)) for line in grid[1:])
        }
        names = shown(google)[0]
        for link in (*new[:1], new[2], *links[3:7], row("z")):
            wanted = dict(zip(reversed(names), cells(link), strict=True))
            assert lines[link.id] == wanted, moment
        assert lines[new[1].id]["Notes"] == "n" and lines[new[1].id]["Anchor"] == "new b"
        assert len([line for line in grid[1:] if any(line)]) == 8
        rearrange(google, lambda grid: [grid[0]])()
        rearrange(google, lambda grid: [[*reversed(line)] for line in grid])()


def test_a_sort_right_before_rows_are_deleted_loses_no_row(google: GoogleStandIn) -> None:
    """After a sort right before a deletion, wrongly deleted rows come back with their edits; the right ones go."""
    links = [row(name) for name in "abcdef"]
    review_tab(google).write(links)
    put(google, links[5], "Notes", "precious")
    put(google, links[4], "Status", "accepted")
    before(google, APPEND, rearrange(google, lambda grid: [grid[0], *reversed(grid[1:])]))
    assert review_tab(google).write(links[2:]) == []
    assert sorted(ids(shown(google))) == sorted(each.id for each in links[2:])
    words = {each.id: each for each in review_tab(google).read()}
    assert (words[links[5].id].notes, words[links[4].id].status) == ("precious", "accepted")


def test_a_cell_that_does_not_keep_its_text_is_reported(google: GoogleStandIn) -> None:
    links = [row("a"), row("b")]
    review_tab(google).write(links)

    def meddle(grid: list[list[Any]]) -> list[list[Any]]:
        grid[1][8] = "mine!"
        return grid

    before(google, READ, rearrange(google, meddle), times=99)
    gaps = review_tab(google).write([row("a", found_by="new"), links[1]])
    assert len(gaps) == 1 and "did not keep what was written: 2." in gaps[0]
    assert len(google.calls(WRITE)) <= 4


def test_a_tab_that_vanishes_is_an_output_error(google: GoogleStandIn) -> None:
    review_tab(google).write([row("a")])

    def delete() -> None:
        del google.spreadsheets[google.spreadsheet_id].tabs[1]

    before(google, WRITE, delete)
    with pytest.raises(OutputError, match="renamed or deleted during the run"):
        review_tab(google).write([row("a", found_by="new")])
    google.on_request = None
    assert review_tab(google).write([row("a")]) == []
    assert ids(shown(google)) == [row("a").id]
