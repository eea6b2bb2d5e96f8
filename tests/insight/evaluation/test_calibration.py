"""Drawing pairs to label, and computing precision and recall by threshold from labelled pairs."""

from collections import Counter
from dataclasses import replace
from math import isnan, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from internal_linker.insight.evaluation.calibration import (
    LEAST_PAIRS,
    SECTIONS,
    THRESHOLDS,
    Judged,
    curve,
    draw,
    threshold_for,
    weights,
)
from internal_linker.insight.evaluation.labels import LabelRow
from tests.support.builders import url

SHARES = st.floats(0, 1)


def pair(name: str, strength: float = 0.5) -> LabelRow:
    ends = url(name), url("target")
    return LabelRow(ends, *ends, strength=strength)


PAIRS = st.lists(
    st.builds(
        lambda section, name, strength: pair(f"{section}/{name}", strength),
        st.sampled_from("abcdefghij"),
        st.integers(0, 40),
        SHARES,
    ),
    unique_by=lambda each: each.ends,
    max_size=60,
)
JUDGED = st.lists(st.tuples(SHARES, st.floats(0.25, 500), st.booleans()), max_size=40).map(
    lambda rows: Judged(
        np.array([row[0] for row in rows]),
        np.array([row[1] for row in rows]),
        np.array([row[2] for row in rows], np.bool_),
    )
)


@given(PAIRS, st.data())
def test_a_pair_is_drawn_once_and_no_more_than_asked_for(pairs: list[LabelRow], data: st.DataObject) -> None:
    drawn = data.draw(st.lists(st.sampled_from(pairs), unique_by=lambda each: each.ends)) if pairs else []
    count = data.draw(st.integers(-5, 70))
    found = draw(pairs, drawn, count)
    assert len(found) == min(max(count, 0), len(pairs) - len(drawn))
    assert len({each.ends for each in [*drawn, *found]}) == len(drawn) + len(found)
    assert set(found) <= set(pairs)


@given(PAIRS)
def test_every_stratum_is_covered(pairs: list[LabelRow]) -> None:
    some = [each for each in pairs if each.section in ("/a", "/b", "/c")]
    strata = {(each.band, each.section) for each in some}
    assert {(each.band, each.section) for each in draw(some, [], len(strata))} == strata


@given(PAIRS, st.integers(0, 30), st.integers(0, 30))
def test_a_larger_choice_holds_the_smaller_in_any_order(pairs: list[LabelRow], one: int, more: int) -> None:
    first = draw(pairs, [], one)
    whole = draw(pairs, [], one + more)
    assert whole == draw(pairs[::-1], [], one + more)
    assert set(first) <= set(whole)
    assert set(draw(pairs, first, more)) == set(whole) - set(first)


def test_small_sections_are_one_stratum() -> None:
    pairs = [pair(f"folder-{at}/page", 0.7) for at in range(500)]
    assert len(draw(pairs, [], 0)) == 0
    found = weights(pairs, draw(pairs, [], SECTIONS + 1))
    assert found.sum() == pytest.approx(500) and len(set(found)) == 2


def test_large_strata_get_more_by_the_root_of_their_size() -> None:
    pairs = [pair(f"a/{at}", 0.2) for at in range(900)] + [pair(f"a/{at}", 0.95) for at in range(900, 1000)]
    assert Counter(each.band for each in draw(pairs, [], 40)) == {"0 to 35": 30, "90 to 100": 10}


@given(PAIRS, st.integers(1, 60))
def test_labelled_pairs_stand_for_all(pairs: list[LabelRow], count: int) -> None:
    labelled = draw(pairs, [], count)
    found = weights(pairs, labelled)
    assert (found >= 1 - 1e-9).all()
    for band in {each.band for each in labelled}:
        ours = [weight for weight, each in zip(found, labelled, strict=True) if each.band == band]
        assert sum(ours) == pytest.approx(sum(each.band == band for each in pairs))


def test_a_pair_that_is_no_candidate_any_more_counts_as_one() -> None:
    here, gone = [pair(f"a/{at}", 0.7) for at in range(9)], pair("a/adopted", 0.7)
    assert weights(here, [gone, here[0]]).tolist() == [5.0, 5.0]


@given(JUDGED)
def test_intervals_contain_their_share_and_recall_falls(judged: Judged) -> None:
    points = curve(judged)
    assert [*points["threshold"]] == sorted(THRESHOLDS)
    for name in ("precision", "recall"):
        ends = points[[f"{name}_low", name, f"{name}_high"]].dropna().to_numpy()
        assert (ends >= 0).all() and (np.diff(ends) >= 0).all() and (ends <= 1).all()
    assert (points["precision"].isna() == (points["pairs"] == 0)).all()
    assert (points["pairs"].diff().dropna() <= 0).all() and (points["recall"].diff().dropna() <= 1e-12).all()


@given(JUDGED, SHARES, SHARES)
def test_more_precision_never_takes_a_lower_threshold(judged: Judged, one: float, other: float) -> None:
    points = curve(judged)
    low, high = (threshold_for(points, wanted) for wanted in sorted((one, other)))
    assert isnan(high) or low <= high
    for point in points[points["threshold"] == high].itertuples():
        assert point.precision >= max(one, other) and point.pairs >= LEAST_PAIRS


@given(JUDGED, st.lists(st.booleans(), min_size=40, max_size=40), SHARES)
def test_the_sidebar_never_begins_above_the_text(judged: Judged, mild: list[bool], wanted: float) -> None:
    also = replace(judged, good=judged.good | np.array(mild[: len(judged.good)], np.bool_))
    inline, sidebar = (threshold_for(curve(each), wanted) for each in (judged, also))
    assert isnan(inline) or sidebar <= inline


def test_figures_of_a_plain_sample() -> None:
    strong, weak = [(0.9, kind) for kind in [True] * 8 + [False] * 2], [(0.1, at < 4) for at in range(20)]
    rows = [*strong, *weak]
    judged = Judged(np.array([row[0] for row in rows]), np.ones(30), np.array([row[1] for row in rows]))
    point = curve(judged).set_index("threshold").loc[0.5]
    assert point["pairs"] == 10
    assert point["precision"] == pytest.approx(0.8) and point["recall"] == pytest.approx(8 / 12)
    assert point["precision_low"] == pytest.approx(0.490, abs=1e-3)
    assert point["precision_high"] == pytest.approx(0.943, abs=1e-3)
    assert threshold_for(curve(judged), 0.8) == 0.15
    assert isnan(threshold_for(curve(judged), 0.81))


def test_intervals_hold_the_truth_about_as_often_as_they_say() -> None:
    draw_from = np.random.default_rng(0)
    strong = draw_from.beta(1.2, 2.5, 500)
    truth = draw_from.random(500) < strong**1.5
    sections = draw_from.choice(3, 500, p=[0.7, 0.2, 0.1])
    pairs = [pair(f"{'abc'[sections[at]]}/{at}", float(strong[at])) for at in range(500)]
    is_good = dict(zip((each.ends for each in pairs), truth.tolist(), strict=True))
    above = strong >= 0.6
    wanted = truth[above].mean(), above[truth].mean()
    found = []
    for _ in range(30):
        # Each sample differs, because the draw depends on the names.
        salt = draw_from.integers(1 << 30)
        renamed = [replace(each, ends=(f"{each.ends[0]}-{salt}", each.ends[1])) for each in pairs]
        labelled = draw(renamed, [], 60)
        good = np.array([is_good[each.ends[0].rpartition("-")[0], each.ends[1]] for each in labelled])
        strengths = np.array([each.strength for each in labelled])
        point = curve(Judged(strengths, weights(renamed, labelled), good)).set_index("threshold").loc[0.6]
        low, high = (point[[f"precision{end}", f"recall{end}"]].to_numpy() for end in ("_low", "_high"))
        found.append((low <= wanted) & (wanted <= high))
    assert (np.mean(found, axis=0) >= 0.9).all(), np.mean(found, axis=0)


def test_bands_part_the_strengths() -> None:
    bands = [pair("a/b", strength).band for strength in (0, 0.349, 0.35, 0.65, 0.8, 0.9, 1.0)]
    low, middle, high = "0 to 35", "35 to 50", "65 to 80"
    assert bands == [low, low, middle, high, "80 to 90", "90 to 100", "90 to 100"]
    assert pair("a/b", nan).band == ""
