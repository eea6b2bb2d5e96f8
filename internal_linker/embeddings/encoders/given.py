"""Rows of a file, each a URL and its numbers -> one unit vector a page, or a sentence on what is wrong with a row."""

import hashlib
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from internal_linker.adapters.files.plain_text import shortened
from internal_linker.core.arrays import Vectors
from internal_linker.core.errors import InputError
from internal_linker.core.urls import NormalForms

Row = tuple[int, str, NDArray[np.float64]]
"""Its number in the file, the URL as it is written, and (d,) numbers; none where the row has no vector."""

# A vector of more is no embedding, and memory ends somewhere: 4 GB.
MOST_DIMENSIONS, MOST_NUMBERS = 65_536, 1_000_000_000


@dataclass(frozen=True, slots=True)
class Given:
    """The vectors of a file.

    Attributes:
        rows: normal form of each page -> its row in `vectors`.
        vectors: (n, d) float32 rows of length one; a row whose URL comes again later belongs to no page.
        remarks: what was unusual, one sentence each.
    """

    rows: Mapping[str, int]
    vectors: Vectors
    remarks: Sequence[str]

    @property
    def digest(self) -> str:
        """Hexadecimal: equal where the pages and their vectors are."""
        mark = hashlib.sha256("\n".join(self.rows).encode())
        mark.update(self.vectors[list(self.rows.values())].tobytes())
        return mark.hexdigest()


def gathered(rows: Iterable[Row], name: str) -> Given:
    """Take all rows in, one at a time.

    Args:
        rows: of the file.
        name: what messages call it.

    Raises:
        InputError: a row holds what is no vector, or there is none at all.
    """
    forms, places, numbers = NormalForms(), dict[str, int](), array("f")
    length = again = nowhere = empty = 0
    for number, url, vector in rows:
        key = forms[url]
        if not key:
            nowhere += 1
        elif not vector.any():
            empty += 1
        else:
            length = length or len(vector)
            unit = _unit(vector, length, f"{name}, row {number} ({shortened(url)})")
            again += key in places
            places[key] = len(numbers) // length
            numbers.frombytes(unit.tobytes())
            if len(numbers) > MOST_NUMBERS:
                raise InputError(f"{name} holds more than {MOST_NUMBERS:,} numbers: give shorter vectors.")
    if not places:
        raise InputError(
            f"{name} holds no vector of a page: each row needs a URL with https:// and its numbers."
        )
    vectors = np.frombuffer(numbers, np.float32).reshape(-1, length)
    return Given(places, vectors, [*_remarks(name, again, nowhere, empty)])


def _unit(vector: NDArray[np.float64], length: int, where: str) -> NDArray[np.float32]:
    if len(vector) != length:
        raise InputError(
            f"{where}: {len(vector)} numbers, and {length} in the rows before. All must have the same."
        )
    if length > MOST_DIMENSIONS:
        raise InputError(f"{where}: {length:,} numbers are no embedding ({MOST_DIMENSIONS:,} at the most).")
    if not np.isfinite(vector).all():
        raise InputError(f"{where}: a number is missing or infinite. Make the vector anew.")
    # Squares of huge or tiny numbers would be infinite or nothing.
    scaled = vector / np.abs(vector).max()
    unit: NDArray[np.float32] = (scaled / np.linalg.norm(scaled)).astype(np.float32)
    return unit


def _remarks(name: str, again: int, nowhere: int, empty: int) -> Iterable[str]:
    if again:
        yield f"{name}: {again} rows are of a page that stood before; the last vector of a page counts."
    if nowhere:
        yield f"{name}: {nowhere} rows are left out, for they have no full URL."
    if empty:
        yield f"{name}: {empty} rows are left out, for they have no vector."
