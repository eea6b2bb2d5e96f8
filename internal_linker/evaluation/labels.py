"""The record of a pair of pages that a person labels: a row of files/labels.csv."""

from dataclasses import dataclass
from itertools import pairwise
from math import nan
from typing import Literal, get_args

from internal_linker.core.sections import section_of

Label = Literal["good", "borderline", "bad"]
LABELS: tuple[Label, ...] = get_args(Label)

# The usual thresholds, and some on both sides: a source's candidates from the 10th to the 20th have strengths around
# 0.3, its fifth link one around 0.55, its first one around 0.95.
_BOUNDS = (0.0, 0.35, 0.5, 0.65, 0.8, 0.9, 1.0)


@dataclass(frozen=True, slots=True)
class Pair:
    """A page, another that it could link to, and what a person says of that.

    Attributes:
        ends: the normal forms of both: equal for two writings of a pair.
        source, target: their URLs as the user writes them.
        source_title, target_title: so that a person needs not open each.
        similarity: cosine of the embeddings, NaN where there is none.
        strength: 0 to 1, NaN where it is not known.
        label: "" where nobody said anything yet.
    """

    ends: tuple[str, str]
    source: str
    target: str
    source_title: str = ""
    target_title: str = ""
    similarity: float = nan
    strength: float = nan
    label: Label | Literal[""] = ""

    @property
    def section(self) -> str:
        """Of the source, as in "/blog"."""
        return section_of(self.ends[0])

    @property
    def band(self) -> str:
        """The range that the strength lies in, as in "0.65 to 0.80"; "" without a strength."""
        return next((f"{low:.2f} to {high:.2f}" for low, high in _RANGES if low <= self.strength), "")


# From the top.
_RANGES = tuple(reversed(tuple(pairwise(_BOUNDS))))
