"""An edge as it was, what an editor wrote, what this run found -> the edge as it is now."""

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from typing import Literal

from internal_linker.core.edges import VERDICTS, Cells, Decided, Edge, Status, Verdict

# Of an editor who chooses one of the tool's own words: what is live was welcome, what is withdrawn was not.
_MEANT: dict[str, Status] = {"live": "accepted", "withdrawn": "rejected"}
_CONTROLS = re.compile("[\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029\\ufffe\\uffff]+")


def heard(edge: Edge, said: Verdict, at: str) -> Edge:
    """The edge with what an editor wrote since the cells were read last; nothing that they wrote is lost.

    Args:
        edge: as it was kept.
        said: the cells as they are now.
        at: the time, ISO 8601.
    """
    cells = Cells(said.status, said.anchor, said.notes)
    if cells == edge.cells:
        return edge
    verdict = _verdict(edge, said)
    anchor = _anchor(edge, said)
    if anchor != edge.anchor and verdict in ("", "accepted", "edited"):
        verdict = "edited" if anchor else "accepted"
    notes = said.notes if said.notes != edge.cells.notes else edge.notes
    edge = replace(edge, anchor=anchor, notes=notes, cells=cells)
    if verdict == edge.verdict:
        return edge
    return replace(edge, verdict=verdict, status=verdict or "proposed", by=said.by, at=at)


def remembered(old: Edge | None, now: Edge | None, linked: bool, at: str) -> Edge:
    """The edge after a run.

    Args:
        old: as it was kept; None: it is new.
        now: as this run proposes it, with its run in `first_run` and `last_run`, its time in `at`; None: it does not.
        linked: whether the link stands in the page today.
        at: the time, ISO 8601.
    """
    edge = now or old
    assert edge is not None
    if old and now:
        best = old.anchors[0].text if old.anchors else ""
        moved = best and (not now.anchors or now.anchors[0].text != best) and best not in old.formerly
        edge = replace(
            now,
            first_run=old.first_run,
            formerly=(*old.formerly, best) if moved else old.formerly,
            verdict=old.verdict,
            by=old.by,
            at=old.at,
            status=old.status,
            anchor=old.anchor,
            notes=old.notes,
            cells=old.cells,
        )
    status = _status(edge, proposed=now is not None, linked=linked)
    if status != (old or edge).status:
        by = edge.by if status == edge.verdict else ""
        edge = replace(edge, status=status, by=by, at=at)
    return edge


def decided(edges: Iterable[Edge]) -> Decided:
    """What editors decided, of edges with a verdict."""
    rejected: defaultdict[str, list[str]] = defaultdict(list)
    accepted: defaultdict[str, list[Edge]] = defaultdict(list)
    for edge in edges:
        if edge.verdict == "rejected":
            rejected[edge.source].append(edge.target)
        elif edge.verdict:
            accepted[edge.source].append(edge)
    return Decided(dict(rejected), dict(accepted))


def _verdict(edge: Edge, said: Verdict) -> Status | Literal[""]:
    """What the status cell says; what the tool itself wrote there is no verdict."""
    if said.status in (edge.cells.status, edge.status):
        return edge.verdict
    if said.status in VERDICTS:
        return said.status
    if said.status in _MEANT:
        return _MEANT[said.status]
    # Back to "proposed", or emptied, by an editor: the verdict is taken back.
    return "" if edge.cells.status in VERDICTS else edge.verdict


def _anchor(edge: Edge, said: Verdict) -> str:
    """The editor's anchor; "" where the cell holds one of the tool's or nothing."""
    if said.anchor == edge.cells.anchor:
        return edge.anchor
    # A cell holds no line breaks and no control characters of an anchor.
    ours = {_line(text) for text in (*(one.text for one in edge.anchors), *edge.formerly)}
    return "" if _line(said.anchor) in ours else said.anchor.strip()


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
