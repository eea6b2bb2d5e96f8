"""Search results and similar pages in one ranking."""

from dataclasses import fields, replace
from random import Random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from internal_linker.model.arrays import Ints, pairs_of
from internal_linker.model.records import Fusion
from internal_linker.rank.fusion import SERP_WEIGHT, Ranked, fuse

NUMBERS = range(8)
SCORES = st.floats(-4, 4) | st.just(float("nan"))
FILL: Fusion = "fill"
FUSIONS = st.sampled_from([FILL, "blend"])
FOUND = st.lists(st.sampled_from(NUMBERS), unique=True).map(lambda found: np.array(found, np.int64))


def ranked(scores: dict[int, float]) -> Ranked:
    n = len(scores)
    none, score = np.zeros(n, np.int64), np.array([*scores.values()], float)
    similarity, lexical, probability = (np.full(n, value) for value in (0.5, 0.25, 0.1))
    targets = np.array([*scores], np.int64)
    return Ranked(none, targets, none, score, similarity, lexical, probability, score)


MATCHES = st.dictionaries(st.sampled_from(NUMBERS), SCORES).map(ranked)


def fused(found: Ints, matches: Ranked, fusion: Fusion) -> Ranked:
    """Fuse search results and matches; the search's ranks are doubled, as if other results were between them."""
    return fuse(pairs_of([found]), 2 * np.arange(1, len(found) + 1), matches, fusion)


@given(FOUND, MATCHES, FUSIONS)
def test_each_page_is_ranked_once(found: Ints, matches: Ranked, fusion: Fusion) -> None:
    made = fused(found, matches, fusion)
    assert sorted(made.targets.tolist()) == sorted({*found.tolist(), *matches.targets.tolist()})
    assert {len(getattr(made, field.name)) for field in fields(made)} == {len(made.targets)}
    ranks = {number: 2 * place for place, number in enumerate(found.tolist(), 1)}
    assert made.serp_rank.tolist() == [ranks.get(number, 0) for number in made.targets.tolist()]
    known = np.isin(made.targets, matches.targets)
    for signal, value in ((made.similarity, 0.5), (made.lexical, 0.25), (made.probability, 0.1)):
        assert (signal[known] == value).all() and np.isnan(signal[~known]).all()


@given(FOUND, MATCHES)
def test_filling_puts_the_search_first(found: Ints, matches: Ranked) -> None:
    made = fused(found, matches, "fill")
    assert made.targets[: len(found)].tolist() == found.tolist()
    rest = np.nan_to_num(made.score[len(found) :])
    assert (np.diff(rest) <= 0).all()


@given(FOUND, MATCHES)
def test_blending_ranks_by_the_sum(found: Ints, matches: Ranked) -> None:
    made = fused(found, matches, "blend")
    assert (np.diff(made.score) <= 0).all()
    own = dict(zip(matches.targets.tolist(), np.nan_to_num(matches.score).tolist(), strict=True))
    bonus = {number: SERP_WEIGHT / place for place, number in enumerate(found.tolist(), 1)}
    for number, score in zip(made.targets.tolist(), made.score.tolist(), strict=True):
        assert score == own.get(number, 0.0) + bonus.get(number, 0.0)


@given(FOUND, MATCHES, st.data())
def test_blending_rewards_a_search_result(found: Ints, matches: Ranked, data: st.DataObject) -> None:
    absent = [number for number in NUMBERS if number not in found]
    if not absent:
        return
    number = data.draw(st.sampled_from(absent))
    scores = dict(zip(matches.targets.tolist(), matches.score.tolist(), strict=True)) | {number: 0.0}
    longer = np.insert(found, data.draw(st.integers(0, len(found))), number)
    places = [fused(hits, ranked(scores), "blend").targets.tolist().index(number) for hits in (found, longer)]
    assert places[1] <= places[0]


@given(FOUND, MATCHES, FUSIONS, st.randoms())
def test_the_order_of_the_matches_does_not_count(
    found: Ints, matches: Ranked, fusion: Fusion, random: Random
) -> None:
    places = np.array(random.sample(range(len(matches.targets)), len(matches.targets)), np.int64)
    one, other = (fused(found, given, fusion).targets.tolist() for given in (matches, matches.at(places)))
    assert one == other


@given(FOUND, FOUND, MATCHES, MATCHES, FUSIONS)
def test_sources_are_ranked_side_by_side(
    found: Ints, other: Ints, matches: Ranked, others: Ranked, fusion: Fusion
) -> None:
    alone = [fused(found, matches, fusion), fused(other, others, fusion)]
    second = replace(others, of=others.of + 1)
    names = Ranked.__slots__
    parts = Ranked(*(np.concatenate([getattr(matches, name), getattr(second, name)]) for name in names))
    serp_ranks = np.concatenate([2 * np.arange(1, len(each) + 1) for each in (found, other)])
    together = fuse(pairs_of([found, other]), serp_ranks, parts, fusion)
    for at, one in enumerate(alone):
        ours = together.at(together.of == at)
        for name in names[1:]:
            np.testing.assert_array_equal(getattr(ours, name), getattr(one, name))
