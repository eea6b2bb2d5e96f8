"""The facts of two runs -> what moved between them further than a site's ordinary weeks move it, a sentence each."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from math import sqrt
from typing import Any

import numpy as np
from scipy.special import chdtri, ndtri

from internal_linker.core.arrays import Vectors
from internal_linker.core.edges import strengths, tier_of
from internal_linker.core.records import Recommendation

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
    *,
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
        encoder=encoder,
        recipe=recipe,
        inline=inline,
        sidebar=sidebar,
        pages=pages,
        rows=rows,
        tiers={tier: tiers[tier] for tier in ("inline", "sidebar", "review")},
        similarities=_histogram(similarity),
        strengths=_histogram(strong),
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


# From this population stability index on, two histograms count as different: the usual bound. In weeks in which 1 to
# 10% of the pages changed, went or came it was at the most 0.17, on sites of 45 to 490 pages; with half of the contents
# empty or boilerplate 0.34 and more; from a local model to word statistics 2.1 and more.
MOST_PSI = 0.25
# Another encoder or recipe brings another scale of similarities, and thresholds that were found on the old one: the
# usual bound of a slight shift is enough, chance or not. In ordinary weeks similarities moved by 0.06 at the most.
MOST_PSI_OF_ANOTHER_ENCODER = 0.1
# Half as many bins as the histograms have, 0.1 wide: with all of them an ordinary week of 50 pages reaches 0.23.
_WIDTH = 2
# Put into each bin, so that an empty one can be compared.
_SMOOTHING = 0.5
_SAME = ", though encoder and recipe are the same"
# By which the share of a tier may change: by 0.12 at the most in such weeks, by 0.10 to 0.60 with half a crawl broken.
MOST_SHARE = 0.2
# Chance alone moves a small site further than these bounds; it may once in a thousand runs.
_CHANCE = 0.001
# Fewer than this share of pages or links are left: no site shrinks so in a week.
_LEFT = 0.5


def drift(before: RunFacts, now: RunFacts) -> list[str]:
    """What moved, one sentence each; [] where nothing did.

    Args:
        before: of the last run over the whole site.
        now: of this run, over the whole site too.
    """
    return [*_shrunk(before, now), *_moved(before, now), *_tiers(before, now)]


def stability_index(before: Sequence[int], now: Sequence[int]) -> tuple[float, float]:
    """Population stability index of two histograms, 0 or more, and the highest that chance explains."""
    counts = np.stack([_coarse(before), _coarse(now)])
    counts = counts[:, counts.any(axis=0)]
    sums = counts.sum(axis=1)
    if not sums.all():
        return 0.0, 0.0
    shares = (counts + _SMOOTHING) / (counts + _SMOOTHING).sum(axis=1, keepdims=True)
    index = ((shares[1] - shares[0]) * np.log(shares[1] / shares[0])).sum()
    # Of two samples of one distribution it is about chi-square / their size (Yurdakul 2018).
    return float(index), float(chdtri(max(1, counts.shape[1] - 1), _CHANCE) * (1 / sums).sum())


def _shrunk(before: RunFacts, now: RunFacts) -> Iterator[str]:
    if now.pages < before.pages * _LEFT:
        yield f"The site has {now.pages} pages instead of {before.pages}: see whether the page list is whole."
    elif now.links < before.links * _LEFT:
        yield f"There are {now.links} links instead of {before.links}: see whether the pages still have content."


def _moved(before: RunFacts, now: RunFacts) -> Iterator[str]:
    why = _changed(before, now)
    for what, was, is_ in (
        ("Similarities", before.similarities, now.similarities),
        ("Strengths", before.strengths, now.strengths),
    ):
        index, chance = stability_index(was, is_)
        bound = MOST_PSI_OF_ANOTHER_ENCODER if why else max(MOST_PSI, chance)
        if index > bound:
            yield (
                f"{what} of the links moved{why or _SAME}: {_told(was)} before, {_told(is_)} now "
                f"(stability index {index:.2f}, {bound:.2f} allowed)."
            )


def _changed(before: RunFacts, now: RunFacts) -> str:
    """What makes vectors and is another now, or ""."""
    names = [
        f"{name} {was} became {is_}"
        for name, was, is_ in (
            ("encoder", before.encoder, now.encoder),
            ("recipe", before.recipe, now.recipe),
        )
        if was != is_
    ]
    return f", for {' and '.join(names)}" if names else ""


def _tiers(before: RunFacts, now: RunFacts) -> Iterator[str]:
    """Tiers with other thresholds can't be compared."""
    if (before.inline, before.sidebar) != (now.inline, now.sidebar) or not (before.links and now.links):
        return
    for tier in before.tiers:
        was, is_ = before.tiers[tier] / before.links, now.tiers[tier] / now.links
        mean = (before.tiers[tier] + now.tiers[tier]) / (before.links + now.links)
        error = sqrt(mean * (1 - mean) * (1 / before.links + 1 / now.links))
        if abs(is_ - was) > max(MOST_SHARE, -float(ndtri(_CHANCE / 2)) * error):
            yield f"{is_:.0%} of the links are of the tier {tier}, {was:.0%} were before."


def _coarse(histogram: Sequence[int]) -> Vectors:
    """In wider bins; the last stays by itself."""
    *bins, without = histogram
    found: Vectors = np.append(np.array(bins, np.float64).reshape(-1, _WIDTH).sum(axis=1), without)
    return found


def _told(histogram: Sequence[int]) -> str:
    """The mean of a histogram, and how many have no value."""
    *bins, without = histogram
    middles = (np.arange(len(bins)) + 0.5) / len(bins)
    mean = f"mean {np.average(middles, weights=bins):.2f}" if any(bins) else "none"
    return f"{mean}, {without} without" if without else mean
