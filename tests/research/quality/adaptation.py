"""Measures the adaptation of the ranker to a site's own links, on links that it does not know, as Markdown.

    python -m tests.research.quality.adaptation --cache DIR   DIR keeps the lists of `train_ranker`

Each site is ranked by its words, with the weights learned from the sites of other families, and with these weights
adapted to the links that are known in a trial, if the cross-validation says so. The last two arrivals of each site are
measured, half of the links hidden at random, and new pages.
"""

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from internal_linker.model.arrays import Vectors
from internal_linker.rank.adaptation import Adaptation, adapted
from internal_linker.rank.metrics import Estimate, estimates
from internal_linker.rank.ranker import LearnedRanker
from tests.research.quality.arrivals import (
    EVERY,
    SETTINGS,
    Trial,
    first_links,
    macro,
    reached,
    signed,
    trials,
)
from tests.research.quality.corpora import family
from tests.research.quality.train_ranker import both_kinds, learn, rankers_without, what_to_learn
from tests.research.quality.weights import DEFAULT, head, row
from tests.support.corpora import no_vectors, ranking

# Trials of each setting that are measured: the last arrivals, and the first of those hidden at random.
MOST = {"arrivals": 2, "half": 2, "new pages": 1}
HEADER = ["site", "setting", "known links", "cross-validation", "used", "packaged", "as used", "difference"]
# A setting, what the cross-validation said, and (t, 2) NDCG@5 of each page by the packaged weights, and as used.
Measured = tuple[str, Adaptation | None, Vectors]


def chosen(name: str) -> Iterator[tuple[str, Trial]]:
    """Yield the trials of a site that are measured, with their settings."""
    every = [(next(each for each in SETTINGS if each in trial.truths), trial) for trial in trials(name)]
    for setting, most in MOST.items():
        ours = [trial for of, trial in every if of == setting]
        for trial in ours[-most:] if setting == "arrivals" else ours[:most]:
            yield setting, trial


def measured(name: str, ranker: LearnedRanker) -> Iterator[Measured]:
    """Yield what the trials of a site show."""
    for setting, trial in chosen(name):
        hidden, truth = trial.hidden, trial.hidden.truth
        before = ranking(hidden, no_vectors(hidden.pages), DEFAULT).with_ranker(ranker)
        after, found = adapted(before, hidden.visible)
        both = [reached(truth, truth, first_links(each, truth)) for each in (before, after)]
        yield setting, found, np.array([[each[page][0] for each in both] for page in sorted(truth)])


def tables(found: Mapping[str, Sequence[Measured]]) -> Iterator[str]:
    """Yield the lines of the tables: each trial, and the means of the sites in each setting."""
    yield from head(HEADER)
    for name, of_site in found.items():
        for setting, adaptation, values in of_site:
            (difference,) = estimates(values[:, 1:] - values[:, :1])
            said = ["", "", "no"]
            if adaptation:
                said = [str(adaptation.links), signed(adaptation.gain), "yes" if adaptation.used else "no"]
            packaged, used = values.mean(axis=0).tolist()
            yield row([name, setting, *said, f"{packaged:.3f}", f"{used:.3f}", signed(difference)])
    yield ""
    yield from head(["mean of the sites", "sites", "packaged", "as used", "difference"])
    for setting in MOST:
        sites = [
            np.concatenate([values for of, _, values in of_site if of == setting])
            for of_site in found.values()
            if any(of == setting for of, _, _ in of_site)
        ]
        if sites:
            means: list[Estimate] = [macro([each[:, at] for each in sites]) for at in (0, 1)]
            difference = macro([each[:, 1] - each[:, 0] for each in sites])
            yield row([setting, str(len(sites)), *map(str, means), signed(difference)])


def main() -> None:
    """Measure the sites and print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sites", nargs="+", choices=EVERY, default=EVERY, metavar="SITE")
    parser.add_argument("--cache", type=Path, metavar="DIR", help="folder that keeps vectors and lists")
    options = parser.parse_args()
    kinds = both_kinds(EVERY, options.cache)
    learned, for_trees = what_to_learn(kinds)
    rankers = rankers_without(learned, for_trees, learn(learned))
    del kinds, learned, for_trees
    print(*tables({name: [*measured(name, rankers[family(name)])] for name in options.sites}), sep="\n")


if __name__ == "__main__":
    main()
