"""A stand-in for Google: it issues access tokens and serves spreadsheets over Sheets v4 as gspread calls it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from tests.standins import google_errors, google_looks, google_requests
from tests.standins.a1 import Box, cell_name
from tests.standins.base import Answer, RateLimit, Request
from tests.standins.google_api import GoogleApiStandIn
from tests.standins.google_token import EMAIL, TokenDesk
from tests.standins.google_values import Values
from tests.standins.grid import Cell, Tab

SCOPE = "https://www.googleapis.com/auth/"
MAY_WRITE = frozenset(SCOPE + name for name in ("spreadsheets", "drive", "drive.file"))
MAY_READ = MAY_WRITE | {SCOPE + "spreadsheets.readonly", SCOPE + "drive.readonly"}
ROUTE = re.compile(
    r"/v4/spreadsheets/(?P<key>[^/:]+)(?P<values>/values)?(?:/(?P<range>.+?))?"
    r"(?::(?P<verb>batchUpdate))?"
)
BODY_NAMES = frozenset(
    {
        *("range", "majorDimension", "values", "data", "ranges", "valueInputOption", "requests"),
        # gspread sends these without a value.
        *("includeValuesInResponse", "responseValueRenderOption", "responseDateTimeRenderOption"),
    }
)


@dataclass
class Spreadsheet:
    """A spreadsheet: its tabs in order, and each account's role ("writer" or "reader" by email)."""

    key: str
    title: str = "Stand-in"
    tabs: list[Tab] = field(default_factory=list)
    shared_with: dict[str, str] = field(default_factory=lambda: {EMAIL: "writer"})


class GoogleStandIn(GoogleApiStandIn):
    """The token endpoint and Sheets v4 in one server, with a first spreadsheet that has the given tabs."""

    script_on = "/v4/"
    api = "Google Sheets API"

    def __init__(
        self,
        grids: Mapping[str, Sequence[Sequence[Any]]] | None = None,
        *,
        rows: int = 1000,
        columns: int = 26,
        reads_per_minute: int = 60,
        writes_per_minute: int = 60,
        port: int = 0,
        latency: float = 0.0,
        tokens: TokenDesk | None = None,
    ) -> None:
        super().__init__(tokens, port=port, latency=latency)
        self.spreadsheet_id = "standin-sheet"
        self.spreadsheets = {self.spreadsheet_id: Spreadsheet(self.spreadsheet_id)}
        self.on_request: Callable[[Request], None] | None = None  # acts as an editor between two calls
        self._per_minute = {"Read": reads_per_minute, "Write": writes_per_minute}
        self._quotas: dict[tuple[str, str], RateLimit] = {}
        for title, values in (grids or {"Main": []}).items():
            self.set_grid(title, values, rows=rows, columns=columns)

    # -- what tests see and do ----------------------------------------------------------------

    @property
    def shared_with(self) -> dict[str, str]:
        """Roles in the first spreadsheet by account email; tests change this mapping to change access."""
        return self.spreadsheets[self.spreadsheet_id].shared_with

    def tab(self, title: str) -> Tab:
        """Return a tab of the first spreadsheet."""
        for tab in self.spreadsheets[self.spreadsheet_id].tabs:
            if tab.title == title:
                return tab
        raise KeyError(title)

    def grid(self, title: str) -> list[list[str]]:
        """Return a tab's ragged rows of shown texts."""
        with self._lock:
            return [[str(value) for value in line] for line in self.tab(title).values(Box())]

    def set_grid(
        self, title: str, values: Sequence[Sequence[Any]], *, rows: int = 0, columns: int = 0
    ) -> None:
        """Replace a tab's content as an editor would; creates the tab and grows the grid to fit."""
        with self._lock:
            tabs = self.spreadsheets[self.spreadsheet_id].tabs
            place = next((place for place, tab in enumerate(tabs) if tab.title == title), len(tabs))
            old = tabs[place] if place < len(tabs) else Tab(101 * len(tabs), title, 1, 1)
            tab = Tab(old.sheet_id, title, rows or old.rows, columns or old.columns, old.frozen_rows)
            tab.looks = old.looks
            width = max(map(len, values), default=1)
            tab.resize(max(tab.rows, len(values)), max(tab.columns, width))
            tab.cells = [[Cell(value) for value in line] for line in values]
            tab.resize(tab.rows, tab.columns)
            tabs[place : place + 1] = [tab]

    def edit(self, kind: str, **args: Any) -> None:
        """Act as an editor through one request of `spreadsheets.batchUpdate`, such as sortRange."""
        with self._lock:
            google_requests.apply(self.spreadsheets[self.spreadsheet_id].tabs, kind, args, 0)

    def cell_notes(self, title: str) -> dict[str, str]:
        """Return a tab's notes by cell name."""
        with self._lock:
            places = [
                (row, column) for row, line in enumerate(self.tab(title).cells) for column in range(len(line))
            ]
            return {cell_name(*place): note for place in places if (note := self.tab(title).at(*place).note)}

    # -- serving ------------------------------------------------------------------------------

    def before(self, request: Request) -> None:
        """Let the editor act; token and background calls don't count."""
        if self.on_request and request.path.startswith("/v4/"):
            self.on_request(request)

    def answer(self, request: Request) -> Answer:
        route = ROUTE.fullmatch(request.path)
        if not route:  # such as google-auth's background GET of .../allowedLocations
            raise google_errors.not_found()
        key, writes = unquote(route["key"]), request.method != "GET"
        email = self.caller(request, MAY_WRITE if writes else MAY_READ)
        self._charge(email, "Write" if writes else "Read")
        if key not in self.spreadsheets:
            raise google_errors.not_found()
        spreadsheet = self.spreadsheets[key]
        role = spreadsheet.shared_with.get(email)
        if role is None or (writes and role != "writer"):
            raise google_errors.denied()
        return Answer(body=self._answered(route, request, spreadsheet, email), units=1)

    def _charge(self, email: str, kind: str) -> None:
        fresh = RateLimit(self._per_minute[kind], 60.0)
        if self._quotas.setdefault((email, kind), fresh).take():
            raise google_errors.quota(kind)

    def _answered(
        self, route: re.Match[str], request: Request, spreadsheet: Spreadsheet, email: str
    ) -> dict[str, Any]:
        """Work on copies of the tabs, which replace the tabs only if nothing was refused: every call is atomic."""
        tabs = spreadsheet.tabs if request.method == "GET" else [tab.copy() for tab in spreadsheet.tabs]
        values = Values(spreadsheet.key, tabs)
        text, body = unquote(route["range"] or ""), _body(request)
        options = {name: texts[0] for name, texts in request.query.items()}
        match request.method, route["values"], route["verb"]:
            case "GET", None, None:
                return values.metadata(spreadsheet.title, request.query)
            case "GET", "/values", None:
                return values.get(text, options)
            case "POST", None, "batchUpdate":
                answer = google_requests.batch(spreadsheet.key, tabs, body)
            case "PUT", "/values", None:
                answer = values.update(text, body, options)
            case "POST", "/values", "batchUpdate":
                answer = values.batch_update(body)
            case _:
                raise google_errors.not_found()
        google_looks.check_protection(spreadsheet.tabs, tabs, email)
        spreadsheet.tabs = tabs
        return answer


def _body(request: Request) -> dict[str, Any]:
    body = request.json() if request.body else {}
    if not isinstance(body, dict):
        raise google_errors.invalid("Invalid JSON payload received. Unexpected token.")
    for name in body:
        if name not in BODY_NAMES:
            raise google_errors.unknown_name(name, "body")
    return body
