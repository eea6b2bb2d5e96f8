"""The client of the Google Analytics Data API: sessions by landing page and day."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

import httpx

from internal_linker.adapters.google_analytics.errors import SERVICE, Refusals
from internal_linker.adapters.http.client import TooLarge, bounded_client
from internal_linker.adapters.http.limits import Pacer, with_retries
from internal_linker.adapters.http.service_account import ServiceAccount
from internal_linker.core.errors import ServiceError

if TYPE_CHECKING:
    from pandas import DataFrame

SCOPE = "https://www.googleapis.com/auth/analytics.readonly"
# The most rows of an answer.
ROWS_A_PAGE = 250_000
# A report with more rows than this is no site's.
_MOST_PAGES = 40
# A row takes some 200 bytes.
_MOST_BYTES, _LONGEST_S, _CONNECT_S = 256_000_000, 300.0, 10.0
_PER_SECOND = 5.0
DIMENSIONS = ("date", "hostName", "landingPagePlusQueryString")
METRICS = ("sessions", "engagedSessions", "keyEvents")
COLUMNS = ("date", "host", "path", "sessions", "engaged_sessions", "key_events")


@dataclass(frozen=True, slots=True)
class Report:
    """The sessions of some days.

    Attributes:
        rows: `COLUMNS`, all texts as Google writes them: days as 20261130.
        zone: the property's time zone, by which its days begin; "": Google doesn't say.
        thresholded: whether Google left out rows of few users.
        sampled: whether the figures are estimates from a part of the sessions.
        lumped: whether Google added up pages beyond its limit as "(other)".
    """

    rows: "DataFrame"
    zone: str = ""
    thresholded: bool = False
    sampled: bool = False
    lumped: bool = False


class GoogleAnalytics:
    """A client that signs in when it is first used; `close` it.

    Args:
        key: the content of the service account's key file.
        api_url: the address of the API.

    Raises:
        ConfigurationError: the key can't be used.
    """

    def __init__(self, key: str, api_url: str) -> None:
        timeout = httpx.Timeout(120.0, connect=_CONNECT_S)
        self._client = bounded_client(_MOST_BYTES, _LONGEST_S, timeout=timeout)
        self._account = ServiceAccount(key, SCOPE, SERVICE, self._client)
        self._refusals = Refusals(self._account.email, self._account.project)
        self._url, self._pacer = f"{api_url.rstrip('/')}/v1beta/properties", Pacer(_PER_SECOND)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def sessions(self, property_: str, since: date, until: date) -> Report:
        """Return the sessions by day, host and landing page.

        Args:
            property_: the property's number.
            since: the first day, in the property's time zone.
            until: the last day, included.

        Raises:
            QuotaReached: Google answers no more reports for this hour or day.
            ServiceError: Google refused the request or did not answer.
        """
        import pandas as pd

        rows, facts = self._report(property_, since, until, DIMENSIONS)
        return Report(
            pd.DataFrame(rows, columns=[*COLUMNS], dtype=object),
            str(facts.get("timeZone", "")),
            bool(facts.get("subjectToThresholding")),
            bool(facts.get("samplingMetadatas")),
            bool(facts.get("dataLossFromOtherRow")),
        )

    def days(self, property_: str, since: date, until: date) -> list[date]:
        """Return the days with sessions, in their order; the parameters and errors are those of `sessions`."""
        rows, _ = self._report(property_, since, until, DIMENSIONS[:1])
        try:
            return [datetime.strptime(row[0], "%Y%m%d").date() for row in rows]
        except ValueError:
            raise _unreadable("a day has another form") from None

    def _report(
        self, property_: str, since: date, until: date, dimensions: Sequence[str]
    ) -> tuple[list[tuple[str, ...]], dict[str, Any]]:
        """Return all rows of a report, and what Google says of its figures."""
        asked = {
            "dateRanges": [{"startDate": since.isoformat(), "endDate": until.isoformat()}],
            "dimensions": [{"name": name} for name in dimensions],
            "metrics": [{"name": name} for name in METRICS],
            # Pages of an answer must not overlap.
            "orderBys": [{"dimension": {"dimensionName": name}} for name in dimensions],
            "limit": str(ROWS_A_PAGE),
        }
        rows, facts = list[tuple[str, ...]](), dict[str, Any]()
        for _ in range(_MOST_PAGES):
            answer = self._sent({**asked, "offset": str(len(rows))}, property_)
            count, some = _read(answer, len(dimensions) + len(METRICS))
            facts |= {name: value for name, value in answer.get("metadata", {}).items() if value}
            rows += some
            if not some or len(rows) >= count:
                return rows, facts
        raise _unreadable(f"there are more than {_MOST_PAGES * ROWS_A_PAGE:,} rows")

    def _sent(self, asked: Mapping[str, Any], property_: str) -> dict[str, Any]:
        return with_retries(lambda: self._once(asked, property_))

    def _once(self, asked: Mapping[str, Any], property_: str) -> dict[str, Any]:
        self._pacer.wait()
        url = f"{self._url}/{property_}:runReport"
        try:
            answer = self._client.post(url, json=asked, auth=self._account)
        except TooLarge:
            raise _unreadable(f"it is larger than {_MOST_BYTES // 1_000_000} MB") from None
        except (httpx.UnsupportedProtocol, httpx.InvalidURL, httpx.LocalProtocolError) as error:
            raise ServiceError(
                SERVICE,
                f"its address can't be used ({type(error).__name__}). Check analytics_url in config/settings.toml.",
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


def _read(answer: Mapping[str, Any], width: int) -> tuple[int, list[tuple[str, ...]]]:
    """Return how many rows the report has, and those of this answer.

    Raises:
        ServiceError: the answer has another form.
    """
    try:
        rows = [
            (
                *(str(value["value"]) for value in row["dimensionValues"]),
                *(str(value["value"]) for value in row["metricValues"]),
            )
            for row in answer.get("rows", [])
        ]
        count = int(answer.get("rowCount", 0))
    except (LookupError, TypeError, ValueError, AttributeError):
        raise _unreadable("its rows have another form") from None
    if any(len(row) != width for row in rows):
        raise _unreadable("a row has other values than those asked for")
    return count, rows


def _unreadable(why: str, *, retryable: bool = False) -> ServiceError:
    problem = f"the answer can't be read: {why}. Check analytics_url in config/settings.toml."
    return ServiceError(SERVICE, problem, retryable=retryable)
