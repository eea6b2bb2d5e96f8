"""gspread's calls of the Sheets API, sent by the client that all of Google's APIs share."""

import math
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

import gspread

from internal_linker.adapters.google_sheets.errors import API
from internal_linker.adapters.http.google import Bounds, GoogleClient
from internal_linker.core.errors import InternalLinkerError

GOOGLE = "https://sheets.googleapis.com"
SCOPE = "https://www.googleapis.com/auth/spreadsheets"
# Limits of one answer: the size of a tab with a million long cells, and its time on a slow line.
BOUNDS = Bounds(per_second=math.inf, most_bytes=256_000_000, longest_s=300.0, silent_s=30.0)
Refusal = Callable[[int, bytes, Mapping[str, str], bool], InternalLinkerError]
"""Returns the error for a status other than 200: status, body, headers, and whether the request was to write."""


class SheetsClient(gspread.HTTPClient):
    """Sends each call once; whoever calls decides what is tried again.

    Args:
        key: the content of the service account's key file.
        api_url: the address of the API.
        refusal: makes the error for an answer with another status than 200.

    Raises:
        ConfigurationError: the key can't be used.
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
