"""Decisions of several people on stored links, saved at once: one by one or on a filter, each with its undo."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

from internal_linker.model.edges import Anchor, Edge, Status, Tier, is_link
from internal_linker.model.errors import InputError
from internal_linker.model.sequences import batched
from internal_linker.model.wordings import shown_wording
from internal_linker.project.link_lists import LinkFilter, LinkRow
from internal_linker.project.log import new_run_id
from internal_linker.project.project import open_project
from internal_linker.project.review import LinkDecision, decided, login
from internal_linker.project.stored_links import LinkNotFound, StoredLinks
from internal_linker.store.edges import EdgeStore

Decision = Literal["accepted", "rejected", "edited", ""]
# Links that are stored at once: a decision on a filter is many.
_BLOCK = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestedDecision(LinkDecision):
    """What a person says of a link that they saw."""

    # What they saw beside it, as in `LinkRow`: the decision, the anchor and the notes; None: whatever it was.
    seen: tuple[str, str, str] | None = None
    # Where in the page's text the anchor was chosen, in characters: of several places, the nearest counts.
    near: int = 0
    # The URL of another page for the words: the link to it is accepted with them, and this one is rejected.
    instead: str = ""


@dataclass(frozen=True, slots=True)
class Conflict:
    """A link that was decided, noted on or given another anchor since it was shown; it stays as it is."""

    row: LinkRow


@dataclass(frozen=True, slots=True)
class DecisionResult:
    """What became of decisions.

    Attributes:
        undo: the name by which they are taken back; "" if nothing changed.
        changed: how many links changed.
        rows: the first of them as they are now.
        conflicts: links that changed since they were shown.
    """

    undo: str
    changed: int
    rows: Sequence[LinkRow]
    conflicts: Sequence[Conflict] = ()


class NothingToUndo(InputError):
    """The decisions were taken back already, or too long ago."""


class _Answer(NamedTuple):
    """What a decision changes of a link: far less to remember than the link."""

    status: Status
    verdict: Status | Literal[""]
    by: str
    at: str
    anchor: str
    notes: str
    wording: str
    placed: Anchor
    tier: Tier

    @classmethod
    def from_edge(cls, edge: Edge) -> "_Answer":
        return cls(*(getattr(edge, name) for name in cls._fields))

    @property
    def said(self) -> tuple[str, str, str]:
        """What a person said; the rest a run changes, too."""
        return self.verdict, self.anchor, self.notes


@dataclass
class Decisions:
    """Decisions on a project's links; several threads may use it."""

    # The project's links.
    links: StoredLinks
    # On how many links decisions can be taken back, by everybody together; the last decision always can.
    most: int = 50_000
    # By link: its answer before and after the decision.
    _undone: OrderedDict[str, dict[str, tuple[_Answer, _Answer]]] = field(
        default_factory=OrderedDict, init=False
    )
    # Read, decide, store: two people at once must not overwrite each other unseen.
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    def decide(self, said: Sequence[RequestedDecision], by: str = "") -> DecisionResult:
        """Keep what a person says of links; it is stored when this returns.

        The rules are those of the review's workbook. A link that changed since it was shown stays as it is, and is
        returned as a conflict. `by` "" is the name of the login.

        Raises:
            LinkNotFound: a link is not stored; then nothing is kept.
            InputError: no link may lead to a page that was named instead; then nothing is kept.
        """
        ids = [one.link_id for one in said]
        conflicts: list[Edge] = []

        def change(store: EdgeStore) -> list[tuple[Edge, Edge]]:
            known = {key: edge for key, edge in store.by_id(ids).items() if is_link(edge)}
            if missing := set(ids) - set(known):
                raise LinkNotFound(f"{len(missing)} of the links are no longer stored: reload the list.")
            pairs = []
            for one in said:
                edge = known[one.link_id]
                now = edge.verdict, edge.chosen.text, edge.notes
                if one.seen not in (None, now) or one.wording not in (None, "", shown_wording(edge)):
                    conflicts.append(edge)
                    continue
                if one.instead:
                    pairs.append(self._instead(store, edge, one, by or login()))
                kept = replace(one, status="rejected", anchor=None) if one.instead else one
                pairs.append((edge, self._decided(edge, kept, by or login())))
            return pairs

        outcome = self._stored(change)
        shown = self.links.changed(conflicts)
        return replace(outcome, conflicts=[Conflict(row) for row in shown])

    def decide_all(
        self, wanted: LinkFilter, status: Decision, *, notes: str | None = None, by: str = ""
    ) -> DecisionResult:
        """Keep one decision on all links that a filter takes and that nobody has decided, or take decisions back.

        The status "" takes decisions back; `notes` None leaves them. Suggested wordings are not accepted with the
        links, as nobody looks at each.
        """
        rows = self.links.filtered(wanted)
        taken = (row for row in rows if (row.status == "proposed" if status else row.decided))
        said = [
            RequestedDecision(
                row.id, status, None, notes, wording="", seen=(row.decided, row.anchor, row.notes)
            )
            for row in taken
        ]
        return self.decide(said, by)

    def undo(self, name: str) -> DecisionResult:
        """Take decisions back; a link that somebody decided since stays as it is, and is returned as a conflict.

        What a run found since stays, too: a link that is live now loses the decision, not its status.

        Raises:
            NothingToUndo: they were taken back already, or too long ago.
        """
        changed_since: list[Edge] = []

        def change(store: EdgeStore) -> list[tuple[Edge, Edge]]:
            kept = self._undone.get(name)
            if kept is None:
                raise NothingToUndo(
                    "There is nothing to undo: it was undone already, too many decisions followed it, or the app was "
                    "started again."
                )
            pairs = []
            for edge in store.by_id([*kept]).values():
                (earlier, later), now = kept[edge.id], _Answer.from_edge(edge)
                if now.said == later.said:
                    pairs.append((edge, _taken_back(edge, earlier, later)))
                elif now.said != earlier.said:
                    changed_since.append(edge)
            return pairs

        outcome = self._stored(change)
        with self._lock:
            # Only now: after a failure it can be tried again.
            self._undone.pop(name, None)
        return replace(outcome, conflicts=[Conflict(row) for row in self.links.changed(changed_since)])

    def _stored(self, change: Callable[[EdgeStore], list[tuple[Edge, Edge]]]) -> DecisionResult:
        project = open_project(self.links.root)
        with self._lock, project.graph(read_only=False) as (store, _):
            pairs = [(before, after) for before, after in change(store) if before != after]
            for some in batched(pairs, _BLOCK):
                store.put([after for _, after in some])
            name = new_run_id() if pairs else ""
            if pairs:
                self._remember(name, pairs)
        rows = self.links.changed(after for _, after in pairs)
        return DecisionResult(name, len(pairs), rows[:_BLOCK])

    def _remember(self, name: str, pairs: Sequence[tuple[Edge, Edge]]) -> None:
        self._undone[name] = {
            before.id: (_Answer.from_edge(before), _Answer.from_edge(after)) for before, after in pairs
        }
        links = sum(map(len, self._undone.values()))
        while links > self.most and len(self._undone) > 1:
            links -= len(self._undone.popitem(last=False)[1])

    def _decided(self, edge: Edge, said: RequestedDecision, by: str) -> Edge:
        now = decided(edge, said, by)
        if (
            now.anchor
            and (now.anchor != edge.anchor or said.near)
            and (placed := self.links.texts().placed(now.source, now.anchor, said.near))
        ):
            now = replace(now, placed=placed, tier="inline" if placed.verbatim else now.tier)
        return now

    def _instead(self, store: EdgeStore, edge: Edge, said: RequestedDecision, by: str) -> tuple[Edge, Edge]:
        """Return a link to another page, which no run may have proposed, before and after it gets a link's words."""
        page, words = self.links.texts().target(edge.source, said.instead), said.anchor or edge.chosen.text
        if page.key == edge.target:
            raise InputError(f"The words link to {page.url} already: choose another target.")
        if pattern := open_project(self.links.root).exclusions.match(page.url):
            raise InputError(f"{page.url} can't be a target: config/excluded_urls.txt has {pattern}.")
        new = Edge(edge.source, page.key, edge.source_url, page.url, edge.query, status="withdrawn")
        known = store.by_id([new.id]).get(new.id, new)
        if not is_link(known):
            raise InputError(f"{page.url} has nearly the same text as the page: choose another target.")
        accepted = RequestedDecision(new.id, "accepted", words, None, near=said.near or edge.chosen.start)
        return known, self._decided(known, accepted, by)


def _taken_back(edge: Edge, earlier: _Answer, later: _Answer) -> Edge:
    """Return a link as it was before a decision, but with the status that a run has given it since."""
    back = earlier._asdict()
    if edge.status != later.status:
        back.update(status=edge.status, by=edge.by, at=edge.at)
    if edge.tier != later.tier:
        back["tier"] = edge.tier
    return replace(edge, **back)
