"""Vectors from a file: a CSV table, a Parquet file, or a NumPy array with a list of URLs."""

import hashlib
import re
from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from internal_linker.match.encoders import EncoderRequest, register_encoder
from internal_linker.model.arrays import Vectors
from internal_linker.model.canonical_hosts import CanonicalHosts
from internal_linker.model.cli_commands import needs_extra
from internal_linker.model.errors import ConfigurationError, InputError
from internal_linker.model.ports import StreamSource
from internal_linker.model.records import EncodedBatch, Text, Usage
from internal_linker.model.sequences import counted
from internal_linker.model.urls import NormalForms
from internal_linker.sources.tables.columns import Kind, columns_of, find_column, fold_header
from internal_linker.sources.tables.csv_reader import CsvTable
from internal_linker.store.files.plain_text import shortened

Row = tuple[int, str, NDArray[np.float64]]
"""The row's number in the file, its URL as written, and its vector (d,), empty if the row has none."""

# More dimensions are not an embedding, and more numbers would take over 4 GB.
MOST_DIMENSIONS, MOST_NUMBERS = 65_536, 1_000_000_000


@dataclass(frozen=True, slots=True)
class FileVectors:
    """The vectors of a file."""

    rows: Mapping[str, int]  # each page's row in `vectors`, by the page's key in any form of its host
    vectors: Vectors  # (n, d) float32 unit rows; a row whose URL has a later row is unused
    remarks: Sequence[str]  # what was unusual, one sentence each

    @property
    def digest(self) -> str:
        """The hexadecimal hash of the pages and their vectors."""
        mark = hashlib.sha256("\n".join(self.rows).encode())
        mark.update(self.vectors[list(self.rows.values())].tobytes())
        return mark.hexdigest()


class PageRows(Mapping[str, int]):
    """The rows of pages by their keys, in any form of their hosts; they are given by `CanonicalHosts.identity`."""

    def __init__(self, rows: Mapping[str, int], hosts: CanonicalHosts) -> None:
        self._rows, self._hosts = rows, hosts

    def __getitem__(self, key: str) -> int:
        return self._rows[self._hosts.identity(key)]

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)


def gathered(rows: Iterable[Row], name: str, hosts: CanonicalHosts | None = None) -> FileVectors:
    """Collect the vectors of a file, row by row.

    Raises:
        InputError: a row has an invalid vector, or no row has any.
    """
    hosts = hosts or CanonicalHosts()
    forms, places, numbers = NormalForms(of=hosts.identity), dict[str, int](), array("f")
    length = repeated = without_url = empty = 0
    for number, url, vector in rows:
        key = forms[url]
        if not key:
            without_url += 1
        elif not vector.any():
            empty += 1
        else:
            length = length or len(vector)
            unit = _unit(vector, length, f"{name}, row {number} ({shortened(url)})")
            repeated += key in places
            places[key] = len(numbers) // length
            numbers.frombytes(unit.tobytes())
            if len(numbers) > MOST_NUMBERS:
                raise InputError(
                    f"{name} has more than {MOST_NUMBERS:,} numbers: use vectors with fewer dimensions."
                )
    if not places:
        raise InputError(f"{name} contains no page vectors: each row needs a URL with https:// and a vector.")
    vectors = np.frombuffer(numbers, np.float32).reshape(-1, length)
    return FileVectors(PageRows(places, hosts), vectors, [*_remarks(name, repeated, without_url, empty)])


def _unit(vector: NDArray[np.float64], length: int, where: str) -> NDArray[np.float32]:
    if len(vector) != length:
        raise InputError(
            f"{where}: the vector has {len(vector)} dimensions, earlier rows have {length}. All must have the same."
        )
    if length > MOST_DIMENSIONS:
        raise InputError(
            f"{where}: {length:,} dimensions are too many for an embedding (at most {MOST_DIMENSIONS:,})."
        )
    if not np.isfinite(vector).all():
        raise InputError(f"{where}: a number is missing or infinite. Compute the vector again.")
    # Squares of huge or tiny numbers would overflow or vanish.
    scaled = vector / np.abs(vector).max()
    unit: NDArray[np.float32] = (scaled / np.linalg.norm(scaled)).astype(np.float32)
    return unit


def _remarks(name: str, repeated: int, without_url: int, empty: int) -> Iterable[str]:
    if repeated:
        yield f"{name}: {counted(repeated, 'row')} for a page that has one already; the last vector of a page is used."
    if without_url:
        yield f"{name}: {counted(without_url, 'row')} left out, without a full URL."
    if empty:
        yield f"{name}: {counted(empty, 'row')} left out, without a vector."


# Names of vector columns: ours, and those of crawlers ("Extract embeddings from page content 1").
_NAMES = re.compile(r"\b(embeddings?|vectors?)\b")
# Rows of a Parquet file to unpack at a time.
_ROWS = 256
# Maximum characters of a number and its separator; JSON writes 25.
_LONGEST_NUMBER = 32
# Maximum bytes of a URL: a larger file is not a list of URLs.
_LONGEST_URL = 8192 * 4
_NUMBERS = NDArray[np.float64]


def table_rows(table: StreamSource) -> Iterator[Row]:
    """Yield the rows of a table with a URL and a vector: a JSON list, or numbers separated by commas or spaces.

    Raises:
        InputError: the table can't be read or lacks a column, or a cell has anything else.
    """
    stream = table.stream()
    at = columns_of(stream, [Kind.URL])[Kind.URL]
    named = (column for column, name in enumerate(stream.header) if _NAMES.search(fold_header(name)))
    numbers = next((column for column in named if column != at), None)
    if numbers is None:
        raise InputError(
            f"{table.name}: the header row has no column 'Embedding'. Give the column with the vectors this name."
        )
    for row, cells in stream.rows:
        url, cell = (cells[column] if column < len(cells) else "" for column in (at, numbers))
        yield row, url, _parsed(cell, f"{table.name}, row {row} ({shortened(url)})")


def _parsed(cell: str, where: str) -> _NUMBERS:
    if len(cell) > MOST_DIMENSIONS * _LONGEST_NUMBER:
        raise InputError(
            f"{where}: the cell is too long for an embedding ({len(cell):,} characters). Correct or remove the row."
        )
    bare = cell.strip().removeprefix("[").removesuffix("]")
    try:
        return np.array(bare.replace(",", " ").split(), np.float64)
    except ValueError:
        raise InputError(
            f"{where}: '{shortened(bare, 30)}' is not a list of numbers such as [0.12, -0.03]. "
            "Correct or remove the row."
        ) from None


def parquet_rows(path: Path, name: str) -> Iterator[Row]:
    """Yield the rows of a Parquet file with a URL and a list of numbers, or one column per dimension.

    Raises:
        ConfigurationError: the package `pyarrow` is not installed.
        InputError: the file can't be read or lacks a column.
    """
    with needs_extra("parquet", name):
        arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    try:
        with path.open("rb") as raw, parquet.ParquetFile(raw) as file:
            yield from _unpacked(file, arrow, name)
    except (arrow.ArrowException, OSError, ValueError, NotImplementedError, MemoryError) as error:
        raise InputError(f"{name} can't be read ({_reason(error)}). Export it again.") from None


def _unpacked(file: Any, arrow: Any, name: str) -> Iterator[Row]:
    schema, number = file.schema_arrow, count(1)
    url = find_column(schema.names, Kind.URL)
    lists = [each.name for each in schema if _holds_numbers(each.type, arrow)]
    wide = [each.name for each in schema if arrow.types.is_floating(each.type)]
    if url is None or not (lists or len(wide) > 1):
        there = shortened(", ".join(schema.names), 200)
        raise InputError(
            f"{name} needs a column 'url' and a column 'embedding' with lists of numbers (it has: {there})."
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
    """Yield one vector per row, an empty one if the row has none."""
    compute = import_module("pyarrow.compute")
    lengths = compute.fill_null(compute.list_value_length(column), 0).to_numpy(zero_copy_only=False)
    yield from np.split(_plain(compute.list_flatten(column)), np.cumsum(lengths)[:-1])


def _plain(column: Any) -> _NUMBERS:
    """Return the column's numbers; a missing one is NaN."""
    numbers: _NUMBERS = column.to_numpy(zero_copy_only=False).astype(np.float64)
    return numbers


def _refuse_bombs(file: Any, chosen: Sequence[str], name: str) -> None:
    """Reject a file that unpacks to too much: a few bytes can encode millions of equal numbers."""
    # On a damaged file the scan raises an error, while reading its metadata could crash the process.
    file.scan_contents(chosen)
    paths = [file.schema.column(at).path.partition(".")[0] for at in range(len(file.schema))]
    for group in map(file.metadata.row_group, range(file.num_row_groups)):
        held = sum(group.column(at).num_values for at, path in enumerate(paths) if path in chosen)
        if held > min(MOST_NUMBERS, group.num_rows * MOST_DIMENSIONS):
            raise InputError(
                f"{name} unpacks to {held:,} numbers in {group.num_rows:,} rows: too many for embeddings."
            )


def array_rows(path: Path, name: str, pages: StreamSource | None) -> Iterator[Row]:
    """Yield the rows of a NumPy array (n, d) and a list of n URLs.

    NAME.urls.txt beside it has the URLs, one per line; without that list the table of pages has them.

    Raises:
        InputError: the array or the list can't be read, or their lengths differ.
    """
    numbers = _mapped(path, name)
    listed = path.with_suffix(".urls.txt")
    urls = _lines(listed, len(numbers)) if listed.exists() else _urls_of(pages)
    if len(urls) != len(numbers):
        where = listed.name if listed.exists() else pages.name if pages else "no table of pages"
        raise InputError(
            f"{name} has {len(numbers)} rows, and {where} has {len(urls)} URLs. "
            f"Write the URLs of the array's rows, one per line, into {listed.name} beside it."
        )
    for at, url in enumerate(urls):
        yield at + 1, url, numbers[at].astype(np.float64)


def _reason(error: BaseException) -> str:
    return shortened(str(error) or type(error).__name__, 100).rstrip(".")


def _mapped(path: Path, name: str) -> NDArray[Any]:
    try:
        # Pickled objects could run code.
        found = np.load(path, mmap_mode="r", allow_pickle=False)
    except Exception as error:  # on a damaged header, Python's own parser may raise anything
        raise InputError(f"{name} can't be read ({_reason(error)}). Save it with numpy.save.") from None
    if not isinstance(found, np.ndarray) or found.ndim != 2 or found.dtype.kind not in "fiu":
        shape = f"{found.dtype} of shape {found.shape}" if isinstance(found, np.ndarray) else "an archive"
        raise InputError(f"{name} must be one array of numbers with a row per page; it is {shape}.")
    return found


def _lines(path: Path, wanted: int) -> Sequence[str]:
    try:
        if path.stat().st_size > (wanted + 1) * _LONGEST_URL:
            raise InputError(f"{path.name} is too large for a list of {wanted} URLs: check the file.")
        return path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path.name} can't be read ({_reason(error)}). Save it as UTF-8 text.") from None


def _urls_of(pages: StreamSource | None) -> Sequence[str]:
    if pages is None:
        return ()
    stream = pages.stream()
    at = columns_of(stream, [Kind.URL])[Kind.URL]
    return [cells[at] if at < len(cells) else "" for _, cells in stream.rows]


# Vectors copied at a time: 12 MB at 1,536 dimensions.
_PAGES_A_BATCH = 2_000


class VectorFile:
    """Implements `ports.Encoder` for pages that have a vector in a file.

    A change of the file changes `model`, but neither the name nor the recipe: usually the file has new pages and
    vectors of the same kind, and the similarities show whether links drifted.
    """

    corpus_bound = True
    languages: frozenset[str] = frozenset()

    def __init__(self, name: str, given: FileVectors) -> None:
        self._given = given
        self.name, self.model, self.dimensions = f"file/{name}", given.digest, given.vectors.shape[1]
        self.recipe = f"given/{self.dimensions}"

    @property
    def pages(self) -> Collection[str]:
        """Normal forms of the pages that have a vector."""
        return self._given.rows

    @property
    def remarks(self) -> Sequence[str]:
        """What was unusual in the file, one sentence each."""
        return self._given.remarks

    @property
    def facts(self) -> str:
        """A description of the file for `check`."""
        return f"{self.name} has vectors of {len(self.pages)} pages with {self.dimensions} dimensions"

    def encode(self, texts: Sequence[Text]) -> Iterator[EncodedBatch]:
        """Yield (len, d) float32 unit vectors, in order; each text belongs to one of `pages`."""
        for first in range(0, len(texts), _PAGES_A_BATCH):
            places = range(first, min(first + _PAGES_A_BATCH, len(texts)))
            yield EncodedBatch(
                places, self._given.vectors[[self._given.rows[texts[at].key] for at in places]]
            )

    def estimate(self, texts: Sequence[Text]) -> Usage:
        """Return a usage of zero: the vectors exist."""
        return Usage()


def vector_file(root: Path, name: str, hosts: CanonicalHosts | None = None) -> VectorFile:
    """Read the vectors of a .csv, .parquet or .npy file in the project's folder.

    Raises:
        ConfigurationError: the file has another format, or the package that reads it is not installed.
        InputError: the file is missing, can't be read, or has something that isn't a vector.
    """
    path = root / name
    if path.suffix.lower() not in (".csv", ".parquet", ".npy"):
        raise ConfigurationError(f"embedding_provider: {name} must be a .csv, .parquet or .npy file.")
    if not path.is_file():
        raise InputError(f"{name} not found: check the path in embedding_provider.")
    match path.suffix.lower():
        case ".csv":
            rows = table_rows(CsvTable(path, name))
        case ".parquet":
            rows = parquet_rows(path, name)
        case _:
            pages = root / "files/urls_rawdata.csv"
            rows = array_rows(
                path, name, CsvTable(pages, "files/urls_rawdata.csv") if pages.exists() else None
            )
    return VectorFile(path.name, gathered(rows, name, hosts))


def _vector_file(request: EncoderRequest) -> VectorFile:
    made = vector_file(request.root, request.argument, request.hosts)
    request.notices.extend(made.remarks)
    return made


register_encoder("file", "your own vectors", _vector_file, argument=":PATH", step="Vectors")
