"""The k-NN join of all texts gives the same lists whether new, resumed or incremental, and reports how it ran."""

from dataclasses import replace
from hashlib import blake2b

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from internal_linker.match.neighbours.knn_join import Joined, join
from internal_linker.model.arrays import Bools, Ints, Vectors
from internal_linker.model.ports import Compute
from internal_linker.store.neighbours import StoredJoins
from tests.support.builders import Told
from tests.support.join_stores import Counting, MemoryStore
from tests.support.vector_sites import assert_same, coarse_vectors, counted, one_language, random_vectors

SERVED = 3


def digests_of(vectors: Vectors, languages: Ints) -> NDArray[np.uint8]:
    rows = zip(vectors, languages.tolist(), strict=True)
    made = [blake2b(row.tobytes() + bytes([code + 1]), digest_size=16).digest() for row, code in rows]
    return np.frombuffer(b"".join(made), np.uint8).reshape(-1, 16)


def joined(
    vectors: Vectors,
    languages: Ints | None = None,
    targets: Bools | None = None,
    store: StoredJoins | None = None,
    compute: Compute | None = None,
    exact_seconds: float = 30.0,
    kept_seconds: float = 5.0,
) -> Joined:
    spoken = one_language(len(vectors)) if languages is None else languages
    may = np.ones(len(vectors), bool) if targets is None else targets
    return join(
        "model",
        vectors,
        digests_of(vectors, spoken),
        spoken,
        may,
        served=SERVED,
        store=store,
        compute=compute or Counting(),
        progress=Told(),
        exact_seconds=exact_seconds,
        kept_seconds=kept_seconds,
    )


def assert_right(found: Joined, vectors: Vectors, languages: Ints, targets: Bools) -> None:
    rows = np.arange(len(vectors))
    expected = counted(vectors, languages, rows, np.flatnonzero(targets), SERVED)
    # A floor may be lower than the last score if the next scores are known, too.
    assert (np.isneginf(found.nearest.floors) >= np.isneginf(expected.floors)).all()
    floors = np.where(np.isfinite(found.nearest.floors), expected.floors, -np.inf)
    assert_same(replace(found.nearest, floors=floors), replace(expected, floors=floors), vectors, rows)
    # What a list leaves out never scores more than its floor.
    longer = counted(vectors, languages, rows, np.flatnonzero(targets), SERVED + 1)
    assert (found.nearest.floors >= longer.scores[:, SERVED] - 1e-6).all()


@st.composite
def sites(draw: st.DrawFn, most: int = 14) -> tuple[Vectors, Ints, Bools]:
    count = draw(st.integers(1, most))
    languages = draw(st.lists(st.integers(-1, 1), min_size=count, max_size=count))
    targets = draw(st.lists(st.booleans(), min_size=count, max_size=count))
    return draw(coarse_vectors(count)), np.array(languages, np.int32), np.array(targets, bool)


@given(sites())
def test_a_first_join_is_a_count_of_all_pairs(site: tuple[Vectors, Ints, Bools]) -> None:
    assert_right(joined(*site), *site)


@given(st.data())
def test_any_run_of_changes_ends_where_a_full_join_ends(data: st.DataObject) -> None:
    store = MemoryStore()
    vectors, languages, targets = data.draw(sites())
    for _ in range(data.draw(st.integers(2, 6))):
        new_vectors, new_languages, new_targets = data.draw(sites(4))
        kept = np.flatnonzero(
            data.draw(st.lists(st.booleans(), min_size=len(vectors), max_size=len(vectors)))
        )
        order = np.array(data.draw(st.permutations(range(len(kept) + len(new_vectors)))), np.int64)
        vectors = np.concatenate([vectors[kept], new_vectors])[order]
        languages = np.concatenate([languages[kept], new_languages])[order]
        targets = np.concatenate([targets[kept], new_targets])[order]
        flips = st.sampled_from([False] * 9 + [True])
        targets ^= np.array(data.draw(st.lists(flips, min_size=len(order), max_size=len(order))), bool)
        assert_right(joined(vectors, languages, targets, store), vectors, languages, targets)


def test_long_runs_of_small_changes_stay_right() -> None:
    draw, store = np.random.default_rng(1), MemoryStore()
    vectors = random_vectors(300, 24, topics=20).astype(np.float32)
    languages = draw.integers(-1, 3, 300).astype(np.int32)
    targets = draw.random(300) < 0.8
    joined(vectors, languages, targets, store)
    ways = []
    for week in range(24):
        gone = draw.choice(len(vectors), 4, replace=False)
        vectors, languages = np.delete(vectors, gone, axis=0), np.delete(languages, gone)
        targets = np.delete(targets, gone)
        vectors = np.concatenate(
            [vectors, random_vectors(int(draw.integers(2, 7)), 24, week + 9).astype(np.float32)]
        )
        more = len(vectors) - len(languages)
        languages = np.concatenate([languages, draw.integers(-1, 3, more).astype(np.int32)])
        targets = np.concatenate([targets, draw.random(more) < 0.8])
        targets[draw.integers(0, len(targets), 3)] ^= True
        vectors[[0, 5]] = vectors[[5, 0]]
        found = joined(vectors, languages, targets, store)
        ways.append(found.way)
        if week % 12 == 11:
            assert_right(found, vectors, languages, targets)
    assert set(ways) == {"incremental"}


def test_only_changed_pairs_are_multiplied_once_and_equal_texts_told_apart() -> None:
    vectors, store, second = random_vectors(80, 8), MemoryStore(), Counting()
    first = joined(vectors, store=store)
    again = joined(vectors, store=store, compute=second)
    assert (again.way, again.changed, again.removed, second.pairs) == ("incremental", 0, 0, 0)
    np.testing.assert_array_equal(again.nearest.rows, first.nearest.rows)
    vectors, store, second = random_vectors(500, 16), MemoryStore(), Counting()
    joined(vectors, store=store)
    vectors[:10] = random_vectors(10, 16, 5)
    found = joined(vectors, store=store, compute=second)
    assert (found.way, found.changed, found.removed, found.renewed) == ("incremental", 10, 10, 0)
    assert second.pairs == 490 * 10 + 10 * 10
    vectors = random_vectors(40, 8).astype(np.float32)
    vectors[[3, 9, 20]] = vectors[3]
    store = MemoryStore()
    joined(vectors, store=store)
    found = joined(np.delete(vectors, 9, axis=0), store=store)
    assert (found.changed, found.removed) == (0, 1)
    assert (found.nearest.rows[3, 0], found.nearest.rows[19, 0]) == (19, 3)


def test_another_length_of_list_makes_all_anew() -> None:
    vectors, store = random_vectors(60, 8), MemoryStore()
    joined(vectors, store=store)
    before = store.get("model")
    assert before
    rows, scores = before.nearest.rows[:, :4], before.nearest.scores[:, :4]
    store.put("model", replace(before, nearest=replace(before.nearest, rows=rows, scores=scores)))
    assert joined(vectors, store=store).way == "exact"


@pytest.mark.parametrize("other", [False, True])
def test_a_killed_join_goes_on_where_it_was_unless_the_texts_are_others(*, other: bool) -> None:
    vectors, store, second = random_vectors(5000, 8), MemoryStore(), Counting()
    store.blocks_until_it_fails = 2
    with pytest.raises(KeyboardInterrupt):
        joined(vectors, store=store, kept_seconds=0)
    store.blocks_until_it_fails = -1
    if other:
        vectors[0] = vectors[1]
    found = joined(vectors, store=store, compute=second, kept_seconds=0)
    assert [len(block.rows) for block in second.done] == [1250] * (4 if other else 2)
    np.testing.assert_array_equal(found.nearest.rows, joined(vectors).nearest.rows)
    assert not store.blocks("model")


def test_a_large_join_by_cells_reaches_its_recall() -> None:
    vectors, compute = random_vectors(4000, 32, topics=60), Counting()
    found = joined(vectors, compute=compute, exact_seconds=0)
    assert (found.way, found.probes > 0) == ("clustered", True)
    assert compute.pairs < 0.5 * 4000 * 4000
    truth = joined(vectors).nearest
    hits = float(np.mean(found.nearest.scores >= truth.scores[:, -1:] - 1e-6))
    assert min(hits, found.recall) >= 0.985


def test_vectors_without_topics_are_joined_exactly() -> None:
    vectors = random_vectors(1500, 64)
    found = joined(vectors, exact_seconds=0)
    assert (found.way, found.recall) == ("exact", 1.0)


def test_changes_to_a_join_by_cells_keep_its_recall_or_make_it_anew() -> None:
    vectors, store = random_vectors(4000, 32, topics=60), MemoryStore()
    joined(vectors, store=store, exact_seconds=0)
    vectors[:40] = random_vectors(40, 32, 3, topics=60)
    found = joined(vectors, store=store, exact_seconds=0)
    assert (found.way, found.changed) == ("incremental", 40)
    assert 0.985 <= found.recall <= 1
    old = store.get("model")
    assert old
    worse = replace(old.nearest, scores=old.nearest.scores - 0.5, floors=old.nearest.floors - 0.5)
    store.put("model", replace(old, nearest=worse))
    assert joined(vectors, store=store, exact_seconds=0).way == "clustered"
