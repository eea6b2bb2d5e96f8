"""A stand-in for the Google Analytics Data API: reports of sessions, with Google's limits and remarks."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from tests.standins import google_errors
from tests.standins.base import Answer, RateLimit, Request
from tests.standins.google_api import GoogleApiStandIn
from tests.standins.google_errors import GoogleError
from tests.standins.google_token import EMAIL, TokenDesk

SCOPES = frozenset(f"https://www.googleapis.com/auth/analytics{end}" for end in ("", ".readonly"))
ROUTE = re.compile(r"/v1beta/properties/(?P<property>\d+):runReport")
FIELDS = frozenset(
    {
        *("dateRanges", "dimensions", "metrics", "orderBys", "limit", "offset", "keepEmptyRows"),
        *("dimensionFilter", "metricFilter", "returnPropertyQuota", "currencyCode"),
    }
)
DIMENSIONS = {"date": 0, "hostName": 1, "landingPagePlusQueryString": 2}
METRICS = {"sessions": 3, "engagedSessions": 4, "keyEvents": 5}
# Day, host, landing page, sessions, engaged sessions, key events.
Row = tuple[str, str, str, int, int, float]


class GoogleAnalyticsStandIn(GoogleApiStandIn):
    """Google Analytics with the sessions of some properties.

    Args:
        data: the rows of each property, by its number; days as 2026-11-30.
        zone: the time zone of all properties.
        most_rows: rows that an answer has at most.
        tokens: as in `GoogleApiStandIn`.
    """

    script_on = "runReport"
    api = "Google Analytics Data API"

    def __init__(
        self,
        data: Mapping[str, Sequence[Row]],
        *,
        zone: str = "Europe/Berlin",
        most_rows: int = 250_000,
        tokens: TokenDesk | None = None,
    ) -> None:
        super().__init__(tokens)
        self.data = dict(data)
        self.zone, self.most_rows = zone, most_rows
        self.metadata: dict[str, Any] = {}  # such as subjectToThresholding
        self.viewers = {number: {EMAIL} for number in self.data}
        self.quota = RateLimit(40_000, 3600)  # a report costs one, and one for each thousand rows

    def asked(self) -> list[tuple[str, str, int]]:
        """Return first day, last day and offset of all answered reports by page."""
        answered = [call.body for call in self.calls("runReport") if call.status == 200]
        bodies = [body for body in answered if len(body["dimensions"]) > 1]
        return [
            (one["dateRanges"][0]["startDate"], one["dateRanges"][0]["endDate"], int(one.get("offset", 0)))
            for one in bodies
        ]

    def answer(self, request: Request) -> Answer:
        route = ROUTE.fullmatch(request.path)
        if not route or request.method != "POST":
            raise google_errors.not_found()
        return self._report(route["property"], self.caller(request, SCOPES), request.json())

    def _report(self, number: str, email: str, body: Any) -> Answer:
        if email not in self.viewers.get(number, ()):
            message = "User does not have sufficient permissions for this property."
            raise GoogleError(403, "PERMISSION_DENIED", message)
        dimensions, metrics, first, last = _checked(body)
        rows = sorted(row for row in self.data[number] if first <= date.fromisoformat(row[0]) <= last)
        if dimensions == ["date"]:
            days = dict.fromkeys(row[0] for row in rows)
            rows = [(day, "", "", *_sums([row for row in rows if row[0] == day])) for day in days]
        units = 1 + len(rows) // 1000
        if self.quota.take(units):
            message = (
                "Exhausted property tokens per hour. These quota tokens will return in under an hour. To learn "
                "more, see https://developers.google.com/analytics/devguides/reporting/data/v1/quotas"
            )
            raise GoogleError(429, "RESOURCE_EXHAUSTED", message)
        start = int(body.get("offset", 0))
        some = rows[start : start + min(int(body.get("limit", 10_000)), self.most_rows)]
        answer: dict[str, Any] = {
            "dimensionHeaders": [{"name": name} for name in dimensions],
            "metricHeaders": [{"name": name, "type": "TYPE_INTEGER"} for name in metrics],
            "metadata": {"currencyCode": "EUR", "timeZone": self.zone, **self.metadata},
            "kind": "analyticsData#runReport",
        }
        if rows:
            answer["rowCount"] = len(rows)
        if some:
            answer["rows"] = [_row(row, dimensions, metrics) for row in some]
        return Answer(body=answer, units=units)


def _sums(rows: Sequence[Row]) -> tuple[int, int, float]:
    return sum(row[3] for row in rows), sum(row[4] for row in rows), sum(row[5] for row in rows)


def _row(row: Row, dimensions: Sequence[str], metrics: Sequence[str]) -> dict[str, Any]:
    texts = [str(row[DIMENSIONS[name]]) for name in dimensions]
    if "date" in dimensions:
        texts[dimensions.index("date")] = row[0].replace("-", "")
    numbers = [f"{row[METRICS[name]]:g}" for name in metrics]
    return {
        "dimensionValues": [{"value": text} for text in texts],
        "metricValues": [{"value": number} for number in numbers],
    }


def _checked(body: Any) -> tuple[list[str], list[str], date, date]:
    if not isinstance(body, dict):
        raise google_errors.invalid("Invalid JSON payload received. Unexpected token.")
    for name in body.keys() - FIELDS:
        raise google_errors.unknown_name(name, "body")
    dimensions = [each["name"] for each in body.get("dimensions", [])]
    metrics = [each["name"] for each in body.get("metrics", [])]
    for name in (*dimensions, *metrics):
        if name not in DIMENSIONS | METRICS:
            raise google_errors.invalid(
                f"Did you mean sessions? Field {name} is not a valid dimension or metric."
            )
    if not 1 <= int(body.get("limit", 10_000)) <= 250_000:
        raise google_errors.invalid("The limit must be between 1 and 250000.")
    [span] = body["dateRanges"]
    first, last = (date.fromisoformat(span[name]) for name in ("startDate", "endDate"))
    if last < first:
        raise google_errors.invalid("startDate must be before endDate.")
    return dimensions, metrics, first, last
