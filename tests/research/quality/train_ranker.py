"""Trains the ranker on the links of the development sites, and measures it on sites that it has not seen, as Markdown.

    python -m tests.research.quality.train_ranker

--write internal_linker/rank/ranker.json   also writes the ranker that learned from all sites
--families DIR   also writes the rankers that learned without each family, for `arrivals --unseen DIR`
--cache DIR      keeps each site's lists there, and reads those that it finds

The ranker learns listwise (softmax over a source's candidates): first its weights, then its trees. Each site counts
the same, and so does each setting of a site: arrivals, and links hidden at random (see `arrivals`). Features of links
to the target are hidden for some pairs at random, and always where no link is known. For the tables, each site is
ranked by what was learned from the sites of other families. From these scores the calibration of probabilities is
learned, too: see `reliability`. The result is deterministic.
"""

import argparse
import json
import pickle
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from internal_linker.model.arrays import Vectors
from internal_linker.model.records import Page
from internal_linker.rank.list_scales import scale_values
from internal_linker.rank.listwise import Choices, Prior, fit_weights
from internal_linker.rank.metrics import GAINS, TOP, fold
from internal_linker.rank.pair_features import hidden
from internal_linker.rank.ranker import (
    COLUMNS,
    OF_ENCODERS,
    WORDS_AND_PASSAGES,
    LearnedRanker,
    by_features,
    written_ranker,
)
from tests.research.quality.arrivals import (
    ARRIVALS,
    EVERY,
    RECALL,
    SETTINGS,
    Reached,
    column,
    comparison,
    encoded,
    macro,
)
from tests.research.quality.corpora import COMMITS, dates, family
from tests.research.quality.encoders import ENCODERS
from tests.research.quality.ranker_lists import Lists, site_lists
from tests.research.quality.ranker_trees import grown
from tests.research.quality.reliability import calibrated, scored, tables
from tests.research.quality.weights import embedder, head, row
from tests.support.corpora import ABSENT, present

# Each site is learned from twice: without vectors, and with those of an encoder that knows most of the languages.
KINDS = ("without vectors", "with vectors")
ENCODER = "multilingual"
# The name of the sites' mean among the figures.
MEAN = "mean of the sites"
# Share of pairs whose target's links are hidden in training.
HIDDEN_SHARE = 0.3
# Weight of the squared differences from the expected weights beside the mean loss of a list.
REGULARISATION = 0.04
# Without anything learned, candidates are ranked by similarity and passages. With 0 instead, and the penalty that is
# best then, sites that differ most from the others lose.
EXPECTED = by_features({"match": 0.5, "passage": 0.3}).weights
# Weight of the trees' sum beside the others: with all of it, links hidden at random are found worse than without.
TREES_WEIGHT = 0.5
# Trees learn from the other settings: where all links to be found lead to pages without known links, they would only
# learn to prefer those.
NOT_FOR_TREES = "new pages"
# What a page without known links to it gains, in deviations: with 0.1, NDCG@5 is 0.012 lower on new pages, and 0.003
# higher where half of the links are hidden.
BONUS = 0.2
# Standard deviations of pairs are estimated from so many of them per site and kind.
_SAMPLE = 20_000


def learning(name: str, lists: Sequence[Lists]) -> Choices:
    """Return what is learned from a site's lists, with unscaled columns, NaN where unknown or hidden."""
    rng = np.random.default_rng(fold(name, 1 << 16))
    settings = [each.setting for each in lists]
    columns, counts, targets, weights = [], [], [], []
    for each in lists:
        links = np.bincount(each.of, each.is_link, minlength=len(each.sources))
        kept = links[each.of] > 0
        _, of = np.unique(each.of[kept], return_inverse=True)
        if not len(of):
            continue
        features = hidden(each.features[kept], rng.random(len(of)) < HIDDEN_SHARE)
        columns.append(scale_values(features, of))
        counts.append(np.bincount(of))
        targets.append(each.is_link[kept] / links[each.of[kept]])
        lists_here = len(counts[-1])
        weights.append(np.full(lists_here, 1 / lists_here / settings.count(each.setting)))
    lengths = np.concatenate(counts)
    return Choices(
        np.concatenate(columns),
        np.cumsum([0, *lengths[:-1]]),
        np.concatenate(targets),
        np.concatenate(weights),
    )


def what_to_learn(
    kinds: Mapping[str, Mapping[str, Sequence[Lists]]],
) -> tuple[Mapping[str, Sequence[Choices]], Mapping[str, Sequence[Choices]]]:
    """Return what the weights learn from each site, and what the trees do; `kinds` has lists by kind and site."""
    weights, trees = dict[str, list[Choices]](), dict[str, list[Choices]]()
    for sites in kinds.values():
        for name, lists in sites.items():
            weights.setdefault(name, []).append(learning(name, lists))
            some = [each for each in lists if each.setting != NOT_FOR_TREES]
            trees.setdefault(name, []).append(learning(name, some))
    return weights, trees


def learn(sites: Mapping[str, Sequence[Choices]], start: LearnedRanker | None = None) -> LearnedRanker:
    """Return the linear ranker with the least loss: mean cross-entropy of the lists, and distance from `EXPECTED`.

    Args:
        sites: what is learned from each site, in parts.
        start: a ranker with similar weights, from which fewer steps are needed.
    """
    every = [part for parts in sites.values() for part in parts]
    means, deviations = _standards(every)
    ranker = LearnedRanker(means, deviations, np.zeros(len(COLUMNS)), BONUS)
    total = sum(float(each.weights.sum()) for each in every)
    parts = [
        replace(each, columns=ranker.standardised(each.columns), weights=each.weights / total)
        for each in every
    ]
    prior = Prior(EXPECTED, REGULARISATION)
    return replace(ranker, weights=fit_weights(parts, prior, start.weights if start else None))


def with_trees(linear: LearnedRanker, sites: Mapping[str, Sequence[Choices]]) -> LearnedRanker:
    """Return the ranker with trees, each grown on what is left to learn; a list is seen in one of its parts only."""
    parts = [_every(each, number, len(of)) for of in sites.values() for number, each in enumerate(of)]
    scores = [linear.standardised(each.columns) @ linear.weights for each in parts]
    columns = [at for at in range(len(COLUMNS) - 1) if at not in OF_ENCODERS]
    weights = linear.weights.copy()
    weights[-1] = TREES_WEIGHT
    return replace(linear, weights=weights, trees=grown(parts, scores, columns))


def _every(part: Choices, first: int, step: int) -> Choices:
    """Return every nth list."""
    lengths = np.diff(np.append(part.starts, len(part.columns)))
    chosen = np.arange(first, len(lengths), step)
    kept = np.zeros(len(lengths), np.bool_)
    kept[chosen] = True
    pairs = np.repeat(kept, lengths)
    starts = np.cumsum([0, *lengths[chosen][:-1]])
    return Choices(part.columns[pairs], starts, part.target[pairs], part.weights[chosen])


def _standards(parts: Iterable[Choices]) -> tuple[Vectors, Vectors]:
    """Return (c,) mean and standard deviation of each column over all pairs; 0 and 1 of unknown ones."""
    sample = np.concatenate([each.columns[:: max(1, len(each.columns) // _SAMPLE)] for each in parts]).astype(
        np.float64
    )
    known = np.isfinite(sample)
    count = np.maximum(known.sum(axis=0), 1)
    means = np.where(known, sample, 0).sum(axis=0) / count
    deviations = np.sqrt((np.where(known, sample - means, 0) ** 2).sum(axis=0) / count)
    # The sum of the trees stays as it is.
    return np.append(means, 0.0), np.append(np.where(deviations > 1e-6, deviations, 1.0), 1.0)


def measured(lists: Lists, scores: Vectors) -> Vectors:
    """Return (t, 2) NDCG@5 and recall@10 of each source with these scores of its candidates."""
    order = np.lexsort((lists.targets, -scores, lists.of))
    ends = np.searchsorted(lists.of, np.arange(len(lists.sources) + 1))
    found = np.zeros((len(lists.sources), 2))
    for at, wanted in enumerate(lists.wanted.tolist()):
        hits = lists.is_link[order[ends[at] : ends[at + 1]]]
        first = hits[:TOP]
        found[at] = (first @ GAINS[: len(first)]) / GAINS[:wanted].sum(), hits[:RECALL].sum() / wanted
    return found


def by_page(
    sites: Mapping[str, Sequence[Lists]], of: Callable[[str, Lists], Vectors]
) -> Mapping[str, Reached]:
    """Return NDCG@5 and recall@10 of each page, by setting and site: the means of its trials."""
    found: dict[str, dict[str, dict[str, list[Vectors]]]] = {}
    for name, lists in sites.items():
        for each in lists:
            pages = found.setdefault(each.setting, {}).setdefault(name, {})
            for source, values in zip(each.sources, of(name, each), strict=True):
                pages.setdefault(source, []).append(values)
    return {
        setting: {
            name: {page: tuple(np.mean(values, axis=0)) for page, values in pages.items()}
            for name, pages in of_sites.items()
        }
        for setting, of_sites in found.items()
    }


def table(found: Mapping[str, Reached]) -> Iterator[str]:
    """Yield the lines of a table: NDCG@5 of each site by setting, and the mean of the sites."""
    settings = [setting for setting in SETTINGS if setting in found]
    each = {setting: column(found[setting], 0) for setting in settings}
    yield from head(["NDCG@5", *settings])
    for site in dict.fromkeys(site for values in each.values() for site in values):
        values = (each[setting].get(site) for setting in settings)
        yield row([site, *("" if one is None else str(macro([one])) for one in values)])
    yield row([MEAN, *(str(macro([*values.values()])) for values in each.values())])


def about(
    found: Mapping[str, Mapping[str, Reached]],
    baseline: Mapping[str, Mapping[str, Reached]],
    sites: Sequence[str],
) -> Mapping[str, Any]:
    """Return what a packaged ranker says about itself: NDCG@5 on unseen sites, and what it learned from.

    Args:
        found: NDCG@5 of each page, by kind, setting and site.
        baseline: the same for ranking by words and passages alone.
        sites: the sites' names.
    """
    figures = []
    for kind, settings in found.items():
        for setting in (name for name in SETTINGS if name in settings):
            ours, theirs = (column(each[kind][setting], 0) for each in (found, baseline))
            each = {name: ([ours[name]], [theirs[name]]) for name in sites if name in ours}
            for name, (values, others) in {**each, MEAN: ([*ours.values()], [*theirs.values()])}.items():
                mean = macro(values)
                figures.append(
                    {"lists": kind, "setting": setting, "site": name, "ndcg@5": short(mean.mean)}
                    | {
                        "low": short(mean.low),
                        "high": short(mean.high),
                        "baseline": short(macro(others).mean),
                    }
                )
    described = [{"name": name, "source": COMMITS[name], "dates": dates(name)} for name in sites]
    return {"sites": described, "figures": figures}


def short(value: float) -> float:
    """Return a figure with four decimals."""
    return round(value, 4)


def kept_lists(
    name: str, vectors: Callable[[Sequence[Page]], Vectors], folder: Path | None
) -> Sequence[Lists]:
    """Return a site's lists, from the folder if they are there."""
    path = folder / f"{name}.pickle" if folder else None
    if path and path.exists():
        found: Sequence[Lists] = pickle.loads(path.read_bytes())
        return found
    found = [*site_lists(name, vectors)]
    if path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(pickle.dumps(found))
    return found


def both_kinds(names: Sequence[str], folder: Path | None) -> Mapping[str, Mapping[str, Sequence[Lists]]]:
    """Return the lists of each site, without and with vectors."""
    with embedder(folder) as embedded:
        return {
            kind: {
                name: kept_lists(name, encoded(embedded, encoder), folder and folder / kind.replace(" ", "_"))
                for name in names
            }
            for kind, encoder in zip(KINDS, (None, ENCODERS[ENCODER]()), strict=True)
        }


def rankers_without(
    sites: Mapping[str, Sequence[Choices]], for_trees: Mapping[str, Sequence[Choices]], every: LearnedRanker
) -> Mapping[str, LearnedRanker]:
    """Return the ranker for each family, which learned from all other sites."""
    found = {}
    for out in dict.fromkeys(map(family, sites)):
        others, more = ({name: of[name] for name in of if family(name) != out} for of in (sites, for_trees))
        found[out] = with_trees(learn(others, every), more)
    return found


def by_words(_: str, lists: Lists) -> Vectors:
    """Return (t, 2) what ranking by words and passages alone reaches."""
    return measured(lists, WORDS_AND_PASSAGES.score(lists.features, lists.of))


def main() -> None:
    """Train, measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--sites", nargs="+", choices=EVERY, default=EVERY, metavar="SITE", help="by default all"
    )
    parser.add_argument("--cache", type=Path, metavar="DIR", help="folder that keeps vectors and lists")
    parser.add_argument(
        "--against", type=Path, metavar="FILE", help="file of `tests.research.quality.arrivals --save`"
    )
    parser.add_argument("--write", type=Path, metavar="FILE", help="file for the ranker")
    parser.add_argument(
        "--families", type=Path, metavar="DIR", help="folder for the rankers that learned without each family"
    )
    options = parser.parse_args()
    if not all(map(present, options.sites)):
        sys.exit(ABSENT)
    kinds = both_kinds(options.sites, options.cache)
    learned, for_trees = what_to_learn(kinds)
    every = with_trees(learn(learned), for_trees)
    rankers = rankers_without(learned, for_trees, every)

    def unseen(name: str, lists: Lists) -> Vectors:
        return rankers[family(name)].score(lists.features, lists.of)

    found = {
        kind: by_page(sites, lambda name, lists: measured(lists, unseen(name, lists)))
        for kind, sites in kinds.items()
    }
    before = json.loads(options.against.read_text(encoding="utf-8")) if options.against else None
    for kind, reached in found.items():
        print(kind, "", *table(reached), "", sep="\n")
        if before:
            print(*comparison(reached, before), "", sep="\n")
    pairs = scored(
        {
            name: [(each, unseen(name, each)) for sites in kinds.values() for each in sites[name]]
            for name in options.sites
        }
    )
    print(*tables(pairs), sep="\n")
    if options.families:
        options.families.mkdir(parents=True, exist_ok=True)
        for name, ranker in rankers.items():
            (options.families / f"{name}.json").write_text(written_ranker(ranker, {}), encoding="utf-8")
    if options.write:
        every = replace(every, calibration=calibrated(pairs[ARRIVALS]))
        baseline = {kind: by_page(sites, by_words) for kind, sites in kinds.items()}
        text = written_ranker(every, about(found, baseline, options.sites))
        options.write.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
