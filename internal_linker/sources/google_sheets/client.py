"""gspread's calls of the Sheets API, sent by the client that all of Google's APIs share, and errors for refusals."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import gspread

from internal_linker.model.errors import CredentialsRefused, InputError, InternalLinkerError, ServiceError
from internal_linker.sources.http.google import Bounds, GoogleApi, GoogleClient, GoogleRefusals, google_error
from internal_linker.sources.http.limits import retry_after

SERVICE = "Google Sheets"
API = GoogleApi(SERVICE, "Sheets API", "sheets.googleapis.com", "google_api_url")
# Google counts quotas by the minute and seldom says how long to wait: three pauses outlast a minute.
QUOTA_PAUSE_S = 20.0


@dataclass(frozen=True, slots=True)
class SheetRefusals:
    """Turns refusals into errors for one account and spreadsheet; the account's email address is no secret.

    `ours` is the subject and verb of a message about protected cells, such as "cells of the tab Review are";
    `tab_remedy`, what to do about a tab that vanished.
    """

    account: str
    project: str
    sheet_id: str
    ours: str
    tab_remedy: str

    def to_error(
        self, status: int, body: bytes, headers: Mapping[str, str], writing: bool
    ) -> InternalLinkerError:
        """Return the error for a status other than 200."""
        message, reasons = google_error(body)
        if status == 429:
            asked = retry_after(headers)
            return ServiceError(
                SERVICE,
                "too many requests in one minute. Wait a minute and run again.",
                retryable=True,
                retry_after=QUOTA_PAUSE_S if asked is None else asked,
            )
        google = GoogleRefusals(API, self.account, self.project)
        if usual := google.usual(status, reasons, headers):
            return usual
        if status == 403:
            return self._forbidden(message, writing)
        if status == 404 and message:
            return InputError(
                f"{SERVICE}: there is no spreadsheet with the id {self.sheet_id!r}. Copy the Sheet's whole "
                "address from the browser into google_sheet_id in config/settings.toml."
            )
        return self._bad_request(message) or google.other(status, message)

    def _forbidden(self, message: str, writing: bool) -> ServiceError:
        if "protected" in message:
            return self._protected()
        if writing:
            return CredentialsRefused(
                SERVICE,
                f"{self.account} may view the Sheet but not edit it. Open the Sheet, click Share and make "
                "this address an Editor.",
            )
        return CredentialsRefused(
            SERVICE,
            f"the Sheet is not shared with {self.account}. Open the Sheet, click Share and add this address "
            "as an Editor.",
        )

    def _protected(self) -> ServiceError:
        return CredentialsRefused(
            SERVICE,
            f"{self.ours} protected. Allow {self.account} to edit them under Data > Protect sheets and ranges.",
        )

    def _bad_request(self, message: str) -> InternalLinkerError | None:
        if "protected" in message:
            return self._protected()
        if "not supported for this document" in message:
            return InputError(
                f"{SERVICE}: the document is an Excel file in Google Drive. Open it, choose File > Save as "
                "Google Sheets, and put the new Sheet's address into google_sheet_id in config/settings.toml."
            )
        if "Unable to parse range" in message or "No grid with id" in message:
            return InputError(f"{SERVICE}: the tab was renamed or deleted during the run. {self.tab_remedy}")
        if "exceeds grid limits" in message:
            return ServiceError(
                SERVICE, "rows or columns were deleted while links were written. Run again.", retryable=True
            )
        if "above the limit of" in message:
            return ServiceError(
                SERVICE, "the spreadsheet is full (10 million cells). Delete empty rows, columns or tabs."
            )
        return None


GOOGLE = "https://sheets.googleapis.com"
SCOPE = "https://www.googleapis.com/auth/spreadsheets"
# Limits of one answer: the size of a tab with a million long cells, and its time on a slow line.
BOUNDS = Bounds(per_second=math.inf, most_bytes=256_000_000, longest_s=300.0, silent_s=30.0)
Refusal = Callable[[int, bytes, Mapping[str, str], bool], InternalLinkerError]
"""Returns the error for a status other than 200: status, body, headers, and whether the request was to write."""


class SheetsClient(gspread.HTTPClient):
    """Sends each call once; whoever calls decides what is tried again.

    `refusal` makes the error for an answer with another status than 200.

    Raises:
        ConfigurationError: the service account's key file can't be used.
    """

    def __init__(self, key: str, api_url: str, refusal: Refusal) -> None:
        self._google = GoogleClient(API, key, api_url.rstrip("/"), scope=SCOPE, bounds=BOUNDS)
        self._refusal = refusal
        self.unreadable = self._google.unreadable

    def request(self, method: str, endpoint: str, *_: Any, **parts: Any) -> Any:
        """Send a request; what `json()` of the result returns is all that gspread asks for.

        Raises:
            InputError, ServiceError: Google refused the request or gave no usable answer.
        """
        method = method.upper()
        answer = self._google.ask(
            method,
            endpoint.removeprefix(GOOGLE),
            lambda status, body, headers: self._refusal(status, body, headers, method != "GET"),
            parameters=parts.get("params"),
            body=parts.get("json"),
            attempts=1,
        )
        return SimpleNamespace(json=lambda: answer)

    def close(self) -> None:
        """Close the connections."""
        self._google.close()
