"""Dates in URLs: the day in a URL's path, and how near in time two pages are."""

import re
from collections.abc import Iterable
from datetime import date

import numpy as np

from internal_linker.model.arrays import Vectors

# "/2024/05/31/", "/2024/05/" and "/2024-05-31-name", as in URLs of blogs and news sites.
_DATE = re.compile(r"/((?:19|20)\d\d)([/-])(0[1-9]|1[0-2])(?:\2(0[1-9]|[12]\d|3[01]))?(?=[/_.-]|$)")
_BEHIND_PATH = re.compile("[?#]")
# Days that hardly matter: many URLs name only the month.
_SAME_TIME = 30.0


def days(urls: Iterable[str]) -> Vectors:
    """Return (n,) float64: the day in each URL's path, counted from year 1; NaN if it has none."""
    return np.array([_day(url) for url in urls], np.float64)


def nearness(day: float | Vectors, others: Vectors) -> Vectors:
    """Return (n,) float64: minus the logarithm of the days between, plus a month; NaN if a day is unknown."""
    near: Vectors = -np.log(_SAME_TIME + np.abs(others - day))
    return near


def _day(url: str) -> float:
    found = _DATE.search(_BEHIND_PATH.split(url, maxsplit=1)[0])
    if not found:
        return float("nan")
    year, _, month, day = found.groups()
    try:
        return float(date(int(year), int(month), int(day or 15)).toordinal())
    except ValueError:
        return float("nan")
