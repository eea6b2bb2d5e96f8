"""Exported search data become main queries in empty places of files/main_queries.csv or of the Sheet."""

import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

import internal_linker
from internal_linker.model.errors import InputError
from internal_linker.model.search_data import SearchTable
from internal_linker.project.project import open_project
from tests.standins import GoogleStandIn
from tests.support.crawls import table
from tests.support.search_exports import zipped
from tests.support.sheets import before, edit
from tests.support.small_project import (
    SITE,
    URLS,
    command,
    make_project,
    write_csv,
    write_text,
)

GREEN, BLACK, WHITE, POTS, WATER, STORAGE = URLS
HEADER = ("Date", "Page", "Query", "Clicks", "Impressions", "Position")
DATA = [
    (f"{SITE}/", "tiny tea shop", "90", "100", "1"),
    (GREEN, "green tea taste", "9", "90", "2"),
    (GREEN, "tiny", "30", "40", "1"),
    (BLACK, "black tea", "4", "90", "2"),
    (BLACK.replace("https://www.", "http://"), "black tea taste", "9", "90", "2"),
    (WHITE, "tea pot", "9", "90", "3"),
    (POTS, "tea pot", "11", "90", "2"),
    (f"{SITE}/gone/", "gone", "3", "30", "2"),
]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = make_project(tmp_path / "project")
    export = tmp_path / "export.csv"
    write_csv(
        export, [HEADER, *(("2026-11-01", *row) for row in DATA), *(("2026-11-02", *row) for row in DATA)]
    )
    assert command("import", str(export), "--project", str(root)) == 0
    write_csv(
        root / "files/main_queries.csv",
        [("URL", "Note", "Main Query"), (GREEN, "mine", "own words"), (BLACK, "", ""), (STORAGE, "x", "")],
    )
    return root


def test_main_queries_are_only_shown_at_first(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without --write, nothing changes, and each query, the shared ones and the site's names are shown."""
    held = table(project, "main_queries.csv")
    assert command("queries", "--project", str(project)) == 0
    assert table(project, "main_queries.csv") == held
    shown = capsys.readouterr().out
    for words in (
        f"black tea taste  {BLACK}  (18 clicks",
        f"cannibalised: tea pot  {POTS} (55%)  {WHITE} (45%)",
        "To fill in files/main_queries.csv: 3 pages",
        "Kept: written already: 1 page",
        "Queries for the site's name, left out: 2: tiny tea shop, tiny",
        f"URLs that are no page of the project: 2, 186 clicks: {SITE}/, {SITE}/gone",
    ):
        assert words in shown


def test_empty_main_queries_are_filled(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Empty cells are filled and pages without a row get one; a person's own query and other columns stay."""
    assert command("queries", "--write", "--json", "--project", str(project)) == 0
    told = json.loads(capsys.readouterr().out)
    assert [each["fate"] for each in told["queries"]] == ["filled", "filled", "kept", "filled"]
    assert [each["page"] for each in told["queries"]] == [POTS, BLACK, GREEN, WHITE]
    assert table(project, "main_queries.csv") == [
        ("URL", "Note", "Main Query"),
        (GREEN, "mine", "own words"),
        (BLACK, "", "black tea taste"),
        (STORAGE, "x", ""),
        (POTS, "", "tea pot"),
        (WHITE, "", "tea pot"),
    ]
    [copy] = told["copies"]
    assert table(project, copy)[2] == (BLACK, "", "")


def test_queries_with_a_name_of_the_site_are_left_out(project: Path) -> None:
    """--brand adds a name that nothing else tells."""
    found = internal_linker.queries(project, brand=["pot"])
    assert WHITE in found.chosen.without
    assert found.frames["queries"]["query"].tolist() == ["green tea taste", "black tea taste"] or set(
        found.frames["queries"]["query"]
    ) == {"green tea taste", "black tea taste"}
    assert "tea pot" in found.frames["brands"]["query"].tolist()


def test_without_search_data_the_remedy_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = r"no search data by page and query.*`internal-linker import --search-console PROPERTY"
    root = make_project(tmp_path / "project")
    with pytest.raises(InputError, match=rf"{told} --project {re.escape(str(root))}`"):
        internal_linker.queries(root)
    monkeypatch.chdir(root)
    with pytest.raises(InputError, match=f"{told}`"):
        internal_linker.queries(root)


def test_what_somebody_wrote_stays_byte_for_byte(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Formulas, apostrophes, spaces, quotation marks and line ends stay; a new cell like a formula is guarded."""
    add_rows(project, [(STORAGE, "=sum(a1)", "9", "90", "2"), (GREEN, "'s tea", "90", "900", "2")])
    path = project / "files/main_queries.csv"
    kept = f"URL,Note,Main Query\n{BLACK},'=A1,=A1\n{WHITE},\"=1\",  \n{POTS},-,'=A1\n"
    path.write_bytes(f"{kept}{STORAGE},@x,\n".encode())
    assert command("queries", "--project", str(project)) == 0
    shown = capsys.readouterr().out
    assert (
        f"=sum(a1)  {STORAGE}  (9 clicks, 90 impressions, position 2.0; spreadsheet programs would take"
        in shown
    )
    assert "written as '=sum(a1))" in shown
    assert f"not filled: tea pot  {WHITE}  (its cell has spaces: empty the cell to have it filled)" in shown
    assert "To fill in files/main_queries.csv: 2 pages" in shown and "Not filled: 1 page" in shown
    done = internal_linker.queries(project, write=True)
    assert path.read_bytes() == f"{kept}{STORAGE},@x,'=sum(a1)\n{GREEN},,'s tea\n".encode()
    assert {*done.filled} == {STORAGE, GREEN} and {*done.kept} == {BLACK, POTS}
    assert done.unfilled == [WHITE]
    assert len(done.problems) == 1 and "row 3: its Main Query stays as it is" in done.problems[0]


def test_a_query_that_google_would_calculate_is_not_proposed(project: Path, google: GoogleStandIn) -> None:
    add_rows(project, [(STORAGE, "=sum(a1)", "9", "90", "2")])
    grid = [["URL", "Main Query"], [BLACK], [POTS, "  "], [STORAGE]]
    google.set_grid("Main", grid)
    with google:
        _use_sheet(project, google)
        shown = internal_linker.queries(project)
        assert {*shown.unfilled} == {POTS, STORAGE} and shown.filled == [BLACK]
        notes = shown.to_frame().set_index("page")["note"]
        assert "type it after an apostrophe" in notes[STORAGE] and "has spaces" in notes[POTS]
        done = internal_linker.queries(project, write=True)
        assert google.grid("Main") == [*grid[:1], [BLACK, "black tea taste"], *grid[2:]]
    assert {*done.unfilled} == {POTS, STORAGE} and len(done.problems) == 2


def test_lists_that_are_cut_say_so(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = [(f"{SITE}/", f"tiny {word}", "90", "100", "1") for word in "abcdefghijklm"]
    gone = [(f"{SITE}/gone/{number}/", f"x {number}", str(10 + number), "90", "2") for number in range(4)]
    shared = [(page, f"shared {word}", "20", "90", "2") for word in "abcdefghijk" for page in (WHITE, POTS)]
    add_rows(project, [*names, *gone, *shared])
    assert command("queries", "--project", str(project)) == 0
    shown = capsys.readouterr().out
    assert "left out: 15: tiny tea shop, tiny a" in shown and "tiny i and 5 more\n" in shown
    assert "... and 2 more cannibalised queries" in shown
    assert (
        f"no page of the project: 6, 1402 clicks: {SITE}/, {SITE}/gone/3, {SITE}/gone/2 and 3 more" in shown
    )


def test_a_name_that_is_the_topic_is_explained(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is said what was left out, what was not and why, and --brand leaves the others out."""
    rows = [(page, f"tiny tea {number}", "900", "9000", "2") for number, page in enumerate(URLS)]
    add_rows(project, rows)
    assert command("queries", "--project", str(project)) == 0
    shown = capsys.readouterr().out
    [told] = [line.strip() for line in shown.splitlines() if line.strip().startswith('Queries with "tiny"')]
    assert told == (
        'Queries with "tiny" and other words: not left out, because most clicks on other pages than the home page '
        'come with it: it is the site\'s topic. Only the name alone is left out; --brand "tiny" leaves them all out'
    )
    assert "tiny tea 2" in shown
    assert command("queries", "--brand", "tiny", "--json", "--project", str(project)) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["topics"] == [] and not [each for each in told["queries"] if "tiny" in each["query"]]


def add_rows(project: Path, rows: Sequence[tuple[str, ...]]) -> None:
    """Store more search data, of a later day."""
    export = project.parent / "more.csv"
    write_csv(export, [HEADER, *(("2026-11-03", *row) for row in rows)])
    assert command("import", str(export), "--project", str(project)) == 0


@pytest.fixture
def google() -> "GoogleStandIn":
    return GoogleStandIn(
        {"Main": [["URL", "Main Query"], [GREEN, "own words"], [BLACK], [POTS, ""], [STORAGE]]}
    )


def test_empty_cells_of_the_sheet_are_filled(project: Path, google: GoogleStandIn) -> None:
    """Only rows of the Sheet are filled; a query that an editor types between reading and writing stays."""
    with google:
        _use_sheet(project, google)
        before(
            google,
            "^POST .*:batchUpdate",
            edit(google, lambda rows: [*rows[:3], [POTS, "typed in between"], *rows[4:]]),
        )
        done = internal_linker.queries(project, write=True)
        assert google.grid("Main") == [
            ["URL", "Main Query"],
            [GREEN, "own words"],
            [BLACK, "black tea taste"],
            [POTS, "typed in between"],
            [STORAGE],
        ]
    assert done.absent == [WHITE] and done.filled == [BLACK]
    assert {*done.kept} == {GREEN, POTS}, "what was typed in between is kept"
    assert done.place == "Google Sheet 'Main'" and done.problems == []


def _use_sheet(project: Path, google: GoogleStandIn) -> None:
    settings = project / "config/settings.toml"
    write_text(
        settings,
        settings.read_text(encoding="utf-8")
        + f'\ngoogle_sheet_id = "{google.spreadsheet_id}"\ngoogle_sheet_name = "Main"\n'
        f'google_api_url = "{google.url}"\n',
    )
    key = project / "config/service_account.txt"
    write_text(key, json.dumps(google.service_account))
    key.chmod(0o600)


def test_exports_are_stored_by_source(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Days and sums over a period are apart in the store; rejected rows are listed in files/."""
    root = make_project(tmp_path / "project")
    path = zipped(
        tmp_path / "export.zip",
        pages=[f"{GREEN},9,90,10%,3.1", "https://other.example/,9,90,10%,3.1"],
        dates=["2026-09-01,9,90,10%,3.1", "2026-09-02,9,90,10%,3.1", "2020-01-01,9,90,10%,3.1"],
    )
    assert command("import", str(path), "--project", str(root), "--json") == 0
    told = json.loads(capsys.readouterr().out)["search_files"]
    assert [(each["table"], each["source"], each["days"]) for each in told["stored"]] == [
        ("pages", "sums from 2020-01-01 to 2026-09-02", 1),
        ("totals", "exported files", 2),
    ]
    assert [count for reason, count in told["left_out"].items() if "sixteen months" in reason] == [1]
    assert table(root, "rejected_search_rows.csv")[1][1:3] == ("3", "https://other.example/")
    with open_project(root).search_data() as store:
        assert [day.isoformat() for day in store.days(SearchTable.TOTALS)] == ["2026-09-01", "2026-09-02"]
    assert not (root / "files/existing_links.csv").exists()
    data = internal_linker.search_data(root)
    assert data.pages["clicks"].tolist() == [9]


def test_named_columns_make_a_table_of_pages(tmp_path: Path) -> None:
    """With --url-column, Search Console's pages are imported as pages, as a crawl is."""
    root = make_project(tmp_path / "project")
    path = tmp_path / "Pages.csv"
    write_csv(
        path, [("Top pages", "Clicks", "Impressions", "CTR", "Position"), (GREEN, "9", "90", "10%", "3")]
    )
    assert command("import", str(path), "--project", str(root)) == 3
    assert command("import", str(path), "--url-column", "Top pages", "--project", str(root)) == 0
    assert table(root, "urls_rawdata.csv") == [("URL",), (GREEN,)]
