"""Today's links of an audit as arrays: their graph, anchors and counts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from internal_linker.analysis.audit.adoption import OUTSIDE, OWN, REPEATED
from internal_linker.analysis.audit.rules_anchors import AnchoredLinks
from internal_linker.analysis.graph.site_graph import SiteGraph, graph_of
from internal_linker.core.arrays import Ints
from internal_linker.core.balance import Balance
from internal_linker.core.records import Collected
from internal_linker.text.words import normalise


@dataclass(frozen=True, slots=True)
class SiteLinks:
    """Today's links between the n pages of an audit.

    Attributes:
        graph: the links with redirects followed; those with nofollow, ugc or sponsored weigh 0.
        anchored: the links with an anchor.
        counts: (n,) all links in each page's text, including links to other sites.
        counted: how the number of links of the graph comes about.
    """

    graph: SiteGraph
    anchored: AnchoredLinks
    counts: Ints
    counted: Balance


def site_links(collected: Collected, rows: Mapping[str, int]) -> SiteLinks:
    """Return the collected links between the pages that have a row."""
    aliases, links = collected.aliases, collected.links
    sources = np.array([rows.get(aliases.get(link.source, link.source), -1) for link in links], np.int64)
    targets = np.array([rows.get(aliases.get(link.target, link.target), -1) for link in links], np.int64)
    followed = np.array([link.followed for link in links], np.float64)
    graph = graph_of(sources, targets, followed, len(rows))
    counts = np.bincount(sources[sources >= 0], minlength=len(rows))
    anchored = _anchored([link.anchor for link in links], sources, targets, len(rows))
    known = (sources >= 0) & (targets >= 0)
    outside, own = int((~known).sum()), int((known & (sources == targets)).sum())
    repeated = len(links) - outside - own - len(graph.sources)
    parts = [
        (len(links), "links in the pages' texts"),
        (-outside, OUTSIDE),
        (-own, OWN),
        (-repeated, REPEATED),
    ]
    return SiteLinks(graph, anchored, counts, Balance(parts))


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
