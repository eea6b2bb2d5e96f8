"""Everything known of pages and queries -> the recommendations: rank for each source, spread over the site, select."""

from collections.abc import Callable, Iterator, Sequence
from math import ceil

import numpy as np

from internal_linker.arrays import Vectors
from internal_linker.offers import offers
from internal_linker.ranking import LinkRules, Ranking
from internal_linker.records import Recommendation
from internal_linker.searching import Searched
from internal_linker.steps.fuse import Ranked
from internal_linker.steps.select import select
from internal_linker.steps.spread import Edges, spread

__all__ = ["LinkRules", "Ranking", "recommend"]

# A page is offered to as many of the pages that are most similar to it.
OFFERS = 10


def recommend(
    ranking: Ranking, searched: Searched, rules: LinkRules, advance: Callable[[], None] = lambda: None
) -> Iterator[Recommendation]:
    """Yield the links of each source, in order; `advance` is called whenever a source is ranked.

    With `min_inlinks` or `max_inlinks`, links are given up for other pages' sake where that costs least.
    """
    ranked: list[Ranked] = []
    offered = offers(ranking, OFFERS) if rules.min_inlinks else {}
    for ours in ranking.ranked(range(len(ranking.sources)), offered):
        ranked.append(ours)
        advance()
    if rules.min_inlinks or rules.max_inlinks:
        ranked = _spread(ranked, rules)
    for source, ours in zip(ranking.sources, ranked, strict=True):
        note = searched.notes.get(source.identity, "")
        yield select(source, ranking.candidates(ours), ranking.targets, rules.links_per_page, note)


def _spread(ranked: Sequence[Ranked], rules: LinkRules) -> list[Ranked]:
    """The candidates of each source: those that are chosen, in their order, before the others."""
    sizes = [len(ours.targets) for ours in ranked]
    ends = np.cumsum([0, *sizes])
    place = np.arange(ends[-1]) - np.repeat(ends[:-1], sizes)
    numbers, targets = np.unique(_flat(ranked, "targets"), return_inverse=True)
    edges = Edges(
        sources=np.repeat(np.arange(len(ranked)), sizes),
        targets=targets,
        scores=np.nan_to_num(_flat(ranked, "score")),
        # Search results that come first by the user's own rule stay.
        fixed=(_flat(ranked, "serp_rank") > 0) & (place < rules.links_per_page) & (rules.fusion == "fill"),
    )
    mean = rules.links_per_page * len(ranked) / max(1, len(numbers))
    chosen = spread(
        edges,
        len(ranked),
        len(numbers),
        count=rules.links_per_page,
        min_inlinks=rules.min_inlinks,
        max_inlinks=max(rules.min_inlinks, ceil(rules.max_inlinks * mean)) if rules.max_inlinks else 0,
        floor=-np.inf,
    )
    # The chosen ones first; where all the others are at their limit, five links count for more than it.
    return [
        ours.at(np.argsort(~chosen[start:end], kind="stable"))
        for ours, start, end in zip(ranked, ends, ends[1:], strict=False)
    ]


def _flat(ranked: Sequence[Ranked], name: str) -> Vectors:
    return np.concatenate([np.empty(0), *(getattr(ours, name) for ours in ranked)])
