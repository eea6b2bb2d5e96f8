"""An audit in three states of the links: today, with the accepted, with all proposed ones; each number has its rows."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from internal_linker.insight.audit.actions import OPPORTUNITIES, RULE, SOURCES_SHOWN
from internal_linker.insight.audit.records import (
    MEASURES,
    SEVERITIES,
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
from internal_linker.model.results import Column, Columns, Result, columns_of
from internal_linker.model.sections import grouped

if TYPE_CHECKING:
    from pandas import DataFrame

State = Literal["today", "accepted", "all"]
STATES: tuple[State, ...] = "today", "accepted", "all"
ORDER = RULE
_ENDS = "source", "target"
ROWS: Mapping[str, RowsAre] = {key: rows for key, (_, _, rows) in MEASURES.items()}
Sort = Literal["", "url", "inlinks", "outlinks", "depth", "pagerank"]


def _each_state(*types: str) -> dict[str, Any]:
    """Return the JSON schema of a list with a value for each state."""
    count = len(STATES)
    return {"type": "array", "items": {"type": [*types]}, "minItems": count, "maxItems": count}


RULE_COLUMN = Column("rule", "Finding", 24)
SEVERITY = Column("severity", "Severity", 10, kind={"type": "string", "enum": [*SEVERITIES]})
PLACE = (
    Column("page", "Page", 50, "link"),
    Column("other", "Other page", 50, "link"),
    Column("detail", "Detail", 70),
)
STATE_FINDINGS = RULE_COLUMN, *PLACE, Column("holds", "Holds", kind=_each_state("boolean"))
STATE_RULES = (
    *(RULE_COLUMN, SEVERITY, Column("message", "Meaning", 60)),
    Column("counts", "Findings", kind=_each_state("integer")),
)
STATE_MEASURES = (
    Column("key", "Key"),
    Column("name", "Figure", 46),
    Column("decimals", "Decimals", kind="integer"),
    Column("values", "Values", kind=_each_state("number", "null")),
    Column("rows_are", "Rows behind it", kind={"type": "string", "enum": [*get_args(RowsAre)]}),
)
STATE_OPPORTUNITIES = (
    *OPPORTUNITIES[:-SOURCES_SHOWN],
    Column("title", "Title"),
    Column("sources", "Sources", kind={"type": "array", "items": {"type": "string"}}),
)


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
    measures: "DataFrame"  # `STATE_MEASURES`: the figures of the site in each of `STATES`, None where unknown
    findings: "DataFrame"  # `STATE_FINDINGS`: the findings by rule, and whether they hold in each of `STATES`
    actions: Sequence[Action]  # the most useful actions, best first
    # `STATE_OPPORTUNITIES`: what pages would earn at better positions, the largest gain first; sources are URLs, the
    # best first; empty without search data
    opportunities: "DataFrame"

    def tables(self) -> dict[str, Columns]:
        """Return `actions`, `measures`, `findings` and `opportunities`."""
        return {
            "actions": columns_of(self.actions, "what", "pages", "rule", "detail"),
            "measures": self.measures[["name", "values"]].to_dict("list"),
            "findings": self.findings.to_dict("list"),
            "opportunities": self.opportunities.to_dict("list"),
        }

    @property
    def rules(self) -> list[dict[str, Any]]:
        """The rules that have findings in any state, errors first, as `STATE_RULES` has them."""
        holds = np.array([*self.findings["holds"]], np.int64).reshape(-1, len(STATES))
        rules = self.findings["rule"].to_numpy()
        found = [
            {
                "rule": str(rule),
                "severity": rule.severity,
                "message": rule.message,
                "counts": holds[rules == str(rule)].sum(axis=0).tolist(),
            }
            for rule in Rule
            if (rules == str(rule)).any()
        ]
        order: Sequence[Severity] = ("error", "warning", "note")
        return sorted(found, key=lambda one: order.index(one["severity"]))

    @property
    def section_matrix(self) -> tuple[Sequence[str], Mapping[State, Ints]]:
        """The names of s sections, the largest first, and (s, s) links from row to column in each state."""
        names, labels = self._grouped
        return names, {state: between(self.graphs[state], labels, len(names)) for state in STATES}

    def pages(self, state: State, key: str = "", sort: Sort = "", section: str = "") -> Ints:
        """Return the rows of the pages behind a figure.

        Args:
            key: the figure; "": all pages.
            sort: by which of their figures; "": as suits the figure.
            section: only pages of this section.

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
        return rows

    def page_values(self, state: State, rows: Ints) -> Columns:
        """Return pages in a state; `depth` is -1 for an unreachable page, `pagerank` a multiple of the mean."""
        figures = self.figures[state]
        texts = {"url": self.urls, "title": self.titles, "section": self.sections, "cluster": self.clusters}
        return {
            **{name: [values[row] for row in rows.tolist()] for name, values in texts.items()},
            **{name: getattr(figures, name)[rows] for name in ("inlinks", "outlinks", "depth")},
            "pagerank": figures.pagerank[rows] * len(self.urls),
        }

    def links(self, state: State, key: str = "", ends: tuple[str, str] = ("", "")) -> Ints:
        """Return the places in the graph of the links behind a figure or a cell of the matrix of sections.

        New links, which are not on the site today, come first, the strongest first.

        Args:
            key: the figure; "": all links.
            ends: only links from and to these sections, as the matrix names them; "": any.

        Raises:
            ConfigurationError: there is no such figure of links, or no such section.
        """
        graph = self.graphs[state]
        if key and ROWS.get(key) != "links":
            raise ConfigurationError(f"There is no figure of links named '{key[:40]}'.")
        shown = self._links_of(graph, key)
        names, labels = self._grouped
        for name, rows in zip(ends, (graph.sources, graph.targets), strict=True):
            if name:
                if name not in names:
                    raise ConfigurationError(f"There is no section '{name[:100]}' in the matrix.")
                shown &= labels[rows] == list(names).index(name)
        places = np.flatnonzero(shown)
        return places[np.lexsort((-graph.weights[places], ~self.new[state][places]))]

    def link_values(self, state: State, places: Ints) -> Columns:
        """Return links by their places in the graph of a state; `score` is that of a `new` link, else None."""
        graph, new = self.graphs[state], self.new[state][places].tolist()
        ends = graph.sources[places].tolist(), graph.targets[places].tolist()
        scores = map(score_of, graph.weights[places].tolist())
        return {
            **{name: [self.urls[row] for row in rows] for name, rows in zip(_ENDS, ends, strict=True)},
            **{
                f"{name}_title": [self.titles[row] for row in rows]
                for name, rows in zip(_ENDS, ends, strict=True)
            },
            "new": new,
            "score": [score if is_new else None for score, is_new in zip(scores, new, strict=True)],
        }

    def findings_in(self, state: State, rule: str = "") -> "DataFrame":
        """Return the findings of a rule ("": of all) that hold in a state."""
        holds = self.findings["holds"].str[STATES.index(state)].astype(bool)
        return self.findings[holds & (self.findings["rule"] == rule) if rule else holds]

    @cached_property
    def new(self) -> Mapping[State, Bools]:
        """Which links in the graph of each state are not on the site today."""
        keys = {state: pair_keys(graph, len(self.urls)) for state, graph in self.graphs.items()}
        return {state: ~np.isin(some, keys["today"]) for state, some in keys.items()}

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


def _opportunities(every: Audit) -> "DataFrame":
    titles = dict(zip(every.urls, every.titles, strict=True))
    rows = []
    for page, query, *figures in every.opportunities.rows() if every.opportunities else ():
        sources = [source for source in figures[-SOURCES_SHOWN:] if source]
        rows.append((page, query, *figures[:-SOURCES_SHOWN], titles[str(page)], sources))
    return to_state_table(STATE_OPPORTUNITIES, rows)


def _measures(accepted: Audit, every: Audit) -> "DataFrame":
    middle = accepted.summary.set_index("key")["after"]
    rows = (
        (
            each.key,
            each.name,
            each.decimals,
            [*map(_known, (each.before, middle.get(each.key, np.nan), each.after))],
            ROWS[each.key],
        )
        for each in every.summary.itertuples()
    )
    return to_state_table(STATE_MEASURES, rows)


def to_state_table(
    columns: Sequence[Column], rows: Iterable[Sequence[Any] | Mapping[str, Any]]
) -> "DataFrame":
    """Return a table of `AuditStates`, from rows in the order of its columns or by their keys."""
    from pandas import DataFrame

    return DataFrame([*rows], columns=[column.key for column in columns])


def _known(figure: float) -> float | None:
    return float(figure) if isfinite(figure) else None


def _findings(accepted: Audit, every: Audit) -> "DataFrame":
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
    rows = (
        (str(rule), page, other, details[rule, page, other], holds[rule, page, other])
        for rule, page, other in sorted(holds, key=lambda key: order[key[0]])
    )
    return to_state_table(STATE_FINDINGS, rows)
