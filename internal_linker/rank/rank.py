"""Ranking of each source's candidates: matching pages, passages, links and search results, fused into one order."""

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, count, pairwise
from math import nan

import numpy as np

from internal_linker.match.candidates import Matches, codes_among, language_codes
from internal_linker.match.compute.processes import Processes
from internal_linker.match.page_names import Name, Stems
from internal_linker.match.site_index import Guests, Site
from internal_linker.match.tokens import Tokenized, tokenize
from internal_linker.model.arrays import (
    NO_PAIRS,
    Bools,
    Ints,
    Nearest,
    Pairs,
    Vectors,
    both,
    floats,
    is_in,
    pairs_of,
    ranks,
)
from internal_linker.model.records import (
    Candidate,
    Collected,
    ExistingLink,
    Fusion,
    Page,
    Searched,
    SerpTarget,
    Source,
    Targets,
    Text,
)
from internal_linker.model.sections import ROOT, sections_of
from internal_linker.rank.candidate_sources import CandidateSources
from internal_linker.rank.demotion import find_demotions
from internal_linker.rank.fusion import Numbers, Ranked, fuse
from internal_linker.rank.link_features import LinkGraph
from internal_linker.rank.list_scales import scale_values, standard
from internal_linker.rank.pair_features import PAIR_FEATURES, PairFeatures
from internal_linker.rank.pair_link_features import SimilarPagesLinks
from internal_linker.rank.promising_targets import Promising
from internal_linker.rank.ranker import LearnedRanker, packaged_ranker
from internal_linker.rank.rules import TOPIC_WEIGHTS, LinkRules, TopicWeights
from internal_linker.rank.selection import eligible, linked
from internal_linker.rank.shared_titles import EqualTitles, common_words
from internal_linker.rank.site_words import SiteTerms
from internal_linker.text.brands import without_brands
from internal_linker.text.words import words

# The most similar pages, whose links count as votes: 15 and 30 are within 0.002 of NDCG@5, 8 cost 0.007.
NEIGHBOURS = 15
# Candidates of each page of a large template besides its siblings.
BEYOND = 20
# What a candidate loses, in deviations, that has no word in common with the source and is no closer to it than its
# average target, unless the text names it: a longer page, or one that many pages link to, doesn't make up for another
# topic. On the development sites, links of editors are found exactly as well without these pages.
OFF_TOPIC = 3.0
# In a section of fewer pages, links from it say nothing.
_LEAST_PAGES = 5
# Sources that are ranked at a time: larger blocks are no faster.
BLOCK = 256


class Ranking:
    """The candidates of any source of one run.

    Args:
        sources: the pages and queries to rank for; a source's position is its index in this list.
        targets: where links may lead.
        searched: search results of the sources.
        texts: one text for each page, without the text of its links (see `link_texts`), then one for each source
            without a page, which are guests: see `with_guests`.
        vectors: (len(texts), d) unit rows, zeros for texts without a vector.
        tokenized: the texts of the pages, tokenized; None: tokenize them.
        joined: see `Site`.

    Attributes:
        site: all texts.
        pages: the pages of the site, then those that guests will be.
        rows: the row of each page in `site`, by its key.
        source_rows: (s,) the row of each source in `site`.
        linkable: (n,) which rows of `site` are pages that a similar page may link to.
        last: the pages that come last as sources and targets.
        one_way: how many links were put last because the link in the other direction is better.
        ranker: scores the candidates; learned from editors' links on other sites.
        below_floor_of: how many search results of each source ranked so far are below `serp_floor`, by its position.
    """

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
        tokenized: Tokenized | None = None,
        joined: Nearest | None = None,
    ) -> None:
        self.sources, self.targets, n = sources, targets, len(collected.pages)
        tokenized = tokenized or tokenize(texts[:n])
        self.site = Site(
            collected.pages,
            texts[:n],
            vectors[:n],
            terms=rules.terms,
            near_duplicate=rules.near_duplicate,
            tokenized=tokenized,
            joined=joined,
        )
        self.pages: Sequence[Page] = collected.pages
        self.rows = collected.rows
        self.source_rows = self._rows_of_sources(sources)
        self.graph = LinkGraph(collected.live_links, self.rows)
        read = SiteTerms(collected, tokenized.tokens)
        self._names, self._words, self._brands = read.named, read.index, read.brands
        self._owners = self._names.owners(collected.live_links)
        self._features = PairFeatures(self.site, self._words, self.graph)
        self.ranker = packaged_ranker()
        self._searched, self.rules = searched, rules
        self.below_floor_of: dict[int, int] = {}
        self.linkable = self.site.with_text.copy()
        unknown = [row for row, page in enumerate(collected.pages) if page.key not in targets.known]
        self.linkable[unknown] = False
        self._languages = collected.languages
        languages = language_codes([page.lang for page in collected.pages])
        self._candidates = CandidateSources(self._words, self.linkable, languages)
        self._numbers = Numbers(collected.pages, self.rows)
        self._by_topic = np.zeros(n, np.bool_)
        outlinks = Counter(link.source for link in collected.links)
        counts = np.array([outlinks[page.key] for page in collected.pages], np.int64)
        self.last = find_demotions(collected.pages, counts, rules.last)
        self._beyond = dict(self._beyond_templates())
        if len(texts) > n:
            guests = Guests.queries(texts[n:], vectors[n:])
            vars(self).update(vars(self.with_guests(guests)))

    @cached_property
    def common_title_words(self) -> frozenset[str]:
        """The words of many of the pages' titles; see `SharedTitles`."""
        return common_words([page.title or page.h1 for page in self.site.pages])

    @cached_property
    def titles(self) -> EqualTitles:
        """The titles of the pages."""
        return EqualTitles(self.site.pages)

    @cached_property
    def sections(self) -> Ints:
        """(n,) the section of each page, -1 for none worth naming."""
        names = sections_of([page.key for page in self.site.pages])
        named, of, counts = np.unique(np.array(names, np.str_), return_inverse=True, return_counts=True)
        # A year is a date, not a part of the site.
        plain = [name != ROOT and not name.rpartition("/")[2].isdigit() for name in named.tolist()]
        telling = np.array(plain, np.bool_) & (counts >= _LEAST_PAGES) & (counts < len(names))
        sections: Ints = np.where(telling[of], of, -1)
        return sections

    def work(self, workers: Processes | None) -> None:
        """Let other processes compare and search many texts of a large site; None: this one goes on."""
        self.site.work(workers, self._candidates.searches)

    @property
    def below_floor(self) -> int:
        """The count of search results below `serp_floor`, over all sources ranked so far."""
        return sum(self.below_floor_of.values())

    def rank_sources(self, positions: Iterable[int]) -> Iterator[tuple[Candidate, ...]]:
        """Yield the candidates of each source, best first: the most similar pages, and search results."""
        positions = list(positions)
        for first, ranked in zip(range(0, len(positions), BLOCK), self.ranked(positions), strict=True):
            ends = np.searchsorted(ranked.of, np.arange(min(BLOCK, len(positions) - first) + 1))
            for start, end in pairwise(ends.tolist()):
                yield tuple(self.candidates(ranked.at(slice(start, end))))

    def ranked(
        self, positions: Sequence[int], offered: Mapping[int, Sequence[int]] | None = None
    ) -> Iterator[Ranked]:
        """Yield the candidates as `rank_sources` does, but as arrays of `BLOCK` sources at a time; see `candidates`.

        `offered` has rows of further pages by the position of a source; a page becomes a candidate if the source is
        more similar to it than to its average target.
        """
        return (ranked for ranked, _ in self.ranked_with_promising(positions, offered))

    def ranked_with_promising(
        self, positions: Sequence[int], offered: Mapping[int, Sequence[int]] | None = None
    ) -> Iterator[tuple[Ranked, Promising]]:
        """Yield what `ranked` does, with the targets for which it is worth while to search the sources' texts."""
        near = [(offered or {}).get(at, ()) for at in positions]
        # Scores take a third of the time, and another core can compute them meanwhile: NumPy lets other threads work.
        with ThreadPoolExecutor(1, "score") as pool:
            begun = deque[tuple[Chosen, Vectors, Future[tuple[Vectors, Promising]]]]()
            for (chosen,), (features,) in self.features(positions, [self], near):
                begun.append((chosen, features, pool.submit(self._weighed, chosen.matches, features)))
                if len(begun) > 1:
                    yield self._fused(*begun.popleft())
            for block in begun:
                yield self._fused(*block)

    def _weighed(self, matches: Matches, features: Vectors) -> tuple[Vectors, Promising]:
        columns = scale_values(features, matches.of)
        score = self.ranker.score_of(features, columns, matches.of)
        return score, Promising.among(matches.of, matches.rows, score, features, columns)

    def _fused(
        self, chosen: "Chosen", features: Vectors, weighed: Future[tuple[Vectors, Promising]]
    ) -> tuple[Ranked, Promising]:
        found = pairs_of([[self._numbers.assign_number(hit) for hit in hits] for hits in chosen.serp])
        serp_ranks = np.array([hit.rank for hits in chosen.serp for hit in hits], np.int32)
        score, promising = weighed.result()
        scored = self._scored(chosen, features, score)
        return fuse(found, serp_ranks, scored, self.rules.fusion), promising

    def candidates(self, ranked: Ranked) -> Iterator[Candidate]:
        """Yield the candidates in the arrays, in their order."""
        signals = (floats(each.tolist()) for each in (ranked.worth, ranked.similarity, ranked.lexical))
        found, probable = ranked.serp_rank.tolist(), floats(ranked.probability.tolist())
        for number, *values in zip(ranked.targets.tolist(), *signals, found, probable, strict=True):
            page = self._numbers.page(number)
            yield Candidate(page.key, page.url, *values)

    def features(
        self, positions: Sequence[int], knowing: Sequence["Ranking"], offered: Sequence[Sequence[int]] = ()
    ) -> Iterator[tuple[Sequence["Chosen"], Sequence[Vectors]]]:
        """Yield the candidates of `BLOCK` sources at a time, and their features, for each ranking in `knowing`.

        These rankings are of the same site for the same sources; `offered` contains further rows for each source. The
        features are (m, len(PAIR_FEATURES)), for the matches of the candidates.
        """
        rows = self.source_rows[list(positions)].tolist()
        self.site.prepare(rows)
        self._candidates.prepare(self.site, rows)
        ahead: deque[tuple[Sequence[Chosen], Sequence[Ints], Sequence[Sequence[Sequence[Ints]]]]] = deque()

        def tasks() -> Iterator[tuple[Ints, Sequence[Ints], Sequence[Sequence[Ints]]]]:
            for first in range(0, len(positions), BLOCK):
                near = pairs_of(offered[first : first + BLOCK])
                chosen = [other._chosen(positions[first : first + BLOCK], near) for other in knowing]
                texts, others = chosen[0].texts, (each.others for each in chosen)
                # Words don't depend on the known links: each pair that any of the rankings needs is compared once.
                wanted = [np.unique(np.concatenate(each)) for each in zip(*others, strict=True)]
                groups = [*zip(*(other._features.linked(texts) for other in knowing), strict=True)]
                ahead.append((chosen, wanted, groups))
                yield texts, wanted, [[*chain(*each)] for each in groups]

        for fits in self.site.fits(tasks()):
            chosen, wanted, groups = ahead.popleft()
            found, starts = list[Vectors](), np.zeros(len(wanted), np.int64)
            for number, (other, ours) in enumerate(zip(knowing, chosen, strict=True)):
                mine = list[tuple[Vectors, Sequence[Vectors]]]()
                for at, (places, theirs) in enumerate(zip(wanted, ours.others, strict=True)):
                    here = np.searchsorted(places, theirs)
                    passages, cosines = fits[at]
                    start, end = starts[at], starts[at] + len(groups[at][number])
                    mine.append((passages[here], [each[here] for each in cosines[start:end]]))
                    starts[at] = end
                found.append(
                    other._features.compute_features(ours.texts, ours.matches, mine, ours.named, ours.similar)
                )
            yield chosen, found

    def with_links(self, links: Sequence[ExistingLink], sources: Sequence[Source]) -> "Ranking":
        """Return a ranking of the same site with other known links, for other sources (pages).

        It knows no searches, and no rejections: rejected links are candidates again.
        """
        other = self._changed(sources=sources, _searched=Searched(), below_floor_of={})
        other.targets = replace(self.targets, linked=linked(sources, links), rejected={})
        other.source_rows = self._rows_of_sources(sources)
        other._learn_links(links)
        return other

    def without_links(self) -> "Ranking":
        """Return a ranking of the same site that knows no links, but proposes none that exists."""
        other = self._changed(below_floor_of={})
        other._learn_links(())
        return other

    def with_ranker(self, ranker: LearnedRanker) -> "Ranking":
        """Return a ranking of the same site by another ranker."""
        return self._changed(ranker=ranker)

    def proposing(
        self, sources: Sequence[Source], targets: Targets, searched: Searched, rows: Ints | None = None
    ) -> "Ranking":
        """Return a ranking of the same site for other sources, of which guests follow: see `with_guests`.

        `rows` has the row of each source, those of guests after the pages'; None: they are looked up.
        """
        other = self._changed(sources=sources, targets=targets, _searched=searched, below_floor_of={})
        other.source_rows = other._rows_of_sources(sources) if rows is None else rows
        return other

    def searching(self, searched: Searched) -> "Ranking":
        """Return a ranking of the same site with these search results."""
        return self._changed(_searched=searched, below_floor_of={})

    def with_fusion(self, fusion: Fusion) -> "Ranking":
        """Return the same ranking, including its learned model, with search results fused in this way."""
        return self._changed(rules=replace(self.rules, fusion=fusion), below_floor_of={})

    def lasting(self) -> "Ranking":
        """Return what of the ranking lasts beyond one run, to be pickled: see `resumed`."""
        self.site.prepare_samples()
        # Kept with the rest once they are known.
        _ = self.common_title_words, self.sections, self.titles
        none = np.empty(0, np.int64)
        targets, searched = Targets({}, {}), Searched()
        return self._changed(
            sources=(), targets=targets, source_rows=none, ranker=None, _searched=searched, _numbers=None
        )

    def resumed(
        self,
        collected: Collected,
        sources: Sequence[Source],
        targets: Targets,
        searched: Searched,
        *,
        texts: Sequence[Text],
        rules: LinkRules,
        joined: Nearest | None = None,
    ) -> "Ranking":
        """Return a ranking as if it were made anew from these, all of whose sources are pages.

        The ranking is one that was `lasting`; what it was made from must be the same, sources and searches aside.
        """
        self.site.resume(texts, joined)
        other = self._changed(
            sources=sources, targets=targets, rules=rules, ranker=packaged_ranker(), _searched=searched
        )
        other.below_floor_of, other._numbers = {}, Numbers(collected.pages, collected.rows)
        other.source_rows = other._rows_of_sources(sources)
        return other

    def with_guests(self, guests: Guests) -> "Ranking":
        """Return a ranking of the same pages and of guests, whose rows follow those of the pages.

        Guests are weighed by the statistics of the pages and compared with them, but change nothing about the pages. No
        link leads to or from them, so their topic alone decides; only a planned page may be a candidate.
        """
        other, stems, languages = copy(self), Stems(), guests.languages
        codes = codes_among(self._languages, languages)
        contents = list[Name]()

        def read(text: Sequence[str]) -> None:
            contents.append(stems.stem_words(text, languages[len(contents)]))

        titles = [
            stems.stem_words(words(without_brands(text.title, self._brands) or text.title), language)
            for text, language in zip(guests.texts, languages, strict=True)
        ]
        other.site = self.site.with_guests(guests, codes.tolist(), read)
        other._words = self._words.with_guests(titles, contents, codes.tolist())
        other._names = self._names.with_guests(contents)
        first, count = len(self.linkable), len(titles)
        other.graph = self.graph.with_guests(count)
        keys = [page.key if page else "" for page in guests.pages]
        other._features = self._features.with_guests(
            other.site, other._words, other.graph, keys, [*self.rows]
        )
        pages = [page or Page("", "") for page in guests.pages]
        may_be = [page.key in self.targets.known for page in pages]
        other.linkable = np.append(self.linkable, other.site.with_text[first:] & np.array(may_be, np.bool_))
        other._candidates = self._candidates.with_guests(other._words, other.site.languages)
        other._by_topic = np.append(self._by_topic, np.ones(count, np.bool_))
        planned = {key: first + at for at, key in enumerate(keys) if key}
        if planned:
            other.rows = {**self.rows, **planned}
            other.pages = [*self.pages, *pages]
            other._numbers = Numbers(other.pages, other.rows)
        other.below_floor_of = {}
        return other

    def _learn_links(self, links: Sequence[ExistingLink]) -> None:
        self.graph = LinkGraph(links, self.rows)
        if guests := len(self.linkable) - len(self.rows):
            self.graph = self.graph.with_guests(guests)
        self._owners = self._names.owners(links)
        self._features = self._features.with_graph(self.graph)

    def _changed(self, **attributes: object) -> "Ranking":
        other = copy(self)
        for name, value in attributes.items():
            setattr(other, name, value)
        return other

    def last_of(self, positions: Sequence[int], ranked: Ranked) -> Bools:
        """Return which candidates of these sources are pages of last resort, or siblings of their sources."""
        rows = self.source_rows[np.array(positions, np.int64)][ranked.of]
        return self.last.links(rows, ranked.targets, ranked.score)

    def comes_last(self, key: str) -> bool:
        """Return whether a page comes last as a target; a search result that is not a page doesn't."""
        return bool(self.last.are_last(np.array([self.rows.get(key, len(self.rows))]))[0])

    def named(self, texts: Ints) -> Pairs:
        """Return the pages that the texts in these rows name, ascending; see `named_pages`."""
        return self._names.find_pages(texts, self._owners)

    def old(self, position: int) -> list[int]:
        """Return the rows to which a link from the source would not be new."""
        return self._rows_of(self.old_keys(position))

    def old_keys(self, position: int) -> Iterator[str]:
        """Yield the keys of what a link from the source would not be new to, pages or not."""
        source, targets = self.sources[position], self.targets
        yield targets.aliases.get(source.key, "")
        yield from targets.linked.get(source.end, ())
        yield from targets.rejected.get(source.end, ())

    def _rows_of(self, keys: Iterable[str]) -> list[int]:
        return [self.rows[key] for key in keys if key in self.rows]

    def _rows_of_sources(self, sources: Sequence[Source]) -> Ints:
        """Return (s,) the rows of sources: a page's own row; sources without one follow the pages, in order."""
        others = count(len(self.site.pages))
        rows = [
            self.rows[source.key] if source.page and source.key in self.rows else next(others)
            for source in sources
        ]
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

        The pages are a source's best `candidates`, those found by search and by known links, its search
        results, and those offered pages that score above its average target.
        """
        rules, site, among, n = self.rules, self.site, self.linkable, len(self.linkable)
        texts, weight = self.source_rows[list(positions)], rules.lexical_weight
        near = site.matches(texts, among, weight)
        similar = SimilarPagesLinks.from_graph(self.graph, near, NEIGHBOURS)
        by_links = self._candidates.by_links(texts, self.graph, similar)
        by_links = by_links.at(~self._by_topic[texts[by_links.of]])
        hits = [self._hits(position) for position in positions]
        searched = pairs_of([self._rows_of(hit.key for hit in ours) for ours in hits])
        beyond = pairs_of(
            [self._beyond.get(template, ()) for template in self.last.templates(texts).tolist()]
        )
        named = self.named(texts)
        more = both(self._candidates.by_words(texts), by_links, beyond, named)
        matches = site.matches(texts, among, weight, both(more, searched, offered))
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
        always = is_in(keys, both(more, found).keys(n))
        kept = new.at((ranks(new.of) < rules.candidates) | always | above)
        return Chosen(texts, kept, serp, near, similar, named)

    def _scored(self, chosen: "Chosen", features: Vectors, score: Vectors) -> Ranked:
        """Return the candidates with their scores by the ranker, or by topic; only pages have a probability."""
        texts, matches = chosen.texts, chosen.matches
        probability = self.ranker.calibration.probability(score, matches.of)
        n = len(self.linkable)
        off_topic = (
            (matches.score <= 0)
            & (matches.lexical <= 0)
            & ~is_in(matches.pairs.keys(n), chosen.named.keys(n))
        )
        score -= OFF_TOPIC * off_topic
        by_topic = self._by_topic[texts[matches.of]]
        if by_topic.any():
            topic = self._topic_score(chosen, features)
            score, probability = np.where(by_topic, topic, score), np.where(by_topic, np.nan, probability)
        figures = score, matches.similarity, matches.lexical, probability, score
        not_searched = np.zeros(len(score), np.int32)
        return Ranked(matches.of, matches.rows, not_searched, *(each.astype(np.float32) for each in figures))

    def _topic_score(self, chosen: "Chosen", features: Vectors) -> Vectors:
        """Score the candidates by their topic; only those of a query or a planned page are compared with its title."""
        texts, matches = chosen.texts, chosen.matches
        coverage = np.zeros(len(matches.of), np.float32)
        by_topic = np.flatnonzero(self._by_topic[texts])
        here = [np.flatnonzero(matches.of == at) for at in by_topic.tolist()]
        covered = self.site.coverage(texts[by_topic], [matches.rows[each] for each in here])
        for each, found in zip(here, covered, strict=True):
            coverage[each] = found
        return topic_score(features, matches.of, coverage, self.site.has_content[texts[matches.of]])

    def _hits(self, position: int) -> list[SerpTarget]:
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
            self.below_floor_of[position] = len(below)
            barred = set() if self.rules.fusion == "fill" else below
            kept.append(
                [hit for hit in ours if hit.key not in barred and self.rows.get(hit.key) not in copies]
            )
        return kept


@dataclass(frozen=True, slots=True)
class Chosen:
    """The candidates of t sources."""

    texts: Ints  # (t,) rows of the sources
    matches: Matches  # matching pages with their similarity signals
    serp: Sequence[Sequence[SerpTarget]]  # eligible search results of each source
    near: Matches  # the pages similar to the sources, best first, linked ones among them
    similar: SimilarPagesLinks  # what the pages similar to the sources link to
    named: Pairs  # the pages that the sources' texts name

    @property
    def others(self) -> Sequence[Ints]:
        """The rows of the pages that match each source."""
        return self.matches.pairs.lists(len(self.texts))


def topic_score(
    features: Vectors, of: Ints, coverage: Vectors, has_content: Bools, weights: TopicWeights = TOPIC_WEIGHTS
) -> Vectors:
    """Return (m,) float64 the score by topic alone, for queries and planned pages, in standard deviations.

    Args:
        features: (m, len(PAIR_FEATURES)) features of the candidates.
        of: (m,) position of each candidate's source, ascending.
        coverage: (m,) how much of the source's title, or of its words if it is a query, each candidate covers, 0 to 1.
        has_content: (m,) whether the source of each candidate has more than a title.
    """
    meaning, cosine, passage = (
        standard(features[:, PAIR_FEATURES.index(name)], of) for name in ("embedding", "words", "passage")
    )
    title = standard(coverage, of)
    # Without embeddings, the words decide alone.
    alone = np.bincount(of, np.abs(meaning))[of] == 0
    words = np.where(has_content | alone, cosine, title)
    score: Vectors = weights.meaning * np.where(alone, words, meaning)
    score += weights.words * words + weights.passage * passage + weights.title * title
    return standard(score, of)
