"""Exported search data become main queries in empty places of files/main_queries.csv or of the Sheet."""

import json
from pathlib import Path

import pytest

import internal_linker
from internal_linker.core.errors import InputError
from internal_linker.core.search_data import SearchTable
from internal_linker.usecases.project import open_project
from tests.standins import GoogleStandIn
from tests.support.crawls import table
from tests.support.search_exports import zipped
from tests.support.sheets import before, edit
from tests.support.small_project import (
    SITE,
    URLS,
    command,
    forget_settings,
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


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    forget_settings(monkeypatch)


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
        f"black tea taste  {BLACK.rstrip('/')}  (18 clicks",
        f"cannibalised: tea pot  {POTS.rstrip('/')} (55%)  {WHITE.rstrip('/')} (45%)",
        "To fill in files/main_queries.csv: 3 pages",
        "Kept: written already: 1 page",
        "Queries for the site's name, left out: 2: tiny tea shop, tiny",
        "URLs that are no page of the project: 2, 186 clicks",
    ):
        assert words in shown


def test_empty_main_queries_are_filled(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Empty cells are filled and pages without a row get one; a person's own query and other columns stay."""
    assert command("queries", "--write", "--json", "--project", str(project)) == 0
    told = json.loads(capsys.readouterr().out)
    assert [each["fate"] for each in told["queries"]] == ["filled", "filled", "kept", "filled"]
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
    assert WHITE.rstrip("/") in found.chosen.without
    assert found.frames["queries"]["query"].tolist() == ["green tea taste", "black tea taste"] or set(
        found.frames["queries"]["query"]
    ) == {"green tea taste", "black tea taste"}
    assert "tea pot" in found.frames["brands"]["query"].tolist()


def test_without_search_data_the_remedy_is_told(tmp_path: Path) -> None:
    """A project without search data by query says how to get some."""
    with pytest.raises(InputError, match=r"no search data by page and query.*--search-console"):
        internal_linker.queries(make_project(tmp_path))


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
    assert done.absent == [WHITE.rstrip("/")] and done.filled == [BLACK.rstrip("/")]
    assert {*done.kept} == {GREEN.rstrip("/"), POTS.rstrip("/")}, "what was typed in between is kept"
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
