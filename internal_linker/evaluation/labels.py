"""A pair of pages that a person labels: one row of files/labels.csv."""

from dataclasses import dataclass
from itertools import pairwise
from math import nan
from typing import Literal, get_args

from internal_linker.core.sections import section_of

Label = Literal["good", "borderline", "bad"]
LABELS: tuple[Label, ...] = get_args(Label)

# The usual thresholds, and some on both sides: strengths are around 0.3 for a source's 10th to 20th candidates, around
# 0.55 for its fifth link and around 0.95 for its first.
_BOUNDS = (0.0, 0.35, 0.5, 0.65, 0.8, 0.9, 1.0)


@dataclass(frozen=True, slots=True)
class Pair:
    """A page, another page that it could link to, and a person's label for that link.

    Attributes:
        ends: normal forms of both URLs: equal for all spellings of a pair.
        source, target: both URLs in the user's spelling.
        source_title, target_title: titles, which save a person from opening the pages.
        strength: strength of the link, 0 to 1, NaN where it is unknown.
        label: the label; "" until the pair is labelled.
    """

    ends: tuple[str, str]
    source: str
    target: str
    source_title: str = ""
    target_title: str = ""
    strength: float = nan
    label: Label | Literal[""] = ""

    @property
    def section(self) -> str:
        """The source's section, such as "/blog"."""
        return section_of(self.ends[0])

    @property
    def band(self) -> str:
        """The range that the score is in, such as "65 to 80"; "" without a strength."""
        return next(
            (f"{100 * low:.0f} to {100 * high:.0f}" for low, high in _RANGES if low <= self.strength), ""
        )


# The highest range comes first.
_RANGES = tuple(reversed(tuple(pairwise(_BOUNDS))))
