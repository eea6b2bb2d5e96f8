"""Writes the results of an analysis to files/: tables, workbooks, similarity matrices and the page of clusters."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from internal_linker.adapters.html.document import ReportFile
from internal_linker.adapters.tables.csv_writer import ResultCsv
from internal_linker.adapters.tables.matrix import MatrixCsv, MatrixNpy, MatrixParquet
from internal_linker.adapters.tables.xlsx_writer import Cell, ResultsXlsx, Sheet
from internal_linker.analysis.similarity.cluster_records import PageMap, SiteClusters
from internal_linker.analysis.similarity.report.html import write_clusters
from internal_linker.core.arrays import Vectors
from internal_linker.core.errors import ConfigurationError
from internal_linker.core.sequences import Lazy

# Columns that spreadsheet programs and people can handle; 2,000 pages make 28 MB.
MOST_CSV = 2_000
# Rows written between two moves of a progress bar.
_ROWS_PER_ADVANCE = 500
MATRIX_FORMS = {"csv": MatrixCsv, "npy": MatrixNpy, "parquet": MatrixParquet}


def write_tables(
    files: Path,
    tables: Mapping[str, Sheet],
    workbook: str,
    sheets: Sequence[Sheet],
    advance: Callable[[int], None],
) -> list[str]:
    """Write each table as a CSV file, and the sheets as one workbook; return what was unusual.

    Args:
        advance: called with the number of further rows written, of those that `rows_of` counts.

    Raises:
        OutputError: a file can't be written; it stays as it was.
    """
    remarks = list[str]()
    for name, table in tables.items():
        remarks += ResultCsv(files / name).write(_reporting(table, advance))
    return remarks + ResultsXlsx(files / workbook).write([_reporting(sheet, advance) for sheet in sheets])


def rows_of(tables: Iterable[Sheet]) -> int:
    """Return the number of rows of all tables."""
    return sum(len(table.rows) for table in tables)


def _reporting(table: Sheet, advance: Callable[[int], None]) -> Sheet:
    """Wrap the table so that it reports progress while its rows are taken."""

    def row(at: int) -> Sequence[Cell]:
        if (at + 1) % _ROWS_PER_ADVANCE == 0:
            advance(_ROWS_PER_ADVANCE)
        return table.rows[at]

    return replace(table, rows=Lazy(len(table.rows), row))


def write_cluster_page(files: Path, found: SiteClusters, page_map: PageMap) -> tuple[str, Sequence[str]]:
    """Write the clusters as a page for browsers; return the file's name and what was unusual.

    Raises:
        OutputError: it can't be written; it stays as it was.
    """
    path = files / "clusters.html"
    return path.name, write_clusters(ReportFile(path), found, page_map)


def require_matrix(form: str, pages: int = 0) -> None:
    """Check that the similarities of so many pages can be written in this format.

    Raises:
        ConfigurationError: the format is unknown, needs a package, or can't hold so many.
    """
    if form not in MATRIX_FORMS:
        raise ConfigurationError(f"--full-matrix {form}: choose one of {', '.join(MATRIX_FORMS)}.")
    if form == "csv" and pages > MOST_CSV:
        raise ConfigurationError(
            f"--full-matrix csv: {pages:,} pages make {pages**2:,} figures; above {MOST_CSV:,} pages "
            "choose npy or parquet."
        )
    MATRIX_FORMS[form](Path())


def write_matrix(
    files: Path, form: str, urls: Sequence[str], tiles: Iterable[Vectors]
) -> tuple[str, list[str]]:
    """Write the similarities of all pages tile by tile; return the file's name and what was unusual.

    Args:
        form: "csv", "npy" or "parquet".
        tiles: (r, n) float32 each, all rows in order.

    Raises:
        OutputError: it can't be written.
    """
    path = files / f"similarity.{form}"
    return path.name, MATRIX_FORMS[form](path).write(urls, tiles)
