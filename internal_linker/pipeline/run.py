"""One run, top to bottom: input, earlier links, search, vectors, matching, publication."""

from collections.abc import Callable
from dataclasses import replace

from internal_linker.core.errors import Interrupted
from internal_linker.core.needs import PageNeeds
from internal_linker.core.ports import Progress
from internal_linker.core.records import Choice, Collected, Searched
from internal_linker.core.sequences import counted
from internal_linker.matching.neighbours.knn_join import Joined
from internal_linker.pipeline.context import Rules, RunContext
from internal_linker.pipeline.last_matching import packed
from internal_linker.pipeline.matching import Found, Matching
from internal_linker.pipeline.no_links import why_no_links
from internal_linker.pipeline.prepared import Prepared, Stored
from internal_linker.pipeline.publish import Publication
from internal_linker.pipeline.recall import Recalled, recall
from internal_linker.pipeline.report import Report
from internal_linker.pipeline.run_input import RunInput, read_input
from internal_linker.pipeline.site_join import join_site
from internal_linker.pipeline.site_vectors import SiteVectors, embed_site
from internal_linker.serp.search import search_all


class Run:
    """One run in `context`; it calls `should_stop` between two steps.

    A lookup is a run in a context without sinks: it writes nothing but the caches and the index.
    """

    def __init__(
        self,
        context: RunContext,
        rules: Rules,
        choice: Choice,
        progress: Progress,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> None:
        self.context, self.rules, self.choice, self.progress = context, rules, choice, progress
        self._should_stop = should_stop
        # A run over some rows, such as a trial, leaves no index behind.
        indexed = not (context.sinks and choice.partial)
        self._prepared = Prepared(context if indexed else replace(context, index=None), progress)

    def execute(self, run_id: str) -> Report:
        """Run all steps.

        Raises:
            InputError: the input can't be used.
            ServiceError: the input can't be read from its service.
            Interrupted: `should_stop` returned true between two steps.
        """
        given = self._read_input()
        needs = self._read_needs(given.collected)
        recalled = self._recall(run_id, given.collected)
        given = given.without_rejected(recalled.memory)
        stored = self._stored(given)
        with self.context.turn(self.progress, self._step):
            searched = self._search(given)
            vectors = self._embed(given, stored)
        joined = self._join(given, vectors)
        self._step()
        matching = Matching(
            self.context,
            self.rules,
            self.progress,
            partial=self.choice.partial,
            prepared=self._prepared,
            given=given,
            searched=searched,
            vectors=vectors,
            joined=joined,
            recalled=recalled,
            needs=needs,
        )
        found = matching.find(stored)
        report = self._report(run_id, matching, found)
        self._step()
        self._publish(report, given, found)
        self._end(report)
        return report

    def _read_input(self) -> RunInput:
        self._step()
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

    def _recall(self, run_id: str, collected: Collected) -> Recalled:
        """Return the stored links and what editors decided on them."""
        if self.context.edges is None:
            return Recalled()
        self._step()
        return recall(self.context, self.rules, run_id, collected, self._prepared, self.progress)

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

    def _report(self, run_id: str, matching: Matching, found: Found) -> Report:
        """Return what the run did, before its links are published."""
        given, searched, matched = matching.given, matching.searched, found.matched
        embedded, memory, unchanged = matching.vectors.embedded, matching.recalled.memory, matched.unchanged
        report = Report(
            run_id,
            given.collected,
            searched,
            embedded,
            matched.recommendations,
            matched.listed,
            below_floor=matched.below_floor,
            dropped=matched.below_floor if self.rules.linking.fusion == "blend" else 0,
            fusion=matched.evidence,
            adaptation=matched.adaptation,
            joined=matching.joined,
            last=matched.last,
            one_way=matched.one_way,
            memory=memory,
            bases=matched.bases,
            reused=matched.reused,
            outcome=found.outcome,
        )
        if found.digest:
            report.matched = unchanged.matched if unchanged else packed(matched, found.digest)
        report.gaps += filter(None, [*matching.recalled.gaps, searched.problem, embedded.problem])
        if searched.notes and not searched.problem:
            some = counted(len(searched.notes), "query", "queries")
            where = ": the column Note of Output.csv says why" if self.context.sinks else ""
            report.gaps.append(f"{some} could not be searched{where}.")
        if not unchanged:
            report.no_links = why_no_links(
                given.collected,
                matched.recommendations,
                given.targets,
                scope=self.rules.scope,
                partial=self.choice.partial,
            )
        if report.no_links and not report.no_links.complete:
            report.gaps.append(report.no_links.sentence)
        return report

    def _publish(self, report: Report, given: RunInput, found: Found) -> None:
        """Publish the links, and keep in the index what this took to find out about the site."""
        publication = Publication(
            self.context,
            self.rules,
            report,
            given.targets,
            partial=self.choice.partial,
            progress=self.progress,
            unchanged=found.matched.unchanged,
            prepared=self._prepared,
        )
        publication.publish(given.sources)
        self._prepared.keep_anchoring()

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
