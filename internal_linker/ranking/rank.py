"""Ranking of each source's candidates: matching pages, passages, links and search results, fused into one order."""

from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from itertools import count, pairwise
from math import nan

import numpy as np

from internal_linker.core.arrays import (
    NO_PAIRS,
    Bools,
    Ints,
    Nearest,
    Pairs,
    Vectors,
    both,
    is_in,
    pairs_of,
    ranks,
)
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
from internal_linker.ranking.features import Signals, features, fixed_score, reordered, topic_score
from internal_linker.ranking.fusion import Numbers, Ranked, fuse
from internal_linker.ranking.last_resort import last_resort
from internal_linker.ranking.link_features import Counted, LinkGraph
from internal_linker.ranking.model import Calibration, Ranker
from internal_linker.ranking.named_pages import NamedPages
from internal_linker.ranking.rules import LinkRules
from internal_linker.ranking.selection import eligible, linked

# The most similar pages, whose links count as votes: 15 and 30 are within 0.002 of NDCG@5, 8 cost 0.007.
NEIGHBOURS = 15
# Pages that are candidates by their votes alone: on one development site, they raise the share of editors' links
# among the candidates from 0.77 to 0.81.
ELECTED = 20
# Candidates of each page of a large template besides its siblings.
BEYOND = 20
# Sources that are ranked at a time: larger blocks are no faster.
BLOCK = 256


class Ranking:
    """The candidates of any source of one run.

    Args:
        collected: the whole input.
        sources: the pages and queries to rank for; a source's position is its index in this list.
        targets: where links may lead.
        searched: search results of the sources.
        texts: one text for each page, then one for each source without a page.
        vectors: (len(texts), d) unit rows, zeros for texts without a vector.
        rules: how candidates are ranked.
        planned: rows of pages that don't exist yet: as for queries without a page, the topic alone decides.
        joined, workers: see `Site`.

    Attributes:
        site: all texts.
        rows: the row of each page in `site`, by its key.
        source_rows: (s,) the row of each source in `site`.
        linkable: (n,) which rows of `site` are pages that a similar page may link to.
        graph: the known links.
        last: the pages that come last as sources and targets.
        one_way: how many links were put last because the link in the other direction is better.
        ranker: the learned model over all features; None unless it ranks better than the fixed weights.
        calibration: the probability of a link by the ranker's logit or the fixed score; None until it is learned.
    """

    ranker: Ranker | None = None
    calibration: Calibration | None = None
    one_way = 0

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
        planned: Collection[int] = (),
        joined: Nearest | None = None,
        workers: Workers | None = None,
    ) -> None:
        self.sources, self.targets = sources, targets
        self._names = NamedPages(collected)
        self.site = Site(
            collected.pages,
            texts,
            vectors,
            read=self._names.read,
            terms=rules.terms,
            near_duplicate=rules.near_duplicate,
            joined=joined,
            workers=workers,
        )
        self.rows = collected.rows
        self.source_rows = self._rows_of_sources(sources)
        self.graph = LinkGraph(collected.live_links, self.rows)
        self._owners = self._names.owners(collected.live_links)
        self._searched, self.rules = searched, rules
        self._below_floor: dict[int, int] = {}
        self.linkable = self.site.with_text.copy()
        unknown = [row for row, page in enumerate(collected.pages) if page.key not in targets.known]
        self.linkable[unknown] = False
        self._numbers = Numbers(collected.pages, self.rows)
        # No link leads to or from them, so links can't say what fits them.
        self._by_topic = np.ones(len(texts), np.bool_)
        self._by_topic[: len(collected.pages)] = False
        self._by_topic[[*planned]] = True
        outlinks = Counter(link.source for link in collected.links)
        counts = np.array([outlinks[page.key] for page in collected.pages], np.int64)
        self.last = last_resort(collected.pages, counts, rules.last)
        self._beyond = dict(self._beyond_templates())

    @property
    def below_floor(self) -> int:
        """The count of search results below `serp_floor`, over all sources ranked so far."""
        return sum(self._below_floor.values())

    def of(self, positions: Iterable[int]) -> Iterator[tuple[Candidate, ...]]:
        """Yield the candidates of each source, best first: the most similar pages, and search results."""
        positions = list(positions)
        for first, ranked in zip(range(0, len(positions), BLOCK), self.ranked(positions), strict=True):
            ends = np.searchsorted(ranked.of, np.arange(min(BLOCK, len(positions) - first) + 1))
            for start, end in pairwise(ends.tolist()):
                yield tuple(self.candidates(ranked.at(slice(start, end))))

    def ranked(
        self, positions: Sequence[int], offered: Mapping[int, Sequence[int]] | None = None
    ) -> Iterator[Ranked]:
        """Yield the candidates as `of` does, but as arrays of `BLOCK` sources at a time, which `candidates` reads.

        Args:
            positions: positions of the sources to rank for.
            offered: rows of further pages by the position of a source; a page becomes a candidate if the source is
                more similar to it than to its average target.
        """
        near = [(offered or {}).get(at, ()) for at in positions]
        for (chosen,), (signals,) in self.signals(positions, [self], near):
            found = pairs_of([[self._numbers.of(hit) for hit in hits] for hits in chosen.serp])
            serp_ranks = np.array([hit.rank for hits in chosen.serp for hit in hits], np.int32)
            yield fuse(found, serp_ranks, self._scored(signals, chosen.texts), self.rules.fusion)

    def candidates(self, ranked: Ranked) -> Iterator[Candidate]:
        """Yield the candidates in the arrays, in their order."""
        names = ("targets", "score", "similarity", "lexical", "serp_rank", "probability")
        for number, *signals in zip(*(getattr(ranked, name).tolist() for name in names), strict=True):
            page = self._numbers.page(number)
            yield Candidate(page.key, page.url, *signals)

    def signals(
        self, positions: Sequence[int], knowing: Sequence["Ranking"], offered: Sequence[Sequence[int]] = ()
    ) -> Iterator[tuple[Sequence["Chosen"], Sequence[Signals]]]:
        """Yield the candidates of `BLOCK` sources at a time, and their signals, for each ranking in `knowing`.

        These rankings are of the same site for the same sources; `offered` contains further rows for each source.
        """
        self.site.prepare(self.source_rows[list(positions)].tolist())
        ahead: deque[tuple[Sequence[Chosen], Sequence[Ints]]] = deque()

        def tasks() -> Iterator[tuple[Ints, Sequence[Ints], Sequence[Sequence[Ints]]]]:
            for first in range(0, len(positions), BLOCK):
                near = pairs_of(offered[first : first + BLOCK])
                chosen = [other._chosen(positions[first : first + BLOCK], near) for other in knowing]
                texts, others = chosen[0].texts, (each.others for each in chosen)
                # Words don't depend on the known links: each pair that any of the rankings needs is compared once.
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
                linked_similarity = [each[number][at] for (_, each), at in zip(fits, found_at, strict=True)]
                found.append(
                    other._signals(ours, np.concatenate(passages), np.concatenate(linked_similarity))
                )
            yield chosen, found

    def knowing(self, links: Sequence[ExistingLink], sources: Sequence[Source]) -> "Ranking":
        """Return a ranking of the same site with other known links, for other sources (pages), without searches."""
        other = self._changed(sources=sources, _searched=Searched(), _below_floor={})
        other.targets = replace(self.targets, linked=linked(sources, links))
        other.source_rows = self._rows_of_sources(sources)
        other.graph = LinkGraph(links, self.rows)
        other._owners = self._names.owners(links)
        return other

    def by(self, rules: LinkRules) -> "Ranking":
        """Return a ranking of the same site by other rules, without a learned model; term weights stay the same."""
        return self._changed(rules=rules, ranker=None, calibration=None)

    def searching(self, searched: Searched) -> "Ranking":
        """Return a ranking of the same site with these search results."""
        return self._changed(_searched=searched, _below_floor={})

    def fused(self, fusion: Fusion) -> "Ranking":
        """Return the same ranking, including its learned model, with search results fused in this way."""
        return self._changed(rules=replace(self.rules, fusion=fusion), _below_floor={})

    def taught(self, ranker: Ranker | None, calibration: Calibration) -> "Ranking":
        """Return a ranking of the same site with the model and the calibration learned from its links."""
        return self._changed(ranker=ranker, calibration=calibration)

    def _changed(self, **attributes: object) -> "Ranking":
        other = copy(self)
        for name, value in attributes.items():
            setattr(other, name, value)
        return other

    def last_of(self, positions: Sequence[int], ranked: Ranked) -> Bools:
        """Return which candidates of these sources are pages of last resort, or siblings of their sources."""
        rows = self.source_rows[np.array(positions, np.int64)][ranked.of]
        return self.last.of(ranked.targets) | self.last.are_siblings(rows, ranked.targets)

    def comes_last(self, key: str) -> bool:
        """Return whether a page comes last as a target; a search result that is not a page doesn't."""
        return bool(self.last.of(np.array([self.rows.get(key, len(self.rows))]))[0])

    def named(self, texts: Ints) -> Pairs:
        """Return the pages that the texts in these rows name, ascending; see `named_pages`."""
        return self._names.of(texts, self._owners)

    def old(self, position: int) -> list[int]:
        """Return the rows to which a link from the source would not be new."""
        source, targets = self.sources[position], self.targets
        alias = targets.aliases.get(source.key, "")
        return self._rows_of(
            [alias, *targets.linked.get(source.end, ()), *targets.rejected.get(source.end, ())]
        )

    def _rows_of(self, keys: Iterable[str]) -> list[int]:
        """Return the rows of those keys that are pages."""
        return [self.rows[key] for key in keys if key in self.rows]

    def _rows_of_sources(self, sources: Sequence[Source]) -> Ints:
        """Return (s,) the rows of sources: a page's own row; sources without a page follow the pages, in order."""
        others = count(len(self.site.pages))
        rows = [self.rows[source.key] if source.page else next(others) for source in sources]
        return np.array(rows, np.int64)

    def _beyond_templates(self) -> Iterator[tuple[int, Ints]]:
        """Yield each large template with the other pages that are nearest to its first page.

        Its pages have only each other among their nearest pages.
        """
        site, weight = self.site, self.rules.lexical_weight
        for template, siblings in self.last.large_templates():
            text = siblings[:1]
            site.prepare(text.tolist())
            new, _ = site.fresh(
                text,
                site.matches(text, self.linkable, weight),
                BEYOND,
                among=self.linkable,
                lexical_weight=weight,
                old=pairs_of([siblings]),
            )
            yield template, new.rows[:BEYOND]

    def _chosen(self, positions: Sequence[int], offered: Pairs = NO_PAIRS) -> "Chosen":
        """Find the candidates of some sources: pages to which a link would be new, and search results.

        The pages are a source's best `candidates`, the pages that similar pages link to most, its search
        results, and those offered pages that score above its average target.
        """
        rules, site, among, n = self.rules, self.site, self.linkable, len(self.linkable)
        texts, weight = self.source_rows[list(positions)], rules.lexical_weight
        near = site.matches(texts, among, weight)
        near = near.at(ranks(near.of) < NEIGHBOURS)
        votes = self.graph.votes(near.pairs, np.fmax(near.score, 0))
        elected = votes.strongest(ELECTED)
        elected = elected.at(~self._by_topic[texts[elected.of]])
        hits = [self._hits(position) for position in positions]
        named = pairs_of([self._rows_of(hit.key for hit in ours) for ours in hits])
        beyond = pairs_of(
            [self._beyond.get(template, ()) for template in self.last.templates(texts).tolist()]
        )
        titled = self.named(texts)
        matches = site.matches(texts, among, weight, both(elected, named, offered, beyond, titled))
        new, duplicates = site.fresh(
            texts,
            matches,
            rules.candidates,
            among=among,
            lexical_weight=weight,
            old=pairs_of([self.old(position) for position in positions]),
        )
        serp = self._near_enough(positions, hits, matches, duplicates)
        found = pairs_of([self._rows_of(hit.key for hit in ours) for ours in serp])
        keys = new.pairs.keys(n)
        above = is_in(keys, offered.keys(n)) & (new.score > 0)
        always = is_in(keys, both(elected, found, beyond, titled).keys(n))
        return Chosen(texts, new.at((ranks(new.of) < rules.candidates) | always | above), serp, votes)

    def _signals(self, chosen: "Chosen", passages: Vectors, linked_similarity: Vectors) -> Signals:
        """Compute the signals of each candidate."""
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
            linked_similarity,
            self.graph.inlinks[rows],
            is_in(pairs.keys(n), self.graph.sources(texts).keys(n)).astype(np.float32),
            self.graph.cocited(texts).of(pairs),
            is_in(pairs.keys(n), self.named(texts).keys(n)).astype(np.float32),
        )

    def _scored(self, signals: Signals, texts: Ints) -> Ranked:
        """Score the candidates of the sources with these rows; only pages have a probability."""
        score = known = fixed_score(signals, self.rules.weights)
        if self.ranker:
            known = self.ranker.logit(features(signals))
            score = reordered(score, known, signals)
        unknown = np.full(len(score), np.nan)
        probability = self.calibration.probability(known) if self.calibration else unknown
        by_topic = self._by_topic[texts[signals.of]]
        if by_topic.any():
            topic = self._topic_score(signals, texts)
            score, probability = np.where(by_topic, topic, score), np.where(by_topic, np.nan, probability)
        figures = score, signals.similarity, signals.lexical, probability
        not_searched = np.zeros(len(score), np.int32)
        return Ranked(signals.of, signals.rows, not_searched, *(each.astype(np.float32) for each in figures))

    def _topic_score(self, signals: Signals, texts: Ints) -> Vectors:
        """Score the candidates by their topic; only those of a query or a planned page are compared with its title."""
        coverage = np.zeros(len(signals.of), np.float32)
        by_topic = np.flatnonzero(self._by_topic[texts])
        here = [np.flatnonzero(signals.of == at) for at in by_topic.tolist()]
        covered = self.site.coverage(texts[by_topic], [signals.rows[each] for each in here])
        for each, found in zip(here, covered, strict=True):
            coverage[each] = found
        return topic_score(signals, coverage, self.site.has_content[texts[signals.of]])

    def _hits(self, position: int) -> list[SerpTarget]:
        """Return the search results that a source may link to."""
        return [*eligible(self.sources[position], self._searched.targets.get(position, ()), self.targets)]

    def _near_enough(
        self,
        positions: Sequence[int],
        hits: Sequence[Sequence[SerpTarget]],
        matches: Matches,
        duplicates: Pairs,
    ) -> list[Sequence[SerpTarget]]:
        """Return the search results to rank, without near-duplicates; "blend" omits those below the floor."""
        kept: list[Sequence[SerpTarget]] = []
        for at, (position, ours) in enumerate(zip(positions, hits, strict=True)):
            if not ours:
                kept.append(ours)
                continue
            here = matches.of == at
            scores = dict(zip(matches.rows[here].tolist(), matches.score[here].tolist(), strict=True))
            floor, copies = self.rules.serp_floor, set(duplicates.rows[duplicates.of == at].tolist())
            # A page without content, or in another language, has no score and is not below the floor.
            below = {hit.key for hit in ours if scores.get(self.rows.get(hit.key, -1), nan) < floor}
            self._below_floor[position] = len(below)
            barred = set() if self.rules.fusion == "fill" else below
            kept.append(
                [hit for hit in ours if hit.key not in barred and self.rows.get(hit.key) not in copies]
            )
        return kept


@dataclass(frozen=True, slots=True)
class Chosen:
    """The candidates of t sources.

    Attributes:
        texts: (t,) rows of the sources.
        matches: matching pages with their similarity signals.
        serp: eligible search results of each source.
        votes: votes of similar pages for each page.
    """

    texts: Ints
    matches: Matches
    serp: Sequence[Sequence[SerpTarget]]
    votes: Counted

    @property
    def others(self) -> Sequence[Ints]:
        """The rows of the pages that match each source."""
        return self.matches.pairs.lists(len(self.texts))
