"""One contract test for each stand-in: it behaves like its service, as the service's own client sees it."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gspread
import httpx
import numpy as np
import openai
import pytest
from google.auth.exceptions import RefreshError
from gspread.exceptions import APIError

from tests.standins import (
    CutOff,
    Drip,
    GoogleStandIn,
    OpenAIStandIn,
    Reply,
    Reset,
    SerperStandIn,
    make_service_account,
)
from tests.standins.gspread_client import gspread_client
from tests.standins.openai import NAN_VECTOR, NO_DATA, NO_USAGE, ONE_MISSING, SAME_INDEX
from tests.support.small_project import REPOSITORY

URLS = [f"https://shop.com/mag/page-{number}" for number in range(1, 24)]
START = [["URL", "Main Query"], ["/b", "bee"], ["/a", ""], ["/c", "sea"]]
COLUMN = {"sheetId": 0, "startColumnIndex": 1, "endColumnIndex": 2}


@pytest.fixture
def google() -> Iterator[GoogleStandIn]:
    with GoogleStandIn({"Main": START, "It's": []}) as stand_in:
        yield stand_in


@pytest.fixture
def sheet(google: GoogleStandIn) -> gspread.Spreadsheet:
    return gspread_client(google).open_by_key(google.spreadsheet_id)


def test_serper_and_the_faults_of_every_stand_in() -> None:
    asked = {"q": "site:shop.com/mag red shoes", "gl": "us", "page": 1}
    with (
        SerperStandIn(lambda words, site: URLS if words == "red shoes" and site else []) as serper,
        httpx.Client(base_url=serper.url, headers={"X-API-KEY": serper.api_key}, timeout=1.5) as http,
    ):
        for fault, error, credits in (
            (Reset(), httpx.NetworkError, 0),
            (Reset(after_work=True), httpx.NetworkError, 1),
            (CutOff(), httpx.RemoteProtocolError, 1),
        ):
            before = serper.balance
            serper.script(fault)
            with pytest.raises(error):
                http.post("/search", json=asked)
            assert (before - serper.balance, serper.script_left) == (credits, 0)
        serper.script(CutOff(honest=True), Drip(0.02), Reply(502, html="<h1>Bad</h1>"))
        with pytest.raises(json.JSONDecodeError):
            http.post("/search", json=asked).json()
        assert len(http.post("/search", json=asked).json()["organic"]) == 10
        bad = http.post("/search", json=asked)
        assert (bad.status_code, bad.text) == (502, "<h1>Bad</h1>")
        call = serper.calls("POST /search")[-2]
        assert (call.body, call.status, call.units) == (asked, 200, 1)
        assert serper.api_key not in str(serper.ledger)
        serper.stop()
        with pytest.raises(httpx.TransportError):  # the connection was kept alive
            http.get("/account")


def test_openai() -> None:
    with (
        OpenAIStandIn(dimensions=256) as service,
        openai.OpenAI(api_key=service.api_key, base_url=f"{service.url}/v1", max_retries=0) as client,
    ):

        def create(*texts: str, **more: Any) -> Any:
            return client.embeddings.create(model="text-embedding-3-small", input=[*texts], **more)

        answer = sorted(
            create("Red running shoes", "red hiking shoes", "tax law").data, key=lambda one: one.index
        )
        shoes, boots, tax = (one.embedding for one in answer)
        assert math.isclose(math.hypot(*shoes), 1.0, abs_tol=1e-6)
        assert np.dot(shoes, boots) > np.dot(shoes, tax) + 0.3
        service.script(NO_DATA, NO_USAGE, ONE_MISSING, SAME_INDEX, NAN_VECTOR, NAN_VECTOR)
        with pytest.raises(ValueError, match="No embedding data"):
            create("a", "b")
        assert create("a", "b").usage is None
        assert len(create("a", "b").data) == 1
        assert {item.index for item in create("a", "b").data} == {0}
        assert math.isnan(create("a", encoding_format="float").data[0].embedding[0])
        assert math.isnan(create("a").data[0].embedding[0])


def test_google_values(google: GoogleStandIn, sheet: gspread.Spreadsheet) -> None:
    """Rows are ragged and empty ranges have no values; each write is all or nothing, and refused in Google's words."""
    tab = sheet.worksheet("Main")
    read = sheet.values_get
    assert read("Main!A2:B3") == {
        "range": "Main!A2:B3",
        "majorDimension": "ROWS",
        "values": [["/b", "bee"], ["/a"]],
    }
    assert read("'It''s'!B:B") == {"range": "'It''s'!B1:B1000", "majorDimension": "ROWS"}
    block = [{"range": "A2", "values": [["x"]]}, {"range": "A1001", "values": [["y"]]}]
    with pytest.raises(APIError, match=r"Range \(Main!A1001\) exceeds grid limits. Max rows: 1000"):
        tab.batch_update(block)
    assert google.grid("Main")[1] == ["/b", "bee"]
    for cells, values, words in (
        ("A1:B2", [["1"], ["2"], ["3"]], r"within range \[Main!A1:B2\], but tried writing to row \[3\]"),
        ("A1:B2", [["1", "2", "3"]], r"tried writing to column \[C\]"),
        ("A1", [["x" * 50_001]], "more than the maximum of 50000 characters"),
        ("A0", [["x"]], "Unable to parse range"),
    ):
        with pytest.raises(APIError, match=words):
            tab.update(values, cells)
    tab.update([["=1+1", "007"]], "C2", raw=True)
    tab.update([["=1+1", "007", "'=1", "true"]], "C3", raw=False)
    tab.update_notes({"B2": "why"})
    tab.update([[None, ""]], "A2")
    assert google.grid("Main")[1:3] == [["/b", "", "=1+1", "007"], ["/a", "", "#ERROR!", "7", "=1", "TRUE"]]
    assert google.cell_notes("Main") == {"B2": "why"}


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


def test_google_rights(google: GoogleStandIn, sheet: gspread.Spreadsheet) -> None:
    """Spreadsheets are shared with accounts, tokens expire and keys are revoked, and reads have a quota."""
    with pytest.raises(gspread.SpreadsheetNotFound):
        gspread_client(google).open_by_key("nowhere")
    stranger = gspread_client(google, make_service_account(google.url, "stranger@x.iam.gserviceaccount.com"))
    with pytest.raises(PermissionError):
        stranger.open_by_key(google.spreadsheet_id)
    google.tokens.expire_tokens()
    tab = sheet.worksheet("Main")
    google.shared_with[google.service_account["client_email"]] = "reader"
    with pytest.raises(APIError, match="The caller does not have permission"):
        tab.update([["x"]], "A1")
    google.api_enabled = False
    with pytest.raises(APIError) as off:
        tab.get_all_values()
    assert off.value.error["details"][0]["reason"] == "SERVICE_DISABLED"
    assert "ya29" not in str(google.ledger)
    google.tokens.revoked = True
    with pytest.raises(RefreshError, match="invalid_grant"):
        gspread_client(google).open_by_key(google.spreadsheet_id)
    with GoogleStandIn(reads_per_minute=1) as busy:
        book = gspread_client(busy).open_by_key(busy.spreadsheet_id)
        with pytest.raises(APIError, match="Read requests per minute per user") as full:
            book.worksheet("Main")
    assert full.value.code == 429


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
