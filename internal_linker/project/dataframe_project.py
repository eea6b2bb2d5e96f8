"""DataFrames of pages, links and queries in place of a project folder."""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from internal_linker.model.ports import StreamSource
from internal_linker.model.records import TableStream
from internal_linker.project.project import Project
from internal_linker.project.settings.exclusions import read_exclusions
from internal_linker.project.settings.settings import EXCLUSIONS_FILE, load_settings

if TYPE_CHECKING:
    from pandas import DataFrame

# What a DataFrame can't have: a Sheet, search results of a site that nobody named, and editors.
_SETTINGS = {"query_source": "csv", "serp_provider": "none", "review": "none"}


class FrameTable:
    """A `StreamSource` over a DataFrame; its columns are recognised by their names, as those of a CSV file.

    Args:
        frame: any number of rows; missing values count as empty cells.
        name: what messages call the table; its rows count from 1.
    """

    def __init__(self, frame: "DataFrame", name: str) -> None:
        self._frame = frame
        self.name = name

    @property
    def remarks(self) -> Sequence[str]:
        """Nothing: a DataFrame has no encoding or delimiter that could be unusual."""
        return ()

    def stream(self) -> TableStream:
        """Return the column names and the rows, every cell as text."""
        header = tuple(str(column) for column in self._frame.columns)
        return TableStream(self.name, header, self._rows(), size=len(self._frame))

    def _rows(self) -> Iterator[tuple[int, Sequence[str]]]:
        rows = self._frame.itertuples(index=False, name=None)
        return ((number, tuple(map(_text, row))) for number, row in enumerate(rows, 1))


@contextmanager
def frame_project(
    pages: "DataFrame", links: "DataFrame | None" = None, queries: "DataFrame | None" = None
) -> Iterator[Project]:
    """Make a project of DataFrames, with default settings and a cache that lasts as long as the block.

    Args:
        pages: as files/urls_rawdata.csv: URL, Title, Main Content, ...
        links: as files/existing_links.csv: Source, Destination, Anchor; None: no links are known.
        queries: as files/main_queries.csv: URL, Main Query; None: no queries are known.

    Raises:
        ConfigurationError: an environment variable has a wrong value for a setting.
    """
    given = {"urls_rawdata.csv": pages, "existing_links.csv": links, "main_queries.csv": queries}
    tables: dict[str, StreamSource] = {
        name: FrameTable(frame, name.removesuffix(".csv"))
        for name, frame in given.items()
        if frame is not None
    }
    with TemporaryDirectory(prefix="internal-linker-", ignore_cleanup_errors=True) as folder:
        root = Path(folder)
        (root / "files").mkdir()
        settings = load_settings(root).model_copy(update=_SETTINGS)
        yield Project(settings, root, read_exclusions(root / EXCLUSIONS_FILE, settings.hosts), tables)


def _text(cell: Any) -> str:
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return ""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))  # pandas turns whole numbers with gaps into floats: a status of 200.0
    text = str(cell)
    return "" if text in ("<NA>", "NaT") else text
