"""The links of an audit: today's as arrays, which proposed ones a site has after adoption, and details of each."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan
from sys import intern

import numpy as np

from internal_linker.insight.audit.records import Adoption, Limits, LinkAttributes, LinkDetails
from internal_linker.insight.audit.rules import AnchoredLinks
from internal_linker.insight.graph import SiteGraph, graph_of, pair_keys
from internal_linker.model.arrays import Bools, Ints, Vectors
from internal_linker.model.count_breakdown import CountBreakdown
from internal_linker.model.edges import COPIES, Edge, kind_of, strengths
from internal_linker.model.records import Collected
from internal_linker.model.runs import VersionRow
from internal_linker.text.words import normalise


@dataclass(frozen=True, slots=True)
class SiteLinks:
    """Today's links between the n pages of an audit."""

    graph: SiteGraph  # the links with redirects followed; those with nofollow, ugc or sponsored weigh 0
    anchored: AnchoredLinks  # the links with an anchor
    counts: Ints  # (n,) all links in each page's text, including links to other sites
    counted: CountBreakdown  # how the number of links of the graph comes about


def site_links(collected: Collected, rows: Mapping[str, int]) -> SiteLinks:
    """Return the collected links between the pages that have a row."""
    aliases, links = collected.aliases, collected.links
    sources = np.array([rows.get(aliases.get(link.source, link.source), -1) for link in links], np.int64)
    targets = np.array([rows.get(aliases.get(link.target, link.target), -1) for link in links], np.int64)
    followed = np.array([link.followed for link in links], np.float64)
    graph = graph_of(sources, targets, followed, len(rows))
    counts = np.bincount(sources[sources >= 0], minlength=len(rows))
    anchored = _anchored([link.anchor for link in links], sources, targets)
    known = (sources >= 0) & (targets >= 0)
    outside, own = int((~known).sum()), int((known & (sources == targets)).sum())
    repeated = len(links) - outside - own - len(graph.sources)
    parts = [
        (len(links), "links in the pages' texts"),
        (-outside, OUTSIDE),
        (-own, OWN),
        (-repeated, REPEATED),
    ]
    return SiteLinks(graph, anchored, counts, CountBreakdown(parts))


def _anchored(anchors: Sequence[str], sources: Ints, targets: Ints) -> AnchoredLinks:
    """Treat anchors that differ only in case, width or spacing as one; count each page's use of one once."""
    place: dict[str, int] = {"": -1}
    texts: list[str] = []
    numbers: dict[str, int] = {}
    for anchor in anchors:
        if anchor not in numbers:
            folded = normalise(anchor)
            if folded not in place:
                place[folded] = len(texts)
                texts.append(anchor)
            numbers[anchor] = place[folded]
    which = np.array([numbers[anchor] for anchor in anchors], np.int64)
    kept = np.flatnonzero((sources >= 0) & (targets >= 0) & (sources != targets) & (which >= 0))
    order = np.lexsort((which[kept], targets[kept], sources[kept]))
    ends = np.stack([sources[kept], targets[kept], which[kept]])[:, order]
    first = np.ones(len(order), np.bool_)
    first[1:] = (ends[:, 1:] != ends[:, :-1]).any(axis=0)
    one, two, anchor = ends[:, first]
    return AnchoredLinks(one, two, anchor, texts)


# The weight of a link without a score: the middle of the strengths, 0 to 1.
_UNSCORED = 0.5
# Decimal places of a score in files/links.csv; further ones mean nothing.
_DECIMALS = 4
# The minimum weight: a link without any strength is still a link.
_LEAST = 0.01
OUTSIDE = "with an end that is none of the audited pages"
OWN = "of a page to itself"
REPEATED = "repeated between the same two pages"
# Why a link is not adopted, in the order of the checks; 0: it is.
_OUTSIDE, _OWN, _REPEATED, _EXISTS, _REJECTED, _WEAK, _FULL = range(1, 8)
_WHY = {
    _OUTSIDE: OUTSIDE,
    _OWN: OWN,
    _REPEATED: REPEATED,
    _EXISTS: "that exist already",
    _REJECTED: "that editors rejected",
    _WEAK: "not strong enough for the text",
    _FULL: "from pages whose text can carry no more links",
}


@dataclass(frozen=True, slots=True)
class Proposals:
    """The proposed links of a site as they were stored."""

    run: str = ""  # the last run's id; "" if there is none
    rows: Iterable[VersionRow] = ()  # its rows
    # targets that editors rejected, by source
    rejected: Mapping[str, Collection[str]] = field(default_factory=dict)
    # edges that editors accepted or edited, by source
    accepted: Mapping[str, Sequence[Edge]] = field(default_factory=dict)
    adoption: Adoption = "in-text"  # which links are adopted
    # the stored links, whose strength covers the anchor, too; without one, a link's strength is its score's
    edges: Iterable[Edge] = ()


@dataclass(frozen=True, slots=True)
class Proposed:
    """Links that the last run proposed, and those that editors accepted."""

    adopted: SiteGraph  # the new links between the pages that are adopted; their weights are strengths
    in_text: SiteGraph  # those of them that go into a page's text
    candidates: SiteGraph  # all new links between the pages, adopted or not, without rejected ones
    strengths: Vectors  # (p,) strengths of all links of the run, 0 to 1; NaN without a score
    run: str  # the run's id; "" without links
    # keys of source and target of the adopted links, as the links name them
    written: Sequence[tuple[str, str]]
    counted: CountBreakdown  # how the number of `adopted` links comes about
    # the number of candidates for the text, for a place beside it, and of the others
    tiers: tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class _Links:
    ends: list[tuple[str, str]]  # keys of source and target, as the links name them
    scores: list[float]  # the scores of the run's links
    earlier: list[float]  # the strengths of the others
    # how many further links of the run are suggestions for queries, which have no page to link from
    queries: int


def proposed_links(
    proposals: Proposals,
    collected: Collected,
    rows: Mapping[str, int],
    existing: SiteGraph,
    *,
    limits: Limits,
    room: Ints,
) -> Proposed:
    """Decide which of the links of the last run and of editors are adopted.

    `room` is (n,) how many more links the pages' texts can carry.
    """
    links, n = _read(proposals, collected), len(rows)
    of_run, aliases = len(links.scores), collected.aliases
    sources = np.array([rows.get(aliases.get(source, source), -1) for source, _ in links.ends], np.int64)
    targets = np.array([rows.get(aliases.get(target, target), -1) for _, target in links.ends], np.int64)
    strong = np.concatenate([strengths(np.array(links.scores, np.float64)), np.array(links.earlier)])
    keys = sources * n + targets
    stored, beside_text = _as_stored(proposals.edges, keys, aliases, rows)
    strong = np.where(np.isnan(stored), strong, stored)
    weights = np.where(np.isnan(strong), _UNSCORED, np.maximum(strong, _LEAST))
    accepted = np.isin(keys, keys[of_run:]) & (sources >= 0) & (targets >= 0)
    why = _reasons(links, proposals, sources, targets, existing=existing, n=n)
    candidates = why == 0
    inline = candidates & (((weights >= limits.inline) & ~beside_text) | accepted)
    fits = inline & (_first(sources, weights, inline, accepted, room) | accepted)
    if proposals.adoption != "all":
        wanted = accepted if proposals.adoption == "accepted" else fits
        why[candidates & ~wanted] = _WEAK
        if proposals.adoption == "in-text":
            why[inline & ~fits] = _FULL
    adopted = why == 0

    def graph(which: Bools) -> SiteGraph:
        return graph_of(sources[which], targets[which], weights[which], n)

    beside = int((candidates & ~fits & (weights >= limits.sidebar)).sum())
    return Proposed(
        adopted=graph(adopted),
        in_text=graph(adopted & fits),
        candidates=graph(candidates),
        strengths=strong[:of_run],
        run=proposals.run if links.ends else "",
        written=[links.ends[at] for at in np.flatnonzero(adopted | (why == _OUTSIDE)).tolist()],
        counted=_counted(proposals, links, why),
        tiers=(int(fits.sum()), beside, int(candidates.sum() - fits.sum()) - beside),
    )


def _as_stored(
    edges: Iterable[Edge], keys: Ints, aliases: Mapping[str, str], rows: Mapping[str, int]
) -> tuple[Vectors, Bools]:
    """Return (p,) the stored strengths of links, NaN where unknown, and whether no good anchor is in the text.

    A link's key is row of the source x n + row of the target.
    """
    wanted, first = np.unique(keys, return_inverse=True)
    found, beside = np.full(len(wanted), np.nan), np.zeros(len(wanted), np.bool_)
    for edge in edges:
        source, target = ends_of(edge.source, edge.target, aliases, rows)
        key = source * len(rows) + target
        at = int(np.searchsorted(wanted, key))
        if source >= 0 and target >= 0 and at < len(wanted) and wanted[at] == key:
            chosen = edge.chosen
            # The text may be too full for a link whose words are good enough: that is counted here, too.
            good = chosen.verbatim and not chosen.quality < edge.inline
            found[at] = max(edge.strength, chosen.quality) if good else edge.strength
            beside[at] = bool(chosen.text) and not edge.anchor and edge.tier != "inline" and not good
    return found[first], beside[first]


def _read(proposals: Proposals, collected: Collected) -> _Links:
    found = _Links([], [], [], 0)
    queries = 0
    # Interning: millions of equal keys take the memory of one.
    keys = {page.key: page.key for page in collected.pages}
    for item in (row.recommendation for row in proposals.rows):
        source = item.source.key
        if not item.source.is_page:
            queries += len(item.links)
            continue
        for link in item.links:
            target = link.target.key
            found.ends.append((keys.get(source, source), keys.get(target, target)))
            found.scores.append(round(link.target.score, _DECIMALS))
    for edges in proposals.accepted.values():
        for edge in edges:
            found.ends.append((edge.source, edge.target))
            found.earlier.append(edge.strength)
    return _Links(found.ends, found.scores, found.earlier, queries)


def _reasons(
    links: _Links, proposals: Proposals, sources: Ints, targets: Ints, *, existing: SiteGraph, n: int
) -> Ints:
    """Return (p,) why each link is no candidate, one of `_WHY`; 0: it is one."""
    keys = sources * n + targets
    outside = (sources < 0) | (targets < 0)
    again = np.ones(len(keys), np.bool_)
    again[np.unique(keys, return_index=True)[1]] = False
    rejected = [target in proposals.rejected.get(source, ()) for source, target in links.ends]
    checks = {
        _OUTSIDE: outside,
        _OWN: sources == targets,
        _REPEATED: again,
        _EXISTS: np.isin(keys, pair_keys(existing, n)),
        _REJECTED: np.array(rejected, np.bool_),
    }
    why: Ints = np.select(list(checks.values()), list(checks), 0).astype(np.int64)
    return why


def _first(sources: Ints, weights: Vectors, which: Bools, accepted: Bools, room: Ints) -> Bools:
    """Return (p,) which links are among the first that their pages' texts have room for, the strongest first."""
    rows = np.flatnonzero(which)
    rows = rows[np.lexsort((-weights[rows], ~accepted[rows], sources[rows]))]
    starts = np.searchsorted(sources[rows], sources[rows])
    found = np.zeros(len(which), np.bool_)
    found[rows] = np.arange(len(rows)) - starts < room[sources[rows]]
    return found


def _counted(proposals: Proposals, links: _Links, why: Ints) -> CountBreakdown:
    of_run = why[: len(links.scores)]
    names = _WHY | ({_WEAK: "that no editor accepted"} if proposals.adoption == "accepted" else {})
    parts = [
        (len(of_run) + links.queries, f"links of run {proposals.run}" if proposals.run else "links of runs")
    ]
    parts += [(-links.queries, "suggestions for queries without a page")]
    parts += [(-int((of_run == reason).sum()), name) for reason, name in names.items()]
    return CountBreakdown([*parts, (int((why[len(of_run) :] == 0).sum()), "accepted in earlier runs")])


# A link in a page's text that does not lead to a parent folder.
_IN_TEXT = "contextual"
_APPROVED = ("accepted", "edited")


def link_details(
    graphs: Iterable[SiteGraph], collected: Collected, rows: Mapping[str, int], edges: Iterable[Edge]
) -> LinkDetails:
    """Return the details of these graphs' links, by the rows of source and target."""
    wanted = {
        ends for graph in graphs for ends in zip(graph.sources.tolist(), graph.targets.tolist(), strict=True)
    }
    aliases = collected.aliases
    found: dict[tuple[int, int], LinkAttributes] = {}
    for link in collected.links:
        ends = ends_of(link.source, link.target, aliases, rows)
        if ends in wanted and (ends not in found or (link.followed and not found[ends].followed)):
            upwards = kind_of(link.source, link.target) == "taxonomy"
            found[ends] = LinkAttributes(
                "taxonomy" if upwards else _IN_TEXT, link.anchor, link.followed, "live"
            )
    for edge in edges:
        ends = ends_of(edge.source, edge.target, aliases, rows)
        if ends in wanted and edge.kind not in COPIES:
            found[ends] = _detail(edge, found.get(ends))
    return found


def ends_of(source: str, target: str, aliases: Mapping[str, str], rows: Mapping[str, int]) -> tuple[int, int]:
    """Return the rows of a link's pages, -1 for a page that is not audited."""
    return rows.get(aliases.get(source, source), -1), rows.get(aliases.get(target, target), -1)


def _detail(edge: Edge, today: LinkAttributes | None) -> LinkAttributes:
    approved = edge.verdict in _APPROVED
    return LinkAttributes(
        kind=today.kind if today else edge.kind,
        anchor=today.anchor if today else edge.chosen.text,
        followed=today.followed if today else True,
        status="live" if today else edge.status,
        tier=edge.tier,
        # Few distinct values for millions of links.
        model=intern(edge.encoder),
        run=intern(edge.last_run),
        inline=edge.inline,
        sidebar=edge.sidebar,
        approver=intern(edge.by) if approved else "",
        approved_at=edge.at if approved else "",
    )


def number(value: float) -> float | None:
    """Return a figure, None if it is unknown."""
    return None if isnan(value) else value
