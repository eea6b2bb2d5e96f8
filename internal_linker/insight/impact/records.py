"""The records of the impact of links: what is known of targets, and what was found."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, StrEnum
from math import expm1

from internal_linker.model.arrays import Bools, Ints

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
class NewLink:
    """A link that went live."""

    target: str  # the key of the page that it leads to
    day: int  # the date on which it was first seen or written, as an ordinal number of `datetime.date`
    tier: str  # the tier of the link, as people read it
    anchor: str  # the kind of its anchor, as people read it


@dataclass(frozen=True, slots=True, kw_only=True)
class Treated:
    """A page that links went live to."""

    page: str  # its key
    day: int  # the date of its first new link, as an ordinal number
    links: int = 1  # how many links went live to it until the end of the comparison
    # tier, anchor: those of the first link; "several" if links of the first day differ
    tier: str = ""
    anchor: str = ""


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


@dataclass(frozen=True, slots=True)
class EventWeek:
    """The targets' clicks relative to their controls' in a week, as shares; week 0 begins on the day of the link."""

    week: int
    # the effect relative to the weeks before the link, 0.06 for 6% more, and its interval
    effect: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchedPair:
    """A target beside the mean of its controls."""

    page: str  # the target's key
    day: int  # the date of its link, as an ordinal number
    # tier, anchor, links: as in `Treated`
    tier: str
    anchor: str
    links: int
    controls: Sequence[str]  # the keys of its controls, the most similar first
    # before, after: its clicks a week
    before: float
    after: float
    # expected_before, expected_after: those of its controls; `expected_after` is adjusted to the target's own level
    # before the link
    expected_before: float
    expected_after: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """What the new links of a site did."""

    days: int  # how many days after the links were compared
    verdict: Conclusion  # what can be said of the clicks
    sentence: str  # the same for people
    # the effects on all targets, clicks first; then those by tier and kind of anchor
    estimates: Sequence[Effect] = ()
    events: Sequence[EventWeek] = ()  # the weeks before and after the link, for clicks
    # how probable differences between targets and controls before the link, as large as those found, are by chance, 0
    # to 1
    pre_trend: float = float("nan")
    placebo: Effect | None = None  # the "effect" on similar pages that got no link: it should be none
    # the mean change of the targets' clicks without any controls, as a logarithm of a ratio
    before_after: float = float("nan")
    # the smallest effect that four of five such comparisons would find, as a share
    detectable: float = float("nan")
    pages_needed: int = 0  # how many targets would show an effect of 5% in four of five comparisons
    pairs: Sequence[MatchedPair] = ()  # the targets with their controls
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


@dataclass(frozen=True, slots=True, kw_only=True)
class DonorPool:
    """The pages of a site by row, from which controls are drawn."""

    strata: Ints  # a number for each section and language, (n,) int64: controls come from the target's own
    first_links: Ints  # the day of each page's first new link, (n,) int64; `NEVER` for none
    held: Bools  # whether a page's links are held back for an experiment, (n,) bool


# No day: pages to which no link went live.
NEVER = 2**40
