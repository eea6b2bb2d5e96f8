"""A link's score -> its strength, 0 to 1, and by that its tier: where on a page it may stand."""

import numpy as np

from internal_linker.core.arrays import Vectors
from internal_linker.core.edges import Tier

# Standard deviations above the source's average target. At the middle a link has strength 0.5, one scale further
# 0.73.
MIDDLE, SCALE = 2.0, 1.5


def strengths(scores: Vectors) -> Vectors:
    """The strengths of many links, of the scores' shape; NaN where there is no score."""
    # 1 / (1 + exp(-x)), which would overflow far below the middle.
    found: Vectors = 0.5 + 0.5 * np.tanh((scores - MIDDLE) / (2 * SCALE))
    return found


def strength(score: float) -> float:
    """The logistic function of the score, 0 to 1; NaN where there is none."""
    return float(strengths(np.array(score)))


def tier_of(strength: float, inline: float, sidebar: float) -> Tier:
    """The tier of a link by its strength; one without strength is for review.

    Args:
        strength: 0 to 1, or NaN.
        inline: the least strength of a link in the text, 0 to 1.
        sidebar: the least one of a link beside it; not above `inline`.
    """
    if strength >= inline:
        return "inline"
    return "sidebar" if strength >= sidebar else "review"
