"""The judge of places: which phrases it sees, and how likely each can be published unread."""

import json
from importlib import resources

import numpy as np
import pytest

from internal_linker import anchors
from internal_linker.anchors.judge import (
    COLUMNS,
    MENTIONS,
    PACKAGED,
    UNNATURAL,
    WORDINGS,
    LinkPlaces,
    packaged_judge,
    promising,
    read_judge,
)
from internal_linker.rank.promising_targets import PAIR_COLUMNS
from internal_linker.rank.rules import LEAST_PLACE


def test_the_most_promising_wordings_of_each_target_are_judged() -> None:
    """A wording that comes often takes no other's place, and its first mentions are looked at."""
    often, rare = [7] * (MENTIONS + 1), [*range(20, 20 + WORDINGS)]
    sets, of = np.array([*often, *rare, 7]), np.array([0] * (MENTIONS + 1 + WORDINGS) + [1])
    promise = np.where(sets == 7, 1.0, sets / 100)
    kept, wording = promising(of, sets, np.arange(len(of)), promise, WORDINGS)
    assert sorted(kept.tolist()) == [*range(MENTIONS), *range(MENTIONS + 2, len(of))]
    assert len({*wording.tolist()}) == WORDINGS + 1


def test_places_know_their_pages() -> None:
    columns = np.zeros((3, len(COLUMNS) - len(PAIR_COLUMNS) - 1), np.float32)
    columns[:, COLUMNS.index("promise")] = 0.1, 0.9, 0.5
    pairs = np.full((2, len(PAIR_COLUMNS)), np.nan, np.float32)
    pairs[1, 0] = 0.5
    at, no = np.arange(3), np.zeros(3, np.bool_)
    found = LinkPlaces(np.array([0, 0, 1]), at, at + 1, ~no, no, columns).known(pairs).columns
    assert found.shape == (3, len(COLUMNS))
    assert found[:, COLUMNS.index("place")].tolist() == pytest.approx(np.log1p([2, 0, 1]).tolist())
    assert found[-1, COLUMNS.index(PAIR_COLUMNS[0])] == 0.5


def test_quality_is_a_probability_and_low_for_words_that_are_not_natural() -> None:
    judge, rng = packaged_judge(), np.random.default_rng(1)
    columns = rng.random((200, len(COLUMNS))).astype(np.float32)
    columns[:, COLUMNS.index("natural")] = np.arange(200) % 2
    columns[:, COLUMNS.index("rarest")] = 1
    quality = judge.quality(columns)
    assert ((quality > 0) & (quality < 1)).all()
    assert quality[::2].max() <= UNNATURAL < LEAST_PLACE["broad"] < quality[1::2].max()


def test_without_a_look_at_the_pages_words_that_are_a_name_count_as_one() -> None:
    """Where the two pages were not compared, the title itself says that the text names its page."""
    judge, columns = packaged_judge(), np.zeros((3, len(COLUMNS)), np.float32)
    columns[:, COLUMNS.index("natural")] = 1
    columns[:, COLUMNS.index("raw named")] = np.nan, np.nan, 0
    columns[1, COLUMNS.index("is title")] = 1
    plain, title, not_named = judge.quality(columns).tolist()
    assert title > plain
    assert not_named == pytest.approx(plain, abs=0.05)


def test_a_judge_of_other_columns_is_refused() -> None:
    known = json.loads(resources.files(anchors).joinpath(PACKAGED).read_text("utf-8"))
    assert tuple(known["columns"]) == COLUMNS
    with pytest.raises(ValueError, match="other columns"):
        read_judge(json.dumps({**known, "columns": known["columns"][:-1]}))
