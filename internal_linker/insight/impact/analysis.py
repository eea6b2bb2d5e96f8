"""The impact of a site's new links: matches their targets, estimates what they gained, and says what is known."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING

import numpy as np

from internal_linker.insight.impact.estimate import (
    Influence,
    before_after,
    detectable,
    estimate,
    event_study,
    outcomes,
    pages_needed,
    set_means,
)
from internal_linker.insight.impact.matching import Matching, history, level, matched
from internal_linker.insight.impact.panel import Panel
from internal_linker.insight.impact.records import (
    DAYS_A_WEEK,
    NEVER,
    PLACEBO,
    WEEKS_BEFORE,
    Conclusion,
    DonorPool,
    Dropped,
    Effect,
    Findings,
    Metric,
)
from internal_linker.model.arrays import Bools, Ints, Vectors
from internal_linker.model.search_data import FINAL_AFTER
from internal_linker.model.sequences import counted

if TYPE_CHECKING:
    from pandas import DataFrame, Series

# Below these, the intervals of the simulated sites (tests/research/quality/IMPACT.md) no longer hold what they promise.
FEWEST_PAGES, FEWEST_CONTROLS, FEWEST_CLICKS = 20, 20, 200
# Held-back targets of an experiment.
FEWEST_HELD = 30
# Fewer whole weeks after a link are mostly chance.
_FEWEST_WEEKS = 2
# Below it, differences before the link are hardly by chance.
_LIKELY = 0.05
# Results must not differ from one call to the next.
_SEED = 20_240_229


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """Targets whose links were held back at random."""

    held: frozenset[str]  # the keys of the targets that were held back
    released: frozenset[str]  # the keys of the others that were drawn from
    # first, until: the first day, and the day from which held-back links may go live, as ordinal numbers
    first: int
    until: int

    def contaminated(self, treated: "DataFrame") -> int:
        """Return how many targets, by `treated_pages` since the first day, got a link while links were held back."""
        return int((treated["page"].isin(self.held) & self.lasts(treated)).sum())

    def lasts(self, treated: "DataFrame") -> "Series":
        """Return whether links to targets went live while it lasted."""
        return treated["day"].between(self.first, self.until, inclusive="left")


def contamination(count: int, held: int) -> str:
    """Say how many of the targets that were drawn to be held back got a new link; without a full stop."""
    every = (
        f"all {counted(held, 'page')}" if count == held > 1 else f"{count:,} of the {counted(held, 'page')}"
    )
    return f"{every} that were drawn to be held back got a new link anyway"


@dataclass(frozen=True)
class ClickEffect:
    """What new links did to clicks."""

    treated: "DataFrame"  # the targets that were looked at
    matches: Matching  # those that could be compared, with their controls
    thin: str  # why there are too few data to say; "": there are enough
    # clicks, details: the effect and what it depends on; None if there are too few data
    clicks: Effect | None = None
    details: Influence | None = None


def treated_pages(links: "DataFrame", days: int, since: int = 0) -> "DataFrame":
    """Return the pages that links went live to, sorted by `page`, each with the day of its first link.

    `links` is the number of links within the days, `tier` and `anchor` are those of the first link, "several" if links
    of the first day differ.

    Args:
        links: `target`, a key; `day`, an ordinal number of `datetime.date`; `tier` and kind of `anchor`.
        days: how many days after it further links of the page count.
        since: the first day whose links are new, as an ordinal number: that of an experiment, since pages with earlier
            links are held back as often as others.
    """
    some = links[links["day"] >= since]
    firsts = some.groupby("target")["day"].transform("min")
    some = some.assign(links=(some["day"] < firsts + days).astype(np.int64))
    found = some[some["day"] == firsts].groupby("target")[["day", "tier", "anchor"]].first()
    kinds = some[some["day"] == firsts].groupby("target")[["tier", "anchor"]].nunique()
    for name in kinds:
        found[name] = found[name].where(kinds[name] == 1, "several")
    found["links"] = some.groupby("target")["links"].sum()
    return found.rename_axis("page").reset_index()


def impact(
    panel: Panel,
    treated: "DataFrame",
    strata: Mapping[str, str],
    *,
    days: int = 28,
    experiment: Experiment | None = None,
) -> Findings:
    """Find what new links did to their targets.

    Args:
        treated: the targets, by `treated_pages`; of an experiment those of links since its first day.
        strata: the section and language of each page, as any text: controls have the target's own.
        days: how many days after the links are compared, whole weeks.
        experiment: compare with targets that were held back at random rather than with similar pages; None: no.
    """
    found = click_effect(panel, treated, strata, days=days, experiment=experiment)
    live = experiment.contaminated(treated) if experiment else 0
    share = live / len(experiment.held) if experiment and live else 0.0
    remarks = [_diluted(live, len(experiment.held))] if experiment and 0 < share < 1 else []
    if found.thin:
        return Findings(
            days=days,
            verdict=Conclusion.THIN,
            sentence=found.thin,
            dropped=found.matches.dropped,
            randomised=experiment is not None,
            remarks=remarks,
        )
    result = _found(panel, found, days, randomised=experiment is not None, share=share)
    return replace(result, remarks=[*remarks, *result.remarks])


def click_effect(
    panel: Panel,
    treated: "DataFrame",
    strata: Mapping[str, str],
    *,
    days: int = 28,
    experiment: Experiment | None = None,
) -> ClickEffect:
    """Find what new links did to the clicks of their targets; the arguments are those of `impact`."""
    site, some, weeks = _site(panel, treated, strata, experiment), treated, days // DAYS_A_WEEK
    if experiment:
        some = treated[treated["page"].isin(experiment.released) & experiment.lasts(treated)]
    live = some["day"].to_numpy(np.int64)
    spans = _spans(live, weeks, experiment)
    matches = matched(panel, site, _rows(panel, some), live, spans, at_random=experiment is not None)
    if thin := _all_live(experiment, treated) or _too_thin(panel, matches, len(some), days, experiment):
        return ClickEffect(some, matches, thin)
    first = estimate(panel, matches, Metric.CLICKS, np.random.default_rng(_SEED))
    if first is None:
        none = (
            f"Too few data: the targets or their controls had no clicks in the {days} days after the links."
        )
        return ClickEffect(some, matches, none)
    return ClickEffect(some, matches, "", *first)


def _site(
    panel: Panel, treated: "DataFrame", strata: Mapping[str, str], experiment: Experiment | None
) -> DonorPool:
    firsts: Ints = np.full(len(panel.pages), NEVER, np.int64)
    rows = _rows(panel, treated)
    firsts[rows[rows >= 0]] = treated["day"].to_numpy(np.int64)[rows >= 0]
    named = np.array([strata.get(page, "") for page in panel.pages], np.str_)
    held = experiment.held if experiment else frozenset[str]()
    return DonorPool(
        strata=np.unique(named, return_inverse=True)[1].astype(np.int64),
        first_links=firsts,
        held=np.array([page in held for page in panel.pages], np.bool_),
    )


def _rows(panel: Panel, treated: "DataFrame") -> Ints:
    """Return the row of each target in the panel; -1 for a page without data."""
    from pandas import Index

    rows: Ints = Index(panel.pages, dtype=object).get_indexer(treated["page"]).astype(np.int64)
    return rows


def _spans(live: Ints, weeks: int, experiment: Experiment | None) -> Ints:
    """Return how many whole weeks after each target's link are compared; 0 if too few are left."""
    spans = np.full(len(live), weeks, np.int64)
    if experiment:
        spans = np.minimum(spans, (experiment.until - live) // DAYS_A_WEEK)
    return np.where(spans >= min(weeks, _FEWEST_WEEKS), spans, 0)


def _all_live(experiment: Experiment | None, treated: "DataFrame") -> str:
    """Return why an experiment can't be evaluated however long one waits; "" if it can."""
    if experiment is None or not experiment.held or experiment.contaminated(treated) < len(experiment.held):
        return ""
    count = len(experiment.held)
    return (
        f"The experiment can't be evaluated: {contamination(count, count)}, so there is nothing to compare with. "
        "End it with impact --release, plan another one, and leave the links alone that it holds back."
    )


def _diluted(live: int, held: int) -> str:
    return (
        f"{contamination(live, held)}. The comparison counts all pages as they were drawn, since leaving some out "
        "would be a choice and no draw any more: the effect looks smaller than it is, "
        f"by up to about {live / held:.0%}."
    )


def _too_thin(panel: Panel, matches: Matching, targets: int, days: int, experiment: Experiment | None) -> str:
    """Return why there are too few data, and what would be enough; "" if there are enough."""
    if not targets:
        if experiment:
            return (
                "Too few data: no link to a target that was drawn to go live did so during the experiment. "
                f"At least {FEWEST_PAGES} such targets are needed."
            )
        return (
            "Too few data: no link has gone live yet, or no run has found it on the site since. "
            f"New links to at least {FEWEST_PAGES} pages are needed, and {days} days of search data after them."
        )
    about = f"Too few data to say what links did within {days} days: "
    if len(matches) < FEWEST_PAGES:
        lacking = FEWEST_PAGES - len(matches)
        enough = (
            f"{FEWEST_PAGES} are needed"
            if lacking <= len(matches.waiting)
            else f"{counted(lacking, 'more target')} would be enough"
        )
        told = f"{about}{counted(len(matches), 'target')} can be compared, and {enough}."
        return told + _waiting(matches, lacking, days) + _left_out(matches.dropped)
    controls, fewest = len(np.unique(matches.controls)), FEWEST_HELD if experiment else FEWEST_CONTROLS
    if controls < fewest:
        return (
            f"{about}they can be compared with {counted(controls, 'page')} only, and {fewest} are needed: "
            + (
                "plan with more accepted links."
                if experiment
                else "leave some pages of each section without new links."
            )
        )
    past = history(panel, Metric.CLICKS, matches.rows, matches.days)
    clicks = float(level(past).sum()) * days / DAYS_A_WEEK
    if clicks < FEWEST_CLICKS:
        times = int(np.ceil(FEWEST_CLICKS / max(clicks, 1)))
        return (
            f"{about}the targets had {clicks:,.0f} clicks in {days} days before, and {FEWEST_CLICKS} are needed: "
            f"about {counted(len(matches) * times - len(matches), 'more target')} such as these would be enough."
        )
    return ""


def _waiting(matches: Matching, lacking: int, days: int) -> str:
    """Return how many targets wait for search data, and when so many are there as are lacking, or else all."""
    if not matches.waiting:
        return ""
    count = len(matches.waiting)
    last = matches.waiting[min(lacking, count) - 1]
    wait = f"{counted(count, 'target')} {'waits' if count == 1 else 'wait'}"
    return (
        f" {wait} for search data of up to {days} days after the link: ask again from "
        f"{date.fromordinal(last) + FINAL_AFTER} on, with final search data until {date.fromordinal(last)}."
    )


def _left_out(dropped: Mapping[Dropped, int]) -> str:
    """Return why targets are left out that wait for nothing, and what helps most of them."""
    others = {reason: count for reason, count in dropped.items() if reason is not Dropped.RECENT}
    if not others:
        return ""
    why = "; ".join(f"{counted(count, 'target')} {one.value}" for one, count in others.items())
    remedy = {
        Dropped.LATE: "Put links live within the first week of an experiment.",
        Dropped.EARLY: f"Import search data from {WEEKS_BEFORE} weeks before the links.",
        Dropped.UNKNOWN: "Import the search data of these pages.",
        Dropped.NO_CONTROL: "Leave some pages of these sections without new links.",
    }[max(others, key=lambda one: others[one])]
    return f" Left out: {why}. {remedy}"


def _found(panel: Panel, found: ClickEffect, days: int, *, randomised: bool, share: float) -> Findings:
    assert found.clicks is not None
    assert found.details is not None
    matches, treated, clicks, rng = found.matches, found.treated, found.clicks, np.random.default_rng(_SEED)
    others = [estimate(panel, matches, one, rng) for one in (Metric.IMPRESSIONS, Metric.POSITION)]
    weeks, chance = event_study(panel, matches, rng)
    placebo = _placebo(panel, matches, rng)
    return Findings(
        days=days,
        verdict=clicks.verdict,
        sentence=sentence(clicks, days, randomised=randomised, contaminated=share),
        estimates=[clicks, *(one[0] for one in others if one), *_groups(panel, matches, treated, rng)],
        weeks=weeks,
        pre_trend=chance,
        placebo=placebo,
        before_after=before_after(panel, matches),
        detectable=detectable(clicks.error / (1 - share)),
        pages_needed=_needed(clicks, share),
        pairs=_pairs(panel, matches, treated, found.details.expected),
        dropped=matches.dropped,
        randomised=randomised,
        remarks=_remarks(panel, matches, chance, placebo),
    )


def sentence(found: Effect, days: int, *, randomised: bool = False, contaminated: float = 0.0) -> str:
    """Return the effect on clicks as a sentence.

    Args:
        contaminated: the share of the held-back targets that got a new link, below 1.
    """
    told = f"Targets {_change(found)} clicks in {days} days"
    if found.verdict is not Conclusion.UNCLEAR:
        others = (
            "pages whose links were held back at random" if randomised else "similar pages without new links"
        )
        return f"{told}, compared with {others}."
    more = max(0, _needed(found, contaminated) - found.pages)
    if not more:
        return (
            f"{told}: not distinguishable from no effect, and an effect of 5% would probably have been seen."
        )
    return f"{told}: not distinguishable from no effect yet; {more:,} more pages would be enough to see 5%."


def _needed(found: Effect, contaminated: float) -> int:
    """Return how many targets would show an effect of 5%, of which contamination hides a share."""
    return int(np.ceil(pages_needed(found) / (1 - contaminated) ** 2))


def _change(found: Effect) -> str:
    """Return an effect on counts in words: "lost 10% [5%, 15%]"."""
    effect, low, high = found.shown
    change, sign = ("gained", 1) if effect >= 0 else ("lost", -1)
    ends = sorted((sign * low, sign * high))
    return f"{change} {abs(effect):.0%} [{ends[0]:.0%}, {ends[1]:.0%}]"


def _groups(panel: Panel, matches: Matching, treated: "DataFrame", rng: np.random.Generator) -> list[Effect]:
    """Return the effects on clicks by tier and kind of anchor, of the groups that are large enough."""
    found = list[Effect]()
    for kind in ("tier", "anchor"):
        of_sets = treated[kind].to_numpy(np.str_)[matches.targets]
        for name, count in sorted(Counter(of_sets.tolist()).items()):
            if name and FEWEST_PAGES <= count < len(matches):
                part = estimate(panel, matches.some(of_sets == name), Metric.CLICKS, rng, str(name))
                found += [part[0]] if part else []
    return found


def _placebo(panel: Panel, matches: Matching, rng: np.random.Generator) -> Effect | None:
    """Return the effect on each set's most similar control, as if it had been the target."""
    first = np.diff(matches.sets, prepend=-1) > 0
    several = np.bincount(matches.sets, minlength=len(matches)) > 1
    if not several.all() or (matches.controls[first] == matches.controls[0]).all():
        return None
    sham = replace(
        matches, rows=matches.controls[first], sets=matches.sets[~first], controls=matches.controls[~first]
    )
    # A page may be the nearest of several targets: it counts once, and is never its own control.
    _, once = np.unique(np.stack([sham.rows, sham.days]), axis=1, return_index=True)
    kept: Bools = np.isin(np.arange(len(sham)), once)
    found = estimate(panel, sham.some(kept), Metric.CLICKS, rng, PLACEBO)
    return found[0] if found else None


def _pairs(panel: Panel, matches: Matching, treated: "DataFrame", expected: Vectors) -> "DataFrame":
    own, others = outcomes(panel, matches, Metric.CLICKS)
    pairs = treated[["page", "tier", "anchor", "links"]].iloc[matches.targets].reset_index(drop=True)
    controls = np.array(panel.pages, object)[matches.controls]
    starts = np.searchsorted(matches.sets, np.arange(1, len(matches)))
    return pairs.assign(
        before=level(own[:, 1:]),
        after=own[:, 0],
        expected_before=set_means(level(others[:, 1:]), matches.sets, len(matches)),
        expected_after=np.maximum(0.0, expected),
        live=[date.fromordinal(day) for day in matches.days.tolist()],
        controls=[some.tolist() for some in np.split(controls, starts)],
    )


def _remarks(panel: Panel, matches: Matching, chance: float, placebo: Effect | None) -> list[str]:
    found = [
        f"{counted(count, 'target')} left out: {one.value}."
        for one, count in matches.dropped.items()
        if count
    ]
    if matches.elsewhere:
        found.append(
            f"{counted(matches.elsewhere, 'target')} compared with pages of other sections or languages, because their "
            "own have too few pages without new links: an update that struck only one section may look like an effect."
        )
    if panel.absent:
        found.append(f"{counted(panel.absent, 'day')} without search data of any page.")
    if chance < _LIKELY:
        found.append(
            f"Targets and controls differed before the links already (p = {chance:.3f}): don't take the difference "
            "after them for an effect of the links."
        )
    if placebo and placebo.verdict is not Conclusion.UNCLEAR:
        found.append(
            f"The placebo failed: the pages most similar to the targets {_change(placebo)} clicks on the same days "
            "without any new link. Something else set them apart, perhaps chance, and may have done so with the "
            "targets: don't rely on this comparison alone."
        )
    return found
