"""The exact nearest neighbours of each text: equal to brute force, in bounded memory."""

import tracemalloc
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from internal_linker.match.neighbours.exact import join_block, mutual, nearest
from internal_linker.model.arrays import Ints, JoinTask, Vectors
from tests.support.vector_sites import assert_same, coarse_vectors, counted, one_language, random_vectors


@dataclass(frozen=True)
class Case:
    """Texts and the arguments of one query on them."""

    vectors: Vectors
    languages: Ints
    rows: Ints
    columns: Ints
    excluded: list[list[int]]
    keep: int


@st.composite
def cases(draw: st.DrawFn) -> Case:
    count = draw(st.integers(1, 12))
    vectors = draw(coarse_vectors(count)).astype(draw(st.sampled_from([np.float16, np.float32])))
    languages = np.array(draw(st.lists(st.integers(-1, 2), min_size=count, max_size=count)), np.int32)
    some = st.lists(st.integers(0, count - 1), unique=True, max_size=count)
    rows, columns = draw(some), draw(some)
    excluded = [draw(st.lists(st.integers(0, count - 1), max_size=4)) for _ in rows]
    asked = np.array(rows, np.int64), np.array(columns, np.int64)
    return Case(vectors, languages, *asked, excluded, draw(st.integers(1, 15)))


@given(cases())
def test_the_lists_are_those_of_a_count_of_all_pairs(case: Case) -> None:
    arguments = case.vectors, case.languages, case.rows, case.columns, case.keep
    expected = counted(*arguments, case.excluded)
    found = nearest(*arguments, excluded=[np.array(others, np.int64) for others in case.excluded])
    assert_same(found, expected, case.vectors, case.rows)


@given(cases())
def test_a_mutual_join_finds_both_sides(case: Case) -> None:
    rows = np.setdiff1d(case.rows, case.columns)
    found = mutual(case.vectors, case.languages, rows, case.columns, case.keep)
    both = np.concatenate([rows, case.columns])
    expected = [
        counted(case.vectors, case.languages, some, others, case.keep)
        for some, others in ((rows, case.columns), (case.columns, rows))
    ]
    for at, one in ((slice(0, len(rows)), expected[0]), (slice(len(rows), None), expected[1])):
        part = type(found)(found.rows[at], found.scores[at], found.floors[at])
        assert_same(part, one, case.vectors, both[at])


@given(cases(), st.floats(-1, 1, width=32))
def test_what_is_not_above_a_score_is_left_out(case: Case, bound: float) -> None:
    arguments = case.vectors, case.languages, case.rows, case.columns, case.keep
    whole = nearest(*arguments)
    found = nearest(*arguments, above=np.full(len(case.rows), bound, np.float32))
    wanted = whole.scores > np.float32(bound)
    np.testing.assert_array_equal(found.scores, np.where(wanted, whole.scores, -np.inf))
    missing = np.isfinite(whole.floors) | (np.isfinite(whole.scores) & ~wanted).any(axis=1)
    np.testing.assert_allclose(
        found.floors, np.where(missing, np.maximum(whole.floors, np.float32(bound)), -np.inf), atol=2e-6
    )


@pytest.mark.parametrize(("dimensions", "keep"), [(32, 128), (800, 10)])
def test_many_tiles_give_what_one_matrix_gives(dimensions: int, keep: int) -> None:
    count = 3000
    vectors = random_vectors(count, dimensions, topics=30)
    vectors[7] = 0
    everything = np.arange(count)
    found = nearest(vectors, one_language(count), everything, everything, keep)
    wide = vectors.astype(np.float32)
    matrix = wide @ wide.T
    np.fill_diagonal(matrix, -np.inf)
    matrix[:, 7] = -np.inf
    best = -np.sort(-matrix, axis=1)[:, :keep]
    best[7] = -np.inf
    np.testing.assert_allclose(found.scores, best, atol=2e-6)
    there = everything != 7
    at = np.take_along_axis(matrix[there], found.rows[there].astype(np.int64), axis=1)
    np.testing.assert_allclose(at, best[there], atol=2e-6)
    np.testing.assert_allclose(found.floors, best[:, -1], atol=2e-6)


def test_of_many_equal_texts_the_first_rows_are_kept() -> None:
    count, keep = 5000, 40
    vectors = np.tile(random_vectors(1, 16), (count, 1))
    found = nearest(vectors, one_language(count), np.arange(count), np.arange(count), keep)
    assert found.rows[100].tolist() == list(range(40))
    assert found.rows[3].tolist() == [0, 1, 2, *range(4, 41)]
    vectors, languages = random_vectors(50, 8), one_language(50)
    rows, columns, above = np.arange(20), np.arange(20, 50), np.full(20, 0.2, np.float32)
    for is_mutual, expected in (
        (False, nearest(vectors, languages, rows, columns, 5, above=above)),
        (True, mutual(vectors, languages, rows, columns, 5, above=above)),
    ):
        found = join_block(vectors, languages, JoinTask("b", rows, columns, 5, above, is_mutual))
        np.testing.assert_array_equal(found.rows, expected.rows)


@pytest.mark.long
@pytest.mark.parametrize("equal", [False, True])
@pytest.mark.parametrize("count", [6000, 24000])
def test_memory_beside_the_arrays_is_bounded(count: int, equal: bool) -> None:
    vectors = random_vectors(1 if equal else count, 64)
    vectors = np.tile(vectors, (count, 1)) if equal else vectors
    rows, columns, keep = np.arange(2500), np.arange(count), 128
    tracemalloc.start()
    found = nearest(vectors, one_language(count), rows, columns, keep)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak - found.rows.nbytes - found.scores.nbytes < 90e6
