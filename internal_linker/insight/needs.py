"""A page's need for links: what better positions would earn by the site's click curve, few in-links, and age."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from internal_linker.model.arrays import Ints, Vectors
from internal_linker.model.needs import LEVELS, PageNeeds

if TYPE_CHECKING:
    from pandas import DataFrame

# Shares of searchers who click the results at positions 1 to 20: about what published studies of Google's results
# report for the first page (28% to 2.5%), and a slow decline after it. Only their ratio to one another matters much:
# where a site has impressions, its own rows outweigh them.
PRIOR = np.array(
    [
        *(0.28, 0.15, 0.11, 0.08, 0.065, 0.05, 0.04, 0.033, 0.028, 0.025),
        *(0.012, 0.011, 0.010, 0.009, 0.008, 0.007, 0.0065, 0.006, 0.0055, 0.005),
    ]
)
# The prior counts as so many impressions at each position: at position 8 it expects 16 clicks of them, which vary by
# a quarter.
PRIOR_IMPRESSIONS = 500


@dataclass(frozen=True, slots=True)
class ClickCurve:
    """Shares of searchers who click, by position."""

    rates: Vectors  # (20,) float64 at positions 1 to 20, 0 to 1, falling
    impressions: Vectors  # (20,) int64 the site's own impressions that each is estimated from

    def at(self, positions: Vectors) -> Vectors:
        """Return the shares at any positions, linear between two of the curve; that of position 20 beyond it."""
        found: Vectors = np.interp(positions, np.arange(1, len(self.rates) + 1), self.rates)
        return found


def click_curve(rows: "DataFrame") -> ClickCurve:
    """Estimate the curve from a site's rows, without those of its brand: searchers for a brand click anywhere.

    Each share is that of the rows at the position, shrunk to `PRIOR` as if that were `PRIOR_IMPRESSIONS` more, and no
    position has a larger share than a better one (isotonic regression, weighted by impressions).

    Args:
        rows: columns `clicks`, `impressions` and `position`, from 1, of any days.
    """
    from scipy.optimize import isotonic_regression

    places = np.rint(rows["position"].to_numpy(np.float64)).astype(np.int64) - 1
    here = (places >= 0) & (places < len(PRIOR))
    clicks, impressions = (
        np.bincount(places[here], rows[name].to_numpy(np.float64)[here], minlength=len(PRIOR))
        for name in ("clicks", "impressions")
    )
    weights = impressions + PRIOR_IMPRESSIONS
    shares = (clicks + PRIOR_IMPRESSIONS * PRIOR) / weights
    falling = isotonic_regression(shares, weights=weights, increasing=False).x
    return ClickCurve(np.clip(falling, 0.0, 1.0), impressions.astype(np.int64))


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


def gains(found: "DataFrame", most: int) -> "DataFrame":
    """Return the first rows of `clicks_to_gain` that would gain at least half a click."""
    return found[found["gain"] >= 0.5].head(most)


def last_day(rows: "DataFrame") -> date | None:
    """Return the last day of the rows; None without any."""
    return None if rows.empty else rows["date"].max().date()


# What the parts of a need weigh. Searchers who see a page and don't click are the surest sign that better positions
# would earn something; few in-links say that links can still be had, and age that nobody can know yet.
EARNS, FEW_INLINKS, NEW = 0.6, 0.25, 0.15
# The gain from which a page counts in full: that of so many pages with any, so that a few pages with very many
# impressions don't make all others look alike; between, the logarithm counts.
_FULL_SHARE = 0.95
# The mean of so large a share of the pages, the neediest, is a need in full, and the least need of all is none:
# absolute needs say little, as nobody knows what a link earns.
_NEEDIEST = 0.1
# Days after which a new page counts half as new: by then, search engines know it.
HALF_LIFE = 60.0
# An older page is no longer told to be new.
_NEW_DAYS = 90


def page_needs(
    found: "DataFrame", rows: Mapping[str, int], inlinks: Ints, published: Vectors, today: date
) -> PageNeeds:
    """Return the needs of n pages: the weighted sum of three parts, each 0 to 1, from the least to the greatest.

    - Earnings: the logarithm of the clicks to gain, as a share of that of the page at the 95th percentile.
    - Few in-links: 1 / (1 + in-links); 0 for all pages if no links are known.
    - Age: halved every `HALF_LIFE` days; 0 if unknown.

    Args:
        found: the result of `clicks_to_gain`, whose pages are keys.
        rows: the row of each page, by its key.
        inlinks: (n,) how many pages link to each.
        published: (n,) day on which each page was published, counted from year 1; NaN if unknown.
    """
    n = len(inlinks)
    of = np.array([rows.get(key, -1) for key in found["page"]], np.int64)
    here = of >= 0

    def total(values: Vectors) -> Vectors:
        sums: Vectors = np.bincount(of[here], values[here], minlength=n).astype(np.float64)
        return sums

    impressions = found["impressions"].to_numpy(np.float64)
    gain, seen = total(found["gain"].to_numpy(np.float64)), total(impressions)
    places = total(impressions * found["position"].to_numpy(np.float64))
    age = today.toordinal() - published
    age = np.where(age >= 0, age, np.nan)
    few = 1.0 / (1.0 + inlinks) if inlinks.any() else np.zeros(n)
    need = EARNS * _earnings(gain) + FEW_INLINKS * few + NEW * np.nan_to_num(0.5 ** (age / HALF_LIFE))
    need = _scaled(need)
    return PageNeeds(
        (np.rint(need * LEVELS) / LEVELS).astype(np.float32),
        np.rint(seen).astype(np.int64),
        np.rint(np.divide(places, seen, out=np.zeros(n), where=seen > 0)).astype(np.int64),
        np.where(age <= _NEW_DAYS, np.nan_to_num(age), -1).astype(np.int64),
    )


def _scaled(need: Vectors) -> Vectors:
    """Return (n,) needs from 0, the least of them, to 1, the mean of the neediest tenth."""
    if not len(need):
        return need
    least, neediest = need.min(), np.sort(need)[-ceil(_NEEDIEST * len(need)) :].mean()
    found: Vectors = np.clip((need - least) / ((neediest - least) or 1.0), 0.0, 1.0)
    return found


def _earnings(gain: Vectors) -> Vectors:
    """Return (n,) the share of a full gain, 0 to 1, by logarithms."""
    some = gain[gain > 0]
    if not len(some):
        return np.zeros(len(gain))
    full = max(1.0, float(np.quantile(some, _FULL_SHARE)))
    found: Vectors = np.minimum(np.log1p(gain) / np.log1p(full), 1.0)
    return found
