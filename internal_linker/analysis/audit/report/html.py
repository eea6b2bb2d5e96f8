"""Writes audit.html: the tables in a template."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from internal_linker.adapters.html.document import number
from internal_linker.adapters.html.report_file import ReportFile
from internal_linker.analysis.audit.actions import RULE
from internal_linker.analysis.audit.opportunities import GAIN_MEANS
from internal_linker.analysis.audit.records import Audit, Measure
from internal_linker.analysis.audit.report.charts import chart_data, concentration, readable, tiers, tiles
from internal_linker.analysis.audit.report.tables import (
    actions,
    findings,
    links,
    movers,
    opportunities,
    orphans,
)

_TEMPLATE = Path(__file__).parent / "report.html"
_CONTENTS = (
    ("actions", "What to do first"),
    ("links", "Proposed links"),
    ("opportunities", "Opportunities"),
    ("figures", "Before and after"),
    ("sections", "Sections and clusters"),
    ("between", "Links between sections"),
    ("strength", "Scores"),
    ("pagerank", "PageRank"),
    ("orphans", "Orphans"),
    ("findings", "Findings"),
)
_CARDS = (
    *("Pages", "Links", "Orphans", "Pages unreachable from the home page"),
    *("Clicks from the home page, mean", "Gini of PageRank"),
)
# Percentages of the pages in the table beside the curve.
_TOLD_SHARES = (0.1, 1, 5, 10, 20, 50)


class AuditHtml:
    """An `AuditSink`: the report for browsers.

    Args:
        file: audit.html.
    """

    def __init__(self, file: ReportFile) -> None:
        self._file, self.name = file, f"files/{file.path.name}"

    def write(self, audit: Audit) -> Sequence[str]:
        """Replace the file; return a sentence that says where it is, if it could not be replaced.

        Raises:
            OutputError: it can't be written; the earlier file is as it was.
        """
        return self._file.replace(
            _TEMPLATE, _context(audit), {"change": change, "figure": figure, "readable": readable}
        )


def figure(value: float, decimals: int = 0) -> str:
    """Format a number as `1,234.50`; NaN as "unknown"."""
    return "unknown" if math.isnan(value) else number(value, decimals)


def change(measure: Measure) -> str:
    """Return the difference after adoption with its sign, "" if there is none."""
    difference = measure.after - measure.before
    told = f"{difference:+z,.{measure.decimals}f}"
    return told if math.isfinite(difference) and float(told.replace(",", "")) else ""


def _context(audit: Audit) -> dict[str, Any]:
    sections, (gaining, losing) = tiles(audit), movers(audit)
    edges, counts = audit.histogram
    curves = (concentration(state.pagerank) for state in (audit.before, audit.after))
    return {
        "audit": audit,
        "contents": [one for one in _CONTENTS if audit.opportunities or one[0] != "opportunities"],
        "new_links": len(audit.proposed.sources),
        "candidates": len(audit.candidates.sources),
        "cards": _cards(audit),
        "actions": actions(audit),
        "rule_of_actions": RULE,
        "links": links(audit),
        "opportunities": opportunities(audit),
        "gain_means": GAIN_MEANS,
        "opportunity_count": len(audit.opportunities),
        "links_in_workbook": len(audit.links),
        "grouped_by": _grouped_by(audit),
        "tiles": sections,
        "tiers": tiers(audit),
        "bars": list(zip((100 * edges).tolist(), counts.tolist(), strict=False)),
        "curve": [(x, y, after) for (x, y), (_, after) in zip(*curves, strict=True) if x in _TOLD_SHARES],
        "gaining": gaining,
        "losing": losing,
        "orphans": orphans(audit),
        "orphan_count": len(audit.before.orphans),
        "links_known": audit.links_known,
        "findings": findings(audit),
        "data": chart_data(audit, sections),
    }


def _grouped_by(audit: Audit) -> str:
    """Return what the pages of a cluster have in common."""
    if audit.clusters_by == "links":
        return "pages that link to each other, as the site is too large to compare all contents"
    return f"pages with similar {audit.clusters_by}, as in clusters.html"


def _cards(audit: Audit) -> list[Measure]:
    """Return the figures of the table that are shown at the top."""
    return [one for one in audit.summary if one.name in _CARDS]
