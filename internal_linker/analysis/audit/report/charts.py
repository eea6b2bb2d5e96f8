"""An audit -> the figures that the charts draw and that the tables beside them tell."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

import numpy as np

from internal_linker.analysis.audit.records import Audit
from internal_linker.core.arrays import Vectors

# A treemap of more tiles in one section is dust.
_MOST_TOPICS = 12
# Per cent of the pages at which the curve is drawn; most of what changes is at its steep start.
_SHARES = (0, 0.1, 0.2, 0.5, *range(1, 101))


@dataclass(frozen=True, slots=True)
class Tile:
    """Some pages of a treemap, and how many of them are orphans before and after adoption."""

    name: str
    pages: int
    before: int
    after: int
    parts: tuple["Tile", ...] = ()


@dataclass(frozen=True, slots=True)
class TierCount:
    """New links of one tier, of strengths from `low` on."""

    name: str
    low: float
    links: int


def readable(path: str) -> str:
    """A path as a person reads it: letters where they were percent-encoded."""
    return " ".join(unquote(path).split())


def tiles(audit: Audit) -> list[Tile]:
    """The sections of the matrix, with their topics, both by pages; what is rare goes together."""
    names = audit.section_matrix.names
    known, rest = set(names), names[-1]
    places = [
        (section if section in known else rest, topic or "no topic")
        for section, topic in zip(audit.sections, audit.topics, strict=True)
    ]
    pages = Counter(places)
    before, after = (
        Counter(places[row] for row in state.orphans.tolist()) for state in (audit.before, audit.after)
    )
    found: dict[str, list[Tile]] = {}
    for (section, topic), count in pages.most_common():
        at = section, topic
        found.setdefault(section, []).append(Tile(topic, count, before[at], after[at]))
    return sorted(
        (_together(section, parts) for section, parts in found.items()), key=lambda tile: -tile.pages
    )


def tiers(audit: Audit) -> list[TierCount]:
    """The new links by tier, best first."""
    sidebar, inline = audit.thresholds
    bounds = (("inline", inline), ("sidebar", sidebar), ("review", 0.0))
    counts = Counter(np.digitize(audit.proposed.weights, [sidebar, inline]).tolist())
    return [TierCount(*bound, counts[2 - place]) for place, bound in enumerate(bounds)]


def concentration(pagerank: Vectors) -> list[list[float]]:
    """Points (x, y) in per cent: the best x% of the pages hold y% of the PageRank."""
    held = np.concatenate([[0.0], np.cumsum(np.sort(pagerank)[::-1])])
    at = np.linspace(0, 100, len(held))
    return [[share, round(100 * float(np.interp(share, at, held)), 2)] for share in _SHARES]


def chart_data(audit: Audit, sections: Sequence[Tile]) -> dict[str, Any]:
    """What the script of the report draws; plain lists, numbers and texts."""
    matrix = audit.section_matrix
    edges, counts = audit.histogram
    return {
        "treemap": [_as_json(tile) for tile in sections],
        "matrix": {
            "names": list(map(readable, matrix.names)),
            "before": matrix.before.tolist(),
            "after": matrix.after.tolist(),
        },
        "histogram": {
            "edges": [round(edge, 4) for edge in edges.tolist()],
            "counts": counts.tolist(),
            "sidebar": audit.thresholds[0],
            "inline": audit.thresholds[1],
        },
        "pagerank": {
            "before": concentration(audit.before.pagerank),
            "after": concentration(audit.after.pagerank),
        },
        "proposed": bool(len(audit.proposed.sources)),
    }


def _together(section: str, parts: Sequence[Tile]) -> Tile:
    shown, others = list(parts[:_MOST_TOPICS]), parts[_MOST_TOPICS:]
    if others:
        shown.append(_sum(f"{len(others)} more topics", others))
    return _sum(section, parts, tuple(shown))


def _sum(name: str, tiles: Iterable[Tile], parts: tuple[Tile, ...] = ()) -> Tile:
    pages, before, after = map(sum, zip(*((one.pages, one.before, one.after) for one in tiles), strict=True))
    return Tile(name, pages, before, after, parts)


def _as_json(tile: Tile) -> dict[str, Any]:
    figures = {
        "name": readable(tile.name) if tile.parts else tile.name,
        "value": tile.pages,
        "before": tile.before,
        "after": tile.after,
    }
    return figures | ({"children": [_as_json(part) for part in tile.parts]} if tile.parts else {})
