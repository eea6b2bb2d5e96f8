"""The figures of a link graph, and the table that compares them before and after adoption."""

from collections.abc import Callable
from math import isnan, nan

import numpy as np

from internal_linker.analysis.audit.records import GraphFigures, Limits, Measure
from internal_linker.analysis.graph.pagerank import gini, pagerank, top_share
from internal_linker.analysis.graph.site_graph import (
    SiteGraph,
    across,
    click_depth,
    components,
    degrees,
    reciprocal_pairs,
)
from internal_linker.core.arrays import Bools, Ints


def figures(graph: SiteGraph, n: int, home: int, wanted: Bools, labels: Ints) -> GraphFigures:
    """Compute the figures of a graph of n pages.

    Args:
        graph: the links.
        n: the number of pages.
        home: row of the home page; -1: clicks are unknown.
        wanted: (n,) whether a page without inlinks is an orphan.
        labels: (n,) each page's cluster, or -1.
    """
    inlinks, outlinks = degrees(graph, n)
    depth, rank = click_depth(graph, n, home), pagerank(graph, n)
    reached = depth[depth > 0]
    return GraphFigures(
        inlinks=inlinks,
        outlinks=outlinks,
        depth=depth,
        pagerank=rank,
        orphans=np.flatnonzero(wanted & (inlinks == 0)),
        gini=gini(rank),
        top_share=top_share(rank),
        mean_depth=nan if home < 0 else float(reached.mean()) if len(reached) else 0.0,
        max_depth=nan if home < 0 else float(depth.max()),
        unreachable=nan if home < 0 else float((depth < 0).sum()),
        reciprocal=len(reciprocal_pairs(graph, n)),
        components=components(graph, n),
        unfollowed=int((graph.weights == 0).sum()),
        cross_cluster=float(across(graph, labels).mean()) if len(graph.sources) else 0.0,
    )


def summary(
    before: GraphFigures, after: GraphFigures, limits: Limits, *, links_known: bool = True
) -> list[Measure]:
    """Return the before/after table; without links today, only the number of pages is known."""

    def row(key: str, name: str, of: Callable[[GraphFigures], float], decimals: int = 0) -> Measure:
        if not links_known:
            return Measure(name, nan, nan, decimals, key)
        return Measure(name, float(of(before)), float(of(after)), decimals, key)

    def deep(state: GraphFigures) -> float:
        return nan if isnan(state.max_depth) else float((state.depth > limits.clicks).sum())

    few = f"Pages with fewer than {limits.min_inlinks} inlinks"
    weightless = row("unfollowed", "Links with nofollow, ugc or sponsored", lambda state: state.unfollowed)
    return [
        Measure("Pages", len(before.depth), len(after.depth), key="pages"),
        row("links", "Links", lambda state: state.outlinks.sum()),
        *([weightless] if before.unfollowed else []),
        row("links-per-page", "Links per page, mean", lambda state: state.outlinks.mean(), 2),
        row("orphans", "Orphans", lambda state: len(state.orphans)),
        row("few-inlinks", few, lambda state: (state.inlinks < limits.min_inlinks).sum()),
        row("no-outlinks", "Pages without links to other pages", lambda state: (state.outlinks == 0).sum()),
        row("unreachable", "Pages unreachable from the home page", lambda state: state.unreachable),
        row("depth", "Clicks from the home page, mean", lambda state: state.mean_depth, 2),
        row("max-depth", "Clicks from the home page, maximum", lambda state: state.max_depth),
        row("deep", f"Pages deeper than {limits.clicks} clicks", deep),
        row("gini", "Gini of PageRank", lambda state: state.gini, 3),
        row("top-share", "PageRank share of the top 10% of pages", lambda state: state.top_share, 3),
        row("reciprocal", "Pairs that link to each other", lambda state: state.reciprocal),
        row("crossing", "Share of links across clusters", lambda state: state.cross_cluster, 3),
        row("groups", "Separate groups of pages", lambda state: state.components),
    ]
