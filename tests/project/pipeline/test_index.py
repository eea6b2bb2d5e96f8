"""The index of a site: a lookup that uses it finds exactly what one without it finds, and notices every change."""

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import internal_linker
from internal_linker.match.candidates import ComparisonArrays, Pool
from internal_linker.match.neighbours.knn_join import Joined, join
from internal_linker.model.arrays import Ints
from internal_linker.project.pipeline import site_ranking
from internal_linker.project.project import open_project
from internal_linker.project.review import LinkDecision, decide
from internal_linker.store.files.index_folder import ARRAYS
from internal_linker.text.words import words as words_of
from tests.standins import GoogleStandIn
from tests.standins.gspread_client import gspread_client
from tests.support.sites import make_project, read_csv, sample_pages, sample_queries, use_standins
from tests.support.small_project import command, write_csv, write_settings, write_text

HOST = "https://www.slowkettle.example"
PAGE = f"{HOST}/recipes/flat-white/"
FROM_INDEX = "50 from the index"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A site of 50 pages."""
    return make_project(tmp_path / "site", 50, {"embedding_provider": "lsa"})


@pytest.fixture
def linked(folder: Path) -> Path:
    """The same site with 150 links, which its ranker learns from."""
    return with_links(folder)


@pytest.fixture(scope="module")
def after_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same site with its links, after a run."""
    made = with_links(
        make_project(tmp_path_factory.mktemp("index") / "site", 50, {"embedding_provider": "lsa"})
    )
    assert command("run", "--no-serp", "--project", str(made)) == 0
    return made


@pytest.fixture
def ran(after_run: Path, tmp_path: Path) -> Path:
    """A copy of that site."""
    return shutil.copytree(after_run, tmp_path / "ran")


def with_links(folder: Path) -> Path:
    urls = [row["URL"] for row in pages(folder)]
    links = [(url, urls[(at + step) % 50], f"page {at}") for at, url in enumerate(urls) for step in (1, 2, 5)]
    write_csv(folder / "files/existing_links.csv", [("Source", "Destination", "Anchor"), *links])
    return folder


def pages(folder: Path) -> list[dict[str, str]]:
    return read_csv(folder / "files/urls_rawdata.csv")


def put_pages(folder: Path, rows: list[dict[str, str]]) -> None:
    write_csv(folder / "files/urls_rawdata.csv", [[*rows[0]], *([*row.values()] for row in rows)])


Found = tuple[list[dict[str, Any]], bool]


def looked_up(folder: Path, capsys: pytest.CaptureFixture[str], *words: str) -> Found:
    """Return the links of a lookup, and whether the comparison of the pages came from the index."""
    found, used = found_for(folder, capsys, ("lookup", *(words or (PAGE,))))
    return found["links"], used


def without_index(folder: Path, capsys: pytest.CaptureFixture[str], *words: str) -> list[dict[str, Any]]:
    """Return the links of a lookup in a copy of the project that has no index."""
    copy = folder.with_name("copy")
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(folder, copy, ignore=shutil.ignore_patterns("index"))
    links, used = looked_up(copy, capsys, *words)
    assert not used
    return links


@pytest.fixture
def compared(monkeypatch: pytest.MonkeyPatch) -> dict[int, Ints]:
    """The nearest pages by vectors that each compared text began with, by its row."""
    found, pools = dict[int, Ints](), ComparisonArrays.pools

    def recorded(comparison: ComparisonArrays, texts: Ints, near: Ints) -> list[Pool]:
        found.update(zip(texts.tolist(), near, strict=True))
        return pools(comparison, texts, near)

    monkeypatch.setattr(ComparisonArrays, "pools", recorded)
    return found


@pytest.mark.long
def test_a_lookup_after_a_run_compares_only_its_own_page(
    ran: Path, capsys: pytest.CaptureFixture[str], compared: dict[int, Ints]
) -> None:
    """What the run found out about the candidates is not found out again, which took most of a lookup's time."""
    looked_up(ran, capsys)
    assert [*compared] == [[row["URL"] for row in pages(ran)].index(PAGE)]


@pytest.mark.long
def test_a_lookup_begins_with_the_nearest_pages_that_a_run_found_with_ivf(
    linked: Path,
    capsys: pytest.CaptureFixture[str],
    compared: dict[int, Ints],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def with_gaps(*arguments: Any, **options: Any) -> Joined:
        found = join(*arguments, **options)
        rows = found.nearest.rows.copy()
        rows[:, 7:] = -1
        return replace(found, nearest=replace(found.nearest, rows=rows), recall=0.99)

    monkeypatch.setattr(site_ranking, "join", with_gaps)
    assert command("run", "--project", str(linked)) == 0
    compared.clear()
    assert looked_up(linked, capsys)[1]
    assert [np.count_nonzero(near >= 0) for near in compared.values()] == [7]


@pytest.mark.long
def test_links_and_scores_are_those_without_an_index(
    linked: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first lookup leaves an index, which serves all pages, directions and limits; all figures are equal."""
    first, used = looked_up(linked, capsys)
    assert first and not used
    assert looked_up(linked, capsys) == (first, True)
    for words in ((PAGE, "--to"), ("/milk/how-to-steam-milk/", "--limit", "9")):
        expected = without_index(linked, capsys, *words)
        assert looked_up(linked, capsys, *words) == (expected, True)


@pytest.mark.long
@pytest.mark.parametrize("change", ["text", "link", "setting"])
def test_a_change_is_noticed(folder: Path, capsys: pytest.CaptureFixture[str], change: str) -> None:
    looked_up(folder, capsys)
    rows, settings = pages(folder), folder / "config/settings.toml"
    match change:
        case "text":
            rows[3]["Main Content"] += " Flat white, flat white and once more flat white."
            put_pages(folder, rows)
        case "link":
            link = (PAGE, rows[9]["URL"], "nine")
            write_csv(folder / "files/existing_links.csv", [("Source", "Destination", "Anchor"), link])
        case "setting":
            settings.write_text(
                settings.read_text(encoding="utf-8") + "\nlexical_weight = 0.9\n", encoding="utf-8"
            )
    expected = without_index(folder, capsys)
    links, used = looked_up(folder, capsys)
    assert links == expected and not used
    assert looked_up(folder, capsys)[0] == expected
    # Only the newest version of each part stays.
    parts = [each.name.partition("-")[0] for each in (folder / "files/index").iterdir() if each.is_dir()]
    assert sorted(parts) == [
        "anchors", "hubness", "pages", "phrases", "ranker", "site", "words",
    ]  # fmt: skip


@pytest.mark.long
def test_decisions_of_editors_count_at_once(ran: Path, capsys: pytest.CaptureFixture[str]) -> None:
    linked, (before, _) = ran, looked_up(ran, capsys)
    rows = [row for row in read_csv(linked / "files/links.csv") if row["Source"] == PAGE]
    decisions = [LinkDecision(rows[0]["Link Id"], "rejected"), LinkDecision(rows[1]["Link Id"], "accepted")]
    decide(open_project(linked), decisions, by="test")
    links, used = looked_up(linked, capsys)
    assert used and rows[0]["Target"] not in [link["target"] for link in links] != before
    assert links == without_index(linked, capsys)


def links_csv(folder: Path) -> list[dict[str, str]]:
    """Return the links of the last run, without what differs between two equal runs."""
    rows = read_csv(folder / "files/links.csv")
    return [{name: row[name] for name in row if name != "Run"} for row in rows]


@pytest.mark.long
def test_a_run_with_an_index_finds_the_same_links(ran: Path) -> None:
    """A run after a decision compares no pages again; its links are those of a run without an index."""
    linked = ran
    some = read_csv(linked / "files/links.csv")[0]["Link Id"]
    decide(open_project(linked), [LinkDecision(some, "rejected")], by="test")
    parts = {each: each.stat().st_mtime_ns for each in (linked / "files/index").glob("site-*")}
    copy = linked.with_name("copy")
    shutil.copytree(linked, copy, ignore=shutil.ignore_patterns("index"))
    for each in (linked, copy):
        assert command("run", "--no-serp", "--project", str(each)) == 0
    assert links_csv(linked) == links_csv(copy)
    assert {each: each.stat().st_mtime_ns for each in (linked / "files/index").glob("site-*")} == parts != {}


def test_a_trial_leaves_no_index(folder: Path) -> None:
    assert command("run", "--no-serp", "--limit", "3", "--project", str(folder)) == 0
    assert not (folder / "files/index").exists()


def test_damage_costs_time_only(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    expected, _ = looked_up(folder, capsys)
    for part in (folder / "files/index").glob("*-*"):
        (part / ARRAYS).write_bytes(b"")
    assert looked_up(folder, capsys) == (expected, False)
    assert looked_up(folder, capsys) == (expected, True)


@pytest.fixture
def split(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that receives the titles and bodies that are split into words."""
    texts = list[str]()

    def noted(text: str) -> list[str]:
        texts.append(text)
        return words_of(text)

    monkeypatch.setattr("internal_linker.match.tokens.words", noted)
    return texts


@pytest.mark.long
def test_a_run_splits_only_changed_texts_into_words(ran: Path, split: list[str]) -> None:
    linked, rows = ran, pages(ran)
    rows[3]["Main Content"] += " Flat white, flat white and once more flat white."
    rows.append({**rows[5], "URL": f"{HOST}/milk/new/", "Title": "Froth of oat milk"})
    del rows[20]
    put_pages(linked, rows)
    copy = linked.with_name("copy")
    shutil.copytree(linked, copy)
    (kept,) = (copy / "files/index").glob("words-*")
    shutil.rmtree(kept)
    assert command("run", "--no-serp", "--accept-drift", "--project", str(linked)) == 0
    assert len(split) == 2 * 2
    assert command("run", "--no-serp", "--accept-drift", "--project", str(copy)) == 0
    assert links_csv(linked) == links_csv(copy) != []


def test_a_run_on_unchanged_tables_takes_them_from_the_index(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = pages(folder)
    put_pages(folder, [*rows, {**rows[0], "URL": "no address"}])
    write_csv(
        folder / "files/existing_links.csv",
        [("Source", "Destination"), ("https://a.test/", "https://b.test/")],
    )
    said, listed = [], []
    for at in range(2):
        assert command("run", "--project", str(folder)) == 0
        out = capsys.readouterr().out
        said.append([line for line in out.splitlines() if line.startswith(("Note", "  Rows rejected"))])
        rejected = folder / "files/rejected_rows.csv"
        listed.append(rejected.read_bytes())
        rejected.unlink()
        if not at:
            monkeypatch.setattr("internal_linker.sources.collect.collect", None)
    assert said[0] == said[1] and any(line.startswith("Note") for line in said[0])
    assert any(line.startswith("  Rows rejected: 1 ") for line in said[0]), said[0]
    assert listed[0] == listed[1]


DRAFT = "Oat milk for latte art\n\nFroth oat milk gently: it is sweeter than whole milk and steams in a cold pitcher."
GUESTS = {
    "query": ("lookup", "how to froth milk"),
    "title": ("content-brief", "How to froth milk"),
    "draft": ("content-brief", "draft.md"),
    "planned URL": ("content-brief", "Oat milk", "--url", f"{HOST}/milk/oat-milk-art/", "--limit", "9"),
}


def found_for(
    folder: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> tuple[dict[str, Any], bool]:
    """Return what a command finds, and whether the comparison of the pages came from the index."""
    write_text(folder / "draft.md", DRAFT)
    words = tuple(str(folder / word) if word == "draft.md" else word for word in words)
    capsys.readouterr()
    assert command(*words, "--json", "--project", str(folder)) == 0
    out, err = capsys.readouterr()
    return json.loads(out), FROM_INDEX in err


@pytest.mark.long
@pytest.mark.parametrize("words", GUESTS.values(), ids=GUESTS)
def test_queries_and_planned_pages_are_guests(
    ran: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    first, used = found_for(ran, capsys, words)
    assert first and used
    shutil.rmtree(ran / "files/index")
    assert found_for(ran, capsys, words) == (first, False)
    assert found_for(ran, capsys, words) == (first, True)


@pytest.mark.long
def test_guests_have_vectors_of_their_own(linked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_settings(linked, {"embedding_provider": "fast"})
    first, used = found_for(linked, capsys, GUESTS["draft"])
    assert first and not used
    assert found_for(linked, capsys, GUESTS["draft"]) == (first, True)


@pytest.mark.long
def test_a_run_with_queries_without_pages(ran: Path, capsys: pytest.CaptureFixture[str]) -> None:
    linked, alone = ran, links_csv(ran)
    copy = linked.with_name("copy")
    shutil.copytree(linked, copy, ignore=shutil.ignore_patterns("index", "cache.sqlite3*"))
    queries = (copy / "files/main_queries.csv").read_text(encoding="utf-8")
    (copy / "files/main_queries.csv").write_text(
        f"{queries.rstrip()}\n,how to froth milk\n", encoding="utf-8"
    )
    assert command("run", "--no-serp", "--project", str(copy)) == 0
    assert links_csv(copy) == alone
    rows = read_csv(copy / "files/Output.csv")
    row = next(row for row in rows if row["Main Query"] == "how to froth milk")
    links, used = looked_up(copy, capsys, "how to froth milk")
    assert used and [link["target"] for link in links] == [row[f"Link {at}"] for at in range(1, 6)]


def test_briefs_take_the_tables_from_the_index(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, _ = found_for(folder, capsys, GUESTS["title"])
    monkeypatch.setattr("internal_linker.sources.collect.collect", None)
    assert found_for(folder, capsys, GUESTS["title"]) == (first, True)


def test_an_index_that_cannot_be_written(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    expected = without_index(folder, capsys)
    (folder / "files/index").write_text("a file", encoding="utf-8")
    capsys.readouterr()
    assert command("lookup", PAGE, "--json", "--project", str(folder)) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["links"] == expected
    assert err.count("so the next lookup prepares the site again") == 1


# -- main queries in a Google Sheet --------------------------------------------------------------------


@pytest.fixture
def google() -> Iterator[GoogleStandIn]:
    rows = [["Owner", "URL", "Main Query"], *(["me", *row] for row in sample_queries(sample_pages(50)))]
    with GoogleStandIn({"Main": rows}, rows=60, columns=10) as server:
        yield server


@pytest.fixture
def in_sheet(tmp_path: Path, google: GoogleStandIn) -> Path:
    """Return a site of 50 pages after a run that wrote links into the Sheet."""
    folder = make_project(tmp_path / "site", 50)
    use_standins(folder, google=google, settings={"embedding_provider": "lsa"})
    assert command("run", "--project", str(folder)) == 0
    assert google.grid("Main")[1][3].startswith("https://")
    return folder


def put(google: GoogleStandIn, row: int, column: int, text: str) -> None:
    gspread_client(google).open_by_key(google.spreadsheet_id).sheet1.update_cell(row, column, text)


@pytest.mark.long
@pytest.mark.parametrize(
    ("column", "text", "same"),
    [(3, "another question", False), (2, PAGE, False), (1, "you", True), (4, f"{HOST}/", True)],
)
def test_changes_in_the_sheet_count(
    in_sheet: Path,
    google: GoogleStandIn,
    capsys: pytest.CaptureFixture[str],
    column: int,
    text: str,
    same: bool,
) -> None:
    """The links that the run wrote are no change. URLs and queries are compared; nothing else in the Sheet matters."""
    links, used = looked_up(in_sheet, capsys)
    assert used and links == without_index(in_sheet, capsys)
    put(google, 3, column, text)
    links, used = looked_up(in_sheet, capsys)
    assert used is same and links == without_index(in_sheet, capsys)


@pytest.mark.long
def test_an_open_site_reads_the_sheet_again_after_a_while(
    in_sheet: Path, google: GoogleStandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = [line[1] for line in google.grid("Main")].index(PAGE) + 1
    with internal_linker.open_site(in_sheet) as site:
        now = 1000.0
        monkeypatch.setattr("internal_linker.project.open_site.time.monotonic", lambda: now)
        query = site.lookup(PAGE).links[0].query
        put(google, row, 3, "a new question")
        now += 1
        assert site.lookup(PAGE).links[0].query == query
        now += 60
        assert site.lookup(PAGE).links[0].query == "a new question"


def test_a_lookup_reads_the_sheet_once(in_sheet: Path, google: GoogleStandIn) -> None:
    paths = list[str]()
    google.on_request = lambda request: paths.append(request.path)
    assert command("lookup", PAGE, "--project", str(in_sheet)) == 0
    assert sum("/values" in path for path in paths) == 1
