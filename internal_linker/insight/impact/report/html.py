"""Writes impact.html: the answer, charts and tables in a template."""

from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

from internal_linker.insight.html.document import ReportFile, href
from internal_linker.insight.impact.records import Conclusion, Effect, Findings, MatchedPair

_TEMPLATE = Path(__file__).parent / "impact.html"
# Pairs in the table and in the chart.
_MOST_PAIRS = 1_000


def write_impact(file: ReportFile, site: str, found: Findings, links: int) -> list[str]:
    """Replace the report; return a sentence that says where it is, if it could not be replaced.

    Raises:
        OutputError: it can't be written; the earlier file stays as it was.
    """
    pairs = sorted(found.pairs, key=lambda one: -one.expected_after)[:_MOST_PAIRS]
    shown = {
        "site": site,
        "found": found,
        "links": links,
        "thin": Conclusion.THIN,
        "pairs": [*map(_pair, pairs)],
        "data": _data(found, pairs),
    }
    return file.replace(_TEMPLATE, shown, {"effect": effect, "percent": percent})


def percent(share: float) -> str:
    """Format a share as a signed percentage."""
    return f"{signed(100 * share, 0)}%"


def signed(value: float, digits: int) -> str:
    """Format a number with its sign, and what rounds to zero without one."""
    return f"{value:+.{digits}f}" if round(value, digits) else f"{0:.{digits}f}"


def effect(one: Effect) -> str:
    """Format an effect with its interval: percentages, or positions."""
    middle, low, high = one.shown
    if one.is_ratio:
        return f"{percent(middle)} [{percent(low)}, {percent(high)}]"
    return f"{signed(middle, 1)} [{signed(low, 1)}, {signed(high, 1)}]"


def _pair(one: MatchedPair) -> dict[str, Any]:
    return {
        "page": {"title": "", "url": one.page, "href": href(one.page)},
        "live": date.fromordinal(one.day).isoformat(),
        "one": one,
        "control": {"title": "", "url": one.controls[0], "href": href(one.controls[0])},
    }


def _data(found: Findings, pairs: Sequence[MatchedPair]) -> dict[str, Any]:
    return {
        "weeks": [
            [one.week, *(round(each, 4) for each in (one.effect, one.low, one.high))] for one in found.events
        ],
        "pairs": [
            [round(one.expected_after, 2), round(one.after, 2), one.page, one.tier, round(one.before, 2)]
            for one in pairs
        ],
    }
