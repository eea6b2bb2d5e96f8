"""Clicks to gain: what better positions would earn, by page and query."""

from datetime import date
from typing import TYPE_CHECKING

import numpy as np

from internal_linker.core.needs import QueryGain
from internal_linker.performance.click_curve import ClickCurve

if TYPE_CHECKING:
    from pandas import DataFrame

# Positions that links may improve: the first three are hard to improve, and results beyond the second page are hardly
# seen.
BEST, WORST = 4.0, 20.0
# How many positions better a page is assumed to become, for all alike: a measure to compare pages by, not a forecast.
STEP = 3.0
# The last days that count: weeks average out weekdays and single events, and a season is no older than that.
WINDOW_DAYS = 84
# Figures are those of so many days, as in Search Console's own reports.
PERIOD_DAYS = 28


def last_days(rows: "DataFrame") -> "DataFrame":
    """Return the rows of the last `WINDOW_DAYS` days that have any."""
    if rows.empty:
        return rows
    first = rows["date"].max() - np.timedelta64(WINDOW_DAYS - 1, "D")
    return rows[rows["date"] >= first]


def clicks_to_gain(rows: "DataFrame", curve: ClickCurve) -> "DataFrame":
    """Return what each page would earn from each query at a position that is `STEP` better.

    Args:
        rows: the columns `date`, `page`, `query`, `clicks`, `impressions` and `position` of `SearchTable.QUERIES`, or
            those of `SearchTable.PAGES`, which have no query.
        curve: the site's click curve.

    Returns:
        Columns `page`, `query` ("" without queries), `clicks`, `impressions` and `gain`, each for `PERIOD_DAYS` days,
        and `position`, the mean by impressions; only positions from `BEST` to `WORST`, largest gain first.
    """
    by = ["page", "query"] if "query" in rows else ["page"]
    weighted = rows.assign(position=rows["position"] * rows["impressions"])
    found = weighted.groupby(by, observed=True, as_index=False)[["clicks", "impressions", "position"]].sum()
    found = found[found["impressions"] > 0]
    found["position"] /= found["impressions"]
    found = found[found["position"].between(BEST, WORST)].copy()
    if rows.empty:
        return found.assign(query="", gain=0.0)
    days = max(PERIOD_DAYS, (rows["date"].max() - rows["date"].min()).days + 1)
    found[["clicks", "impressions"]] *= PERIOD_DAYS / days
    position = found["position"].to_numpy()
    better = curve.at(np.maximum(position - STEP, 1.0)) - curve.at(position)
    found["gain"] = found["impressions"] * better
    found["page"] = found["page"].astype(str)
    found["query"] = found["query"].astype(str) if "query" in found else ""
    return found.sort_values(["gain", "page", "query"], ascending=[False, True, True], ignore_index=True)


def gains(found: "DataFrame", most: int) -> list[QueryGain]:
    """Return the first rows of `clicks_to_gain` as records, those that would gain at least half a click."""
    some = found[found["gain"] >= 0.5].head(most)
    names = "page", "query", "clicks", "impressions", "position", "gain"
    return [QueryGain(*values) for values in zip(*(some[name].tolist() for name in names), strict=True)]


def last_day(rows: "DataFrame") -> date | None:
    """Return the last day of the rows; None without any."""
    return None if rows.empty else rows["date"].max().date()
