"""clusters.html: the data of its charts and tables, cut to what a person reads, in a template."""

from pathlib import Path
from typing import Any

import numpy as np

from internal_linker.insight.html.document import ReportFile, href
from internal_linker.insight.similarity.cluster_records import REASONS, PageMap, SiteClusters
from internal_linker.model.arrays import Ints

# Limits per cluster: in the tables, fewer if there are many clusters, and in the tree.
MOST_PAGES, MOST_LINKS, LEAST, MOST_ROWS = 50, 20, 5, 3_000
MOST_LEAVES, MOST_BRANCHES = 30, 100
_LONGEST = 300


def brief(text: str) -> str:
    """Return the text, shortened if nobody would read it to its end."""
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"


def parts(found: SiteClusters) -> list[tuple[Ints, Ints]]:
    """Return of each cluster the rows of the pages that tables show, and the places of the missing links."""
    most = max(LEAST, MOST_ROWS // max(1, len(found.clusters)))
    clusters = found.labels[found.missing.sources]
    return [
        (
            _members(found, at)[: min(MOST_PAGES, most)],
            np.flatnonzero(clusters == at)[: min(MOST_LINKS, most)],
        )
        for at in range(len(found.clusters))
    ]


def chart_data(found: SiteClusters, page_map: PageMap) -> dict[str, Any]:
    """Return the data that the script draws, as plain lists, numbers and texts."""
    clusters = [
        {"name": f"{one.number} · {one.name}", "pages": one.pages} for one in found.clusters.itertuples()
    ]
    hubs = set(found.hubs.tolist())
    dots = [
        [round(x, 4), round(y, 4), int(found.labels[row]), brief(found.titles[row]), found.urls[row],
         href(found.urls[row]), int(row in hubs)]
        for row, (x, y) in zip(page_map.rows.tolist(), page_map.places.tolist(), strict=True)
    ]  # fmt: skip
    branches = [_branch(found, at) for at in range(min(MOST_BRANCHES, len(found.clusters)))]
    return {"site": found.site, "clusters": clusters, "dots": dots, "branches": branches}


def _members(found: SiteClusters, at: int) -> Ints:
    rows = np.flatnonzero(found.labels == at)
    nearest: Ints = rows[np.argsort(found.distances[rows], kind="stable")]
    return nearest


def _branch(found: SiteClusters, at: int) -> dict[str, Any]:
    rows, hub = _members(found, at), int(found.hubs[at])
    shown = [hub, *(row for row in rows[:MOST_LEAVES].tolist() if row != hub)]
    leaves = [{"name": brief(found.titles[row] or found.urls[row]), "url": found.urls[row]} for row in shown]
    return {"leaves": leaves, "more": len(rows) - len(shown)}


_TEMPLATE = Path(__file__).parent / "clusters.html"


def write_report(file: ReportFile, found: SiteClusters, page_map: PageMap) -> list[str]:
    """Replace the report; return a sentence that says where it is, if it could not be replaced.

    Raises:
        OutputError: it can't be written; the earlier file stays as it was.
    """

    def named(row: int) -> dict[str, str]:
        url = found.urls[row]
        return {"title": brief(found.titles[row]), "url": url, "href": href(url)}

    shown = {
        "found": found,
        "named": named,
        "clusters": [*found.clusters.itertuples()],
        "missing": found.missing,
        "reasons": REASONS,
        "hubs": set(found.hubs.tolist()),
        "drawn": len(page_map.rows),
        "parts": parts(found),
        "grouped": int(np.count_nonzero(found.labels >= 0)),
        "branches": MOST_BRANCHES,
        "data": chart_data(found, page_map),
    }
    return file.replace(_TEMPLATE, shown, {"brief": brief})
