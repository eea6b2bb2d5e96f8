"""URLs -> the day that stands in their path, and how near in time two pages are."""

import re
from collections.abc import Iterable
from datetime import date

import numpy as np

from internal_linker.core.arrays import Vectors

# "/2024/05/31/", "/2024/05/" and "/2024-05-31-name": how blogs and news sites write it.
_DATE = re.compile(r"/((?:19|20)\d\d)([/-])(0[1-9]|1[0-2])(?:\2(0[1-9]|[12]\d|3[01]))?(?=[/_.-]|$)")
_BEHIND_PATH = re.compile("[?#]")
# Days below which two pages count as of one time: the month that many URLs name only.
_SAME_TIME = 30.0


def days(urls: Iterable[str]) -> Vectors:
    """(n,) float64: the day of each URL, counted from year 1; NaN where none stands in its path."""
    return np.array([_day(url) for url in urls], np.float64)


def nearness(day: float | Vectors, others: Vectors) -> Vectors:
    """(n,) float64: the higher, the nearer in time; minus the logarithm of the days between, NaN if unknown."""
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
