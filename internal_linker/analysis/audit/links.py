"""Links as they were collected and proposed -> arrays of an audit: graphs, anchors, counts."""

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

# What a link without a score weighs beside one of strength 0 to 1: as much as the middle of that scale.
_UNSCORED = 0.5
# Decimals of a score, as files/links.csv shows it; further ones mean nothing.
_DECIMALS = 4
# A link of no strength is a link all the same.
_LEAST = 0.01


@dataclass(frozen=True, slots=True)
class SiteLinks:
    """Today's links between the n pages of an audit.

    Attributes:
        graph: redirects followed.
        anchored: those with an anchor.
        counts: (n,) all links in each page's text, those to other sites too.
    """

    graph: SiteGraph
    anchored: AnchoredLinks
    counts: Ints


@dataclass(frozen=True, slots=True)
class Proposed:
    """Links that the last run proposed.

    Attributes:
        graph: those that don't stand already, between the pages; weights are strengths.
        strengths: (p,) of all of them, 0 to 1; NaN where there is no score.
        run: the run's id; "" without links.
        written: source and target (normal forms) as the links name them.
    """

    graph: SiteGraph
    strengths: Vectors
    run: str
    written: Sequence[tuple[str, str]]


def site_links(collected: Collected, rows: Mapping[str, int]) -> SiteLinks:
    """The collected links between the pages that have a row."""
    aliases, links = collected.aliases, collected.links
    sources = np.array([rows.get(aliases.get(link.source, link.source), -1) for link in links], np.int64)
    targets = np.array([rows.get(aliases.get(link.target, link.target), -1) for link in links], np.int64)
    graph = graph_of(sources, targets, np.ones(len(links)), len(rows))
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
    """A run's links between the pages that have a row, without those that stand already."""
    aliases, written, scores = collected.aliases, list[tuple[str, str]](), list[float]()
    # Millions of equal keys take the room of one.
    keys = {page.key: page.key for page in collected.pages}
    for item in (row.recommendation for row in proposed):
        source = item.source.key
        # A query without a page links from nowhere.
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
    """Anchors that differ in case, width or spacing only are one; a page that links thrice with one counts once."""
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
