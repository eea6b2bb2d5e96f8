"""The data of the audit report's charts and of the tables beside them."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

import numpy as np

from internal_linker.analysis.audit.records import Audit
from internal_linker.core.arrays import Vectors
from internal_linker.core.edges import TIER_NAMES, score_of

# With more tiles in one section, a treemap is unreadable.
_MOST_CLUSTERS = 12
# Percentages of the pages at which the curve is drawn; most changes are at its steep start.
_SHARES = (0, 0.1, 0.2, 0.5, *range(1, 101))


@dataclass(frozen=True, slots=True)
class Tile:
    """A tile of the treemap: some pages, and how many of them are orphans before and after adoption."""

    name: str
    pages: int
    before: int
    after: int
    parts: tuple["Tile", ...] = ()


@dataclass(frozen=True, slots=True)
class TierCount:
    """The new links of one tier, with scores of at least `low` (0 to 100)."""

    name: str
    low: int
    links: int


def readable(path: str) -> str:
    """Return a path for people, with percent-encoding decoded."""
    return " ".join(unquote(path).split())


def tiles(audit: Audit) -> list[Tile]:
    """Return the sections of the matrix with their clusters, the largest first; small ones are merged."""
    names = audit.section_matrix.names
    known, rest = set(names), names[-1]
    places = [
        (section if section in known else rest, cluster or "no cluster")
        for section, cluster in zip(audit.sections, audit.clusters, strict=True)
    ]
    pages = Counter(places)
    states = (audit.before, audit.after) if audit.links_known else ()
    orphans = [Counter(places[row] for row in state.orphans.tolist()) for state in states]
    before, after = orphans or (Counter(), Counter())
    found: dict[str, list[Tile]] = {}
    for (section, cluster), count in pages.most_common():
        at = section, cluster
        found.setdefault(section, []).append(Tile(cluster, count, before[at], after[at]))
    return sorted(
        (_together(section, parts) for section, parts in found.items()), key=lambda tile: -tile.pages
    )


def tiers(audit: Audit) -> list[TierCount]:
    """Return the candidates by tier, the best tier first."""
    sidebar, inline = audit.thresholds
    bounds = zip(TIER_NAMES.values(), (inline, sidebar, 0.0), audit.tiers, strict=True)
    return [TierCount(name, score_of(low) or 0, count) for name, low, count in bounds]


def concentration(pagerank: Vectors) -> list[list[float]]:
    """Return points (x, y): the best x% of the pages hold y% of the PageRank."""
    held = np.concatenate([[0.0], np.cumsum(np.sort(pagerank)[::-1])])
    at = np.linspace(0, 100, len(held))
    return [[share, round(100 * float(np.interp(share, at, held)), 2)] for share in _SHARES]


def chart_data(audit: Audit, sections: Sequence[Tile]) -> dict[str, Any]:
    """Return the data that the report's script draws, as plain lists, numbers and texts."""
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
            "edges": [round(100 * edge, 2) for edge in edges.tolist()],
            "counts": counts.tolist(),
            "bounds": [score_of(threshold) for threshold in audit.thresholds],
            "tiers": [*TIER_NAMES.values()][::-1],
        },
        "pagerank": {
            "before": concentration(audit.before.pagerank),
            "after": concentration(audit.after.pagerank),
        },
        "proposed": bool(len(audit.proposed.sources)),
        "known": audit.links_known,
    }


def _together(section: str, parts: Sequence[Tile]) -> Tile:
    shown, others = list(parts[:_MOST_CLUSTERS]), parts[_MOST_CLUSTERS:]
    if others:
        shown.append(_sum(f"{len(others)} more clusters", others))
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
