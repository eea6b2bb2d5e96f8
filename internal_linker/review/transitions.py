"""Transitions of edges: how editors' cells and new runs change the status of a link."""

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from typing import Literal

from internal_linker.model.edges import VERDICTS, Cells, Decided, Edge, Status, Verdict, altered
from internal_linker.model.wordings import shown_wording

# Decisions of editors who choose one of the tool's own statuses: live means accepted, withdrawn means rejected.
_MEANT: dict[str, Status] = {"live": "accepted", "withdrawn": "rejected"}
_CONTROLS = re.compile("[\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029\\ufffe\\uffff]+")


def heard(edge: Edge, said: Verdict, at: str) -> Edge:
    """Return the edge with everything that an editor wrote since the cells were last read."""
    said = as_read(edge, said)
    cells = cells_of(said)
    if cells == edge.cells:
        return edge
    verdict = _verdict(edge, said)
    anchor = _anchor(edge, said)
    if anchor != edge.anchor:
        if anchor and verdict != "rejected":
            verdict = "edited"
        elif not anchor and verdict == "edited":
            verdict = "accepted"
    notes = said.notes if said.notes != edge.cells.notes else edge.notes
    edge = altered(edge, anchor=anchor, notes=notes, cells=cells)
    if verdict == edge.verdict:
        return edge
    shown = shown_wording(edge)
    is_accepted = verdict == "accepted" and shown and _line(said.wording) == _line(shown)
    wording = edge.chosen.wording if is_accepted else ""
    return altered(edge, verdict=verdict, status=verdict or "proposed", by=said.by, at=at, wording=wording)


def as_read(edge: Edge, said: Verdict) -> Verdict:
    """Return what an editor said; cells that say nothing are as they were when they were last read."""
    return replace(said, **{name: getattr(edge.cells, name) for name in said.unread}) if said.unread else said


def cells_of(said: Verdict) -> Cells:
    """Return the cells in which an editor said this."""
    return Cells(said.status, said.anchor, said.notes)


def says_nothing_new(edge: Edge, said: Verdict) -> bool:
    """Return whether `heard` changes nothing but the cells of an edge."""
    said = as_read(edge, said)
    if cells_of(said) == edge.cells:
        return True
    noted = said.notes in (edge.cells.notes, edge.notes)
    return noted and _anchor(edge, said) == edge.anchor and _verdict(edge, said) == edge.verdict


def remembered(old: Edge | None, now: Edge | None, linked: bool, at: str) -> Edge:
    """Return an edge after a run.

    `old` is the edge from the store, None for a new one; `now` the one that the run proposes, with the run in
    `first_run` and `last_run` and its time in `at`, None if it doesn't; `linked`: whether the page has the link today.
    """
    edge = now or old
    assert edge is not None
    if old and now:
        best = old.anchors[0].text if old.anchors else ""
        moved = best and (not now.anchors or now.anchors[0].text != best) and best not in old.formerly
        edge = altered(
            now,
            first_run=old.first_run,
            formerly=(*old.formerly, best) if moved else old.formerly,
            verdict=old.verdict,
            by=old.by,
            at=old.at,
            status=old.status,
            anchor=old.anchor,
            notes=old.notes,
            wording=old.wording,
            cells=old.cells,
            former_ids=old.former_ids,
        )
    status = _status(edge, proposed=now is not None, linked=linked)
    if status != (old or edge).status:
        by = edge.by if status == edge.verdict else ""
        edge = altered(edge, status=status, by=by, at=at)
    return edge


def decided(edges: Iterable[Edge]) -> Decided:
    """Collect editors' decisions from edges that have one."""
    rejected: defaultdict[str, list[str]] = defaultdict(list)
    accepted: defaultdict[str, list[Edge]] = defaultdict(list)
    for edge in edges:
        if edge.verdict == "rejected":
            rejected[edge.source].append(edge.target)
        elif edge.verdict:
            accepted[edge.source].append(edge)
    return Decided(dict(rejected), dict(accepted))


def _verdict(edge: Edge, said: Verdict) -> Status | Literal[""]:
    """Return the decision in the status cell; a status that the tool wrote is not a decision."""
    if said.status in (edge.cells.status, edge.status):
        return edge.verdict
    if said.status in VERDICTS:
        return said.status
    if said.status in _MEANT:
        # Without a record of what was written: a cell that this cache never read may be a run's with another cache.
        by_a_run = edge.cells == Cells() if said.written is None else said.status == said.written
        return edge.verdict if by_a_run else _MEANT[said.status]
    # An editor who sets "proposed" or empties the cell takes the decision back.
    return "" if edge.cells.status in VERDICTS else edge.verdict


def _anchor(edge: Edge, said: Verdict) -> str:
    """Return the editor's anchor; "" if there is none.

    What a run wrote into the row decides which text is an editor's: this cache may be older than the row, or not the
    one whose run wrote it.
    """
    if said.anchor == edge.cells.anchor:
        return edge.anchor
    # Cells have anchors without line breaks and control characters.
    text, best = _line(said.anchor), [_line(one.text) for one in edge.anchors]
    if said.proposed is not None:
        if text == _line(said.proposed):
            # An editor who restores the run's text takes back an anchor of this cell, but not one from elsewhere.
            return "" if text and _line(edge.cells.anchor) == _line(edge.anchor) else edge.anchor
        return "" if text in best[:1] else said.anchor.strip()
    if text in {*best, *map(_line, edge.formerly)}:
        return ""
    never_read = edge.cells == Cells()
    return edge.anchor if never_read and said.status != "edited" else said.anchor.strip()


def _line(text: str) -> str:
    return " ".join(_CONTROLS.sub(" ", text).split())


def _status(edge: Edge, *, proposed: bool, linked: bool) -> Status:
    if linked:
        return "live"
    if edge.verdict == "rejected":
        return "rejected"
    if not proposed:
        return "withdrawn"
    return edge.verdict or "proposed"
