"""The link graph's store -> the links that wait for an editor, and the place for what the editor says of each."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from internal_linker.core.edges import Cells, Edge, ReviewRow, Verdict, is_link
from internal_linker.core.ports import EdgeStore
from internal_linker.review.rows import review_row
from internal_linker.review.transitions import heard


@dataclass(frozen=True)
class EdgeQueue:
    """`ports.ReviewQueue` of a site's edges."""

    store: EdgeStore

    def pending(self) -> Iterable[ReviewRow]:
        """The proposed links: first those that wait for approval, then the strongest."""
        edges = [edge for edge in self.store.each("proposed") if is_link(edge)]
        strengths = {edge.id: edge.strength if edge.strength > 0 else 0.0 for edge in edges}
        edges.sort(key=lambda edge: (edge.rank > 0, -strengths[edge.id], edge.source_url, edge.rank))
        return map(review_row, edges)

    def decide(self, verdict: Verdict) -> None:
        """Keep what an editor said."""
        self.store.put([answered(self.store.by_id([verdict.id])[verdict.id], verdict)])


def answered(edge: Edge, verdict: Verdict) -> Edge:
    """Return the edge with an editor's answer to the row that `review_row` makes of it.

    The edge's cells stay as they are: what a review place held when it was read last.
    """
    row = review_row(edge)
    seen = replace(edge, cells=Cells(row.status, row.anchor, row.notes))
    said = heard(seen, verdict, datetime.now(UTC).isoformat(timespec="seconds"))
    return replace(said, cells=edge.cells)
