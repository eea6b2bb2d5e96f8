"""Recommendations for all sources: rank each source's candidates, spread the links over the site, select."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from internal_linker.model.arrays import NO_PAIRS, Bools, Pairs, both, is_in, joined, pairs_of, ranks
from internal_linker.model.edges import Edge
from internal_linker.model.needs import PageNeeds
from internal_linker.model.records import Candidate, Link, Recommendation, Searched, Source, Targets
from internal_linker.rank.choice import Chooser
from internal_linker.rank.evidence import Explainer
from internal_linker.rank.fusion import NO_RANKED, Ranked
from internal_linker.rank.priorities import bonuses, mark_needed_links
from internal_linker.rank.promising_targets import (
    NO_PROMISING,
    PlaceJudge,
    Promising,
    with_places,
    with_ruled,
)
from internal_linker.rank.rank import BLOCK, Ranking
from internal_linker.rank.reverse_candidates import offers
from internal_linker.rank.rules import LinkRules
from internal_linker.rank.selection import eligible, select
from internal_linker.rank.stability import Earlier, preferences

# The candidates that may become links: the best ones of each source, this many for each of its links, with and without
# those of last resort, and the best sources of each page. The links are those of all candidates but for one in a
# thousand, and a large site's candidates take gigabytes. Where no page may have twice its share, all count: sources
# whose favourites are full take what others leave.
FOREMOST, BEST_SOURCES = 6, 20
TIGHT = 2.0
# The number of most similar sources that each page is offered to.
OFFERS = 10
# Returns, for a source, whether its link to a page, given by the key, needs no approval.
Approval = Callable[[Source], Callable[[str], bool]]


def recommend(
    ranking: Ranking,
    searched: Searched,
    rules: LinkRules,
    advance: Callable[[], None] = lambda: None,
    *,
    accepted: Mapping[str, Sequence[Edge]] = MappingProxyType({}),
    approved: Approval | None = None,
    earlier: Earlier | None = None,
    needs: PageNeeds | None = None,
    judge: PlaceJudge | None = None,
    ruled: Pairs = NO_PAIRS,
    trim: Callable[[], None] = lambda: None,
) -> Iterator[Recommendation]:
    """Yield the links of each source, in order.

    With limits of in-links, sources give up links in favour of other pages where that costs least. Only links that
    editors can add count for them: see `counting`. Links of the last run stay where nothing changed near them: see
    `stability`.

    Args:
        advance: called after each ranked source.
        accepted: the links that editors accepted, by the end of their source: they keep their ranks.
        approved: whether a link of a source to a page needs no approval by an editor; None: none needs any.
        earlier: the lists of the last run; None: all lists are chosen from scratch.
        needs: how much the pages need links; None: all of them equally.
        judge: finds places for links in the sources' texts, which then decide with the pages; None: pages alone do.
        ruled: the links that rules of the house ask for: position of the source and row of the page, by source.
        trim: returns free memory to the system; called once all sources are weighed.
    """
    counts = counting(ranking.sources)
    ranked, promising = all_ranked(ranking, counts, offering=rules.highest_least > 0, advance=advance)
    trim()
    if judge:
        quality = judge(ranking.source_rows[promising.of], promising)
        ranked = with_places(ranked, promising, quality, rules)
    ranked = with_ruled(ranked, ruled) if len(ruled.rows) else ranked
    held = _accepted(ranking, accepted)
    tight = 0 < rules.max_inlinks < TIGHT or 0 < rules.max_new_inlinks < TIGHT * rules.links_per_page
    if not (tight or approved):
        ranked = ranked.at(_foremost(ranked, ranking, rules, both(held, ruled), earlier))
    bonus = bonuses(ranked, needs, rules.need_bonus)
    liked = preferences(ranked, earlier, bonus)
    chooser = Chooser(ranked, ranking, counts, rules, liked, bonus=bonus, ruled=ruled)
    ranked = chooser.chosen_first(held)
    ranking.one_way = chooser.one_way
    items = _selected(
        ranking, searched, ranked, rules, accepted=accepted, approved=approved, full=chooser.full, ruled=ruled
    )
    explained = Explainer(ranking).add_evidence(enumerate(items))
    yield from mark_needed_links(explained, chooser.by_need, needs, ranking.rows) if needs else explained


def all_ranked(
    ranking: Ranking, counts: Bools, *, offering: bool, advance: Callable[[], None] = lambda: None
) -> tuple[Ranked, Promising]:
    """Return the candidates of all sources, best first, and the promising ones among them.

    Args:
        counts: (s,) which sources pages may be offered to.
        offering: whether each page is offered to the sources most similar to it.
        advance: called after each source.
    """
    offered = _offered(ranking, counts) if offering else {}
    sources = range(len(ranking.sources))
    parts, promising = [NO_RANKED], [NO_PROMISING]
    blocks = ranking.ranked_with_promising(sources, offered)
    for first, (block, some) in zip(sources[::BLOCK], blocks, strict=True):
        parts.append(replace(block, of=block.of + first))
        promising.append(replace(some, of=some.of + first))
        for _ in sources[first : first + BLOCK]:
            advance()
    return joined(parts), joined(promising)


def _offered(ranking: Ranking, counts: Bools) -> Mapping[int, Sequence[int]]:
    """Return the rows of the pages that are offered to each source, ascending, by its position."""
    among = np.flatnonzero(counts)
    offered = offers(ranking, OFFERS, among.tolist(), np.flatnonzero(ranking.linkable))
    found = defaultdict[int, list[int]](list)
    for page, source in sorted(zip(offered.of.tolist(), offered.rows.tolist(), strict=True)):
        found[source].append(page)
    return found


def _selected(
    ranking: Ranking,
    searched: Searched,
    ranked: Ranked,
    rules: LinkRules,
    *,
    accepted: Mapping[str, Sequence[Edge]],
    approved: Approval | None,
    full: Bools,
    ruled: Pairs,
) -> Iterator[Recommendation]:
    ends = np.searchsorted(ranked.of, np.arange(len(ranking.sources) + 1)).tolist()
    pages, by_rule = ranking.site.pages, ruled.lists(len(ranking.sources))
    for position, (source, start, end) in enumerate(zip(ranking.sources, ends, ends[1:], strict=False)):
        item = select(
            source,
            # Lazily: the first candidates are nearly always eligible, and `select` reads no others.
            ranking.candidates(ranked.at(slice(start, end))),
            ranking.targets,
            rules.links_per_page,
            searched.notes.get(position, ""),
            accepted=[_link(edge, ranking.targets) for edge in accepted.get(source.end, ())],
            approved=approved(source) if approved else lambda _: True,
            full=bool(full[position]),
        )
        if targets := {pages[row].key for row in by_rule[position].tolist()}:
            links = [
                replace(link, origin="rule") if link.target.key in targets else link for link in item.links
            ]
            item = replace(item, links=tuple(links))
        yield item


def counting(sources: Sequence[Source]) -> Bools:
    """Return (s,) which sources' links count as inlinks: each page once, by its first row; queries' for nobody."""
    seen: set[str] = set()
    counts = np.zeros(len(sources), np.bool_)
    for place, source in enumerate(sources):
        if source.is_page and not source.obstacle and source.key not in seen:
            seen.add(source.key)
            counts[place] = True
    return counts


def _link(edge: Edge, targets: Targets) -> Link:
    target = Candidate(
        key=edge.target,
        url=targets.url_of(edge.target),
        score=edge.score,
        similarity=edge.similarity,
        lexical=edge.lexical,
        serp_rank=edge.serp_rank,
        probability=edge.probability,
    )
    return Link(target, edge.rank, edge.origin)


def _foremost(
    ranked: Ranked, ranking: Ranking, rules: LinkRules, accepted: Pairs, former: Earlier | None
) -> Bools:
    """Return (m,) which candidates may become links, earlier links and the `accepted` ones among them."""
    last = ranking.last.links(ranking.source_rows[ranked.of], ranked.targets, ranked.score)
    # Each source's candidates of last resort are a list of their own.
    lists = 2 * ranked.of + last
    order = np.argsort(lists, kind="stable")
    kept = np.zeros(len(lists), np.bool_)
    kept[order] = ranks(lists[order]) < FOREMOST * rules.links_per_page
    if rules.highest_least:
        order = np.lexsort((-ranked.worth, ranked.targets))
        kept[order[ranks(ranked.targets[order]) < max(BEST_SOURCES, 4 * rules.highest_least)]] = True
    asked = both(accepted, former.links) if former else accepted
    n = 1 + int(max(ranked.targets.max(initial=0), asked.rows.max(initial=0)))
    return kept | is_in(Pairs(ranked.of, ranked.targets).keys(n), asked.keys(n))


def _accepted(ranking: Ranking, accepted: Mapping[str, Sequence[Edge]]) -> Pairs:
    """Return the pages to which each source keeps a link that an editor accepted: they take its places."""
    if not accepted:
        return NO_PAIRS
    rows = ranking.rows
    links = (
        eligible(
            source,
            (_link(edge, ranking.targets).target for edge in accepted.get(source.end, ())),
            ranking.targets,
        )
        for source in ranking.sources
    )
    return pairs_of([[rows[target.key] for target in ours if target.key in rows] for ours in links])
