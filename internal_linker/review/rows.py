"""The rows that editors see: an edge as a row of the review, and the order of rows."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import isnan
from typing import Any

from internal_linker.model.edges import Anchor, Edge, ReviewRow, Status, why
from internal_linker.model.wordings import shown_wording

# Statuses of links that wait for a decision or have one.
REVIEWABLE: tuple[Status, ...] = ("proposed", "accepted", "edited", "rejected", "live")


# Warnings about a link's anchor.
NOT_IN_TEXT = "anchor not in the text"
# What `Why` begins with where the anchor is the target's title, for a related box, and where a wording is suggested.
NEW_TEXT = "New text. "
NEW_WORDS = "New text: words would be added to the sentence. "
ONLY_LINKED = "anchor only in a link or heading"


def review_row(edge: Edge, source_title: str = "", target_title: str = "") -> ReviewRow:
    """Return the row of an edge for editors, with the titles of its pages where they are known."""
    chosen, wording = edge.chosen, shown_wording(edge)
    return ReviewRow(
        edge.id,
        edge.status,
        chosen.text,
        chosen.sentence,
        edge.source_url,
        edge.target_url,
        edge.strength,
        edge.tier,
        (NEW_WORDS if wording else NEW_TEXT if _is_new_text(edge) else "") + why(edge),
        edge.notes,
        warning=warning(edge),
        proposed=(edge.anchors[0].text if edge.anchors else "") if edge.anchor else None,
        read=edge.cells,
        former_ids=edge.former_ids,
        source_title=source_title,
        target_title=target_title,
        wording=wording,
    )


def warning(edge: Edge) -> str:
    """Return why the link's anchor can't be linked where it stands; "" if it can, or nobody has looked yet.

    A title that is offered as new text needs no warning.
    """
    chosen = edge.chosen
    if _is_new_text(edge):
        return ""
    if edge.placed.text == chosen.text:
        return warning_of(edge.placed)
    return NOT_IN_TEXT if chosen.text and not chosen.verbatim else ""


def warning_of(placed: Anchor) -> str:
    """Return why an anchor that was looked for in the page's text (`Anchors.placed`) can't be linked there."""
    if not placed.text or placed.verbatim:
        return ""
    return ONLY_LINKED if placed.sentence else NOT_IN_TEXT


def _is_new_text(edge: Edge) -> bool:
    """Return whether the link's anchor is the target's title, offered because no words of the page's text fit."""
    chosen = edge.chosen
    return not edge.anchor and bool(chosen.text) and not chosen.verbatim and chosen.quality == 0


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


def reason(warning: str, why: str) -> str:
    """Return the reason for a link after the warning about its anchor, if there is one, as a sentence."""
    return f"{warning[0].upper()}{warning[1:]}. {why}".rstrip() if warning else why


def anchor_span(sentence: str, anchor: str) -> tuple[int, int] | None:
    """Return start and end of an anchor in its sentence; None if it is not there.

    The first occurrence that is not a part of longer words counts, else the first one.
    """
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
