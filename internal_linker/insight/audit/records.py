"""The records of an audit: the figures of a site's link graph, its rules, and their findings."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from math import nan
from typing import TYPE_CHECKING, Literal, Self

import numpy as np

from internal_linker.insight.graph import SiteGraph
from internal_linker.model.arrays import Ints, Vectors
from internal_linker.model.count_breakdown import CountBreakdown
from internal_linker.model.edges import Status, Tier, score_of
from internal_linker.model.link_density import LinkDensity
from internal_linker.model.results import ResultTable

if TYPE_CHECKING:
    from pandas import DataFrame

Adoption = Literal["accepted", "in-text", "all"]
"""Which proposed links are adopted: those that editors accepted; these and the ones that are strong enough for the
text; or all but rejected ones."""
ADOPTIONS: tuple[Adoption, ...] = "accepted", "in-text", "all"
Severity = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = "error", "warning", "note"
FindingStatus = Literal["resolved", "stays", "new"]
"""What adoption of the proposed links does to a finding: resolves it, leaves it, or causes it."""


@dataclass(frozen=True, slots=True)
class GraphFigures:
    """The figures of n pages in one state of their links."""

    inlinks: Ints  # (n,) number of pages that link to each page, with links that pass weight
    outlinks: Ints  # (n,) number of pages that each page links to
    depth: Ints  # (n,) clicks from the home page; -1 for an unreachable page
    pagerank: Vectors  # (n,) weighted PageRank; sums to 1
    orphans: Ints  # rows of the pages that no other page links to, ascending, without the home page


RowsAre = Literal["pages", "links"]
MEASURES: Mapping[str, tuple[str, int, RowsAre]] = {
    "pages": ("Pages", 0, "pages"),
    "links": ("Links", 0, "links"),
    "unfollowed": ("Links with nofollow, ugc or sponsored", 0, "links"),
    "links-per-page": ("Links per page, mean", 2, "pages"),
    "orphans": ("Orphans", 0, "pages"),
    "few-inlinks": ("Pages with fewer than {min_inlinks} inlinks", 0, "pages"),
    "no-outlinks": ("Pages without links to other pages", 0, "pages"),
    "unreachable": ("Pages unreachable from the home page", 0, "pages"),
    "depth": ("Clicks from the home page, mean", 2, "pages"),
    "max-depth": ("Clicks from the home page, maximum", 0, "pages"),
    "deep": ("Pages deeper than {clicks} clicks", 0, "pages"),
    "gini": ("Gini of PageRank", 3, "pages"),
    "top-share": ("PageRank share of the top 10% of pages", 3, "pages"),
    "reciprocal": ("Pairs that link to each other", 0, "links"),
    "crossing": ("Share of links across clusters", 3, "links"),
    "groups": ("Separate groups of pages", 0, "pages"),
}
"""The figures of a site by key: the name for people, decimal places, and what the rows behind it are.

Those behind a mean or share are the pages that make it up.
"""


class Rule(StrEnum):
    """The rules of an audit, in the order of the findings' sheets; the values are the names in --fail-on."""

    severity: Severity  # how bad a finding is
    message: str  # what a finding means

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
        "pages that link to each other, but that no other page links to",
    )
    UNREACHABLE = "unreachable", "warning", "no path of links leads here from the home page"
    DEEP = "deep", "note", "many clicks from the home page"
    UNDER_LINKED = "under-linked", "note", "fewer pages than min_inlinks link here"
    DEAD_END = "dead-end", "note", "links to no other page"
    DENSE = "dense", "warning", "more links than max_links_on_page or max_links_per_100_words allows"
    HUB = "hub", "note", "receives a large share of all links"
    RECIPROCAL = "reciprocal", "note", "two pages that link to each other"
    AMBIGUOUS_ANCHOR = "ambiguous-anchor", "warning", "one anchor text for several targets"
    REPEATED_ANCHOR = "repeated-anchor", "warning", "the same anchor text in most links to one target"
    MISLEADING_ANCHOR = "misleading-anchor", "warning", "the anchor names a page other than the link's target"
    DUPLICATE = "duplicate", "warning", "nearly the same text as another page, which should be kept"
    MULTIPLIED_LINKS = "multiplied-links", "warning", "has many more links than at an earlier run"
    NEAR_THRESHOLD = (
        "near-threshold",
        "note",
        "a proposed link whose score is close to a threshold of the tiers",
    )


# Rules about the page that links lead to, and rules about the page that has them; the others are about both.
OF_TARGETS = frozenset(
    {Rule.ORPHAN, Rule.UNREACHABLE, Rule.DEEP, Rule.UNDER_LINKED, Rule.HUB, Rule.REPEATED_ANCHOR}
)
OF_SOURCES = frozenset(
    {
        *(Rule.BROKEN_TARGET, Rule.REDIRECTED_TARGET, Rule.COPY_TARGET, Rule.NOINDEX_TARGET),
        *(Rule.DEAD_END, Rule.DENSE, Rule.MISLEADING_ANCHOR),
    }
)


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding of an audit."""

    rule: Rule  # the rule that the page or link breaks
    page: str  # the page's URL in the user's own spelling
    detail: str  # one sentence about it
    other: str = ""  # URL of a second page, or ""
    standing: FindingStatus = "stays"  # what adoption of the proposed links does to it

    @property
    def severity(self) -> Severity:
        """How bad the finding is."""
        return self.rule.severity


@dataclass(frozen=True, slots=True)
class SectionMatrix:
    """The number of links from section to section."""

    names: Sequence[str]  # the s largest sections, largest first; the last one is "other" if there are more
    before: Ints  # (s, s) today's links from the row's section to the column's
    after: Ints  # (s, s) links after adoption of the proposed ones


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits beyond which an audit reports a finding."""

    min_inlinks: int = 2  # number of pages that should link to every page
    # inlinks beyond which a page is a hub, as a multiple of the mean; 0: no page is a hub
    max_inlinks: float = 10.0
    # clicks from the home page beyond which a page is deep. Crawlers seldom visit pages deeper than 3 or 4 clicks,
    # and people hardly ever do.
    clicks: int = 4
    # links on a page and per 100 words of its text. Google once stopped reading after 100, and readers still do;
    # every twentieth word is many, as in Wikipedia's leads.
    density: LinkDensity = field(default_factory=LinkDensity)
    same_anchor: int = 3  # links to one target with the same anchor that are fine
    sidebar: float = 0.65  # strength from which a proposed link is good for a sidebar, 0 to 1
    inline: float = 0.80  # strength from which a proposed link is good for the text, 0 to 1


@dataclass(frozen=True, slots=True)
class ProposedLink:
    """A proposed link as people read it."""

    # source, target: rows of the pages
    source: int
    target: int
    strength: float  # 0 to 1
    tier: Tier  # where the link belongs
    anchor: str = ""  # its text, "" if there is none
    # the sentence around the anchor, or the paragraph in which the link fits best; "" if unknown
    sentence: str = ""
    # the reason in one or two sentences, after a warning if the anchor can't be linked in the text
    why: str = ""
    status: Status = "proposed"  # "proposed", "accepted" or "edited"


@dataclass(frozen=True, slots=True)
class ActionLink:
    """A link of an action."""

    source: str
    source_title: str
    target: str
    target_title: str
    anchor: str
    sentence: str
    score: int | None
    tier: str
    why: str


@dataclass(frozen=True, slots=True)
class Action:
    """Something useful to do; `rule` is "" for a strong link that mends nothing."""

    rule: str  # the rule whose findings it mends
    severity: Severity  # how bad the findings are that it mends
    pages: int  # how many pages it helps
    what: str  # what to do, in one sentence without a full stop
    detail: str  # why, in a sentence or two
    where: tuple[str, ...]  # URLs of the pages to change, if `what` doesn't name them
    links: tuple[ActionLink, ...]  # the links to add


@dataclass(frozen=True, slots=True)
class LinkAttributes:
    """A link of an audit; "" and NaN where something is unknown, as it is for links that no run proposed."""

    kind: str = ""  # "contextual", "taxonomy" or "recommendation"
    anchor: str = ""  # its text, or the proposed one
    followed: bool = True  # whether it passes weight
    status: str = ""  # "proposed", "accepted", "edited", "live", ...
    tier: str = ""  # "inline", "sidebar" or "review"
    model: str = ""  # provider, model and recipe of the vectors
    run: str = ""  # the run that proposed it last
    # inline, sidebar: the thresholds of the tiers at that time, 0 to 1
    inline: float = nan
    sidebar: float = nan
    approver: str = ""  # who accepted it
    approved_at: str = ""  # when, ISO 8601, UTC


UNKNOWN = LinkAttributes()

LinkDetails = Mapping[tuple[int, int], LinkAttributes]


@dataclass(frozen=True, slots=True)
class Audit:
    """The result of an audit; lists by page are in the order of the n pages."""

    run_id: str  # the run that proposed the links; "" without proposed links
    site: str  # the site's host, with the folder if the audit is of one
    home: int  # row of the home page; -1: it is not among the pages, and click figures are unknown
    # whether any link between the pages is known today; if not, figures of links are unknown
    links_known: bool
    urls: Sequence[str]  # n URLs in the user's own spelling
    titles: Sequence[str]  # n titles, else H1s, else ""
    sections: Sequence[str]  # n folders of the paths ("/blog"); "/" for pages without a folder
    clusters: Sequence[str]  # n names of clusters; "" for a page in none
    # the clusters, largest first, with the page of the highest PageRank today, and the links between their pages, and
    # between these and other clusters in either direction, before and after adoption
    cluster_links: ResultTable
    clusters_by: str  # what pages were grouped by: "content", "title", "h1" or "links"
    # the figures of the site by `key`, with `name`, `decimals`, and `before` and `after` adoption; NaN if unknown
    summary: "DataFrame"
    # before, after: figures of today's links, and of these and the adopted ones
    before: GraphFigures
    after: GraphFigures
    after_by: Adoption  # which of the proposed links are adopted "after"
    # existing, proposed: today's links, and the adopted ones that don't exist yet
    existing: SiteGraph
    proposed: SiteGraph
    candidates: SiteGraph  # all proposed links that don't exist yet and that no editor rejected
    # counted_today, counted_new: how the numbers of `existing` and `proposed` links come about
    counted_today: CountBreakdown
    counted_new: CountBreakdown
    # the number of candidates for the text, for a place beside it, and of the others
    tiers: tuple[int, int, int]
    findings: Sequence[Finding]  # the findings by rule, then page
    # (bins + 1) edges from 0 to 1 and (bins) counts of the proposed links' strengths
    histogram: tuple[Vectors, Ints]
    thresholds: tuple[float, float]  # strengths from which a link is good for a sidebar, and for the text
    section_matrix: SectionMatrix  # the number of links between sections
    # what is known about single links, by the rows of source and target
    details: LinkDetails = field(default_factory=dict)
    links: Sequence[ProposedLink] = ()  # the proposed links that are shown, strongest first
    actions: Sequence[Action] = ()  # the most useful actions, best first
    # what pages would earn from queries at better positions, the largest gain first; None: no search data. Counts are
    # those of 28 days; sources are up to three pages that should link to the page and don't yet, the best first.
    opportunities: ResultTable | None = None

    @property
    def adopted_links(self) -> str:
        """Which links the site has after adoption, for people."""
        if self.after_by == "all":
            every = f"all links of run {self.run_id} that no editor rejected, and " if self.run_id else ""
            return f"{every}the links that editors accepted"
        if self.after_by == "accepted" or not self.run_id:
            return "the links that editors accepted"
        return (
            f"the links that editors accepted, and those of run {self.run_id} for the text, with a score of "
            f"{score_of(self.thresholds[1])} or more, but no more on a page than suit the length of its text"
        )

    def known(self, figures: Ints | Vectors) -> Ints | Vectors:
        """Return figures of links by page, (n,); NaN if no links are known today."""
        return figures if self.links_known else np.full(len(figures), np.nan)

    @property
    def by_rule(self) -> Mapping[Rule, Sequence[Finding]]:
        """The findings by rule, in the order of the rules."""
        found: dict[Rule, list[Finding]] = {}
        for one in self.findings:
            found.setdefault(one.rule, []).append(one)
        return found

    @property
    def standings(self) -> Mapping[tuple[Rule, FindingStatus], int]:
        """How many findings of each rule adoption resolves, leaves or causes; 0 for those that are not there."""
        return Counter((one.rule, one.standing) for one in self.findings)

    @property
    def unknown(self) -> frozenset[Rule]:
        """The rules that could not be checked."""
        if not self.links_known:
            return frozenset(Rule) - {Rule.DUPLICATE}
        return frozenset() if self.home >= 0 else frozenset({Rule.UNREACHABLE, Rule.DEEP})


def finding_status(before: bool, after: bool) -> FindingStatus:
    """Return what adoption does to a condition that holds before it, after it, or both."""
    return "new" if not before else "stays" if after else "resolved"
