"""The rows that editors see: an edge as a row of the review, and the order of rows."""

from collections.abc import Mapping
from math import isnan

from internal_linker.core.edges import Anchor, Edge, ReviewRow, Status

# Statuses of links that wait for a decision or have one.
REVIEWABLE: tuple[Status, ...] = ("proposed", "accepted", "edited", "rejected", "live")


def review_row(edge: Edge) -> ReviewRow:
    """Return the row of an edge for editors."""
    best = edge.anchors[0] if edge.anchors else Anchor("")
    return ReviewRow(
        edge.id,
        edge.status,
        edge.anchor or best.text,
        best.sentence,
        edge.source_url,
        edge.target_url,
        edge.strength,
        edge.tier,
        why(edge),
        edge.notes,
        proposed=best.text if edge.anchor else None,
        read=edge.cells,
        former_ids=edge.former_ids,
    )


def why(edge: Edge) -> str:
    """Return the reason for a link in a few words."""
    origin = f"search result {edge.serp_rank}" if edge.serp_rank else "similar page"
    figures = (("meaning", edge.similarity), ("words", edge.lexical), ("probability", edge.probability))
    scores = [f"{name} {value:.2f}" for name, value in figures if not isnan(value)]
    waits = ["waits for approval"] if not edge.rank and edge.status == "proposed" else []
    return ", ".join([*waits, origin, *scores])


def urgency(edge: Edge) -> tuple[bool, bool, float]:
    """Return a sort key, largest first: links that an editor touched, links that wait for approval, strong links."""
    strong = edge.strength if edge.strength == edge.strength else 0.0
    return bool(edge.verdict or edge.notes or edge.anchor), not edge.rank, strong


def distinct(anchors: Mapping[str, tuple[Anchor, ...]]) -> dict[str, tuple[Anchor, ...]]:
    """Remove from each target's anchors the texts of earlier targets' anchors."""
    said: set[str] = set()
    distinct = {}
    for key, found in anchors.items():
        distinct[key] = tuple(one for one in found if one.text.casefold() not in said)
        said.update(one.text.casefold() for one in distinct[key])
    return distinct
