"""The Google stand-in behaves like Google, as gspread sees it; the last test covers the command line."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gspread
import pytest
import requests
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from google.auth.exceptions import RefreshError
from gspread.exceptions import APIError

from tests.standins import CutOff, GoogleStandIn, Reply, Request, Reset, make_service_account
from tests.standins.gspread_client import gspread_client

ROOT = Path(__file__).parents[2]
EMAIL = "internal-linker@standin.iam.gserviceaccount.com"
START = [["URL", "Main Query"], ["/b", "bee"], ["/a", ""], ["/c", "sea"]]


@pytest.fixture
def google() -> Iterator[GoogleStandIn]:
    with GoogleStandIn({"Main": START, "It's": []}) as stand_in:
        yield stand_in


@pytest.fixture
def sheet(google: GoogleStandIn) -> gspread.Spreadsheet:
    return gspread_client(google).open_by_key(google.spreadsheet_id)


def test_reading_through_gspread(google: GoogleStandIn, sheet: gspread.Spreadsheet) -> None:
    """Tabs, whole tabs and ranges are read in Google's form: ragged rows, no `values` for an empty range."""
    tab, other = sheet.worksheets()
    assert (tab.title, other.title, tab.row_count, tab.col_count) == ("Main", "It's", 1000, 26)
    assert tab.get_all_values() == [["URL", "Main Query"], ["/b", "bee"], ["/a", ""], ["/c", "sea"]]
    assert other.get_all_values() == [[]]
    answer = sheet.values_batch_get(["Main!A2:B3", "'It''s'!B:B", "Main!A3:A"])["valueRanges"]
    assert answer[0] == {"range": "Main!A2:B3", "majorDimension": "ROWS", "values": [["/b", "bee"], ["/a"]]}
    assert answer[1] == {"range": "'It''s'!B1:B1000", "majorDimension": "ROWS"}
    assert answer[2]["values"] == [["/a"], ["/c"]]
    assert tab.col_values(1) == ["URL", "/b", "/a", "/c"]


def test_raw_and_typed_writes(google: GoogleStandIn, sheet: gspread.Spreadsheet) -> None:
    """RAW keeps a formula as text, USER_ENTERED parses it; null leaves a cell unchanged and "" clears it."""
    tab = sheet.worksheet("Main")
    tab.update([["=1+1", "007"]], "C2", raw=True)
    tab.update([["=1+1", "007", "'=1", "true"]], "C3", raw=False)
    answer = tab.update([[None, ""]], "A2")
    assert google.grid("Main")[1:3] == [["/b", "", "=1+1", "007"], ["/a", "", "#ERROR!", "7", "=1", "TRUE"]]
    assert (answer["updatedRange"], answer["updatedCells"]) == ("Main!A2:B2", 1)


def test_a_batch_is_all_or_nothing(google: GoogleStandIn, sheet: gspread.Spreadsheet) -> None:
    """One range off the grid refuses the whole batch in Google's words; after a resize the batch succeeds."""
    tab = sheet.worksheet("Main")
    block = [{"range": "A2", "values": [["x"]]}, {"range": "A1001", "values": [["y"]]}]
    words = r"Range \(Main!A1001\) exceeds grid limits. Max rows: 1000, max columns: 26"
    with pytest.raises(APIError, match=words):
        tab.batch_update([dict(item) for item in block])
    assert google.grid("Main") == [["URL", "Main Query"], ["/b", "bee"], ["/a"], ["/c", "sea"]]
    tab.resize(rows=1001)
    tab.batch_update([dict(item) for item in block])
    assert (google.grid("Main")[1][0], google.grid("Main")[1000]) == ("x", ["y"])


@pytest.mark.parametrize(
    ("cells", "values", "words"),
    [
        ("A1:B2", [["1"], ["2"], ["3"]], r"within range \[Main!A1:B2\], but tried writing to row \[3\]"),
        ("A1:B2", [["1", "2", "3"]], r"tried writing to column \[C\]"),
        ("Z1", [["1", "2"]], r"Range \(Main!Z1:AA1\) exceeds grid limits"),
        ("A1", [["x" * 50_001]], "more than the maximum of 50000 characters"),
        ("A0", [["x"]], "Unable to parse range"),
    ],
)
def test_writes_that_google_refuses(
    sheet: gspread.Spreadsheet, cells: str, values: list[list[str]], words: str
) -> None:
    """A write that doesn't fit the range, the grid or a cell is a 400."""
    with pytest.raises(APIError, match=words) as refused:
        sheet.worksheet("Main").update(values, cells)
    assert refused.value.code == 400


def test_appending_and_clearing(google: GoogleStandIn, sheet: gspread.Spreadsheet) -> None:
    """Rows are appended below the table and the grid grows; writing and clearing keep notes."""
    tab = sheet.worksheet("Main")
    tab.resize(rows=4)
    answer = tab.append_rows([["/d", "dee"]])
    assert (answer["tableRange"], answer["updates"]["updatedRange"]) == ("Main!A1:B4", "Main!A5:B5")
    tab.update_notes({"B2": "why", "B3": "because"})
    tab.update([["new"]], "B3")
    tab.batch_clear(["B2:B3"])
    assert google.grid("Main")[1:3] == [["/b"], ["/a"]]
    assert google.cell_notes("Main") == {"B2": "why", "B3": "because"}
    assert (tab.get_note("B2"), tab.get_note("B4")) == ("why", "")
    tab.clear()
    assert google.grid("Main") == []


def test_structure_through_gspread(google: GoogleStandIn, sheet: gspread.Spreadsheet) -> None:
    tab = sheet.worksheet("Main")
    tab.freeze(rows=1)
    tab.update_note("A2", "bee's note")
    tab.sort((1, "asc"))
    assert [row[0] for row in google.grid("Main")] == ["URL", "/a", "/b", "/c"]
    assert google.cell_notes("Main") == {"A3": "bee's note"}
    tab.insert_rows([["/0"]], row=2)
    tab.delete_rows(3)
    assert [row[0] for row in google.grid("Main")] == ["URL", "/0", "/b", "/c"]
    tab.update_title("Links")
    fresh = sheet.add_worksheet("Log", rows=5, cols=3, index=0)
    assert [(each.title, each.row_count) for each in sheet.worksheets()][:2] == [("Log", 5), ("Links", 1000)]
    assert sheet.worksheet("Links").frozen_row_count == 1
    with pytest.raises(APIError, match='A sheet with the name "Log" already exists'):
        sheet.add_worksheet("Log", rows=1, cols=1)
    fresh.add_cols(2)
    assert sheet.worksheet("Log").col_count == 5


def test_a_batch_of_requests_is_all_or_nothing(google: GoogleStandIn, sheet: gspread.Spreadsheet) -> None:
    """Formats are accepted; an unknown kind refuses the whole batch, including its valid requests."""
    append: dict[str, Any] = {"appendDimension": {"sheetId": 0, "dimension": "ROWS", "length": 5}}
    looks: dict[str, Any] = {"setBasicFilter": {"filter": {"range": {"sheetId": 0}}}}
    with pytest.raises(APIError, match=r"Unknown name \"frobnicate\" at 'requests\[1\]'"):
        sheet.batch_update({"requests": [append, {"frobnicate": {}}]})
    assert sheet.worksheet("Main").row_count == 1000
    assert sheet.batch_update({"requests": [append, looks]})["replies"] == [{}, {}]
    assert sheet.worksheet("Main").row_count == 1005


def test_who_may_do_what(google: GoogleStandIn, sheet: gspread.Spreadsheet) -> None:
    """An unknown id is a 404, an unshared spreadsheet a 403, a reader may read, and a disabled API says so."""
    with pytest.raises(gspread.SpreadsheetNotFound):
        gspread_client(google).open_by_key("nowhere")
    stranger = gspread_client(google, make_service_account(google.url, "stranger@x.iam.gserviceaccount.com"))
    with pytest.raises(PermissionError):
        stranger.open_by_key(google.spreadsheet_id)
    google.shared_with[EMAIL] = "reader"
    tab = sheet.worksheet("Main")
    with pytest.raises(APIError, match="The caller does not have permission") as refused:
        tab.update([["x"]], "A1")
    assert refused.value.code == 403
    google.api_enabled = False
    with pytest.raises(APIError) as off:
        tab.get_all_values()
    assert off.value.error["details"][0]["reason"] == "SERVICE_DISABLED"


def test_a_narrow_scope_is_not_enough(google: GoogleStandIn) -> None:
    readonly = gspread_client(google, scopes=["https://www.googleapis.com/auth/spreadsheets.readonly"])
    tab = readonly.open_by_key(google.spreadsheet_id).worksheet("Main")
    with pytest.raises(APIError, match="insufficient authentication scopes"):
        tab.update([["x"]], "A1")


def test_keys_and_tokens(google: GoogleStandIn, sheet: gspread.Spreadsheet) -> None:
    """An expired token is renewed automatically; a revoked key and a foreign signature get no token."""
    google.tokens.expire_tokens()
    assert sheet.worksheet("Main").title == "Main"
    assert [call.status for call in google.calls("/v4/|/token")] == [200, 200, 401, 200, 200]
    assert "ya29" not in str(google.ledger)
    foreign = rsa.generate_private_key(public_exponent=65537, key_size=2048).private_bytes(
        Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()
    )
    forger = gspread_client(google, {**google.service_account, "private_key": foreign.decode()})
    with pytest.raises(RefreshError, match="Invalid JWT Signature"):
        forger.open_by_key(google.spreadsheet_id)
    google.tokens.token_seconds = 0
    with pytest.raises(APIError) as expired:
        gspread_client(google).http_client.spreadsheets_get(google.spreadsheet_id)
    assert expired.value.code == 401
    google.tokens.revoked = True
    with pytest.raises(RefreshError, match="invalid_grant"):
        gspread_client(google).open_by_key(google.spreadsheet_id)


@pytest.mark.long
def test_quotas_and_their_window() -> None:
    """A read above the quota is a 429 that names it, until the window has passed; writes have their own quota."""
    with GoogleStandIn(reads_per_minute=2, quota_window=0.4) as google:
        tab = gspread_client(google).open_by_key(google.spreadsheet_id).worksheet("Main")
        with pytest.raises(APIError, match="Read requests per minute per user") as full:
            tab.get_all_values()
        assert (full.value.code, full.value.error["status"]) == (429, "RESOURCE_EXHAUSTED")
        tab.update([["x"]], "A1")
        time.sleep(google.quota_window)
        assert tab.get_all_values() == [["x"]]


def test_an_editor_may_act_between_two_calls(google: GoogleStandIn, sheet: gspread.Spreadsheet) -> None:
    """`on_request` runs before the response, so that rows can move during a call."""
    tab = sheet.worksheet("Main")
    rows = {"sheetId": 0, "dimension": "ROWS", "startIndex": 1, "endIndex": 2}

    def editor(request: Request) -> None:
        if request.method == "PUT":
            google.edit("insertDimension", range=rows)

    google.on_request = editor
    tab.update([["a link"]], "C2")
    assert google.grid("Main")[1:3] == [["", "", "a link"], ["/b", "bee"]]


def test_faults_hit_sheets_calls_and_not_the_token(google: GoogleStandIn) -> None:
    """A script without `on` applies to Sheets calls only; a drop after the work keeps the write."""
    html = "<html>Service unavailable</html>"
    google.script(Reply(503, html=html), CutOff(honest=True))
    client = gspread_client(google)
    with pytest.raises(APIError) as page:
        client.open_by_key(google.spreadsheet_id)
    assert (page.value.code, page.value.response.status_code) == (-1, 503)
    with pytest.raises(requests.JSONDecodeError):
        client.open_by_key(google.spreadsheet_id)
    tab = client.open_by_key(google.spreadsheet_id).worksheet("Main")
    google.script(Reset(after_work=True), on="^PUT ")
    with pytest.raises(requests.ConnectionError):
        tab.update([["changed"]], "A1")
    assert google.grid("Main")[0][0] == "changed"


def test_the_background_call_stays_at_home(google: GoogleStandIn, sheet: gspread.Spreadsheet) -> None:
    """google-auth's lookup of allowed locations after the first token reaches the stand-in and gets a 404."""
    patience = time.monotonic() + 5
    while not (calls := google.calls("allowedLocations")) and time.monotonic() < patience:
        time.sleep(0.01)
    assert [(call.method, call.status) for call in calls] == [("GET", 404)]
    assert calls[0].path.startswith(f"/v1/projects/-/serviceAccounts/{EMAIL}/")


@pytest.mark.long
@pytest.mark.long
def test_the_command_line(tmp_path: Path) -> None:
    """`python -m tests.standins` writes key files, prints the environment and an import of search data, which works."""
    command = [sys.executable, "-m", "tests.standins", "--project", str(tmp_path)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        lines = [process.stdout.readline()]
        while "Ctrl-C" not in lines[-1]:
            lines.append(process.stdout.readline())
        asked = lines[-3].removeprefix("Search data: ").split()
        where = dict(
            line.removeprefix("export ").strip().split("=", 1) for line in lines if "export " in line
        )
        imported = subprocess.run(
            [sys.executable, "-m", "internal_linker", *asked, "--project", str(tmp_path)],
            cwd=ROOT,
            env=os.environ | where,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        process.send_signal(signal.SIGINT)
        rest = process.stdout.read()
    assert imported.returncode == 0, imported.stderr
    assert "Fetched: 26 days" in imported.stdout and "rows of 28 days" in imported.stdout
    account = json.loads((tmp_path / "config/service_account.txt").read_text(encoding="utf-8"))
    assert f"export INTERNAL_LINKER_GOOGLE_API_URL={account['token_uri'].removesuffix('/token')}\n" in lines
    assert rest.startswith("serper: 0 calls (0 not answered with 200), 0 credits\n")
    assert "search console: 0 calls" not in rest and "google analytics: 0 calls" not in rest
    (tmp_path / "config/openai_api_key.txt").write_text("sk-real")
    refused = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=10, check=False)
    assert refused.returncode == 1
    assert "is not a stand-in's" in refused.stderr
