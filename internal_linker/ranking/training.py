"""Training of the ranker on a site's existing links, with cross-validation against the fixed weights."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from internal_linker.core.arrays import Ints, Vectors
from internal_linker.core.records import ExistingLink, Source
from internal_linker.ranking.features import Signals, features, fixed_score, reordered
from internal_linker.ranking.metrics import Estimate, Measured, fold, measure, paired
from internal_linker.ranking.model import calibrate, fit
from internal_linker.ranking.rank import BLOCK, Ranking

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
# Bounds of the ranges of probability that are compared with the observed shares of links.
_BOUNDS = (0.0, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 1.01)


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


@dataclass(frozen=True, slots=True)
class _Trial:
    """One source while some links are hidden.

    Attributes:
        name: name of the trial.
        part: fold of the source page.
        wanted: rows of the hidden targets.
        is_link: which candidates are hidden targets.
        signals: the candidates with their signals.
        known: features of the candidates.
        fixed: scores of the candidates by the fixed weights.
    """

    name: str
    part: int
    wanted: Ints
    is_link: NDArray[np.bool_]
    signals: Signals
    known: Vectors
    fixed: Vectors


def teach(ranking: Ranking, links: Sequence[ExistingLink]) -> tuple[Ranking, Lesson | None]:
    """Return the ranking with what it learned from its known links, and the result of the cross-validation.

    With too few links, return the ranking unchanged, and None. The signals of a pair are computed while its link is
    hidden, with all other links of its part, so that no link explains itself.
    """
    if ranking.graph.size < LEAST_LINKS:
        return ranking, None
    trials = list(_trials(ranking, links))
    is_link = np.concatenate([trial.is_link for trial in trials])
    if not all(_of_both_kinds(trials, part) for part in range(FOLDS)):
        # The links are on a handful of pages, or nearly every page links to every other: some fold has only links or
        # only other pairs, and can't be used for cross-validation.
        return ranking, None
    known, fixed = [trial.known for trial in trials], [trial.fixed for trial in trials]
    logits = _cross_validated(known, trials)
    ours = [
        reordered(score, logit, trial.signals)
        for score, logit, trial in zip(fixed, logits, trials, strict=True)
    ]
    learned, by_hand = _measured(ours, trials), _measured(fixed, trials)
    gain = paired(learned, by_hand)
    used = gain.low >= LEAST_GAIN
    scores = np.concatenate(logits if used else fixed)
    ranker = fit(np.concatenate(known), is_link) if used else None
    parts = np.repeat([trial.part for trial in trials], [len(each) for each in fixed])
    taught = ranking.taught(ranker, calibrate(scores, is_link))
    lesson = Lesson(
        links=ranking.graph.size,
        fixed=by_hand.ndcg,
        learned=learned.ndcg,
        gain=gain,
        used=used,
        reliability=_reliability(scores, is_link, parts),
    )
    return taught, lesson


def _of_both_kinds(trials: Sequence[_Trial], part: int) -> bool:
    """Return whether a fold contains both pairs that are links and pairs that are not."""
    found = {kind for trial in trials if trial.part == part for kind in np.unique(trial.is_link).tolist()}
    return len(found) == 2


def _trials(ranking: Ranking, links: Sequence[ExistingLink]) -> Iterator[_Trial]:
    """Yield a trial of every source for each part of the links, while that part is hidden."""
    sources = _sources(ranking, links)
    parts = [fold(f"{link.source}\n{link.target}", HIDINGS) for link in links]
    variants = [
        ranking.knowing([link for link, part in zip(links, parts, strict=True) if part != hidden], sources)
        for hidden in range(HIDINGS)
    ]
    blocks = variants[0].signals(range(len(sources)), variants)
    for first, (chosen, found) in zip(range(0, len(sources), BLOCK), blocks, strict=True):
        some, rows = sources[first : first + BLOCK], chosen[0].texts
        linked = [one.graph.targets(rows).lists(len(rows)) for one in (ranking, *variants)]
        apart = [list(_apart(signals, len(rows))) for signals in found]
        for at, source in enumerate(some):
            part = fold(source.url, FOLDS)
            for number, (visible, mine) in enumerate(zip(linked[1:], apart, strict=True)):
                wanted = np.setdiff1d(linked[0][at], visible[at])
                signals, known, fixed = mine[at]
                yield _Trial(
                    name=f"{number} {source.key}",
                    part=part,
                    wanted=wanted,
                    is_link=np.isin(signals.rows, wanted),
                    signals=signals,
                    known=known,
                    fixed=fixed,
                )


def _apart(signals: Signals, count: int) -> Iterator[tuple[Signals, Vectors, Vectors]]:
    """Yield the signals of each of the `count` sources, their features and their scores by the fixed weights."""
    ends = np.searchsorted(signals.of, np.arange(1, count))
    figures = (np.split(each, ends) for each in (features(signals), fixed_score(signals)))
    return zip(signals.split(count), *figures, strict=True)


def _sources(ranking: Ranking, links: Iterable[ExistingLink]) -> list[Source]:
    """Return up to `MOST_SOURCES` pages that link to others, chosen by a hash that is independent of the folds."""
    linking = {link.source for link in links}
    pages = [page for page in ranking.site.pages if page.key in linking]
    pages.sort(key=lambda page: (fold(f"from {page.key}", 2**32), page.key))
    return [Source(page.key, page.url, "", page, in_sheet=False) for page in pages[:MOST_SOURCES]]


def _cross_validated(known: Sequence[Vectors], trials: Sequence[_Trial]) -> list[Vectors]:
    """Return the logits of each trial's candidates, by rankers trained on the sources of the other folds."""
    logits: list[Vectors] = [np.empty(0)] * len(trials)
    for part in range(FOLDS):
        others = [at for at, trial in enumerate(trials) if trial.part != part]
        features_of_others = np.concatenate([known[at] for at in others])
        ranker = fit(features_of_others, np.concatenate([trials[at].is_link for at in others]))
        for at, trial in enumerate(trials):
            if trial.part == part:
                logits[at] = ranker.logit(known[at])
    return logits


def _measured(scores: Sequence[Vectors], trials: Sequence[_Trial]) -> Measured:
    truth, ranked = {}, {}
    for score, trial in zip(scores, trials, strict=True):
        order = np.argsort(-score, kind="stable")
        truth[trial.name] = list(map(str, trial.wanted.tolist()))
        ranked[trial.name] = list(map(str, trial.signals.rows[order].tolist()))
    return measure(truth, ranked)


def _reliability(
    scores: Vectors, is_link: NDArray[np.bool_], parts: NDArray[np.integer]
) -> tuple[Range, ...]:
    """Compare the probabilities that a calibration on the other folds expects with the observed shares of links."""
    expected = np.empty(len(scores))
    for part in range(FOLDS):
        others = parts != part
        expected[~others] = calibrate(scores[others], is_link[others]).probability(scores[~others])
    within = np.searchsorted(_BOUNDS, expected, side="right") - 1
    return tuple(
        Range(low, high, float(expected[here].mean()), float(is_link[here].mean()), int(here.sum()))
        for at, (low, high) in enumerate(pairwise(_BOUNDS))
        if (here := within == at).any()
    )
