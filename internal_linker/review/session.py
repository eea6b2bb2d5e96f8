"""A review session: asks an editor for a decision on each waiting link, one after another."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from typing import Literal, Protocol

from internal_linker.anchors.finder import Anchoring
from internal_linker.model.canonical_hosts import CanonicalHosts
from internal_linker.model.columns import LinkView
from internal_linker.model.edges import Cells, Edge, Status, Tier, Verdict, is_link
from internal_linker.model.results import Columns, Result
from internal_linker.model.sections import Sections
from internal_linker.model.wordings import shown_wording, warning, warning_of
from internal_linker.review.rows import list_of
from internal_linker.review.transitions import heard
from internal_linker.store.edges import EdgeStore

KEYS = {
    "a": "accept",
    "r": "reject",
    "e": "edit the anchor",
    "s": "skip",
    "n": "add a note",
    "u": "undo",
    "q": "quit",
}


@dataclass(frozen=True)
class ReviewCounts(Result):
    """The outcome of a review, in counts of links."""

    # accepted, rejected, edited: links that were decided, by their new status.
    accepted: int = 0
    rejected: int = 0
    edited: int = 0
    # Links that were shown and left undecided or unchanged.
    skipped: int = 0
    # Links whose earlier decision was taken back.
    taken_back: int = 0
    # Links that still wait for a decision.
    left: int = 0

    def tables(self) -> dict[str, Columns]:
        """Return `counts`: each attribute with its number of links."""
        counts = asdict(self)
        return {"counts": {"decision": list(counts), "links": list(counts.values())}}


@dataclass(frozen=True, slots=True)
class ReviewFilter:
    """Which links are reviewed; an empty attribute leaves none out."""

    # Parts of the site that the links start in.
    sections: Sections = field(default_factory=lambda: Sections(()))
    # The page, in the form of `CanonicalHosts.identity`, or the query that they start at.
    source: str = ""
    tier: Tier | Literal[""] = ""
    # The hosts that stand for others.
    hosts: CanonicalHosts = field(default_factory=CanonicalHosts)

    def takes(self, edge: Edge) -> bool:
        """Return whether a link is reviewed."""
        return (
            (not self.sections or self.sections.hold(edge.source))
            and self.source in ("", self.hosts.identity(edge.source))
            and self.tier in ("", edge.tier)
        )


@dataclass(frozen=True)
class EdgeQueue:
    """A site's proposed links that wait for a decision; decisions are stored at once."""

    # The store of the edges.
    store: EdgeStore
    # The site's pages; None: links are shown without titles, and anchors are not looked for.
    texts: Anchoring | None = None
    # Which links are reviewed.
    only: ReviewFilter = ReviewFilter()
    _before: dict[str, Edge] = field(default_factory=dict, init=False)

    def pending(self) -> Iterable[LinkView]:
        """Return the proposed links: those that wait for approval, then those in the text, the strongest first."""
        edges = [edge for edge in self.store.each("proposed") if is_link(edge) and self.only.takes(edge)]

        def order(edge: Edge) -> tuple[bool, tuple[bool, bool], float, str, int]:
            strength = edge.strength if edge.strength > 0 else 0.0
            return edge.rank > 0, list_of(edge), -strength, edge.source_url, edge.rank

        return map(self._view, sorted(edges, key=order))

    def decide(self, verdict: Verdict) -> None:
        """Store an editor's decision; one of the tool's own statuses keeps only the note."""
        edge = self.store.by_id([verdict.id])[verdict.id]
        self._before.setdefault(edge.id, edge)
        said = answered(edge, verdict)
        if self.texts and said.anchor:
            said = replace(said, placed=self.texts.placed(said.source, said.anchor))
        self.store.put([said])

    def undo(self, link: str) -> None:
        """Take back all that was decided and noted on a link since the queue was opened."""
        if before := self._before.pop(link, None):
            names = ("status", "verdict", "by", "at", "anchor", "notes", "wording", "placed")
            # A run may have changed the rest in the meantime.
            edge = self.store.by_id([link])[link]
            self.store.put([replace(edge, **{name: getattr(before, name) for name in names})])

    def warning(self, link: str, anchor: str) -> str:
        """Return why an anchor can't be linked where the page's text stands; "" if it can, or nobody knows."""
        if not self.texts:
            return ""
        return warning_of(self.texts.placed(self.store.by_id([link])[link].source, anchor))

    def _view(self, edge: Edge) -> LinkView:
        if not self.texts:
            return LinkView(edge)
        return LinkView(edge, self.texts.page(edge.source), self.texts.page(edge.target))


def answered(edge: Edge, verdict: Verdict) -> Edge:
    """Return the edge with an editor's answer; its cells stay as a review place had them when it was last read."""
    seen = replace(edge, cells=Cells(edge.status, edge.chosen.text, edge.notes))
    said = heard(seen, verdict, datetime.now(UTC).isoformat(timespec="seconds"))
    return replace(said, cells=edge.cells)


class ReviewFace(Protocol):
    """Shows links to a person, and reads keys and lines."""

    def show(self, link: LinkView, left: int) -> None:
        """Show a link, and the count of links left including this one."""

    def key(self) -> str:
        """Return the next key in lower case; "" at the end of input."""

    def ask(self, question: str) -> str:
        """Ask for a line of text and return it stripped; "" for none."""

    def say(self, text: str) -> None:
        """Show a sentence."""


def review(queue: EdgeQueue, face: ReviewFace, by: str) -> ReviewCounts:
    """Go through the links until all are decided or skipped, or the person quits; store each decision at once."""
    links, outcomes = list(queue.pending()), list[str]()
    while links:
        at = len(outcomes)
        if at == len(links):
            face.say("That was the last link. Press u to undo, or any other key to finish.")
            outcome = "undo" if face.key() == "u" else "quit"
        else:
            face.show(links[at], len(links) - at)
            outcome = _outcome(links[at].edge, queue, face, by, may_undo=bool(outcomes))
        if outcome == "quit":
            break
        if outcome == "undo":
            # Notes on the link that was being shown go, too.
            for link in links[at - 1 : at + 1]:
                queue.undo(link.edge.id)
            outcomes.pop()
        else:
            outcomes.append(outcome)
    counts = Counter(outcomes)
    return ReviewCounts(**counts, left=len(links) - counts.total() + counts["skipped"])


def _outcome(edge: Edge, queue: EdgeQueue, face: ReviewFace, by: str, *, may_undo: bool) -> str:
    """Ask about one link; return its status, "skipped", "undo" (of the link before) or "quit"."""
    proposed, wording = edge.chosen.text, shown_wording(edge)
    anchor, notes, warned = proposed, edge.notes, warning(edge)
    while True:
        key = face.key()
        if key in ("q", ""):
            return "quit"
        if key == "s":
            return "skipped"
        if key == "u" and may_undo:
            return "undo"
        if key == "n":
            # A note is not a decision: the link keeps its status.
            notes = face.ask("Note") or notes
            queue.decide(Verdict(edge.id, edge.status, proposed, notes, by))
        elif key == "e":
            if not (text := face.ask("New anchor (empty: keep the current one)")):
                continue
            anchor, warned = text, queue.warning(edge.id, text)
            if not warned:
                return _decided(queue, Verdict(edge.id, _accepted(proposed, anchor), anchor, notes, by))
            face.say(f"Warning: {warned}. Press e to enter another one, or a to accept it all the same.")
        elif key == "a":
            if warned:
                face.say(f"Accepted with a warning: {warned}. Add the words to the page's text.")
            status = _accepted(proposed, anchor)
            return _decided(queue, Verdict(edge.id, status, anchor, notes, by, wording=wording))
        elif key == "r":
            return _decided(queue, Verdict(edge.id, "rejected", proposed, notes, by))
        elif key == "u":
            face.say("There is nothing to undo.")
        else:
            face.say(f"Press {key_help()}.")


def _accepted(proposed: str, anchor: str) -> Status:
    return "accepted" if anchor == proposed else "edited"


def _decided(queue: EdgeQueue, verdict: Verdict) -> str:
    queue.decide(verdict)
    return verdict.status


def key_help() -> str:
    """Return the keys and their actions in one line."""
    return ", ".join(f"{key} to {act}" for key, act in KEYS.items())
