"""Writes clusters.html: the tables in a template, with style, data and scripts inlined."""

from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path

import numpy as np

from internal_linker.adapters.files.atomic import ReplaceWhole, remarks_on, replace_whole
from internal_linker.adapters.html.document import document
from internal_linker.analysis.similarity.cluster_records import PageMap, SiteClusters
from internal_linker.analysis.similarity.report.charts import MOST_BRANCHES, brief, chart_data, parts

_TEMPLATE = Path(__file__).parent / "clusters.html"


class ClustersHtml:
    """One file that can be mailed, and opened without a network.

    Args:
        path: the file.
        write_whole: replaces a file.
        now: returns the date of the report.
    """

    def __init__(
        self,
        path: Path,
        write_whole: ReplaceWhole = replace_whole,
        now: Callable[[], datetime] = lambda: datetime.now().astimezone(),
    ) -> None:
        self.path, self._write_whole, self._now = path, write_whole, now

    def write(self, found: SiteClusters, page_map: PageMap) -> Sequence[str]:
        """Replace the file; return a sentence that says where it is, if it could not be replaced.

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
            "made": f"{self._now():%Y-%m-%d}",
        }
        text = document(_TEMPLATE, shown, {"brief": brief})
        return remarks_on(self.path, self._write_whole(self.path, lambda file: file.writelines(text)))
