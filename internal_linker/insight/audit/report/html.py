"""The report of an audit for browsers: its lists, cut to what a person reads, its charts, and the page."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from internal_linker.insight.audit.actions import GAIN_MEANS, RULE, best_sources, link_text
from internal_linker.insight.audit.records import SEVERITIES, Audit
from internal_linker.insight.audit.tables import links_table, readable
from internal_linker.insight.graph import degrees
from internal_linker.insight.html.document import ReportFile, href, number
from internal_linker.model.arrays import Vectors
from internal_linker.model.edges import TIER_NAMES, score_of
from internal_linker.review.rows import anchor_span

MOST_ORPHANS = 100
MOST_FINDINGS = 20
MOST_MOVERS = 10
MOST_LINKS = 500
MOST_OPPORTUNITIES = 50
# Pages to change that an action names.
_MOST_ADDRESSES = 3


PageName = dict[str, str]
"""Title, URL and `href` of a page; `href` is "" if its URL must not be followed."""


def marked(sentence: str, anchor: str) -> tuple[str, str, str]:
    """Return what comes before an anchor in its sentence, the anchor, and what comes after; "" if it is not in it."""
    span = anchor_span(sentence, anchor)
    return (sentence[: span[0]], anchor, sentence[span[1] :]) if span else ("", anchor, "")


def page_name(audit: Audit, row: int) -> PageName:
    """Return the page with this row."""
    url = audit.urls[row]
    return {"title": audit.titles[row], "url": url, "href": href(url)}


def orphans(audit: Audit) -> list[tuple[int, list[int]]]:
    """Return today's orphans, each with the rows of the best pages that would link to it.

    Those that stay orphans come first, then those of the highest PageRank after adoption.
    """
    if not audit.links_known:
        return []
    rows, gained = audit.before.orphans, degrees(audit.proposed, len(audit.urls))[0]
    order = np.lexsort((-audit.after.pagerank[rows], gained[rows] > 0))
    shown = rows[order][:MOST_ORPHANS].tolist()
    sources = best_sources(audit, shown)
    return [(row, sources[row]) for row in shown]


def movers(audit: Audit) -> tuple[list[int], list[int]]:
    """Return the pages that gain most PageRank by adoption, and those that lose most."""
    change = audit.after.pagerank - audit.before.pagerank
    order = np.argsort(change, kind="stable")
    lost = order[:MOST_MOVERS][change[order[:MOST_MOVERS]] < 0]
    gained = order[::-1][:MOST_MOVERS][change[order[::-1][:MOST_MOVERS]] > 0]
    return gained.tolist(), lost.tolist()


# With more tiles in one section, a treemap is unreadable.
_MOST_CLUSTERS = 12
# Percentages of the pages at which the curve is drawn; most changes are at its steep start.
_SHARES = (0, 0.1, 0.2, 0.5, *range(1, 101))


Tile = dict[str, Any]
"""A tile of the treemap: `name`, its pages (`value`), its orphans `before` and `after` adoption, and its `children`."""


def tiles(audit: Audit) -> list[Tile]:
    """Return the sections of the matrix with their clusters, the largest first; small ones are merged."""
    names = audit.section_matrix.names
    known, rest = set(names), names[-1]
    places = [
        (section if section in known else rest, cluster or "no cluster")
        for section, cluster in zip(audit.sections, audit.clusters, strict=True)
    ]
    pages = Counter(places)
    states = (audit.before, audit.after) if audit.links_known else ()
    orphans = [Counter(places[row] for row in state.orphans.tolist()) for state in states]
    before, after = orphans or (Counter(), Counter())
    found: dict[str, list[Tile]] = {}
    for (section, cluster), count in pages.most_common():
        at = section, cluster
        tile = {"name": cluster, "value": count, "before": before[at], "after": after[at]}
        found.setdefault(section, []).append(tile)
    return sorted(
        (_together(section, parts) for section, parts in found.items()), key=lambda tile: -tile["value"]
    )


def tiers(audit: Audit) -> list[tuple[str, int, int]]:
    """Return name, lowest score (0 to 100) and number of candidates of each tier, the best tier first."""
    sidebar, inline = audit.thresholds
    bounds = zip(TIER_NAMES.values(), (inline, sidebar, 0.0), audit.tiers, strict=True)
    return [(name, score_of(low) or 0, count) for name, low, count in bounds]


def concentration(pagerank: Vectors) -> list[list[float]]:
    """Return points (x, y): the best x% of the pages hold y% of the PageRank."""
    held = np.concatenate([[0.0], np.cumsum(np.sort(pagerank)[::-1])])
    at = np.linspace(0, 100, len(held))
    return [[share, round(100 * float(np.interp(share, at, held)), 2)] for share in _SHARES]


def chart_data(audit: Audit, sections: Sequence[Tile]) -> dict[str, Any]:
    """Return the data that the report's script draws, as plain lists, numbers and texts."""
    matrix = audit.section_matrix
    edges, counts = audit.histogram
    return {
        "treemap": sections,
        "matrix": {
            "names": list(map(readable, matrix.names)),
            "before": matrix.before.tolist(),
            "after": matrix.after.tolist(),
        },
        "histogram": {
            "edges": [round(100 * edge, 2) for edge in edges.tolist()],
            "counts": counts.tolist(),
            "bounds": [score_of(threshold) for threshold in audit.thresholds],
            "tiers": [*TIER_NAMES.values()][::-1],
        },
        "pagerank": {
            "before": concentration(audit.before.pagerank),
            "after": concentration(audit.after.pagerank),
        },
        "proposed": bool(len(audit.proposed.sources)),
        "known": audit.links_known,
    }


def _together(section: str, parts: Sequence[Tile]) -> Tile:
    shown, others = list(parts[:_MOST_CLUSTERS]), parts[_MOST_CLUSTERS:]
    if others:
        shown.append(_sum(f"{len(others)} more clusters", others))
    return _sum(readable(section), parts) | {"children": shown}


def _sum(name: str, tiles: Sequence[Tile]) -> Tile:
    return {"name": name} | {key: sum(one[key] for one in tiles) for key in ("value", "before", "after")}


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


def write_report(file: ReportFile, audit: Audit) -> list[str]:
    """Replace the report for browsers; return a sentence that says where it is, if it could not be replaced.

    Raises:
        OutputError: it can't be written; the earlier file stays as it was.
    """
    filters: dict[str, Callable[..., str]] = {"change": change, "figure": figure, "readable": readable}
    return file.replace(_TEMPLATE, _context(audit), filters)


def figure(value: float, decimals: int = 0) -> str:
    """Format a number as `1,234.50`; NaN as "unknown"."""
    return "unknown" if math.isnan(value) else number(value, decimals)


def change(before: float, after: float, decimals: int = 0) -> str:
    """Return the difference after adoption with its sign, "" if there is none."""
    difference = after - before
    told = f"{difference:+z,.{decimals}f}"
    return told if math.isfinite(difference) and float(told.replace(",", "")) else ""


def _context(audit: Audit) -> dict[str, Any]:
    sections, (gaining, losing) = tiles(audit), movers(audit)
    opportunities = audit.opportunities
    edges, counts = audit.histogram
    curves = (concentration(state.pagerank) for state in (audit.before, audit.after))
    return {
        "audit": audit,
        "contents": [one for one in _CONTENTS if audit.opportunities or one[0] != "opportunities"],
        "new_links": len(audit.proposed.sources),
        "candidates": len(audit.candidates.sources),
        "summary": [*audit.summary.itertuples()],
        "cards": [*audit.summary[audit.summary["name"].isin(_CARDS)].itertuples()],
        "most_addresses": _MOST_ADDRESSES,
        "rule_of_actions": RULE,
        "link_text": link_text,
        "links": links_table(audit, MOST_LINKS).records(),
        "opportunities": opportunities.records(MOST_OPPORTUNITIES) if opportunities else [],
        "gain_means": GAIN_MEANS,
        "opportunity_count": len(opportunities or ()),
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
        "findings": dict(sorted(audit.by_rule.items(), key=lambda item: SEVERITIES.index(item[0].severity))),
        "standings": audit.standings,
        "most_findings": MOST_FINDINGS,
        "named": partial(page_name, audit),
        "marked": marked,
        "titles": dict(zip(audit.urls, audit.titles, strict=True)),
        "data": chart_data(audit, sections),
    }


def _grouped_by(audit: Audit) -> str:
    if audit.clusters_by == "links":
        return "pages that link to each other, as the site is too large to compare all contents"
    return f"pages with similar {audit.clusters_by}, as in clusters.html"
