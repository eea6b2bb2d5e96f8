"""An audit in three states of the links: today, with the accepted, with all proposed ones; each number has its rows."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from typing import Any, Literal

import numpy as np

from internal_linker.insight.audit.actions import RULE, SOURCES_SHOWN
from internal_linker.insight.audit.records import (
    MEASURES,
    Action,
    Audit,
    GraphFigures,
    RowsAre,
    Rule,
    Severity,
)
from internal_linker.insight.graph import (
    SiteGraph,
    across,
    adopted,
    between,
    component_labels,
    pair_keys,
    reciprocal_pairs,
)
from internal_linker.model.arrays import Bools, Ints, Vectors
from internal_linker.model.edges import score_of
from internal_linker.model.errors import ConfigurationError
from internal_linker.model.results import Columns, Result, columns_of
from internal_linker.model.sections import grouped
from internal_linker.model.sequences import Lazy

State = Literal["today", "accepted", "all"]
STATES: tuple[State, ...] = "today", "accepted", "all"
ORDER = RULE
ROWS: Mapping[str, RowsAre] = {key: rows for key, (_, _, rows) in MEASURES.items()}
Sort = Literal["", "url", "inlinks", "outlinks", "depth", "pagerank"]


@dataclass(frozen=True, slots=True)
class StateMeasure:
    """A figure in the three `STATES`; None: unknown. `rows_are` says what the rows behind it are."""

    key: str
    name: str
    decimals: int
    values: tuple[float | None, float | None, float | None]
    rows_are: RowsAre


@dataclass(frozen=True, slots=True)
class StateFinding:
    """A finding, and in which of `STATES` it holds."""

    rule: str
    page: str
    other: str
    detail: str
    holds: tuple[bool, bool, bool]


@dataclass(frozen=True, slots=True)
class ShownOpportunity:
    """What a page would earn at a better position; see `Opportunity`. `sources` are URLs, the best first."""

    page: str
    title: str
    query: str
    position: float
    impressions: int
    clicks: int
    gain: int
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RuleCount:
    """A rule and its findings in each of `STATES`."""

    rule: str
    severity: Severity
    message: str
    counts: tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class StatePage:
    """A page in one state; `depth` is -1 for an unreachable page, `pagerank` a multiple of the mean."""

    url: str
    title: str
    section: str
    cluster: str
    inlinks: int
    outlinks: int
    depth: int
    pagerank: float


@dataclass(frozen=True, slots=True)
class StateLink:
    """A link in one state; `new`: it is not on the site today. `score` is that of a new link."""

    source: str
    source_title: str
    target: str
    target_title: str
    new: bool
    score: int | None


@dataclass(frozen=True, repr=False)
class AuditStates(Result):
    """An audit of a site's n pages in three states of its links."""

    made: str  # when, as ISO 8601
    site: str  # the site's host
    home: str  # the URL of the home page; "": it is not among the pages
    links_known: bool  # whether any link between the pages is known today
    run: str  # the run that proposed the links; "" without one
    # urls, titles, sections, clusters: of the pages; "" for a page in no cluster
    urls: Sequence[str]
    titles: Sequence[str]
    sections: Sequence[str]
    clusters: Sequence[str]
    min_inlinks: int  # pages that should link to every page
    clicks: int  # clicks beyond which a page is deep
    figures: Mapping[State, GraphFigures]  # by state
    # the links by state; a weight is 1 today, 0 for a link that passes none, a strength for a new link
    graphs: Mapping[State, SiteGraph]
    measures: Sequence[StateMeasure]  # the figures of the site
    findings: Sequence[StateFinding]  # the findings by rule
    actions: Sequence[Action]  # the most useful actions, best first
    # what pages would earn at better positions, the largest gain first; empty without search data
    opportunities: Sequence[ShownOpportunity]

    def tables(self) -> dict[str, Columns]:
        """Return `actions`, `measures`, `findings` and `opportunities`."""
        return {
            "actions": columns_of(self.actions, "what", "pages", "rule", "detail"),
            "measures": columns_of(self.measures, "name", "values"),
            "findings": columns_of(self.findings, "rule", "page", "other", "detail", "holds"),
            "opportunities": columns_of(self.opportunities, *ShownOpportunity.__dataclass_fields__),
        }

    @property
    def rules(self) -> list[RuleCount]:
        """The rules that have findings in any state, errors first."""
        counts: dict[str, Counter[int]] = {}
        for one in self.findings:
            counts.setdefault(one.rule, Counter()).update(at for at, holds in enumerate(one.holds) if holds)
        order: Sequence[Severity] = ("error", "warning", "note")
        found = [
            RuleCount(str(rule), rule.severity, rule.message, (count[0], count[1], count[2]))
            for rule in Rule
            if (count := counts.get(str(rule)))
        ]
        return sorted(found, key=lambda one: order.index(one.severity))

    @property
    def section_matrix(self) -> tuple[Sequence[str], Mapping[State, Ints]]:
        """The names of s sections, the largest first, and (s, s) links from row to column in each state."""
        names, labels = self._grouped
        return names, {state: between(self.graphs[state], labels, len(names)) for state in STATES}

    def pages(self, state: State, key: str = "", sort: Sort = "", section: str = "") -> Sequence[StatePage]:
        """Return the pages behind a figure, or all for "", sorted as suits the figure unless `sort` names another one.

        Raises:
            ConfigurationError: there is no such figure of pages.
        """
        if key and ROWS.get(key) != "pages":
            raise ConfigurationError(f"There is no figure of pages named '{key[:40]}'.")
        figures = self.figures[state]
        shown = self._shown(state, key)
        if section:
            shown &= np.array([one == section for one in self.sections], np.bool_)
        rows = np.flatnonzero(shown)
        by = sort or {
            "links-per-page": "outlinks",
            "depth": "depth",
            "max-depth": "depth",
            "deep": "depth",
        }.get(key, "pagerank")
        if by != "url":
            rows = rows[np.argsort(-getattr(figures, by)[rows], kind="stable")]
        else:
            rows = np.array(sorted(rows.tolist(), key=lambda row: self.urls[row]), np.int64)
        return Lazy(len(rows), lambda at: self._page(state, int(rows[at])))

    def links(self, state: State, key: str = "", ends: tuple[str, str] = ("", "")) -> Sequence[StateLink]:
        """Return the links behind a figure, or all for "", or those between two sections of the matrix.

        Raises:
            ConfigurationError: there is no such figure of links, or no such section.
        """
        graph, n = self.graphs[state], len(self.urls)
        if key and ROWS.get(key) != "links":
            raise ConfigurationError(f"There is no figure of links named '{key[:40]}'.")
        shown = self._links_of(graph, key)
        names, labels = self._grouped
        for name, rows in zip(ends, (graph.sources, graph.targets), strict=True):
            if name:
                if name not in names:
                    raise ConfigurationError(f"There is no section '{name[:100]}' in the matrix.")
                shown &= labels[rows] == list(names).index(name)
        new = ~np.isin(pair_keys(graph, n), pair_keys(self.graphs["today"], n))
        places = np.flatnonzero(shown)
        # New links are what a person looks for; the strongest come first.
        places = places[np.lexsort((-graph.weights[places], ~new[places]))]
        return Lazy(len(places), lambda at: self._link(graph, int(places[at]), bool(new[places[at]])))

    def found(self, state: State, rule: str = "") -> list[StateFinding]:
        """Return the findings of a rule ("": of all) that hold in a state."""
        at = STATES.index(state)
        return [one for one in self.findings if one.holds[at] and rule in ("", one.rule)]

    @cached_property
    def _grouped(self) -> tuple[Sequence[str], Ints]:
        return grouped(self.sections)

    @cached_property
    def _labels(self) -> Ints:
        places = {name: at for at, name in enumerate(dict.fromkeys(filter(None, self.clusters)))}
        return np.array([places.get(name, -1) for name in self.clusters], np.int64)

    def _shown(self, state: State, key: str) -> Bools:
        """Return (n,) the pages that a figure counts; of a mean or share, those that make it up."""
        figures, n = self.figures[state], len(self.urls)
        orphan = np.zeros(n, np.bool_)
        orphan[figures.orphans] = True
        chosen: Mapping[str, Callable[[], Bools]] = {
            "orphans": lambda: orphan,
            "few-inlinks": lambda: figures.inlinks < self.min_inlinks,
            "no-outlinks": lambda: figures.outlinks == 0,
            "unreachable": lambda: figures.depth < 0,
            "depth": lambda: figures.depth > 0,
            "max-depth": lambda: figures.depth == figures.depth.max(),
            "deep": lambda: figures.depth > self.clicks,
            "top-share": lambda: self._top_tenth(figures.pagerank),
            "groups": lambda: self._outside_largest(self.graphs[state]),
        }
        return np.array(chosen[key]()) if key in chosen else np.ones(n, np.bool_)

    @staticmethod
    def _top_tenth(pagerank: Vectors) -> Bools:
        best = np.argsort(-pagerank, kind="stable")[: max(1, round(0.1 * len(pagerank)))]
        shown = np.zeros(len(pagerank), np.bool_)
        shown[best] = True
        return shown

    def _outside_largest(self, graph: SiteGraph) -> Bools:
        labels = component_labels(graph, len(self.urls))
        return np.asarray(labels != np.bincount(labels).argmax())

    def _links_of(self, graph: SiteGraph, key: str) -> Bools:
        n = len(self.urls)
        if key == "unfollowed":
            return np.asarray(graph.weights == 0)
        if key == "crossing":
            return across(graph, self._labels)
        if key == "reciprocal":
            pairs = reciprocal_pairs(graph, n)
            return np.isin(pair_keys(graph, n), pairs[:, 0].astype(np.int64) * n + pairs[:, 1])
        return np.ones(len(graph.sources), np.bool_)

    def _page(self, state: State, row: int) -> StatePage:
        figures = self.figures[state]
        return StatePage(
            self.urls[row],
            self.titles[row],
            self.sections[row],
            self.clusters[row],
            int(figures.inlinks[row]),
            int(figures.outlinks[row]),
            int(figures.depth[row]),
            float(figures.pagerank[row]) * len(self.urls),
        )

    def _link(self, graph: SiteGraph, at: int, new: bool) -> StateLink:
        source, target = int(graph.sources[at]), int(graph.targets[at])
        return StateLink(
            self.urls[source],
            self.titles[source],
            self.urls[target],
            self.titles[target],
            new,
            score_of(float(graph.weights[at])) if new else None,
        )


def states_of(accepted: Audit, every: Audit, *, made: str, min_inlinks: int, clicks: int) -> AuditStates:
    """Combine the audits with the accepted links and with all proposed ones, which has the actions.

    Args:
        made: when, as ISO 8601.
        min_inlinks: pages that should link to every page.
        clicks: clicks beyond which a page is deep.
    """
    n = len(every.urls)
    figures: dict[State, GraphFigures] = {
        "today": every.before,
        "accepted": accepted.after,
        "all": every.after,
    }
    graphs: dict[State, SiteGraph] = {
        "today": every.existing,
        "accepted": adopted(accepted.existing, accepted.proposed, n),
        "all": adopted(every.existing, every.proposed, n),
    }
    return AuditStates(
        made=made,
        site=every.site,
        home=every.urls[every.home] if every.home >= 0 else "",
        links_known=every.links_known,
        run=every.run_id,
        urls=list(every.urls),
        titles=list(every.titles),
        sections=list(every.sections),
        clusters=list(every.clusters),
        min_inlinks=min_inlinks,
        clicks=clicks,
        figures=figures,
        graphs=graphs,
        measures=_measures(accepted, every),
        findings=_findings(accepted, every),
        actions=list(every.actions),
        opportunities=_opportunities(every),
    )


def _opportunities(every: Audit) -> list[ShownOpportunity]:
    if not every.opportunities:
        return []
    titles = dict(zip(every.urls, every.titles, strict=True))
    found: list[Any] = []
    for page, query, *figures in every.opportunities.rows():
        sources = filter(None, figures[-SOURCES_SHOWN:])
        found.append((page, titles[str(page)], query, *figures[:-SOURCES_SHOWN], tuple(sources)))
    return [ShownOpportunity(*one) for one in found]


def _measures(accepted: Audit, every: Audit) -> list[StateMeasure]:
    middle = {each.key: each.after for each in accepted.summary}
    return [
        StateMeasure(
            each.key,
            each.name,
            each.decimals,
            (_known(each.before), _known(middle.get(each.key, np.nan)), _known(each.after)),
            ROWS[each.key],
        )
        for each in every.summary
    ]


def _known(figure: float) -> float | None:
    return float(figure) if isfinite(figure) else None


def _findings(accepted: Audit, every: Audit) -> list[StateFinding]:
    holds: dict[tuple[Rule, str, str], list[bool]] = {}
    details: dict[tuple[Rule, str, str], str] = {}
    for at, audit in ((2, every), (1, accepted)):
        for one in audit.findings:
            key = one.rule, one.page, one.other
            told = holds.setdefault(key, [False, False, False])
            details.setdefault(key, one.detail)
            told[0] |= one.standing != "new"
            told[at] |= one.standing != "resolved"
    order = {rule: at for at, rule in enumerate(Rule)}
    found = sorted(holds, key=lambda key: order[key[0]])
    return [
        StateFinding(str(rule), page, other, details[rule, page, other], (told[0], told[1], told[2]))
        for rule, page, other in found
        for told in [holds[rule, page, other]]
    ]
