"""Everything known of pages and queries -> for each source its candidates, ranked: match, passages, fuse."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

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
# A page that lists the whole site links to thousands of others; to look past all of them would cost every
# page as much, and a page with so many links needs no five more.
MOST_LINKS = 500


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
            keep=self._rules.candidates + _most_links(self.targets, chosen),
            lexical_weight=self._rules.lexical_weight,
            asked=[
                self._rows([*(hit.key for hit in serp), *more])
                for serp, more in zip(serps, further, strict=True)
            ],
        )
        for source, serp, more, matches in zip(chosen, serps, further, found, strict=True):
            candidates = self._new_candidates(source, matches, serp, more)
            yield fuse(serp, candidates, self._rules.fusion)

    def sources_near(self, keys: Sequence[str], keep: int) -> Iterator[list[int]]:
        """Yield for each page, named by its key, the places of the `keep` sources that are most similar to it."""
        rows = {self._row(source): at for at, source in enumerate(self.sources)}
        found = match(
            self._index,
            self._rows(keys),
            sorted(rows),
            keep=keep,
            lexical_weight=self._rules.lexical_weight,
        )
        for matches in found:
            yield [rows[int(row)] for row in matches.rows]

    def _row(self, source: Source) -> int:
        return self._own_rows[source.identity] if source.page is None else self._page_rows[source.key]

    def _rows(self, keys: Iterable[str]) -> list[int]:
        return [self._page_rows[key] for key in keys if key in self._page_rows]

    def _new_candidates(
        self, source: Source, matches: Matches, serp: Sequence[SerpTarget], more: Collection[str]
    ) -> list[Candidate]:
        """What the source does not link to yet: its best `candidates`, the search results, and `more`."""
        named, further = {hit.key for hit in serp}, set(more)
        places: list[int] = []
        for place, row in enumerate(matches.rows.tolist()):
            key = self.pages[row].key
            # A pair that may not be matched (another language) has no score; only a search result names it.
            if np.isnan(matches.score[place]) or not self.targets.new_to(source.key, key):
                continue
            if (
                len(places) < self._rules.candidates
                or key in named
                or (key in further and matches.score[place] > 0)
            ):
                places.append(place)
        rows = matches.rows[places]
        fit = passage_scores(self._terms, self._row(source), rows)
        score = _standard(matches.score[places]) + self._rules.passage_weight * _standard(fit)
        return [
            _candidate(self.pages[row], *values)
            for row, *values in zip(
                rows.tolist(), score, matches.similarity[places], matches.lexical[places], strict=True
            )
        ]


def _candidate(page: Page, score: float, similarity: float, lexical: float) -> Candidate:
    return Candidate(page.key, page.url, float(score), float(similarity), float(lexical))


def _standard(values: Vectors) -> Vectors:
    """In standard deviations above their mean; zeros if they are all equal."""
    deviation = values.std() if len(values) else 0.0
    return (values - values.mean()) / deviation if deviation > 1e-6 else np.zeros_like(values)


def _most_links(targets: Targets, sources: Sequence[Source]) -> int:
    """How many of a source's best matches it may link to already, at the most."""
    linked = (targets.linked.get(source.key, ()) for source in sources)
    return min(MOST_LINKS, max((sum(key in targets.known for key in keys) for keys in linked), default=0))
