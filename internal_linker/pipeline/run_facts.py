"""A run's links -> the figures by which two runs are compared: histograms and counts, as JSON can hold them."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from internal_linker.core.arrays import Vectors
from internal_linker.core.records import Recommendation
from internal_linker.core.tiers import strengths, tier_of

# A twentieth each, from 0 to 1: as fine as a picture shows, and the usual thresholds lie between two.
BINS = 20


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What is compared of a run over the whole site; `dataclasses.asdict` makes JSON of it, `facts_in` the way back.

    Attributes:
        encoder: provider and model of the vectors.
        recipe: how texts became vectors.
        inline: the strength from which a link was for the text.
        sidebar: that from which it was for beside it.
        pages: pages of the input.
        rows: rows that links were wanted for.
        tiers: links of each tier.
        similarities: links by their cosine, `BINS` of equal width from 0 to 1, those below 0 in the first; last,
            in a bin of their own, those without.
        strengths: links by their strength, likewise.
    """

    encoder: str
    recipe: str
    inline: float
    sidebar: float
    pages: int
    rows: int
    tiers: Mapping[str, int]
    similarities: Sequence[int]
    strengths: Sequence[int]

    @property
    def links(self) -> int:
        """All links of the run."""
        return sum(self.tiers.values())


def facts_of(
    recommendations: Iterable[Recommendation],
    pages: int,
    encoder: str,
    recipe: str,
    inline: float,
    sidebar: float,
) -> RunFacts:
    """Count a run's links; the arguments are as in `RunFacts`."""
    rows, told = 0, list[tuple[float, float]]()
    for recommendation in recommendations:
        rows += 1
        told += [(link.target.similarity, link.target.score) for link in recommendation.links]
    similarity, score = np.array(told, np.float64).reshape(-1, 2).T
    strong = strengths(score)
    tiers = Counter(tier_of(each, inline, sidebar) for each in strong.tolist())
    return RunFacts(
        *(encoder, recipe, inline, sidebar, pages, rows),
        {tier: tiers[tier] for tier in ("inline", "sidebar", "review")},
        _histogram(similarity),
        _histogram(strong),
    )


def facts_in(kept: Mapping[str, Any]) -> RunFacts | None:
    """The facts that JSON held; None where an earlier release kept none or others."""
    names = {field.name for field in fields(RunFacts)}
    return RunFacts(**{name: kept[name] for name in names}) if names <= kept.keys() else None


def _histogram(values: Vectors) -> tuple[int, ...]:
    """Counts of `BINS` bins, and how many are NaN."""
    known = values[~np.isnan(values)]
    bins = np.clip(known * BINS, 0, BINS - 1).astype(np.int64)
    return (*np.bincount(bins, minlength=BINS).tolist(), len(values) - len(known))
