"""How much pages need links, and what people should know about it."""

from dataclasses import dataclass

import numpy as np

from internal_linker.model.arrays import Ints, Vectors

# Needs are multiples of 1 / LEVELS: search data change every day, and lists should not change with each impression.
LEVELS = 4


@dataclass(frozen=True, slots=True)
class PageNeeds:
    """The needs of n pages, in the order of their rows."""

    values: Vectors  # (n,) float32 how much each page needs links, 0 to 1
    # (n,) int64 impressions in 28 days at positions where better ones would earn clicks; 0 if unknown
    impressions: Ints
    positions: Ints  # (n,) int64 the mean position of these impressions, rounded; 0 without any
    # (n,) int64 days since the page was published if that makes it needy; -1 if not, or if unknown
    ages: Ints

    def __post_init__(self) -> None:
        shapes = {each.shape for each in (self.values, self.impressions, self.positions, self.ages)}
        if len(shapes) > 1 or self.values.ndim != 1:
            raise ValueError(f"values, impressions, positions and ages must be (n,), got {sorted(shapes)}")
        if len(self.values) and not 0 <= self.values.min() <= self.values.max() <= 1:
            raise ValueError(f"needs must be 0 to 1, got {self.values.min()} to {self.values.max()}")

    @property
    def levels(self) -> Ints:
        """(n,) the values as whole numbers from 0 to `LEVELS`."""
        found: Ints = np.rint(self.values * LEVELS).astype(np.int64)
        return found
