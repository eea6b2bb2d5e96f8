"""Lists to learn a ranker from: candidates of pages with links to be found, their features, and which are links."""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from internal_linker.core.arrays import Bools, Ints, Pairs, Vectors, both, is_in, pairs_of, ranks
from internal_linker.core.records import Page
from internal_linker.matching.candidates import Matches, language_codes
from internal_linker.matching.word_index import WordIndex
from internal_linker.ranking.candidate_sources import CandidateSources
from internal_linker.ranking.pair_features import PairFeatures
from internal_linker.ranking.pair_link_features import SimilarPagesLinks
from internal_linker.ranking.rank import NEIGHBOURS, Ranking
from tests.quality.arrivals import SETTINGS, Trial, as_run, first_links, reached, trials
from tests.quality.corpora import ranking
from tests.quality.weights import DEFAULT
from tests.support.word_indexes import word_index

# Most similar pages that are candidates.
SIMILAR = 64
# Sources of a trial: more of them teach little, and take long.
MOST = 300
# Trials of links hidden at random: of some settings there are more, for measurements.
DRAWS = 2
_BLOCK = 256


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
        today: (t, 2) NDCG@5 and recall@10 that the fixed weights, or the site's own ranker, reach.
    """

    setting: str
    sources: Sequence[str]
    of: Ints
    targets: Ints
    features: Vectors
    is_link: Bools
    wanted: Ints
    today: Vectors


class Candidates:
    """The candidates and features of a site's pages.

    Args:
        ranked: a ranking of the site that knows the links.
        words: its texts, stemmed.
        pages: the site's pages.
    """

    def __init__(self, ranked: Ranking, words: WordIndex, pages: Sequence[Page]) -> None:
        self._ranked = ranked
        self._sources = CandidateSources(
            words, ranked.linkable, language_codes([page.lang for page in pages])
        )
        self._features = PairFeatures(ranked.site, words, ranked.graph)

    def knowing(self, ranked: Ranking) -> "Candidates":
        """Return the candidates of the same site with other known links."""
        other = object.__new__(Candidates)
        other._ranked, other._sources = ranked, self._sources
        other._features = self._features.knowing(ranked.graph)
        return other

    def of(self, positions: Ints) -> tuple[Matches, Vectors]:
        """Return the candidates of the sources at these positions, which are all pages in order, and the features."""
        blocks = [positions[first : first + _BLOCK] for first in range(0, len(positions), _BLOCK)]
        parts = [self._block(block) for block in blocks]
        starts = range(0, len(positions), _BLOCK)
        moved = [replace(found, of=found.of + start) for start, (found, _) in zip(starts, parts, strict=True)]
        every = (np.concatenate([getattr(each, name) for each in moved]) for name in Matches.__slots__)
        return Matches(*every), np.concatenate([features for _, features in parts])

    def _block(self, texts: Ints) -> tuple[Matches, Vectors]:
        ranked, site, n = self._ranked, self._ranked.site, len(self._ranked.linkable)
        among, weight = ranked.linkable, ranked.rules.lexical_weight
        near = site.matches(texts, among, weight)
        similar = SimilarPagesLinks.of(ranked.graph, near, NEIGHBOURS)
        named = ranked.named(texts)
        more = both(
            self._sources.by_words(texts), self._sources.by_links(texts, ranked.graph, similar), named
        )
        new, _ = site.fresh(
            texts,
            site.matches(texts, among, weight, more),
            SIMILAR,
            among=among,
            lexical_weight=weight,
            old=pairs_of([ranked.old(position) for position in texts.tolist()]),
        )
        chosen = new.at((ranks(new.of) < SIMILAR) | is_in(new.pairs.keys(n), more.keys(n)))
        lists = chosen.pairs.lists(len(texts))
        (fits,) = site.fits([(texts, lists, self._features.linked(texts))])
        return chosen, self._features.of(texts, chosen, fits, named, similar)


def site_lists(name: str, vectors: Callable[[Sequence[Page]], Vectors]) -> Iterator[Lists]:
    """Yield the lists of a site in all settings."""
    base: Ranking | None = None
    known: Candidates | None = None
    pages: Sequence[Page] = ()
    drawn = dict.fromkeys(SETTINGS, 0)
    for number, trial in enumerate(trials(name)):
        setting = next(each for each in SETTINGS if each in trial.truths)
        drawn[setting] += 1
        if setting != SETTINGS[0] and drawn[setting] > DRAWS:
            continue
        if base is None or known is None or pages is not trial.hidden.pages:
            pages = trial.hidden.pages
            base = ranking(trial.hidden, vectors(pages), DEFAULT)
            known = Candidates(base, word_index(pages), pages)
        ranked = as_run(trial.hidden, np.zeros((0, 0)), base)
        yield trial_lists(setting, trial, ranked, known.knowing(ranked), number)


def trial_lists(setting: str, trial: Trial, ranked: Ranking, candidates: Candidates, seed: int) -> Lists:
    """Return the lists of a trial."""
    truth, rows = trial.hidden.truth, {page.url: row for row, page in enumerate(trial.hidden.pages)}
    sources = sorted(truth)
    if len(sources) > MOST:
        sources = sorted(random.Random(seed).sample(sources, MOST))
    ours = {source: truth[source] for source in sources}
    today = reached(ours, truth, first_links(ranked, sources))
    matches, features = candidates.of(np.array([rows[source] for source in sources]))
    wanted: Pairs = pairs_of([sorted(rows[target] for target in truth[source]) for source in sources])
    n = len(rows)
    return Lists(
        setting,
        sources,
        matches.of,
        matches.rows,
        features,
        is_in(matches.pairs.keys(n), wanted.keys(n)),
        np.bincount(wanted.of, minlength=len(sources)),
        np.array([today[source] for source in sources]),
    )
