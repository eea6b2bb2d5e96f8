"""The tables of an audit, each declared once: workbooks, the report and DataFrames take them."""

from collections.abc import Sequence
from itertools import takewhile
from typing import Any
from urllib.parse import unquote

import numpy as np

from internal_linker.insight.audit.actions import OPPORTUNITIES, SOURCES_SHOWN, link_text
from internal_linker.insight.audit.records import Action, Audit, Finding, Rule
from internal_linker.insight.audit.states import (
    STATES,
    AuditStates,
    ShownOpportunity,
    State,
    StateMeasure,
)
from internal_linker.model.edges import TIER_NAMES, score_of
from internal_linker.model.results import Column, Columns, ResultTable, columns_of, table_of
from internal_linker.review.rows import anchor_span
from internal_linker.sources.tables.xlsx_writer import Marked

# Rows of the sheet Pages: more would take longer to write than the whole audit, and long to open in Excel.
MOST_PAGES = 50_000
_STANDINGS = {
    "resolved": "resolved by the proposed links",
    "stays": "stays",
    "new": "new with the proposed links",
}
_STATES: dict[State, str] = {
    "today": "Today",
    "accepted": "Accepted only",
    "all": "Everything proposed",
}
_BY_STATE = tuple(Column(state, name, 20) for state, name in _STATES.items())
_RULE, _SEVERITY = Column("rule", "Finding", 24), Column("severity", "Severity", 10)
_PLACE = Column("page", "Page", 50, "link"), Column("other", "Other page", 50, "link")
_DETAIL = Column("detail", "Detail", 70)
_ENDS = Column("source", "Source", 50, "link"), Column("target", "Target", 50, "link")
_ACTIONS = (
    Column("what", "What to do", 90, "text"),
    Column("pages", "Pages helped", 12),
    Column("rule", "Finding", 18),
    Column("detail", "Detail", 60, "text"),
    Column("where", "Pages to change", 60, "text"),
)
_LINKS = (
    Column("source_title", "Source title", 36, "text"),
    Column("target_title", "Target title", 36, "text"),
    Column("anchor", "Anchor", 28, "text"),
    Column("sentence", "Sentence", 70, "text"),
    Column("score", "Score", 8),
    Column("tier", "Tier", 14),
    Column("why", "Why", 60, "text"),
    Column("status", "Status", 12),
    Column("section", "Source section", 16),
    *_ENDS,
)
_FINDINGS = *_PLACE, _DETAIL, Column("standing", "After adoption", 28), _SEVERITY
_CLUSTERS = (
    Column("name", "Cluster", 40),
    Column("pages", "Pages", 10),
    Column("hub", "Strongest page", 60, "link"),
    Column("inner", "Links inside", 14),
    Column("inner_after", "... after", 14),
    Column("outer", "Links out and in", 16),
    Column("outer_after", "... after", 14),
)
_PAGES = (
    Column("url", "URL", 60, "link"),
    Column("title", "Title", 45),
    Column("section", "Section", 16),
    Column("cluster", "Cluster", 30),
    Column("inlinks", "Links here", 12, "bar"),
    Column("inlinks_after", "Links here after", 12, "bar"),
    Column("outlinks", "Own links"),
    Column("outlinks_after", "Own links after"),
    Column("depth", "Clicks"),
    Column("depth_after", "Clicks after"),
    Column("pagerank", "PageRank x n", 12, "bar"),
    Column("pagerank_after", "PageRank x n after", 12, "bar"),
)
_FIGURES = Column("name", "Figure", 46), *_BY_STATE
_RULES = _RULE, _SEVERITY, Column("meaning", "Meaning", 60), *_BY_STATE
_STATE_PAGES = tuple(column for column in _PAGES if not column.key.endswith("_after"))
_NEW_LINKS = (
    Column("source_title", "Source title", 36),
    Column("target_title", "Target title", 36),
    Column("score", "Score", 8),
    *_ENDS,
)


def readable(path: str) -> str:
    """Return a path for people, with percent-encoding decoded."""
    return " ".join(unquote(path).split())


def actions_table(actions: Sequence[Action], *, with_links: bool) -> ResultTable:
    """Return the most useful actions, best first; several links of an action are lines below it."""
    rows = []
    for one in actions:
        links = [*map(link_text, one.links)] if with_links and len(one.links) > 1 else []
        where = dict.fromkeys([*one.where, *(link.source for link in one.links)])
        rows.append(("\n".join([one.what, *links]), one.pages, one.rule, one.detail, "\n".join(where)))
    return table_of("Actions", _ACTIONS, rows)


def links_table(audit: Audit, most: int | None = None) -> ResultTable:
    """Return the strongest proposed links."""
    links = audit.links[:most]
    spans = [anchor_span(one.sentence, one.anchor) for one in links]
    sources, targets = [one.source for one in links], [one.target for one in links]
    values: Columns = {
        "source_title": [audit.titles[row] for row in sources],
        "target_title": [audit.titles[row] for row in targets],
        "anchor": [one.anchor for one in links],
        "sentence": [
            Marked(one.sentence, *span) if span else one.sentence
            for one, span in zip(links, spans, strict=True)
        ],
        "score": [score_of(one.strength) for one in links],
        "tier": [TIER_NAMES[one.tier] for one in links],
        "why": [one.why for one in links],
        "status": [one.status for one in links],
        "section": [readable(audit.sections[row]) for row in sources],
        "source": [audit.urls[row] for row in sources],
        "target": [audit.urls[row] for row in targets],
    }
    return ResultTable("Proposed links", _LINKS, values)


def findings_table(rule: Rule, findings: Sequence[Finding]) -> ResultTable:
    """Return findings of a rule."""
    rows = (
        (one.page, one.other, one.detail, _STANDINGS[one.standing], str(one.severity)) for one in findings
    )
    return table_of(rule, _FINDINGS, rows)


def clusters_table(audit: Audit) -> ResultTable:
    """Return the clusters, largest first."""
    rows = ((one.name, one.pages, audit.urls[one.hub], *one.inner, *one.outer) for one in audit.cluster_links)
    return table_of("Clusters", _CLUSTERS, rows)


def page_columns(audit: Audit) -> Columns:
    """Return the figures of all pages; those of links are NaN if no links are known today."""
    before, after = audit.before, audit.after
    return {
        "url": audit.urls,
        "title": audit.titles,
        "section": audit.sections,
        "cluster": audit.clusters,
        "inlinks": audit.known(before.inlinks),
        "inlinks_after": audit.known(after.inlinks),
        "outlinks": audit.known(before.outlinks),
        "outlinks_after": audit.known(after.outlinks),
        "depth": before.depth,
        "depth_after": after.depth,
        "pagerank": audit.known(before.pagerank),
        "pagerank_after": audit.known(after.pagerank),
    }


def pages_table(audit: Audit) -> ResultTable:
    """Return the pages of the highest PageRank in their order, PageRank as a multiple of the mean."""
    rows = np.sort(np.argsort(-audit.before.pagerank, kind="stable")[:MOST_PAGES])
    values: dict[str, Any] = {
        key: each[rows] if isinstance(each, np.ndarray) else [each[row] for row in rows.tolist()]
        for key, each in page_columns(audit).items()
    }
    for key in ("depth", "depth_after"):
        values[key] = [depth if depth >= 0 else None for depth in values[key]]
    # The PageRank itself, about 1 / n, means nothing to people.
    for key in ("pagerank", "pagerank_after"):
        values[key] = (values[key] * len(audit.urls)).round(3)
    return ResultTable("Pages", _PAGES, values)


def state_tables(found: AuditStates, state: State) -> list[ResultTable]:
    """Return actions, opportunities, the figures of all states, and the findings, pages and new links of one state."""
    tables = [
        actions_table(found.actions, with_links=False),
        table_of("Figures", _FIGURES, map(_figures, found.measures)),
        table_of(
            "Findings by rule",
            _RULES,
            ((one.rule, one.severity, one.message, *one.counts) for one in found.rules),
        ),
        table_of(
            "Findings",
            (_RULE, *_PLACE, _DETAIL),
            ((one.rule, one.page, one.other, one.detail) for one in found.found(state)),
        ),
        _state_pages(found, state),
    ]
    if found.opportunities:
        tables.insert(1, table_of("Opportunities", OPPORTUNITIES, map(_opportunity, found.opportunities)))
    if state != "today":
        new = takewhile(lambda link: link.new, found.links(state))
        rows = ((one.source_title, one.target_title, one.score, one.source, one.target) for one in new)
        tables.append(table_of("New links", _NEW_LINKS, rows))
    return tables


def _opportunity(one: ShownOpportunity) -> Sequence[Any]:
    lacking = [""] * (SOURCES_SHOWN - len(one.sources))
    return one.page, one.query, one.position, one.impressions, one.clicks, one.gain, *one.sources, *lacking


def _figures(one: StateMeasure) -> Sequence[Any]:
    values = ["unknown" if value is None else round(value, one.decimals) for value in one.values]
    return one.name, *values[: len(STATES)]


def _state_pages(found: AuditStates, state: State) -> ResultTable:
    pages = found.pages(state)
    values = columns_of(pages, *(column.key for column in _STATE_PAGES))
    values["depth"] = [depth if depth >= 0 else None for depth in values["depth"]]
    values["pagerank"] = [round(rank, 3) for rank in values["pagerank"]]
    if not found.links_known:
        # Their counts are unknown, not 0.
        values |= {key: [None] * len(pages) for key in ("inlinks", "outlinks", "depth", "pagerank")}
    return ResultTable("Pages", _STATE_PAGES, values)
