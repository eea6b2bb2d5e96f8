"""The stand-ins refuse what Google refuses, and can be started from the command line."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import gspread
import pytest
from gspread.exceptions import APIError

from tests.standins import GoogleStandIn
from tests.standins.gspread_client import gspread_client
from tests.support.small_project import REPOSITORY

START = [["URL", "Main Query"], ["/b", "bee"], ["/a", ""], ["/c", "sea"]]
COLUMN = {"sheetId": 0, "startColumnIndex": 1, "endColumnIndex": 2}


@pytest.fixture
def google() -> Iterator[GoogleStandIn]:
    with GoogleStandIn({"Main": START}) as stand_in:
        yield stand_in


@pytest.fixture
def sheet(google: GoogleStandIn) -> gspread.Spreadsheet:
    return gspread_client(google).open_by_key(google.spreadsheet_id)


def test_google_requests(google: GoogleStandIn, sheet: gspread.Spreadsheet) -> None:
    """Tabs change through requests that Google's schema has; a refused one refuses its whole batch."""
    tab = sheet.worksheet("Main")
    tab.freeze(rows=1)
    tab.update_note("A2", "bee's note")
    tab.sort((1, "asc"))
    assert [row[0] for row in google.grid("Main")] == ["URL", "/a", "/b", "/c"]
    assert google.cell_notes("Main") == {"A3": "bee's note"}
    with pytest.raises(APIError, match=r"Unknown name \"frobnicate\" at 'requests\[1\]'"):
        sheet.batch_update(
            {"requests": [{"setBasicFilter": {"filter": {"range": COLUMN}}}, {"frobnicate": {}}]}
        )
    assert set(sheet.fetch_sheet_metadata()["sheets"][0]) == {"properties"}
    sheet.batch_update({"requests": [{"addFilterView": {"filter": {"filterViewId": 5, "range": COLUMN}}}]})
    (view,) = sheet.fetch_sheet_metadata()["sheets"][0]["filterViews"]
    assert (view["filterViewId"], view["range"]["endRowIndex"]) == (5, 1000)
    for kind, args, words in (
        (
            "setDataValidation",
            {"range": COLUMN, "rules": {}},
            'Unknown name "rules" at .*set_data_validation',
        ),
        ("setDataValidation", {"range": {**COLUMN, "startColumnIndex": "1"}}, "TYPE_INT32"),
        ("setDataValidation", {"range": {**COLUMN, "endColumnIndex": 27}}, "is not within the grid"),
        ("repeatCell", {"range": COLUMN, "cell": {}}, "At least one field must be listed"),
        ("appendCells", {"sheetId": 7, "rows": [], "fields": "*"}, "No grid with id: 7"),
        ("addFilterView", {"filter": {"filterViewId": 5, "range": COLUMN}}, "with id 5 already exists"),
        ("updateFilterView", {"filter": {"filterViewId": 6, "range": COLUMN}, "fields": "range"}, "id: 6"),
    ):
        with pytest.raises(APIError, match=words):
            sheet.batch_update({"requests": [{kind: args}]})
    google.edit("addProtectedRange", protectedRange={"range": {**COLUMN, "endRowIndex": 2}})
    with pytest.raises(APIError, match="trying to edit a protected cell"):
        tab.update([["x"]], "B2")
    tab.update([["x"]], "B3")
    found = sheet.fetch_sheet_metadata()["sheets"][0]
    assert found["protectedRanges"][0]["range"] == {**COLUMN, "endRowIndex": 2}


@pytest.mark.long
def test_the_command_line(tmp_path: Path) -> None:
    """`python -m tests.standins` writes key files, prints the environment and an import of search data, which works."""
    command = [sys.executable, "-m", "tests.standins", "--project", str(tmp_path)]
    with subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        lines = [process.stdout.readline()]
        while "Ctrl-C" not in lines[-1]:
            lines.append(process.stdout.readline())
        asked = lines[-3].removeprefix("Search data: ").split()
        exports = [line.removeprefix("export ").strip() for line in lines if "export " in line]
        imported = subprocess.run(
            [sys.executable, "-m", "internal_linker", *asked, "--project", str(tmp_path)],
            cwd=REPOSITORY,
            env=os.environ | dict(line.split("=", 1) for line in exports),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        process.send_signal(signal.SIGINT)
        rest = process.stdout.read()
    assert imported.returncode == 0, imported.stderr
    assert "Fetched: 26 days" in imported.stdout and "rows of 28 days" in imported.stdout
    assert rest.startswith("serper: 0 calls (0 not answered with 200), 0 credits\n")
    assert "search console: 0 calls" not in rest and "google analytics: 0 calls" not in rest
    (tmp_path / "config/openai_api_key.txt").write_text("sk-real")
    refused = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, timeout=10, check=False)
    assert refused.returncode == 1
    assert "is not a stand-in's" in refused.stderr
