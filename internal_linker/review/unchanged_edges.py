"""The stored links for a trial, which changes none of them."""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime

from internal_linker.core.edges import Edge
from internal_linker.core.ports import EdgeStore


class UnchangedEdges:
    """An `EdgeStore` for a trial: reads like the given one, and stores nothing."""

    def __init__(self, store: EdgeStore) -> None:
        self.of_sources, self.by_id = store.of_sources, store.by_id
        self.each, self.counts, self.state = store.each, store.counts, store.state
        self.judged_since, self.times = store.judged_since, store.times
        self.own_times: Collection[datetime] = ()
        self.sources_besides = store.sources_besides

    def put(self, edges: Sequence[Edge]) -> None:
        """Leave the stored links as they are."""

    def confirm(self, ids: Sequence[str], run: str) -> None:
        """Leave the stored links as they are."""

    def confirm_all(self, before: str, run: str) -> None:
        """Leave the stored links as they are."""

    def confirm_sources(self, sources: Iterable[str], before: str, run: str) -> None:
        """Leave the stored links as they are."""
