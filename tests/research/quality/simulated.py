"""How well simulated arrivals, and links hidden at random, predict what editors added next, as Markdown.

    python -m tests.research.quality.simulated           prints the tables in the last part of ARRIVALS.md

Each site is measured twice: on the links that editors added between its dates, and on links that are hidden at its
last date, as `evaluate` can do for any site. What counts is whether the second tells which sites are hard and, above
all, how much better one ranking is than another.
"""

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import groupby
from statistics import correlation, fmean

from internal_linker.insight.evaluation.holdout import Hidden, arrivals
from internal_linker.rank.metrics import measure
from internal_linker.rank.rank import Ranking
from internal_linker.rank.ranker import WORDS_AND_PASSAGES
from tests.research.quality.arrivals import ARRIVALS, HIDDEN, first_links, trials
from tests.research.quality.corpora import HISTORY, LAST, snapshot, without_link_texts
from tests.research.quality.weights import DEFAULT, head, row
from tests.support.corpora import ABSENT, no_vectors, present, ranking

SIMULATED = "simulated arrivals"
SETTINGS = (SIMULATED, *HIDDEN)
BASE, OURS = "words + passages", "packaged ranker"

# NDCG@5 of a site by setting and ranking: the mean of its pages, each of which is the mean of its trials.
Figures = Mapping[str, Mapping[str, float]]


def sites(name: str) -> Iterator[tuple[str, Hidden]]:
    """Yield a site with links to be found, by setting; those that share their pages come one after the other."""
    for trial in trials(name):
        yield next(each for each in (ARRIVALS, *HIDDEN) if each in trial.truths), trial.hidden
    last = snapshot(name, LAST)
    for hidden in arrivals(replace(last, pages=without_link_texts(last)), cut_anchors=False):
        yield SIMULATED, hidden


def figures(name: str) -> Figures:
    """Return what both rankings reach on a site."""
    found = defaultdict[tuple[str, str], defaultdict[str, list[float]]](lambda: defaultdict(list))
    for _, group in groupby(sites(name), key=lambda each: each[1].pages):
        base: Ranking | None = None
        for setting, hidden in group:
            base = base or ranking(hidden, no_vectors(hidden.pages), DEFAULT)
            known = base.with_links(hidden.visible, base.sources)
            for way, ranked in ((BASE, known.with_ranker(WORDS_AND_PASSAGES)), (OURS, known)):
                measured = measure(hidden.truth, first_links(ranked, hidden.truth))
                for source, ndcg in zip(measured.sources, measured.each[:, 2].tolist(), strict=True):
                    found[setting, way][source].append(ndcg)
    means = {at: fmean(map(fmean, pages.values())) for at, pages in found.items()}
    return {setting: {way: means[setting, way] for way in (BASE, OURS)} for setting, _ in means}


def tables(found: Mapping[str, Figures]) -> Iterator[str]:
    """Yield the lines of two tables: both rankings on each site, and how well each setting predicts real arrivals."""
    yield from head(
        [
            "NDCG@5",
            *(f"{setting}: {what}" for setting in (ARRIVALS, SIMULATED) for what in (BASE, OURS, "gain")),
        ]
    )
    for name, each in found.items():
        cells = (_cells(each[setting]) for setting in (ARRIVALS, SIMULATED))
        yield row([name, *(cell for some in cells for cell in some)])
    yield ""
    yield from head(["", "mean", "r", "mean error", "mean gain", "r of the gains", "mean error"])
    for setting in (ARRIVALS, *SETTINGS):
        yield row([setting, *_predicted(found, setting)])


def _cells(each: Mapping[str, float]) -> Iterator[str]:
    yield from (f"{each[BASE]:.3f}", f"{each[OURS]:.3f}", f"{each[OURS] - each[BASE]:+.3f}")


def _predicted(found: Mapping[str, Figures], setting: str) -> Iterator[str]:
    """Yield the mean of the sites, the correlation with real arrivals and the mean error; then those of the gain."""
    for sign, base in (("", 0.0), ("+", 1.0)):
        real, ours = (
            [each[which][OURS] - base * each[which][BASE] for each in found.values()]
            for which in (ARRIVALS, setting)
        )
        yield f"{fmean(ours):{sign}.3f}"
        if setting == ARRIVALS:
            yield from ("", "")
        else:
            yield f"{correlation(real, ours):.2f}"
            yield f"{fmean(abs(one - other) for one, other in zip(real, ours, strict=True)):.3f}"


def main() -> None:
    """Measure the sites and print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--sites",
        nargs="+",
        choices=HISTORY,
        default=HISTORY,
        metavar="SITE",
        help="by default all, at least two",
    )
    options = parser.parse_args()
    if not all(map(present, HISTORY)):
        sys.exit(f"{ABSENT}.")
    found = {}
    for name in options.sites:
        found[name] = figures(name)
        print(f"{name} measured", file=sys.stderr, flush=True)
    print(*tables(found), sep="\n")


if __name__ == "__main__":
    main()
