"""The report of an audit for browsers: its lists, cut to what a person reads, its charts, and the page."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np

from internal_linker.adapters.html.document import ReportFile, href, number
from internal_linker.analysis.audit.actions import GAIN_MEANS, RULE, link_text
from internal_linker.analysis.audit.records import (
    Action,
    Audit,
    Finding,
    Measure,
    ProposedLink,
    Rule,
    Severity,
)
from internal_linker.core.arrays import Ints, Vectors
from internal_linker.core.edges import TIER_NAMES, score_of
from internal_linker.review.rows import anchor_span

MOST_ORPHANS = 100
MOST_FINDINGS = 20
MOST_MOVERS = 10
MOST_LINKS = 500
MOST_OPPORTUNITIES = 50
# Pages to change that an action names.
_MOST_ADDRESSES = 3
_MOST_SOURCES = 3


@dataclass(frozen=True, slots=True)
class PageName:
    """A page in the report; `href` is "" if its URL must not be followed."""

    title: str
    url: str
    href: str


@dataclass(frozen=True, slots=True)
class OrphanRow:
    """An orphan, its inlinks after adoption, and the best of the pages that would link to it."""

    page: PageName
    section: str
    after: int
    sources: tuple[PageName, ...]


@dataclass(frozen=True, slots=True)
class OpportunityRow:
    """A page that would earn clicks at a better position, and the pages that should link to it."""

    page: PageName
    query: str
    position: float
    impressions: int
    gain: int
    sources: tuple[PageName, ...]


@dataclass(frozen=True, slots=True)
class Mover:
    """A page whose PageRank changes; both values are multiples of the mean."""

    page: PageName
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class RuleFindings:
    """The findings of one rule: their number, how many of them adoption resolves or causes, and the first ones."""

    rule: Rule
    count: int
    resolved: int
    new: int
    first: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class LinkRow:
    """A proposed link; `before`, `anchor` and `after` make up its sentence, "" if the anchor is not in it."""

    source: PageName
    target: PageName
    before: str
    anchor: str
    after: str
    score: int | None
    tier: str
    why: str


@dataclass(frozen=True, slots=True)
class ActionItem:
    """An action with its links, the addresses of the first pages to change, and the number of the others."""

    action: Action
    links: tuple[tuple[str, LinkRow], ...]
    where: tuple[str, ...]
    more: int


def links(audit: Audit) -> list[LinkRow]:
    """Return the strongest proposed links."""
    return [_link_row(audit, one) for one in audit.links[:MOST_LINKS]]


def actions(audit: Audit) -> list[ActionItem]:
    """Return the most useful actions."""
    return [
        ActionItem(
            one,
            tuple((link_text(audit, link), _link_row(audit, link)) for link in one.links),
            one.where[:_MOST_ADDRESSES],
            max(0, len(one.where) - _MOST_ADDRESSES),
        )
        for one in audit.actions
    ]


def _link_row(audit: Audit, one: ProposedLink) -> LinkRow:
    span = anchor_span(one.sentence, one.anchor)
    before, anchor, after = (
        (one.sentence[: span[0]], one.anchor, one.sentence[span[1] :]) if span else ("", one.anchor, "")
    )
    return LinkRow(
        page_name(audit, one.source),
        page_name(audit, one.target),
        before,
        anchor,
        after,
        score_of(one.strength),
        TIER_NAMES[one.tier],
        one.why,
    )


def page_name(audit: Audit, row: int) -> PageName:
    """Return the page with this row."""
    url = audit.urls[row]
    return PageName(audit.titles[row], url, href(url))


def orphans(audit: Audit) -> list[OrphanRow]:
    """Return today's orphans: those that stay orphans first, then by PageRank after adoption."""
    if not audit.links_known:
        return []
    rows, gained = audit.before.orphans, audit.offered.inlinks
    order = np.lexsort((-audit.after.pagerank[rows], gained[rows] > 0))
    shown = rows[order][:MOST_ORPHANS].tolist()
    sources = _best_sources(audit, shown)
    return [
        OrphanRow(
            page_name(audit, row),
            audit.sections[row],
            int(audit.after.inlinks[row]),
            tuple(page_name(audit, source) for source in sources[row]),
        )
        for row in shown
    ]


def opportunities(audit: Audit) -> list[OpportunityRow]:
    """Return the largest opportunities."""
    return [
        OpportunityRow(
            page_name(audit, one.page),
            one.query,
            one.position,
            round(one.impressions),
            round(one.gain),
            tuple(page_name(audit, source) for source in one.sources),
        )
        for one in audit.opportunities[:MOST_OPPORTUNITIES]
    ]


def movers(audit: Audit) -> tuple[list[Mover], list[Mover]]:
    """Return the pages that gain most PageRank by adoption, and those that lose most."""
    n = len(audit.urls)
    change = audit.after.pagerank - audit.before.pagerank
    order = np.argsort(change, kind="stable")
    lost = order[:MOST_MOVERS][change[order[:MOST_MOVERS]] < 0]
    gained = order[::-1][:MOST_MOVERS][change[order[::-1][:MOST_MOVERS]] > 0]

    def mover(row: int) -> Mover:
        return Mover(
            page_name(audit, row), float(audit.before.pagerank[row]) * n, float(audit.after.pagerank[row]) * n
        )

    return [mover(row) for row in gained.tolist()], [mover(row) for row in lost.tolist()]


def findings(audit: Audit) -> list[RuleFindings]:
    """Return the rules that have findings, errors first, each with its first findings."""
    by_rule: dict[Rule, list[Finding]] = {}
    for one in audit.findings:
        by_rule.setdefault(one.rule, []).append(one)
    found = [_of_rule(rule, by_rule[rule]) for rule in Rule if rule in by_rule]
    order: Sequence[Severity] = ("error", "warning", "note")
    return sorted(found, key=lambda one: order.index(one.rule.severity))


def _of_rule(rule: Rule, found: Sequence[Finding]) -> RuleFindings:
    standings = Counter(one.standing for one in found)
    first = tuple(found[:MOST_FINDINGS])
    return RuleFindings(rule, len(found), standings["resolved"], standings["new"], first)


def _best_sources(audit: Audit, targets: Sequence[int]) -> dict[int, Ints]:
    """Return the pages that would link to each of these pages, the strongest first, as many as are shown."""
    links = audit.candidates
    wanted = np.flatnonzero(np.isin(links.targets, targets))
    wanted = wanted[np.argsort(-links.weights[wanted], kind="stable")]
    ends = links.targets[wanted]
    return {target: links.sources[wanted[ends == target]][:_MOST_SOURCES].tolist() for target in targets}


# With more tiles in one section, a treemap is unreadable.
_MOST_CLUSTERS = 12
# Percentages of the pages at which the curve is drawn; most changes are at its steep start.
_SHARES = (0, 0.1, 0.2, 0.5, *range(1, 101))


@dataclass(frozen=True, slots=True)
class Tile:
    """A tile of the treemap: some pages, and how many of them are orphans before and after adoption."""

    name: str
    pages: int
    before: int
    after: int
    parts: tuple["Tile", ...] = ()


@dataclass(frozen=True, slots=True)
class TierCount:
    """The new links of one tier, with scores of at least `low` (0 to 100)."""

    name: str
    low: int
    links: int


def readable(path: str) -> str:
    """Return a path for people, with percent-encoding decoded."""
    return " ".join(unquote(path).split())


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
        found.setdefault(section, []).append(Tile(cluster, count, before[at], after[at]))
    return sorted(
        (_together(section, parts) for section, parts in found.items()), key=lambda tile: -tile.pages
    )


def tiers(audit: Audit) -> list[TierCount]:
    """Return the candidates by tier, the best tier first."""
    sidebar, inline = audit.thresholds
    bounds = zip(TIER_NAMES.values(), (inline, sidebar, 0.0), audit.tiers, strict=True)
    return [TierCount(name, score_of(low) or 0, count) for name, low, count in bounds]


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
        "treemap": [_as_json(tile) for tile in sections],
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
    return _sum(section, parts, tuple(shown))


def _sum(name: str, tiles: Iterable[Tile], parts: tuple[Tile, ...] = ()) -> Tile:
    pages, before, after = map(sum, zip(*((one.pages, one.before, one.after) for one in tiles), strict=True))
    return Tile(name, pages, before, after, parts)


def _as_json(tile: Tile) -> dict[str, Any]:
    figures = {
        "name": readable(tile.name) if tile.parts else tile.name,
        "value": tile.pages,
        "before": tile.before,
        "after": tile.after,
    }
    return figures | ({"children": [_as_json(part) for part in tile.parts]} if tile.parts else {})


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
    """An `AuditSink`: the report for browsers."""

    def __init__(self, file: ReportFile) -> None:
        self._file, self.name = file, f"files/{file.path.name}"

    def write(self, audit: Audit) -> Sequence[str]:
        """Replace the file; return a sentence that says where it is, if it could not be replaced."""
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
    if audit.clusters_by == "links":
        return "pages that link to each other, as the site is too large to compare all contents"
    return f"pages with similar {audit.clusters_by}, as in clusters.html"


def _cards(audit: Audit) -> list[Measure]:
    return [one for one in audit.summary if one.name in _CARDS]
