"""Numbers and days as Google and spreadsheet programs write them in five languages."""

import math
import re
from collections.abc import Iterable
from datetime import date

# The separators of thousands: a point, a comma, an apostrophe, and spaces of three widths.
_THOUSANDS = re.compile(r"\d{1,3}([.,'’ \u00a0\u202f])\d{3}(\1\d{3})*")
_WHOLE = re.compile(r"\d+([.,]0+)?")
_SPACES = re.compile(r"[ \u00a0\u202f'’]")
_NOT_DIGITS = re.compile(r"\D")
_ISO = re.compile(r"(\d{4})[-./]?(\d{2})[-./]?(\d{2})")
_SHORT = re.compile(r"(\d{1,2})[-./](\d{1,2})[-./](\d{4}|\d{2})")
_NAMED = re.compile(
    r"(?:(\d{1,2})\.?\s+)?(?:de\s+)?([^\W\d_]{3,})\.?(?:\s+(?:de\s+)?(\d{1,2}))?,?\s+(?:de\s+)?(\d{4})"
)
# What may follow a day: a time, and its zone.
_TIME = re.compile(
    r"(?<=\d)[T ]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?\s*(?P<zone>Z|UTC|GMT|[+-]\d{2}:?\d{2}|[A-Z]{3,4})?$"
)
# The months by the first letters of their names in five languages; "juin" and "juillet" share three.
_MONTHS = {
    begin: month
    for month, begins in enumerate(
        (
            *("jan ene gen", "feb fev fév", "mar mär mrz", "apr abr avr", "may mai mag", "jun juin giu"),
            *("jul juil lug", "aug ago aoû aou", "sep set", "oct okt ott", "nov", "dec dez dic déc"),
        ),
        1,
    )
    for begin in begins.split()
}


def whole_number(text: str) -> float:
    """Return a count of clicks or the like, 0 or more; NaN for anything else.

    A point or a comma before three digits separates thousands: nobody counts thousandths of clicks.
    """
    text = text.strip()
    if _THOUSANDS.fullmatch(text):
        return float(_NOT_DIGITS.sub("", text))
    return float(re.split("[.,]", text)[0]) if _WHOLE.fullmatch(text) else math.nan


def decimal_number(text: str) -> float:
    """Return a number such as a position; its one point or comma is the decimal separator. NaN for anything else."""
    text = _SPACES.sub("", text.strip())
    last = max(text.rfind("."), text.rfind(","))
    if last >= 0:
        mark = text[last]
        text = (
            text.replace(mark, "")
            if text.count(mark) > 1
            else text[:last].replace(",", "").replace(".", "") + "." + text[last + 1 :]
        )
    try:
        number = float(text)
    except ValueError:
        return math.nan
    return number if math.isfinite(number) else math.nan


class Unclear(ValueError):
    """Days can be read in two ways; the message has an example."""


def days_of(texts: Iterable[str]) -> dict[str, date | None]:
    """Return the day that each text of one column names; None for a text that is no day.

    Days such as 1/11/2026 are read in the order that fits all of the column.

    Raises:
        Unclear: both orders fit.
    """
    texts = list(texts)
    bare = {text: _TIME.sub("", text.strip()) for text in texts}
    short = [found for text in bare.values() if (found := _SHORT.fullmatch(text))]
    return {text: _day(day, month_first=_is_month_first(short)) for text, day in bare.items()}


def zones_of(texts: Iterable[str]) -> set[str]:
    """Return the time zones that texts of a column of days name."""
    return {found["zone"] for text in texts if (found := _TIME.search(text.strip())) and found["zone"]}


def days_within(text: str) -> tuple[date, date] | None:
    """Return the first and the last day of a text such as "2026-08-01 - 2026-10-31"; None if it has no two days."""
    parts = re.split(r"\s[-–—]\s|\bto\b|\bbis\b", text)
    if len(parts) != 2:
        return None
    try:
        first, last = days_of([part.strip() for part in parts]).values()
    except ValueError:
        return None
    return (first, last) if first and last and first <= last else None


def _is_month_first(short: list["re.Match[str]"]) -> bool:
    # Only Americans write months first, and with slashes.
    if not short or any("/" not in found[0] for found in short):
        return False
    days = any(int(found[1]) > 12 for found in short)
    months = any(int(found[2]) > 12 for found in short)
    if days == months and any(found[1] != found[2] for found in short):
        raise Unclear(next(found[0] for found in short if found[1] != found[2]))
    return months


def _day(text: str, *, month_first: bool) -> date | None:
    try:
        if found := _ISO.fullmatch(text):
            return date(int(found[1]), int(found[2]), int(found[3]))
        if found := _SHORT.fullmatch(text):
            year = int(found[3]) + (2000 if len(found[3]) == 2 else 0)
            first, second = int(found[1]), int(found[2])
            return date(year, first, second) if month_first else date(year, second, first)
        found = _NAMED.fullmatch(text)
        day = (found[1] or found[3]) if found else None
        if found and day and (month := _month(found[2])):
            return date(int(found[4]), month, int(day))
    except ValueError:
        pass
    return None


def _month(name: str) -> int | None:
    folded = name.casefold()
    return _MONTHS.get(folded[:4]) or _MONTHS.get(folded[:3])
