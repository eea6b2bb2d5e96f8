"""A run's report -> its links in the link graph, in the places that show them, and among the kept versions."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from internal_linker.delivering import deliver
from internal_linker.listed import ExcludedTarget
from internal_linker.parts import Parts, Rules
from internal_linker.ports import ListSink, Progress, RunStore
from internal_linker.records import Source, Targets
from internal_linker.remembering import Memory
from internal_linker.reports import Report
from internal_linker.steps.exclude import excluded_targets
from internal_linker.versions import Version, VersionRow, overlaid


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
        memory = self.report.memory if self.parts.sinks else None
        if memory:
            self._remember(memory, sources)
        self._deliver(memory)
        if self.parts.sinks and self.parts.runs:
            self._keep_version(self.parts.runs)

    def _remember(self, memory: Memory, sources: Sequence[Source]) -> None:
        report, pages = self.report, self.report.collected.pages
        ends = [page.key for page in pages] + [source.end for source in sources if source.page is None]
        memory.hashes = {end: text[:16] for end, text in zip(ends, report.embedded.hashes, strict=True)}
        keys = {page.url: page.key for page in pages}
        duplicates = (
            memory.duplicate_edge(pair, keys[pair.page], keys[pair.canonical])
            for pair in (report.listed.duplicates if report.listed else ())
        )
        given = report.recommendations, self.targets, None, duplicates, self.progress
        memory.keep(*given, gone=lambda end: not (self.partial or self.rules.off.hold(end)))

    def _deliver(self, memory: Memory | None) -> None:
        report, parts = self.report, self.parts
        excluded = _counted(excluded_targets(report.collected, self.targets), report.excluded)
        lists: list[tuple[ListSink[Any], Iterable[Any]]] = [(parts.excluded, excluded)]
        if report.listed:
            lists.append((parts.duplicates, report.listed.duplicates))
            lists.append((parts.orphans, report.listed.orphans or ()))
        if memory and memory.heard and parts.desk:
            lists.append((parts.desk, memory.review_rows()))
        delivered = deliver(report.recommendations, parts.sinks, lists, report.run_id, self.progress)
        report.gaps += delivered.gaps
        report.failure = delivered.failure

    def _keep_version(self, runs: RunStore) -> None:
        report, items = self.report, self.report.recommendations
        hashes = report.memory.hashes if report.memory else {}
        rows = (VersionRow(item, hashes.get(item.source.end, "")) for item in items)
        version = Version(
            report.run_id,
            datetime.now(UTC).isoformat(timespec="seconds"),
            "some rows" if self.partial else "all rows",
            report.memory.encoder if report.memory else "",
            rows=len(items),
            links=sum(len(item.links) for item in items),
            published=self.parts.queries_in_sheet and not report.failure,
        )
        last = runs.versions()[-1:]
        before = runs.rows(last[0].run) if last and (self.partial or self.rules.off) else ()
        stay = (row for row in before if self.partial or self.rules.off.hold(row.end))
        runs.put(version, overlaid(stay, rows))


def _counted(excluded: Iterable[ExcludedTarget], counts: Counter[str]) -> Iterator[ExcludedTarget]:
    for target in excluded:
        counts[target.reason] += 1
        yield target
