"""The order of links in the review, and the anchor's place in its sentence."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import isnan
from typing import Any

from internal_linker.model.edges import Anchor, Edge, Status

# Statuses of links that wait for a decision or have one.
REVIEWABLE: tuple[Status, ...] = ("proposed", "accepted", "edited", "rejected", "live")


def urgency(edge: Edge) -> tuple[bool, bool, float]:
    """Return a sort key, largest first: links that an editor touched, links that wait for approval, strong links."""
    return bool(edge.verdict or edge.notes or edge.anchor), not edge.rank, _strength(edge)


def distinct(anchors: Mapping[str, tuple[Anchor, ...]]) -> dict[str, tuple[Anchor, ...]]:
    """Remove from each target's anchors the texts of earlier targets' anchors."""
    said: set[str] = set()
    distinct = {}
    for key, found in anchors.items():
        distinct[key] = tuple(one for one in found if one.text.casefold() not in said)
        said.update(one.text.casefold() for one in distinct[key])
    return distinct


def anchor_span(sentence: str, anchor: str) -> tuple[int, int] | None:
    """Return the span of an anchor in its sentence: the first of whole words, else the first; None if there is none."""
    if not anchor:
        return None
    start = first = sentence.find(anchor)
    while start >= 0:
        around = sentence[max(0, start - 1) : start] + sentence[start + len(anchor) : start + len(anchor) + 1]
        if not any(map(str.isalnum, around)):
            break
        start = sentence.find(anchor, start + 1)
    start = first if start < 0 else start
    return (start, start + len(anchor)) if start >= 0 else None


def list_of(edge: Edge) -> tuple[bool, bool]:
    """Return a sort key: links in the text come first; of these, and of the others, those of late pages come last."""
    return edge.tier != "inline", edge.evidence.comes_late


def by_page(edges: Sequence[Edge]) -> list[Edge]:
    """Return links in the text, then the others, each page by page: pages with the strongest waiting links first.

    Of a page, waiting links come before decided ones, and strong links first.
    """
    best: defaultdict[tuple[str, bool], float] = defaultdict(lambda: -1.0)
    for edge in edges:
        if edge.status == "proposed":
            part = edge.source, edge.tier == "inline"
            best[part] = max(best[part], _strength(edge))

    def place(edge: Edge) -> tuple[Any, ...]:
        decided = edge.status != "proposed"
        return (
            list_of(edge),
            -best[edge.source, edge.tier == "inline"],
            edge.source_url,
            decided,
            -_strength(edge),
            edge.rank,
            edge.target_url,
        )

    return sorted(edges, key=place)


def _strength(edge: Edge) -> float:
    """Return the strength, 0 for a link without one."""
    return 0.0 if isnan(edge.strength) else edge.strength
