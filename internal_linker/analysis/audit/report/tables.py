"""The lists of the audit report, cut to what a person reads: orphans, movers, and findings by rule."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from internal_linker.adapters.html.document import href
from internal_linker.analysis.audit.actions import link_text
from internal_linker.analysis.audit.records import Action, Audit, Finding, ProposedLink, Rule, Severity
from internal_linker.core.arrays import Ints
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
