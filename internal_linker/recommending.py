"""Everything known of pages and queries -> the recommendations: rank for each source, spread over the site, select."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from math import ceil, isnan
from operator import itemgetter

import numpy as np

from internal_linker.ranking import LinkRules, Ranking
from internal_linker.records import Candidate, Recommendation
from internal_linker.searching import Searched
from internal_linker.steps.select import eligible, select
from internal_linker.steps.spread import Edges, spread

__all__ = ["LinkRules", "Ranking", "recommend"]

# A page that too few links lead to is offered to as many of the pages that are most similar to it.
OFFERS = 10

Ranked = tuple[Candidate, ...]


def recommend(
    ranking: Ranking, searched: Searched, rules: LinkRules, advance: Callable[[], None] = lambda: None
) -> Iterator[Recommendation]:
    """Yield the links of each source, in order; `advance` is called whenever a source is ranked.

    With `min_inlinks` or `max_inlinks`, links are given up for other pages' sake where that costs least.
    """
    ranked: list[Ranked] = []
    for source, candidates in zip(ranking.sources, ranking.of(range(len(ranking.sources))), strict=True):
        ranked.append(eligible(source, candidates, ranking.targets))
        advance()
    if rules.min_inlinks or rules.max_inlinks:
        ranked = _spread(_offered(ranked, ranking, rules), rules)
    for source, candidates in zip(ranking.sources, ranked, strict=True):
        note = searched.notes.get(source.identity, "")
        yield select(source, candidates, ranking.targets, rules.links_per_page, note)


def _offered(ranked: list[Ranked], ranking: Ranking, rules: LinkRules) -> list[Ranked]:
    """The candidates, and with them the pages that too few of the first places lead to, at their best sources."""
    inlinks = Counter(candidate.key for ours in ranked for candidate in ours[: rules.links_per_page])
    needy = [key for key in ranking.linkable if inlinks[key] < rules.min_inlinks]
    asked: defaultdict[int, list[str]] = defaultdict(list)
    for key, places in zip(needy, ranking.sources_near(needy, OFFERS), strict=True):
        for place in places:
            asked[place].append(key)
    offered = list(ranked)
    for place, candidates in zip(asked, ranking.of(list(asked), asked), strict=True):
        there = {candidate.key for candidate in ranked[place]}
        wanted = there | set(asked[place])
        allowed = eligible(ranking.sources[place], candidates, ranking.targets)
        offered[place] = tuple(candidate for candidate in allowed if candidate.key in wanted)
    return offered


def _spread(ranked: Sequence[Ranked], rules: LinkRules) -> list[Ranked]:
    """The candidates of each source: those that are chosen, in their order, before the others."""
    numbers = {key: at for at, key in enumerate(sorted({each.key for ours in ranked for each in ours}))}
    sizes = [len(ours) for ours in ranked]
    flat = [(candidate, place) for ours in ranked for place, candidate in enumerate(ours)]
    edges = Edges(
        sources=np.repeat(np.arange(len(ranked)), sizes),
        targets=np.array([numbers[candidate.key] for candidate, _ in flat], np.int64),
        scores=np.array([0.0 if isnan(each.score) else each.score for each, _ in flat], np.float64),
        # Search results that come first by the user's own rule stay.
        fixed=np.array(
            [
                rules.fusion == "fill" and each.serp_rank > 0 and place < rules.links_per_page
                for each, place in flat
            ],
            np.bool_,
        ),
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
    ends = np.cumsum([0, *sizes])
    return [
        # The chosen ones first; where all the others are at their limit, five links count for more than it.
        tuple(
            candidate
            for _, candidate in sorted(zip(~chosen[start:end], ours, strict=True), key=itemgetter(0))
        )
        for ours, start, end in zip(ranked, ends, ends[1:], strict=False)
    ]
