"""Everything known of pages and queries -> for each source its candidates, ranked: match, passages, fuse."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import nan

import numpy as np

from internal_linker.records import (
    Candidate,
    Collected,
    Fusion,
    Page,
    SerpTarget,
    Source,
    Targets,
    Text,
    Vectors,
)
from internal_linker.searching import Searched
from internal_linker.steps.boilerplate import without_boilerplate
from internal_linker.steps.duplicate import NearDuplicates, Pair
from internal_linker.steps.fuse import fuse
from internal_linker.steps.match import Index, Matches, language_codes, match
from internal_linker.steps.terms import FIXED, TermWeights, index_terms, passage_scores
from internal_linker.steps.words import words

# Pages of which the passages are compared, for each source: 30 to 200 are within NDCG@5 0.001 of each other on
# the development sites, 20 cost 0.002 (this and what follows: tests/quality/WEIGHTS.md).
CANDIDATES = 50
# What a passage's fit weighs beside the whole page's, both in standard deviations: 0.3 costs NDCG@5
# up to 0.004 and 0.9 0.006; without it NDCG@5 is 0.01 lower.
PASSAGE_WEIGHT = 0.6
# Cosine from which two pages may be near-duplicates; their texts decide (steps/duplicate.py).
NEAR_DUPLICATE = 0.95
# Best matches looked at, by how many are wanted; only where linked pages and near-duplicates crowd the list,
# a list of four times the length is made, and so on, until there are enough or all were seen.
_SPARE, _LONGER = 2, 4


@dataclass(frozen=True, slots=True)
class LinkRules:
    """How links are chosen; each attribute is the setting of that name, where there is one.

    The others are fixed: `python -m tests.quality.weights` measures what else they could be.
    """

    links_per_page: int
    fusion: Fusion
    lexical_weight: float
    min_inlinks: int = 0
    max_inlinks: float = 0.0
    passage_weight: float = PASSAGE_WEIGHT
    near_duplicate: float = NEAR_DUPLICATE
    serp_floor: float = 0.0
    candidates: int = CANDIDATES
    terms: TermWeights = FIXED


class Ranking:
    """The candidates of any source of one run.

    Args:
        collected: the whole input.
        sources: what links are wanted for.
        targets: where links may lead.
        searched: search results of the sources.
        texts: one for each page, then one for each source without a page.
        vectors: (len(texts), d) float32 unit rows, zeros where there is none.
        rules: how candidates are ranked.
    """

    def __init__(
        self,
        collected: Collected,
        sources: Sequence[Source],
        targets: Targets,
        searched: Searched,
        texts: Sequence[Text],
        vectors: Vectors,
        rules: LinkRules,
    ) -> None:
        self.pages, self.sources, self.targets = collected.pages, sources, targets
        self._searched, self._rules = searched, rules
        languages = [page.lang for page in self.pages] + [""] * (len(texts) - len(self.pages))
        titles = [words(text.title) for text in texts]
        bodies = [words(body) for body in without_boilerplate([text.body for text in texts])]
        self._terms = index_terms(titles, bodies, rules.terms)
        self._index = Index(vectors, self._terms.rows, language_codes(languages))
        self._duplicates = NearDuplicates(lambda row: words(texts[row].body), rules.near_duplicate)
        self._below_floor: dict[tuple[str, str], int] = {}
        self._page_rows = {page.key: row for row, page in enumerate(self.pages)}
        own = (source for source in sources if source.page is None)
        self._own_rows = {source.identity: len(self.pages) + at for at, source in enumerate(own)}
        self._linkable = [
            row for row, page in enumerate(self.pages) if page.key in targets.known and texts[row].whole
        ]

    @property
    def linkable(self) -> Iterator[str]:
        """The keys of all pages that a similar page may link to."""
        return (self.pages[row].key for row in self._linkable)

    @property
    def near_duplicates(self) -> Mapping[tuple[int, int], Pair]:
        """Pairs of nearly the same text that were met so far, by their rows in `pages`."""
        return self._duplicates.pairs

    @property
    def below_floor(self) -> int:
        """Search results under `serp_floor`, of all sources that were ranked so far."""
        return sum(self._below_floor.values())

    def of(
        self, places: Sequence[int], asked: Mapping[int, Collection[str]] | None = None
    ) -> Iterator[tuple[Candidate, ...]]:
        """Yield the candidates of each source, best first: the most similar pages, and search results.

        Args:
            places: which sources, by their place in the run's list.
            asked: source's place -> pages that are wanted beside its best, if it is more similar to
                them than to its average target.
        """
        chosen = [self.sources[at] for at in places]
        further = [(asked or {}).get(at, ()) for at in places]
        serps = [self._searched.targets.get(source.identity, ()) for source in chosen]
        found = match(
            self._index,
            [self._row(source) for source in chosen],
            self._linkable,
            keep=_SPARE * self._rules.candidates,
            lexical_weight=self._rules.lexical_weight,
            asked=[
                self._rows([*(hit.key for hit in serp), *more])
                for serp, more in zip(serps, further, strict=True)
            ],
        )
        for source, serp, more, matches in zip(chosen, serps, further, found, strict=True):
            yield self._candidates(source, matches, serp, more)

    def sources_near(
        self, keys: Sequence[str], keep: int, among: Iterable[int] | None = None
    ) -> Iterator[list[int]]:
        """Yield for each page the places of the most similar sources that a link to it would be new for, best first.

        Args:
            keys: the pages, of `linkable`.
            keep: how many sources at the most; none of which neither words nor embedding speak for it.
            among: the places of the sources that count; all if not given.
        """
        places = range(len(self.sources)) if among is None else among
        at = {self._row(self.sources[place]): place for place in places}
        found = match(
            self._index,
            self._rows(keys),
            sorted(at),
            keep=_SPARE * keep,
            lexical_weight=self._rules.lexical_weight,
        )
        for key, matches in zip(keys, found, strict=True):
            yield self._sources_of(key, matches, keep, at)

    def _row(self, source: Source) -> int:
        return self._own_rows[source.identity] if source.page is None else self._page_rows[source.key]

    def _rows(self, keys: Iterable[str]) -> list[int]:
        return [self._page_rows[key] for key in keys if key in self._page_rows]

    def _candidates(
        self, source: Source, matches: Matches, serp: Sequence[SerpTarget], more: Collection[str]
    ) -> tuple[Candidate, ...]:
        """What the source does not link to yet: its best `candidates`, the search results, and `more`."""
        serp = self._near_enough(source, serp, matches)
        row, named, further = self._row(source), {hit.key for hit in serp}, set(more)
        matches, fresh, twins = self._fresh(
            row,
            matches,
            self._rules.candidates,
            lambda other: self.targets.new_to(source.key, self.pages[other].key),
        )
        places = fresh[: self._rules.candidates]
        for place in fresh[self._rules.candidates :]:
            key = self.pages[matches.rows[place]].key
            if key in named or (key in further and matches.score[place] > 0):
                places.append(place)
        rows = matches.rows[places]
        fit = passage_scores(self._terms, row, rows)
        score = _standard(matches.score[places]) + self._rules.passage_weight * _standard(fit)
        signals = zip(rows.tolist(), score, matches.similarity[places], matches.lexical[places], strict=True)
        found = [_candidate(self.pages[other], *values) for other, *values in signals]
        new = [hit for hit in serp if self._page_rows.get(hit.key) not in twins]
        return fuse(new, found, self._rules.fusion)

    def _near_enough(
        self, source: Source, serp: Sequence[SerpTarget], matches: Matches
    ) -> Sequence[SerpTarget]:
        """The search results to rank: "fill" trusts the search, "blend" leaves out those under the floor."""
        scores = dict(zip(matches.rows.tolist(), matches.score.tolist(), strict=True))
        # A page without content, or in another language, has no score and is not under it.
        below = {
            hit.key for hit in serp if scores.get(self._page_rows.get(hit.key), nan) < self._rules.serp_floor
        }
        self._below_floor[source.identity] = len(below)
        return serp if self._rules.fusion == "fill" else [hit for hit in serp if hit.key not in below]

    def _sources_of(self, key: str, matches: Matches, keep: int, at: Mapping[int, int]) -> list[int]:
        """The places of the best sources for a page; `at` tells them by their rows."""
        matches, places, _ = self._fresh(
            self._page_rows[key],
            matches,
            keep,
            lambda row: self.targets.new_to(self.sources[at[row]].key, key),
        )
        near = np.fmax(matches.similarity, matches.lexical) > 0
        return [at[int(matches.rows[place])] for place in places[:keep] if near[place]]

    def _fresh(
        self, row: int, matches: Matches, count: int, is_new: Callable[[int], bool]
    ) -> tuple[Matches, list[int], Collection[int]]:
        """As many matches as it takes to have `count` of which a link is new, their places, and near-duplicates."""
        keep = _SPARE * count
        while True:
            twins = self._duplicates.among(row, matches.rows, matches.similarity, matches.lexical)
            # A pair that may not be matched (another language) has no score; only a search result names it.
            scored = np.flatnonzero(np.isfinite(matches.score))
            places = [
                place
                for place, other in zip(scored.tolist(), matches.rows[scored].tolist(), strict=True)
                if other not in twins and is_new(other)
            ]
            # Behind the best stand those that were asked for.
            if len(matches.rows) < keep or sum(place < keep for place in places) >= count:
                return matches, places, twins
            keep *= _LONGER
            matches = matches.longer(keep)


def _candidate(page: Page, score: float, similarity: float, lexical: float) -> Candidate:
    return Candidate(page.key, page.url, float(score), float(similarity), float(lexical))


def _standard(values: Vectors) -> Vectors:
    """In standard deviations above their mean; zeros if they are all equal."""
    deviation = values.std() if len(values) else 0.0
    return (values - values.mean()) / deviation if deviation > 1e-6 else np.zeros_like(values)
