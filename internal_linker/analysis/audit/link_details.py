"""What is known about single links: type, anchor, and where a proposed link comes from."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import isnan, nan
from sys import intern

from internal_linker.analysis.graph.site_graph import SiteGraph
from internal_linker.core.edges import COPIES, Edge, kind_of
from internal_linker.core.records import Collected

# A link in a page's text that does not lead to a parent folder.
_IN_TEXT = "contextual"
_APPROVED = ("accepted", "edited")


@dataclass(frozen=True, slots=True)
class LinkDetail:
    """A link of an audit; "" and NaN where something is unknown, as it is for links that no run proposed.

    Attributes:
        kind: "contextual", "taxonomy" or "recommendation".
        anchor: its text, or the proposed one.
        followed: whether it passes weight.
        status: "proposed", "accepted", "edited", "live", ...
        tier: "inline", "sidebar" or "review".
        model: provider, model and recipe of the vectors.
        run: the run that proposed it last.
        inline, sidebar: the thresholds of the tiers at that time, 0 to 1.
        approver: who accepted it.
        approved_at: when, ISO 8601, UTC.
    """

    kind: str = ""
    anchor: str = ""
    followed: bool = True
    status: str = ""
    tier: str = ""
    model: str = ""
    run: str = ""
    inline: float = nan
    sidebar: float = nan
    approver: str = ""
    approved_at: str = ""


UNKNOWN = LinkDetail()

LinkDetails = Mapping[tuple[int, int], LinkDetail]


def link_details(
    graphs: Iterable[SiteGraph], collected: Collected, rows: Mapping[str, int], edges: Iterable[Edge]
) -> LinkDetails:
    """Return the details of these graphs' links, by the rows of source and target.

    Args:
        graphs: links between the audited pages.
        collected: today's links.
        rows: the row of each audited page, by its key.
        edges: the links that were ever proposed, with the keys of today.
    """
    wanted = {
        ends for graph in graphs for ends in zip(graph.sources.tolist(), graph.targets.tolist(), strict=True)
    }
    aliases = collected.aliases
    found: dict[tuple[int, int], LinkDetail] = {}
    for link in collected.links:
        ends = ends_of(link.source, link.target, aliases, rows)
        if ends in wanted and (ends not in found or (link.followed and not found[ends].followed)):
            upwards = kind_of(link.source, link.target) == "taxonomy"
            found[ends] = LinkDetail("taxonomy" if upwards else _IN_TEXT, link.anchor, link.followed, "live")
    for edge in edges:
        ends = ends_of(edge.source, edge.target, aliases, rows)
        if ends in wanted and edge.kind not in COPIES:
            found[ends] = _detail(edge, found.get(ends))
    return found


def ends_of(source: str, target: str, aliases: Mapping[str, str], rows: Mapping[str, int]) -> tuple[int, int]:
    """Return the rows of a link's pages, -1 for a page that is not audited."""
    return rows.get(aliases.get(source, source), -1), rows.get(aliases.get(target, target), -1)


def _detail(edge: Edge, today: LinkDetail | None) -> LinkDetail:
    """Return a proposed link's details; anchor and rel of a link that exists are those of the page."""
    approved = edge.verdict in _APPROVED
    return LinkDetail(
        kind=today.kind if today else edge.kind,
        anchor=today.anchor if today else edge.chosen.text,
        followed=today.followed if today else True,
        status="live" if today else edge.status,
        tier=edge.tier,
        # Few distinct values for millions of links.
        model=intern(edge.encoder),
        run=intern(edge.last_run),
        inline=edge.inline,
        sidebar=edge.sidebar,
        approver=intern(edge.by) if approved else "",
        approved_at=edge.at if approved else "",
    )


def number(value: float) -> float | None:
    """Return a figure, None if it is unknown."""
    return None if isnan(value) else value
