"""The event study: targets compared with their controls week by week, and the test of the weeks before the link."""

from collections.abc import Sequence

import numpy as np

from internal_linker.core.arrays import Ints, Vectors
from internal_linker.performance.impact.estimate import RESAMPLES, Influence, influence, resamples
from internal_linker.performance.impact.matching import Matches, history
from internal_linker.performance.impact.panel import Panel
from internal_linker.performance.impact.records import DAYS_A_WEEK, WEEKS_BEFORE, EventWeek, Outcome

# Weeks before those that targets and controls were matched by, as far as there are data of all of them.
_MORE_WEEKS = 4


def event_study(
    panel: Panel, matches: Matches, rng: np.random.Generator
) -> tuple[Sequence[EventWeek], float]:
    """Compare the clicks of targets and controls in each week, relative to the weeks before the link.

    Args:
        panel: the search data.
        matches: the targets and their controls.
        rng: draws the resamples.

    Returns:
        The weeks, the earliest first; and how probable differences before the link as large as these are by chance.
    """
    room = int(((matches.days - panel.first) // DAYS_A_WEEK).min())
    weeks = range(-min(room, WEEKS_BEFORE + _MORE_WEEKS), int(matches.weeks.min()))
    found = {week: one for week in weeks if (one := _of_week(panel, matches, week))}
    effects = np.array([one.effect for one in found.values()])
    shares = np.stack([one.of_page for one in found.values()])  # (weeks, pages)
    errors = np.sqrt(np.square(shares).sum(axis=1))
    before = np.array([*found]) < 0
    shown = [
        EventWeek(week=week, effect=effect, low=effect - 1.96 * error, high=effect + 1.96 * error)
        for week, effect, error in zip(found, effects.tolist(), errors.tolist(), strict=True)
    ]
    return shown, _chance(effects[before] / errors[before], shares[before] / errors[before, None], rng)


def _chance(sizes: Vectors, shares: Vectors, rng: np.random.Generator) -> float:
    """Return how often the largest of several differences is by chance as large as it is, in standard errors."""
    pages, found, as_large = shares.shape[1], np.abs(sizes).max(), 0
    for some in resamples(pages):
        signs = rng.choice(np.array([-1.0, 1.0]), (some.stop - some.start, pages))
        as_large += int((np.abs(signs @ shares.T).max(axis=1) >= found).sum())
    return (1 + as_large) / (1 + RESAMPLES)


def _of_week(panel: Panel, matches: Matches, week: int) -> Influence | None:
    """Return the effect in a week as `estimate` has it, adjusted to the past in the same way."""

    def values(rows: Ints, days: Ints) -> Vectors:
        now = panel.weekly(Outcome.CLICKS, rows, days, week, week + 1)
        return np.column_stack([now, history(panel, Outcome.CLICKS, rows, days)])

    own, others = values(matches.rows, matches.days), values(matches.controls, matches.days[matches.sets])
    return influence(own, others, (matches.rows, matches.controls, matches.sets), is_ratio=True)
