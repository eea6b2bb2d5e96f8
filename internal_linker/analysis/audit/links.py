"""The links of an audit as arrays: graphs, anchors and counts of today's and proposed links."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from internal_linker.analysis.audit.rules_anchors import AnchoredLinks
from internal_linker.analysis.graph.site_graph import SiteGraph, graph_of, new_only
from internal_linker.core.arrays import Ints, Vectors
from internal_linker.core.edges import strengths
from internal_linker.core.records import Collected
from internal_linker.core.runs import VersionRow
from internal_linker.text.words import normalise

# The weight of a link without a score: the middle of the strengths, 0 to 1.
_UNSCORED = 0.5
# Decimal places of a score in files/links.csv; further ones mean nothing.
_DECIMALS = 4
# The minimum weight: a link without any strength is still a link.
_LEAST = 0.01


@dataclass(frozen=True, slots=True)
class SiteLinks:
    """Today's links between the n pages of an audit.

    Attributes:
        graph: the links with redirects followed; those with nofollow, ugc or sponsored weigh 0.
        anchored: the links with an anchor.
        counts: (n,) all links in each page's text, including links to other sites.
    """

    graph: SiteGraph
    anchored: AnchoredLinks
    counts: Ints


@dataclass(frozen=True, slots=True)
class Proposed:
    """Links that the last run proposed.

    Attributes:
        graph: the new links between the pages; their weights are strengths.
        strengths: (p,) strengths of all proposed links, 0 to 1; NaN without a score.
        run: the run's id; "" without links.
        written: keys of source and target as the links name them.
    """

    graph: SiteGraph
    strengths: Vectors
    run: str
    written: Sequence[tuple[str, str]]


def site_links(collected: Collected, rows: Mapping[str, int]) -> SiteLinks:
    """Return the collected links between the pages that have a row."""
    aliases, links = collected.aliases, collected.links
    sources = np.array([rows.get(aliases.get(link.source, link.source), -1) for link in links], np.int64)
    targets = np.array([rows.get(aliases.get(link.target, link.target), -1) for link in links], np.int64)
    followed = np.array([link.followed for link in links], np.float64)
    graph = graph_of(sources, targets, followed, len(rows))
    counts = np.bincount(sources[sources >= 0], minlength=len(rows))
    anchored = _anchored([link.anchor for link in links], sources, targets, len(rows))
    return SiteLinks(graph, anchored, counts)


def proposed_links(
    run: str,
    proposed: Iterable[VersionRow],
    collected: Collected,
    rows: Mapping[str, int],
    existing: SiteGraph,
) -> Proposed:
    """Return a run's links between the pages that have a row, without those that exist already."""
    aliases, written, scores = collected.aliases, list[tuple[str, str]](), list[float]()
    # Interning: millions of equal keys take the memory of one.
    keys = {page.key: page.key for page in collected.pages}
    for item in (row.recommendation for row in proposed):
        source = item.source.key
        # A query without a page has no page to link from.
        for link in item.links if source else ():
            target = link.target.key
            written.append((keys.get(source, source), keys.get(target, target)))
            scores.append(round(link.target.score, _DECIMALS))
    sources = np.array([rows.get(aliases.get(source, source), -1) for source, _ in written], np.int64)
    targets = np.array([rows.get(aliases.get(target, target), -1) for _, target in written], np.int64)
    strong = strengths(np.array(scores, np.float64))
    weights = np.where(np.isnan(strong), _UNSCORED, np.maximum(strong, _LEAST))
    graph = new_only(graph_of(sources, targets, weights, len(rows)), existing, len(rows))
    return Proposed(graph, strong, run if written else "", written)


def _anchored(anchors: Sequence[str], sources: Ints, targets: Ints, n: int) -> AnchoredLinks:
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
