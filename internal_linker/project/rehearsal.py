"""A rehearsal: the links and anchors that a run would give, with nothing searched for, stored or written."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from internal_linker.model.edges import Edge
from internal_linker.model.ports import EdgeOf, Progress
from internal_linker.model.records import Collected, Recommendation, RowSelection
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
        edges=context.edges and context.edges.rehearsing(),
        runs=None,
        desk=None,
        rephrase=None,
        tidy=lambda *_: None,
    )
    report = Run(context, rules, RowSelection(), progress).execute("rehearsal")
    return Rehearsed(report.collected, list(links.found.values()))


class _Links:
    """A `LinkSink` that keeps the links of pages in memory, by their ids."""

    name = "links (in memory)"

    def __init__(self) -> None:
        self.found: dict[str, Edge] = {}

    def deliver(
        self, recommendations: Sequence[Recommendation], run_id: str, edge_of: EdgeOf | None = None
    ) -> Sequence[str]:
        if edge_of:
            pairs = ((item.source, link) for item in recommendations for link in item.links)
            for edge in (edge_of(source, link) for source, link in pairs if source.is_page):
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
