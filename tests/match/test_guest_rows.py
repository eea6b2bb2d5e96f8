"""Arrays and matrices with a few more rows read like joined ones."""

import numpy as np
import pytest
from scipy import sparse

from internal_linker.match.guest_rows import GrownArray, GrownMatrix

FIRST, MORE = np.arange(12).reshape(4, 3), np.arange(12, 18).reshape(2, 3)
JOINED = np.concatenate([FIRST, MORE])
PLACES = [
    2,
    5,
    [0, 5, 2, 4],
    [1, 2],
    [4, 5],
    slice(1, 3),
    slice(4, 6),
    slice(2, 5),
    JOINED[:, 0] % 2 == 0,
]


@pytest.mark.parametrize("at", PLACES, ids=str)
def test_an_array_reads_like_the_joined_one(at: int | list[int] | slice) -> None:
    grown = GrownArray(FIRST, MORE)
    np.testing.assert_array_equal(grown[at], JOINED[at])
    for columns in (1, slice(0, 2)):
        np.testing.assert_array_equal(grown[at, columns], JOINED[at, columns])


def test_an_array_has_a_whole() -> None:
    grown = GrownArray(FIRST, MORE)
    assert len(grown) == 6 and np.asarray(grown).tolist() == JOINED.tolist()


def test_a_matrix_reads_like_the_joined_one() -> None:
    grown = GrownMatrix(sparse.csr_matrix(FIRST), sparse.csr_matrix(MORE))
    for rows in ([0, 5, 2, 4, 4], [1, 3], [5, 4]):
        np.testing.assert_array_equal(grown[np.array(rows)].toarray(), JOINED[rows])
    vector = np.array([1.0, -2.0, 0.5])
    np.testing.assert_array_equal(grown @ vector, JOINED @ vector)
    here = slice(grown.indptr[5], grown.indptr[6])
    assert grown.indices[here].tolist() == [0, 1, 2] and grown.data[here].tolist() == [15, 16, 17]
