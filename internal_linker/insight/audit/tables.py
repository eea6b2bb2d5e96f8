"""The tables of an audit, each declared once: workbooks, the report and DataFrames take them."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import numpy as np

from internal_linker.insight.audit.actions import OPPORTUNITIES, SOURCES_SHOWN, link_text
from internal_linker.insight.audit.records import Action, Audit, Finding, Rule
from internal_linker.insight.audit.states import (
    PLACE,
    SEVERITY,
    STATE_FINDINGS,
    STATE_MEASURES,
    STATE_RULES,
    AuditStates,
    State,
)
from internal_linker.model.edges import TIER_NAMES, score_of
from internal_linker.model.results import Column, Columns, ResultTable, table_of, to_json_rows
from internal_linker.review.rows import anchor_span
from internal_linker.sources.tables.xlsx_writer import Marked

if TYPE_CHECKING:
    from pandas import DataFrame

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
_FINDINGS = *PLACE, Column("standing", "After adoption", 28), SEVERITY
_PAGES = (
    Column("url", "URL", 60, "link"),
    Column("title", "Title", 45),
    Column("section", "Section", 16),
    Column("cluster", "Cluster", 30),
    Column("inlinks", "Links here", 12, "bar", kind="integer"),
    Column("inlinks_after", "Links here after", 12, "bar"),
    Column("outlinks", "Own links", kind="integer"),
    Column("outlinks_after", "Own links after"),
    Column("depth", "Clicks", kind="integer"),
    Column("depth_after", "Clicks after"),
    Column("pagerank", "PageRank x n", 12, "bar", kind="number"),
    Column("pagerank_after", "PageRank x n after", 12, "bar"),
)
_FIGURES = STATE_MEASURES[1], *_BY_STATE
_RULES = *STATE_RULES[:-1], *_BY_STATE
STATE_PAGES = tuple(column for column in _PAGES if not column.key.endswith("_after"))
_NEW_LINKS = (
    Column("source_title", "Source title", 36),
    Column("target_title", "Target title", 36),
    Column("score", "Score", 8, kind="integer or null"),
    *_ENDS,
)
STATE_LINKS = *_NEW_LINKS, Column("new", "New", kind="boolean")


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
        table_of("Figures", _FIGURES, map(_figures, to_json_rows(found.measures))),
        table_of(
            "Findings by rule",
            _RULES,
            ((one["rule"], one["severity"], one["message"], *one["counts"]) for one in found.rules),
        ),
        ResultTable("Findings", STATE_FINDINGS[:-1], found.findings_in(state).to_dict("list")),
        _state_pages(found, state),
    ]
    if len(found.opportunities):
        tables.insert(1, _opportunities(found.opportunities))
    if state != "today":
        places = found.links(state)
        new = found.link_values(state, places[found.new[state][places]])
        tables.append(ResultTable("New links", _NEW_LINKS, new))
    return tables


def _opportunities(found: "DataFrame") -> ResultTable:
    places = range(SOURCES_SHOWN)
    sources = {f"source_{at + 1}": [*found["sources"].str[at].fillna("")] for at in places}
    return ResultTable("Opportunities", OPPORTUNITIES, {**found.to_dict("list"), **sources})


def _figures(one: Mapping[str, Any]) -> Sequence[Any]:
    values = ["unknown" if value is None else round(value, one["decimals"]) for value in one["values"]]
    return one["name"], *values


def _state_pages(found: AuditStates, state: State) -> ResultTable:
    rows = found.pages(state)
    values = dict(found.page_values(state, rows))
    values["depth"] = [depth if depth >= 0 else None for depth in values["depth"]]
    values["pagerank"] = [round(rank, 3) for rank in values["pagerank"]]
    if not found.links_known:
        # Their counts are unknown, not 0.
        values |= {key: [None] * len(rows) for key in ("inlinks", "outlinks", "depth", "pagerank")}
    return ResultTable("Pages", STATE_PAGES, values)
