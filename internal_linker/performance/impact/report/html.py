"""Writes impact.html: the tables in a template, with style, data and scripts inlined."""

from collections.abc import Callable, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Any

from internal_linker.adapters.files.atomic import ReplaceWhole, remarks_on, replace_whole
from internal_linker.adapters.html.document import document, href
from internal_linker.performance.impact.records import Estimate, Findings, MatchedPair, Verdict

_TEMPLATE = Path(__file__).parent / "impact.html"
# Pairs in the table and in the chart.
_MOST_PAIRS = 1_000


class ImpactHtml:
    """One file that can be mailed, and opened without a network.

    Args:
        path: the file.
        write_whole: replaces a file.
        now: returns the date of the report.
    """

    def __init__(
        self,
        path: Path,
        write_whole: ReplaceWhole = replace_whole,
        now: Callable[[], datetime] = lambda: datetime.now().astimezone(),
    ) -> None:
        self.path, self._write_whole, self._now = path, write_whole, now

    def write(self, site: str, found: Findings, links: int) -> list[str]:
        """Replace the file; return a sentence that says where it is, if it could not be replaced.

        Args:
            site: the site's host.
            found: what was found.
            links: how many links went live.

        Raises:
            OutputError: it can't be written; the earlier file stays as it was.
        """
        pairs = sorted(found.pairs, key=lambda one: -one.expected_after)[:_MOST_PAIRS]
        shown = {
            "site": site,
            "found": found,
            "links": links,
            "thin": Verdict.THIN,
            "pairs": [*map(_pair, pairs)],
            "data": _data(found, pairs),
            "made": f"{self._now():%Y-%m-%d}",
        }
        text = document(_TEMPLATE, shown, {"effect": effect, "percent": percent})
        return [*remarks_on(self.path, self._write_whole(self.path, lambda file: file.writelines(text)))]


def percent(share: float) -> str:
    """Format a share as a signed percentage."""
    return f"{signed(100 * share, 0)}%"


def signed(value: float, digits: int) -> str:
    """Format a number with its sign, and what rounds to zero without one."""
    return f"{value:+.{digits}f}" if round(value, digits) else f"{0:.{digits}f}"


def effect(one: Estimate) -> str:
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
    """Return the data that the script draws."""
    return {
        "weeks": [[one.week, *(round(share, 4) for share in one.shown)] for one in found.events],
        "pairs": [
            [round(one.expected_after, 2), round(one.after, 2), one.page, one.tier, round(one.before, 2)]
            for one in pairs
        ],
    }
