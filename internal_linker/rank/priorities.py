"""Priorities: pages in need get links that would else go to pages which fit hardly better."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

import numpy as np

from internal_linker.model.arrays import Bools, Pairs, Vectors, ranks
from internal_linker.model.needs import PageNeeds
from internal_linker.model.records import Link, Recommendation
from internal_linker.rank.fusion import Ranked


def bonuses(ranked: Ranked, needs: PageNeeds | None, most: float) -> Vectors:
    """Return (m,) float64 what the needs of their pages add to candidates, at most `most`; 0 for what is no page."""
    if needs is None:
        return np.zeros(len(ranked.targets))
    values = np.append(needs.values.astype(np.float64), 0.0)
    found: Vectors = most * values[np.minimum(ranked.targets, len(needs.values))]
    return found


def by_need(ranked: Ranked, chosen: Bools, last: Bools, bonus: Vectors, count: int) -> Bools:
    """Mark the chosen candidates that stand there because of their pages' need.

    Such a candidate is not among the best of its source by score, and one that scores more was left out though both
    pages' needs, added to their scores, put it behind. What the last run chose doesn't matter here: the reason is the
    same as long as scores and needs are.

    Args:
        last: (m,) which candidates come last for another reason.
        bonus: (m,) what needs add to the scores.
    """
    found = np.zeros(len(chosen), np.bool_)
    score = np.nan_to_num(ranked.worth.astype(np.float64))
    order = np.lexsort((-score, last, ranked.of))
    foremost = np.zeros(len(chosen), np.bool_)
    foremost[order] = ranks(ranked.of[order]) < count
    suspects = np.flatnonzero(chosen & (bonus > 0) & ~last & ~foremost)
    left_out = np.flatnonzero(foremost & ~chosen & ~last)
    if not len(suspects) or not len(left_out):
        return found
    # The left-out candidates among the best are few: at most `count` for each source.
    of = ranked.of[left_out]
    start = np.searchsorted(of, ranked.of[suspects])
    sizes = np.searchsorted(of, ranked.of[suspects], side="right") - start
    at = np.repeat(np.arange(len(suspects)), sizes)
    ours = suspects[at]
    others = left_out[np.repeat(start - np.append(0, np.cumsum(sizes)[:-1]), sizes) + np.arange(len(at))]
    overtaken = (score[others] > score[ours]) & (score[others] + bonus[others] <= score[ours] + bonus[ours])
    found[ours[overtaken]] = True
    return found


def mark_needed_links(
    items: Iterable[Recommendation], pairs: Pairs, needs: PageNeeds, rows: Mapping[str, int]
) -> Iterator[Recommendation]:
    """Yield all recommendations, in order; the evidence for the links that came by need, `pairs`, says so."""
    n = len(needs.values)
    known = set(pairs.keys(n).tolist())

    def one(position: int, link: Link) -> Link:
        row = rows.get(link.target.key)
        if row is None or position * n + row not in known:
            return link
        impressions, position, age = (
            int(each[row]) for each in (needs.impressions, needs.positions, needs.ages)
        )
        evidence = link.evidence._replace(
            needed=int(needs.levels[row]),
            impressions=impressions,
            position=position,
            age=age,
        )
        return replace(link, evidence=evidence)

    for position, item in enumerate(items):
        links = tuple(one(position, link) for link in item.links)
        yield item if links == item.links else replace(item, links=links)
