"""The tables of an impact, and impact.html, which shows them with charts."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from internal_linker.insight.html.document import ReportFile
from internal_linker.insight.impact.records import Conclusion, Effect, Findings
from internal_linker.model.results import Column, ResultTable, table_of, to_json_rows

_TEMPLATE = Path(__file__).parent / "impact.html"
EFFECTS = (
    Column("outcome", "What"),
    Column("group", "Targets"),
    Column("effect", "Effect", kind="number"),
    Column("low", "From", kind="number"),
    Column("high", "To", kind="number"),
    Column("verdict", "Verdict"),
    Column("pages", "Pages", kind="integer"),
    Column("controls", "Controls", kind="integer"),
)
WEEKS = (
    Column("week", "Week", kind="integer"),
    Column("effect", "Difference", kind="number"),
    Column("low", "From", kind="number"),
    Column("high", "To", kind="number"),
)
SHOWN_PAIRS = (
    Column("page", "Target"),
    Column("live", "Live since"),
    Column("tier", "Tier"),
    Column("anchor", "Anchor"),
    Column("links", "Links", kind="integer"),
    Column("before", "Before", kind="number"),
    Column("after", "After", kind="number"),
    Column("expected", "Expected", kind="number"),
    Column("control", "Most similar control"),
)
# Pairs that are shown: those with the most clicks.
_MOST_PAIRS = 1_000


def effects_table(effects: Sequence[Effect]) -> ResultTable:
    """Return effects as people read them: shares, 0.06 for 6% more, or differences of positions."""
    rows = (
        (str(one.outcome), one.group, *one.shown, one.judgement, one.pages, one.controls) for one in effects
    )
    return table_of("Effects", EFFECTS, rows)


def shown_pairs(found: Findings) -> ResultTable:
    """Return the pairs with the most expected clicks, each with its most similar control."""
    pairs = found.pairs.sort_values("expected_after", ascending=False, kind="stable").head(_MOST_PAIRS)
    shown = pairs.assign(expected=pairs["expected_after"], control=pairs["controls"].str[0])
    return ResultTable("Pairs", SHOWN_PAIRS, shown[[column.key for column in SHOWN_PAIRS]].to_dict("list"))


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
        for one in to_json_rows(pairs.values)
    ]
