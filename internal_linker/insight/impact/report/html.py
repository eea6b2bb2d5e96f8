"""Writes impact.html: the answer, charts and tables in a template."""

from pathlib import Path
from typing import Any

from internal_linker.insight.html.document import ReportFile
from internal_linker.insight.impact.records import Conclusion, Effect, Findings, shown_pairs
from internal_linker.model.results import ResultTable, json_rows

_TEMPLATE = Path(__file__).parent / "impact.html"


def write_impact(file: ReportFile, site: str, found: Findings, links: int) -> list[str]:
    """Replace the report; return a sentence that says where it is, if it could not be replaced.

    Raises:
        OutputError: it can't be written; the earlier file stays as it was.
    """
    pairs = shown_pairs(found)
    shown = {
        "site": site,
        "found": found,
        "links": links,
        "thin": Conclusion.THIN,
        "pairs": pairs,
        "weeks": found.weeks.to_dict("records"),
        "data": {"weeks": found.weeks.round(4).to_dict("split")["data"], "pairs": _dots(pairs)},
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


def _dots(pairs: ResultTable) -> list[list[Any]]:
    return [
        [round(one["expected"], 2), round(one["after"], 2), one["page"], one["tier"], round(one["before"], 2)]
        for one in json_rows(pairs.values)
    ]
