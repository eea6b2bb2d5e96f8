"""The words of titles -> weighted rows, so that the product of two is the cosine of their titles."""

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from internal_linker.core.arrays import Ints

# A word in more of the titles is furniture; in a handful of titles a share says nothing.
_COMMON, _FEW = 0.3, 10


def title_words(titles: Sequence[Sequence[str]]) -> sparse.csr_matrix:
    """(n, v) float32 rows of TF-IDF, of unit length; zeros where a title has no word that tells anything."""
    n = len(titles)
    of, columns = _numbered(titles)
    frequency = np.bincount(columns, minlength=1)
    idf = 1 + np.log((1 + n) / (1 + frequency))
    idf[frequency > max(_FEW, _COMMON * n)] = 0
    kept = idf[columns] > 0
    weights = idf[columns[kept]]
    lengths = np.sqrt(np.bincount(of[kept], weights**2, n))
    values = (weights / lengths[of[kept]]).astype(np.float32)
    return sparse.csr_matrix((values, (of[kept], columns[kept])), (n, len(frequency)))


def _numbered(titles: Sequence[Sequence[str]]) -> tuple[Ints, Ints]:
    """The place and a number for each word of each title, once a title."""
    numbers: dict[str, int] = {}
    rows = [[numbers.setdefault(word, len(numbers)) for word in dict.fromkeys(title)] for title in titles]
    columns = np.array([number for row in rows for number in row], np.int64)
    return np.repeat(np.arange(len(rows)), [len(row) for row in rows]), columns
