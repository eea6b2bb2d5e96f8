"""One run, top to bottom: input, earlier links, search, vectors, matching, publication."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from internal_linker.match.neighbours.knn_join import Joined
from internal_linker.model.errors import Interrupted
from internal_linker.model.link_density import usual_density
from internal_linker.model.needs import PageNeeds
from internal_linker.model.ports import Progress
from internal_linker.model.records import Collected, RowSelection, Searched, Source
from internal_linker.model.sequences import counted
from internal_linker.project.pipeline.context import Rules, RunContext
from internal_linker.project.pipeline.deliver import compact
from internal_linker.project.pipeline.last_lists import Bases, bases, earlier_lists
from internal_linker.project.pipeline.no_links import why_no_links
from internal_linker.project.pipeline.prepared import Prepared, Stored
from internal_linker.project.pipeline.publish import Publication
from internal_linker.project.pipeline.report import Report, matched
from internal_linker.project.pipeline.run_input import RunInput, collected_site, known_rules, read_input
from internal_linker.project.pipeline.site_places import SitePlaces, site_places
from internal_linker.project.pipeline.site_ranking import SiteVectors, embed_site, join_site, rank_site
from internal_linker.project.pipeline.unchanged import Repetition
from internal_linker.rank.fusion_choice import FusionEvidence, fusion_evidence, pages_to_compare
from internal_linker.rank.rank import Ranking
from internal_linker.rank.recommend import recommend
from internal_linker.rank.site_lists import list_site
from internal_linker.review.link_memory import Memory
from internal_linker.sources.serp.search import search_all, search_cached
from internal_linker.text.words import word_count

# Texts whose words are counted to know how many links editors set: a fifth of a second.
_SAMPLE = 1_000


@dataclass(frozen=True)
class _Compared:
    """All that matching compares: the input, its search results and its vectors."""

    given: RunInput
    searched: Searched
    vectors: SiteVectors
    joined: Joined | None  # the nearest texts; None: each text is compared when a row needs it
    memory: Memory | None  # the stored links with editors' decisions; None where no links are stored
    needs: PageNeeds | None  # how much the pages need links; None: all of them equally


class Run:
    """One run in `context`; it calls `should_stop` between two steps.

    A lookup is a run in a context without sinks: it writes nothing but the caches and the index.
    """

    def __init__(
        self,
        context: RunContext,
        rules: Rules,
        choice: RowSelection,
        progress: Progress,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> None:
        self.context, self.rules, self.choice, self.progress = context, rules, choice, progress
        self._should_stop = should_stop
        # A run over some rows, such as a trial, leaves no index behind.
        indexed = not (context.sinks and choice.partial)
        self._prepared = Prepared(context if indexed else replace(context, index=None), progress)
        self._repetition = None
        if context.sinks and context.runs and context.edges and not choice.partial:
            self._repetition = Repetition(context, rules, self._prepared, context.edges, context.runs)

    def execute(self, run_id: str) -> Report:
        """Run all steps; if nothing changed since the last run, return what that one published.

        Raises:
            InputError: the input can't be used.
            ServiceError: the input can't be read from its service.
            Interrupted: `should_stop` returned true between two steps.
        """
        self._step()
        if self._repetition and (kept := self._repetition.last()):
            for notice in self.context.notices:
                self.progress.warn(notice)
            site = collected_site(self.context, self._prepared)
            return self._repetition.report(kept, site, memory_of(self.context, self.rules, run_id, site))
        given = self._read_input()
        needs = self._read_needs(given.collected)
        memory, gaps = self._recall(run_id, given.collected)
        given = given.without_rejected(memory)
        stored = self._stored(given)
        with self.context.turn(self.progress, self._step):
            searched = self._search(given)
            vectors = self._embed(given, stored)
        joined = self._join(given, vectors)
        self._step()
        compared = _Compared(given, searched, vectors, joined, memory, needs)
        with site_places(
            given.collected, self._prepared, self.context, self.rules.linking, self.progress
        ) as places:
            report = self._match(run_id, compared, stored, places)
            self._note_gaps(report, gaps)
            self._step()
            self._publish(report, given, places)
        self._end(report)
        return report

    def keep(self, report: Report) -> None:
        """Keep what lets the next run find out that nothing changed, once all files are written."""
        if self._repetition and report.memory and not report.unchanged:
            self._repetition.keep(report, report.memory)

    def _read_input(self) -> RunInput:
        return read_input(
            self.context,
            self.rules,
            self.choice,
            self.progress,
            prepared=self._prepared,
            keep_rejects=bool(self.context.sinks),
        )

    def _read_needs(self, collected: Collected) -> PageNeeds | None:
        """Return how much pages need links; a lookup goes by relevance alone."""
        if self.context.needs is None or not self.context.sinks:
            return None
        self._step()
        self.progress.start("Search data", 0, "rows")
        needs, told = self.context.needs(collected)
        self.progress.finish(told if needs else "none")
        if needs is None:
            self.progress.warn(told)
        return needs

    def _recall(self, run_id: str, collected: Collected) -> tuple[Memory | None, Sequence[str]]:
        """Return the stored links with what editors decided on them, and what could not be read."""
        if self.context.edges is None:
            return None, ()
        self._step()
        return recall(self.context, self.rules, run_id, collected, self.progress)

    def _stored(self, given: RunInput) -> Stored | None:
        """Return the comparison of the pages from the index, which a lookup needs instead of their vectors."""
        # A run needs the vectors themselves, and says what it cost to get them.
        if self.context.sinks:
            return None
        return self._prepared.stored(given.collected, given.targets, self.rules.linking)

    def _search(self, given: RunInput) -> Searched:
        self._step()
        if self.context.serp is None:
            return Searched()
        return search_all(
            given.sources,
            self.context.serp,
            self.context.serp_cache,
            given.targets,
            self.rules.search,
            progress=self.progress,
        )

    def _embed(self, given: RunInput, stored: Stored | None) -> SiteVectors:
        self._step()
        return embed_site(given, stored, self.context, self.progress)

    def _join(self, given: RunInput, vectors: SiteVectors) -> Joined | None:
        """Return the nearest texts of all pages and queries; for some rows, each text is compared on its own."""
        self._step()
        if self.choice.partial:
            return None
        return join_site(given, vectors.embedded, self.context, self.progress)

    def _match(self, run_id: str, compared: _Compared, stored: Stored | None, places: SitePlaces) -> Report:
        """Rank all rows, choose their links, and keep in the index what this took to find out about the site."""
        given, searched, embedded = compared.given, compared.searched, compared.vectors.embedded
        memory, rules, partial = compared.memory, self.rules.linking, self.choice.partial
        self.progress.start("Matching", len(given.sources), "pages")
        known = self._pages_to_compare(given)
        if self.context.sinks and not (embedded.missing or embedded.problem):
            stored = self._prepared.stored(given.collected, given.targets, rules)
        if partial:
            # Only a run over the whole site knows how many links lead to a page.
            rules = replace(rules, min_inlinks=0, max_inlinks=0, max_new_inlinks=0, goals=())
        goals = known_rules(rules.goals, "config/link_targets.csv", given.collected, self.progress.warn)
        rules = replace(rules, goals=goals)
        # For some rows, starting other processes would cost more than it saves.
        with nullcontext() if partial else self.context.workers("matching", self.progress.warn) as workers:
            ranked = rank_site(
                given,
                searched,
                compared.vectors,
                rules,
                context=self.context,
                prepared=self._prepared,
                stored=stored,
                memory=memory,
                joined=compared.joined,
                workers=workers,
            )
            self.context.trim()
            ranking = ranked.ranking
            own, past, hosts = (
                self._bases(ranking, compared, places),
                self.context.past,
                given.collected.hosts,
            )
            earlier = earlier_lists(past, hosts, ranking, own) if past and own else None
            if memory and own:
                memory.settled = earlier is not None and not earlier.unsettled.all()
            found = recommend(
                ranking,
                searched,
                rules,
                self.progress.advance,
                accepted=memory.decided.accepted if memory else {},
                approved=memory.approved if memory and memory.rules.approval else None,
                earlier=earlier,
                needs=compared.needs,
                judge=places.judge,
                ruled=places.ruled(given.sources, given.targets, whole=not partial),
                trim=self.context.trim,
            )
            recommendations = compact(given.rows.merged(found))
            self.context.trim()
            listed = None if partial else list_site(ranking, given.collected)
            # Here, as the workers have a large site's texts.
            evidence = self._evidence(ranking, *known, compared) if known else None
        # Here, so that nothing refers to the words and vectors of the site while links are published.
        self._prepared.keep_hubness(ranking.site, ranked.state)
        outcome = matched(recommendations)
        self.progress.finish(outcome)
        return Report(
            run_id,
            given.collected,
            searched,
            embedded,
            recommendations,
            listed,
            below_floor=ranking.below_floor,
            dropped=ranking.below_floor if rules.fusion == "blend" else 0,
            fusion=evidence,
            adaptation=ranked.adaptation,
            joined=compared.joined,
            last=ranking.last.counts,
            one_way=ranking.one_way,
            memory=memory,
            bases=own,
            outcome=outcome,
            no_links=why_no_links(
                given.collected, recommendations, given.targets, scope=self.rules.scope, partial=partial
            ),
        )

    def _pages_to_compare(self, given: RunInput) -> tuple[Sequence[Source], Searched] | None:
        """Return pages with known links and their search results, which say how good such results are.

        None if search results don't come first, or for a run over some rows.
        """
        context = self.context
        if context.serp is None or self.choice.partial or self.rules.linking.fusion != "fill":
            return None
        pages = pages_to_compare(given.sources, given.collected.live_links)
        anywhere = replace(given.targets, linked={})
        market = context.serp.market
        return pages, search_cached(pages, market, context.serp_cache, anywhere, self.rules.search)

    def _evidence(
        self, ranking: Ranking, pages: Sequence[Source], found: Searched, compared: _Compared
    ) -> FusionEvidence:
        """Return how good search results are, by those of pages with known links."""
        results = sum(map(len, compared.searched.targets.values()))
        return fusion_evidence(ranking, pages, compared.given.collected.live_links, found, results)

    def _bases(self, ranking: Ranking, compared: _Compared, places: SitePlaces) -> Bases | None:
        """Return what the lists of this run depend on; None for a lookup."""
        if self.context.past is None or compared.memory is None or not self.context.sinks:
            return None
        return bases(
            ranking,
            compared.vectors.embedded.hashes,
            compared.searched,
            decided=compared.memory.decided,
            rules=self.rules.linking,
            encoder=compared.memory.encoder,
            page_queries=places.page_queries,
            needs=compared.needs,
        )

    def _note_gaps(self, report: Report, gaps: Sequence[str]) -> None:
        """Note what is missing, before the links are published."""
        searched, none = report.searched, report.no_links
        report.gaps += filter(None, [*gaps, searched.problem, report.embedded.problem])
        if searched.notes and not searched.problem:
            some = counted(len(searched.notes), "query", "queries")
            where = ": the column Note of Output.csv says why" if self.context.sinks else ""
            report.gaps.append(f"{some} could not be searched{where}.")
        if none and not none.complete:
            report.gaps.append(none.sentence)

    def _publish(self, report: Report, given: RunInput, places: SitePlaces) -> None:
        """Publish the links, and keep in the index what this took to find out about the site."""
        publication = Publication(
            self.context,
            self.rules,
            report,
            given.targets,
            partial=self.choice.partial,
            progress=self.progress,
            places=places,
        )
        publication.publish(given.sources)
        self._prepared.keep_counted()

    def _end(self, report: Report) -> None:
        """Prune the caches, and say what a person should know."""
        if self.context.sinks and not self.choice.partial:
            self.context.tidy(self.context.encoder, report.embedded.hashes)
        note, gap = self.context.damage()
        report.gaps += filter(None, [gap])
        none = report.no_links
        done = none.sentence if none and none.complete else ""
        for sentence in filter(None, [note, *report.gaps, done]):
            self.progress.warn(sentence)

    def _step(self) -> None:
        """Return the memory that the last step freed to the system, and stop before the next one if that is wanted."""
        self.context.trim()
        if self._should_stop():
            raise Interrupted("The run was stopped between two steps; no step is incomplete.")


def memory_of(context: RunContext, rules: Rules, run_id: str, collected: Collected) -> Memory | None:
    """Return the stored links, without a look at them; None where no links are stored."""
    if context.edges is None:
        return None
    encoder = f"{context.encoder.name}, recipe {context.encoder.recipe}"
    return Memory(
        context.edges,
        rules.edges,
        run_id,
        encoder,
        hosts=collected.hosts,
        text_links=collected.text_links,
        usual=partial(_usual_density, collected),
    )


def _usual_density(collected: Collected) -> float:
    """Return how many links per 1,000 words the site's texts usually have, by up to `_SAMPLE` of them."""
    links = collected.text_links
    linking = [page for page in collected.pages if page.key in links]
    some = linking[:: -(-len(linking) // _SAMPLE) or 1]
    words = np.array([word_count(str(page.content)) for page in some], np.int64)
    return usual_density(words, np.array([links[page.key] for page in some], np.int64))


def recall(
    context: RunContext, rules: Rules, run_id: str, collected: Collected, progress: Progress
) -> tuple[Memory | None, Sequence[str]]:
    """Read the stored links, editors' decisions first if this run writes; return what could not be read, too."""
    memory = memory_of(context, rules, run_id, collected)
    gaps = memory.recall(context.desk if context.sinks else None, progress) if memory else ()
    return memory, gaps
