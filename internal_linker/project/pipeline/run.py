"""One run, top to bottom: read, search, embed, match, rank, place, deliver."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial

import numpy as np

from internal_linker.model.edges import Edge
from internal_linker.model.errors import Interrupted
from internal_linker.model.link_density import usual_density
from internal_linker.model.needs import PageNeeds
from internal_linker.model.ports import Progress
from internal_linker.model.records import Collected, ExistingLink, RowSelection, Searched, Source
from internal_linker.model.sequences import counted
from internal_linker.project.pipeline.columns import in_columns
from internal_linker.project.pipeline.context import Rules, RunContext
from internal_linker.project.pipeline.deliver import Publication
from internal_linker.project.pipeline.last_run import (
    Bases,
    bases,
    earlier_lists,
    find_unchanged,
    keep_run,
    report_unchanged,
)
from internal_linker.project.pipeline.no_links import why_no_links
from internal_linker.project.pipeline.report import Report, matched
from internal_linker.project.pipeline.run_input import RunInput, known_rules, read_input, read_site
from internal_linker.project.pipeline.site_index import PageComparison, SiteIndex
from internal_linker.project.pipeline.site_places import SitePlaces, site_places
from internal_linker.project.pipeline.site_ranking import embed_site, join_site, rank_site
from internal_linker.rank.fusion_choice import fusion_evidence, pages_to_compare
from internal_linker.rank.rank import Ranking
from internal_linker.rank.recommend import recommend
from internal_linker.rank.rules import LinkRules
from internal_linker.rank.site_lists import list_site
from internal_linker.review.link_memory import Memory
from internal_linker.sources.serp.search import search_all, search_cached
from internal_linker.text.words import word_count

# Texts whose words are counted to know how many links editors set: a fifth of a second.
_SAMPLE = 1_000


class Run:
    """One run in `context`; it calls `should_stop` between two steps.

    A lookup is a run in a context that delivers nothing: it writes only the caches and the index.
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
        indexed = not (context.delivers and choice.partial)
        self.index = SiteIndex(context if indexed else replace(context, index=None), progress)

    def execute(self, run_id: str) -> Report:
        """Run all steps; if nothing changed since the last run, return what that one published.

        Raises:
            InputError: the input can't be used.
            ServiceError: the input can't be read from its service.
            Interrupted: `should_stop` returned true between two steps.
        """
        context, rules, progress = self.context, self.rules, self.progress
        self._step()
        if self._may_repeat and (kept := find_unchanged(context, rules, self.index)):
            for notice in context.notices:
                progress.warn(notice)
            site = read_site(context, self.index)
            return report_unchanged(context, rules, kept, site, stored_links(context, rules, run_id, site))
        run_input = read_input(context, rules, self.choice, progress, index=self.index)
        site = run_input.collected
        needs = self._read_needs(site)
        self._step()
        memory, gaps = recall(context, rules, run_id, site, progress)
        run_input = run_input.without_rejected(memory)
        # A lookup compares with what the index has; a run needs the vectors, and says what it cost to get them.
        comparison = (
            None if context.delivers else self.index.comparison(site, run_input.targets, rules.linking)
        )
        with context.turn(progress, self._step):
            searched = self._search(run_input)
            self._step()
            embedded, notes = embed_site(run_input, comparison, context, progress)
        self._step()
        # For some rows, each text is compared on its own.
        joined = None if self.choice.partial else join_site(run_input, embedded, context, progress)
        report = Report(run_id, site, searched, embedded, joined=joined, memory=memory)
        self._step()
        with site_places(site, self.index, context, rules.linking, progress) as places:
            report = self._match(run_input, report, places, notes=notes, comparison=comparison, needs=needs)
            report.gaps += [*gaps, *self._gaps(report)]
            self._step()
            publication = Publication(
                context,
                rules,
                report,
                run_input,
                places=places,
                progress=progress,
                partial=self.choice.partial,
            )
            publication.publish()
        self.index.keep_counted()
        self._end(report)
        return report

    def keep(self, report: Report) -> None:
        """Keep what lets the next run find out that nothing changed, once all files are written."""
        if self._may_repeat and report.memory and not report.unchanged:
            keep_run(self.context, self.rules, self.index, report, report.memory)

    @property
    def _may_repeat(self) -> bool:
        context = self.context
        return bool(context.delivers and context.runs and context.edges and not self.choice.partial)

    def _read_needs(self, collected: Collected) -> PageNeeds | None:
        """Return how much pages need links; a lookup goes by relevance alone."""
        if self.context.needs is None or not self.context.delivers:
            return None
        self._step()
        self.progress.start("Search data", 0, "rows")
        needs, told = self.context.needs(collected)
        self.progress.finish(told if needs else "none")
        if needs is None:
            self.progress.warn(told)
        return needs

    def _search(self, run_input: RunInput) -> Searched:
        self._step()
        context, rules = self.context, self.rules.search
        if context.serp is None:
            return Searched()
        return search_all(
            run_input.sources,
            context.serp,
            context.serp_cache,
            run_input.targets,
            rules,
            progress=self.progress,
        )

    def _match(
        self,
        run_input: RunInput,
        report: Report,
        places: SitePlaces,
        *,
        notes: Sequence[str],
        comparison: PageComparison | None,
        needs: PageNeeds | None,
    ) -> Report:
        """Rank all rows and choose their links; return the report with them. `needs` None: all pages equally."""
        context, memory, embedded = self.context, report.memory, report.embedded
        self.progress.start("Matching", len(run_input.sources), "pages")
        compared = self._pages_to_compare(run_input)
        if context.delivers and not (embedded.missing or embedded.problem):
            comparison = self.index.comparison(run_input.collected, run_input.targets, self.rules.linking)
        rules = self._linking_rules(run_input.collected)
        # Only the topic counts for queries without a page.
        learns = any(source.page for source in run_input.sources)
        accepted = memory.decided.accepted_links() if memory else []
        # For some rows, starting other processes would cost more than it saves.
        partial = self.choice.partial
        with nullcontext() if partial else context.workers("matching", self.progress.warn) as workers:
            ranking, adaptation, state = rank_site(
                run_input,
                report.searched,
                embedded,
                rules,
                notes=notes,
                accepted=accepted if learns else None,
                index=self.index,
                comparison=comparison,
                joined=report.joined,
                workers=workers,
            )
            if learns and not context.delivers:
                ranking.site.forget()
            context.trim()
            report = self._choose(ranking, run_input, report, places, rules=rules, needs=needs)
            # Here, as the workers have a large site's texts.
            results = sum(map(len, report.searched.targets.values()))
            fusion = fusion_evidence(ranking, *compared, results) if compared else None
        # Here, so that nothing refers to the words and vectors of the site while links are published.
        self.index.keep_hubness(ranking.site, state)
        outcome = matched(report.recommendations)
        self.progress.finish(outcome)
        return replace(report, adaptation=adaptation, fusion=fusion, outcome=outcome)

    def _linking_rules(self, collected: Collected) -> LinkRules:
        """Return the rules for choosing links, with the keys of the pages that they name."""
        rules = self.rules.linking
        if self.choice.partial:
            # Only a run over the whole site knows how many links lead to a page.
            return replace(rules, min_inlinks=0, max_inlinks=0, max_new_inlinks=0, goals=())
        goals = known_rules(rules.goals, "config/link_targets.csv", collected, self.progress.warn)
        return replace(rules, goals=goals)

    def _choose(
        self,
        ranking: Ranking,
        run_input: RunInput,
        report: Report,
        places: SitePlaces,
        *,
        rules: LinkRules,
        needs: PageNeeds | None,
    ) -> Report:
        """Choose the links of all rows from a ranking; return the report with them, and with the site's lists."""
        context, memory, site, partial = self.context, report.memory, run_input.collected, self.choice.partial
        own = self._bases(ranking, report, places, needs)
        earlier = earlier_lists(context.past, site.hosts, ranking, own) if context.past and own else None
        if memory and own:
            memory.settled = earlier is not None and not earlier.unsettled.all()
        chosen = recommend(
            ranking,
            report.searched,
            rules,
            self.progress.advance,
            accepted=memory.decided.accepted if memory else {},
            approved=memory.approved if memory and memory.rules.approval else None,
            earlier=earlier,
            needs=needs,
            judge=places.judge,
            ruled=places.ruled(run_input.sources, run_input.targets, whole=not partial),
            trim=context.trim,
        )
        recommendations = in_columns(run_input.merged(chosen))
        context.trim()
        return replace(
            report,
            recommendations=recommendations,
            listed=None if partial else list_site(ranking, site),
            below_floor=ranking.below_floor,
            dropped=ranking.below_floor if rules.fusion == "blend" else 0,
            last=ranking.last.counts,
            one_way=ranking.one_way,
            basis=own.basis if own else report.basis,
            no_links=why_no_links(
                site, recommendations, run_input.targets, scope=self.rules.scope, partial=partial
            ),
        )

    def _pages_to_compare(
        self, run_input: RunInput
    ) -> tuple[Sequence[Source], Iterable[ExistingLink], Searched] | None:
        """Return what tells how good search results are; None if they don't come first, or for a run over some rows."""
        context, links = self.context, run_input.collected.live_links
        if context.serp is None or self.choice.partial or self.rules.linking.fusion != "fill":
            return None
        pages, anywhere = pages_to_compare(run_input.sources, links), replace(run_input.targets, linked={})
        market, cache = context.serp.market, context.serp_cache
        return pages, links, search_cached(pages, market, cache, anywhere, self.rules.search)

    def _bases(
        self, ranking: Ranking, report: Report, places: SitePlaces, needs: PageNeeds | None
    ) -> Bases | None:
        """Return what the lists of this run depend on; None for a lookup."""
        if self.context.past is None or report.memory is None or not self.context.delivers:
            return None
        return bases(
            ranking,
            report.embedded.hashes,
            report.searched,
            decided=report.memory.decided,
            rules=self.rules.linking,
            encoder=report.memory.encoder,
            page_queries=places.page_queries,
            needs=needs,
        )

    def _gaps(self, report: Report) -> Iterator[str]:
        """Yield what is missing before the links are published, one sentence each."""
        searched, none = report.searched, report.no_links
        yield from filter(None, [searched.problem, report.embedded.problem])
        if searched.notes and not searched.problem:
            some = counted(len(searched.notes), "query", "queries")
            where = ": the column Note of Output.csv says why" if self.context.delivers else ""
            yield f"{some} could not be searched{where}."
        if none and not none.complete:
            yield none.sentence

    def _end(self, report: Report) -> None:
        """Prune the caches, and say what a person should know."""
        if self.context.delivers and not self.choice.partial:
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


def rehearse(context: RunContext, rules: Rules, progress: Progress) -> tuple[Collected, Sequence[Edge]]:
    """Do all steps of a first run over all rows; only the caches of vectors and comparisons change.

    Editors' stored decisions count. Anchors that earlier runs chose don't, and the language model isn't asked.

    Args:
        context: opened without search and delivery.

    Returns:
        The input, and the links of pages with their anchors, in the order of the sources, each link once.

    Raises:
        InputError: the input can't be used.
    """
    edges = context.edges.rehearsing() if context.edges else None
    context = replace(context, delivers=True, edges=edges, runs=None, tidy=lambda *_: None)
    report = Run(context, rules, RowSelection(), progress).execute("rehearsal")
    items = (item for item in report.recommendations if item.source.is_page)
    found = (report.edge_of(item.source, link) for item in items for link in item.links)
    return report.collected, [*{edge.id: edge for edge in found}.values()]


def stored_links(context: RunContext, rules: Rules, run_id: str, collected: Collected) -> Memory | None:
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
    memory = stored_links(context, rules, run_id, collected)
    gaps = memory.recall(context.desk if context.delivers else None, progress) if memory else ()
    return memory, gaps
