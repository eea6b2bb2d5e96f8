"""The records of the impact of links: what is known of targets, and what was found."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, StrEnum
from math import expm1
from typing import TYPE_CHECKING

from internal_linker.model.arrays import Bools, Ints

if TYPE_CHECKING:
    from pandas import DataFrame

# Weeks before a link went live that a target and its controls must have in common: eight tell the level, and the
# last four whether the page was sinking.
WEEKS_BEFORE, RECENT_WEEKS = 12, 4
DAYS_A_WEEK = 7


# The group of the effect on pages that got no link.
PLACEBO = "placebo: similar pages without a link"


class Metric(StrEnum):
    """What is measured of a page; the value is its name for people."""

    CLICKS = "clicks"
    IMPRESSIONS = "impressions"
    POSITION = "position"


class Conclusion(StrEnum):
    """What can be said of an effect; the value is for people."""

    GAIN = "gain"
    LOSS = "loss"
    UNCLEAR = "not distinguishable from no effect yet"
    THIN = "too few data"


class Dropped(Enum):
    """Why a target with a new link is not in the comparison; the value completes "3 targets left out: "."""

    UNKNOWN = "without search data"
    LATE = "whose link went live too late in the experiment"
    EARLY = "with too few weeks of search data before the link"
    RECENT = "whose link is too recent"
    NO_CONTROL = "without similar pages in the same section and language"


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """An effect with its interval."""

    outcome: Metric  # what was measured
    group: str  # the targets that it is about: "all", or the name of a tier or kind of anchor
    # of clicks and impressions, the natural logarithm of the ratio of what targets had and what they would have had
    # without the links; of positions, the difference: below 0 is a better position
    effect: float
    # low, high: the interval that holds the true effect in 95 of 100 such comparisons
    low: float
    high: float
    error: float  # the standard error of `effect`
    pages: int  # how many targets
    controls: int  # how many different control pages

    @property
    def is_ratio(self) -> bool:
        """Whether the effect is the logarithm of a ratio."""
        return self.outcome is not Metric.POSITION

    @property
    def shown(self) -> tuple[float, float, float]:
        """The effect and its interval as people read them: shares such as 0.06 for 6% more, or positions."""
        if not self.is_ratio:
            return self.effect, self.low, self.high
        return expm1(self.effect), expm1(self.low), expm1(self.high)

    @property
    def verdict(self) -> Conclusion:
        """Whether the interval leaves out "no effect"."""
        if self.low <= 0 <= self.high:
            return Conclusion.UNCLEAR
        return Conclusion.GAIN if (self.effect > 0) == self.is_ratio else Conclusion.LOSS

    @property
    def judgement(self) -> str:
        """The verdict for people; of the placebo, whether it is as it should be."""
        if self.group != PLACEBO:
            return str(self.verdict)
        return "no effect, as it should be" if self.verdict is Conclusion.UNCLEAR else "failed"


# The columns of `Findings.pairs`.
_PAIRS = (
    *("page", "tier", "anchor", "links", "before", "after", "expected_before", "expected_after"),
    *("live", "controls"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """What the new links of a site did."""

    days: int  # how many days after the links were compared
    verdict: Conclusion  # what can be said of the clicks
    sentence: str  # the same for people
    # the effects on all targets, clicks first; then those by tier and kind of anchor
    estimates: Sequence[Effect] = ()
    # the targets' clicks relative to their controls' in each week, as shares: 0.06 is 6% more than in the weeks before
    # the link; week 0 begins on the day of the link
    weeks: "DataFrame" = field(default_factory=lambda: _empty("week", "effect", "low", "high"), compare=False)
    # how probable differences between targets and controls before the link, as large as those found, are by chance, 0
    # to 1
    pre_trend: float = float("nan")
    placebo: Effect | None = None  # the "effect" on similar pages that got no link: it should be none
    # the mean change of the targets' clicks without any controls, as a logarithm of a ratio
    before_after: float = float("nan")
    # the smallest effect that four of five such comparisons would find, as a share
    detectable: float = float("nan")
    pages_needed: int = 0  # how many targets would show an effect of 5% in four of five comparisons
    # the targets beside the means of their controls, in clicks a week; `expected_after` is adjusted to the target's own
    # level before the link, `live` is the date of the link, and `controls` are keys, the most similar page first
    pairs: "DataFrame" = field(default_factory=lambda: _empty(*_PAIRS), compare=False)
    dropped: Mapping[Dropped, int] = field(default_factory=dict)  # the counts of targets left out
    randomised: bool = False  # whether the controls are targets whose links were held back at random
    remarks: Sequence[str] = ()  # what weakens the comparison, one sentence each

    @property
    def listed(self) -> Sequence[Effect]:
        """All effects as people see them in a table, the placebo last."""
        return [*self.estimates, self.placebo] if self.placebo else self.estimates

    @property
    def before_after_share(self) -> float:
        """The change of the targets' clicks without controls, as a share."""
        return expm1(self.before_after)


def _empty(*names: str) -> "DataFrame":
    from pandas import DataFrame

    return DataFrame(columns=[*names])


@dataclass(frozen=True, slots=True, kw_only=True)
class DonorPool:
    """The pages of a site by row, from which controls are drawn."""

    strata: Ints  # a number for each section and language, (n,) int64: controls come from the target's own
    first_links: Ints  # the day of each page's first new link, (n,) int64; `NEVER` for none
    held: Bools  # whether a page's links are held back for an experiment, (n,) bool


# No day: pages to which no link went live.
NEVER = 2**40
