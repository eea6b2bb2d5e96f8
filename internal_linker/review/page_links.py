"""The links of one page on their way into the store: what is known of their anchors, and their edges with it."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isnan
from operator import attrgetter

from internal_linker.core.edges import Anchor, Edge, altered, tier_of
from internal_linker.core.ports import Wanted
from internal_linker.core.records import Source, fold_query

# What an editor decides.
_DECISION_NAMES = ("status", "verdict", "by", "at", "anchor", "notes", "placed", "cells")
_DECISION = attrgetter(*_DECISION_NAMES)


@dataclass(slots=True)
class PageLinks:
    """The links of a page, while its anchors are looked for."""

    # end, source: the page
    end: str
    source: Source
    rows: int  # count of its rows
    stored: Mapping[str, Edge]  # its stored edges by their ids
    old: Mapping[str, Edge]  # its stored links by target
    plain: Mapping[str, Edge]  # the run's links as edges without anchors, by target
    # targets that several rows of the page have with different scores; the first row's scores count
    several: Collection[str]
    seen: Sequence[str] = ()  # targets of the links that editors see
    same: Sequence[str] = ()  # those of them whose texts are as they were
    known: Mapping[str, tuple[Anchor, ...]] = field(default_factory=dict)  # the anchors that stay, by target
    wanted: Wanted = ("", (), ())  # the targets that need anchors, as `Anchors.propose_each` takes them

    def decided_text(self, target: str) -> str:
        """Return the anchor of a link that an editor decided on; "" if nobody did."""
        before = self.old.get(target)
        return before.chosen.text if before and (before.anchor or before.verdict) else ""


def as_decided(edge: Edge, now: Edge | None, read: Edge | None) -> Edge:
    """Return an edge with the decision on it that is stored now, if that is not the one that was read."""
    if now is None or (read and _DECISION(now) == _DECISION(read)):
        return edge
    return altered(edge, **dict(zip(_DECISION_NAMES, _DECISION(now), strict=True)))


def with_anchor_judged(edge: Edge) -> Edge:
    """Return an edge whose strength and tier cover its anchor, too.

    Where pages and words together are not good enough for a link in the text, the words are a mere proposal, and the
    pages decide alone whether the link belongs beside it. Nobody knows how good words are that an editor chose, or
    those of an earlier version.
    """
    chosen = edge.chosen
    if edge.anchor or (chosen.text and chosen.verbatim and isnan(chosen.quality)):
        return edge
    together = edge.strength * chosen.quality if chosen.text and chosen.verbatim else 0.0
    if tier_of(together, edge.inline, edge.sidebar) == "inline":
        return altered(edge, strength=together, tier="inline")
    return altered(edge, tier="sidebar") if edge.tier == "inline" else edge


def looked_for(
    edge: Edge,
    anchors: tuple[Anchor, ...],
    before: Edge | None,
    placed: Callable[[str], Anchor],
    *,
    unchanged: bool,
) -> Edge:
    """Return an edge with its anchors; a decided one, or one that isn't from there, was looked for in the page's text.

    Args:
        edge: the edge without anchors.
        anchors: its anchors, best first.
        before: the edge from the store.
        placed: returns a text as an anchor where it stands in the page.
        unchanged: whether the texts of both ends are those of `before`.
    """
    own = before.anchor if before else ""
    pinned = before.anchors[0] if before and before.verdict and not own and before.anchors else None
    if pinned:
        # An editor accepted this text, so it stays, whatever the run would propose today.
        anchors = (pinned, *(one for one in anchors if fold_query(one.text) != fold_query(pinned.text)))
    text = own or (anchors[0].text if anchors else "")
    if not text or not (own or (pinned and not unchanged) or not anchors[0].verbatim):
        look = Anchor("")
    elif unchanged and before and before.placed.text == text:
        look = before.placed
    else:
        look = placed(text)
    if pinned and look.text:
        first = look if look.sentence else replace(pinned, verbatim=False)
        anchors = (first, *anchors[1:])
    edge = altered(edge, anchors=anchors, anchor=own, placed=look)
    in_text = edge.kind == "recommendation" and bool(text) and edge.chosen.verbatim
    return altered(edge, kind="contextual") if in_text else edge


def with_stored_anchors(edge: Edge, stored: Edge | None) -> Edge:
    """Return an edge with its stored anchors and kind, and the hashes of the texts that they were found in."""
    if stored is None:
        return edge
    return altered(
        edge,
        kind=stored.kind,
        anchors=stored.anchors,
        source_hash=stored.source_hash,
        target_hash=stored.target_hash,
        placed=stored.placed,
    )
