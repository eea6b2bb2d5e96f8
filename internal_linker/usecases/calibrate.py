"""A project and its labelled pairs -> more pairs to label, and how good links are from each strength on."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from math import isnan

import numpy as np

from internal_linker.core.edges import strength, strengths
from internal_linker.core.errors import ConfigurationError
from internal_linker.core.records import ExistingLink
from internal_linker.evaluation.calibration import (
    LEAST_PAIRS,
    Judged,
    Share,
    curve,
    draw,
    threshold_for,
    weights,
)
from internal_linker.evaluation.holdout import Hidden, learned
from internal_linker.evaluation.labels import Pair
from internal_linker.ingest.collect import gather
from internal_linker.pipeline.context import Parts
from internal_linker.ranking.metrics import fold
from internal_linker.ranking.rank import Ranking
from internal_linker.ranking.selection import eligible
from internal_linker.ranking.training import HIDINGS
from internal_linker.usecases.console import Reporter, open_console
from internal_linker.usecases.evaluate import encoding, opened, targets_of
from internal_linker.usecases.project import Project

# Pages whose candidates pairs are drawn from: 20,000 pairs tell as much as all of a larger site's.
MOST_SOURCES = 1000
# The first candidates of each page: a run's links are among them, and the last are as weak as any threshold asks for
# (strength 0.25 in the middle).
DEPTH = 20
# Labels from which they are believed in place of the existing links; of 50, an interval is at the most 27 points wide.
LEAST_LABELS = 50


def calibrate_project(project: Project, wanted: int, inline: float, sidebar: float) -> None:
    """Bring files/labels.csv to `wanted` pairs, and print precision and recall by threshold.

    Nothing else is written but vectors to the cache.

    Args:
        project: whose pages.
        wanted: rows that files/labels.csv should have at the least.
        inline: wanted precision of the links in the text, 0 to 1.
        sidebar: wanted precision of those beside it, not above `inline`.

    Raises:
        ConfigurationError: a precision is no share, or `sidebar` is above `inline`.
        InputError: there are no pages, or the labels can't be read.
        OutputError: the labels can't be written.
    """
    if not 0 < sidebar <= inline < 1:
        raise ConfigurationError(
            f"--precision {inline:g}, --sidebar-precision {sidebar:g}: give shares above 0 and below 1, "
            "the second not above the first."
        )
    file = project.labels_csv()
    rows = file.read()
    labelled = [row for row in rows if row.label]
    with opened(project) as (parts, reporter):
        ranking, links = _ranking(project, parts, reporter)
        reporter.start("Candidates", 0, "pairs")
        pairs = list(candidate_pairs(ranking))
        weak = judged_by_links(ranking, links) if len(labelled) < LEAST_LABELS else None
        reporter.finish(f"{len(pairs)} pairs from {len(ranking.sources)} pages")
    new = draw(pairs, rows, wanted - len(rows))
    remarks = file.append(new) if new else ()
    told = [*remarks, _drawn(len(rows), len(labelled), len(new))]
    told += (
        _told_by_links(weak, inline, sidebar) if weak else _told_by_labels(pairs, labelled, inline, sidebar)
    )
    for line in told:
        open_console().print(line, soft_wrap=True)


def candidate_pairs(ranking: Ranking) -> Iterator[Pair]:
    """The first candidates of each source that it may link to and has a score for.

    A run's links are the first of them; those that only `min_inlinks` brings forward may be missing.
    """
    titles = {page.key: page.title or page.h1 for page in ranking.site.pages}
    for source, found in zip(ranking.sources, ranking.of(range(len(ranking.sources))), strict=True):
        for each in islice(eligible(source, found, ranking.targets), DEPTH):
            if not isnan(each.score):
                named = titles.get(source.key, ""), titles.get(each.key, "")
                ends = source.key, each.key
                yield Pair(ends, source.url, each.url, *named, each.similarity, strength(each.score))


def judged_by_links(ranking: Ranking, links: Sequence[ExistingLink]) -> Judged:
    """The first candidates of each source while a part of its links is hidden: these are good, as far as is known.

    A link is hidden once, and stands for itself; any other pair is seen each time, and counts for so much less.
    """
    score, weight, good = list[float](), list[float](), list[bool]()
    parts = [fold(f"{link.source}\n{link.target}", HIDINGS) for link in links]
    for part in range(HIDINGS):
        hidden = defaultdict[str, set[str]](set)
        for link, its in zip(links, parts, strict=True):
            if its == part:
                hidden[link.source].add(link.target)
        known = [link for link, its in zip(links, parts, strict=True) if its != part]
        knowing = ranking.knowing(known, ranking.sources)
        for source, found in zip(knowing.sources, knowing.of(range(len(knowing.sources))), strict=True):
            for each in islice(eligible(source, found, knowing.targets), DEPTH):
                score.append(each.score)
                good.append(each.key in hidden[source.key])
                weight.append(1.0 if good[-1] else 1 / HIDINGS)
    return Judged(strengths(np.array(score)), np.array(weight), np.array(good, np.bool_))


def judged_by_labels(pairs: Sequence[Pair], labelled: Sequence[Pair], good: Sequence[str]) -> Judged:
    """The labelled pairs with their strengths of today; what is no candidate any more has that of its row.

    Args:
        pairs: all candidates.
        labelled: those that were labelled.
        good: the labels that count as good.
    """
    today = {pair.ends: pair.strength for pair in pairs}
    now = [replace(pair, strength=today.get(pair.ends, pair.strength)) for pair in labelled]
    now = [pair for pair in now if pair.band]
    found = np.array([pair.label in good for pair in now], np.bool_)
    return Judged(np.array([pair.strength for pair in now]), weights(pairs, now), found)


def _ranking(project: Project, parts: Parts, reporter: Reporter) -> tuple[Ranking, Sequence[ExistingLink]]:
    """What ranks for some pages as a run would without searches, and the links that it knows."""
    collected = gather(
        *(parts.queries, parts.pages, parts.links, None),
        queries_in_sheet=False,
        progress=reporter,
        keep=parts.keep,
    )
    site = Hidden(collected.pages, collected.links, {}, 0)
    targets = targets_of(project, collected, collected.links)
    given = site, targets, encoding(site, parts, reporter), project.rules().linking
    _, ranking, _ = learned(*given, reporter)
    editable = [source for source in site.sources if source.page and source.page.takes_links]
    chosen = sorted(editable, key=lambda source: (fold(f"calibrate {source.key}", 2**32), source.key))
    return ranking.knowing(collected.links, chosen[:MOST_SOURCES]), collected.links


def _drawn(before: int, labelled: int, new: int) -> str:
    there = f"files/labels.csv holds {before + new} pairs, {labelled} of them labelled"
    if not new:
        return f"{there}; none was added."
    return (
        f"{there}; {new} are new. Write good, borderline or bad into the column Label, then call this again."
    )


def _told_by_labels(
    pairs: Sequence[Pair], labelled: Sequence[Pair], inline: float, sidebar: float
) -> Iterator[str]:
    strict = curve(judged_by_labels(pairs, labelled, ("good",)))
    mild = curve(judged_by_labels(pairs, labelled, ("good", "borderline")))
    there = {pair.ends for pair in pairs}
    if gone := sum(pair.ends not in there for pair in labelled):
        yield f"{gone} of the labelled pairs are no candidates any more: they count with the strength in their row."
    yield (
        "By the labels; each counts for as many pairs as its band and section has for each labelled one. In brackets: "
        "95% intervals (Wilson)."
    )
    yield f"{'strength':10}{'labels':8}{'good':22}{'good or borderline':22}{'recall of good':22}"
    for one, other in zip(strict, mild, strict=True):
        shares = map(_share, (one.precision, other.precision, one.recall))
        yield f"{one.threshold:<10.2f}{one.pairs:<8}" + "".join(f"{share:22}" for share in shares)
    yield from _proposed(threshold_for(strict, inline), threshold_for(mild, sidebar))


def _told_by_links(judged: Judged, inline: float, sidebar: float) -> Iterator[str]:
    yield (
        f"Fewer than {LEAST_LABELS} pairs are labelled: links that editors made are taken for good, each found while "
        f"it was hidden. Other pairs aren't known to be good and may be: precision is this or higher."
    )
    if not judged.good.any():
        yield "There is no such link: files/existing_links.csv (Source, Destination) may hold some."
        return
    yield f"{'strength':10}{'precision, at least':22}{'recall of links':22}"
    points = curve(judged)
    for point in points:
        shares = map(_share, (point.precision, point.recall))
        yield f"{point.threshold:<10.2f}" + "".join(f"{share:22}" for share in shares)
    yield from _proposed(threshold_for(points, inline), threshold_for(points, sidebar))


def _share(share: Share) -> str:
    return "-" if isnan(share.value) else f"{share.value:.3f} [{share.low:.2f}, {share.high:.2f}]"


def _proposed(inline: float, sidebar: float) -> Iterator[str]:
    yield "For config/settings.toml:"
    for setting, threshold in (("tier_inline", inline), ("tier_sidebar", sidebar)):
        if isnan(threshold):
            why = f"no strength with {LEAST_PAIRS} pairs at or above it has the precision that was asked for"
            yield f"# {setting}: {why}. Label more pairs (--pairs), or ask for less."
        else:
            yield f"{setting} = {threshold:g}"
