"""One tab of a Google Sheet: its rows come in as a table, a run's links go out into our own columns."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import quote

from google.auth.exceptions import GoogleAuthError, TransportError
from gspread.utils import absolute_range_name, rowcol_to_a1
from requests import JSONDecodeError, RequestException

from internal_linker.errors import InputError, InternalLinkerError, OutputError
from internal_linker.headers import Kind, display, find_column, link_column, link_name
from internal_linker.limits import with_retries
from internal_linker.records import Recommendation, Table, TableStream
from internal_linker.services.google_sheets.client import GOOGLE, Refused, make_client
from internal_linker.services.google_sheets.ranges import Cells, Delivery, chunks, ranges
from internal_linker.services.google_sheets.refusals import Refusals
from internal_linker.services.google_sheets.service_account import key_fields

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Tab:
    title: str
    number: int
    columns: int


class GoogleSheet:
    """A StreamSource and LinkSink; nothing is contacted until it is used.

    Args:
        service_account: the JSON text of a service account's key; it is kept in no message.
        sheet_id: the spreadsheet's id, as its address has it.
        tab: the tab's name; empty: the first tab.
        api_url: where the Sheets API is; anything but Google's is for a proxy.
        links_per_page: how many columns Link 1, Link 2, ... are ours.

    Raises:
        ConfigurationError: `service_account` is no usable key.
    """

    remarks: Sequence[str] = ()

    def __init__(
        self,
        service_account: str,
        sheet_id: str,
        tab: str = "",
        *,
        api_url: str = GOOGLE,
        links_per_page: int = 5,
    ) -> None:
        info = key_fields(service_account)
        self.account = str(info["client_email"])
        self._refusals = Refusals(self.account, str(info.get("project_id", "")), sheet_id)
        self._http = make_client(info, api_url)
        self._id, self._wanted, self._links = quote(sheet_id, safe=""), tab, links_per_page
        self._tab_number: int | None = None
        self.name = f"Google Sheet '{tab}'" if tab else "Google Sheet"

    def read(self) -> Table:
        """The tab as it is: row 1 is the header, rows keep their numbers, empty rows at the end are none.

        Raises:
            InputError: there is no such spreadsheet or tab, or its first row is empty.
            ServiceError: Google refused or failed.
        """
        return self._table(self._find_tab(with_retries(self._metadata)))

    def stream(self) -> TableStream:
        """The tab as in `read`: a Sheet is never too large to be held."""
        table = self.read()
        return TableStream(table.name, table.header, iter(table.rows))

    def _table(self, tab: _Tab) -> Table:
        values = with_retries(lambda: self._values(tab))
        header = values[0] if values else []
        if not any(map(str.strip, header)):
            raise InputError(
                f"{self.name}: row 1 is empty. It must hold the column names, "
                f"such as {display(Kind.URL)} and {display(Kind.MAIN_QUERY)}."
            )
        while not any(map(str.strip, values[-1])):
            values.pop()
        rows = [(number, row + [""] * (len(header) - len(row))) for number, row in enumerate(values, start=1)]
        return Table(self.name, tuple(header), rows[1:])

    def deliver(self, recommendations: Sequence[Recommendation], run_id: str) -> list[str]:
        """Write the links of each source that stands in the sheet; the answer names what found no place.

        Rows are found by URL and query right before each request and read back afterwards; nothing but our
        columns changes, and a cell that holds the right text is not written. The Sheet keeps no `run_id`.

        Raises:
            OutputError: the tab is gone, or has no column to find rows by.
            ServiceError: Google refused or failed; rows written so far are whole.
        """
        ours = [item for item in recommendations if item.source.in_sheet]
        if not ours:
            return []
        try:
            tab = self._find_tab(with_retries(self._metadata))
            delivery = Delivery(ours, self._links)
            # A failed write is not simply sent again: rows may have moved during the pause.
            while with_retries(lambda: self._look_and_write(tab, delivery)):
                pass
        except InputError as error:
            raise OutputError(str(error)) from None
        return delivery.problems()

    def check(self) -> list[str]:
        """What a person wants to know before the first run; no cell is changed.

        The right to edit is tried with a write of nothing. Google is not documented to refuse that to
        a viewer, so only a refusal is taken as evidence.

        Raises:
            InputError, ServiceError: as in `read`, and when the account may only view.
        """
        metadata = with_retries(self._metadata)
        table = self._table(self._find_tab(metadata))
        ranks = range(1, self._links + 1)
        missing = [link_name(rank) for rank in ranks if link_column(table.header, rank) is None]
        places = {kind: find_column(table.header, kind) for kind in (Kind.URL, Kind.MAIN_QUERY)}
        found = [f"{display(kind)} ({table.header[at]})" for kind, at in places.items() if at is not None]
        facts = [
            f"Service account: {self.account}",
            f"Spreadsheet: {metadata['properties']['title']}",
            f"Tabs: {', '.join(tab.title for tab in _tabs(metadata))}",
            f"{table.name}: {len(table.rows)} rows below the header",
            f"Columns understood: {', '.join(found) or 'none'}",
            f"Link columns to be added: {', '.join(missing) or 'none'}",
        ]
        with_retries(lambda: self._write([]))
        return [*facts, "Right to edit: not refused (a write of nothing was tried)"]

    def close(self) -> None:
        """Give the connections back."""
        self._http.session.close()

    def _look_and_write(self, tab: _Tab, delivery: Delivery) -> bool:
        """Read the tab and send the first part of what is wrong; False: all is right, or no write is left."""
        cells, grid = delivery.compare(self._values(tab), self.name)
        if not cells or not delivery.writes_left:
            return False
        if grid.missing:
            self._add_columns(tab, grid.width, grid.missing)
        else:
            part = next(chunks(cells))
            delivery.sending(part)
            self._write(self._ranges(tab, part))
        delivery.writes_left -= 1
        return True

    def _add_columns(self, tab: _Tab, after: int, names: Sequence[str]) -> None:
        """Insert columns with these names; together in one request, so that nothing is ever overwritten."""
        span = {"sheetId": tab.number, "dimension": "COLUMNS", "startIndex": after}
        span["endIndex"] = after + len(names)
        # At the grid's edge there is no column on the right whose looks could be taken.
        insert = {"range": span, "inheritFromBefore": after >= tab.columns}
        cells = [{"userEnteredValue": {"stringValue": name}} for name in names]
        start = {"sheetId": tab.number, "rowIndex": 0, "columnIndex": after}
        header = {"start": start, "rows": [{"values": cells}], "fields": "userEnteredValue"}
        body = {"requests": [{"insertDimension": insert}, {"updateCells": header}]}
        self._ask(lambda: self._http.batch_update(self._id, body))

    def _ranges(self, tab: _Tab, cells: Cells) -> list[dict[str, Any]]:
        blocks = []
        for top, left, texts in ranges(cells):
            bottom, right = top + len(texts) - 1, left + len(texts[0]) - 1
            corners = f"{rowcol_to_a1(top, left)}:{rowcol_to_a1(bottom, right)}"
            blocks.append({"range": absolute_range_name(tab.title, corners), "values": texts})
        return blocks

    def _write(self, data: list[dict[str, Any]]) -> None:
        # RAW: a text that begins with "=" must not become a formula.
        body = {"valueInputOption": "RAW", "data": data}
        self._ask(lambda: self._http.values_batch_update(self._id, body))

    def _values(self, tab: _Tab) -> list[list[str]]:
        reply = self._ask(lambda: self._http.values_get(self._id, absolute_range_name(tab.title)))
        return [[str(cell) for cell in row] for row in reply.get("values", [])]

    def _metadata(self) -> Mapping[str, Any]:
        return self._ask(lambda: self._http.fetch_sheet_metadata(self._id))

    def _find_tab(self, metadata: Mapping[str, Any]) -> _Tab:
        """Our tab; from the first reading on it is known by its number, however it is renamed or moved."""
        tabs = _tabs(metadata)
        wanted = self._wanted.strip().casefold()
        fits = [tab for tab in tabs if tab.title == self._wanted]
        fits += [tab for tab in tabs if not wanted or tab.title.strip().casefold() == wanted]
        if self._tab_number is not None:
            fits = [tab for tab in tabs if tab.number == self._tab_number]
        if not fits:
            raise InputError(
                f"{self.name}: there is no such tab. The spreadsheet's tabs are: "
                f"{', '.join(tab.title for tab in tabs)}. "
                "Put one of these names into google_sheet_name in config/settings.toml."
            )
        self._tab_number = fits[0].number
        self.name = f"Google Sheet '{fits[0].title}'"
        return fits[0]

    def _ask(self, call: Callable[[], T]) -> T:
        """Make one call; what the libraries raise leaves here as our own errors, without their text.

        Raises:
            InputError, ServiceError: each names the remedy.
        """
        error: InternalLinkerError
        try:
            return call()
        except Refused as refused:
            reply = refused.response
            writing, asked = reply.request.method != "GET", reply.headers.get("Retry-After", "")
            error = self._refusals.of(reply.status_code, reply.text, asked, writing=writing)
        except (TransportError, RequestException) as failed:
            # A malformed address is a ValueError to requests, but so is an answer that was cut off.
            lasting = isinstance(failed, ValueError) and not isinstance(failed, JSONDecodeError)
            error = self._refusals.no_answer(type(failed).__name__, retryable=not lasting)
        except TypeError as failed:
            # google-auth trips over a sign-in answer that is no JSON object: a proxy's own page.
            if self._http.auth.token:
                raise
            error = self._refusals.no_answer(type(failed).__name__, retryable=True)
        except GoogleAuthError as failed:
            error = self._refusals.of_token(str(failed), retryable=bool(failed.retryable))
        raise error


def _tabs(metadata: Mapping[str, Any]) -> list[_Tab]:
    """The tabs that have cells, in their order."""
    found = [sheet["properties"] for sheet in metadata["sheets"]]
    return [
        _Tab(item["title"], item["sheetId"], item["gridProperties"]["columnCount"])
        for item in found
        if "gridProperties" in item
    ]
