"""Training of the ranker on a site's existing links, with cross-validation against the fixed weights."""

from collections.abc import Sequence
from dataclasses import dataclass

from internal_linker.core.records import ExistingLink
from internal_linker.ranking.metrics import Estimate
from internal_linker.ranking.rank import Ranking

# With fewer links, weights follow chance.
LEAST_LINKS = 200
# Source pages to learn from: more take longer and change the weights little.
MOST_SOURCES = 1000
# The number of parts of the links; one of them is hidden at a time.
HIDINGS = 4
# Folds of the source pages; a ranker trained on the others ranks each.
FOLDS = 5
# The least gain in NDCG@5, by the lower bound of its interval, for which the ranker is used: a smaller gain isn't worth
# another order, and the interval is slightly too narrow, since many lists share their targets. On random links the
# lower bound is above 0 on one site in ten.
LEAST_GAIN = 0.005
# The message where the links are too few to learn from.
TOO_FEW = (
    f"no model was learned: that requires at least {LEAST_LINKS} existing links between your pages, "
    "from many of them"
)


@dataclass(frozen=True, slots=True)
class Range:
    """Pairs whose expected probability is between two bounds.

    Attributes:
        low, high: the bounds; the upper bound is exclusive.
        expected: mean expected probability.
        links: share of the pairs that are links.
        pairs: count of the pairs.
    """

    low: float
    high: float
    expected: float
    links: float
    pairs: int


@dataclass(frozen=True, slots=True)
class Lesson:
    """The result of the ranker's cross-validation: NDCG@5 on links that were hidden from it.

    Attributes:
        links: count of the known links that the ranker learned from.
        fixed: NDCG@5 of the fixed weights, with a fourth of the links hidden at a time.
        learned: NDCG@5 of the ranker on the same links.
        gain: gain of the ranker over the fixed weights, list by list.
        used: whether the ranker is used.
        reliability: expected probabilities with the observed shares of links.
    """

    links: int
    fixed: Estimate
    learned: Estimate
    gain: Estimate
    used: bool
    reliability: Sequence[Range]

    def __str__(self) -> str:
        gain = f"{self.gain.mean:+.3f} [{self.gain.low:+.3f}, {self.gain.high:+.3f}]"
        gain = f"NDCG@5 {self.learned.mean:.3f} against {self.fixed.mean:.3f}: {gain}; 1 is the best order"
        if self.used:
            return f"a model learned from {self.links} links is used with the fixed weights ({gain})"
        return (
            f"a model learned from {self.links} links is not used: "
            f"it is not clearly better than the fixed weights ({gain})"
        )


def teach(ranking: Ranking, links: Sequence[ExistingLink]) -> tuple[Ranking, Lesson | None]:
    """Return the ranking, and what its links taught."""
    return ranking, None
