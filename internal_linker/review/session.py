"""A review session: asks an editor for a decision on each waiting link, one after another."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Protocol

from internal_linker.core.edges import Cells, Edge, ReviewRow, Status, Verdict, is_link
from internal_linker.core.ports import EdgeStore, ReviewQueue
from internal_linker.core.results import Columns, Result
from internal_linker.review.rows import review_row
from internal_linker.review.transitions import heard

KEYS = {
    "a": "accept",
    "r": "reject",
    "e": "edit the anchor",
    "s": "skip",
    "n": "add a note",
    "q": "quit",
}
_DECIDED: dict[str, Status] = {"a": "accepted", "r": "rejected"}


@dataclass(frozen=True)
class ReviewCounts(Result):
    """The outcome of a review, in counts of links.

    Attributes:
        accepted, rejected, edited: links that were decided, by their new status.
        skipped: links that were shown and left undecided or unchanged.
        taken_back: links whose earlier decision was taken back.
        left: links that still wait for a decision.
    """

    accepted: int = 0
    rejected: int = 0
    edited: int = 0
    skipped: int = 0
    taken_back: int = 0
    left: int = 0

    def tables(self) -> dict[str, Columns]:
        """Return `counts`: each attribute with its number of links."""
        counts = asdict(self)
        return {"counts": {"decision": list(counts), "links": list(counts.values())}}


@dataclass(frozen=True)
class EdgeQueue:
    """A `ports.ReviewQueue` over a site's edges."""

    store: EdgeStore

    def pending(self) -> Iterable[ReviewRow]:
        """Return the proposed links: first those that wait for approval, then the strongest."""
        edges = [edge for edge in self.store.each("proposed") if is_link(edge)]

        def order(edge: Edge) -> tuple[bool, float, str, int]:
            strength = edge.strength if edge.strength > 0 else 0.0
            return edge.rank > 0, -strength, edge.source_url, edge.rank

        return map(review_row, sorted(edges, key=order))

    def decide(self, verdict: Verdict) -> None:
        """Store an editor's decision."""
        self.store.put([answered(self.store.by_id([verdict.id])[verdict.id], verdict)])


def answered(edge: Edge, verdict: Verdict) -> Edge:
    """Return the edge with an editor's answer to its `review_row`.

    The edge's cells stay as a review place had them when it was last read.
    """
    row = review_row(edge)
    seen = replace(edge, cells=Cells(row.status, row.anchor, row.notes))
    said = heard(seen, verdict, datetime.now(UTC).isoformat(timespec="seconds"))
    return replace(said, cells=edge.cells)


class ReviewFace(Protocol):
    """Shows links to a person, and reads keys and lines."""

    def show(self, row: ReviewRow, left: int) -> None:
        """Show a link, and the count of links left including this one."""

    def key(self) -> str:
        """Return the next key in lower case; "" at the end of input."""

    def ask(self, question: str) -> str:
        """Ask for a line of text and return it stripped; "" for none."""

    def say(self, text: str) -> None:
        """Show a sentence."""


def review(queue: ReviewQueue, face: ReviewFace, by: str) -> ReviewCounts:
    """Go through the links until all are decided or skipped, or the person quits; store each decision at once.

    Args:
        queue: the waiting links, and the store of decisions.
        face: the face that the person uses.
        by: the person's name.
    """
    rows = list(queue.pending())
    counts: Counter[str] = Counter()
    for seen, row in enumerate(rows):
        face.show(row, len(rows) - seen)
        outcome = _outcome(row, queue, face, by)
        if outcome == "quit":
            break
        counts[outcome] += 1
    return ReviewCounts(**counts, left=len(rows) - counts.total() + counts["skipped"])


def _outcome(row: ReviewRow, queue: ReviewQueue, face: ReviewFace, by: str) -> str:
    """Ask about one link; return its status, "skipped" or "quit"."""
    anchor, notes = row.anchor, row.notes
    while True:
        key = face.key()
        if key in ("q", ""):
            return "quit"
        if key == "s":
            return "skipped"
        if key == "n":
            # A note is not a decision: the link keeps its status.
            notes = face.ask("Note") or notes
            queue.decide(Verdict(row.id, row.status, anchor, notes, by))
            continue
        status = _DECIDED.get(key)
        if key == "e" and (text := face.ask("New anchor (empty: keep the current one)")):
            anchor, status = text, "edited" if text != anchor else "accepted"
        if status:
            queue.decide(Verdict(row.id, status, anchor, notes, by))
            return status
        if key not in KEYS:
            face.say(f"Press {key_help()}.")


def key_help() -> str:
    """Return the keys and their actions in one line."""
    return ", ".join(f"{key} to {act}" for key, act in KEYS.items())
