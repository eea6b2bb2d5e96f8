"""Decisions of several people on stored links, saved at once: one by one or on a filter, each with its undo."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from internal_linker.core.edges import Edge, is_link
from internal_linker.core.errors import InputError
from internal_linker.core.ports import EdgeStore
from internal_linker.core.sequences import batched
from internal_linker.usecases.link_lists import LinkFilter, LinkRow
from internal_linker.usecases.log import new_run_id
from internal_linker.usecases.project import open_project
from internal_linker.usecases.review import LinkDecision, decided, login
from internal_linker.usecases.stored_links import LinkNotFound, StoredLinks

Decision = Literal["accepted", "rejected", "edited", ""]
# Decisions that can be taken back, by everybody together.
MOST_UNDONE = 500
# Links that are stored at once: a decision on a filter is many.
_BLOCK = 2_000
_SAID = ("status", "verdict", "by", "at", "anchor", "notes", "placed")


@dataclass(frozen=True, slots=True)
class Said:
    """What a person says of a link.

    Attributes:
        link_id: the link.
        status: the decision; "" takes an earlier one back; None: it stays, for a note alone.
        anchor: the text to link; None: it stays.
        notes: the notes, such as the reason of a rejection; None: they stay.
        seen: the decision that the person saw beside the link, "" for none; None: whatever it was.
    """

    link_id: str
    status: Decision | None = None
    anchor: str | None = None
    notes: str | None = None
    seen: str | None = None


@dataclass(frozen=True, slots=True)
class Conflict:
    """A link that somebody else decided since it was shown; it keeps that decision."""

    row: LinkRow


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of decisions.

    Attributes:
        undo: the name by which they are taken back; "" if nothing changed.
        changed: how many links changed.
        rows: the first of them as they are now.
        conflicts: links that were decided by somebody else since they were shown.
    """

    undo: str
    changed: int
    rows: Sequence[LinkRow]
    conflicts: Sequence[Conflict] = ()


@dataclass
class Decisions:
    """Decisions on a project's links; several threads may use it.

    Attributes:
        links: the project's links.
    """

    links: StoredLinks
    _undone: OrderedDict[str, list[tuple[Edge, Edge]]] = field(default_factory=OrderedDict, init=False)
    # Read, decide, store: two people at once must not overwrite each other unseen.
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    def decide(self, said: Sequence[Said], by: str = "") -> Outcome:
        """Keep what a person says of links; it is stored when this returns.

        The rules are those of the review's workbook. A link that somebody else decided since it was shown keeps that
        decision, and is returned as a conflict.

        Args:
            said: the decisions, one for a link.
            by: the person's name; "": the name of the login.

        Raises:
            LinkNotFound: a link is not stored; then nothing is kept.
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
                if one.seen is not None and one.seen != edge.verdict:
                    conflicts.append(edge)
                else:
                    pairs.append((edge, self._decided(edge, one, by or login())))
            return pairs

        outcome = self._stored(change)
        shown = self.links.changed(conflicts)
        return replace(outcome, conflicts=[Conflict(row) for row in shown])

    def decide_all(
        self, wanted: LinkFilter, status: Decision, *, notes: str | None = None, by: str = ""
    ) -> Outcome:
        """Keep one decision on all links that a filter takes and that nobody has decided, or take decisions back.

        Args:
            wanted: the filter.
            status: the decision; "" takes back the decisions on the links that it takes.
            notes: the notes of all of them; None: they stay.
            by: as in `decide`.
        """
        rows = self.links.filtered(wanted)
        ids = [row.id for row in rows if (row.status == "proposed" if status else row.decided)]
        said = [Said(each, status, None, notes, "" if status else None) for each in ids]
        return self.decide(said, by)

    def undo(self, name: str) -> Outcome:
        """Take decisions back; a link that somebody decided since stays as it is, and is returned as a conflict.

        Raises:
            InputError: they were taken back already, or too long ago.
        """
        with self._lock:
            before = self._undone.pop(name, None)
        if before is None:
            raise InputError(
                "There is nothing to undo: it was undone already, or too many decisions followed it."
            )
        changed_since: list[Edge] = []

        def change(store: EdgeStore) -> list[tuple[Edge, Edge]]:
            now = store.by_id([edge.id for edge, _ in before])
            pairs = []
            for earlier, later in before:
                edge = now.get(earlier.id)
                if edge is None:
                    continue
                if any(
                    getattr(edge, each) != getattr(later, each) for each in ("verdict", "anchor", "notes")
                ):
                    changed_since.append(edge)
                    continue
                # A run may have changed the rest in the meantime.
                pairs.append((edge, replace(edge, **{each: getattr(earlier, each) for each in _SAID})))
            return pairs

        outcome = self._stored(change)
        return replace(outcome, conflicts=[Conflict(row) for row in self.links.changed(changed_since)])

    def _stored(self, change: Callable[[EdgeStore], list[tuple[Edge, Edge]]]) -> Outcome:
        project = open_project(self.links.root)
        with self._lock, project.graph(read_only=False) as (store, _):
            pairs = [(before, after) for before, after in change(store) if before != after]
            for some in batched(pairs, _BLOCK):
                store.put([after for _, after in some])
            name = new_run_id() if pairs else ""
            if pairs:
                self._undone[name] = pairs
                while len(self._undone) > MOST_UNDONE:
                    self._undone.popitem(last=False)
        rows = self.links.changed(after for _, after in pairs)
        return Outcome(name, len(pairs), rows[:_BLOCK])

    def _decided(self, edge: Edge, said: Said, by: str) -> Edge:
        now = decided(edge, LinkDecision(said.link_id, said.status, said.anchor, said.notes), by)
        if (
            now.anchor
            and now.anchor != edge.anchor
            and (placed := self.links.texts().placed(now.source, now.anchor))
        ):
            now = replace(now, placed=placed)
        return now
