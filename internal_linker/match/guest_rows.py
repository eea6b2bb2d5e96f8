"""Arrays and sparse matrices with a few more rows, without a copy of the first ones, which files may hold."""

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from internal_linker.model.arrays import Ints


class GrownArray:
    """An (n, ...) array followed by a (g, ...) one; reads like the joined array, for positions from 0."""

    def __init__(self, first: NDArray[Any], more: NDArray[Any]) -> None:
        self._first, self._more, self._n = first, more, len(first)
        self.shape: tuple[int, ...] = (len(first) + len(more), *first.shape[1:])
        self.dtype = first.dtype

    def __len__(self) -> int:
        return self._n + len(self._more)

    def __getitem__(self, at: Any) -> Any:
        rows, *columns = at if isinstance(at, tuple) else (at,)
        n = self._n
        if isinstance(rows, slice):
            start, stop, step = rows.indices(len(self))
            if stop <= n:
                return self._first[start:stop:step, *columns]
            if start >= n:
                return self._more[start - n : stop - n : step, *columns]
            return np.asarray(self)[rows, *columns]
        if np.ndim(rows) == 0:
            return self._first[rows, *columns] if rows < n else self._more[rows - n, *columns]
        rows = np.flatnonzero(rows) if np.asarray(rows).dtype == np.bool_ else np.asarray(rows)
        late = rows >= n
        if not late.any():
            return self._first[rows, *columns]
        more = self._more[rows[late] - n, *columns]
        found = np.empty((len(rows), *more.shape[1:]), self.dtype)
        found[~late], found[late] = self._first[rows[~late], *columns], more
        return found

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.concatenate([self._first, self._more]).astype(dtype or self.dtype, copy=False)


def as_array(grown: GrownArray) -> NDArray[Any]:
    """Return the same object with the type of an array, for readers of some of its rows."""
    return cast("NDArray[Any]", grown)


class GrownMatrix:
    """An (n, v) sparse matrix followed by a (g, v) one; reads like the joined `csr_matrix`."""

    def __init__(self, first: sparse.csr_matrix, more: sparse.csr_matrix) -> None:
        self._first, self._more = first, more
        self.shape = (first.shape[0] + more.shape[0], first.shape[1])
        self.indptr = np.concatenate([first.indptr, first.indptr[-1] + more.indptr[1:]])
        self.indices = GrownArray(first.indices, more.indices)
        self.data = GrownArray(first.data, more.data)

    def __getitem__(self, rows: Ints) -> sparse.csr_matrix:
        n, rows = self._first.shape[0], np.asarray(rows)
        late = rows >= n
        if not late.any():
            return self._first[rows]
        if late.all():
            return self._more[rows - n]
        both = sparse.vstack([self._first[rows[~late]], self._more[rows[late] - n]], format="csr")
        places = np.empty(len(rows), np.int64)
        places[np.concatenate([np.flatnonzero(~late), np.flatnonzero(late)])] = np.arange(len(rows))
        return both[places]

    def __matmul__(self, vector: NDArray[Any]) -> NDArray[Any]:
        return np.concatenate([self._first @ vector, self._more @ vector])
