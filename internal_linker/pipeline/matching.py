"""The step "Matching" of a run: the links of all its rows, from the last run if its input was the same."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

from internal_linker.core.needs import PageNeeds
from internal_linker.core.ports import Progress
from internal_linker.core.records import Searched, Source
from internal_linker.core.version import program_digest
from internal_linker.matching.neighbours.knn_join import Joined
from internal_linker.pipeline.context import Rules, RunContext
from internal_linker.pipeline.deliver import compact
from internal_linker.pipeline.last_lists import Bases, bases, earlier_lists
from internal_linker.pipeline.last_matching import Matched, MatchingInput, last_matched
from internal_linker.pipeline.prepared import Prepared, Stored
from internal_linker.pipeline.recall import Recalled
from internal_linker.pipeline.report import matched
from internal_linker.pipeline.run_input import RunInput
from internal_linker.pipeline.site_ranking import rank_site
from internal_linker.pipeline.site_vectors import SiteVectors
from internal_linker.pipeline.unchanged import scope_of
from internal_linker.ranking.fusion_choice import FusionEvidence, fusion_evidence, pages_to_compare
from internal_linker.ranking.rank import Ranking
from internal_linker.ranking.recommend import recommend
from internal_linker.ranking.site_lists import list_site
from internal_linker.ranking.stability import Earlier
from internal_linker.ranking.weighed import History
from internal_linker.review.link_memory import Memory
from internal_linker.serp.search import search_cached


@dataclass(frozen=True)
class Found:
    """What matching found.

    Attributes:
        matched: the links of all rows, with what a report says of them.
        outcome: how many there are, in one line.
        digest: that of all that they depend on; "" if no later run may take them from this one.
    """

    matched: Matched
    outcome: str
    digest: str


@dataclass(frozen=True)
class Matching:
    """Finds the links of the rows of one run.

    Attributes:
        context, rules: the run's context and rules.
        progress: the display of the step.
        partial: whether some rows are left out.
        prepared: the index.
        given: the run's input.
        searched: the search results.
        vectors: the texts of pages and queries, with their vectors.
        joined: the nearest texts; None: each text is compared when a row needs it.
        recalled: the stored links with editors' decisions.
        needs: how much the pages need links; None: all of them equally.
    """

    context: RunContext
    rules: Rules
    progress: Progress
    partial: bool
    prepared: Prepared
    given: RunInput
    searched: Searched
    vectors: SiteVectors
    joined: Joined | None
    recalled: Recalled
    needs: PageNeeds | None

    def find(self, stored: Stored | None) -> Found:
        """Return the links of all rows, from the last run if its input was the same: its lists would stay anyway.

        Args:
            stored: what a lookup found in the index of the pages; None: nothing, or it was not looked for.
        """
        context, embedded = self.context, self.vectors.embedded
        self.progress.start("Matching", len(self.given.sources), "pages")
        compared = self._compared()
        known, digest = None, ""
        if context.past and self.recalled.memory and context.sinks and not self.partial:
            digest = self._input(self.recalled.memory, compared).digest()
            # Without a service, a run reports a gap, and is no baseline for the next ones.
            whole = not (self.searched.problem or embedded.problem)
            known = last_matched(
                context.past, digest, self.given.rows, self._is_same if whole else lambda _: False
            )
            self.progress.advance(len(self.given.sources) if known else 0)
        if context.sinks and not (known or embedded.missing or embedded.problem):
            stored = self.prepared.stored(self.given.collected, self.given.targets, self.rules.linking)
        found = known or self._recommend(stored, compared)
        outcome = found.unchanged.outcome if found.unchanged else matched(found.recommendations)
        self.progress.finish(outcome)
        return Found(found, outcome, digest)

    def _compared(self) -> tuple[Sequence[Source], Searched] | None:
        """Return pages with known links and their search results, which say how good such results are.

        None if search results don't come first, or for a run over some rows.
        """
        context, given = self.context, self.given
        if context.serp is None or self.partial or self.rules.linking.fusion != "fill":
            return None
        pages = pages_to_compare(given.sources, given.collected.live_links)
        anywhere = replace(given.targets, linked={})
        market = context.serp.market
        return pages, search_cached(pages, market, context.serp_cache, anywhere, self.rules.search)

    def _input(self, memory: Memory, compared: tuple[Sequence[Source], Searched] | None) -> MatchingInput:
        given, embedded = self.given, self.vectors.embedded
        return MatchingInput(
            program_digest(),
            given.collected,
            given.rows,
            given.targets,
            self.searched,
            given.texts(),
            embedded.hashes,
            embedded.vectors,
            self.joined.nearest if self.joined else None,
            compared[1] if compared else Searched(),
            memory.decided,
            str(memory.rules.approval),
            self.rules.linking,
            memory.encoder,
            self.needs,
        )

    def _is_same(self, kept: Mapping[str, Any]) -> bool:
        """Return whether nothing that a run publishes changed since the one that keeps this about itself."""
        same = kept["inputs"] == self.prepared.inputs and kept["scope"] == scope_of(self.rules)
        return self.recalled.untouched and same and self.context.runs is not None

    def _recommend(
        self, stored: Stored | None, compared: tuple[Sequence[Source], Searched] | None
    ) -> Matched:
        """Rank all rows, and choose their links; keep in the index what this took to find out about the site."""
        given, searched, memory = self.given, self.searched, self.recalled.memory
        rules = self.rules.linking
        if self.partial:
            # Only a run over the whole site knows how many links lead to a page.
            rules = replace(rules, min_inlinks=0, max_inlinks=0)
        # For some rows, starting other processes would cost more than it saves.
        with nullcontext() if self.partial else self.context.workers(self.progress.warn) as workers:
            ranked = rank_site(
                given,
                searched,
                self.vectors,
                rules,
                context=self.context,
                prepared=self.prepared,
                stored=stored,
                memory=memory,
                joined=self.joined,
                workers=workers,
            )
            self.context.trim()
            ranking = ranked.ranking
            own = self._bases(ranking)
            found = recommend(
                ranking,
                searched,
                rules,
                self.progress.advance,
                memory,
                earlier=self._earlier(ranking, own),
                history=self._history(ranking, own),
                needs=self.needs,
                trim=self.context.trim,
            )
            recommendations = compact(given.rows.merged(found))
            self.context.trim()
            listed = None if self.partial else list_site(ranking, given.collected)
            # Here, as the workers have a large site's texts.
            evidence = self._evidence(ranking, *compared) if compared else None
        # Here, so that nothing refers to the words and vectors of the site while links are published.
        self.prepared.keep_hubness(ranking.site, ranked.state)
        return Matched(
            recommendations,
            listed,
            ranked.adaptation,
            ranking.below_floor,
            ranking.last.counts,
            ranking.one_way,
            evidence,
            own,
        )

    def _evidence(self, ranking: Ranking, pages: Sequence[Source], found: Searched) -> FusionEvidence:
        """Return how good search results are, by those of pages with known links."""
        results = sum(map(len, self.searched.targets.values()))
        return fusion_evidence(ranking, pages, self.given.collected.live_links, found, results)

    def _bases(self, ranking: Ranking) -> Bases | None:
        """Return what the lists of this run depend on; None for a lookup."""
        memory = self.recalled.memory
        if self.context.past is None or memory is None or not self.context.sinks:
            return None
        return bases(
            ranking,
            self.vectors.embedded.hashes,
            self.searched,
            decided=memory.decided,
            rules=self.rules.linking,
            encoder=memory.encoder,
            needs=self.needs,
        )

    def _earlier(self, ranking: Ranking, own: Bases | None) -> Earlier | None:
        """Return the lists of the last run."""
        if self.context.past is None or own is None:
            return None
        return earlier_lists(self.context.past, self.given.collected.hosts, ranking, own)

    def _history(self, ranking: Ranking, own: Bases | None) -> History | None:
        """Return what lets this run and the next one weigh only what changed; None if this one is no measure."""
        embedded = self.vectors.embedded
        if own is None or self.partial or self.searched.problem or embedded.missing or embedded.problem:
            return None
        return self.prepared.history(own.facts(ranking))
