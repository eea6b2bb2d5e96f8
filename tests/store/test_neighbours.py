"""A stored join comes back whole and unchanged, or not at all."""

from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import Engine, text

from internal_linker.model.arrays import Nearest, Neighbourhood
from internal_linker.store.engine import open_database
from internal_linker.store.neighbours import StoredJoins

# 3,000 texts with 200 neighbours each take two chunks.
TEXTS, NEIGHBOURS = 3000, 200


@pytest.fixture
def engine(store_url: str, tmp_path: Path) -> Engine:
    return open_database(store_url, tmp_path)


def nearest(texts: int, neighbours: int, seed: int = 0) -> Nearest:
    dice = np.random.default_rng(seed)
    scores = dice.random((texts, neighbours), np.float32)
    if neighbours:
        scores[:, -1] = -np.inf
    rows = dice.integers(-1, max(texts, 1), (texts, neighbours), np.int32)
    return Nearest(rows, scores, dice.random(texts, np.float32))


def neighbourhood(texts: int = 40, neighbours: int = 5, seed: int = 0) -> Neighbourhood:
    digests = np.random.default_rng(seed).integers(0, 256, (texts, 16), np.uint8)
    return Neighbourhood(digests, nearest(texts, neighbours, seed))


def same_lists(one: Nearest, other: Nearest) -> None:
    for name in ("rows", "scores", "floors"):
        mine, yours = getattr(one, name), getattr(other, name)
        assert mine.dtype == yours.dtype
        np.testing.assert_array_equal(mine, yours)


def same(one: Neighbourhood | None, other: Neighbourhood) -> None:
    assert one is not None and one.digests.dtype == np.uint8
    np.testing.assert_array_equal(one.digests, other.digests)
    same_lists(one.nearest, other.nearest)


def run_sql(engine: Engine, *lines: str) -> None:
    with engine.begin() as connection:
        for line in lines:
            connection.execute(text(line))


@pytest.mark.parametrize(
    ("texts", "neighbours"), [(0, 5), (1, 1), (7, 0), (40, 5), (TEXTS, NEIGHBOURS)], ids=str
)
def test_a_result_comes_back_bit_by_bit(engine: Engine, texts: int, neighbours: int) -> None:
    whole = neighbourhood(texts, neighbours)
    assert StoredJoins(engine).get("j") is None
    StoredJoins(engine).put("j", whole)
    same(StoredJoins(engine).get("j"), whole)


def test_a_new_result_replaces_the_old_and_drops_the_blocks_of_its_join(engine: Engine) -> None:
    """A new result replaces the join's old result and its blocks; another join keeps its result and blocks."""
    joins = StoredJoins(engine)
    for name in ("j", "other"):
        joins.put(name, neighbourhood(TEXTS, NEIGHBOURS))
        joins.put_block(name, "b", nearest(3, 2))
    small = neighbourhood(4, 2, seed=1)
    joins.put("j", small)
    same(joins.get("j"), small)
    same(joins.get("other"), neighbourhood(TEXTS, NEIGHBOURS))
    assert joins.blocks("j") == {} and list(joins.blocks("other")) == ["b"]
    with engine.connect() as connection:
        assert connection.execute(text("SELECT count(*) FROM join_chunks WHERE name = 'j'")).scalar() == 1


def test_finished_blocks_come_back_by_name(engine: Engine) -> None:
    joins = StoredJoins(engine)
    assert joins.blocks("j") == {}
    given = {"0": nearest(3, 2), "1": nearest(0, 2), "2": nearest(5, 4, seed=2)}
    joins.put_block("j", "0", nearest(9, 9))
    for name, block in given.items():
        joins.put_block("j", name, block)
    found = joins.blocks("j")
    assert found.keys() == given.keys()
    for name, block in given.items():
        same_lists(found[name], block)


TAMPERED = (
    "DELETE FROM join_chunks WHERE chunk = 0",
    "DELETE FROM join_chunks",
    "UPDATE join_chunks SET chunk = 1 - chunk + 10",
    "UPDATE join_chunks SET content = (SELECT content FROM join_chunks WHERE chunk = 0)",
    "UPDATE join_chunks SET token = 'other' WHERE chunk = 1",
    "UPDATE joins SET texts = texts * 2, neighbours = (neighbours - 1) / 2",
    "UPDATE joins SET neighbours = 2147483647",
    "UPDATE joins SET texts = -1",
    "UPDATE join_chunks SET checksum = 'none' WHERE chunk = 1",
)


def test_a_result_that_was_tampered_with_is_none(engine: Engine) -> None:
    joins = StoredJoins(engine)
    for damage in TAMPERED:
        joins.put("j", neighbourhood(TEXTS, NEIGHBOURS))
        run_sql(engine, damage)
        assert joins.get("j") is None, damage
        joins.put("j", neighbourhood())
        same(joins.get("j"), neighbourhood())


def test_one_changed_byte_is_found(engine: Engine) -> None:
    joins = StoredJoins(engine)
    joins.put("j", neighbourhood())
    joins.put_block("j", "b", nearest(3, 2))
    for table in ("join_chunks", "join_blocks"):
        with engine.begin() as connection:
            content = bytearray(connection.execute(text(f"SELECT content FROM {table}")).scalar_one())
            content[-1] ^= 1
            connection.execute(text(f"UPDATE {table} SET content = :new"), {"new": bytes(content)})
    assert joins.get("j") is None and joins.blocks("j") == {}


def test_a_result_is_written_whole_or_not_at_all(engine: Engine) -> None:
    joins = StoredJoins(engine)
    joins.put("j", neighbourhood())
    broken = neighbourhood(TEXTS, NEIGHBOURS)
    object.__setattr__(broken.nearest, "floors", np.array(["no number"] * TEXTS))
    with pytest.raises(ValueError, match="no number"):
        joins.put("j", broken)
    same(joins.get("j"), neighbourhood())
