"""Everything known of pages and queries -> for each source its candidates, ranked: match, passages, fuse."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from math import nan

import numpy as np

from internal_linker.arrays import Vectors
from internal_linker.records import (
    Candidate,
    Collected,
    ExistingLink,
    Fusion,
    SerpTarget,
    Source,
    Targets,
    Text,
)
from internal_linker.searching import Searched
from internal_linker.site import Site
from internal_linker.steps.fuse import fuse
from internal_linker.steps.graph import LinkGraph
from internal_linker.steps.match import Matches
from internal_linker.steps.ranker import Calibration, Ranker
from internal_linker.steps.select import linked
from internal_linker.steps.signals import FIXED_WEIGHTS, Signals, Weights, features, fixed_score, reordered
from internal_linker.steps.terms import FIXED_TERMS, TermWeights

# Pages of which the passages are compared, for each source: with 20 to 200 NDCG@5 differs by less than 0.002
# on the development sites (this and what follows: tests/quality/WEIGHTS.md).
CANDIDATES = 50
# Pages whose links count as votes, the most similar ones: 15 and 30 are within NDCG@5 0.002, 8 cost 0.007.
NEIGHBOURS = 15
# Pages that are candidates by their votes alone: they raise the share of the editors' links that candidates
# reach from 0.77 to 0.81 on one development site.
ELECTED = 20
# Cosine from which two pages may be near-duplicates; their texts decide (steps/duplicate.py).
NEAR_DUPLICATE = 0.95


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
    near_duplicate: float = NEAR_DUPLICATE
    serp_floor: float = 0.0
    candidates: int = CANDIDATES
    weights: Weights = FIXED_WEIGHTS
    terms: TermWeights = FIXED_TERMS


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

    Attributes:
        graph: the links that are known.
        ranker: what ranks by all features, once one was learned that does better than the fixed weights.
        calibration: tells how probable a link is, by the ranker's logit or the fixed score, once that was learned.
    """

    ranker: Ranker | None = None
    calibration: Calibration | None = None

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
        self.sources, self.targets = sources, targets
        self.site = Site(collected.pages, texts, vectors, rules.terms, rules.near_duplicate)
        self.graph = LinkGraph(collected.links, self.site.rows)
        self._searched, self._rules = searched, rules
        self._below_floor: dict[tuple[str, str], int] = {}
        own = (source for source in sources if source.page is None)
        self._own_rows = {source.identity: len(collected.pages) + at for at, source in enumerate(own)}
        self._linkable = [row for row in self.site.with_text if collected.pages[row].key in targets.known]

    @property
    def linkable(self) -> Iterator[str]:
        """The keys of all pages that a similar page may link to."""
        return (self.site.pages[row].key for row in self._linkable)

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
        for source, more, matches in zip(chosen, further, self._matches(chosen, further), strict=True):
            serp = self._near_enough(source, self._serp(source), matches)
            chosen_ones, votes, twins = self._chosen(source, matches, {hit.key for hit in serp}, more)
            row = self._row(source)
            signals = self._signals(row, chosen_ones, votes, self.site.passages(row, chosen_ones.rows))
            new = [hit for hit in serp if self.site.rows.get(hit.key) not in twins]
            yield fuse(new, self._scored(signals), self._rules.fusion)

    def signals(
        self, sources: Sequence[Source], knowing: Sequence["Ranking"]
    ) -> Iterator[tuple[Signals, ...]]:
        """Yield what speaks for the candidates of each source, one for each of what `knowing` gave."""
        for source, matches in zip(sources, self._matches(sources), strict=True):
            row = self._row(source)
            chosen = [other._chosen(source, matches) for other in knowing]
            # Passages know nothing of links: what all of them ask for is computed once.
            rows = np.unique(np.concatenate([candidates.rows for candidates, _, _ in chosen]))
            passages = self.site.passages(row, rows)
            yield tuple(
                other._signals(row, candidates, votes, passages[np.searchsorted(rows, candidates.rows)])
                for other, (candidates, votes, _) in zip(knowing, chosen, strict=True)
            )

    def knowing(self, links: Sequence[ExistingLink], sources: Sequence[Source]) -> "Ranking":
        """The same site with other links known, to rank for other sources, all of them pages; without searches."""
        other = self._changed(sources=sources, _searched=Searched(), _below_floor={})
        other.targets = replace(self.targets, linked=linked(sources, links))
        other.graph = LinkGraph(links, self.site.rows)
        return other

    def by(self, rules: LinkRules) -> "Ranking":
        """The same site ranked by other rules and nothing learned; how terms are weighed stays."""
        return self._changed(_rules=rules, ranker=None, calibration=None)

    def searching(self, searched: Searched) -> "Ranking":
        """The same site with these search results."""
        return self._changed(_searched=searched, _below_floor={})

    def fused(self, fusion: Fusion) -> "Ranking":
        """The same, with what was learned, and search results fused in this way."""
        return self._changed(_rules=replace(self._rules, fusion=fusion), _below_floor={})

    def taught(self, ranker: Ranker | None, calibration: Calibration) -> "Ranking":
        """The same site, with what was learned of its links."""
        return self._changed(ranker=ranker, calibration=calibration)

    def _changed(self, **attributes: object) -> "Ranking":
        other = copy(self)
        for name, value in attributes.items():
            setattr(other, name, value)
        return other

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
        found = self.site.matches(self.site.rows_of(keys), sorted(at), keep, self._rules.lexical_weight)
        for key, matches in zip(keys, found, strict=True):
            yield self._sources_of(key, matches, keep, at)

    def _row(self, source: Source) -> int:
        return self._own_rows[source.identity] if source.page is None else self.site.rows[source.key]

    def _serp(self, source: Source) -> Sequence[SerpTarget]:
        return self._searched.targets.get(source.identity, ())

    def _matches(
        self, sources: Sequence[Source], further: Sequence[Collection[str]] | None = None
    ) -> Iterator[Matches]:
        more = further or [()] * len(sources)
        asked = [
            self.site.rows_of([*(hit.key for hit in self._serp(source)), *keys])
            for source, keys in zip(sources, more, strict=True)
        ]
        rows, rules = [self._row(source) for source in sources], self._rules
        return self.site.matches(rows, self._linkable, rules.candidates, rules.lexical_weight, asked)

    def _chosen(
        self, source: Source, matches: Matches, named: Collection[str] = (), further: Collection[str] = ()
    ) -> tuple[Matches, Vectors, Collection[int]]:
        """The pages that a link would be new to, all pages' votes, and the rows of the source's near-duplicates.

        They are its best `candidates`, those that similar pages link to most, the `named` ones, and of
        the `further` ones those above its average target.
        """
        row, count = self._row(source), self._rules.candidates
        votes = self._votes(matches)
        elected = np.argsort(-votes, kind="stable")[:ELECTED]
        elected = elected[(votes[elected] > 0) & (elected != row)]
        matches, fresh, twins = self.site.fresh(
            row,
            matches,
            count,
            lambda other: self.targets.new_to(source.key, self.site.pages[other].key),
            elected.tolist(),
        )
        always = {*self.site.rows_of(named), *elected.tolist()}
        above = set(self.site.rows_of(further))
        places = fresh[:count]
        for place in fresh[count:]:
            other = matches.rows[place]
            if other in always or (other in above and matches.score[place] > 0):
                places.append(place)
        return matches.at(places), votes, twins

    def _signals(self, row: int, matches: Matches, votes: Vectors, passages: Vectors) -> Signals:
        """What speaks for each of the matches of a row."""
        rows = matches.rows
        return Signals(
            rows,
            matches.score,
            matches.similarity,
            matches.lexical,
            passages,
            self.site.nearness(row, rows),
            votes[rows],
            self.site.likeness(rows, self.graph.targets(row)),
            self.graph.inlinks[rows],
            self.graph.linking_to(row)[rows],
            self.graph.cocited(row)[rows],
        )

    def _votes(self, matches: Matches) -> Vectors:
        """(len(pages),) what share of the most similar pages link to each, the more similar ones counting more."""
        near = matches.rows[:NEIGHBOURS]
        return self.graph.votes(near, np.fmax(matches.score[:NEIGHBOURS], 0))

    def _scored(self, signals: Signals) -> list[Candidate]:
        score = known = fixed_score(signals, self._rules.weights)
        if self.ranker:
            known = self.ranker.logit(features(signals))
            score = reordered(score, known, signals.inlinks)
        unknown = [nan] * len(score)
        probability = self.calibration.probability(known).tolist() if self.calibration else unknown
        pages = [self.site.pages[row] for row in signals.rows]
        figures = (each.tolist() for each in (score, signals.similarity, signals.lexical))
        return [
            Candidate(page.key, page.url, total, similarity, lexical, probability=likely)
            for page, total, similarity, lexical, likely in zip(pages, *figures, probability, strict=True)
        ]

    def _near_enough(
        self, source: Source, serp: Sequence[SerpTarget], matches: Matches
    ) -> Sequence[SerpTarget]:
        """The search results to rank: "fill" trusts the search, "blend" leaves out those under the floor."""
        scores = dict(zip(matches.rows.tolist(), matches.score.tolist(), strict=True))
        # A page without content, or in another language, has no score and is not under it.
        below = {
            hit.key for hit in serp if scores.get(self.site.rows.get(hit.key), nan) < self._rules.serp_floor
        }
        self._below_floor[source.identity] = len(below)
        return serp if self._rules.fusion == "fill" else [hit for hit in serp if hit.key not in below]

    def _sources_of(self, key: str, matches: Matches, keep: int, at: Mapping[int, int]) -> list[int]:
        """The places of the best sources for a page; `at` tells them by their rows."""
        matches, places, _ = self.site.fresh(
            self.site.rows[key],
            matches,
            keep,
            lambda row: self.targets.new_to(self.sources[at[row]].key, key),
        )
        near = np.fmax(matches.similarity, matches.lexical) > 0
        return [at[int(matches.rows[place])] for place in places[:keep] if near[place]]
