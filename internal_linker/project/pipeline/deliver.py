"""Delivery of a run's links: into the link graph, in files, Sheet and review, and among the stored versions."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np

from internal_linker.model.errors import ConfigurationError, OutputError, ServiceError
from internal_linker.model.ports import Anchors, LinkSink, ListSink, Progress, ViewOf
from internal_linker.model.reasons import NoTarget, Reason
from internal_linker.model.records import ExcludedTarget, Recommendation
from internal_linker.model.runs import Version, VersionRow, overlaid, rows_with
from internal_linker.project.pipeline.context import PublishVectors, Rules, RunContext
from internal_linker.project.pipeline.drift import RunFacts, drift, facts_in, facts_of, mostly_by_words
from internal_linker.project.pipeline.report import Report
from internal_linker.project.pipeline.run_input import RunInput
from internal_linker.project.pipeline.site_places import SitePlaces
from internal_linker.rank.fusion_choice import FUSION
from internal_linker.rank.site_lists import excluded_targets
from internal_linker.review.acceptance import acceptance, rising_rejections
from internal_linker.review.link_memory import Memory
from internal_linker.store.runs import RunStore


@dataclass(frozen=True)
class Publication:
    """Publishes the links of one run; for a lookup, it writes nothing, and only looks for anchors."""

    # context, rules: the run's context and rules
    context: RunContext
    rules: Rules
    report: Report  # the run's report, to which publication adds gaps and failures
    run_input: RunInput  # the run's input
    places: SitePlaces  # the places that were judged in the pages' texts
    progress: Progress  # the display of the steps
    partial: bool  # whether some rows were left out

    def publish(self) -> None:
        """Store the links in the link graph before editors see them, deliver them, and store the run's version."""
        if not self.context.delivers:
            self._preview()
            self._deliver(None, held=False)
            return
        if memory := self.report.memory:
            self._remember(memory)
        versions = self.context.runs.versions() if self.context.runs else ()
        if memory:
            # A run that ended in the future had a wrong clock.
            now = _now()
            self._report_acceptance(memory, max((one.at for one in versions if one.at <= now), default=""))
        facts = self._facts()
        held = self._held(facts, versions)
        self._deliver(memory, held=held)
        if self.context.runs:
            self._keep_version(self.context.runs, versions, facts, held=held)
        if (publish := self.context.publish_vectors) and not (held or self.partial or self.report.failure):
            self._publish_vectors(publish)

    @property
    def _what(self) -> str:
        """The rows that the run covers: only runs over the same rows can be compared."""
        if self.partial:
            return "some rows"
        renewed, scope = self.rules.renewed, self.rules.scope
        what = f"rows of {renewed}" if renewed.include else "all rows"
        if renewed.exclude and not renewed.include:
            what += f" but {renewed.exclude}"
        sources = scope.sources or scope.default_sources
        limits = [f"sources in {sources}"] * bool(sources) + [f"targets in {scope.targets}"] * bool(
            scope.targets
        )
        return ", ".join([what, *limits])

    def _barred(self, end: str) -> bool:
        """Return whether a page can't carry links: where pages are listed, it is missing, or gets none."""
        collected = self.report.collected
        page = collected.find(collected.hosts.canonicalise(end))
        return bool(collected.pages) and (page is None or not page.takes_links)

    def _renews(self, end: str) -> bool:
        """Return whether the run replaces the earlier links of a page or query."""
        return not self.partial and self.rules.renewed.hold(end)

    def _facts(self) -> RunFacts:
        report, encoder, rules = self.report, self.context.encoder, self.rules.edges
        return facts_of(
            report.recommendations,
            pages=len(report.collected.pages),
            encoder=encoder.name,
            recipe=encoder.recipe,
            inline=rules.inline,
            sidebar=rules.sidebar,
        )

    def _held(self, facts: RunFacts, versions: Sequence[Version]) -> bool:
        """Return whether Sheet and review wait: the links drifted far, or most of them lack embeddings that failed."""
        # Where all possible links exist, the links of the last run are no better.
        done = self.report.no_links is not None and self.report.no_links.complete
        if self.partial or done or self.rules.accept_drift:
            return False
        whole = [one for one in versions if one.what == self._what and one.published and one.facts]
        before = facts_in(whole[-1].facts) if whole else None
        if before:
            moved = drift(before, facts)
        elif self.report.embedded.problem and mostly_by_words(facts):
            moved = ["Most links were chosen by words alone, because embeddings are missing."]
        else:
            moved = []
        if not moved:
            return False
        kept = self._kept(any(one.published for one in versions))
        self.report.drift = [*moved, f"{kept} {self._remedy}".strip()]
        self.report.gaps += self.report.drift
        return True

    def _kept(self, has_links: bool) -> str:
        """Return what the places for editors show while they wait; "" if there are none."""
        names = ["The Sheet"] * bool(self.context.sheet)
        if desk := self.context.desk:
            names.append("the review" if names else desk.name)
        if not names:
            return ""
        verb, subject = ("keep", "get") if len(names) > 1 else ("keeps", "gets"), " and ".join(names)
        return (
            f"{subject} {verb[0]} the last run's links."
            if has_links
            else f"{subject} {verb[1]} no links yet."
        )

    @property
    def _remedy(self) -> str:
        if self.report.embedded.problem or self.report.searched.problem:
            return (
                "A service failed during this run, so run again once it works. With --accept-drift, a run publishes "
                "links even if its results are missing."
            )
        return "Check files/Output.csv; if the links are good, run again with --accept-drift."

    def _report_acceptance(self, memory: Memory, since: str) -> None:
        edges = {edge.id: edge for edge in memory.store.each("live")}
        judged = sorted(memory.store.each(judged=True), key=lambda edge: edge.at)
        edges |= {edge.id: edge for edge in judged}
        self.report.accepted = acceptance(edges.values())
        recent = sum(edge.at > since for edge in judged)
        if recent and (rising := rising_rejections([edge.verdict or "live" for edge in judged], recent)):
            self.progress.warn(rising)

    def _preview(self) -> None:
        """Look for the anchors of the report's links; nothing is stored, and no language model is asked."""
        report = self.report
        if report.memory:
            ends = (end for item in report.recommendations for end in _ends(item))
            report.memory.hashes = self._hashes(ends)
            anchors = self.places.variety()
            report.memory.preview(report.recommendations, self.run_input.targets, anchors)
            report.recommendations = [*map(report.memory.ordered, report.recommendations)]

    def _hashes(self, pages: Iterable[str]) -> Mapping[str, str]:
        """Return the hash of each text of some pages (keys), and of each query that has no page."""
        rows, hashes = self.report.collected.rows, self.report.embedded.hashes
        others = [source.end for source in self.run_input.sources if source.page is None]
        found = dict(zip(others, hashes[len(self.report.collected.pages) :], strict=True))
        found |= {key: hashes[rows[key]] for key in pages if key in rows}
        return {end: text[:16] for end, text in found.items()}

    def _remember(self, memory: Memory) -> None:
        report, pages = self.report, self.report.collected.pages
        memory.hashes = self._hashes(page.key for page in pages)
        found = report.listed.duplicates if report.listed else {}
        duplicates = (
            memory.duplicate_edge(pair, pages[page].key, pages[keep].key)
            for (page, keep), pair in found.items()
        )
        anchors = self._anchors()
        linked = {link.target for link in report.collected.live_links}
        items = report.recommendations
        memory.keep(
            items,
            self.run_input.targets,
            anchors,
            duplicates,
            self.progress,
            gone=self._renews,
            barred=self._barred,
            # Where no link is known, nobody knows which pages need one.
            unlinked=lambda key: bool(linked) and key not in linked,
        )
        # They are read a dozen times from here on, when the memory that matching took is free again.
        report.recommendations = [memory.shown(item) for item in items]
        self._warn_of_unlinkable(memory)
        if report.rephrased and report.rephrased.gap:
            report.gaps.append(report.rephrased.gap)

    def _warn_of_unlinkable(self, memory: Memory) -> None:
        if memory.unlinkable:
            place = self.context.desk.name if self.context.desk else "`internal-linker review`"
            self.progress.warn(
                f"{memory.unlinkable} accepted links have an anchor that is not in their page's text, or only in a "
                f"link or heading: see Why in {place}. Add the words to the text, or choose others."
            )

    def _anchors(self) -> Anchors:
        variety = self.places.variety()
        if self.context.rephrase is None:
            return variety
        self.report.rephrased = self.context.rephrase(variety, self.report.collected)
        return self.report.rephrased

    def _deliver(self, memory: Memory | None, *, held: bool) -> None:
        report, context = self.report, self.context
        if memory:
            memory.pages = {page.key: page for page in report.collected.pages}
        excluded = _counted(excluded_targets(report.collected, self.run_input.targets), report.excluded)
        found: dict[str, Iterable[Any]] = {"excluded": excluded}
        if report.listed:
            found["duplicates"] = report.listed.duplicates.values()
            found["orphans"] = report.listed.orphans or ()
        lists = [(context.lists[name], items) for name, items in found.items() if name in context.lists]
        if memory and memory.heard and context.desk and not held:
            lists.append((context.desk, memory.review_rows()))
        sinks = [*context.sinks, *([context.sheet] if context.sheet and not held else [])]
        view_of = memory.view_of if memory else None
        gaps, report.failure = deliver(
            report.recommendations, sinks, lists, report.run_id, self.progress, view_of=view_of
        )
        report.gaps += gaps

    def _keep_version(
        self, runs: RunStore, versions: Sequence[Version], facts: RunFacts, *, held: bool
    ) -> None:
        report, items = self.report, self.report.recommendations
        hashes = report.memory.hashes if report.memory else {}
        outlinks = Counter(link.source for link in report.collected.links)
        rows = (
            VersionRow(
                item,
                hashes.get(item.source.end, ""),
                outlinks[item.source.key] if item.source.is_page else -1,
                report.basis(item.source),
            )
            for item in items
        )
        fusion = {FUSION: report.fusion.pack()} if report.fusion else {}
        version = Version(
            report.run_id,
            _now(),
            self._what,
            report.memory.encoder if report.memory else "",
            rows=len(items),
            links=facts.links,
            published=not (held or report.failure),
            # Links without search results or embeddings are not a baseline for later runs.
            facts={} if report.searched.problem or report.embedded.problem else asdict(facts) | fusion,
        )
        overlay = bool(versions) and (self.partial or bool(self.rules.renewed))
        earlier = runs.rows(versions[-1].run) if overlay else ()
        before = rows_with(report.collected.hosts, earlier)
        stay = (row for row in before if not self._renews(row.end))
        # A run over some rows doesn't compare every page with all others.
        duplicates = report.listed.duplicates.values() if report.listed else runs.duplicates()
        runs.put(version, overlaid(stay, rows) if overlay else rows, duplicates)

    def _publish_vectors(self, publish: PublishVectors) -> None:
        """Store the vectors of all pages for other programs; those of word statistics mean nothing to them."""
        report, encoder = self.report, self.context.encoder
        embedded, pages = report.embedded, report.collected.pages
        lasting = encoder.pages is not None or not encoder.corpus_bound
        there = np.any(embedded.vectors, axis=1) if lasting else np.zeros(len(pages), bool)
        vectors = {page.url: embedded.vectors[at] for at, page in enumerate(pages) if there[at]}
        failed = {
            page.url
            for at, page in enumerate(pages)
            if lasting and embedded.problem and embedded.hashes[at] and not there[at]
        }
        try:
            publish(encoder.model, vectors, failed, self.progress)
        except ConfigurationError as error:
            report.gaps.append(f"The table page_vectors still has the vectors of an earlier run: {error}")


def deliver(
    recommendations: Sequence[Recommendation],
    sinks: Sequence[LinkSink],
    lists: Sequence[tuple[ListSink[Any], Iterable[Any]]],
    run_id: str,
    progress: Progress,
    *,
    view_of: ViewOf | None = None,
) -> tuple[list[str], ServiceError | OutputError | None]:
    """Write the links to all sinks, and the lists; without a sink for links, write nothing at all.

    If one sink fails, the others still get theirs.

    Args:
        view_of: a function that returns what is stored of a link; None: nothing is.

    Returns:
        What a sink could not take, one sentence each, and the error of the first sink that failed.
    """
    gaps, written, failures = list[str](), list[str](), list[tuple[str, ServiceError | OutputError]]()
    progress.start("Delivery", len(sinks), "places")
    for sink in sinks:
        try:
            gaps += sink.deliver(recommendations, run_id, view_of)
            written.append(sink.name)
        except (ServiceError, OutputError) as error:
            progress.warn(str(error))
            failures.append((sink.name, error))
        progress.advance()
    lists = lists if sinks else ()
    for sink_of_list, items in lists:
        try:
            for remark in sink_of_list.write(items):
                progress.warn(remark)
            written.append(sink_of_list.name)
        except (ServiceError, OutputError) as error:
            progress.warn(str(error))
            failures.append((sink_of_list.name, error))
    outcome = [", ".join(written)] if written else []
    outcome += [f"not written: {', '.join(name for name, _ in failures)}"] if failures else []
    progress.finish("; ".join(outcome) or "nothing to write")
    return gaps, failures[0][1] if failures else None


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _ends(item: Recommendation) -> Iterator[str]:
    """Yield the page or query of a recommendation, and the pages that its links lead to."""
    yield item.source.end
    yield from (link.target.key for link in (*item.links, *item.held))


def _counted(
    excluded: Iterable[ExcludedTarget], counts: Counter[Reason[NoTarget]]
) -> Iterator[ExcludedTarget]:
    for target in excluded:
        counts[target.reason] += 1
        yield target
