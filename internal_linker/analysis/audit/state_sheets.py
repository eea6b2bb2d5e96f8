"""The sheets of a workbook with an audit in one state of the links."""

from collections.abc import Iterator
from itertools import takewhile

from internal_linker.adapters.tables.xlsx_writer import Cell, Column, Sheet
from internal_linker.analysis.audit.opportunities import SOURCES_SHOWN
from internal_linker.analysis.audit.states import STATES, AuditStates, State
from internal_linker.analysis.audit.workbook import OPPORTUNITIES

NAMES: dict[State, str] = {
    "today": "Today",
    "accepted": "Accepted only",
    "all": "Everything proposed",
}
_ACTIONS = (
    *(Column("What to do", 90, "text"), Column("Pages helped", 12), Column("Finding", 18)),
    *(Column("Detail", 60, "text"), Column("Pages to change", 60, "text")),
)
_FIGURES = (Column("Figure", 46), *(Column(name, 20) for name in NAMES.values()))
_RULES = (
    *(Column("Finding", 24), Column("Severity", 10), Column("Meaning", 60)),
    *(Column(name, 20) for name in NAMES.values()),
)
_FINDINGS = (
    *(Column("Finding", 24), Column("Page", 50, "link"), Column("Other page", 50, "link")),
    Column("Detail", 70),
)
_PAGES = (
    *(Column("URL", 60, "link"), Column("Title", 45), Column("Section", 16), Column("Cluster", 30)),
    *(Column("Links here", 12, "bar"), Column("Own links"), Column("Clicks")),
    Column("PageRank x n", 12, "bar"),
)
_LINKS = (
    *(Column("Source title", 36), Column("Target title", 36), Column("Score", 8)),
    *(Column("Source", 50, "link"), Column("Target", 50, "link")),
)


def state_sheets(found: AuditStates, state: State) -> list[Sheet]:
    """Return actions, opportunities, the figures of all states, and the findings, pages and new links of one state."""
    sheets = [
        Sheet("Actions", _ACTIONS, [*_actions(found)]),
        Sheet("Figures", _FIGURES, [*_figures(found)]),
        Sheet(
            "Findings by rule",
            _RULES,
            [(one.rule, one.severity, one.message, *one.counts) for one in found.rules],
        ),
        Sheet(
            "Findings",
            _FINDINGS,
            [(one.rule, one.page, one.other, one.detail) for one in found.found(state)],
        ),
        Sheet("Pages", _PAGES, [*_pages(found, state)]),
    ]
    if found.opportunities:
        sheets.insert(1, Sheet("Opportunities", OPPORTUNITIES, [*_opportunities(found)]))
    if state != "today":
        sheets.append(Sheet("New links", _LINKS, [*_links(found, state)]))
    return sheets


def _actions(found: AuditStates) -> Iterator[tuple[Cell, ...]]:
    for one in found.actions:
        pages = dict.fromkeys([*one.where, *(link.source for link in one.links)])
        yield one.what, one.pages, one.rule, one.detail, "\n".join(pages)


def _opportunities(found: AuditStates) -> Iterator[tuple[Cell, ...]]:
    for one in found.opportunities:
        lacking = [""] * (SOURCES_SHOWN - len(one.sources))
        counts = one.position, one.impressions, one.clicks, one.gain
        yield one.page, one.query, *counts, *one.sources, *lacking


def _figures(found: AuditStates) -> Iterator[tuple[Cell, ...]]:
    for one in found.measures:
        values = ["unknown" if value is None else round(value, one.decimals) for value in one.values]
        yield one.name, *values[: len(STATES)]


def _pages(found: AuditStates, state: State) -> Iterator[tuple[Cell, ...]]:
    for one in found.pages(state):
        # Without links their counts are unknown, not 0.
        counts = (
            (one.inlinks, one.outlinks, one.depth if one.depth >= 0 else "", round(one.pagerank, 3))
            if found.links_known
            else ("", "", "", "")
        )
        yield one.url, one.title, one.section, one.cluster, *counts


def _links(found: AuditStates, state: State) -> Iterator[tuple[Cell, ...]]:
    for one in takewhile(lambda link: link.new, found.links(state)):
        score = "" if one.score is None else one.score
        yield one.source_title, one.target_title, score, one.source, one.target
