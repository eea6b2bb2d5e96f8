"""Fixed weights combine signals into one score, and the learned ranking moves only linked pages."""

from dataclasses import replace

import numpy as np
import pytest

from internal_linker.ranking.features import (
    FEATURES,
    Signals,
    features,
    fixed_score,
    reordered,
    standard,
    topic_score,
)
from internal_linker.ranking.rules import FIXED_WEIGHTS, Weights

NAN = float("nan")


def signals(n: int, seed: int = 0) -> Signals:
    """Return random signals of n candidates: a third has no inlink, one has no date and one no vector."""
    rng = np.random.default_rng(seed)
    values = rng.random((8, n))
    values[1, 0] = values[4, 0] = NAN
    inlinks = rng.integers(1, 9, n) * (np.arange(n) % 3 > 0)
    match, similarity, lexical, passage, nearness, votes, linked_similarity, _ = values
    back, cocited = (rng.random(n) < 0.3).astype(float), rng.integers(0, 4, n).astype(float)
    return Signals(
        np.zeros(n, int),
        np.arange(n),
        match,
        similarity,
        lexical,
        passage,
        nearness,
        votes,
        linked_similarity,
        inlinks,
        back,
        cocited,
        (np.arange(n) % 4 == 0).astype(float),
    )


def test_standard_deviations_leave_out_what_is_unknown() -> None:
    """Known values have mean 0 and deviation 1, unknown ones are at the mean, and equal values are all 0."""
    values = np.array([1.0, NAN, 3.0, NAN, NAN, 2.0, 2.0, NAN])
    assert standard(values, np.array([0, 0, 0, 1, 1, 2, 2, 2])).tolist() == [-1, 0, 1, 0, 0, 0, 0, 0]
    assert standard(np.empty(0), np.empty(0, int)).shape == (0,)


@pytest.mark.parametrize("seed", range(5))
def test_sources_are_scored_side_by_side(seed: int) -> None:
    """Several sources scored together have the scores and features of each alone and can be split again."""
    parts = [signals(n, seed + n) for n in (3, 12, 1, 7)]
    names = Signals.__slots__[1:]
    of = np.repeat(np.arange(4), [3, 12, 1, 7])
    together = Signals(of, *(np.concatenate([getattr(part, name) for part in parts]) for name in names))
    for made in (features, fixed_score, lambda given: reordered(fixed_score(given), given.match, given)):
        alone = np.concatenate([made(part) for part in parts])
        np.testing.assert_allclose(made(together), alone, rtol=1e-5, atol=1e-6)
    for one, part in zip(together.split(4), parts, strict=True):
        for name in Signals.__slots__:
            np.testing.assert_array_equal(getattr(one, name), getattr(part, name))


@pytest.mark.parametrize(
    ("weight", "signal"),
    [
        ("match", "match"),
        ("passage", "passage"),
        ("time", "nearness"),
        ("votes", "votes"),
        ("linked_similarity", "linked_similarity"),
    ],
)
def test_each_weight_counts_its_signal(weight: str, signal: str) -> None:
    """A weight adds only its own signal in standard deviations."""
    given, none = signals(12), Weights(0, 0, 0, 0, 0, 0, 0)
    added = fixed_score(given, replace(none, **{weight: 2.0})) - fixed_score(given, none)
    np.testing.assert_allclose(added, 2 * standard(getattr(given, signal), given.of))
    assert not fixed_score(given, none).any()


def test_a_page_without_links_is_given_what_votes_cannot_give() -> None:
    """The weight `unlinked` is added only for pages without inlinks."""
    given = signals(12)
    added = fixed_score(given) - fixed_score(given, replace(FIXED_WEIGHTS, unlinked=0))
    np.testing.assert_allclose(added, FIXED_WEIGHTS.unlinked * (given.inlinks == 0), atol=1e-12)


def test_a_named_page_gets_a_bonus() -> None:
    """The weight `named` is added only for pages that the text names."""
    given = signals(12)
    added = fixed_score(given) - fixed_score(given, replace(FIXED_WEIGHTS, named=0))
    np.testing.assert_allclose(added, FIXED_WEIGHTS.named * given.named, atol=1e-12)
    assert 0 < given.named.sum() < 12


@pytest.mark.parametrize("seed", range(10))
def test_new_pages_keep_their_place_and_linked_ones_are_ordered_by_their_logits(seed: int) -> None:
    """The set of scores stays the same; new pages keep their scores, and linked pages are ordered by logit."""
    given = signals(20, seed)
    score, logits = fixed_score(given), np.random.default_rng(100 + seed).normal(size=20)
    moved = reordered(score, logits, given)
    new, linked = given.inlinks == 0, np.flatnonzero(given.inlinks > 0)
    assert moved[new].tolist() == score[new].tolist()
    assert sorted(moved) == sorted(score)
    assert linked[np.argsort(-moved[linked])].tolist() == linked[np.argsort(-logits[linked])].tolist()
    assert moved[linked].tolist() != score[linked].tolist()


def test_equal_logits_keep_the_order_of_the_rows_and_the_given_scores_stay() -> None:
    """Equal logits keep the order of the rows, and the input array isn't modified."""
    score, given = np.array([3.0, 2.0, 1.0]), replace(signals(3), inlinks=np.ones(3, int))
    assert reordered(score, np.zeros(3), given).tolist() == [3, 2, 1]
    reordered(score, np.array([1.0, 2.0, 3.0]), given)
    assert score.tolist() == [3, 2, 1]


def test_features_are_finite_and_named() -> None:
    """There is one column per name, in that order, and unknown signals leave no NaN."""
    given = signals(9)
    made = features(given)
    assert made.shape == (9, len(FEATURES)) and made.dtype == np.float32
    assert np.isfinite(made).all()
    column = dict(zip(FEATURES, made.T, strict=True))
    assert column["no inlink"].tolist() == (given.inlinks == 0).astype(float).tolist()
    np.testing.assert_allclose(column["inlinks"], np.log1p(given.inlinks), rtol=1e-6)
    np.testing.assert_allclose(column["votes"], standard(given.votes, given.of), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(column["time"], standard(given.nearness, given.of), rtol=1e-4, atol=1e-6)
    assert column["links back"].tolist() == given.back.tolist()


def test_no_candidates_are_no_error() -> None:
    """A source without candidates has no scores and no features."""
    none = signals(3)
    empty = Signals(*(getattr(none, name)[:0] for name in Signals.__slots__))
    assert fixed_score(empty).shape == (0,)
    assert features(empty).shape == (0, len(FEATURES))
    assert reordered(fixed_score(empty), np.empty(0), empty).shape == (0,)


def test_the_score_of_a_topic_ignores_links_and_dates() -> None:
    """Only words and embedding count: other inlinks, votes and dates change nothing, a covered title does."""
    ours, coverage = signals(12), np.linspace(0, 1, 12)
    content = np.ones(12, np.bool_)
    score = topic_score(ours, coverage, content)
    others = replace(
        ours,
        match=-ours.match,
        nearness=1 - ours.nearness,
        votes=1 - ours.votes,
        linked_similarity=1 - ours.linked_similarity,
        inlinks=9 - ours.inlinks,
        back=1 - ours.back,
        cocited=3 - ours.cocited,
    )
    assert topic_score(others, coverage, content).tolist() == score.tolist()
    more = topic_score(ours, coverage[::-1].copy(), content) - score
    assert (more[:6] > 0).all() and (more[6:] < 0).all()


@pytest.mark.parametrize("content", [True, False])
def test_a_topic_without_embeddings_is_scored_by_words(*, content: bool) -> None:
    """Where no similarity is known, words have its weight, so that scores spread about as far as with it."""
    ours = replace(signals(50), similarity=np.full(50, NAN))
    score = topic_score(ours, np.linspace(0, 1, 50), np.full(50, content))
    assert np.isfinite(score).all() and score.std() > 1
