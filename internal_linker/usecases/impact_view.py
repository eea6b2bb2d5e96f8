"""Measure the impact of links for the app, and keep the result, so that it is there when the page is opened again."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import date, datetime
from math import isfinite
from pathlib import Path
from typing import Any

from internal_linker.adapters.files.array_file import read_arrays, write_arrays
from internal_linker.core.ports import Progress
from internal_linker.core.progress import Stop, Tracker
from internal_linker.core.sequences import counted
from internal_linker.performance.impact.records import Estimate, MatchedPair, Verdict
from internal_linker.usecases.impact import ImpactResult, impact
from internal_linker.usecases.options.performance import ImpactOptions
from internal_linker.usecases.project import Project

# Pairs that are kept: those with the most clicks.
_MOST_PAIRS = 1_000


@dataclass(frozen=True, slots=True)
class ShownEstimate:
    """An effect with its 95% interval.

    Attributes:
        outcome: "clicks", "impressions" or "position".
        group: the targets that it is about: "all", or the name of a tier or kind of anchor.
        effect, low, high: of clicks and impressions a share, 0.06 for 6% more; of positions a difference, below 0 for
            a better position.
        verdict: what can be said of it.
        pages, controls: how many there are.
    """

    outcome: str
    group: str
    effect: float
    low: float
    high: float
    verdict: str
    pages: int
    controls: int


@dataclass(frozen=True, slots=True)
class ShownWeek:
    """The targets' clicks relative to their controls' in a week, as shares; week 0 begins on the day of the link."""

    week: int
    effect: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class ShownPair:
    """A target with its clicks a week before and after the link, and those that its controls let expect after it."""

    page: str
    live: str
    tier: str
    anchor: str
    links: int
    before: float
    after: float
    expected: float
    control: str


@dataclass(frozen=True, slots=True)
class ImpactView:
    """What the links that went live did to their targets; see `Findings`.

    Attributes:
        made: when it was measured, as ISO 8601.
        days: how many days after the links were compared.
        experiment: whether targets that were held back at random are the controls.
        links: how many links went live.
        verdict: what can be said of the clicks.
        thin: whether there are too few data to say anything.
        sentence: the answer.
        estimates: the effects on all targets, clicks first; then by tier and kind of anchor.
        placebo: the "effect" on similar pages that got no link; None: unknown.
        weeks: the weeks before and after the links.
        pre_trend: how probable differences before the links as large as those found are by chance; None: unknown.
        detectable: the smallest effect that would probably be seen, as a share; None: unknown.
        pages_needed: how many targets would show an effect of 5%; 0: unknown.
        before_after: the change of the targets' clicks without controls, as a share; None: unknown.
        compared: how many targets are compared.
        pairs: those of them with the most clicks.
        remarks: what was left out and why, and what weakens the comparison.
    """

    made: str
    days: int
    experiment: bool
    links: int
    verdict: str
    thin: bool
    sentence: str
    estimates: Sequence[ShownEstimate]
    placebo: ShownEstimate | None
    weeks: Sequence[ShownWeek]
    pre_trend: float | None
    detectable: float | None
    pages_needed: int
    before_after: float | None
    compared: int
    pairs: Sequence[ShownPair]
    remarks: Sequence[str]


def impact_file(project: Project) -> Path:
    """Return where the result is kept."""
    return project.file("impact.npz")


def measure_impact(
    project: Project, options: ImpactOptions, progress: Progress, should_stop: Stop = lambda: False
) -> ImpactView:
    """Measure the impact, and keep it in files/impact.npz.

    Args:
        project: whose links and search data.
        options: what is compared.
        progress: shows the steps.
        should_stop: asked at each step; True ends the work, and an earlier result stays.

    Raises:
        InputError: the table of pages is missing or can't be read, or no experiment was planned.
        Interrupted: the work was stopped.
    """
    stoppable = Tracker(
        progress, should_stop=should_stop, cancelled="Measuring was cancelled; the earlier result stays."
    )
    view = _view(impact(project, options, stoppable))
    stoppable.check()
    write_arrays(impact_file(project), asdict(view), {})
    return view


def last_impact(project: Project) -> ImpactView | None:
    """Return the result of the last `measure_impact`; None without one."""
    stored = read_arrays(impact_file(project))
    if stored is None:
        return None
    facts: dict[str, Any] = stored[0]
    try:
        placebo = facts["placebo"] and ShownEstimate(**facts["placebo"])
        made = {
            "estimates": [ShownEstimate(**each) for each in facts["estimates"]],
            "weeks": [ShownWeek(**each) for each in facts["weeks"]],
            "pairs": [ShownPair(**each) for each in facts["pairs"]],
        }
        return ImpactView(**{**facts, **made, "placebo": placebo})
    except (KeyError, TypeError):  # a file of another version
        return None


def _view(result: ImpactResult) -> ImpactView:
    found = result.findings
    thin = found.verdict is Verdict.THIN
    pairs = sorted(found.pairs, key=lambda one: -one.expected_after)[:_MOST_PAIRS]
    # Otherwise the remarks say it.
    dropped = [f"{counted(count, 'target')} left out: {one.value}." for one, count in found.dropped.items()]
    return ImpactView(
        made=datetime.now().astimezone().isoformat(timespec="seconds"),
        days=found.days,
        experiment=found.randomised,
        links=result.links,
        verdict=str(found.verdict),
        thin=thin,
        sentence=found.sentence,
        estimates=[_estimate(one) for one in found.estimates],
        placebo=_estimate(found.placebo) if found.placebo else None,
        weeks=[ShownWeek(one.week, *one.shown) for one in found.events],
        pre_trend=_known(found.pre_trend),
        detectable=_known(found.detectable),
        pages_needed=found.pages_needed,
        before_after=_known(found.before_after_share),
        compared=len(found.pairs),
        pairs=[_pair(one) for one in pairs],
        remarks=[*result.remarks, *found.remarks, *(dropped if thin else ())],
    )


def _estimate(one: Estimate) -> ShownEstimate:
    return ShownEstimate(str(one.outcome), one.group, *one.shown, one.judgement, one.pages, one.controls)


def _pair(one: MatchedPair) -> ShownPair:
    return ShownPair(
        one.page,
        date.fromordinal(one.day).isoformat(),
        one.tier,
        one.anchor,
        one.links,
        one.before,
        one.after,
        one.expected_after,
        one.controls[0],
    )


def _known(value: float) -> float | None:
    return value if isfinite(value) else None
