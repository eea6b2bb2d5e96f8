"""The tables of clusters, as CSV files and workbooks have them."""

from collections.abc import Sequence

import numpy as np

from internal_linker.adapters.tables.xlsx_writer import Cell, Column, Sheet
from internal_linker.analysis.similarity.cluster_records import SiteClusters
from internal_linker.core.sequences import Lazy


def page_sheet(found: SiteClusters) -> Sheet:
    """List the pages by cluster, those nearest to the centre first; pages in no cluster come last."""
    last = np.where(found.labels < 0, len(found.clusters), found.labels)
    order, pages = np.lexsort((np.nan_to_num(found.distances), last)), found.pages

    def row(at: int) -> Sequence[Cell]:
        page = pages[int(order[at])]
        hub = "yes" if page.hub else "no"
        return [page.cluster or "", page.name, page.title, page.url, page.distance, hub]

    columns = [
        *(Column("Cluster"), Column("Name", 35), Column("Title", 45), Column("URL", 55, "link")),
        *(Column("Distance", 12, "score"), Column("Hub")),
    ]
    return Sheet("Pages", columns, Lazy(len(order), row))


def missing_sheet(found: SiteClusters) -> Sheet:
    """List the missing links with their kind."""
    missing, titles, links = found.missing, found.titles, found.missing_links

    def row(at: int) -> Sequence[Cell]:
        link = links[at]
        ends = titles[missing.sources[at]], titles[missing.targets[at]]
        name = found.clusters[link.cluster - 1].name
        return [link.source, link.target, link.similarity, link.why, *ends, link.cluster, name]

    columns = [
        *(Column("Source", 55, "link"), Column("Target", 55, "link"), Column("Similarity", 12, "score")),
        *(Column("Why", 14), Column("Source Title", 45), Column("Target Title", 45)),
        *(Column("Cluster"), Column("Name", 35)),
    ]
    return Sheet("Missing links", columns, Lazy(len(missing.sources), row))


def summary_sheet(found: SiteClusters) -> Sheet:
    """List the clusters with their figures."""
    columns = [
        *(Column("Cluster"), Column("Name", 35), Column("Pages", 12, "bar"), Column("Hub", 55, "link")),
        *(Column("Inner Links"), Column("Density", 12, "score"), Column("Missing Links")),
        Column("Mean Distance", 14, "score"),
    ]
    rows = [
        (one.number, one.name, one.pages, one.hub, one.links, one.density, one.missing, one.distance)
        for one in found.clusters
    ]
    return Sheet("Clusters", columns, rows)
