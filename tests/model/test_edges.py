"""Strength and tiers of links."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from internal_linker.model.edges import MIDDLE, SCALE, Edge, score_of, source_id, strength, strengths, tier_of

SHARES = st.floats(0, 1)
ORDER = ("review", "sidebar", "inline")


@given(st.floats(-300, 300))
def test_the_strength_is_the_logistic_function_of_the_score(score: float) -> None:
    """The strength is 1 / (1 + exp(-(score - 2) / 1.5)), as documented in the README and the edge store."""
    assert strength(score) == pytest.approx(1 / (1 + math.exp(-(score - MIDDLE) / SCALE)), abs=1e-12)


@given(st.lists(st.floats(allow_nan=False), min_size=2))
def test_a_higher_score_is_never_weaker(scores: list[float]) -> None:
    """Strengths are between 0 and 1 in the order of their scores, however extreme these are."""
    found = strengths(np.sort(np.array(scores)))
    assert ((found >= 0) & (found <= 1)).all() and (np.diff(found) >= 0).all()


def test_without_a_score_there_is_no_strength() -> None:
    assert math.isnan(strength(math.nan))
    assert tier_of(math.nan, 0.8, 0.65) == "review"


@given(SHARES, SHARES, SHARES, SHARES)
def test_a_stronger_link_has_no_lower_tier(one: float, other: float, first: float, second: float) -> None:
    sidebar, inline = sorted((first, second))
    low, high = sorted((one, other))
    assert ORDER.index(tier_of(low, inline, sidebar)) <= ORDER.index(tier_of(high, inline, sidebar))
    assert tier_of(inline, inline, sidebar) == "inline"
    assert tier_of(sidebar, inline, sidebar) == ("inline" if sidebar == inline else "sidebar")


def test_an_edge_is_named_by_its_ends_alone() -> None:
    edge = Edge("https://a.example/s", "https://a.example/t", "https://a.example/s/", "https://a.example/t/")
    assert edge.id == "ee1e50794df370d615ce"
    assert replace(edge, status="live", source_url="s").id == edge.id
    other = replace(edge, target="https://a.example/u")
    assert other.id != edge.id and other.id[:10] == edge.id[:10] == source_id(edge.source)


def test_an_edge_of_which_little_is_known_has_empty_texts() -> None:
    """An edge needs only its ends; all other texts are empty, its status is proposed, and nobody has decided."""
    edge = Edge("s", "t", "https://a.example/s", "https://a.example/t")
    texts = (edge.encoder, edge.source_hash, edge.target_hash, edge.first_run, edge.last_run)
    decided = (edge.verdict, edge.by, edge.at, edge.anchor, edge.notes)
    assert {*texts, *decided} == {""} and edge.status == "proposed"
    assert (edge.inline, edge.sidebar, edge.serp_rank) == (1.0, 1.0, 0)
    assert math.isnan(edge.similarity) and math.isnan(edge.strength)


def test_people_read_a_strength_as_a_score_from_0_to_100() -> None:
    """A strength is rounded down; an unknown one has no score."""
    assert [score_of(each) for each in (0.0, 0.009, 0.125, 0.696, 0.995, 1.0)] == [0, 0, 12, 69, 99, 100]
    assert [score_of(each / 100) for each in range(101)] == list(range(101))
    assert score_of(math.nan) is None


@given(SHARES, st.integers(0, 100), st.integers(0, 100))
@example(0.696, 70, 70)
@example(math.nextafter(0.7, 0), 70, 70)
@example(math.nextafter(0.29, 0), 58, 29)
def test_the_score_that_people_read_agrees_with_the_tier(strong: float, first: int, second: int) -> None:
    sidebar, inline = sorted((first, second))
    score = score_of(strong)
    assert score is not None
    by_score = "inline" if score >= inline else "sidebar" if score >= sidebar else "review"
    assert tier_of(strong, inline / 100, sidebar / 100) == by_score
