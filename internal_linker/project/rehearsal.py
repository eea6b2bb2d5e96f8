"""A rehearsal: the links and anchors that a run would give, with nothing searched for, stored or written."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from internal_linker.model import ports
from internal_linker.model.edges import Edge, Status
from internal_linker.model.ports import Progress, ViewOf
from internal_linker.model.records import Choice, Collected, Recommendation
from internal_linker.project.pipeline.context import Rules, RunContext
from internal_linker.project.pipeline.run import Run


@dataclass(frozen=True)
class Rehearsed:
    """What a run would do."""

    collected: Collected  # its input
    edges: Sequence[Edge]  # its links with their anchors, in the order of the sources, each link once


def rehearse(context: RunContext, rules: Rules, progress: Progress) -> Rehearsed:
    """Do all steps of a first run over all rows; only the caches of vectors and comparisons change.

    Editors' stored decisions count. Anchors that earlier runs chose don't, and the language model isn't asked.

    Args:
        context: opened without search and delivery.

    Raises:
        InputError: the input can't be used.
    """
    links = _Links()
    context = replace(
        context,
        serp=None,
        sinks=(links,),
        sheet=None,
        rejects=_Nowhere("rejected rows"),
        excluded=_Nowhere("excluded targets"),
        duplicates=_Nowhere("near-duplicates"),
        orphans=_Nowhere("orphans"),
        edges=_DecisionsOnly(context.edges),
        runs=None,
        desk=None,
        rephrase=None,
        tidy=lambda *_: None,
    )
    report = Run(context, rules, Choice(), progress).execute("rehearsal")
    return Rehearsed(report.collected, list(links.found.values()))


class _Links:
    """A `LinkSink` that keeps the links of pages in memory, by their ids."""

    name = "links (in memory)"

    def __init__(self) -> None:
        self.found: dict[str, Edge] = {}

    def deliver(
        self, recommendations: Sequence[Recommendation], run_id: str, view_of: ViewOf | None = None
    ) -> Sequence[str]:
        if view_of:
            pairs = ((item.source, link) for item in recommendations for link in item.links)
            for edge in (view_of(source, link).edge for source, link in pairs if source.is_page):
                self.found.setdefault(edge.id, edge)
        return ()


class _Nowhere:
    """A `ListSink` that writes nothing."""

    def __init__(self, name: str) -> None:
        self.name = f"{name} (in memory)"

    def write(self, items: Iterable[object]) -> Sequence[str]:
        # The report counts some lists while they are read.
        for _ in items:
            pass
        return ()


class _DecisionsOnly:
    """An `EdgeStore` that knows editors' decisions and no other link, and stores nothing."""

    def __init__(self, store: ports.EdgeStore | None) -> None:
        self._store = store
        self._counts: Counter[Status] = Counter()

    def of_sources(self, sources: Iterable[str]) -> Mapping[str, Sequence[Edge]]:
        return {}

    def by_id(self, ids: Iterable[str]) -> Mapping[str, Edge]:
        return {}

    def each(self, *statuses: Status, judged: bool = False, besides: str = "") -> Iterator[Edge]:
        return (
            self._store.each(*statuses, judged=True, besides=besides) if judged and self._store else iter(())
        )

    def judged_since(self, ids: Iterable[str], since: datetime) -> frozenset[str]:
        return frozenset()

    def put(self, edges: Sequence[Edge]) -> None:
        self._counts.update(edge.status for edge in edges)

    def confirm(self, ids: Sequence[str], run: str) -> None:
        """Do nothing: no link is known before."""

    def state(self) -> str:
        return ""

    def counts(self) -> Mapping[Status, int]:
        return self._counts
