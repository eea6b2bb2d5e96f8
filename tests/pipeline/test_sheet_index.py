"""The index serves sites whose main queries are in a Google Sheet, too, and notices what editors change there."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import internal_linker
from tests.pipeline.test_index import PAGE, looked_up, without_index
from tests.standins import GoogleStandIn
from tests.standins.gspread_client import gspread_client
from tests.support.sites import make_project, sample_pages, sample_queries, use_standins
from tests.support.small_project import command


@pytest.fixture
def google() -> Iterator[GoogleStandIn]:
    rows = [["Owner", "URL", "Main Query"], *(["me", *row] for row in sample_queries(sample_pages(50)))]
    with GoogleStandIn({"Main": rows}, rows=60, columns=10) as server:
        yield server


@pytest.fixture
def folder(tmp_path: Path, google: GoogleStandIn) -> Path:
    """Return a site of 50 pages after a run that wrote links into the Sheet."""
    folder = make_project(tmp_path / "site", 50)
    use_standins(folder, google=google, settings={"embedding_provider": "lsa"})
    assert command("run", "--project", str(folder)) == 0
    assert google.grid("Main")[1][3].startswith("https://")
    return folder


def put(google: GoogleStandIn, row: int, column: int, text: str) -> None:
    sheet = gspread_client(google).open_by_key(google.spreadsheet_id).sheet1
    sheet.update_cell(row, column, text)


@pytest.mark.long
def test_a_lookup_uses_what_the_run_compared(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The links that the run wrote into the Sheet are no change; all figures are those without an index."""
    links, used = looked_up(folder, capsys)
    assert used and links == without_index(folder, capsys)


CHANGES: dict[str, tuple[Callable[[GoogleStandIn], None], bool]] = {
    "a query": (lambda google: put(google, 3, 3, "another question"), False),
    "a URL": (lambda google: put(google, 3, 2, PAGE), False),
    "a column of the editors": (lambda google: put(google, 3, 1, "you"), True),
    "a link": (lambda google: put(google, 3, 4, "https://www.slowkettle.example/"), True),
}


@pytest.mark.long
@pytest.mark.parametrize("change", CHANGES)
def test_changes_in_the_sheet_count(
    folder: Path, google: GoogleStandIn, capsys: pytest.CaptureFixture[str], change: str
) -> None:
    """URLs and queries are compared with those of the index; nothing else in the Sheet matters."""
    do, same = CHANGES[change]
    do(google)
    links, used = looked_up(folder, capsys)
    assert used is same and links == without_index(folder, capsys)


@pytest.mark.long
def test_an_open_site_reads_the_sheet_again_after_a_while(
    folder: Path, google: GoogleStandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = [line[1] for line in google.grid("Main")].index(PAGE) + 1
    with internal_linker.open_site(folder) as site:
        now = 1000.0
        monkeypatch.setattr("internal_linker.usecases.open_site.time.monotonic", lambda: now)
        query = site.lookup(PAGE).links[0].query
        put(google, row, 3, "a new question")
        now += 1
        assert site.lookup(PAGE).links[0].query == query
        now += 60
        assert site.lookup(PAGE).links[0].query == "a new question"


def test_a_lookup_reads_the_sheet_once(folder: Path, google: GoogleStandIn) -> None:
    paths = list[str]()
    google.on_request = lambda request: paths.append(request.path)
    assert command("lookup", PAGE, "--project", str(folder)) == 0
    assert sum("/values" in path for path in paths) == 1
