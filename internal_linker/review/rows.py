"""An edge of the link graph -> its kind, the row that an editor sees, and how urgently."""

from collections.abc import Mapping
from math import isnan

from internal_linker.core.edges import Anchor, Edge, ReviewRow, Status

# What there is to decide, and what was decided.
REVIEWABLE: tuple[Status, ...] = ("proposed", "accepted", "edited", "rejected", "live")


def review_row(edge: Edge) -> ReviewRow:
    """An edge as an editor sees it."""
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
    )


def why(edge: Edge) -> str:
    """Why the link is proposed, in a few words."""
    origin = f"search result {edge.serp_rank}" if edge.serp_rank else "similar page"
    figures = (("meaning", edge.similarity), ("words", edge.lexical), ("probability", edge.probability))
    told = [f"{name} {value:.2f}" for name, value in figures if not isnan(value)]
    waits = ["waits for approval"] if not edge.rank and edge.status == "proposed" else []
    return ", ".join([*waits, origin, *told])


def urgency(edge: Edge) -> tuple[bool, bool, float]:
    """What an editor has spoken of comes first, then what waits for approval, then the strongest."""
    strong = edge.strength if edge.strength == edge.strength else 0.0
    return bool(edge.verdict or edge.notes or edge.anchor), not edge.rank, strong


def distinct(anchors: Mapping[str, tuple[Anchor, ...]]) -> dict[str, tuple[Anchor, ...]]:
    """The anchors of each target without the texts of those before it."""
    said: set[str] = set()
    distinct = {}
    for key, found in anchors.items():
        distinct[key] = tuple(one for one in found if one.text.casefold() not in said)
        said.update(one.text.casefold() for one in distinct[key])
    return distinct
