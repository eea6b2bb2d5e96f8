"""A project's files/ -> the places where the results of an analysis are written."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from internal_linker.adapters.tables.csv_writer import ResultCsv
from internal_linker.adapters.tables.matrix import MatrixCsv, MatrixNpy, MatrixParquet
from internal_linker.adapters.tables.xlsx_writer import Cell, ResultsXlsx, Sheet
from internal_linker.analysis.similarity.cluster_records import PageMap, SiteClusters
from internal_linker.analysis.similarity.report.html import ClustersHtml
from internal_linker.core.arrays import Vectors
from internal_linker.core.errors import ConfigurationError
from internal_linker.core.sequences import Lazy

# Columns that a spreadsheet program and a person can still take; 2,000 pages are 28 MB.
MOST_CSV = 2_000
# Rows that are written before a bar moves.
_HANDFUL = 500
MATRIX_FORMS = {"csv": MatrixCsv, "npy": MatrixNpy, "parquet": MatrixParquet}


def write_tables(
    files: Path,
    tables: Mapping[str, Sheet],
    workbook: str,
    sheets: Sequence[Sheet],
    advance: Callable[[int], None],
) -> list[str]:
    """Write each table as a CSV file by its name, and a workbook of the sheets; the answer says what was unusual.

    Args:
        files: the folder.
        tables: by the names of their files.
        workbook: the name of its file.
        sheets: what it holds.
        advance: is told how many more rows are written, of all that `rows_of` counts.

    Raises:
        OutputError: a file can't be written; it is as it was.
    """
    remarks = list[str]()
    for name, table in tables.items():
        remarks += ResultCsv(files / name).write(_told(table, advance))
    return remarks + ResultsXlsx(files / workbook).write([_told(sheet, advance) for sheet in sheets])


def rows_of(tables: Iterable[Sheet]) -> int:
    """The rows of all of these."""
    return sum(len(table.rows) for table in tables)


def _told(table: Sheet, advance: Callable[[int], None]) -> Sheet:
    """The table, which tells when a handful of its rows is taken."""

    def row(at: int) -> Sequence[Cell]:
        if (at + 1) % _HANDFUL == 0:
            advance(_HANDFUL)
        return table.rows[at]

    return replace(table, rows=Lazy(len(table.rows), row))


def write_cluster_page(files: Path, found: SiteClusters, page_map: PageMap) -> tuple[str, Sequence[str]]:
    """Write the clusters as a page for browsers; answers with the file's name and what was unusual.

    Raises:
        OutputError: it can't be written; it is as it was.
    """
    path = files / "clusters.html"
    return path.name, ClustersHtml(path).write(found, page_map)


def require_matrix(form: str, pages: int = 0) -> None:
    """See that the similarities of so many pages can be written in this form.

    Raises:
        ConfigurationError: the form is unknown, needs a package, or can't hold so many.
    """
    if form not in MATRIX_FORMS:
        raise ConfigurationError(f"--full-matrix {form}: take {', '.join(MATRIX_FORMS)}.")
    if form == "csv" and pages > MOST_CSV:
        raise ConfigurationError(
            f"--full-matrix csv: {pages:,} pages make {pages**2:,} figures; above {MOST_CSV:,} pages "
            "take npy or parquet."
        )
    MATRIX_FORMS[form](Path())


def write_matrix(
    files: Path, form: str, urls: Sequence[str], tiles: Iterable[Vectors]
) -> tuple[str, list[str]]:
    """Write the similarities of all pages, a tile at a time; answers with the file's name and remarks.

    Args:
        files: the folder.
        form: "csv", "npy" or "parquet".
        urls: n of them.
        tiles: (r, n) float32 each, all rows in their order.

    Raises:
        OutputError: it can't be written.
    """
    path = files / f"similarity.{form}"
    return path.name, MATRIX_FORMS[form](path).write(urls, tiles)
