"""The client of the Search Console API: properties of an account, and what searchers did on the days of one."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from internal_linker.model.errors import CredentialsRefused, ServiceError
from internal_linker.sources.http.google import (
    Bounds,
    GoogleApi,
    GoogleClient,
    GoogleRefusals,
    Refusal,
    google_error,
)
from internal_linker.sources.http.limits import FEW_ATTEMPTS, retry_after

if TYPE_CHECKING:
    from pandas import DataFrame

SERVICE = "Search Console"
API = GoogleApi(SERVICE, "Search Console API", "searchconsole.googleapis.com", "search_console_url")
# Google counts its load quota over ten minutes and asks to wait for fifteen.
LOAD_QUOTA_S = 900.0
_RATE_LIMITS = frozenset({"rateLimitExceeded", "userRateLimitExceeded", "RATE_LIMIT_EXCEEDED"})
_SHOWN = 10


class LoadQuotaReached(ServiceError):
    """Google answers no more queries for some minutes, or for the rest of the day."""


class SearchConsoleRefusals:
    """Turns refusals into errors for one service account of a Google Cloud project."""

    def __init__(self, email: str, project: str) -> None:
        self._email = email
        self._google = GoogleRefusals(API, email, project)

    def to_error(self, status: int, body: bytes, headers: Mapping[str, str], property_: str) -> ServiceError:
        """Return the error for a status other than 200."""
        message, reasons = google_error(body)
        if "load quota" in message.lower() or ("quotaExceeded" in reasons and status in (403, 429)):
            return LoadQuotaReached(
                SERVICE,
                "the load quota of this property or account is used up. Google counts it over 10 minutes and over a "
                "day.",
                retry_after=LOAD_QUOTA_S,
            )
        if status == 429 or _RATE_LIMITS & set(reasons):
            problem = "too many requests in one minute. Wait a minute and run again."
            return ServiceError(SERVICE, problem, retryable=True, retry_after=retry_after(headers))
        if usual := self._google.usual(status, reasons, headers):
            return usual
        if status in (403, 404) and property_ and message:
            return self.no_access(property_)
        return self._google.other(status, message)

    def no_access(self, property_: str, others: Sequence[str] = ()) -> CredentialsRefused:
        """Return the error for a property that the account can't see; `others` are those that it can."""
        grant = (
            f"open Settings > Users and permissions of {property_} in Search Console, and add {self._email} as a user "
            "(Restricted is enough)."
        )
        if not others:
            return CredentialsRefused(SERVICE, f"{self._email} is no user of {property_}: {grant}")
        seen = ", ".join(others[:_SHOWN])
        more = f" and {len(others) - _SHOWN} more" if len(others) > _SHOWN else ""
        return CredentialsRefused(
            SERVICE,
            f"{self._email} is no user of {property_}, but it is one of {seen}{more}: name one of these, or {grant}",
        )


SCOPE = "https://www.googleapis.com/auth/webmasters.readonly"
# The most rows of an answer, and of a day, of which Google gives those with the most clicks.
ROWS_A_PAGE, ROWS_A_DAY = 25_000, 50_000
# A query is answered with more rows than this by nothing that is Google.
_MOST_PAGES = 40
# Google allows 1,200 a minute for each site and each user; other programs of theirs share them. A page of rows takes 2
# to 6 MB.
_BOUNDS = Bounds(per_second=15.0, most_bytes=64_000_000, longest_s=120.0, silent_s=60.0)
_MEASURES = ("clicks", "impressions", "position")
# A user whose ownership was never verified sees no data.
_UNVERIFIED = "siteUnverifiedUser"


class SearchConsole:
    """A client that signs in with a service account's key file when it is first used; `close` it.

    Raises:
        ConfigurationError: the key can't be used.
    """

    def __init__(self, key: str, api_url: str) -> None:
        url = f"{api_url.rstrip('/')}/webmasters/v3/sites"
        self._google = GoogleClient(API, key, url, scope=SCOPE, bounds=_BOUNDS)
        self._refusals = SearchConsoleRefusals(self._google.account.email, self._google.account.project)

    @property
    def email(self) -> str:
        """The service account's address, which properties are shared with."""
        return self._google.account.email

    def close(self) -> None:
        """Close the connections."""
        self._google.close()

    def properties(self, attempts: int = FEW_ATTEMPTS) -> list[str]:
        """Return the properties whose data the account may read, such as "sc-domain:example.com".

        Raises:
            ServiceError: Google refused the account or did not answer.
        """
        entries = self._google.ask("GET", "", self._refusal(""), attempts=attempts).get("siteEntry", [])
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

        Days are in Pacific time, `until` included; `dimensions` are what rows are about: "date", "page", "query".

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
                for name, value in zip(columns, self._cells(row, len(dimensions)), strict=True):
                    columns[name].append(value)
        raise self._google.unreadable(f"there are more than {_MOST_PAGES * ROWS_A_PAGE:,} rows")

    def _page(self, property_: str, asked: Mapping[str, Any]) -> list[Any]:
        path = f"/{quote(property_, safe='')}/searchAnalytics/query"
        rows = self._google.ask("POST", path, self._refusal(property_), body=asked).get("rows", [])
        if not isinstance(rows, list):
            raise self._google.unreadable("its rows are no list")
        return rows

    def _refusal(self, property_: str) -> Refusal:
        return lambda status, body, headers: self._refusals.to_error(status, body, headers, property_)

    def _cells(self, row: Any, dimensions: int) -> list[Any]:
        keys = row.get("keys", []) if isinstance(row, dict) else None
        if (
            not isinstance(keys, list)
            or len(keys) != dimensions
            or not all(isinstance(key, str) for key in keys)
        ):
            raise self._google.unreadable("a row has other keys than those asked for")
        return [*keys, *(row.get(name) for name in _MEASURES)]


def _host(property_: str) -> str:
    host = property_.removeprefix("sc-domain:").partition("://")[2] or property_.removeprefix("sc-domain:")
    return host.partition("/")[0].removeprefix("www.")
