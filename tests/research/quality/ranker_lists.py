"""Lists to learn a ranker from: candidates of pages with links to be found, their features, and which are links."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from internal_linker.insight.evaluation.holdout import Hidden
from internal_linker.model.arrays import Bools, Ints, Pairs, Vectors, is_in, pairs_of
from internal_linker.model.records import Page
from internal_linker.rank.rank import Ranking
from tests.research.quality.arrivals import SETTINGS, trials
from tests.research.quality.weights import DEFAULT
from tests.support.corpora import ranking


@dataclass(frozen=True)
class Lists:
    """The candidates of t pages with links to be found, m in all.

    Attributes:
        setting: which links are known, see `arrivals.SETTINGS`.
        sources: (t,) the pages' URLs.
        of: (m,) position of each candidate's source, ascending.
        targets: (m,) row of each candidate.
        features: (m, f) float32 features of the pairs.
        is_link: (m,) whether each pair is a link to be found.
        wanted: (t,) count of the links to be found from each page; candidates may lack some.
    """

    setting: str
    sources: Sequence[str]
    of: Ints
    targets: Ints
    features: Vectors
    is_link: Bools
    wanted: Ints


def site_lists(name: str, vectors: Callable[[Sequence[Page]], Vectors]) -> Iterator[Lists]:
    """Yield the lists of a site in all settings."""
    base: Ranking | None = None
    pages: Sequence[Page] = ()
    for trial in trials(name):
        setting = next(each for each in SETTINGS if each in trial.truths)
        if base is None or pages is not trial.hidden.pages:
            pages = trial.hidden.pages
            base = ranking(trial.hidden, vectors(pages), DEFAULT)
        yield trial_lists(setting, trial.hidden, base.with_links(trial.hidden.visible, base.sources))


def trial_lists(setting: str, hidden: Hidden, ranked: Ranking) -> Lists:
    """Return the lists of a trial; the ranking's sources are all pages, in order."""
    truth, rows = hidden.truth, {page.url: row for row, page in enumerate(hidden.pages)}
    sources = sorted(truth)
    blocks = ranked.features([rows[source] for source in sources], [ranked])
    first, parts = 0, []
    for (chosen,), (features,) in blocks:
        parts.append((chosen.matches.of + first, chosen.matches.rows, features))
        first += len(chosen.texts)
    of, targets, values = (np.concatenate(each) for each in zip(*parts, strict=True))
    wanted: Pairs = pairs_of([sorted(rows[target] for target in truth[source]) for source in sources])
    n = len(rows)
    return Lists(
        setting,
        sources,
        of,
        targets,
        values,
        is_in(Pairs(of, targets).keys(n), wanted.keys(n)),
        np.bincount(wanted.of, minlength=len(sources)),
    )
