"""Everything known of pages and queries -> for each source its candidates, ranked: match, passages, fuse."""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from itertools import count, pairwise
from math import nan

import numpy as np

from internal_linker.core.arrays import NO_PAIRS, Ints, Nearest, Pairs, Vectors, both, is_in, pairs_of, ranks
from internal_linker.core.ports import Workers
from internal_linker.core.records import (
    Candidate,
    Collected,
    ExistingLink,
    Fusion,
    Searched,
    SerpTarget,
    Source,
    Targets,
    Text,
)
from internal_linker.matching.candidates import Matches
from internal_linker.matching.site_index import Site
from internal_linker.ranking.features import Signals, features, fixed_score, reordered
from internal_linker.ranking.fusion import Numbers, Ranked, fuse
from internal_linker.ranking.link_features import Counted, LinkGraph
from internal_linker.ranking.model import Calibration, Ranker
from internal_linker.ranking.rules import LinkRules
from internal_linker.ranking.selection import eligible, linked

# Pages whose links count as votes, the most similar ones: 15 and 30 are within NDCG@5 0.002, 8 cost 0.007.
NEIGHBOURS = 15
# Pages that are candidates by their votes alone: they raise the share of the editors' links that candidates
# reach from 0.77 to 0.81 on one development site.
ELECTED = 20
# Sources that are ranked at a time: more gain nothing.
BLOCK = 256


class Ranking:
    """The candidates of any source of one run.

    Args:
        collected: the whole input.
        sources: what links are wanted for; a place is a number in this list.
        targets: where links may lead.
        searched: search results of the sources.
        texts: one for each page, then one for each source without a page.
        vectors: (len(texts), d) unit rows, zeros where there is none.
        rules: how candidates are ranked.
        joined, workers: see `Site`.

    Attributes:
        site: all texts.
        rows: the row of each page in `site`, by its key.
        own: (s,) the row of each source in `site`.
        linkable: (n,) which rows of `site` are pages that a similar page may link to.
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
        *,
        texts: Sequence[Text],
        vectors: Vectors,
        rules: LinkRules,
        joined: Nearest | None = None,
        workers: Workers | None = None,
    ) -> None:
        self.sources, self.targets = sources, targets
        self.site = Site(
            collected.pages,
            texts,
            vectors,
            terms=rules.terms,
            near_duplicate=rules.near_duplicate,
            joined=joined,
            workers=workers,
        )
        self.rows = collected.rows
        self.own = self._rows_of_sources(sources)
        self.graph = LinkGraph(collected.links, self.rows)
        self._searched, self.rules = searched, rules
        self._below_floor: dict[int, int] = {}
        self.linkable = self.site.with_text.copy()
        unknown = [row for row, page in enumerate(collected.pages) if page.key not in targets.known]
        self.linkable[unknown] = False
        self._numbers = Numbers(collected.pages, self.rows)

    @property
    def below_floor(self) -> int:
        """Search results under `serp_floor`, of all sources that were ranked so far."""
        return sum(self._below_floor.values())

    def of(self, places: Iterable[int]) -> Iterator[tuple[Candidate, ...]]:
        """Yield the candidates of each source, best first: the most similar pages, and search results."""
        places = list(places)
        for first, ranked in zip(range(0, len(places), BLOCK), self.ranked(places), strict=True):
            ends = np.searchsorted(ranked.of, np.arange(min(BLOCK, len(places) - first) + 1))
            for start, end in pairwise(ends.tolist()):
                yield tuple(self.candidates(ranked.at(slice(start, end))))

    def ranked(
        self, places: Sequence[int], offered: Mapping[int, Sequence[int]] | None = None
    ) -> Iterator[Ranked]:
        """As `of`, in arrays, `BLOCK` sources at a time; `candidates` tells what is in them.

        Args:
            places: which sources, by their place in the run's list.
            offered: source's place -> rows of pages that are candidates beside its best, if it is more similar to
                them than to its average target.
        """
        near = [(offered or {}).get(at, ()) for at in places]
        for (chosen,), (signals,) in self.signals(places, [self], near):
            found = pairs_of([[self._numbers.of(hit) for hit in hits] for hits in chosen.serp])
            serp_ranks = np.array([hit.rank for hits in chosen.serp for hit in hits], np.int32)
            yield fuse(found, serp_ranks, self._scored(signals), self.rules.fusion)

    def candidates(self, ranked: Ranked) -> Iterator[Candidate]:
        """What is in the arrays, in their order."""
        names = ("targets", "score", "similarity", "lexical", "serp_rank", "probability")
        for number, *signals in zip(*(getattr(ranked, name).tolist() for name in names), strict=True):
            page = self._numbers.page(number)
            yield Candidate(page.key, page.url, *signals)

    def signals(
        self, places: Sequence[int], knowing: Sequence["Ranking"], offered: Sequence[Sequence[int]] = ()
    ) -> Iterator[tuple[Sequence["Chosen"], Sequence[Signals]]]:
        """Yield the candidates of `BLOCK` sources at a time, and what speaks for them, for each of `knowing`.

        These are rankings of the same site for the same sources; `offered` has further rows for each source.
        """
        self.site.prepare(self.own[list(places)].tolist())
        ahead: deque[tuple[Sequence[Chosen], Sequence[Ints]]] = deque()

        def tasks() -> Iterator[tuple[Ints, Sequence[Ints], Sequence[Sequence[Ints]]]]:
            for first in range(0, len(places), BLOCK):
                near = pairs_of(offered[first : first + BLOCK])
                chosen = [other._chosen(places[first : first + BLOCK], near) for other in knowing]
                texts, others = chosen[0].texts, (each.others for each in chosen)
                # Words know nothing of links: what all of them ask for is compared once.
                wanted = [np.unique(np.concatenate(each)) for each in zip(*others, strict=True)]
                linked = (other.graph.targets(texts).lists(len(texts)) for other in knowing)
                ahead.append((chosen, wanted))
                yield texts, wanted, list(zip(*linked, strict=True))

        for fits in self.site.fits(tasks()):
            chosen, wanted = ahead.popleft()
            found: list[Signals] = []
            for number, (other, ours) in enumerate(zip(knowing, chosen, strict=True)):
                found_at = [np.searchsorted(*each) for each in zip(wanted, ours.others, strict=True)]
                passages = [each[at] for (each, _), at in zip(fits, found_at, strict=True)]
                alike = [each[number][at] for (_, each), at in zip(fits, found_at, strict=True)]
                found.append(other._signals(ours, np.concatenate(passages), np.concatenate(alike)))
            yield chosen, found

    def knowing(self, links: Sequence[ExistingLink], sources: Sequence[Source]) -> "Ranking":
        """The same site with other links known, to rank for other sources, all of them pages; without searches."""
        other = self._changed(sources=sources, _searched=Searched(), _below_floor={})
        other.targets = replace(self.targets, linked=linked(sources, links))
        other.own = self._rows_of_sources(sources)
        other.graph = LinkGraph(links, self.rows)
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

    def old(self, place: int) -> list[int]:
        """The rows that a link from the source would not be new to."""
        source, targets = self.sources[place], self.targets
        alias = targets.aliases.get(source.key, "")
        return self._rows_of(
            [alias, *targets.linked.get(source.end, ()), *targets.rejected.get(source.end, ())]
        )

    def _rows_of(self, keys: Iterable[str]) -> list[int]:
        """The rows of those keys that are pages."""
        return [self.rows[key] for key in keys if key in self.rows]

    def _rows_of_sources(self, sources: Sequence[Source]) -> Ints:
        """(s,): a page's row is its own, sources without a page have those behind the pages, in their order."""
        others = count(len(self.site.pages))
        rows = [self.rows[source.key] if source.page else next(others) for source in sources]
        return np.array(rows, np.int64)

    def _chosen(self, places: Sequence[int], offered: Pairs = NO_PAIRS) -> "Chosen":
        """The candidates of some sources: pages that a link would be new to, and search results.

        The pages are a source's best `candidates`, those that similar pages link to most, its search
        results, and of the offered ones those above its average target.
        """
        rules, site, among, n = self.rules, self.site, self.linkable, len(self.linkable)
        texts, weight = self.own[list(places)], rules.lexical_weight
        near = site.matches(texts, among, weight)
        near = near.at(ranks(near.of) < NEIGHBOURS)
        votes = self.graph.votes(near.pairs, np.fmax(near.score, 0))
        elected = votes.pairs.at(np.lexsort((-votes.counts, votes.pairs.of)))
        elected = elected.at(ranks(elected.of) < ELECTED)
        hits = [self._hits(place) for place in places]
        named = pairs_of([self._rows_of(hit.key for hit in ours) for ours in hits])
        matches = site.matches(texts, among, weight, both(elected, named, offered))
        new, twins = site.fresh(
            texts,
            matches,
            rules.candidates,
            among=among,
            lexical_weight=weight,
            old=pairs_of([self.old(place) for place in places]),
        )
        serp = self._near_enough(places, hits, matches, twins)
        found = pairs_of([self._rows_of(hit.key for hit in ours) for ours in serp])
        keys = new.pairs.keys(n)
        above = is_in(keys, offered.keys(n)) & (new.score > 0)
        always = is_in(keys, both(elected, found).keys(n))
        return Chosen(texts, new.at((ranks(new.of) < rules.candidates) | always | above), serp, votes)

    def _signals(self, chosen: "Chosen", passages: Vectors, alike: Vectors) -> Signals:
        """What speaks for each candidate."""
        texts, matches, n = chosen.texts, chosen.matches, len(self.linkable)
        rows, pairs = matches.rows, matches.pairs
        return Signals(
            matches.of,
            rows,
            matches.score,
            matches.similarity,
            matches.lexical,
            passages,
            self.site.nearness(texts[matches.of], rows),
            chosen.votes.of(pairs),
            alike,
            self.graph.inlinks[rows],
            is_in(pairs.keys(n), self.graph.sources(texts).keys(n)).astype(np.float32),
            self.graph.cocited(texts).of(pairs),
        )

    def _scored(self, signals: Signals) -> Ranked:
        score = known = fixed_score(signals, self.rules.weights)
        if self.ranker:
            known = self.ranker.logit(features(signals))
            score = reordered(score, known, signals)
        unknown = np.full(len(score), np.nan)
        probability = self.calibration.probability(known) if self.calibration else unknown
        figures = score, signals.similarity, signals.lexical, probability
        not_searched = np.zeros(len(score), np.int32)
        return Ranked(signals.of, signals.rows, not_searched, *(each.astype(np.float32) for each in figures))

    def _hits(self, place: int) -> list[SerpTarget]:
        """The search results that a source may link to."""
        return [*eligible(self.sources[place], self._searched.targets.get(place, ()), self.targets)]

    def _near_enough(
        self,
        places: Sequence[int],
        hits: Sequence[Sequence[SerpTarget]],
        matches: Matches,
        twins: Pairs,
    ) -> list[Sequence[SerpTarget]]:
        """The search results to rank, without near-duplicates: "blend" leaves out those under the floor."""
        kept: list[Sequence[SerpTarget]] = []
        for at, (place, ours) in enumerate(zip(places, hits, strict=True)):
            if not ours:
                kept.append(ours)
                continue
            here = matches.of == at
            scores = dict(zip(matches.rows[here].tolist(), matches.score[here].tolist(), strict=True))
            floor, copies = self.rules.serp_floor, set(twins.rows[twins.of == at].tolist())
            # A page without content, or in another language, has no score and is not under it.
            below = {hit.key for hit in ours if scores.get(self.rows.get(hit.key, -1), nan) < floor}
            self._below_floor[place] = len(below)
            barred = set() if self.rules.fusion == "fill" else below
            kept.append(
                [hit for hit in ours if hit.key not in barred and self.rows.get(hit.key) not in copies]
            )
        return kept


@dataclass(frozen=True, slots=True)
class Chosen:
    """The candidates of some sources: (t,) their rows; matching pages; search results; what pages are voted for."""

    texts: Ints
    matches: Matches
    serp: Sequence[Sequence[SerpTarget]]
    votes: Counted

    @property
    def others(self) -> Sequence[Ints]:
        """The rows of the pages that match each of the sources."""
        return self.matches.pairs.lists(len(self.texts))
