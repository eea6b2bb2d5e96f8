"""What an audit suggests: proposed links as people read them, pages that would earn clicks, and what to do first."""

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice
from typing import TYPE_CHECKING

import numpy as np

from internal_linker.insight.audit.links import ends_of
from internal_linker.insight.audit.records import Action, ActionLink, Audit, Finding, ProposedLink, Rule
from internal_linker.insight.graph import closed_circles
from internal_linker.model.arrays import Ints
from internal_linker.model.edges import TIER_NAMES, Edge, is_link, score_of, tier_of, why
from internal_linker.model.results import Column, ResultTable
from internal_linker.model.sequences import counted
from internal_linker.model.wordings import warning, with_warning

if TYPE_CHECKING:
    from pandas import DataFrame

# As many links as the review shows: writing them takes seconds. links.csv has all.
MOST_LINKS = 20_000
# Findings about pages that one more link mends.
MENDED_BY_A_LINK = (Rule.ORPHAN, Rule.UNDER_LINKED)


class ProposedLinks:
    """Collects the links to show of an audit while the stored edges pass by.

    Shown are `most` of the strongest links, and of the strongest ones to orphans and to pages with too few links.
    """

    def __init__(
        self, audit: Audit, aliases: Mapping[str, str], rows: Mapping[str, int], *, most: int = MOST_LINKS
    ) -> None:
        self._aliases, self._rows = aliases, rows
        self._limits = audit.thresholds
        links = audit.candidates
        self._weights = {
            (int(links.sources[at]), int(links.targets[at])): float(links.weights[at])
            for at in _shown(audit, most).tolist()
        }
        self._edges: dict[tuple[int, int], Edge] = {}

    def passing(self, edges: Iterable[Edge]) -> Iterator[Edge]:
        """Yield the edges, and keep those of links that are shown."""
        for edge in edges:
            ends = ends_of(edge.source, edge.target, self._aliases, self._rows)
            if ends in self._weights and is_link(edge):
                before = self._edges.get(ends)
                # Of a link that was proposed for several spellings of a page, the latest counts.
                if before is None or before.last_run <= edge.last_run:
                    self._edges[ends] = edge
            yield edge

    def links(self) -> list[ProposedLink]:
        """Return the links, strongest first."""
        found = [self._link(ends, weight) for ends, weight in self._weights.items()]
        return sorted(found, key=lambda one: (-one.strength, one.source, one.target))

    def _link(self, ends: tuple[int, int], weight: float) -> ProposedLink:
        edge = self._edges.get(ends)
        if edge is None:
            sidebar, inline = self._limits
            return ProposedLink(*ends, strength=weight, tier=tier_of(weight, inline, sidebar))
        chosen = edge.chosen
        shown = ProposedLink(
            *ends,
            strength=weight,
            tier=edge.tier,
            anchor=chosen.text,
            sentence=chosen.sentence,
            why=with_warning(warning(edge), why(edge)),
            status=edge.status,
        )
        return shown if np.isnan(edge.strength) else replace(shown, strength=edge.strength)


def rows_of(audit: Audit, rules: Sequence[Rule]) -> dict[int, Rule]:
    """Return the pages that these rules have findings about, by row."""
    rules_by_url = {one.page: one.rule for one in audit.findings if one.rule in rules}
    return {row: rules_by_url[url] for row, url in enumerate(audit.urls) if url in rules_by_url}


def _shown(audit: Audit, most: int) -> Ints:
    links = audit.candidates
    order = np.argsort(-links.weights, kind="stable")
    to_weak = order[np.isin(links.targets[order], [*rows_of(audit, MENDED_BY_A_LINK)])]
    shown: Ints = np.union1d(order[:most], to_weak[:most])
    return shown


# Nobody works through more; the report shows the first of them.
MOST_OPPORTUNITIES = 1000
SOURCES_SHOWN = 3
GAIN_MEANS = (
    "A page at positions 4 to 20 gains these clicks in 28 days if it moves up by three places, by the site’s own click "
    "curve."
)


_PERIOD = "In the last 28 days of the search data."
OPPORTUNITIES = (
    Column("page", "Page", 50, "link"),
    Column("query", "Query", 36, "text"),
    Column("position", "Position", 10, decimals=1, note=_PERIOD, kind="number"),
    Column("impressions", "Impressions", 14, "bar", 0, _PERIOD, kind="integer"),
    Column("clicks", "Clicks", 10, decimals=0, note=_PERIOD, kind="integer"),
    Column("gain", "Clicks to gain", 14, "bar", 0, GAIN_MEANS, kind="integer"),
    Column("source_1", "Best source", 50, "link"),
    Column("source_2", "Second source", 50, "link"),
    Column("source_3", "Third source", 50, "link"),
)


def best_sources(audit: Audit, targets: Iterable[int]) -> dict[int, list[int]]:
    """Return the rows of up to three pages that should link to each of these pages and don't yet, the best first."""
    links, wanted = audit.candidates, np.unique([*targets])
    at = np.flatnonzero(np.isin(links.targets, wanted))
    at = at[np.lexsort((links.sources[at], -links.weights[at], links.targets[at]))]
    starts, ends = (np.searchsorted(links.targets[at], wanted, side=side) for side in ("left", "right"))
    return {
        target: links.sources[at[start : min(end, start + SOURCES_SHOWN)]].tolist()
        for target, start, end in zip(wanted.tolist(), starts, ends, strict=True)
    }


def opportunities(audit: Audit, gains: "DataFrame", rows: Mapping[str, int]) -> ResultTable:
    """Return the gains of audited pages with the proposed links to each page, in the order of the gains.

    Args:
        gains: what pages would earn from queries, by `gains`; pages are keys.
    """
    some = gains[gains["page"].isin(rows)]
    targets = [rows[page] for page in some["page"]]
    sources = best_sources(audit, targets)
    values = {**some.to_dict("list"), "page": [audit.urls[row] for row in targets]}
    for place in range(SOURCES_SHOWN):
        values[f"source_{place + 1}"] = [
            audit.urls[sources[row][place]] if place < len(sources[row]) else "" for row in targets
        ]
    return ResultTable("Opportunities", OPPORTUNITIES, values)


MOST_ACTIONS = 10
# So that a site with hundreds of orphans also sees its broken links.
MOST_OF_A_KIND = 4
RULE = (
    "Fixes for errors (orphans, links to pages with errors) come first, then what helps the most pages, then the "
    f"link with the highest score; at most {MOST_OF_A_KIND} actions are of one kind, as long as there are others."
)
_WEAK: Mapping[Rule | None, str] = {
    Rule.ORPHAN: "No page links there yet.",
    Rule.UNDER_LINKED: "Few pages link there yet.",
}
# Findings about links that lead to the wrong page, and what to do with such links.
_WRONG_TARGETS = (Rule.BROKEN_TARGET, Rule.REDIRECTED_TARGET, Rule.COPY_TARGET, Rule.NOINDEX_TARGET)


def actions(audit: Audit, links: Sequence[ProposedLink], most: int = MOST_ACTIONS) -> list[Action]:
    """Return the most useful actions in the order of `RULE`."""
    strong = [one for one in links if one.tier != "review" and one.status != "live"]
    useful = chain(
        _links_to_weak_pages(audit, strong),
        _wrong_targets(audit.findings),
        _circles(audit, strong),
        _dense_pages(audit.findings),
        _copies(audit.findings),
    )
    chosen = _varied([action for action, _ in sorted(useful, key=_rank)], most)
    used = {(one.source, one.target) for action in chosen for one in action.links}
    others = (
        one
        for one in strong
        if one.tier == "inline" and (audit.urls[one.source], audit.urls[one.target]) not in used
    )
    return [*chosen, *(_one_link(audit, None, one) for one in islice(others, most - len(chosen)))]


# An action, and the strength of its best link, 0 to 1; 0 without links.
_Ranked = tuple[Action, float]


def _rank(ranked: _Ranked) -> tuple[bool, int, float]:
    action, strength = ranked
    return action.severity != "error", -action.pages, -strength


def _varied(ranked: Sequence[Action], most: int) -> list[Action]:
    """Return the first actions, at most `MOST_OF_A_KIND` of a rule unless there are no others; no link comes twice."""
    counts, added = Counter[str](), set[tuple[str, str]]()
    first, rest = list[Action](), list[Action]()
    for one in ranked:
        ends = {(link.source, link.target) for link in one.links}
        if ends and ends <= added:
            continue
        added |= ends
        counts[one.rule] += 1
        (first if counts[one.rule] <= MOST_OF_A_KIND else rest).append(one)
    kept = {id(one) for one in [*first, *rest][:most]}
    return [one for one in ranked if id(one) in kept]


def _links_to_weak_pages(audit: Audit, strong: Iterable[ProposedLink]) -> Iterator[_Ranked]:
    """Yield the best link to each orphan and weakly linked page; links of one page are one action."""
    weak = rows_of(audit, MENDED_BY_A_LINK)
    best: dict[int, ProposedLink] = {}
    for one in strong:
        if one.target in weak and (one.target not in best or _is_better(one, best[one.target])):
            best[one.target] = one
    by_page: defaultdict[tuple[int, Rule], list[ProposedLink]] = defaultdict(list)
    for target, one in best.items():
        by_page[one.source, weak[target]].append(one)
    for (source, rule), found in by_page.items():
        strength = max(one.strength for one in found)
        if len(found) == 1:
            yield _one_link(audit, rule, found[0]), strength
        else:
            links = tuple(_action_link(audit, one) for one in found)
            what = f"Link from {_named(links[0].source_title, links[0].source)} to {len(found)} pages"
            yield _action(rule, len(found), what, _WEAK[rule], (audit.urls[source],), links), strength


def _is_better(one: ProposedLink, other: ProposedLink) -> bool:
    return one.tier == "inline" and other.tier != "inline"


def _action(
    rule: Rule | None,
    pages: int,
    what: str,
    detail: str,
    where: tuple[str, ...] = (),
    links: tuple[ActionLink, ...] = (),
) -> Action:
    severity = rule.severity if rule else "note"
    return Action(str(rule) if rule else "", severity, pages, what, detail, where, links)


def _one_link(audit: Audit, rule: Rule | None, one: ProposedLink) -> Action:
    link = _action_link(audit, one)
    what = f"Link from {_named(link.source_title, link.source)} {link_text(link)}"
    return _action(rule, 1, what, _WEAK.get(rule, "The page has no such link yet."), links=(link,))


def _action_link(audit: Audit, one: ProposedLink) -> ActionLink:
    return ActionLink(
        audit.urls[one.source],
        audit.titles[one.source],
        audit.urls[one.target],
        audit.titles[one.target],
        one.anchor,
        one.sentence,
        score_of(one.strength),
        TIER_NAMES[one.tier],
        one.why,
    )


def link_text(link: ActionLink) -> str:
    """Return where a link leads, with anchor and tier: to “Beans” with the anchor “fresh beans” (in the text)."""
    target = _named(link.target_title, link.target)
    # Outside the text, the anchor is usually the title, which is here already.
    told = link.anchor and (link.tier == TIER_NAMES["inline"] or link.anchor not in target)
    anchor = f" with the anchor “{isolated(link.anchor)}”" if told else ""
    return f"to {target}{anchor} ({link.tier})"


def _wrong_targets(findings: Sequence[Finding]) -> Iterator[_Ranked]:
    """Yield the links to change, one action per page that they should not lead to."""
    found: defaultdict[tuple[Rule, str], list[Finding]] = defaultdict(list)
    for one in findings:
        # Links that the last run proposed are not on the site.
        if one.rule in _WRONG_TARGETS and one.standing != "new":
            found[one.rule, one.other].append(one)
    for (rule, target), those in found.items():
        what = f"Change the links to {target} on {counted(len(those), 'page')}"
        yield _action(rule, len(those), what, those[0].detail, tuple(one.page for one in those)), 0.0


def _circles(audit: Audit, strong: Sequence[ProposedLink]) -> Iterator[_Ranked]:
    told = {one.page for one in audit.findings if one.rule == Rule.CLOSED_CIRCLE}
    circles = closed_circles(audit.existing, len(audit.urls), audit.home) if told else []
    for rows in (set(rows.tolist()) for rows in circles):
        into = (one for one in strong if one.target in rows and one.source not in rows)
        if (one := next(into, None)) and audit.urls[min(rows)] in told:
            link = _one_link(audit, Rule.CLOSED_CIRCLE, one)
            any_one = "either" if len(rows) == 2 else "any"
            detail = f"{len(rows)} pages link to each other, but no other page links to {any_one} of them."
            yield replace(link, pages=len(rows), detail=detail), one.strength


def _dense_pages(findings: Sequence[Finding]) -> Iterator[_Ranked]:
    for one in findings:
        if one.rule == Rule.DENSE and one.standing != "new":
            yield _action(one.rule, 1, f"Split {one.page}, or remove links from it", one.detail), 0.0


def _copies(findings: Sequence[Finding]) -> Iterator[_Ranked]:
    found: defaultdict[str, list[Finding]] = defaultdict(list)
    for one in findings:
        if one.rule == Rule.DUPLICATE:
            found[one.other].append(one)
    for kept, those in found.items():
        what = f"Keep {kept}; canonicalise or merge its {counted(len(those), 'copy', 'copies')}"
        detail, where = "Nearly the same texts compete with each other.", tuple(one.page for one in those)
        yield _action(Rule.DUPLICATE, len(those), what, detail, where), 0.0


def _named(title: str, url: str) -> str:
    title = " ".join(title.split())
    return f"“{isolated(title)}”" if title else url


def isolated(text: str) -> str:
    """Isolate a text with right-to-left letters, so that it doesn't reorder the text around it."""
    turned = any(unicodedata.bidirectional(letter) in ("R", "AL", "AN") for letter in text)
    return f"\u2068{text}\u2069" if turned else text
