"""The client of the Google Analytics Data API: sessions by landing page and day."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from internal_linker.model.errors import CredentialsRefused, ServiceError
from internal_linker.sources.http.google import Bounds, GoogleApi, GoogleClient, GoogleRefusals, google_error
from internal_linker.sources.http.limits import retry_after

if TYPE_CHECKING:
    from pandas import DataFrame

SERVICE = "Google Analytics"
API = GoogleApi(SERVICE, "Google Analytics Data API", "analyticsdata.googleapis.com", "analytics_url")


class QuotaReached(ServiceError):
    """The property's tokens are used up for this hour or day; reports so far are complete."""


class AnalyticsRefusals:
    """Turns refusals into errors for one service account of a Google Cloud project."""

    def __init__(self, email: str, project: str) -> None:
        self._email = email
        self._google = GoogleRefusals(API, email, project)

    def to_error(self, status: int, body: bytes, headers: Mapping[str, str], property_: str) -> ServiceError:
        """Return the error for a status other than 200."""
        message, reasons = google_error(body)
        if status == 429:
            if "per minute" in message or "concurrent" in message.lower():
                problem = "too many requests at once. Wait a minute and run again."
                return ServiceError(SERVICE, problem, retryable=True, retry_after=retry_after(headers))
            return QuotaReached(
                SERVICE,
                f"the quota of property {property_} is used up for this hour or day. What was read so far is stored: "
                "run again in an hour, and only the other days are read.",
            )
        if usual := self._google.usual(status, reasons, headers):
            return usual
        if status == 403 and message:
            return CredentialsRefused(
                SERVICE,
                f"{self._email} may not read property {property_}. In Google Analytics, open Admin > Property access "
                f"management of the property and add {self._email} as a Viewer; its number is in Admin > Property "
                "details.",
            )
        return self._google.other(status, message)


SCOPE = "https://www.googleapis.com/auth/analytics.readonly"
# The most rows of an answer.
ROWS_A_PAGE = 250_000
# A report with more rows than this is no site's.
_MOST_PAGES = 40
# A row takes some 200 bytes.
_BOUNDS = Bounds(per_second=5.0, most_bytes=256_000_000, longest_s=300.0, silent_s=120.0)
DIMENSIONS = ("date", "hostName", "landingPagePlusQueryString")
METRICS = ("sessions", "engagedSessions", "keyEvents")
COLUMNS = ("date", "host", "path", "sessions", "engaged_sessions", "key_events")


@dataclass(frozen=True, slots=True)
class AnalyticsReport:
    """The sessions of some days."""

    rows: "DataFrame"  # `COLUMNS`, all texts as Google writes them: days as 20261130
    zone: str = ""  # the property's time zone, by which its days begin; "": Google doesn't say
    thresholded: bool = False  # Google left out rows of few users
    sampled: bool = False  # the figures are estimates from a part of the sessions
    lumped: bool = False  # Google added up pages beyond its limit as "(other)"


class GoogleAnalytics:
    """A client that signs in with a service account's key file when it is first used; `close` it.

    Raises:
        ConfigurationError: the key can't be used.
    """

    def __init__(self, key: str, api_url: str) -> None:
        url = f"{api_url.rstrip('/')}/v1beta/properties"
        self._google = GoogleClient(API, key, url, scope=SCOPE, bounds=_BOUNDS)
        self._refusals = AnalyticsRefusals(self._google.account.email, self._google.account.project)

    def close(self) -> None:
        """Close the connections."""
        self._google.close()

    def sessions(self, property_: str, since: date, until: date) -> AnalyticsReport:
        """Return the sessions by day, host and landing page, from one day to another in the property's time zone.

        Raises:
            QuotaReached: Google answers no more reports for this hour or day.
            ServiceError: Google refused the request or did not answer.
        """
        import pandas as pd

        rows, facts = self._report(property_, since, until, DIMENSIONS)
        return AnalyticsReport(
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
            raise self._google.unreadable("a day has another form") from None

    def _report(
        self, property_: str, since: date, until: date, dimensions: Sequence[str]
    ) -> tuple[list[tuple[str, ...]], dict[str, Any]]:
        asked = {
            "dateRanges": [{"startDate": since.isoformat(), "endDate": until.isoformat()}],
            "dimensions": [{"name": name} for name in dimensions],
            "metrics": [{"name": name} for name in METRICS],
            # Pages of an answer must not overlap.
            "orderBys": [{"dimension": {"dimensionName": name}} for name in dimensions],
            "limit": str(ROWS_A_PAGE),
        }

        def refusal(status: int, body: bytes, headers: Mapping[str, str]) -> ServiceError:
            return self._refusals.to_error(status, body, headers, property_)

        rows, facts = list[tuple[str, ...]](), dict[str, Any]()
        for _ in range(_MOST_PAGES):
            body = {**asked, "offset": str(len(rows))}
            answer = self._google.ask("POST", f"/{property_}:runReport", refusal, body=body)
            count, some = self._read(answer, len(dimensions) + len(METRICS))
            facts |= {name: value for name, value in answer.get("metadata", {}).items() if value}
            rows += some
            if not some or len(rows) >= count:
                return rows, facts
        raise self._google.unreadable(f"there are more than {_MOST_PAGES * ROWS_A_PAGE:,} rows")

    def _read(self, answer: Mapping[str, Any], width: int) -> tuple[int, list[tuple[str, ...]]]:
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
            raise self._google.unreadable("its rows have another form") from None
        if any(len(row) != width for row in rows):
            raise self._google.unreadable("a row has other values than those asked for")
        return count, rows
