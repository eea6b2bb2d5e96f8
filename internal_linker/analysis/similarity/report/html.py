"""clusters.html: the data of its charts and tables, cut to what a person reads, in a template."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from internal_linker.adapters.html.document import ReportFile, href
from internal_linker.analysis.similarity.cluster_records import REASONS, Cluster, PageMap, SiteClusters
from internal_linker.core.arrays import Ints

# Limits per cluster: in the tables, fewer if there are many clusters, and in the tree.
MOST_PAGES, MOST_LINKS, LEAST, MOST_ROWS = 50, 20, 5, 3_000
MOST_LEAVES, MOST_BRANCHES = 30, 100
_LONGEST = 300


@dataclass(frozen=True, slots=True)
class PageRow:
    """A page of a cluster; `href` is "" if its URL must not be followed."""

    title: str
    url: str
    href: str
    distance: float
    is_hub: bool


@dataclass(frozen=True, slots=True)
class LinkRow:
    """A link that is missing in a cluster."""

    source: PageRow
    target: PageRow
    similarity: float
    why: str


@dataclass(frozen=True, slots=True)
class ClusterPart:
    """A cluster with its pages nearest to the centre and its first missing links."""

    cluster: Cluster
    pages: Sequence[PageRow]
    links: Sequence[LinkRow]


def brief(text: str) -> str:
    """Return the text, shortened if nobody would read it to its end."""
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"


def parts(found: SiteClusters) -> list[ClusterPart]:
    """Return all clusters with the rows that the tables show."""
    share = max(LEAST, MOST_ROWS // max(1, len(found.clusters)))
    return [_part(found, at, share) for at in range(len(found.clusters))]


def chart_data(found: SiteClusters, page_map: PageMap) -> dict[str, Any]:
    """Return the data that the script draws, as plain lists, numbers and texts."""
    clusters = [{"name": f"{one.number} · {one.name}", "pages": one.pages} for one in found.clusters]
    hubs = set(found.hubs.tolist())
    dots = [
        [round(x, 4), round(y, 4), int(found.labels[row]), brief(found.titles[row]), found.urls[row],
         href(found.urls[row]), int(row in hubs)]
        for row, (x, y) in zip(page_map.rows.tolist(), page_map.places.tolist(), strict=True)
    ]  # fmt: skip
    branches = [_branch(found, at) for at in range(min(MOST_BRANCHES, len(found.clusters)))]
    return {"site": found.site, "clusters": clusters, "dots": dots, "branches": branches}


def _members(found: SiteClusters, at: int) -> Ints:
    """Return the rows of a cluster, nearest to its centre first."""
    rows = np.flatnonzero(found.labels == at)
    nearest: Ints = rows[np.argsort(found.distances[rows], kind="stable")]
    return nearest


def _part(found: SiteClusters, at: int, most: int) -> ClusterPart:
    pages = [_page(found, row) for row in _members(found, at)[: min(MOST_PAGES, most)].tolist()]
    missing = found.missing
    places = np.flatnonzero(found.labels[missing.sources] == at)[: min(MOST_LINKS, most)].tolist()
    links = [
        LinkRow(
            _page(found, int(missing.sources[place])),
            _page(found, int(missing.targets[place])),
            float(found.similarities[place]),
            REASONS[missing.reasons[place]],
        )
        for place in places
    ]
    return ClusterPart(found.clusters[at], pages, links)


def _branch(found: SiteClusters, at: int) -> dict[str, Any]:
    rows, hub = _members(found, at), int(found.hubs[at])
    shown = [hub, *(row for row in rows[:MOST_LEAVES].tolist() if row != hub)]
    leaves = [{"name": brief(found.titles[row] or found.urls[row]), "url": found.urls[row]} for row in shown]
    return {"leaves": leaves, "more": len(rows) - len(shown)}


def _page(found: SiteClusters, row: int) -> PageRow:
    url = found.urls[row]
    is_hub = bool(found.hubs[found.labels[row]] == row)
    return PageRow(brief(found.titles[row]), url, href(url), float(found.distances[row]), is_hub)


_TEMPLATE = Path(__file__).parent / "clusters.html"


def write_clusters(file: ReportFile, found: SiteClusters, page_map: PageMap) -> Sequence[str]:
    """Replace the report; return a sentence that says where it is, if it could not be replaced.

    Raises:
        OutputError: it can't be written; the earlier file stays as it was.
    """
    shown = {
        "found": found,
        "drawn": len(page_map.rows),
        "parts": parts(found),
        "grouped": int(np.count_nonzero(found.labels >= 0)),
        "branches": MOST_BRANCHES,
        "data": chart_data(found, page_map),
    }
    return file.replace(_TEMPLATE, shown, {"brief": brief})
