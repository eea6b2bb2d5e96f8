"""Writes clusters.html: the tables in a template."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from internal_linker.adapters.html.report_file import ReportFile
from internal_linker.analysis.similarity.cluster_records import PageMap, SiteClusters
from internal_linker.analysis.similarity.report.charts import MOST_BRANCHES, brief, chart_data, parts

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
