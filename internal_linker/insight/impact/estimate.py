"""Difference in differences between targets and their controls, in all and by week, with intervals by a bootstrap."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri, stdtrit

from internal_linker.insight.impact.matching import Matching, history, level
from internal_linker.insight.impact.panel import Panel
from internal_linker.insight.impact.records import (
    DAYS_A_WEEK,
    WEEKS_BEFORE,
    Effect,
    Metric,
)
from internal_linker.model.arrays import Bools, Ints, Vectors

if TYPE_CHECKING:
    from pandas import DataFrame

# Resamples of the pages.
RESAMPLES = 999
# Numbers drawn at a time: 999 resamples of 20,000 pages would take 160 MB for each array.
_DRAWN = 1_000_000
# Clicks a week at which chance in counting and a page's own ups and downs weigh about the same: pages above count
# about equally, as on a scale of logarithms, and pages below by their clicks, so that zeros do no harm.
_KAPPA = 6.0
# The ridge of the adjustment, as a share of each diagonal: the three measures of the past nearly repeat one another.
_RIDGE = 0.01
# A page that everybody talks about must not decide for all: of targets and controls alike, growth counts up to this
# many times the level before.
_MOST_GROWTH = 4.0
# What is fitted to the controls: a mean, and the slopes of three measures of the past.
_FITTED = 4
# No page counts as more than half of a sum when its weight in it is taken off.
_MOST_SHARE = 0.5
# Found in four of five comparisons, at 5% false alarms.
_POWER = float(ndtri(0.975) + ndtri(0.8))


def resamples(pages: int) -> Iterator[slice]:
    """Divide the resamples of so many pages into parts that fit into memory."""
    step = max(1, _DRAWN // pages)
    for start in range(0, RESAMPLES, step):
        yield slice(start, min(start + step, RESAMPLES))


@dataclass(frozen=True)
class Influence:
    """How an effect depends on each page."""

    effect: float  # the effect
    pages: Ints  # the pages' rows in the panel, (p,)
    of_page: Vectors  # each page's share of the effect's error, (p,)
    is_target: Bools  # whether a page is a target, (p,); one that is also another's control counts as one
    expected: Vectors  # what each set's target would have had without its link, (s,)

    @property
    def error(self) -> float:
        """The standard error of the effect."""
        return float(np.sqrt(np.square(self.of_page).sum()))

    def half_width(self, rng: np.random.Generator) -> float:
        """Return half the width of the effect's interval.

        It is that of a studentised bootstrap over pages, or of Student's t where a few pages carry most of the error:
        resamples without them look too certain.
        """
        squares = np.square(self.of_page)
        # Satterthwaite's degrees of freedom, with the variance of the squares taken from the pages themselves.
        freedom = max(1.0, 2 * float(squares.sum()) ** 2 / max(float(np.square(squares).sum()), 1e-300))
        bootstrap = float(np.quantile(np.abs(self.resampled(rng)), 0.95))
        return max(bootstrap, float(stdtrit(freedom, 0.975))) * self.error

    def resampled(self, rng: np.random.Generator) -> Vectors:
        """Return effect minus truth, in standard errors, of resamples of the targets and of the controls."""
        effects, variances = np.zeros(RESAMPLES), np.zeros(RESAMPLES)
        for arm in (True, False):
            own = self.of_page[self.is_target == arm]
            if (n := len(own)) < 2:
                continue
            own = (own - own.mean()) * np.sqrt(n / (n - 1))
            for some in resamples(n):
                drawn = own[rng.integers(0, n, (some.stop - some.start, n))]
                sums = drawn.sum(axis=1)
                effects[some] += sums
                variances[some] += np.square(drawn).sum(axis=1) - np.square(sums) / n
        with np.errstate(invalid="ignore", divide="ignore"):
            found: Vectors = np.where(variances > 0, effects / np.sqrt(variances), 0.0)
        return found


def estimate(
    panel: Panel, matches: Matching, outcome: Metric, rng: np.random.Generator, group: str = "all"
) -> tuple[Effect, Influence] | None:
    """Return the effect on the targets, and what it depends on; None if no target has the outcome.

    The controls' outcome is adjusted to what remains of the difference in the past, by a regression within the sets.
    """
    own, others = outcomes(panel, matches, outcome)
    kept_sets, kept_pairs = np.isfinite(own).all(axis=1), np.isfinite(others).all(axis=1)
    kept_sets &= np.bincount(matches.sets[kept_pairs], minlength=len(matches)) > 0
    pairs = kept_pairs & kept_sets[matches.sets]
    if kept_sets.sum() < 2:
        return None
    sets = (np.cumsum(kept_sets) - 1)[matches.sets[pairs]]
    rows, controls = matches.rows[kept_sets], matches.controls[pairs]
    found = influence(
        own[kept_sets], others[pairs], (rows, controls, sets), is_ratio=outcome is not Metric.POSITION
    )
    if found is None:
        return None
    width = found.half_width(rng)
    result = Effect(
        outcome=outcome,
        group=group,
        effect=found.effect,
        low=found.effect - width,
        high=found.effect + width,
        error=found.error,
        pages=len(rows),
        controls=len(np.unique(controls)),
    )
    return result, found


def outcomes(panel: Panel, matches: Matching, outcome: Metric) -> tuple[Vectors, Vectors]:
    """Return the outcome after and before, (s, 4) of the targets and (m, 4) of the controls."""
    found = []
    for some, sets in ((matches.rows, np.arange(len(matches))), (matches.controls, matches.sets)):
        days, weeks = matches.days[sets], matches.weeks[sets]
        after = np.empty(len(some))
        for span in np.unique(weeks):
            at = weeks == span
            after[at] = panel.weekly(outcome, some[at], days[at], 0, int(span))
        found.append(np.column_stack([after, history(panel, outcome, some, days)]))
    return found[0], found[1]


def set_means(values: Vectors, sets: Ints, count: int) -> Vectors:
    """Return the mean of the pairs of each set, (s,) or (s, k)."""
    sizes = np.bincount(sets, minlength=count)
    sums = np.stack([np.bincount(sets, column, count) for column in np.atleast_2d(values.T)], axis=1)
    means: Vectors = sums / sizes[:, None]
    return means[:, 0] if values.ndim == 1 else means


def _weights(own: Vectors, others: Vectors, sets: Ints) -> Vectors:
    """Return the weight of each set, (s,), by the level of all its pages before the link."""
    count = len(own)
    sizes = np.bincount(sets, minlength=count)
    mean = (level(own) + level(_sums(others, sets, count))) / (sizes + 1)
    found: Vectors = 1 / (mean + _KAPPA)
    return found


def _sums(others: Vectors, sets: Ints, count: int) -> Vectors:
    return np.stack([np.bincount(sets, column, count) for column in others.T], axis=1)


def influence(
    own: Vectors, others: Vectors, ends: tuple[Ints, Ints, Ints], *, is_ratio: bool
) -> Influence | None:
    """Return the effect and its dependence on the pages; None if there is nothing to compare with.

    Args:
        own: the targets' outcome after, then before, (s, 4).
        others: the same of the controls, (m, 4).
        ends: the targets' rows, (s,); the controls' rows, (m,); the set of each control, (m,).
        is_ratio: whether the effect is a ratio of counts rather than a difference.
    """
    rows, controls, sets = ends
    count, sizes = len(own), np.bincount(sets, minlength=len(own))
    weight = _weights(own[:, 1:], others[:, 1:], sets) if is_ratio else np.ones(count)
    if is_ratio:
        own, others = _bounded(own), _bounded(others)
    slopes, solved, residuals = _adjustment(others, sets, weight, count)
    gap = own[:, 1:] - set_means(others[:, 1:], sets, count)
    adjusted = others[:, 0] + (own[sets, 1:] - others[:, 1:]) @ slopes
    expected = set_means(adjusted, sets, count)
    total = float(weight @ expected) if is_ratio else float(weight.sum())
    gained = float(weight @ own[:, 0])
    if total <= 0 or (is_ratio and gained <= 0):
        return None
    # A ratio's targets are brought to their controls' level, a difference's moved to it.
    ratio = gained / total if is_ratio else 1.0
    shift = 0.0 if is_ratio else float(weight @ (own[:, 0] - expected)) / total
    reached = own[:, 0] / ratio - shift
    # Residuals from the mean of the whole set, so that what all its pages share is no error.
    mean = (reached + expected * sizes) / (sizes + 1)
    scale = np.sqrt((sizes + 1) / sizes)
    of_rows = weight * (reached - mean) * scale / total
    of_controls = -(weight * scale / sizes)[sets] * (adjusted - mean[sets]) / total
    of_controls -= (weight @ gap) @ solved * residuals / total
    # A mean and three slopes are fitted to the controls, which an experiment may have few of.
    different = len(np.unique(controls))
    of_controls *= np.sqrt(different / max(1, different - _FITTED))
    share = np.concatenate([weight * expected, (weight / sizes)[sets] * np.abs(adjusted)]) / total
    pages, places = np.unique(np.concatenate([rows, controls]), return_inverse=True)
    of_page: Vectors = np.bincount(places, np.concatenate([of_rows, of_controls]), len(pages)).astype(
        np.float64
    )
    if is_ratio:
        of_page = of_page / (1 - np.minimum(np.bincount(places, share, len(pages)), _MOST_SHARE))
    is_target: Bools = np.zeros(len(pages), np.bool_)
    is_target[places[:count]] = True
    return Influence(float(np.log(ratio)) if is_ratio else shift, pages, of_page, is_target, expected)


def _bounded(values: Vectors) -> Vectors:
    """Return outcomes after and before, (m, 4), with an upper bound of those after."""
    bound = _MOST_GROWTH * (level(values[:, 1:]) + _KAPPA)
    return np.column_stack([np.minimum(values[:, 0], bound), values[:, 1:]])


def _adjustment(others: Vectors, sets: Ints, weight: Vectors, count: int) -> tuple[Vectors, Vectors, Vectors]:
    """Fit how the controls' outcome follows from their past within sets.

    Returns:
        The slopes, (3,); what each pair adds to them, (3, m); its residual, (m,).
    """
    means = set_means(others, sets, count)
    inside = (others - means[sets]) * weight[sets, None]
    past, after = inside[:, 1:], inside[:, 0]
    square = past.T @ past
    square += np.diag(_RIDGE * np.diag(square) + 1e-12)
    slopes = np.linalg.solve(square, past.T @ after)
    return slopes, np.linalg.solve(square, past.T), after - past @ slopes


def detectable(error: float) -> float:
    """Return the smallest share that four of five comparisons with this standard error would find."""
    return float(np.expm1(_POWER * error))


def pages_needed(found: Effect, effect: float = 0.05) -> int:
    """Return how many targets such as these would show a relative effect in four of five comparisons."""
    return int(np.ceil(found.pages * np.square(_POWER * found.error / np.log1p(effect))))


def before_after(panel: Panel, matches: Matching) -> float:
    """Return the mean change of the targets' clicks, as the logarithm of a ratio, without any controls."""
    before = panel.weekly(Metric.CLICKS, matches.rows, matches.days, -4, 0)
    after = panel.weekly(Metric.CLICKS, matches.rows, matches.days, 0, int(matches.weeks.min()))
    half = 0.5 / 4
    return float(np.mean(np.log((after + half) / (before + half))))


# Weeks before those that targets and controls were matched by, as far as there are data of all of them.
_MORE_WEEKS = 4


def event_study(panel: Panel, matches: Matching, rng: np.random.Generator) -> "tuple[DataFrame, float]":
    """Compare the clicks of targets and controls in each week, relative to the weeks before the link.

    Returns:
        The weeks as `Findings` has them, the earliest first; and how probable differences before the link as large as
        these are by chance.
    """
    from pandas import DataFrame

    room = int(((matches.days - panel.first) // DAYS_A_WEEK).min())
    weeks = range(-min(room, WEEKS_BEFORE + _MORE_WEEKS), int(matches.weeks.min()))
    found = {week: one for week in weeks if (one := _of_week(panel, matches, week))}
    effects = np.array([one.effect for one in found.values()])
    shares = np.stack([one.of_page for one in found.values()])  # (weeks, pages)
    errors = np.sqrt(np.square(shares).sum(axis=1))
    before = np.array([*found]) < 0
    bounds = {"effect": effects, "low": effects - 1.96 * errors, "high": effects + 1.96 * errors}
    shown = DataFrame({"week": [*found], **{name: np.expm1(each) for name, each in bounds.items()}})
    return shown, _chance(effects[before] / errors[before], shares[before] / errors[before, None], rng)


def _chance(sizes: Vectors, shares: Vectors, rng: np.random.Generator) -> float:
    """Return how often the largest of several differences is by chance as large as it is, in standard errors."""
    pages, found, as_large = shares.shape[1], np.abs(sizes).max(), 0
    for some in resamples(pages):
        signs = rng.choice(np.array([-1.0, 1.0]), (some.stop - some.start, pages))
        as_large += int((np.abs(signs @ shares.T).max(axis=1) >= found).sum())
    return (1 + as_large) / (1 + RESAMPLES)


def _of_week(panel: Panel, matches: Matching, week: int) -> Influence | None:
    """Return the effect in a week as `estimate` has it, adjusted to the past in the same way."""

    def values(rows: Ints, days: Ints) -> Vectors:
        now = panel.weekly(Metric.CLICKS, rows, days, week, week + 1)
        return np.column_stack([now, history(panel, Metric.CLICKS, rows, days)])

    own, others = values(matches.rows, matches.days), values(matches.controls, matches.days[matches.sets])
    return influence(own, others, (matches.rows, matches.controls, matches.sets), is_ratio=True)
