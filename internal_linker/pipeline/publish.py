"""A run's report -> its links in the link graph, in the places that show them, and among the kept versions."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from internal_linker.anchors.finder import Anchoring
from internal_linker.anchors.llm import Rephrased
from internal_linker.core.ports import Anchors, ListSink, Progress, RunStore
from internal_linker.core.reasons import NoTarget, Reason
from internal_linker.core.records import ExcludedTarget, Source, Targets
from internal_linker.core.runs import Version, VersionRow, overlaid
from internal_linker.core.sections import section_of
from internal_linker.pipeline.context import Parts, Rules
from internal_linker.pipeline.deliver import deliver
from internal_linker.pipeline.drift import RunFacts, drift, facts_in, facts_of
from internal_linker.pipeline.report import Report
from internal_linker.ranking.site_lists import excluded_targets
from internal_linker.review.acceptance import Decision, acceptance, rising_rejections
from internal_linker.review.link_memory import Memory


@dataclass(frozen=True)
class Publication:
    """How one run's links are published; without a place for links, nothing is written at all.

    Attributes:
        parts, rules: what the run worked with.
        report: what it did; gaps and failures are entered into it.
        targets: where links may lead.
        partial: whether some rows were left out.
        progress: tells a person how far it is.
    """

    parts: Parts
    rules: Rules
    report: Report
    targets: Targets
    partial: bool
    progress: Progress

    def publish(self, sources: Sequence[Source]) -> None:
        """Remember first: what is shown to editors is known then."""
        if not self.parts.sinks:
            self._deliver(None, held=False)
            return
        if memory := self.report.memory:
            self._remember(memory, sources)
        versions = self.parts.runs.versions() if self.parts.runs else ()
        if memory:
            self._tell_acceptance(memory, versions[-1].at if versions else "")
        facts = self._facts()
        held = self._held(facts, versions)
        self._deliver(memory, held=held)
        if self.parts.runs:
            self._keep_version(self.parts.runs, versions, facts, held=held)

    @property
    def _what(self) -> str:
        """Which rows the run is for: only runs for the same ones can be compared."""
        if self.partial:
            return "some rows"
        return f"all rows but {self.rules.off}" if self.rules.off else "all rows"

    def _facts(self) -> RunFacts:
        report, encoder, rules = self.report, self.parts.encoder, self.rules.edges
        return facts_of(
            report.recommendations,
            pages=len(report.collected.pages),
            encoder=encoder.name,
            recipe=encoder.recipe,
            inline=rules.inline,
            sidebar=rules.sidebar,
        )

    def _held(self, facts: RunFacts, versions: Sequence[Version]) -> bool:
        """Whether the links moved so far from those that were published last that the Sheet is left as it is."""
        whole = [one for one in versions if one.what == self._what and one.published and one.facts]
        before = facts_in(whole[-1].facts) if whole else None
        moved = drift(before, facts) if before and not self.partial else []
        if not moved or self.rules.accept_drift:
            return False
        remedy = "Look at files/Output.csv; if the links are good, run again with --accept-drift."
        kept = "The Sheet and the review keep the last run's links." if self.parts.sheet else ""
        self.report.gaps += [*moved, f"{kept} {remedy}".strip()]
        return True

    def _tell_acceptance(self, memory: Memory, since: str) -> None:
        edges = {edge.id: edge for edge in memory.store.each("live")}
        judged = sorted(memory.store.each(judged=True), key=lambda edge: edge.at)
        edges |= {edge.id: edge for edge in judged}
        self.report.accepted = acceptance(
            Decision(edge.tier, edge.origin, section_of(edge.source), edge.verdict or edge.status)
            for edge in edges.values()
        )
        recent = sum(edge.at > since for edge in judged)
        if recent and (rising := rising_rejections([edge.verdict or "live" for edge in judged], recent)):
            self.progress.warn(rising)

    def _remember(self, memory: Memory, sources: Sequence[Source]) -> None:
        report, pages = self.report, self.report.collected.pages
        ends = [page.key for page in pages] + [source.end for source in sources if source.page is None]
        memory.hashes = {end: text[:16] for end, text in zip(ends, report.embedded.hashes, strict=True)}
        found = report.listed.duplicates if report.listed else {}
        duplicates = (
            memory.duplicate_edge(pair, pages[page].key, pages[keep].key)
            for (page, keep), pair in found.items()
        )
        anchors = self._anchors(Anchoring(report.collected))
        memory.keep(
            report.recommendations,
            self.targets,
            anchors,
            duplicates,
            self.progress,
            gone=lambda end: not (self.partial or self.rules.off.hold(end)),
        )
        if report.rephrased and report.rephrased.gap:
            report.gaps.append(report.rephrased.gap)

    def _anchors(self, site: Anchoring) -> Anchors:
        parts, report = self.parts, self.report
        if parts.chat is None or parts.answers is None:
            return site.variety()
        report.rephrased = Rephrased(site.variety(), report.collected, site.taken, parts.chat, parts.answers)
        return report.rephrased

    def _deliver(self, memory: Memory | None, *, held: bool) -> None:
        report, parts = self.report, self.parts
        excluded = _counted(excluded_targets(report.collected, self.targets), report.excluded)
        lists: list[tuple[ListSink[Any], Iterable[Any]]] = [(parts.excluded, excluded)]
        if report.listed:
            lists.append((parts.duplicates, report.listed.duplicates.values()))
            lists.append((parts.orphans, report.listed.orphans or ()))
        if memory and memory.heard and parts.desk and not held:
            lists.append((parts.desk, memory.review_rows()))
        sinks = [*parts.sinks, *([parts.sheet] if parts.sheet and not held else [])]
        edge_of = memory.edge_of if memory else None
        delivered = deliver(report.recommendations, sinks, lists, report.run_id, self.progress, edge_of)
        report.gaps += delivered.gaps
        report.failure = delivered.failure

    def _keep_version(
        self, runs: RunStore, versions: Sequence[Version], facts: RunFacts, *, held: bool
    ) -> None:
        report, items = self.report, self.report.recommendations
        hashes = report.memory.hashes if report.memory else {}
        rows = (VersionRow(item, hashes.get(item.source.end, "")) for item in items)
        version = Version(
            report.run_id,
            datetime.now(UTC).isoformat(timespec="seconds"),
            self._what,
            report.memory.encoder if report.memory else "",
            rows=len(items),
            links=facts.links,
            published=not (held or report.failure),
            # Links that lack a service's part are no measure for later ones.
            facts={} if report.searched.problem or report.embedded.problem else asdict(facts),
        )
        before = runs.rows(versions[-1].run) if versions and (self.partial or self.rules.off) else ()
        stay = (row for row in before if self.partial or self.rules.off.hold(row.end))
        # A run of some rows compares no page with all others.
        duplicates = report.listed.duplicates.values() if report.listed else runs.duplicates()
        runs.put(version, overlaid(stay, rows), duplicates)


def _counted(
    excluded: Iterable[ExcludedTarget], counts: Counter[Reason[NoTarget]]
) -> Iterator[ExcludedTarget]:
    for target in excluded:
        counts[target.reason] += 1
        yield target
