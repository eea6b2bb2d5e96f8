"""The links of one page on their way into the store: what is known of their anchors, and their edges with it."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isnan
from operator import attrgetter
from typing import TypeVar

from internal_linker.model.briefs import BriefLink
from internal_linker.model.edges import Anchor, Edge, altered, beside
from internal_linker.model.ports import Wanted
from internal_linker.model.records import Link, Recommendation, Source, fold_query

# A new page moves the scores of all others a little: nobody wants to see each list in another order for that.
STEADY = 0.03
_RATED = attrgetter("tier", "inline", "sidebar", "texts")
# A link with a rank.
Ranks = TypeVar("Ranks", Link, BriefLink)
# What an editor decides.
_DECISION_NAMES = ("status", "verdict", "by", "at", "anchor", "notes", "wording", "placed", "cells")
_DECISION = attrgetter(*_DECISION_NAMES)


@dataclass(slots=True)
class PageUnderReview:
    """The links of a page, while its anchors are looked for."""

    # end, source: the page
    end: str
    source: Source
    items: Sequence[Recommendation]  # its rows
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
    """Return an edge with the tier and strength that its anchor gives it.

    With a good place in the text, it belongs there, and the place says how good it is; without one it is beside the
    text at best. Nobody knows how good words are that an editor chose, or those of an earlier version: good enough.
    """
    chosen = edge.chosen
    if chosen.text and chosen.verbatim:
        unknown = edge.anchor or isnan(chosen.quality)
        quality = max(edge.strength, edge.inline) if unknown else chosen.quality
        if quality >= edge.inline:
            return altered(edge, strength=quality, tier="inline")
    return beside_text(edge)


def beside_text(edge: Edge) -> Edge:
    """Return an edge as a link beside the text, at least a point of the score below all links in the text."""
    strength = min(edge.strength, beside(edge.inline) - 0.01)
    return altered(edge, strength=strength, tier="sidebar" if strength >= edge.sidebar else "review")


def steady(edge: Edge, before: Edge | None, plain: Edge) -> Edge:
    """Return an edge with its strength of the last run, if that is nearly the same and neither text changed.

    Args:
        plain: the edge without anchors.
    """
    if before is None or _RATED(edge) != _RATED(before):
        return edge
    # How well two pages fit is unknown where a place was expected that the link did not get.
    unknown = plain.tier == "inline" != edge.tier
    near = unknown or abs(edge.strength - before.strength) < STEADY
    return altered(edge, strength=before.strength) if near else edge


def in_order(links: Sequence[Ranks], scores: Sequence[int], stays: Sequence[bool]) -> tuple[Ranks, ...]:
    """Return the links of a page with their ranks: the highest score first, equal ones as they were.

    Args:
        scores: what people read beside each, 0 to 100.
        stays: which of them keep their places by a rule.
    """
    best = iter(sorted((at for at, kept in enumerate(stays) if not kept), key=lambda at: -scores[at]))
    order = [at if kept else next(best) for at, kept in enumerate(stays)]
    return tuple(replace(links[at], rank=rank) for rank, at in enumerate(order, 1))


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
    # What an editor accepted as new text stays, wherever else its words stand.
    if pinned and look.text and not (before and before.wording):
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
