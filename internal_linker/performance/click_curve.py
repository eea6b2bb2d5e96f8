"""The site's own click curve: which share of searchers click a result at each position."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from internal_linker.core.arrays import Vectors

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
    """Shares of searchers who click, by position.

    Attributes:
        rates: (20,) float64 at positions 1 to 20, 0 to 1, falling.
        impressions: (20,) int64 the site's own impressions that each is estimated from.
    """

    rates: Vectors
    impressions: Vectors

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
