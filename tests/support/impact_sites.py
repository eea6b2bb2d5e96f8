"""Simulated sites whose search data have all that misleads comparisons, and editors who link to sinking pages."""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from internal_linker.insight.impact.analysis import Experiment, impact
from internal_linker.insight.impact.matching import drawn_at_random
from internal_linker.insight.impact.panel import Panel
from internal_linker.insight.impact.records import Findings
from internal_linker.model.arrays import Ints, Vectors

_FIRST = 738_000
_BEFORE, _AFTER = 14 * 7, 6 * 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """What a simulated site is like.

    Attributes:
        pages, targets, sections, weeks: how many there are.
        clicks: a day, of the median page.
        spread: the standard deviation of the logarithm of pages' clicks; None: Zipf's law.
        campaigns: on how many days editors put links live, staggered over the year.
        noise, memory: the standard deviation of a page's own weekly ups and downs (a logarithm), and how much of one
            week's stays in the next.
        drift: the standard deviation of pages' trends over a year (a logarithm).
        updates: how many algorithm updates strike each section differently.
        scatter: the standard deviation of the logarithm of how much an update or a link does to a single page.
        dispersion: the shape of the gamma distribution that makes daily counts negative binomial.
        closed: pages are without clicks on a share of days around this one.
        windows: days over which editors see that a page sinks; one of them for each site.
        sinking: how strongly editors prefer pages that sink.
        experiment: whether the links to one in five of the chosen pages are held back for four weeks after the last
            campaign, so that one campaign makes sense.
    """

    pages: int = 400
    targets: int = 60
    sections: int = 4
    weeks: int = 44
    clicks: float = 0.5
    spread: float | None = 1.2
    campaigns: int = 4
    noise: float = 0.25
    memory: float = 0.7
    drift: float = 0.25
    updates: int = 3
    scatter: float = 0.3
    dispersion: float = 4.0
    closed: float = 1 / 7
    windows: tuple[int, ...] = (28,)
    sinking: float = 2.5
    experiment: bool = False


# Editors who look at other windows than the matching does, Zipf's law, longer and stronger ups and downs, pages that
# updates strike very differently, effects that differ from page to page, and twice the zeros.
HARDER = Kind(
    spread=None,
    clicks=0.3,
    noise=0.35,
    memory=0.85,
    drift=0.5,
    scatter=0.7,
    dispersion=2.0,
    closed=0.25,
    windows=(14, 28, 42),
)


@dataclass(frozen=True, slots=True)
class Simulated:
    """A simulated site.

    Attributes:
        panel: its search data.
        treated: the targets that editors chose, as `treated_pages` has them.
        strata: the section of each page.
        experiment: the targets that were held back, if the kind wants any.
    """

    panel: Panel
    treated: pd.DataFrame
    strata: dict[str, str]
    experiment: Experiment | None = None

    def findings(self, days: int = 28) -> Findings:
        return impact(self.panel, self.treated, self.strata, days=days)


def simulated(seed: int, kind: Kind, effect: float) -> Simulated:
    """Simulate a site.

    Args:
        seed: the same site for the same seed, kind and effect.
        kind: what it is like.
        effect: what a link does to its target's clicks from its first day on, as a share.
    """
    rng = np.random.default_rng(seed)
    sections = rng.integers(0, kind.sections, kind.pages)
    mean = _means(rng, kind, sections)
    days = mean.shape[1]
    gusts = rng.gamma(kind.dispersion, 1 / kind.dispersion, (kind.pages, days))
    gusts *= rng.random((kind.pages, days)) >= rng.beta(1, 1 / kind.closed - 1, (kind.pages, 1))
    mean *= gusts
    clicks = rng.poisson(mean)
    live = np.full(kind.pages, -1)
    window = int(rng.choice(kind.windows))
    held: Ints = np.zeros(0, np.int64)
    for day in np.sort(rng.integers(_BEFORE, days - _AFTER, kind.campaigns)).tolist():
        chosen = _chosen(rng, kind, clicks, live, day, window)
        if kind.experiment:
            held = _held(rng, clicks[:, day - 84 : day].sum(axis=1), sections, chosen)
            chosen = np.setdiff1d(chosen, held)
        live[chosen] = day
        if effect:
            each = np.log1p(effect) + _scattered(rng, kind, len(chosen))
            clicks[chosen, day:] = rng.poisson(mean[chosen, day:] * np.exp(each)[:, None])
    names = [f"https://simulated.example/{section}/{page}" for page, section in enumerate(sections.tolist())]
    counts = clicks.astype(np.float64)
    days = {"page": np.array(names)[live >= 0], "day": _FIRST + live[live >= 0]}
    targets = pd.DataFrame({**days, "links": 1, "tier": "", "anchor": ""})
    panel = Panel(tuple(names), _FIRST, counts, counts * 20, counts * 160)
    strata = dict(zip(names, map(str, sections.tolist()), strict=True))
    if not kind.experiment:
        return Simulated(panel, targets, strata)
    first = int(live.max())
    drawn = Experiment(
        held=frozenset(names[at] for at in held.tolist()),
        released=frozenset(targets["page"]),
        first=_FIRST + first,
        until=_FIRST + first + 28,
    )
    return Simulated(panel, targets, strata, drawn)


def nearest_controls_moved(site: Simulated, times: float) -> Panel:
    """Return the search data with so many times the clicks of each target's most similar control after the link."""
    rows = {page: row for row, page in enumerate(site.panel.pages)}
    clicks, pairs = site.panel.clicks.copy(), site.findings().pairs
    moved = dict(zip(pairs["controls"].str[0].map(rows), pairs["live"], strict=True))
    for row, day in moved.items():
        clicks[row, day.toordinal() - site.panel.first :] *= times
    return replace(site.panel, clicks=np.round(clicks))


def _means(rng: np.random.Generator, kind: Kind, sections: Ints) -> Vectors:
    """Return the expected clicks of each page on each day, before chance in counting, (n, d)."""
    days, pages = np.arange(kind.weeks * 7), kind.pages
    if kind.spread is None:
        levels = np.log(kind.clicks / rng.uniform(0.002, 1, pages) ** 0.9)
    else:
        levels = np.log(kind.clicks) + rng.normal(0, kind.spread, pages)
    year = 2 * np.pi * (days / 365 + rng.uniform())
    common = 0.25 * np.sin(year) + rng.normal(0, 0.3) * days / 365
    own_year = 2 * np.pi * (days / 365 + rng.uniform(size=(kind.sections, 1)))
    cycle = np.array([0, 0.05, 0.05, 0.03, 0, -0.3, -0.35])[days % 7]
    of_section = 0.15 * np.sin(own_year) + cycle * rng.uniform(0.3, 1.5, (kind.sections, 1))
    struck = np.zeros((kind.sections, len(days)))
    for _ in range(kind.updates):
        struck[:, rng.integers(0, len(days)) :] += rng.normal(0, 0.25, (kind.sections, 1))
    sensitive = np.exp(rng.normal(0, kind.scatter, (pages, 1)))
    ups = np.empty((pages, kind.weeks))
    shocks = rng.normal(0, 1, ups.shape)
    ups[:, 0] = shocks[:, 0]
    for week in range(1, kind.weeks):
        ups[:, week] = kind.memory * ups[:, week - 1] + np.sqrt(1 - kind.memory**2) * shocks[:, week]
    drift = rng.normal(0, kind.drift, (pages, 1)) * (days / 365 - 0.5)
    total = levels[:, None] + common + of_section[sections] + struck[sections] * sensitive + drift
    total += np.repeat(kind.noise * ups, 7, axis=1)
    found: Vectors = np.exp(np.minimum(total, 9))
    return found


def _chosen(rng: np.random.Generator, kind: Kind, clicks: Ints, live: Ints, day: int, window: int) -> Ints:
    """Return the pages that editors link to on a day: rather those that sank in the window before it."""
    recent = clicks[:, day - window : day].sum(axis=1) / window
    early = clicks[:, day - 84 : day - window].sum(axis=1) / (84 - window)
    sank = np.log((early + 0.05) / (recent + 0.05))
    score = kind.sinking * sank + 0.3 * np.log(early + 0.05) + rng.gumbel(size=len(live))
    # Nobody picks a page that is linked already, or that hardly anybody visits.
    score[(live >= 0) | (clicks[:, day - 84 : day].sum(axis=1) < 12)] = -np.inf
    best = np.argsort(-score)[: kind.targets // kind.campaigns]
    found: Ints = best[np.isfinite(score[best])]
    return found


def _held(rng: np.random.Generator, clicks: Vectors, sections: Ints, chosen: Ints) -> Ints:
    """Return the chosen pages whose links are held back, as the product draws them."""
    levels = {str(page): float(clicks[page]) for page in chosen.tolist()}
    strata = {str(page): str(sections[page]) for page in chosen.tolist()}
    return np.array([int(page) for page in drawn_at_random(levels, strata, rng)], np.int64)


def _scattered(rng: np.random.Generator, kind: Kind, count: int) -> Vectors:
    """Return how the effects on single pages differ from the mean effect, as logarithms whose mean ratio is 1."""
    spread = max(0.0, (kind.scatter - 0.3) / 4)
    return rng.normal(-(spread**2) / 2, spread, count)
