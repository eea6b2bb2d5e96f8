"""A page's need for links: what better positions would earn, few in-links, and age."""

from collections.abc import Mapping
from datetime import date
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from internal_linker.core.arrays import Ints, Vectors
from internal_linker.core.needs import LEVELS, PageNeeds

if TYPE_CHECKING:
    from pandas import DataFrame

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
        today: the last day of the data.
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
