"""Stored links as a file to download: CSV or an Excel workbook."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from internal_linker.adapters.tables.csv_writer import ResultCsv
from internal_linker.adapters.tables.xlsx_writer import Cell, Column, ResultsXlsx, Sheet
from internal_linker.core.edges import TIER_NAMES
from internal_linker.usecases.link_lists import LinkRow, OnSite

Format = Literal["xlsx", "csv"]
ON_SITE: Mapping[OnSite, str] = {
    "": "",
    "missing": "not yet",
    "undone": "taken back",
    "applied": "applied",
    "live": "live",
}
_COLUMNS = (
    *(Column("Source", 40, "link"), Column("Source Title", 40), Column("Target", 40, "link")),
    *(
        Column("Target Title", 40),
        Column("Anchor", 30),
        Column("Score"),
        Column("Tier", 14),
        Column("Status"),
        Column("On the Site"),
    ),
    *(Column("Origin"), Column("Source Section", 16), Column("Who", 16), Column("When", 20)),
    *(Column("Notes", 40, "text"), Column("Link Id", 22)),
)


def write_links(rows: Sequence[LinkRow], file: Path, kind: Format) -> None:
    """Write links into a file.

    Raises:
        OutputError: the file can't be written.
    """
    sheet = Sheet("Links", _COLUMNS, [*map(_cells, rows)])
    if kind == "csv":
        ResultCsv(file).write(sheet)
    else:
        ResultsXlsx(file).write([sheet])


def _cells(row: LinkRow) -> Sequence[Cell]:
    score = "" if row.score is None else row.score
    told = (row.source_url, row.source_title, row.target_url, row.target_title, row.anchor)
    state = (score, TIER_NAMES[row.tier], row.status, ON_SITE[row.on_site], row.origin, row.section)
    return (*told, *state, row.by, row.at, row.notes, row.id)
