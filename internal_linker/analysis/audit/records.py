"""The records of an audit: a site's link graph, its figures, and what is wrong with it."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, Protocol, Self

from internal_linker.analysis.graph.site_graph import SiteGraph
from internal_linker.core.arrays import Ints, Vectors

Severity = Literal["error", "warning", "note"]
Standing = Literal["mended", "stays", "new"]
"""What becomes of a finding when the proposed links are adopted: gone, still there, or caused by them."""


@dataclass(frozen=True, slots=True)
class GraphFigures:
    """What one state of the links means for the n pages.

    Attributes:
        inlinks: (n,) pages that link to each.
        outlinks: (n,) pages that each links to.
        depth: (n,) clicks from the home page; -1 where it can't be reached.
        pagerank: (n,) weighted PageRank; sums to 1.
        orphans: rows of the pages that no other links to, ascending, without the home page.
        gini: concentration of the PageRank, 0 (all pages equal) to below 1 (one has it all).
        top_share: the share of the PageRank that the best tenth of the pages holds, 0 to 1.
        mean_depth: mean of `depth` where the page can be reached; 0 where none is.
        unreachable: pages that can't be reached from the home page.
        reciprocal: pairs of pages that link to each other.
        components: groups of pages that no link leads into or out of (weakly connected components).
        cross_topic: the share of the links that lead from one topic to another, 0 to 1; 0 without links.
    """

    inlinks: Ints
    outlinks: Ints
    depth: Ints
    pagerank: Vectors
    orphans: Ints
    gini: float
    top_share: float
    mean_depth: float
    unreachable: int
    reciprocal: int
    components: int
    cross_topic: float


class Rule(StrEnum):
    """What an audit looks for, in the order of the findings' sheets; the values are the names that users give.

    Attributes:
        severity: how bad it is.
        message: what it means.
    """

    severity: Severity
    message: str

    def __new__(cls, name: str, severity: Severity, message: str) -> Self:
        """Name the rule."""
        member = str.__new__(cls, name)
        member._value_ = name
        member.severity, member.message = severity, message
        return member

    BROKEN_TARGET = "broken-target", "error", "links to a page that answers with an error"
    REDIRECTED_TARGET = "redirected-target", "warning", "links to a page that redirects to another"
    COPY_TARGET = "copy-target", "warning", "links to a page that is canonicalised to another"
    NOINDEX_TARGET = "noindex-target", "warning", "links to a page that is not indexable"
    ORPHAN = "orphan", "error", "no other page links here"
    CLOSED_CIRCLE = (
        "closed-circle",
        "warning",
        "pages that link to each other, but to which no other page links",
    )
    UNREACHABLE = "unreachable", "warning", "no path of links leads here from the home page"
    DEEP = "deep", "note", "many clicks from the home page"
    UNDER_LINKED = "under-linked", "note", "fewer pages than min_inlinks link here"
    DEAD_END = "dead-end", "note", "links to no other page"
    DENSE = "dense", "warning", "more links than the page's length carries"
    HUB = "hub", "note", "receives a large share of all links"
    RECIPROCAL = "reciprocal", "note", "two pages that link to each other"
    AMBIGUOUS_ANCHOR = "ambiguous-anchor", "warning", "one anchor text for several targets"
    REPEATED_ANCHOR = "repeated-anchor", "warning", "one anchor text over and over for one target"
    MISLEADING_ANCHOR = "misleading-anchor", "warning", "the anchor names another page than the link's target"
    DUPLICATE = "duplicate", "warning", "nearly the same text as the page to keep"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a person should look at.

    Attributes:
        rule: the rule that the page or link breaks.
        page: the page's URL as the user writes it.
        detail: one sentence.
        other: a second page's URL, or "".
        standing: what the proposed links do about it.
    """

    rule: Rule
    page: str
    detail: str
    other: str = ""
    standing: Standing = "stays"

    @property
    def severity(self) -> Severity:
        """How bad it is."""
        return self.rule.severity


@dataclass(frozen=True, slots=True)
class Measure:
    """A row of the before/after table; a figure is shown with so many `decimals`, and NaN means "none"."""

    name: str
    before: float
    after: float
    decimals: int = 0


@dataclass(frozen=True, slots=True)
class Topic:
    """A community of pages, in today's links and after adoption.

    Attributes:
        name: distinctive words of its pages' titles.
        pages: how many there are.
        hub: row of its page with the highest PageRank today.
        inner: links between its pages, before and after.
        outer: links between its pages and those of other topics, either way, before and after.
    """

    name: str
    pages: int
    hub: int
    inner: tuple[int, int]
    outer: tuple[int, int]


@dataclass(frozen=True, slots=True)
class SectionMatrix:
    """How many links lead from section to section.

    Attributes:
        names: the s sections of most pages, largest first; the last is "other" where there are more.
        before: (s, s) today's links, from the row's section to the column's.
        after: (s, s) the same with the proposed links.
    """

    names: Sequence[str]
    before: Ints
    after: Ints


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits beyond which an audit reports a finding.

    Attributes:
        min_inlinks: pages that should link to every page.
        max_inlinks: links of a page that is no hub yet, as a multiple of the mean; 0: no page is a hub.
        clicks: from the home page; beyond them a page is deep. Crawlers come seldom to what lies deeper than 3
            or 4, and visitors hardly at all.
        links: on one page. Beyond 100 Google once stopped reading, and readers do still.
        links_per_100_words: on one page; every twentieth word is many, as Wikipedia's leads have it.
        same_anchor: links to one target with one text that nobody minds.
        sidebar: strength, 0 to 1, from which a proposed link is good for a sidebar.
        inline: the same for a link in the text.
    """

    min_inlinks: int = 2
    max_inlinks: float = 10.0
    clicks: int = 4
    links: int = 100
    links_per_100_words: float = 5.0
    same_anchor: int = 3
    sidebar: float = 0.65
    inline: float = 0.80


@dataclass(frozen=True, slots=True)
class Audit:
    """All that an audit found; lists by page are in the order of the n pages.

    Attributes:
        run_id: the run that proposed the links; "" where none are proposed.
        site: the site's host.
        home: row of the home page.
        home_by: how it was found: "option", "address", or "links" (it is but the page with most in-links).
        urls: (n) as the user writes them.
        titles: (n) title, else H1, else "".
        sections: (n) first part of the path ("/blog"); "/" for pages that have nothing beneath it.
        topics: (n) name of each page's topic, one of `communities`; "" for a page without words or links.
        communities: the topics, largest first.
        topics_by: how they were found: "links", "vectors" or "titles".
        summary: the before/after table.
        before, offered, after: figures of today's links, of the proposed links alone, and of both.
        existing, proposed: the links; a proposed link that stands already is in `existing` only.
        findings: by severity, then rule, then page.
        histogram: (bins + 1) edges from 0 to 1 and (bins) counts of the proposed links' strengths.
        thresholds: strengths from which a link is a sidebar's, and an inline one.
        section_matrix: links between sections.
    """

    run_id: str
    site: str
    home: int
    home_by: str
    urls: Sequence[str]
    titles: Sequence[str]
    sections: Sequence[str]
    topics: Sequence[str]
    communities: Sequence[Topic]
    topics_by: str
    summary: Sequence[Measure]
    before: GraphFigures
    offered: GraphFigures
    after: GraphFigures
    existing: SiteGraph
    proposed: SiteGraph
    findings: Sequence[Finding]
    histogram: tuple[Vectors, Ints]
    thresholds: tuple[float, float]
    section_matrix: SectionMatrix


class AuditSink(Protocol):
    """A place that keeps an audit: a workbook, a report, a graph file."""

    name: str
    """As a person knows it: "files/audit.xlsx"."""

    def write(self, audit: Audit) -> Sequence[str]:
        """Replace the last one; the answer says in sentences what was unusual.

        Raises:
            OutputError: it can't be written.
        """


def standing(before: bool, after: bool) -> Standing:
    """What becomes of something that holds before or after adoption, or both."""
    return "new" if not before else "stays" if after else "mended"
