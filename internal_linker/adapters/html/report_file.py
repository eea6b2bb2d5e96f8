"""Report files: HTML files that can be mailed, and opened without a network."""

from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from internal_linker.adapters.files.atomic import remarks_on, replace_whole
from internal_linker.adapters.html.document import document


class ReportFile:
    """A report as one file, with style, data and scripts inlined.

    Args:
        path: the file.
        now: returns the date of the report.
    """

    def __init__(self, path: Path, now: Callable[[], datetime] = lambda: datetime.now().astimezone()) -> None:
        self.path, self._now = path, now

    def replace(
        self,
        template: Path,
        shown: Mapping[str, Any],
        filters: Mapping[str, Callable[..., str]] | None = None,
    ) -> list[str]:
        """Replace the file; return a sentence that says where it is, if it could not be replaced.

        Args:
            template: as in `document`.
            shown: the template's variables; `made`, the date, is added.
            filters: the template's own filters by name.

        Raises:
            OutputError: it can't be written; the earlier file stays as it was.
        """
        text = document(template, {**shown, "made": f"{self._now():%Y-%m-%d}"}, filters)
        return remarks_on(self.path, replace_whole(self.path, lambda file: file.writelines(text)))
