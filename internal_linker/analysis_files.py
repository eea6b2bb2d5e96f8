"""A project's files/ -> the places where the results of an analysis are written."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from internal_linker.arrays import Vectors
from internal_linker.cluster_records import SiteClusters
from internal_linker.errors import ConfigurationError
from internal_linker.services.cluster_report.report import ClustersHtml
from internal_linker.services.csv_files.results import MatrixCsv, ResultCsv
from internal_linker.services.matrix_files import MatrixNpy, MatrixParquet
from internal_linker.services.results_xlsx import ResultsXlsx
from internal_linker.worksheets import Sheet

# Columns that a spreadsheet program and a person can still take; 2,000 pages are 28 MB.
MOST_CSV = 2_000
MATRIX_FORMS = {"csv": MatrixCsv, "npy": MatrixNpy, "parquet": MatrixParquet}


def write_tables(
    files: Path, tables: Mapping[str, Sheet], workbook: str, sheets: Sequence[Sheet]
) -> list[str]:
    """Write each table as a CSV file by its name, and a workbook of the sheets; the answer says what was unusual.

    Raises:
        OutputError: a file can't be written; it is as it was.
    """
    remarks = [remark for name, table in tables.items() for remark in ResultCsv(files / name).write(table)]
    return remarks + ResultsXlsx(files / workbook).write(sheets)


def write_cluster_page(files: Path, found: SiteClusters) -> tuple[str, Sequence[str]]:
    """Write the clusters as a page for browsers; answers with the file's name and what was unusual.

    Raises:
        OutputError: it can't be written; it is as it was.
    """
    path = files / "clusters.html"
    return path.name, ClustersHtml(path).write(found)


def require_matrix(form: str, pages: int) -> None:
    """See that the similarities of so many pages can be written in this form.

    Raises:
        ConfigurationError: the form is unknown, or can't hold so many.
    """
    if form not in MATRIX_FORMS:
        raise ConfigurationError(f"--full-matrix {form}: take {', '.join(MATRIX_FORMS)}.")
    if form == "csv" and pages > MOST_CSV:
        raise ConfigurationError(
            f"--full-matrix csv: {pages:,} pages make {pages**2:,} figures; above {MOST_CSV:,} pages "
            "take npy or parquet."
        )


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
        ConfigurationError: the form needs a package.
        OutputError: it can't be written.
    """
    path = files / f"similarity.{form}"
    return path.name, MATRIX_FORMS[form](path).write(urls, tiles)
