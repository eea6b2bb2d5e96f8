"""Clusters of pages -> the tables of them that are written."""

from collections.abc import Sequence

import numpy as np

from internal_linker.cluster_records import REASONS, SiteClusters
from internal_linker.sequences import Lazy
from internal_linker.worksheets import Cell, Column, Sheet


def page_sheet(found: SiteClusters) -> Sheet:
    """Each page in its cluster, those nearest to the centre first; at the end the pages that are in none."""
    last = np.where(found.labels < 0, len(found.clusters), found.labels)
    order = np.lexsort((np.nan_to_num(found.distances), last))
    hubs = set(found.hubs.tolist())

    def row(at: int) -> Sequence[Cell]:
        page = int(order[at])
        label, distance = int(found.labels[page]), float(found.distances[page])
        number, name = (found.clusters[label].number, found.clusters[label].name) if label >= 0 else ("", "")
        return [number, name, found.titles[page], found.urls[page], distance, "yes" if page in hubs else "no"]

    columns = [
        *(Column("Cluster"), Column("Name", 35), Column("Title", 45), Column("URL", 55, "link")),
        *(Column("Distance", 12, "score"), Column("Hub")),
    ]
    return Sheet("Pages", columns, Lazy(len(order), row))


def missing_sheet(found: SiteClusters) -> Sheet:
    """Each missing link, with why it is one."""
    missing = found.missing

    def row(at: int) -> Sequence[Cell]:
        source, target = int(missing.sources[at]), int(missing.targets[at])
        cluster, titles = found.clusters[found.labels[source]], found.titles
        link = (
            found.urls[source],
            found.urls[target],
            float(found.similarities[at]),
            REASONS[missing.reasons[at]],
        )
        return [*link, titles[source], titles[target], cluster.number, cluster.name]

    columns = [
        *(Column("Source", 55, "link"), Column("Target", 55, "link"), Column("Similarity", 12, "score")),
        *(Column("Why", 14), Column("Source Title", 45), Column("Target Title", 45)),
        *(Column("Cluster"), Column("Name", 35)),
    ]
    return Sheet("Missing links", columns, Lazy(len(missing.sources), row))


def summary_sheet(found: SiteClusters) -> Sheet:
    """Each cluster with its figures."""
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
