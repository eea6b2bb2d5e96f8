"""Everything known of pages and queries -> for each source its candidates, ranked: match, passages, fuse."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from math import nan

import numpy as np

from internal_linker.arrays import Nearest, Vectors, is_in
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
from internal_linker.steps.fuse import Ranked, fuse
from internal_linker.steps.graph import Counted, LinkGraph
from internal_linker.steps.match import Matches
from internal_linker.steps.ranker import Calibration, Ranker
from internal_linker.steps.select import eligible, linked
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
        vectors: (len(texts), d) unit rows, zeros where there is none.
        rules: how candidates are ranked.
        joined: what is known of the nearest pages by the vectors, see `Site`.

    Attributes:
        site: all texts.
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
        joined: Nearest | None = None,
    ) -> None:
        self.sources, self.targets = sources, targets
        self.site = Site(collected.pages, texts, vectors, rules.terms, rules.near_duplicate, joined)
        self.graph = LinkGraph(collected.links, self.site.rows)
        self._searched, self.rules = searched, rules
        self._below_floor: dict[tuple[str, str], int] = {}
        own = (source for source in sources if source.page is None)
        self._own_rows = {source.identity: len(collected.pages) + at for at, source in enumerate(own)}
        self._linkable = self.site.with_text.copy()
        self._linkable[[row for row, page in enumerate(collected.pages) if page.key not in targets.known]] = (
            False
        )
        # Search results that are no pages of the list have the numbers behind all rows.
        self._strangers: dict[str, int] = {}
        self._stranger_urls: list[SerpTarget] = []

    @property
    def linkable(self) -> Iterator[str]:
        """The keys of all pages that a similar page may link to."""
        return (self.site.pages[row].key for row in np.flatnonzero(self._linkable).tolist())

    @property
    def below_floor(self) -> int:
        """Search results under `serp_floor`, of all sources that were ranked so far."""
        return sum(self._below_floor.values())

    def of(self, places: Iterable[int]) -> Iterator[tuple[Candidate, ...]]:
        """Yield the candidates of each source, best first: the most similar pages, and search results."""
        return (tuple(self.candidates(ranked)) for ranked in self.ranked(list(places)))

    def ranked(
        self, places: Sequence[int], offered: Mapping[int, Sequence[int]] | None = None
    ) -> Iterator[Ranked]:
        """As `of`, in arrays; `candidates` tells what is in them.

        Args:
            places: which sources, by their place in the run's list.
            offered: source's place -> rows of pages that are candidates beside its best, if it is more similar to
                them than to its average target.
        """
        sources = [self.sources[at] for at in places]
        self.site.prepare(map(self.row, sources))
        for at, source in zip(places, sources, strict=True):
            chosen, serp, votes = self._chosen(source, (offered or {}).get(at, ()))
            row = self.row(source)
            passages, (alike,) = self.site.fits(row, chosen.rows, [self.graph.targets(row)])
            signals = self._signals(row, chosen, votes, passages, alike)
            found = np.array([self._number(hit) for hit in serp], np.int32)
            ranks = np.array([hit.rank for hit in serp], np.int32)
            yield fuse(found, ranks, self._scored(signals), self.rules.fusion)

    def candidates(self, ranked: Ranked) -> Iterator[Candidate]:
        """What is in the arrays, in their order."""
        names = ("score", "similarity", "lexical", "serp_rank", "probability")
        figures = (getattr(ranked, name).tolist() for name in ("targets", *names))
        for number, *signals in zip(*figures, strict=True):
            at = number - len(self.site.pages)
            page = self.site.pages[number] if at < 0 else self._stranger_urls[at]
            yield Candidate(page.key, page.url, *signals)

    def signals(
        self, sources: Sequence[Source], knowing: Sequence["Ranking"]
    ) -> Iterator[tuple[Signals, ...]]:
        """Yield what speaks for the candidates of each source, one for each of what `knowing` gave."""
        self.site.prepare(map(self.row, sources))
        for source in sources:
            row = self.row(source)
            chosen = [other._chosen(source) for other in knowing]
            # Words know nothing of links: what all of them ask for is compared once.
            rows = np.unique(np.concatenate([matches.rows for matches, _, _ in chosen]))
            passages, alike = self.site.fits(row, rows, [other.graph.targets(row) for other in knowing])
            places = [np.searchsorted(rows, matches.rows) for matches, _, _ in chosen]
            yield tuple(
                other._signals(row, matches, votes, passages[at], likeness[at])
                for other, (matches, _, votes), likeness, at in zip(
                    knowing, chosen, alike, places, strict=True
                )
            )

    def knowing(self, links: Sequence[ExistingLink], sources: Sequence[Source]) -> "Ranking":
        """The same site with other links known, to rank for other sources, all of them pages; without searches."""
        other = self._changed(sources=sources, _searched=Searched(), _below_floor={})
        other.targets = replace(self.targets, linked=linked(sources, links))
        other.graph = LinkGraph(links, self.site.rows)
        return other

    def by(self, rules: LinkRules) -> "Ranking":
        """The same site ranked by other rules and nothing learned; how terms are weighed stays."""
        return self._changed(rules=rules, ranker=None, calibration=None)

    def searching(self, searched: Searched) -> "Ranking":
        """The same site with these search results."""
        return self._changed(_searched=searched, _below_floor={})

    def fused(self, fusion: Fusion) -> "Ranking":
        """The same, with what was learned, and search results fused in this way."""
        return self._changed(rules=replace(self.rules, fusion=fusion), _below_floor={})

    def taught(self, ranker: Ranker | None, calibration: Calibration) -> "Ranking":
        """The same site, with what was learned of its links."""
        return self._changed(ranker=ranker, calibration=calibration)

    def _changed(self, **attributes: object) -> "Ranking":
        other = copy(self)
        for name, value in attributes.items():
            setattr(other, name, value)
        return other

    def row(self, source: Source) -> int:
        """The source's row in `site`."""
        return self._own_rows[source.identity] if source.page is None else self.site.rows[source.key]

    def old(self, source: Source) -> list[int]:
        """The rows that a link from the source would not be new to."""
        alias = self.targets.aliases.get(source.key, "")
        return self.site.rows_of([alias, *self.targets.linked.get(source.key, ())])

    def _number(self, hit: SerpTarget) -> int:
        if hit.key in self.site.rows:
            return self.site.rows[hit.key]
        if hit.key not in self._strangers:
            self._strangers[hit.key] = len(self.site.pages) + len(self._strangers)
            self._stranger_urls.append(hit)
        return self._strangers[hit.key]

    def _chosen(
        self, source: Source, offered: Sequence[int] = ()
    ) -> tuple[Matches, Sequence[SerpTarget], Counted]:
        """The pages that a link would be new to, the search results to rank, and all pages' votes.

        The pages are the source's best `candidates`, those that similar pages link to most, its search
        results, and of the offered ones those above its average target.
        """
        row, rules, site = self.row(source), self.rules, self.site
        best = site.matches(row, self._linkable, rules.lexical_weight)
        votes = self.graph.votes(best.rows[:NEIGHBOURS], np.fmax(best.score[:NEIGHBOURS], 0))
        elected = votes.rows[np.argsort(-votes.counts, kind="stable")[:ELECTED]].tolist()
        hits = [*eligible(source, self._searched.targets.get(source.identity, ()), self.targets)]
        named = site.rows_of(hit.key for hit in hits)
        matches = site.matches(row, self._linkable, rules.lexical_weight, [*elected, *named, *offered])
        serp = self._near_enough(source, hits, matches)
        old = np.array(self.old(source), np.int64)
        new, twins = site.fresh(row, matches, rules.candidates, self._linkable, rules.lexical_weight, old)
        always = np.array([*elected, *site.rows_of(hit.key for hit in serp)], np.int64)
        above = is_in(new.rows, np.array(offered, np.int64)) & (new.score > 0)
        kept = is_in(new.rows, always) | above
        kept[: rules.candidates] = True
        return (
            new.at(np.flatnonzero(kept)),
            [hit for hit in serp if self.site.rows.get(hit.key) not in twins],
            votes,
        )

    def _signals(
        self, row: int, matches: Matches, votes: Counted, passages: Vectors, alike: Vectors
    ) -> Signals:
        """What speaks for each of the matches of a row."""
        rows = matches.rows
        return Signals(
            rows,
            matches.score,
            matches.similarity,
            matches.lexical,
            passages,
            self.site.nearness(row, rows),
            votes.of(rows),
            alike,
            self.graph.inlinks[rows],
            is_in(rows, self.graph.sources(row)).astype(np.float32),
            self.graph.cocited(row).of(rows),
        )

    def _scored(self, signals: Signals) -> Ranked:
        score = known = fixed_score(signals, self.rules.weights)
        if self.ranker:
            known = self.ranker.logit(features(signals))
            score = reordered(score, known, signals.inlinks)
        unknown = np.full(len(score), np.nan)
        probability = self.calibration.probability(known) if self.calibration else unknown
        figures = score, signals.similarity, signals.lexical, probability
        not_searched = np.zeros(len(score), np.int32)
        return Ranked(signals.rows, not_searched, *(each.astype(np.float32) for each in figures))

    def _near_enough(
        self, source: Source, serp: Sequence[SerpTarget], matches: Matches
    ) -> Sequence[SerpTarget]:
        """The search results to rank: "fill" trusts the search, "blend" leaves out those under the floor."""
        if not serp:
            return serp
        scores = dict(zip(matches.rows.tolist(), matches.score.tolist(), strict=True))
        # A page without content, or in another language, has no score and is not under it.
        below = {
            hit.key
            for hit in serp
            if scores.get(self.site.rows.get(hit.key, -1), nan) < self.rules.serp_floor
        }
        self._below_floor[source.identity] = len(below)
        return serp if self.rules.fusion == "fill" else [hit for hit in serp if hit.key not in below]
