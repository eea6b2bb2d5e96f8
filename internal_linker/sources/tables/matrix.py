"""The full matrix of similarities as a .csv, .npy or .parquet file, written tile by tile."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from internal_linker.model.arrays import Vectors
from internal_linker.model.cli_commands import installation
from internal_linker.model.errors import ConfigurationError
from internal_linker.sources.tables.csv_writer import decimal, write_rows
from internal_linker.store.files.atomic import (
    ReplaceBinary,
    ReplaceWhole,
    remarks_on,
    replace_binary,
    replace_whole,
)


class MatrixNpy:
    """The matrix as NAME.npy, (n, n) float32 little-endian; NAME.urls.txt beside it has each row's URL."""

    def __init__(self, path: Path, write_whole: ReplaceBinary = replace_binary) -> None:
        self.path, self._write_whole = path, write_whole

    def write(self, urls: Sequence[str], tiles: Iterable[Vectors]) -> list[str]:
        """Replace the file with (r, n) similarities each, all rows in order; return sentences on what was unusual.

        Raises:
            OutputError: the file can't be written; an earlier file stays unchanged.
        """
        shape = {"descr": "<f4", "fortran_order": False, "shape": (len(urls), len(urls))}

        def body(file: BinaryIO) -> None:
            np.lib.format.write_array_header_1_0(file, shape)
            for tile in tiles:
                file.write(np.ascontiguousarray(tile, "<f4").data)

        def lines(file: BinaryIO) -> None:
            file.writelines(f"{url}\n".encode("utf-8", "replace") for url in urls)

        names = self.path.with_suffix(".urls.txt")
        remarks = remarks_on(self.path, self._write_whole(self.path, body))
        return remarks + remarks_on(names, self._write_whole(names, lines))


class MatrixParquet:
    """The matrix as NAME.parquet: one row per page with `url` and `similarity`, a list of n float32 in row order.

    Raises:
        ConfigurationError: pyarrow is not installed.
    """

    def __init__(self, path: Path, write_whole: ReplaceBinary = replace_binary) -> None:
        self.path, self._write_whole = path, write_whole
        self._arrow, self._parquet = _pyarrow()

    def write(self, urls: Sequence[str], tiles: Iterable[Vectors]) -> list[str]:
        """Replace the file as `MatrixNpy.write` does."""
        arrow = self._arrow
        schema = arrow.schema(
            [("url", arrow.string()), ("similarity", arrow.list_(arrow.float32(), len(urls)))]
        )

        def body(file: BinaryIO) -> None:
            done = 0
            with self._parquet.ParquetWriter(file, schema) as writer:
                for tile in tiles:
                    part = arrow.array(list(urls[done : done + len(tile)]), arrow.string())
                    flat = arrow.array(np.ascontiguousarray(tile, np.float32).ravel())
                    lists = arrow.FixedSizeListArray.from_arrays(flat, len(urls))
                    writer.write_table(arrow.Table.from_arrays([part, lists], schema=schema))
                    done += len(tile)

        return remarks_on(self.path, self._write_whole(self.path, body))


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise ConfigurationError(
            "--full-matrix parquet requires the package `pyarrow`. Use --full-matrix npy, or install it: "
            f"{installation('parquet')}"
        ) from None
    return pyarrow, pyarrow.parquet


class MatrixCsv:
    """The matrix as CSV: URLs in the first row and column, similarities with four decimals."""

    def __init__(self, path: Path, write_whole: ReplaceWhole = replace_whole) -> None:
        self.path, self._write_whole = path, write_whole

    def write(self, urls: Sequence[str], tiles: Iterable[Vectors]) -> list[str]:
        """Replace the file with (r, n) similarities each, all rows in order; return sentences on what was unusual.

        Raises:
            OutputError: the file can't be written; an earlier file stays unchanged.
        """
        figures = (row for tile in tiles for row in tile.tolist())
        rows = ([url, *map(decimal, row)] for url, row in zip(urls, figures, strict=True))
        return write_rows(self.path, ["", *urls], rows, self._write_whole)


# Columns that spreadsheet programs and people can handle; 2,000 pages make 28 MB.
MOST_CSV = 2_000
MATRIX_FORMS = {"csv": MatrixCsv, "npy": MatrixNpy, "parquet": MatrixParquet}


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
    """Write (r, n) float32 similarities each, all rows in order; return the file's name and what was unusual.

    Raises:
        OutputError: it can't be written.
    """
    path = files / f"similarity.{form}"
    return path.name, MATRIX_FORMS[form](path).write(urls, tiles)
