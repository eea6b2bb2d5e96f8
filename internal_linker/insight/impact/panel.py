"""Search data as arrays: clicks, impressions and positions of each page on each day, summed over any days at once."""

from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from internal_linker.insight.impact.records import DAYS_A_WEEK, Metric
from internal_linker.model.arrays import Ints, Vectors

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True)
class Panel:
    """What n pages earned on each of d days."""

    pages: tuple[str, ...]  # the pages' keys
    first: int  # the first day, as an ordinal number of `datetime.date`
    # clicks, impressions: (n, d)
    clicks: Vectors
    impressions: Vectors
    positions: Vectors  # the sum over impressions of their positions, (n, d)
    absent: int = 0  # how many of the days no page has data of

    @property
    def end(self) -> int:
        """The day after the last one, as an ordinal number."""
        return self.first + int(self.clicks.shape[1])

    def weekly(self, outcome: Metric, rows: Ints, days: Ints, start: int, stop: int) -> Vectors:
        """Return what pages earned in a week, on average over whole weeks; (m,).

        Args:
            outcome: clicks and impressions are means of weeks; a position is the mean over impressions, NaN without.
            rows: the pages, (m,).
            days: a day for each, as ordinal numbers, (m,).
            start: the first week, counted from that day: -1 is the week before it.
            stop: the week after the last.
        """
        if outcome is Metric.POSITION:
            seen = self._sums(self._impressions, rows, days, start, stop)
            with np.errstate(invalid="ignore", divide="ignore"):
                mean: Vectors = self._sums(self._positions, rows, days, start, stop) / seen
            return mean
        sums = self._clicks if outcome is Metric.CLICKS else self._impressions
        found: Vectors = self._sums(sums, rows, days, start, stop) / (stop - start)
        return found

    def _sums(self, sums: Vectors, rows: Ints, days: Ints, start: int, stop: int) -> Vectors:
        at = days - self.first
        found: Vectors = sums[rows, at + stop * DAYS_A_WEEK] - sums[rows, at + start * DAYS_A_WEEK]
        return found

    @cached_property
    def _clicks(self) -> Vectors:
        return _summed(self.clicks)

    @cached_property
    def _impressions(self) -> Vectors:
        return _summed(self.impressions)

    @cached_property
    def _positions(self) -> Vectors:
        return _summed(self.positions)


def _summed(counts: Vectors) -> Vectors:
    """Return the sums up to each day, (n, d + 1)."""
    sums = np.zeros((len(counts), counts.shape[1] + 1))
    np.cumsum(counts, axis=1, out=sums[:, 1:])
    return sums


def panel_of(rows: "DataFrame") -> Panel:
    """Return page rows of the search data as arrays.

    Args:
        rows: `date`, `page` (a key; rows of the same page and day are summed), `clicks`, `impressions`, `position`.
    """
    dates = rows["date"].to_numpy().astype("datetime64[D]")
    named = rows["page"].astype("category").cat.remove_unused_categories().cat
    pages, page_rows = named.categories, named.codes.to_numpy().astype(np.int64)
    first, last = (dates.min(), dates.max()) if len(rows) else (np.datetime64("1970-01-01"),) * 2
    days = (dates - first).astype(np.int64)
    shape = len(pages), int((last - first).astype(np.int64)) + 1
    seen = rows["impressions"].to_numpy(np.float64)
    at = page_rows * shape[1] + days

    def spread(values: Vectors) -> Vectors:
        found: Vectors = np.bincount(at, values, shape[0] * shape[1]).astype(np.float64).reshape(shape)
        return found

    day = first.astype(object)
    assert isinstance(day, date)
    return Panel(
        tuple(map(str, pages)),
        day.toordinal(),
        spread(rows["clicks"].to_numpy(np.float64)),
        spread(seen),
        spread(seen * rows["position"].to_numpy(np.float64)),
        shape[1] - len(np.unique(days)),
    )
