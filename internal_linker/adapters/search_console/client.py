"""The client of the Search Console API: properties of an account, and what searchers did on the days of one."""

import json
from collections.abc import Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import httpx

from internal_linker.adapters.http.client import TooLarge, bounded_client
from internal_linker.adapters.http.limits import FEW_ATTEMPTS, Pacer, with_retries
from internal_linker.adapters.http.service_account import ServiceAccount
from internal_linker.adapters.search_console.errors import SERVICE, Refusals
from internal_linker.core.errors import ServiceError

if TYPE_CHECKING:
    from pandas import DataFrame

SCOPE = "https://www.googleapis.com/auth/webmasters.readonly"
# The most rows of an answer, and of a day, of which Google gives those with the most clicks.
ROWS_A_PAGE, ROWS_A_DAY = 25_000, 50_000
# A query is answered with more rows than this by nothing that is Google.
_MOST_PAGES = 40
# A page of rows takes 2 to 6 MB.
_MOST_BYTES, _LONGEST_S, _CONNECT_S = 64_000_000, 120.0, 10.0
# Google allows 1,200 a minute for each site and each user; other programs of theirs share them.
_PER_SECOND = 15.0
_MEASURES = ("clicks", "impressions", "position")
# A user whose ownership was never verified sees no data.
_UNVERIFIED = "siteUnverifiedUser"


class SearchConsole:
    """A client that signs in when it is first used; `close` it.

    Args:
        key: the content of the service account's key file.
        api_url: the address of the API.

    Raises:
        ConfigurationError: the key can't be used.
    """

    def __init__(self, key: str, api_url: str) -> None:
        timeout = httpx.Timeout(60.0, connect=_CONNECT_S)
        self._client = bounded_client(_MOST_BYTES, _LONGEST_S, timeout=timeout)
        self._account = ServiceAccount(key, SCOPE, SERVICE, self._client)
        self._refusals = Refusals(self._account.email, self._account.project)
        self._url, self._pacer = f"{api_url.rstrip('/')}/webmasters/v3/sites", Pacer(_PER_SECOND)

    @property
    def email(self) -> str:
        """The service account's address, which properties are shared with."""
        return self._account.email

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def properties(self, attempts: int = FEW_ATTEMPTS) -> list[str]:
        """Return the properties whose data the account may read, such as "sc-domain:example.com".

        Raises:
            ServiceError: Google refused the account or did not answer.
        """
        entries = self._sent("GET", "", None, "", attempts).get("siteEntry", [])
        found = [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []
        return sorted(
            str(entry.get("siteUrl", "")) for entry in found if entry.get("permissionLevel") != _UNVERIFIED
        )

    def require(self, property_: str) -> None:
        """Make sure that the account may read a property.

        Raises:
            CredentialsRefused: it may not; the message says how to grant it, and which ones it may read.
            ServiceError: Google refused the account or did not answer.
        """
        if property_ not in (found := self.properties()):
            host = _host(property_)
            found.sort(key=lambda one: _host(one) != host)
            raise self._refusals.no_access(property_, found)

    def rows(self, property_: str, since: date, until: date, dimensions: Sequence[str]) -> "DataFrame":
        """Return final data of web search, as Google gives them: nothing is checked but their form.

        Args:
            property_: a property.
            since: the first day, in Pacific time.
            until: the last day, included.
            dimensions: what rows are about: "date", "page", "query".

        Returns:
            A column for each dimension, then clicks, impressions and position; days without data have no rows. Rows
            with equal clicks come in any order, so that a page of the answer can repeat rows of the one before: they
            are there once.

        Raises:
            LoadQuotaReached: Google answers no more queries for some minutes or hours.
            ServiceError: Google refused the request or did not answer.
        """
        import pandas as pd

        asked = {
            "startDate": since.isoformat(),
            "endDate": until.isoformat(),
            "dimensions": list(dimensions),
            "type": "web",
            "dataState": "final",
            "rowLimit": ROWS_A_PAGE,
        }
        columns: dict[str, list[Any]] = {name: [] for name in (*dimensions, *_MEASURES)}
        for page in range(_MOST_PAGES):
            rows = self._page(property_, {**asked, "startRow": page * ROWS_A_PAGE})
            if not rows:  # a short answer need not be the last one
                return pd.DataFrame(columns).drop_duplicates(list(dimensions), ignore_index=True)
            for row in rows:
                for name, value in zip(columns, _cells(row, len(dimensions)), strict=True):
                    columns[name].append(value)
        raise _unreadable(f"there are more than {_MOST_PAGES * ROWS_A_PAGE:,} rows")

    def _page(self, property_: str, asked: Mapping[str, Any]) -> list[Any]:
        path = f"/{quote(property_, safe='')}/searchAnalytics/query"
        rows = self._sent("POST", path, asked, property_).get("rows", [])
        if not isinstance(rows, list):
            raise _unreadable("its rows are no list")
        return rows

    def _sent(
        self,
        method: str,
        path: str,
        asked: Mapping[str, Any] | None,
        property_: str,
        attempts: int | None = None,
    ) -> dict[str, Any]:
        return with_retries(lambda: self._once(method, path, asked, property_), attempts=attempts)

    def _once(
        self, method: str, path: str, asked: Mapping[str, Any] | None, property_: str
    ) -> dict[str, Any]:
        self._pacer.wait()
        try:
            answer = self._client.request(method, self._url + path, json=asked, auth=self._account)
        except TooLarge:
            raise _unreadable(f"it is larger than {_MOST_BYTES // 1_000_000} MB") from None
        except (httpx.UnsupportedProtocol, httpx.InvalidURL, httpx.LocalProtocolError) as error:
            raise ServiceError(
                SERVICE,
                f"its address can't be used ({type(error).__name__}). Check search_console_url in "
                "config/settings.toml.",
            ) from None
        except (httpx.HTTPError, httpx.StreamError) as error:
            raise ServiceError(
                SERVICE,
                f"there was no usable answer ({type(error).__name__}). Check the internet connection and try again.",
                retryable=True,
            ) from None
        if answer.status_code != 200:
            raise self._refusals.of(answer.status_code, answer.content, answer.headers, property_)
        try:
            body = json.loads(answer.content)
        except (ValueError, RecursionError):
            raise _unreadable("it is not JSON", retryable=True) from None
        if not isinstance(body, dict):
            raise _unreadable("it is not a JSON object")
        return body


def _cells(row: Any, dimensions: int) -> list[Any]:
    """Return the keys and measures of a row.

    Raises:
        ServiceError: it has another form.
    """
    keys = row.get("keys", []) if isinstance(row, dict) else None
    if not isinstance(keys, list) or len(keys) != dimensions or not all(isinstance(key, str) for key in keys):
        raise _unreadable("a row has other keys than those asked for")
    return [*keys, *(row.get(name) for name in _MEASURES)]


def _unreadable(why: str, *, retryable: bool = False) -> ServiceError:
    problem = f"the answer can't be read: {why}. Check search_console_url in config/settings.toml."
    return ServiceError(SERVICE, problem, retryable=retryable)


def _host(property_: str) -> str:
    host = property_.removeprefix("sc-domain:").partition("://")[2] or property_.removeprefix("sc-domain:")
    return host.partition("/")[0].removeprefix("www.")
