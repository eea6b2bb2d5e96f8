"""Drift between two runs: which of their figures changed by more than in a site's ordinary weeks."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from math import sqrt
from typing import Any

import numpy as np

from internal_linker.model.arrays import Vectors
from internal_linker.model.edges import TIER_NAMES, Tier, strengths, tier_of
from internal_linker.model.records import Recommendation

# Bins of a histogram from 0 to 1, 0.05 wide: as fine as a chart shows, and the usual thresholds are bin edges.
BINS = 20


@dataclass(frozen=True, slots=True)
class RunFacts:
    """Facts of a run over the whole site, for comparison; `asdict` writes them and `facts_in` reads them."""

    encoder: str  # provider and model of the vectors
    recipe: str  # how texts become vectors
    inline: float  # the least strength of a link in the text
    sidebar: float  # the least strength of a link beside the text
    pages: int  # count of the pages in the input
    rows: int  # count of the rows that get links
    tiers: Mapping[Tier, int]  # count of the links in each tier
    # histogram of the links' cosine similarities: `BINS` bins of equal width from 0 to 1, with values below 0
    # in the first, then one bin for links without a similarity
    similarities: Sequence[int]
    strengths: Sequence[int]  # histogram of the links' strengths, with the same bins

    @property
    def links(self) -> int:
        """The count of all links of the run."""
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
    rows, signals = 0, list[tuple[float, float]]()
    for recommendation in recommendations:
        rows += 1
        if not recommendation.source.is_page:
            # No page can carry what is suggested for a query.
            continue
        signals += [(link.target.similarity, link.target.score) for link in recommendation.links]
    similarity, score = np.array(signals, np.float64).reshape(-1, 2).T
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
    """Return the facts in a JSON object; None if an earlier release stored no facts or different ones."""
    names = {field.name for field in fields(RunFacts)}
    return RunFacts(**{name: kept[name] for name in names}) if names <= kept.keys() else None


def _histogram(values: Vectors) -> tuple[int, ...]:
    """Return the counts of `BINS` bins, then the count of NaN values."""
    known = values[~np.isnan(values)]
    bins = np.clip(known * BINS, 0, BINS - 1).astype(np.int64)
    return (*np.bincount(bins, minlength=BINS).tolist(), len(values) - len(known))


# Two histograms with a population stability index above this usual bound count as different. In weeks in which 1 to 10%
# of the pages changed, went or came, the index was 0.17 or less on sites of 45 to 490 pages; with half of the contents
# empty or boilerplate it was 0.34 or more; from a local model to word statistics it was 2.1 or more.
MOST_PSI = 0.25
# Another encoder or recipe changes the scale of similarities, while thresholds were found on the old scale: the usual
# bound of a slight shift applies, even if chance could explain it. In ordinary weeks the index of similarities was 0.06
# or less.
MOST_PSI_OF_ANOTHER_ENCODER = 0.1
# Bins of a histogram that are merged into one, 0.1 wide: without merging, an ordinary week of 50 pages reaches 0.23.
_WIDTH = 2
# Added to each bin, so that an empty one can be compared.
_SMOOTHING = 0.5
_SAME = " although encoder and recipe are the same"
# The largest allowed change in the share of a tier: it was 0.12 or less in ordinary weeks, 0.10 to 0.60 with half of a
# crawl broken.
MOST_SHARE = 0.2
# Chance alone can move a small site beyond these bounds; the test allows that in one run of a thousand.
_CHANCE = 0.001
# The least share of pages or links that must remain: no site shrinks by more in a week.
_LEFT = 0.5


def drift(before: RunFacts, now: RunFacts) -> list[str]:
    """Return what drifted, one sentence each; [] if nothing did."""
    return [*_shrunk(before, now), *_moved(before, now), *_tiers(before, now)]


def mostly_by_words(facts: RunFacts) -> bool:
    """Return whether most links have no similarity, so that only words chose them."""
    return facts.similarities[-1] > facts.links / 2


def stability_index(before: Sequence[int], now: Sequence[int]) -> tuple[float, float]:
    """Return the population stability index of two histograms, 0 or more, and the highest that chance explains."""
    counts = np.stack([_coarse(before), _coarse(now)])
    counts = counts[:, counts.any(axis=0)]
    sums = counts.sum(axis=1)
    if not sums.all():
        return 0.0, 0.0
    shares = (counts + _SMOOTHING) / (counts + _SMOOTHING).sum(axis=1, keepdims=True)
    index = ((shares[1] - shares[0]) * np.log(shares[1] / shares[0])).sum()
    # For two samples of one distribution, the index is about chi-square / sample size (Yurdakul 2018).
    # It takes a tenth of a second to import, and most commands end without it.
    from scipy.special import chdtri

    return float(index), float(chdtri(max(1, counts.shape[1] - 1), _CHANCE) * (1 / sums).sum())


def _shrunk(before: RunFacts, now: RunFacts) -> Iterator[str]:
    if now.pages < before.pages * _LEFT:
        yield f"The site has {now.pages} pages instead of {before.pages}: check that the page list is complete."
    elif now.links < before.links * _LEFT:
        yield f"The run has {now.links} links instead of {before.links}: check that the pages still have content."


def _moved(before: RunFacts, now: RunFacts) -> Iterator[str]:
    why = _changed(before, now)
    for what, was, is_ in (
        ("Similarities", before.similarities, now.similarities),
        ("Scores", before.strengths, now.strengths),
    ):
        index, chance = stability_index(was, is_)
        bound = MOST_PSI_OF_ANOTHER_ENCODER if why else max(MOST_PSI, chance)
        if index > bound:
            yield (
                f"{what} of the links changed{why or _SAME}: {_summary(was, what)} before, {_summary(is_, what)} "
                f"now. This is more than usual (stability index {index:.2f}; up to {bound:.2f} is usual)."
            )


def _changed(before: RunFacts, now: RunFacts) -> str:
    """Return which of encoder and recipe changed, "" if neither did."""
    names = [
        f"the {name} changed from {was} to {is_}"
        for name, was, is_ in (
            ("encoder", before.encoder, now.encoder),
            ("recipe", before.recipe, now.recipe),
        )
        if was != is_
    ]
    return f" because {' and '.join(names)}" if names else ""


def _tiers(before: RunFacts, now: RunFacts) -> Iterator[str]:
    """Yield the tiers whose share changed too much; tiers with other thresholds can't be compared."""
    if (before.inline, before.sidebar) != (now.inline, now.sidebar) or not (before.links and now.links):
        return
    from scipy.special import ndtri

    for tier in before.tiers:
        was, is_ = before.tiers[tier] / before.links, now.tiers[tier] / now.links
        mean = (before.tiers[tier] + now.tiers[tier]) / (before.links + now.links)
        error = sqrt(mean * (1 - mean) * (1 / before.links + 1 / now.links))
        if abs(is_ - was) > max(MOST_SHARE, -float(ndtri(_CHANCE / 2)) * error):
            yield f"{is_:.0%} of the links have the tier “{TIER_NAMES[tier]}”; before, {was:.0%} had it."


def _coarse(histogram: Sequence[int]) -> Vectors:
    """Merge bins into wider ones; the last bin, for missing values, stays separate."""
    *bins, without = histogram
    found: Vectors = np.append(np.array(bins, np.float64).reshape(-1, _WIDTH).sum(axis=1), without)
    return found


def _summary(histogram: Sequence[int], what: str) -> str:
    """Return the mean of a histogram, of scores from 0 to 100, and the count of missing values."""
    *bins, without = histogram
    middles = (np.arange(len(bins)) + 0.5) / len(bins)
    scale, decimals = (100, 0) if what == "Scores" else (1, 2)
    mean = f"mean {scale * np.average(middles, weights=bins):.{decimals}f}" if any(bins) else "no values"
    return f"{mean} ({without} links without a value)" if without else mean
