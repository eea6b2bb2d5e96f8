"""A real gspread client whose calls to Google go to a stand-in, google-auth's background call included."""

from __future__ import annotations

import re
from typing import Any

import gspread
import requests
from google.auth.transport.requests import AuthorizedSession
from requests.adapters import HTTPAdapter

from tests.standins.google import GoogleStandIn

SCOPES = ["https://www.googleapis.com/auth/spreadsheets"]


class Detour(HTTPAdapter):
    """An adapter that sends every request to one origin, whatever host it names."""

    # google-auth deep-copies the adapter for its background call, and only these attributes survive.
    __attrs__ = [*HTTPAdapter.__attrs__, "_origin"]  # noqa: RUF012 - requests declares it so

    def __init__(self, origin: str) -> None:
        super().__init__()
        self._origin = origin

    def send(self, request: requests.PreparedRequest, *args: Any, **kwargs: Any) -> requests.Response:
        request.url = re.sub(r"^https://[^/]+", self._origin, request.url or "")
        return super().send(request, *args, **kwargs)


def gspread_client(google: GoogleStandIn, account: dict[str, str] | None = None) -> gspread.Client:
    """Return a client signed in with the stand-in's own service account, or with another one."""
    client = gspread.service_account_from_dict(account or google.service_account, scopes=SCOPES)
    session = client.http_client.session
    assert isinstance(session, AuthorizedSession)
    session.mount("https://", Detour(google.url))
    session._auth_request_session.mount("https://", Detour(google.url))
    google.closing.callback(session.close)
    client.set_timeout(5)
    return client
