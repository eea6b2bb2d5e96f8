"""Simulated search data: queries made of titles, heavy tails of impressions, and a click curve that is known."""

from collections.abc import Sequence
from datetime import date, timedelta

import numpy as np
import pandas as pd

# Shares of clicks at positions 1 to 40 in the simulation: half of what the program assumes where it knows nothing.
TRUE_CURVE = 0.14 * np.arange(1, 41) ** -1.0


def search_rows(
    pages: Sequence[tuple[str, str]], last: date, *, days: int = 28, seed: int = 0, queries: int = 3
) -> pd.DataFrame:
    """Return rows by page, query and day.

    Args:
        pages: URL and title of each page.
        last: the last day.
        days: how many days.
        seed: what is drawn.
        queries: how many queries a page has at most.
    """
    random = np.random.default_rng(seed)
    rows = list[tuple[object, ...]]()
    for url, title in pages:
        words = title.lower().split() or ["page"]
        for _ in range(int(random.integers(1, queries + 1))):
            start = int(random.integers(0, max(1, len(words) - 2)))
            query = " ".join(words[start : start + int(random.integers(2, 5))])
            volume, position = random.lognormal(1.0, 1.6), float(random.uniform(1, 30))
            for back in range(days):
                seen = int(random.poisson(volume))
                if not seen:
                    continue
                place = max(1.0, position + random.normal(0, 0.5))
                clicks = int(random.binomial(seen, np.interp(place, np.arange(1, 41), TRUE_CURVE)))
                rows.append((pd.Timestamp(last - timedelta(back)), url, query, clicks, seen, place))
    found = pd.DataFrame(rows, columns=["date", "page", "query", "clicks", "impressions", "position"])
    keys = ["date", "page", "query"]
    return found.drop_duplicates(keys).sort_values(keys, ignore_index=True)
