"""A file of vectors -> its rows: of a CSV table, a Parquet file, or a NumPy array beside a list of URLs."""

import re
from collections.abc import Iterator, Sequence
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from internal_linker.adapters.files.plain_text import shortened
from internal_linker.adapters.tables.columns import Kind, columns_of, find_column, fold_header
from internal_linker.core.errors import ConfigurationError, InputError
from internal_linker.core.ports import StreamSource
from internal_linker.embeddings.encoders.given import MOST_DIMENSIONS, MOST_NUMBERS, Row

# Columns of this name hold the vector: ours, and those of crawlers ("Extract embeddings from page content 1").
_NAMES = re.compile(r"\b(embeddings?|vectors?)\b")
# Rows of a Parquet file that are unpacked at a time.
_ROWS = 256
# Characters that a number and its separator can have; JSON writes 25.
_LONGEST_NUMBER = 32
# Bytes that a URL can have; a list of URLs with more is none.
_LONGEST_URL = 8192 * 4
_NUMBERS = NDArray[np.float64]


def table_rows(table: StreamSource) -> Iterator[Row]:
    """Of a table with a URL and, in one cell, the numbers: a JSON list, or separated by commas or spaces.

    Raises:
        InputError: the table can't be read, lacks a column, or a cell holds anything else.
    """
    stream = table.stream()
    at = columns_of(stream, [Kind.URL])[Kind.URL]
    named = (column for column, name in enumerate(stream.header) if _NAMES.search(fold_header(name)))
    numbers = next((column for column in named if column != at), None)
    if numbers is None:
        raise InputError(
            f"{table.name}: the header row has no column 'Embedding'. Name the one with the numbers so."
        )
    for row, cells in stream.rows:
        url, cell = (cells[column] if column < len(cells) else "" for column in (at, numbers))
        yield row, url, _parsed(cell, f"{table.name}, row {row} ({shortened(url)})")


def _parsed(cell: str, where: str) -> _NUMBERS:
    if len(cell) > MOST_DIMENSIONS * _LONGEST_NUMBER:
        raise InputError(
            f"{where}: {len(cell):,} characters are no embedding. Correct the row or leave it out."
        )
    bare = cell.strip().removeprefix("[").removesuffix("]")
    try:
        return np.array(bare.replace(",", " ").split(), np.float64)
    except ValueError:
        raise InputError(
            f"{where}: '{shortened(bare, 30)}' is no list of numbers, as in [0.12, -0.03]. "
            "Correct the row or leave it out."
        ) from None


def parquet_rows(path: Path, name: str) -> Iterator[Row]:
    """Of a Parquet file with a URL and a list of numbers, or a column for each number.

    Args:
        path: the file.
        name: what messages call it.

    Raises:
        ConfigurationError: the package that reads it is not installed.
        InputError: it can't be read or lacks a column.
    """
    try:
        arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError as error:
        raise ConfigurationError(
            f"{name} takes a package that can't be loaded ({error}). Install it into the project's own Python "
            "(in the folder .venv): python -m pip install pyarrow"
        ) from None
    try:
        with path.open("rb") as raw, parquet.ParquetFile(raw) as file:
            yield from _unpacked(file, arrow, name)
    except (arrow.ArrowException, OSError, ValueError, NotImplementedError, MemoryError) as error:
        raise InputError(f"{name} can't be read ({_reason(error)}). Write it anew.") from None


def _unpacked(file: Any, arrow: Any, name: str) -> Iterator[Row]:
    schema, number = file.schema_arrow, count(1)
    url = find_column(schema.names, Kind.URL)
    lists = [each.name for each in schema if _holds_numbers(each.type, arrow)]
    wide = [each.name for each in schema if arrow.types.is_floating(each.type)]
    if url is None or not (lists or len(wide) > 1):
        there = shortened(", ".join(schema.names), 200)
        raise InputError(
            f"{name} needs a column 'url' and one 'embedding' with lists of numbers (it has: {there})."
        )
    chosen = lists[:1] or wide
    _refuse_bombs(file, chosen, name)
    for batch in file.iter_batches(_ROWS, columns=[schema.names[url], *chosen]):
        urls, columns = batch.column(schema.names[url]), [batch.column(each) for each in chosen]
        vectors = _split(columns[0], arrow) if lists else np.column_stack([_plain(each) for each in columns])
        for at, vector in enumerate(vectors):
            yield next(number), str(urls[at].as_py() or ""), vector


def _holds_numbers(kind: Any, arrow: Any) -> bool:
    types = arrow.types
    is_list = types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)
    return bool(is_list and (types.is_floating(kind.value_type) or types.is_integer(kind.value_type)))


def _split(column: Any, arrow: Any) -> Iterator[_NUMBERS]:
    """One vector a row; an empty one where the row has none."""
    compute = import_module("pyarrow.compute")
    lengths = compute.fill_null(compute.list_value_length(column), 0).to_numpy(zero_copy_only=False)
    yield from np.split(_plain(compute.list_flatten(column)), np.cumsum(lengths)[:-1])


def _plain(column: Any) -> _NUMBERS:
    """What is missing is no number."""
    numbers: _NUMBERS = column.to_numpy(zero_copy_only=False).astype(np.float64)
    return numbers


def _refuse_bombs(file: Any, chosen: Sequence[str], name: str) -> None:
    """A few bytes can stand for millions of equal numbers."""
    # It fails in an orderly way where a damaged file's metadata would end the whole process.
    file.scan_contents(chosen)
    paths = [file.schema.column(at).path.partition(".")[0] for at in range(len(file.schema))]
    for group in map(file.metadata.row_group, range(file.num_row_groups)):
        held = sum(group.column(at).num_values for at, path in enumerate(paths) if path in chosen)
        if held > min(MOST_NUMBERS, group.num_rows * MOST_DIMENSIONS):
            raise InputError(
                f"{name} unpacks to {held:,} numbers in {group.num_rows:,} rows: that is no embedding."
            )


def array_rows(path: Path, name: str, pages: StreamSource | None) -> Iterator[Row]:
    """Of a NumPy array (n, d) and a list of n URLs.

    Args:
        path: the array; the URLs stand one a line in NAME.urls.txt beside it.
        name: what messages call it.
        pages: the table whose rows they are where there is no such list.

    Raises:
        InputError: array or list can't be read, or one is longer than the other.
    """
    numbers = _mapped(path, name)
    listed = path.with_suffix(".urls.txt")
    urls = _lines(listed, len(numbers)) if listed.exists() else _urls_of(pages)
    if len(urls) != len(numbers):
        where = listed.name if listed.exists() else pages.name if pages else "no table of pages"
        raise InputError(
            f"{name} has {len(numbers)} rows, and {where} has {len(urls)} URLs. "
            f"Write the URLs of its rows, one a line, into {listed.name} beside it."
        )
    for at, url in enumerate(urls):
        yield at + 1, url, numbers[at].astype(np.float64)


def _reason(error: BaseException) -> str:
    return shortened(str(error) or type(error).__name__, 100).rstrip(".")


def _mapped(path: Path, name: str) -> NDArray[Any]:
    try:
        # Pickled objects could run code.
        found = np.load(path, mmap_mode="r", allow_pickle=False)
    except Exception as error:  # a damaged header fails in Python's own parser, in any of its ways
        raise InputError(f"{name} can't be read ({_reason(error)}). Save it by numpy.save.") from None
    if not isinstance(found, np.ndarray) or found.ndim != 2 or found.dtype.kind not in "fiu":
        shape = f"{found.dtype} of shape {found.shape}" if isinstance(found, np.ndarray) else "an archive"
        raise InputError(f"{name} must hold one array of numbers, a row a page; it is {shape}.")
    return found


def _lines(path: Path, wanted: int) -> Sequence[str]:
    try:
        if path.stat().st_size > (wanted + 1) * _LONGEST_URL:
            raise InputError(f"{path.name} is too large for a list of {wanted} URLs.")
        return path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path.name} can't be read ({_reason(error)}). Save it as UTF-8 text.") from None


def _urls_of(pages: StreamSource | None) -> Sequence[str]:
    if pages is None:
        return ()
    stream = pages.stream()
    at = columns_of(stream, [Kind.URL])[Kind.URL]
    return [cells[at] if at < len(cells) else "" for _, cells in stream.rows]
