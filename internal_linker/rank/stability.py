"""Stable lists: the links of the last run stay where nothing near them changed, and give way only to better ones."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from internal_linker.model.arrays import Bools, Ints, Pairs, Vectors, ranks
from internal_linker.rank.fusion import Ranked

# How much higher a new link must score than one of the last run to replace it, in the score's unit: standard
# deviations above the page's average target. The fifth and the sixth candidate are 0.12 apart (median of the
# development sites). Three decisions on a site of 400 pages move up to eleven other links with 0.2, eight with 0.3.
MARGIN = 0.3
# The version of the way in which links are chosen: after a change of it, all lists are chosen from scratch.
RECIPE = 2


@dataclass(frozen=True, slots=True)
class Earlier:
    """The lists of the last run, for the n pages and s sources of this one."""

    # position of a source and row of a page that was in its list, list by list, best first; links that waited for
    # approval follow the others
    links: Pairs
    changed: Bools  # (n,) whether anything about a page that lists depend on is different from the last run
    unsettled: Bools  # (s,) whether the same holds for a source or its list, or the source has no list
    # whether a page needs links more than at the last run, (n,); empty: no page does
    rose: Bools = field(default_factory=lambda: np.zeros(0, np.bool_))


@dataclass(frozen=True, slots=True)
class Preferences:
    """What the last run means for the m candidates of all sources."""

    # (m,) the candidate's place in its source's list of the last run, from 0; -1 if it was not in it
    place: Ints
    # (m,) whether nothing changed about the source, its links and the candidates that score more than one
    settled: Bools
    # (m,) float64 the score and what need adds to it; links of the last run have a bonus: mostly `MARGIN`, and where
    # nothing changed, more than any score
    worth: Vectors


def preferences(ranked: Ranked, earlier: Earlier | None, bonus: Vectors | float = 0.0) -> Preferences:
    """Find which candidates were links of the last run (None: none), and what they are worth today.

    `bonus` is what the need of its page adds to each score; where a page whose need rose competes with the links of the
    last run, these have no margin.
    """
    score = np.nan_to_num(ranked.worth.astype(np.float64)) + bonus
    if earlier is None:
        return Preferences(np.full(len(score), -1), np.zeros(len(score), np.bool_), score)
    n = 1 + int(max(ranked.targets.max(initial=0), earlier.links.rows.max(initial=0)))
    keys, former = Pairs(ranked.of, ranked.targets).keys(n), earlier.links.keys(n)
    places, order = ranks(earlier.links.of), np.argsort(former, kind="stable")
    place = np.full(len(keys), -1)
    if len(former):
        at = order[np.searchsorted(former, keys, sorter=order).clip(max=len(former) - 1)]
        place = np.where(former[at] == keys, places[at], -1)
    changed = np.zeros(n, np.bool_)
    changed[: len(earlier.changed)] = earlier.changed[:n]
    near, linked = earlier.unsettled.copy(), place >= 0
    least = np.full(len(near), np.inf)
    np.minimum.at(least, ranked.of[linked], score[linked])
    # A changed page that scores less than all links of a list is nobody's reason to change it.
    competing = changed[ranked.targets] & (linked | (score > least[ranked.of]))
    near[ranked.of[competing]] = True
    settled = ~near[ranked.of]
    above_all = 4 * (float(np.ptp(score)) + MARGIN) if len(score) else 0.0
    rose = np.zeros(n, np.bool_)
    rose[: len(earlier.rose)] = earlier.rose[:n]
    # Where a needier page competes, its need would never outweigh the margin.
    again = np.zeros(len(near), np.bool_)
    again[ranked.of[rose[ranked.targets] & ~linked & (score > least[ranked.of])]] = True
    stays = np.where(settled, above_all, np.where(again[ranked.of], 0.0, MARGIN))
    return Preferences(place, settled, score + np.where(linked, stays, 0.0))


def best(of: Ints, first: Bools, worth: Vectors, count: int) -> Bools:
    """Mark the `count` candidates of each source that are worth most.

    Those in `first` come first by the user's own setting, in their order.
    """
    order = np.lexsort((np.where(first, 0.0, -worth), ~first, of))
    chosen = np.zeros(len(of), np.bool_)
    chosen[order] = ranks(of[order]) < count
    return chosen


def arrange_links(
    ranked: Ranked, chosen: Bools, first: Bools, last: Bools, liked: Preferences, count: int
) -> Ranked:
    """Return the candidates of each source in the order in which they become links.

    Chosen candidates come first, then links of the last run, then the others. Links of the last run keep their order;
    but where something changed, one that scores higher than the one before it by more than `MARGIN` overtakes it.
    Candidates of last resort follow the other links of a list. Those in `first` come first by the user's own setting.
    """
    former = liked.place >= 0
    if not former.any():
        return ranked.at(np.lexsort((last, ~chosen, ranked.of)))
    taken = chosen | _still_free(ranked, chosen, former, count)
    order = np.lexsort((~former, ~taken, ranked.of))
    ranked = ranked.at(order)
    taken, first, last, former = (each[order] for each in (taken, first, last, former))
    place, settled = liked.place[order], liked.settled[order]
    new = np.arange(len(order))
    ends = np.searchsorted(ranked.of, np.unique(ranked.of[former]))
    sizes = np.bincount(ranked.of, taken)[ranked.of[ends]].astype(int)
    for start, size in zip(ends.tolist(), sizes.tolist(), strict=True):
        here = slice(start, start + size)
        new[here] = start + np.array(
            _in_order(
                ranked.worth[here].tolist(),
                place[here].tolist(),
                first[here].tolist(),
                settled=bool(settled[start]),
            ),
            np.int64,
        )
    # Stable: within both parts of a list the order stays.
    return ranked.at(new[np.lexsort((last[new], ~taken[new], ranked.of))])


def _still_free(ranked: Ranked, chosen: Bools, former: Bools, count: int) -> Bools:
    room = count - np.bincount(ranked.of, chosen)
    spare = np.flatnonzero(former & ~chosen)
    free = np.zeros(len(chosen), np.bool_)
    free[spare[ranks(ranked.of[spare]) < room[ranked.of[spare]]]] = True
    return free


def _in_order(
    scores: Sequence[float], places: Sequence[int], first: Sequence[bool], *, settled: bool
) -> list[int]:
    """Return the positions of a list's links, best first.

    Args:
        places: their places in the list of the last run; -1 for new ones, which are sorted by score.
        first: which of them come first, in their order.
        settled: whether the links of the last run keep their order at any score.
    """
    everything = range(len(scores))
    ordered: list[int] = []
    for at in sorted((at for at in everything if places[at] >= 0 and not first[at]), key=places.__getitem__):
        where = len(ordered)
        while not settled and where and scores[at] > scores[ordered[where - 1]] + MARGIN:
            where -= 1
        ordered.insert(where, at)
    for at in everything:
        if places[at] < 0 and not first[at]:
            behind = (where for where, other in enumerate(ordered) if scores[other] < scores[at])
            ordered.insert(next(behind, len(ordered)), at)
    return [*(at for at in everything if first[at]), *ordered]
