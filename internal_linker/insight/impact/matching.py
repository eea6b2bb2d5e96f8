"""Matched controls, and controls drawn at random."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from internal_linker.insight.impact.panel import Panel
from internal_linker.insight.impact.records import (
    DAYS_A_WEEK,
    RECENT_WEEKS,
    WEEKS_BEFORE,
    DonorPool,
    Dropped,
    Metric,
)
from internal_linker.model.arrays import Bools, Ints, Vectors

# Half of the recent weeks: editors look at the last fortnight, too.
_LAST_WEEKS = 2
# Controls of a target at most: more hardly narrow the interval, and are less similar.
_MOST_CONTROLS, _FEWEST_CONTROLS = 20, 2
# A control is at a distance of 1 at most; a distance of 1 is a level 2.7 times as high, a trend that differs by
# 60% of the change, or a last fortnight that differs by 120%. All are natural logarithms.
_SCALES = np.array([1.0, 0.6, 1.2])
# Half a click a week: below it, levels and trends say nothing.
_FLOOR = 0.5
# With fewer pages in its section and language, a target is compared with pages of all of them.
_FEWEST_IN_STRATUM = 10


@dataclass(frozen=True)
class Matching:
    """Targets with their controls, as m pairs of s sets."""

    targets: Ints  # the index of each set's target among the targets, (s,)
    rows: Ints  # the row of each set's target in the panel, (s,)
    days: Ints  # the day of its link, as an ordinal number, (s,)
    weeks: Ints  # how many weeks after it are compared, (s,)
    sets: Ints  # the set of each pair, ascending, (m,)
    controls: Ints  # the row of each pair's control in the panel, (m,), a set's most similar control first
    dropped: Counter[Dropped]  # the counts of targets left out
    elsewhere: int = 0  # how many targets have controls from other sections or languages
    # of each target that is too recent, the last day that search data are lacking of, as ordinal numbers, ascending
    waiting: Sequence[int] = ()

    def __len__(self) -> int:
        return len(self.rows)

    def some(self, kept: Bools) -> "Matching":
        """Return the sets for which a (s,) array of truth values holds."""
        places = np.cumsum(kept) - 1
        pairs = kept[self.sets]
        return Matching(
            self.targets[kept],
            self.rows[kept],
            self.days[kept],
            self.weeks[kept],
            places[self.sets[pairs]],
            self.controls[pairs],
            self.dropped,
            self.elsewhere,
            self.waiting,
        )


def history(panel: Panel, outcome: Metric, rows: Ints, days: Ints) -> Vectors:
    """Return what pages earned a week before a day: (m, 3), early weeks, recent weeks and the last fortnight."""
    spans = (-WEEKS_BEFORE, -RECENT_WEEKS), (-RECENT_WEEKS, 0), (-_LAST_WEEKS, 0)
    return np.stack([panel.weekly(outcome, rows, days, *span) for span in spans], axis=1)


def level(past: Vectors) -> Vectors:
    """Return the mean of all weeks before, (m,), of a `history`."""
    found: Vectors = (past[:, 0] * (WEEKS_BEFORE - RECENT_WEEKS) + past[:, 1] * RECENT_WEEKS) / WEEKS_BEFORE
    return found


def matched(
    panel: Panel, site: DonorPool, rows: Ints, days: Ints, weeks: Ints, *, at_random: bool
) -> Matching:
    """Match targets with controls.

    Controls have no new link before the end of the target's comparison, and are never targets of earlier links. Those
    that were drawn at random count as they were drawn (intention to treat), with such a link, too: to leave out the
    pages whose links somebody put live would be a choice, and no comparison at random any more.

    Args:
        rows: the targets' rows in the panel, -1 for a page without data, (t,).
        days: the days of their links, as ordinal numbers, (t,).
        weeks: how many whole weeks after it are compared, (t,); 0: the experiment ends too early.
        at_random: take as controls all pages whose links are held back at random, however similar.
    """
    dropped = Counter[Dropped]()
    early = days - WEEKS_BEFORE * DAYS_A_WEEK < panel.first
    ends = days + weeks * DAYS_A_WEEK
    # Waiting doesn't help a target that lacks data before its link, so this is looked at first.
    reasons: dict[Dropped, Bools] = {
        Dropped.UNKNOWN: rows < 0,
        Dropped.LATE: weeks <= 0,
        Dropped.EARLY: early,
        Dropped.RECENT: ends > panel.end,
    }
    waiting = np.zeros(0, np.int64)
    usable = np.ones(len(rows), np.bool_)
    for reason, true in reasons.items():
        dropped[reason] += int((usable & true).sum())
        if reason is Dropped.RECENT:
            waiting = np.sort(ends[usable & true]) - 1
        usable &= ~true
    found: list[tuple[int, Ints]] = []
    elsewhere = 0
    for day, span in sorted({*zip(days[usable].tolist(), weeks[usable].tolist(), strict=True)}):
        some = np.flatnonzero(usable & (days == day) & (weeks == span))
        sets, far = _of_day(panel, site, rows[some], day, day + span * DAYS_A_WEEK, at_random=at_random)
        found += [(int(some[at]), controls) for at, controls in sets]
        elsewhere += far
    dropped[Dropped.NO_CONTROL] += int(usable.sum()) - len(found)
    targets = np.array([at for at, _ in found], np.int64)
    counts = [len(controls) for _, controls in found]
    return Matching(
        targets,
        rows[targets],
        days[targets],
        weeks[targets],
        np.repeat(np.arange(len(found)), counts),
        np.concatenate([np.zeros(0, np.int64), *(controls for _, controls in found)]),
        Counter({reason: count for reason, count in dropped.items() if count}),
        elsewhere,
        waiting.tolist(),
    )


def _of_day(
    panel: Panel, site: DonorPool, targets: Ints, day: int, end: int, *, at_random: bool
) -> tuple[list[tuple[int, Ints]], int]:
    """Return the controls of the targets of a day, by the target's place; and how many are not from its stratum."""
    everyone = np.arange(len(panel.pages))
    past = history(panel, Metric.CLICKS, everyone, np.full(len(everyone), day))
    if at_random:
        held = np.flatnonzero(site.held)
        return [(at, held) for at in range(len(targets)) if len(held) >= _FEWEST_CONTROLS], 0
    features = _features(past)
    free = site.first_links >= end
    free &= past[:, 0] + past[:, 1] > 0
    found: list[tuple[int, Ints]] = []
    elsewhere = 0
    for stratum in np.unique(site.strata[targets]):
        places = np.flatnonzero(site.strata[targets] == stratum)
        pool = np.flatnonzero(free & (site.strata == stratum))
        if len(pool) < _FEWEST_IN_STRATUM:
            pool = np.flatnonzero(free)
        sets = _nearest(features, targets[places], pool)
        found += [
            (int(place), controls) for place, controls in zip(places, sets, strict=True) if len(controls)
        ]
        if len(pool) and (site.strata[pool] != stratum).any():
            elsewhere += sum(len(controls) > 0 for controls in sets)
    return found, elsewhere


def _features(past: Vectors) -> Vectors:
    """Return what pages are matched by, (n, 3): level, trend, and trend of the last fortnight, in their scales."""
    early, recent, last = (past + _FLOOR).T
    found: Vectors = np.log([level(past) + _FLOOR, recent / early, last / recent]).T / _SCALES
    return found


def _nearest(features: Vectors, targets: Ints, pool: Ints) -> Sequence[Ints]:
    """Return each target's most similar pages of the pool, none if there are too few."""
    none = np.zeros(0, np.int64)
    if len(pool) < _FEWEST_CONTROLS:
        return [none] * len(targets)
    most = min(_MOST_CONTROLS, len(pool))
    tree = cKDTree(features[pool])
    distances, places = tree.query(features[targets], k=most, distance_upper_bound=1.0)
    near = [pool[some[np.isfinite(far)]] for some, far in zip(places, distances, strict=True)]
    return [some if len(some) >= _FEWEST_CONTROLS else none for some in near]


BLOCK = 5
"""One of so many targets is drawn."""


def drawn_at_random(
    levels: Mapping[str, float], strata: Mapping[str, str], rng: np.random.Generator
) -> Sequence[str]:
    """Return one in five targets, drawn from blocks of similar ones.

    Pages are drawn rather than links: what is measured, a page's clicks, can't be told apart by link.

    Args:
        levels: the clicks a week of each target; 0 where nobody knows.
        strata: the section and language of each target.
    """
    order = sorted(levels, key=lambda page: (strata.get(page, ""), -levels[page], page))
    held = list[str]()
    for start in range(0, len(order), BLOCK):
        block = order[start : start + BLOCK]
        # Of a last block that is not full, one is drawn as often as its size says.
        at = int(rng.integers(BLOCK))
        held += block[at : at + 1]
    if order and not held:
        # With fewer targets than a block has, most draws hold none back, and an experiment needs at least one.
        held.append(order[int(rng.integers(len(order)))])
    return held
