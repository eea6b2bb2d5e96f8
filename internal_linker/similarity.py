"""What is known of pages, field by field -> how similar any of them are: tile by tile, never all pairs at once."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from internal_linker.arrays import Bools, Ints, Vectors

# Numbers of a tile of scores: 64 MB.
TILE = 16_000_000
MOST_ROWS = 1024


@dataclass(frozen=True, slots=True)
class Signal:
    """One thing by which pages are compared.

    Attributes:
        field: what it was read from: "title", "h1", "content".
        share: what it counts for, above 0.
        rows: (n, d) float32, dense or sparse; of unit length, or zeros where nothing is known of a page.
    """

    field: str
    share: float
    rows: Vectors | sparse.csr_matrix


class Similarity:
    """The similarity of n pages: the mean of their cosines by the signals that both pages have, weighted; -1 to 1.

    Args:
        signals: one at least, all of n rows.
    """

    def __init__(self, signals: Sequence[Signal]) -> None:
        self.signals = tuple(signals)
        roots = [np.float32(np.sqrt(each.share)) for each in signals]
        parts = [
            (root * each.rows, sparse.issparse(each.rows)) for root, each in zip(roots, signals, strict=True)
        ]
        n = signals[0].rows.shape[0]
        dense = [np.asarray(rows, np.float32) for rows, is_sparse in parts if not is_sparse]
        few = [rows for rows, is_sparse in parts if is_sparse]
        self._dense: Vectors = np.hstack([np.zeros((n, 0), np.float32), *dense])
        self._few = sparse.hstack(few, format="csr", dtype=np.float32) if few else None
        self._turned = self._few.T.tocsr() if self._few is not None else None
        known = [_known(each.rows) for each in signals]
        self._shares: Vectors = np.stack(
            [root * each for root, each in zip(roots, known, strict=True)], axis=1
        )

    def __len__(self) -> int:
        return len(self._dense)

    @property
    def fields(self) -> list[str]:
        """What the pages are compared by, each once."""
        return list(dict.fromkeys(each.field for each in self.signals))

    @property
    def known(self) -> Bools:
        """(n,) of which pages anything is known."""
        return np.asarray((self._shares > 0).any(axis=1))

    def points(self) -> Vectors:
        """(n, d) float32: the dense signals side by side, so that products are their weighted cosines."""
        return self._dense

    def words(self) -> sparse.csr_matrix | None:
        """(n, v) float32: the sparse signals side by side, likewise; None where there is none."""
        return self._few

    def tiles(self, *, upper: bool = False) -> Iterator[tuple[int, int, Vectors]]:
        """Yield the first row, the first column and the (rows, columns) float32 similarities, rows ascending.

        Args:
            upper: leave out the columns before a tile's first row.
        """
        n = len(self)
        height = int(min(MOST_ROWS, max(1, TILE // max(1, n))))
        for start in range(0, n, height):
            first = start if upper else 0
            yield start, first, self._tile(start, min(n, start + height), first)

    def of(self, rows: Ints, others: Ints, field: str = "") -> Vectors:
        """(p,) float32: the similarity of each row with another one; `field`: by this field alone, NaN if unknown."""
        signals = [each for each in self.signals if not field or each.field == field]
        total, shares = np.zeros(len(rows)), np.zeros(len(rows))
        for each in signals:
            known = _known(each.rows)
            total += each.share * _products(each.rows, rows, others)
            shares += each.share * (known[rows] & known[others])
        return np.divide(total, shares, out=np.full(len(rows), np.nan), where=shares > 0).astype(np.float32)

    def _tile(self, start: int, stop: int, first: int) -> Vectors:
        scores: Any = self._dense[start:stop] @ self._dense[first:].T
        if self._few is not None and self._turned is not None:
            turned = self._turned[:, first:] if first else self._turned
            scores += (self._few[start:stop] @ turned).toarray()
        shares = self._shares[start:stop] @ self._shares[first:].T
        tile: Vectors = np.divide(scores, shares, out=scores, where=shares > 0)
        return tile


def _known(rows: Any) -> Bools:
    """(n,) which rows are not zeros."""
    found: Bools = np.diff(rows.indptr) > 0 if sparse.issparse(rows) else (rows != 0).any(axis=1)
    return found


def _products(rows: Any, ours: Ints, others: Ints) -> Vectors:
    """(p,) the products of pairs of rows, some thousand pairs at a time."""
    step = 8192
    found = [np.empty(0, np.float64)]
    for start in range(0, len(ours), step):
        left, right = rows[ours[start : start + step]], rows[others[start : start + step]]
        if sparse.issparse(rows):
            found.append(np.asarray(left.multiply(right).sum(axis=1)).ravel())
        else:
            found.append(np.einsum("ij,ij->i", left, right, dtype=np.float64))
    products: Vectors = np.concatenate(found)
    return products
