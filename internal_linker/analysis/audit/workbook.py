"""Writes audit.xlsx, and the sheets of a workbook with an audit in one state of the links."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import takewhile
from math import isnan
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from internal_linker.adapters.files.atomic import ReplaceBinary, remarks_on, replace_binary
from internal_linker.adapters.tables.xlsx_writer import (
    Cell,
    Column,
    Marked,
    Sheet,
    add_sheets,
    open_book,
    put_row,
)
from internal_linker.analysis.audit.actions import GAIN_MEANS, SOURCES_SHOWN, link_text
from internal_linker.analysis.audit.records import Audit, Finding, Rule
from internal_linker.analysis.audit.report.html import readable
from internal_linker.analysis.audit.states import STATES, AuditStates, State
from internal_linker.core.edges import TIER_NAMES, score_of
from internal_linker.review.rows import anchor_span

# Nobody reads more findings of one rule.
MOST_ROWS = 10_000
_STANDINGS = {
    "resolved": "resolved by the proposed links",
    "stays": "stays",
    "new": "new with the proposed links",
}
_FINDINGS = (
    *(Column("Page", 50, "link"), Column("Other page", 50, "link"), Column("Detail", 70)),
    *(Column("After adoption", 28), Column("Severity", 10)),
)
_CLUSTERS = (
    *(Column("Cluster", 40), Column("Pages", 10), Column("Strongest page", 60, "link")),
    *(
        Column("Links inside", 14),
        Column("... after", 14),
        Column("Links out and in", 16),
        Column("... after", 14),
    ),
)
_PAGES = (
    *(Column("URL", 60, "link"), Column("Title", 45), Column("Section", 16), Column("Cluster", 30)),
    *(Column("Links here", 12, "bar"), Column("Links here after", 12, "bar")),
    *(Column("Own links"), Column("Own links after"), Column("Clicks"), Column("Clicks after")),
    *(Column("PageRank x n", 12, "bar"), Column("PageRank x n after", 12, "bar")),
)
_ACTIONS = (
    *(Column("What to do", 90, "text"), Column("Pages helped", 12), Column("Finding", 18)),
    *(Column("Detail", 60, "text"), Column("Pages to change", 60, "text")),
)
_LINKS = (
    *(Column("Source title", 36, "text"), Column("Target title", 36, "text"), Column("Anchor", 28, "text")),
    *(Column("Sentence", 70, "text"), Column("Score", 8), Column("Tier", 14), Column("Why", 60, "text")),
    *(Column("Status", 12), Column("Source section", 16)),
    *(Column("Source", 50, "link"), Column("Target", 50, "link")),
)
_PERIOD = "In the last 28 days of the search data."
OPPORTUNITIES = (
    *(Column("Page", 50, "link"), Column("Query", 36, "text"), Column("Position", 10, note=_PERIOD)),
    *(Column("Impressions", 14, "bar", _PERIOD), Column("Clicks", 10, note=_PERIOD)),
    Column("Clicks to gain", 14, "bar", GAIN_MEANS),
    *(
        Column("Best source", 50, "link"),
        Column("Second source", 50, "link"),
        Column("Third source", 50, "link"),
    ),
)
# Rows of the sheet Pages: more would take longer to write than the whole audit, and long to open in Excel.
MOST_PAGES = 50_000


class AuditXlsx:
    """An `AuditSink`: a workbook for Excel and the like, without formulas.

    Args:
        most_rows: findings of one rule that are written; the summary mentions the others.
    """

    def __init__(
        self, path: Path, most_rows: int = MOST_ROWS, write_whole: ReplaceBinary = replace_binary
    ) -> None:
        self.path, self.name = path, f"files/{path.name}"
        self._most, self._write_whole = most_rows, write_whole

    def write(self, audit: Audit) -> Sequence[str]:
        """Replace the file; return what was unusual, one sentence each."""
        landed = self._write_whole(self.path, lambda file: self._fill(file, audit))
        remarks = [
            f"{self.name} has the {MOST_PAGES:,} pages of the highest PageRank; audit_nodes.csv has all."
            for _ in range(len(audit.urls) > MOST_PAGES)
        ]
        missing = len(audit.candidates.sources) - len(audit.links)
        remarks += [
            f"{self.name} has the {len(audit.links):,} strongest proposed links; links.csv has all."
            for _ in range(bool(audit.links) and missing > 0)
        ]
        remarks += [
            f"{self.name} has the first {self._most:,} of {count:,} findings of {rule}."
            for rule, count in Counter(one.rule for one in audit.findings).items()
            if count > self._most
        ]
        return [*remarks, *remarks_on(self.path, landed)]

    def _fill(self, file: BinaryIO, audit: Audit) -> None:
        book = open_book(file)
        by_rule: dict[Rule, list[Finding]] = {rule: [] for rule in Rule}
        for one in audit.findings:
            by_rule[one.rule].append(one)
        self._summary(book, audit, by_rule)
        add_sheets(book, self._sheets(audit, by_rule))
        book.close()

    def _sheets(self, audit: Audit, by_rule: dict[Rule, list[Finding]]) -> Iterator[Sheet]:
        if audit.actions:
            yield Sheet("Actions", _ACTIONS, [*_actions(audit)])
        if audit.links:
            yield Sheet("Proposed links", _LINKS, [*_links(audit)])
        if audit.opportunities:
            yield Sheet("Opportunities", OPPORTUNITIES, [*_opportunities(audit)])
        for rule, found in by_rule.items():
            if found:
                rows = [
                    (one.page, one.other, one.detail, _STANDINGS[one.standing], one.severity)
                    for one in found[: self._most]
                ]
                yield Sheet(rule, _FINDINGS, rows)
        clusters = [
            (one.name, one.pages, audit.urls[one.hub], *one.inner, *one.outer) for one in audit.cluster_links
        ]
        yield Sheet("Clusters", _CLUSTERS, clusters)
        yield Sheet("Pages", _PAGES, list(_pages(audit)))

    def _summary(self, book: Any, audit: Audit, by_rule: dict[Rule, list[Finding]]) -> None:
        bold = book.add_format({"bold": True, "bottom": 1})
        sheet = book.add_worksheet("Summary")
        sheet.set_column(0, 0, 46)
        sheet.set_column(1, 4, 16)
        count = len(audit.opportunities)
        told = f"{count:,}, on the sheet Opportunities. {GAIN_MEANS}"
        opportunities: list[tuple[Sequence[Cell], bool]] = [(("Opportunities", told), False)] if count else []
        rows: list[tuple[Sequence[Cell], bool]] = [
            (("Site", audit.site), False),
            (("Home page", audit.urls[audit.home] if audit.home >= 0 else "not among the pages"), False),
            (("Proposed links of run", audit.run_id or "none"), False),
            (("After", f"{audit.adopted_links} (--after {audit.after_by})"), False),
            (("Links today", str(audit.counted_today)), False),
            (("New links after adoption", str(audit.counted_new)), False),
            *opportunities,
            ((), False),
            (("", "Today", "After adoption", "Change"), True),
        ]
        for measure in audit.summary:
            values = (measure.before, measure.after, measure.after - measure.before)
            figures = ["unknown" if isnan(value) else round(value, measure.decimals) for value in values]
            rows.append(((measure.name, *figures), False))
        rows += [((), False), (("Finding", "Count", "Resolved", "New", "Severity", "Meaning"), True)]
        for rule, found in by_rule.items():
            standings = Counter(one.standing for one in found)
            counts = (len(found), standings["resolved"], standings["new"])
            known = ("unknown",) * 3 if rule in audit.unknown and not found else counts
            rows.append(((rule, *known, rule.severity, rule.message), False))
        for at, (cells, is_head) in enumerate(rows):
            put_row(sheet, at, cells, bold if is_head else None)


def _actions(audit: Audit) -> Iterator[Sequence[Cell]]:
    for one in audit.actions:
        links = [link_text(audit, link) for link in one.links] if len(one.links) > 1 else []
        where = dict.fromkeys([*one.where, *(audit.urls[link.source] for link in one.links)])
        yield "\n".join([one.what, *links]), one.pages, one.rule or "", one.detail, "\n".join(where)


def _links(audit: Audit) -> Iterator[Sequence[Cell]]:
    for one in audit.links:
        span, score = anchor_span(one.sentence, one.anchor), score_of(one.strength)
        yield (
            audit.titles[one.source],
            audit.titles[one.target],
            one.anchor,
            Marked(one.sentence, *span) if span else one.sentence,
            "" if score is None else score,
            TIER_NAMES[one.tier],
            one.why,
            one.status,
            readable(audit.sections[one.source]),
            audit.urls[one.source],
            audit.urls[one.target],
        )


def _opportunities(audit: Audit) -> Iterator[Sequence[Cell]]:
    for one in audit.opportunities:
        sources = [audit.urls[row] for row in one.sources]
        yield (
            audit.urls[one.page],
            one.query,
            round(one.position, 1),
            *(round(count) for count in (one.impressions, one.clicks, one.gain)),
            *sources,
            *[""] * (SOURCES_SHOWN - len(sources)),
        )


def _pages(audit: Audit) -> Iterator[Sequence[Cell]]:
    """Return the pages in order, their PageRank as multiples of the mean: 1 / n means nothing to people."""
    n, before, after = len(audit.urls), audit.before, audit.after
    rows = np.sort(np.argsort(-before.pagerank, kind="stable")[:MOST_PAGES])
    return zip(
        *(
            [texts[row] for row in rows]
            for texts in (audit.urls, audit.titles, audit.sections, audit.clusters)
        ),
        *(
            ["" if isnan(count) else count for count in audit.known(each)[rows].tolist()]
            for each in (before.inlinks, after.inlinks, before.outlinks, after.outlinks)
        ),
        *([at if at >= 0 else "" for at in each.depth[rows].tolist()] for each in (before, after)),
        *(
            ["" if isnan(rank) else rank for rank in (audit.known(each.pagerank)[rows] * n).round(3).tolist()]
            for each in (before, after)
        ),
        strict=True,
    )


NAMES: dict[State, str] = {"today": "Today", "accepted": "Accepted only", "all": "Everything proposed"}
_BY_STATE = tuple(Column(name, 20) for name in NAMES.values())
_RULES = Column("Finding", 24), Column("Severity", 10), Column("Meaning", 60), *_BY_STATE
_STATE_FINDINGS = Column("Finding", 24), *_FINDINGS[:3]
_STATE_PAGES = (
    *(*_PAGES[:5], Column("Own links"), Column("Clicks")),
    Column("PageRank x n", 12, "bar"),
)
_NEW_LINKS = (
    *(Column("Source title", 36), Column("Target title", 36), Column("Score", 8)),
    *(Column("Source", 50, "link"), Column("Target", 50, "link")),
)


def state_sheets(found: AuditStates, state: State) -> list[Sheet]:
    """Return actions, opportunities, the figures of all states, and the findings, pages and new links of one state."""
    sheets = [
        Sheet("Actions", _ACTIONS, [*_state_actions(found)]),
        Sheet("Figures", (Column("Figure", 46), *_BY_STATE), [*_figures(found)]),
        Sheet(
            "Findings by rule",
            _RULES,
            [(one.rule, one.severity, one.message, *one.counts) for one in found.rules],
        ),
        Sheet(
            "Findings",
            _STATE_FINDINGS,
            [(one.rule, one.page, one.other, one.detail) for one in found.found(state)],
        ),
        Sheet("Pages", _STATE_PAGES, [*_state_pages(found, state)]),
    ]
    if found.opportunities:
        sheets.insert(1, Sheet("Opportunities", OPPORTUNITIES, [*_state_opportunities(found)]))
    if state != "today":
        sheets.append(Sheet("New links", _NEW_LINKS, [*_new_links(found, state)]))
    return sheets


def _state_actions(found: AuditStates) -> Iterator[tuple[Cell, ...]]:
    for one in found.actions:
        pages = dict.fromkeys([*one.where, *(link.source for link in one.links)])
        yield one.what, one.pages, one.rule, one.detail, "\n".join(pages)


def _state_opportunities(found: AuditStates) -> Iterator[tuple[Cell, ...]]:
    for one in found.opportunities:
        lacking = [""] * (SOURCES_SHOWN - len(one.sources))
        counts = one.position, one.impressions, one.clicks, one.gain
        yield one.page, one.query, *counts, *one.sources, *lacking


def _figures(found: AuditStates) -> Iterator[tuple[Cell, ...]]:
    for one in found.measures:
        values = ["unknown" if value is None else round(value, one.decimals) for value in one.values]
        yield one.name, *values[: len(STATES)]


def _state_pages(found: AuditStates, state: State) -> Iterator[tuple[Cell, ...]]:
    for one in found.pages(state):
        # Without links their counts are unknown, not 0.
        counts = (
            (one.inlinks, one.outlinks, one.depth if one.depth >= 0 else "", round(one.pagerank, 3))
            if found.links_known
            else ("", "", "", "")
        )
        yield one.url, one.title, one.section, one.cluster, *counts


def _new_links(found: AuditStates, state: State) -> Iterator[tuple[Cell, ...]]:
    for one in takewhile(lambda link: link.new, found.links(state)):
        score = "" if one.score is None else one.score
        yield one.source_title, one.target_title, score, one.source, one.target
