"""Find the strengths from which links are good enough, by labelled pairs or by editors' links."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from math import isnan
from typing import TYPE_CHECKING

import numpy as np

from internal_linker.insight.evaluation.calibration import Judged, curve, draw, threshold_for, weights
from internal_linker.insight.evaluation.holdout import Hidden, learned
from internal_linker.insight.evaluation.labels import LabelRow, LabelsCsv
from internal_linker.model.edges import score_of, strength, strengths
from internal_linker.model.errors import ConfigurationError
from internal_linker.model.ports import Progress
from internal_linker.model.records import ExistingLink
from internal_linker.model.results import Columns, Result
from internal_linker.model.sequences import counted
from internal_linker.project.capabilities import capability
from internal_linker.project.evaluate import encoding, known_site, targets_of
from internal_linker.project.options.evaluation import CalibrateOptions
from internal_linker.project.pipeline.context import RunContext
from internal_linker.project.project import Project
from internal_linker.rank.adaptation import HIDINGS
from internal_linker.rank.metrics import fold
from internal_linker.rank.rank import Ranking
from internal_linker.rank.selection import eligible

if TYPE_CHECKING:
    from pandas import DataFrame

# Pages from whose candidates pairs are drawn: 20,000 pairs say as much as all pairs of a larger site.
MOST_SOURCES = 1000
# The first candidates of each page: they include a run's links, and the last ones are weaker than any useful threshold
# (median strength 0.25).
DEPTH = 20
# The number of labels from which they replace the existing links; with 50, an interval is no wider than 27 points.
LEAST_LABELS = 50


@dataclass(frozen=True, repr=False)
class Calibration(Result):
    """How good links are from each strength on, and the thresholds that follow from it."""

    pairs: int  # rows of files/labels.csv
    labelled: int  # how many of them are labelled
    new: int  # how many of them were drawn just now
    by_labels: bool  # whether labels were used; if there are too few, editors' links stand in for them
    gone: int  # labelled pairs that are no longer candidates; they count with the strength in their row
    # precision and recall by threshold, as by `curve`, good links only; empty if there is nothing to learn from
    strict: "DataFrame"
    mild: "DataFrame"  # the same for good or borderline links; without labels, the same as `strict`
    tier_sidebar: float  # the proposed setting; NaN if no strength is good enough
    remarks: Sequence[str] = ()  # what was unusual when labels.csv was written, one sentence each

    def tables(self) -> dict[str, Columns]:
        """`thresholds`: precision and recall with 95% Wilson intervals, 0 to 1."""
        pairs, recall = self.strict.filter(regex="pairs|precision"), self.strict.filter(like="recall")
        return {
            "thresholds": {
                "score": [*map(score_of, self.strict["threshold"])],
                **pairs.to_dict("list"),
                **self.mild.filter(like="precision").add_prefix("mild_").to_dict("list"),
                **recall.to_dict("list"),
            }
        }


@capability()
def calibrate(project: Project, options: CalibrateOptions, progress: Progress) -> Calibration:
    """Fill files/labels.csv and measure precision and recall by threshold, as the command `calibrate` does.

    Nothing else is written, except vectors to the cache.

    Returns:
        `.tier_sidebar`, and the curve as a DataFrame: `.to_frame()`.

    Raises:
        ConfigurationError: the precision is not a share.
        InputError: there are no pages, or the labels can't be read.
        OutputError: the labels can't be written.
    """
    if not 0 < options.sidebar_precision < 1:
        raise ConfigurationError(
            f"--sidebar-precision {options.sidebar_precision:g}: it must be above 0 and below 1."
        )
    file = LabelsCsv(project.file("labels.csv"))
    rows = file.read()
    with project.context(progress, serp=False, deliver=False) as context:
        ranking, links = _ranking(project, context, progress)
        key = ranking.targets.hosts.restored
        rows = [replace(row, ends=(key(row.ends[0]), key(row.ends[1]))) for row in rows]
        labelled = [row for row in rows if row.label]
        by_labels = len(labelled) >= LEAST_LABELS
        progress.start("Candidates", 0, "pairs")
        pairs = list(candidate_pairs(ranking))
        if by_labels:
            strict, mild = (
                curve(judged_by_labels(pairs, labelled, good)) for good in (("good",), ("good", "borderline"))
            )
        else:
            judged = judged_by_links(ranking, links)
            strict = mild = curve(judged)[: None if judged.good.any() else 0]
        progress.finish(f"{counted(len(pairs), 'pair')} from {counted(len(ranking.sources), 'page')}")
    new = draw(pairs, rows, options.pairs - len(rows))
    remarks = file.append(new) if new else ()
    known = {pair.ends for pair in pairs}
    return Calibration(
        pairs=len(rows) + len(new),
        labelled=len(labelled),
        new=len(new),
        by_labels=by_labels,
        gone=sum(pair.ends not in known for pair in labelled) if by_labels else 0,
        strict=strict,
        mild=mild,
        tier_sidebar=threshold_for(mild, options.sidebar_precision),
        remarks=remarks,
    )


def candidate_pairs(ranking: Ranking) -> Iterator[LabelRow]:
    """Yield the first candidates of each source that it may link to and that have a score.

    A run's links are among the first; links that only `min_inlinks` promotes may be missing.
    """
    titles = {page.key: page.title or page.h1 for page in ranking.site.pages}
    for source, found in zip(ranking.sources, ranking.rank_sources(range(len(ranking.sources))), strict=True):
        for each in islice(eligible(source, found, ranking.targets), DEPTH):
            if not isnan(each.score):
                named = titles.get(source.key, ""), titles.get(each.key, "")
                ends = source.key, each.key
                yield LabelRow(ends, source.url, each.url, *named, strength(each.score))


def judged_by_links(ranking: Ranking, links: Sequence[ExistingLink]) -> Judged:
    """Judge the first candidates of each source by its hidden links: as far as is known, these are the good ones.

    Each link is hidden once and counts once; any other pair comes up in every round and counts accordingly less.
    """
    score, weight, good = list[float](), list[float](), list[bool]()
    parts = [fold(f"{link.source}\n{link.target}", HIDINGS) for link in links]
    for part in range(HIDINGS):
        hidden = defaultdict[str, set[str]](set)
        for link, its in zip(links, parts, strict=True):
            if its == part:
                hidden[link.source].add(link.target)
        known = [link for link, its in zip(links, parts, strict=True) if its != part]
        knowing = ranking.with_links(known, ranking.sources)
        for source, found in zip(
            knowing.sources, knowing.rank_sources(range(len(knowing.sources))), strict=True
        ):
            for each in islice(eligible(source, found, knowing.targets), DEPTH):
                score.append(each.score)
                good.append(each.key in hidden[source.key])
                weight.append(1.0 if good[-1] else 1 / HIDINGS)
    return Judged(strengths(np.array(score)), np.array(weight), np.array(good, np.bool_))


def judged_by_labels(pairs: Sequence[LabelRow], labelled: Sequence[LabelRow], good: Sequence[str]) -> Judged:
    """Judge the labelled pairs with today's strengths; a pair that is no longer a candidate keeps that of its row."""
    today = {pair.ends: pair.strength for pair in pairs}
    now = [replace(pair, strength=today.get(pair.ends, pair.strength)) for pair in labelled]
    now = [pair for pair in now if pair.band]
    found = np.array([pair.label in good for pair in now], np.bool_)
    return Judged(np.array([pair.strength for pair in now]), weights(pairs, now), found)


def _ranking(
    project: Project, context: RunContext, progress: Progress
) -> tuple[Ranking, Sequence[ExistingLink]]:
    """Return the ranking of some pages, as a run without searches makes it, and the links that it knows."""
    collected = known_site(context, progress)
    site = Hidden(collected.pages, collected.links, {}, 0)
    targets = targets_of(project, collected, collected.links)
    vectors = encoding(site, context, progress)
    _, ranking, _ = learned(site, targets, vectors, project.rules().linking, progress)
    editable = [source for source in site.sources if source.page and source.page.takes_links]
    chosen = sorted(editable, key=lambda source: (fold(f"calibrate {source.key}", 2**32), source.key))
    return ranking.with_links(collected.links, chosen[:MOST_SOURCES]), collected.links
