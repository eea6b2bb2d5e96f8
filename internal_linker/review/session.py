"""A session of review: an editor's keys become a verdict for each link that waits, one after another."""

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
    "n": "note",
    "q": "quit",
}
_DECIDED: dict[str, Status] = {"a": "accepted", "r": "rejected"}


@dataclass(frozen=True)
class ReviewCounts(Result):
    """What came of a review.

    Attributes:
        accepted, rejected, edited: links that were decided, by their new status.
        skipped: links that were looked at and left undecided, or as they were.
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
    """`ports.ReviewQueue` of a site's edges."""

    store: EdgeStore

    def pending(self) -> Iterable[ReviewRow]:
        """The proposed links: first those that wait for approval, then the strongest."""
        edges = [edge for edge in self.store.each("proposed") if is_link(edge)]

        def order(edge: Edge) -> tuple[bool, float, str, int]:
            strength = edge.strength if edge.strength > 0 else 0.0
            return edge.rank > 0, -strength, edge.source_url, edge.rank

        return map(review_row, sorted(edges, key=order))

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


class ReviewFace(Protocol):
    """Shows links to a person and takes what they press and type."""

    def show(self, row: ReviewRow, left: int) -> None:
        """One link, and how many are left with it."""

    def key(self) -> str:
        """The next key in small letters; "" when there will be none any more."""

    def ask(self, question: str) -> str:
        """A line of text, stripped; "" for none."""

    def say(self, text: str) -> None:
        """A sentence."""


def review(queue: ReviewQueue, face: ReviewFace, by: str) -> ReviewCounts:
    """Go through the links until all are decided or skipped, or the person quits; each word is kept at once.

    Args:
        queue: the links, and the place for words.
        face: the person.
        by: who the person is.
    """
    rows = list(queue.pending())
    counts: Counter[str] = Counter()
    for seen, row in enumerate(rows):
        face.show(row, len(rows) - seen)
        word = _word(row, queue, face, by)
        if word == "quit":
            break
        counts[word] += 1
    return ReviewCounts(**counts, left=len(rows) - counts.total() + counts["skipped"])


def _word(row: ReviewRow, queue: ReviewQueue, face: ReviewFace, by: str) -> str:
    """What was said of one link: a status, "skipped" or "quit"."""
    anchor, notes = row.anchor, row.notes
    while True:
        key = face.key()
        if key in ("q", ""):
            return "quit"
        if key == "s":
            return "skipped"
        if key == "n":
            # A note decides nothing: the link keeps the tool's own status.
            notes = face.ask("Note") or notes
            queue.decide(Verdict(row.id, row.status, anchor, notes, by))
            continue
        status = _DECIDED.get(key)
        if key == "e" and (text := face.ask("New anchor (empty: as it was)")):
            anchor, status = text, "edited" if text != anchor else "accepted"
        if status:
            queue.decide(Verdict(row.id, status, anchor, notes, by))
            return status
        if key not in KEYS:
            face.say(f"Press {keys_told()}.")


def keys_told() -> str:
    """The keys in one line."""
    return ", ".join(f"{key} to {act}" for key, act in KEYS.items())
