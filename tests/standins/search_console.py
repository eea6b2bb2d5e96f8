"""A stand-in for the Search Console API: properties of accounts, and search analytics with Google's limits."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any
from urllib.parse import unquote

import pandas as pd

from tests.standins import google_errors
from tests.standins.base import Answer, RateLimit, Request
from tests.standins.google_api import GoogleApiStandIn
from tests.standins.google_errors import GoogleError
from tests.standins.google_token import EMAIL, TokenDesk

SCOPES = frozenset(f"https://www.googleapis.com/auth/webmasters{end}" for end in ("", ".readonly"))
ROUTE = re.compile(r"/webmasters/v3/sites(?:/(?P<site>[^/]+)/searchAnalytics/query)?")
FIELDS = frozenset(
    {
        *("startDate", "endDate", "dimensions", "type", "searchType", "aggregationType"),
        *("dimensionFilterGroups", "rowLimit", "startRow", "dataState"),
    }
)
COLUMNS = ("date", "page", "query", "clicks", "impressions", "position")


class SearchConsoleStandIn(GoogleApiStandIn):
    """A Search Console with the data of some properties.

    Args:
        data: the rows of each property: COLUMNS, with days as ISO texts; a query "" is one that Google hides.
        today: the present day in Pacific time.
        delay: after how many days data are final.
        rows_a_day: how many rows of a day there are at most.
        tokens: as in `GoogleApiStandIn`.
    """

    script_on = r"/webmasters/"
    api = "Google Search Console API"
    disabled = "accessNotConfigured"

    def __init__(
        self,
        data: Mapping[str, pd.DataFrame],
        *,
        today: date,
        delay: int = 2,
        rows_a_day: int = 50_000,
        tokens: TokenDesk | None = None,
    ) -> None:
        super().__init__(tokens)
        self.data = dict(data)
        self.today, self.delay, self.rows_a_day = today, delay, rows_a_day
        self.permissions: dict[str, dict[str, str]] = {
            site: {EMAIL: "siteRestrictedUser"} for site in self.data
        }
        # A query costs one a day of its range, ten times that by page or by query, a hundred times that by both.
        self.load, self.rate = RateLimit(1_000_000, 600), RateLimit(1200, 60)
        self._dice = random.Random(0)

    def asked(self) -> list[tuple[str, str, tuple[str, ...], int]]:
        """Return first day, last day, dimensions and first row of all answered queries."""
        bodies = [call.body for call in self.calls("searchAnalytics") if call.status == 200]
        return [
            (one["startDate"], one["endDate"], tuple(one["dimensions"]), one.get("startRow", 0))
            for one in bodies
        ]

    def answer(self, request: Request) -> Answer:
        route = ROUTE.fullmatch(request.path)
        if not route:
            raise google_errors.not_found()
        email = self.caller(request, SCOPES)
        if route["site"] is None:
            return Answer(body=self._sites(email))
        return self._query(unquote(route["site"]), email, request.json())

    def refused(self, error: GoogleError) -> Answer:
        """Return a refusal as this older API writes it: reasons are in a list of errors."""
        answer = error.answer()
        answer.body["error"].pop("details", None)
        entry = {"message": error.message, "domain": "global", "reason": error.reason or "forbidden"}
        answer.body["error"]["errors"] = [entry]
        return answer

    def _sites(self, email: str) -> dict[str, Any]:
        entries = [
            {"siteUrl": site, "permissionLevel": levels[email]}
            for site, levels in self.permissions.items()
            if email in levels
        ]
        return {"siteEntry": entries} if entries else {}

    def _query(self, site: str, email: str, body: Any) -> Answer:
        if self.permissions.get(site, {}).get(email) in (None, "siteUnverifiedUser"):
            message = (
                f"User does not have sufficient permission for site '{site}'. See also: https://support..."
            )
            raise GoogleError(403, "PERMISSION_DENIED", message, "forbidden")
        first, last, dimensions, limit, start = _checked(body)
        if self.rate.take():
            message = "Quota exceeded for quota metric 'Search Analytics QPM'."
            raise GoogleError(429, "RESOURCE_EXHAUSTED", message, "rateLimitExceeded")
        units = ((last - first).days + 1) * 10 ** sum(name in dimensions for name in ("page", "query"))
        if self.load.take(units):
            message = "Search Analytics load quota exceeded. Learn about usage limits: https://..."
            raise GoogleError(403, "PERMISSION_DENIED", message, "quotaExceeded")
        if body.get("dataState", "final") == "final":
            last = min(last, self.today - timedelta(days=self.delay))
        rows = self._rows(site, first, last, dimensions)[start : start + limit]
        told = {"rows": rows, "responseAggregationType": "byPage"} if rows else {}
        return Answer(body=told, units=units)

    def _rows(self, site: str, first: date, last: date, dimensions: list[str]) -> list[dict[str, Any]]:
        data = self.data[site]
        data = data[(data["date"] >= first.isoformat()) & (data["date"] <= last.isoformat())]
        if "query" in dimensions:
            data = data[data["query"] != ""]
        if not len(data):
            return []
        data = data.assign(weighted=data["position"] * data["impressions"], tie=self._ties(len(data)))
        sums = data.groupby(dimensions or (data["clicks"] * 0)).agg(
            {"clicks": "sum", "impressions": "sum", "weighted": "sum", "tie": "max"}
        )
        sums["position"] = sums["weighted"] / sums["impressions"].where(sums["impressions"] > 0, 1)
        sums = sums.sort_values(["clicks", "tie"], ascending=False)
        if {"page", "query"} & set(dimensions):
            sums = sums.head(self.rows_a_day * ((last - first).days + 1))
        keys = [key if isinstance(key, tuple) else (key,) for key in sums.index] if dimensions else [()]
        return [
            {
                "keys": list(key),
                "clicks": row.clicks,
                "impressions": row.impressions,
                "ctr": row.clicks / max(1, row.impressions),
                "position": row.position,
            }
            for key, row in zip(keys, sums.itertuples(index=False), strict=True)
        ]

    def _ties(self, count: int) -> list[float]:
        """Return numbers that put rows with equal clicks in another order."""
        return [self._dice.random() for _ in range(count)]


def _checked(body: Any) -> tuple[date, date, list[str], int, int]:
    if not isinstance(body, dict):
        raise google_errors.invalid("Invalid JSON payload received. Unexpected token.")
    for name in body.keys() - FIELDS:
        raise google_errors.unknown_name(name, "body")
    limit, start = body.get("rowLimit", 1000), body.get("startRow", 0)
    if not 1 <= limit <= 25_000:
        raise google_errors.invalid("Field 'rowLimit' must be between 1 and 25000.")
    dimensions = body.get("dimensions", [])
    if set(dimensions) - {"date", "page", "query", "country", "device"}:
        raise google_errors.invalid("Invalid value at 'dimensions'.")
    first, last = (date.fromisoformat(body[name]) for name in ("startDate", "endDate"))
    if last < first:
        raise google_errors.invalid("startDate must be before endDate.")
    return first, last, dimensions, limit, start


def search_rows(
    days: list[date], pages: list[str], *, queries: int = 3, hidden: int = 1, seed: int = 0
) -> pd.DataFrame:
    """Return made-up rows: for each day and page some queries, and hidden ones that only totals contain."""
    dice = random.Random(seed)
    rows = []
    for day in days:
        for page in pages:
            slug = page.rstrip("/").rpartition("/")[2] or "home"
            for number in range(queries + hidden):
                impressions = dice.randint(1, 60)
                query = f"{slug} {number}" if number < queries else ""
                clicks, position = dice.randint(0, impressions // 2), 1 + dice.random() * 30
                rows.append((day.isoformat(), page, query, clicks, impressions, position))
    return pd.DataFrame(rows, columns=[*COLUMNS])
