"""Decisions on their way through review.xlsx, the terminal, the store and the next runs."""

import csv
import itertools
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from internal_linker.model.columns import LinkView
from internal_linker.model.errors import InputError
from internal_linker.project.history import rollback
from internal_linker.project.options.decisions import ReviewOptions, RollbackOptions
from internal_linker.project.options.links import RunOptions
from internal_linker.project.project import open_project
from internal_linker.project.review import review
from internal_linker.project.run import PageLinks, run
from internal_linker.review.workbook import ReviewWorkbook
from tests.support.builders import Told
from tests.support.sites import read_csv
from tests.support.small_project import HEADER, TOPICS, URLS, make_project, write_csv, write_settings

SETTINGS = {"links_per_page": 2, "min_inlinks": 0, "max_inlinks": 0}


class Typist:
    """A ReviewFace that types these keys and lines."""

    def __init__(self, *keys: str) -> None:
        self.keys, self.shown, self.told = [*keys], list[LinkView](), list[str]()

    def show(self, link: LinkView, left: int) -> None:
        self.shown.append(link)

    def key(self) -> str:
        return self.keys.pop(0) if self.keys else ""

    def ask(self, question: str) -> str:
        return self.keys.pop(0)

    def say(self, text: str) -> None:
        self.told.append(text)


def do(project: Path) -> tuple[PageLinks, Told]:
    told = Told()
    return run(open_project(project), RunOptions(), told), told


def typed(project: Path, *keys: str) -> Typist:
    typist = Typist(*keys)
    review(open_project(project), ReviewOptions(by="Ann"), typist, Told())
    return typist


def rows(project: Path) -> dict[str, dict[str, str]]:
    """Return the rows of review.xlsx by their link's id."""
    sheet = openpyxl.load_workbook(project / "files/review.xlsx").worksheets[0]
    header, *lines = sheet.iter_rows(values_only=True)
    named = [
        dict(zip(header, ["" if cell is None else str(cell) for cell in line], strict=True)) for line in lines
    ]
    return {row["Link ID"]: row for row in named}


def edit(project: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Change the cells of each row of review.xlsx, which are given by their columns' names."""
    path = project / "files/review.xlsx"
    book = openpyxl.load_workbook(path)
    header, *lines = book.worksheets[0].iter_rows()
    for line in lines:
        change({str(name.value): cell for name, cell in zip(header, line, strict=True)})
    book.save(path)


def decided(project: Path) -> dict[str, tuple[str, str]]:
    """Return status and own anchor of the links that somebody decided, by the link's id."""
    with open_project(project).graph() as (edges, _):
        return {edge.id: (edge.verdict, edge.anchor) for edge in edges.each(judged=True)}


@pytest.fixture(autouse=True)
def _distinct_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Name runs by numbers: those of one second would share a name."""
    numbers = itertools.count(2)
    monkeypatch.setattr("internal_linker.project.run.new_run_id", lambda: f"run-{next(numbers):02}")


@pytest.fixture(scope="module")
def _ran(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = make_project(tmp_path_factory.mktemp("decisions") / "site", SETTINGS)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("internal_linker.project.run.new_run_id", lambda: "run-01")
        do(folder)
    return folder


@pytest.fixture
def project(_ran: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(_ran, tmp_path / "site"))


def reword(project: Path) -> None:
    """Change each page's text, so that its links get other anchors."""
    path = project / "files/urls_rawdata.csv"
    with path.open(encoding="utf-8", newline="") as file:
        header, *pages = csv.reader(file)
    texts = list(TOPICS.values())
    write_csv(path, [header, *([url, title, texts[at - 3]] for at, (url, title, _) in enumerate(pages))])


def rename(project: Path, old: str, new: str | None) -> None:
    """Rename a column of review.xlsx; None deletes it."""
    path = project / "files/review.xlsx"
    book = openpyxl.load_workbook(path)
    sheet = book.worksheets[0]
    (cell,) = (cell for cell in sheet[1] if cell.value == old)
    if new is None:
        sheet.delete_cols(cell.column)
    else:
        cell.value = new
    book.save(path)


def test_without_the_column_of_statuses_all_decisions_stay(project: Path) -> None:
    """Renamed, the column withdraws no decision; it comes back, and sentences say so once."""
    first, second, third = [*rows(project)][:3]
    typed(project, "a")
    before = decided(project)

    def mark(cells: dict[str, Any]) -> None:
        if cells["Link ID"].value not in before and cells["Link ID"].value in (first, second, third):
            cells["Status"].value, cells["Notes"].value = "rejected", "off topic"

    edit(project, mark)
    do(project)
    before = decided(project)
    assert len(before) >= 3
    rename(project, "Status", "Stand")
    rename(project, "Notes", None)
    _, told = do(project)
    assert decided(project) == before
    shown = rows(project)
    assert {key: shown[key]["Status"] for key in before} == {key: one[0] for key, one in before.items()}
    assert sum(row["Notes"] == "off topic" for row in shown.values()) >= 2
    assert sum(row["Stand"] == "rejected" for row in shown.values()) >= 2
    (said,) = [one for one in told.warnings if "'Status'" in one]
    assert "no column 'Status' in row 1, so decisions in the column 'Stand' were not read" in said
    assert len([*(project / "files").glob("review*.xlsx")]) == 2
    _, told = do(project)
    assert decided(project) == before
    assert not [one for one in told.warnings if "'Status'" in one]


def test_a_mistyped_status_is_told_by_each_run_until_it_is_mended(project: Path) -> None:
    """A mistyped status is no decision and takes none back; each run names row and value, and the cell stays."""
    typed(project, "a")
    before = decided(project)
    (accepted,) = before
    do(project)

    def mistype(cells: dict[str, Any]) -> None:
        if cells["Link ID"].value == accepted:
            cells["Status"].value = "Rejectd"

    edit(project, mistype)
    at = [*rows(project)].index(accepted) + 2
    for _ in range(2):
        _, told = do(project)
        (said,) = [one for one in told.warnings if "Rejectd" in one]
        assert f"row {at} 'Rejectd' (did you mean rejected?)" in said
        assert decided(project) == before
        assert rows(project)[accepted]["Status"] == "Rejectd"


def test_an_older_cache_takes_no_row_for_an_editors(project: Path) -> None:
    cache = project / "files/cache.sqlite3"
    with sqlite3.connect(cache) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    shutil.copy(cache, project / "backup")
    before = rows(project)
    reword(project)
    do(project)
    anchors = {link: row["Anchor"] for link, row in rows(project).items()}
    assert any(before[link]["Anchor"] != anchors[link] for link in before.keys() & anchors.keys())
    for name in project.glob("files/cache.sqlite3*"):
        name.unlink()
    (project / "backup").rename(cache)
    found, _ = do(project)
    assert decided(project) == {}
    assert not [value for name, value in found.summary if "Accepted" in name]


def test_two_caches_share_a_workbook(project: Path, tmp_path: Path) -> None:
    other = make_project(tmp_path / "other", SETTINGS)
    reword(other)
    do(other)
    both = [link for link in rows(project) if link in rows(other)]
    shutil.copy(project / "files/review.xlsx", other / "files/review.xlsx")

    def decide(row: dict[str, Any]) -> None:
        if row["Link ID"].value == both[0]:
            row["Anchor"].value = "my own words"
        if row["Link ID"].value == both[1]:
            row["Status"].value = "rejected"

    edit(other, decide)
    for _ in range(2):
        do(other)
        assert decided(other) == {both[0]: ("edited", "my own words"), both[1]: ("rejected", "")}


def test_words_of_the_terminal_reach_the_workbook_and_stay(project: Path) -> None:
    typist = typed(project, "n", "ask Bob", "e", "fresh words", "a", "q")
    link = typist.shown[0].edge.id
    for _ in range(2):
        do(project)
        row = rows(project)[link]
        assert (row["Status"], row["Anchor"], row["Notes"]) == ("edited", "fresh words", "ask Bob")
        assert decided(project) == {link: ("edited", "fresh words")}
    published = {row["Link Id"]: row["Anchor"] for row in read_csv(project / "files/links.csv")}
    assert published[link] == "fresh words"


def test_a_workbook_that_could_not_be_read_is_not_rewritten(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where editors' decisions could not be read, the review stays as it is, even if it could be written."""

    def locked(self: ReviewWorkbook) -> None:
        raise InputError("review.xlsx is open.")

    # Nobody reads a workbook that is the one which the last run wrote.
    edit(project, lambda row: row["Notes"].__setattr__("value", "saved again"))
    monkeypatch.setattr(ReviewWorkbook, "read", locked)
    monkeypatch.setattr(ReviewWorkbook, "write", lambda *_: pytest.fail("the review was rewritten"))
    found, told = do(project)
    assert any("could not be read, so the review was not updated" in gap for gap in found.gaps)
    assert "review.xlsx" not in told.outcomes[-1]
    back = rollback(open_project(project), RollbackOptions(run="run-01"), told)
    assert any("could not be read" in gap for gap in back.gaps)


def test_a_rollback_restores_anchors_sentences_and_types(project: Path) -> None:
    names, path = ("Anchor", "Sentence", "Type"), project / "files/links.csv"
    before = {row["Link Id"]: [row[name] for name in names] for row in read_csv(path)}
    assert {kind for *_, kind in before.values()} >= {"contextual"}
    shown = {link: (row["Anchor"], row["Sentence"]) for link, row in rows(project).items()}
    pages = [[page[name] for name in HEADER] for page in read_csv(project / "files/urls_rawdata.csv")]
    write_csv(project / "files/urls_rawdata.csv", [HEADER, *pages[:3]])
    write_csv(project / "files/main_queries.csv", [("URL", "Main Query"), (URLS[0], "green tea")])
    do(project)
    assert before.keys() - {row["Link Id"] for row in read_csv(path)}
    back = rollback(open_project(project), RollbackOptions(run="run-01"), Told())
    assert {row["Link Id"]: [row[name] for name in names] for row in read_csv(path)} == before
    assert {link: (row["Anchor"], row["Sentence"]) for link, row in rows(project).items()} == shown
    assert (back.without_anchors, back.gaps) == (0, ())


def test_a_rollback_says_for_how_many_links_the_store_has_no_anchors(project: Path) -> None:
    with sqlite3.connect(project / "files/cache.sqlite3") as database:
        database.execute("DELETE FROM edges WHERE id IN (SELECT id FROM edges LIMIT 2)")
    back = rollback(open_project(project), RollbackOptions(run="run-01"), Told())
    assert "The store has no anchors for 2 of them" in back.summary
    assert [row["Anchor"] for row in read_csv(project / "files/links.csv")].count("") == 2


def test_an_anchor_that_is_not_in_the_text_is_told_in_the_review_and_by_the_run(project: Path) -> None:
    """Beside an accepted anchor that is not in the text, or only in a heading or link, Why begins with a warning.

    An accepted title for a related box is new text, not a mistake.
    """
    published = read_csv(project / "files/links.csv")
    titled = next(row["Link Id"] for row in published if row["Type"] == "recommendation")
    links = [link for link in rows(project) if link != titled][:3]
    links.insert(1, titled)
    words = dict(zip(links, ["fresh words", "", "the cup", "Cup Stays"], strict=True))

    def decide(row: dict[str, Any]) -> None:
        row["Anchor"].value = words.get(row["Link ID"].value) or row["Anchor"].value
        if row["Link ID"].value == links[1]:
            row["Status"].value = "accepted"

    edit(project, decide)
    source = rows(project)[links[0]]["Source"]
    pages = [[page[name] for name in HEADER] for page in read_csv(project / "files/urls_rawdata.csv")]
    for page in pages:
        page[2] = f"# About the cup stays\n\n{page[2]}" if page[0] == source else page[2]
    write_csv(project / "files/urls_rawdata.csv", [HEADER, *pages])
    _, told = do(project)
    shown, published = rows(project), read_csv(project / "files/links.csv")
    warned = {
        link: row["Why"].partition(".")[0] for link, row in shown.items() if row["Why"].startswith("Anchor ")
    }
    found = {row["Link Id"]: row for row in published}
    assert warned[links[0]] == "Anchor not in the text" and found[links[0]]["Type"] == "recommendation"
    assert shown[links[1]]["Status"] == "accepted" and shown[links[1]]["Why"].startswith(
        "New text. Accepted by"
    )
    for link in links[2:]:
        sentence, text = found[link]["Sentence"].casefold(), found[link]["Anchor"].casefold()
        in_text = "about the cup stays" not in sentence and text in sentence
        assert (link in warned) is not in_text
        assert shown[link]["Sentence"] == found[link]["Sentence"]
    count = len(warned.keys() & {*links})
    assert any(
        note.startswith(f"{count} accepted links have an anchor that is not in") for note in told.warnings
    )


def test_an_accepted_anchor_stays_with_its_link(project: Path) -> None:
    link = next(
        row["Link Id"] for row in read_csv(project / "files/links.csv") if row["Type"] == "contextual"
    )
    anchor = rows(project)[link]["Anchor"]

    def accept(row: dict[str, Any]) -> None:
        if row["Link ID"].value == link:
            row["Status"].value = "accepted"

    edit(project, accept)
    reword(project)
    do(project)
    assert rows(project)[link]["Anchor"] == anchor
    found = {row["Link Id"]: row["Anchor"] for row in read_csv(project / "files/links.csv")}
    assert found[link] == anchor
    assert rows(project)[link]["Why"].startswith("Anchor not in the text. ")


def test_the_terminal_shows_titles_and_warns(project: Path) -> None:
    typist = typed(project, "e", "fresh words", "a", "u", "q")
    first = typist.shown[0]
    assert first.source_title == next(
        page["Title"]
        for page in read_csv(project / "files/urls_rawdata.csv")
        if page["URL"] == first.edge.source_url
    )
    assert typist.told == [
        "Links that wait for a decision: 12 links of all runs.",
        "Warning: anchor not in the text. Press e to enter another one, or a to accept it all the same.",
        "Accepted with a warning: anchor not in the text. Add the words to the page's text.",
    ]
    assert decided(project) == {}


def test_the_terminal_works_without_a_table_of_pages(project: Path) -> None:
    write_csv(project / "files/urls_rawdata.csv", [("Name",), ("x",)])
    typist, told = Typist("a", "q"), Told()
    counts = review(open_project(project), ReviewOptions(source=URLS[0], tier=""), typist, told)
    assert (counts.accepted, typist.shown[0].source_title) == (1, "")
    assert told.warnings[0].startswith("Links are shown without titles")


def test_a_workbook_whose_hidden_columns_are_gone(project: Path, tmp_path: Path) -> None:
    gone = ["Proposed Anchor", "Written Status", "Row Key"]
    path = project / "files/review.xlsx"
    book = openpyxl.load_workbook(path)
    header = [cell.value for cell in book.worksheets[0][1]]
    for name in sorted(gone, key=header.index, reverse=True):
        book.worksheets[0].delete_cols(header.index(name) + 1)
    book.save(path)
    other = make_project(tmp_path / "other", SETTINGS)
    reword(other)
    do(other)
    links = [link for link in rows(other) if rows(project).get(link, {}).get("Status") == "proposed"]
    shutil.copy(path, other / "files/review.xlsx")
    for _ in range(2):
        do(other)
        assert decided(other) == {}
        assert {*gone} <= rows(other)[links[0]].keys()

    def decide(row: dict[str, Any]) -> None:
        if row["Link ID"].value == links[0]:
            row["Anchor"].value = "my own words"

    edit(other, decide)
    do(other)
    assert decided(other) == {links[0]: ("edited", "my own words")}


def test_no_decision_is_lost_when_the_review_changes_its_language(project: Path) -> None:
    """A workbook is translated by the next run, and decisions are read in both languages at all times."""
    links = [*rows(project)]
    at = {link: place for place, link in enumerate(links)}

    def in_english(cells: dict[str, Any]) -> None:
        place = at.get(cells["Link ID"].value, -1)
        cells["Status"].value = {0: "accepted", 1: "rejected"}.get(place, cells["Status"].value)
        cells["Anchor"].value = "my words" if place == 2 else cells["Anchor"].value

    def in_german(cells: dict[str, Any]) -> None:
        place = at.get(cells["Link ID"].value, -1)
        cells["Status"].value = {1: "Angenommen", 3: "abgelehnt"}.get(place, cells["Status"].value)
        cells["Notizen"].value = "Anna fragen" if place == 4 else None

    edit(project, in_english)
    write_settings(project, {**SETTINGS, "review_language": "de"})
    do(project)
    shown = rows(project)
    assert [shown[link]["Status"] for link in links[:4]] == [
        "accepted",
        "rejected",
        "geändert",
        "vorgeschlagen",
    ]
    assert shown[links[2]]["Ankertext"] == "my words"
    assert {link: verdict for link, (verdict, _) in decided(project).items()} == dict(
        zip(links, ("accepted", "rejected", "edited"), strict=False)
    )
    edit(project, in_german)
    write_settings(project, {**SETTINGS, "review_language": "en"})
    do(project)
    shown = rows(project)
    # Decisions stay in the language in which they were written.
    assert [shown[link]["Status"] for link in links[:5]] == [
        *("accepted", "Angenommen", "geändert", "abgelehnt", "proposed"),
    ]
    assert (shown[links[2]]["Anchor"], shown[links[4]]["Notes"]) == ("my words", "Anna fragen")
    assert [decided(project)[link][0] for link in links[:4]] == ["accepted", "accepted", "edited", "rejected"]
