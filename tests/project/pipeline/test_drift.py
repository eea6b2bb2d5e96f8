"""Drift between two runs: ordinary changes pass, and another model or a broken crawl is reported."""

import json
import re
from collections.abc import Sequence
from dataclasses import asdict, replace
from math import nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from internal_linker.model.edges import strength
from internal_linker.model.records import Candidate, Link, Recommendation
from internal_linker.project.pipeline.drift import (
    BINS,
    MOST_PSI,
    RunFacts,
    drift,
    facts_in,
    facts_of,
    stability_index,
)
from tests.support.builders import source, url

HISTOGRAMS = st.lists(st.integers(0, 500), min_size=BINS + 1, max_size=BINS + 1)
TIERS = st.fixed_dictionaries({tier: st.integers(0, 500) for tier in ("inline", "sidebar", "review")})
FACTS = st.builds(
    RunFacts,
    st.sampled_from(("local", "openai")),
    st.sampled_from(("v1", "v2")),
    st.just(0.8),
    st.just(0.65),
    st.integers(0, 500),
    st.integers(0, 500),
    TIERS,
    HISTOGRAMS,
    HISTOGRAMS,
)


def run(
    pages: int = 50,
    similarity: float = 0.5,
    score: float = 4.0,
    encoder: str = "local",
    recipe: str = "v1",
    seed: int = 0,
    inline: float = 0.8,
) -> RunFacts:
    """Return the facts of a run with five links per page, normally distributed around a mean similarity and score."""
    draw = np.random.default_rng(seed)
    told = zip(draw.normal(similarity, 0.15, 5 * pages), draw.normal(score, 1.5, 5 * pages), strict=True)
    candidates = (Candidate(url("t"), url("t"), score=score, similarity=alike) for alike, score in told)
    links = (Link(candidate, 1, "semantic") for candidate in candidates)
    rows = [Recommendation(source(page), tuple(next(links) for _ in range(5))) for page in range(pages)]
    return facts_of(rows, pages=pages, encoder=encoder, recipe=recipe, inline=inline, sidebar=0.65)


def recommendation(*told: tuple[float, float]) -> Recommendation:
    candidates = (Candidate(url("t"), url("t"), score=score, similarity=alike) for alike, score in told)
    return Recommendation(source("s"), tuple(Link(each, 1, "semantic") for each in candidates))


@given(FACTS)
def test_nothing_moved_between_equal_runs(facts: RunFacts) -> None:
    assert drift(facts, facts) == []


@given(FACTS, FACTS)
def test_any_two_runs_can_be_compared(one: RunFacts, other: RunFacts) -> None:
    """Any runs can be compared, even with no links or empty bins; each message is a sentence."""
    assert all(sentence.endswith(".") for sentence in drift(one, other))


@given(HISTOGRAMS, HISTOGRAMS)
def test_the_stability_index_is_symmetric_and_never_below_zero(one: list[int], other: list[int]) -> None:
    index, chance = stability_index(one, other)
    assert index >= 0 and chance >= 0
    assert stability_index(other, one)[0] == pytest.approx(index)


@given(FACTS)
def test_json_gives_the_facts_back(facts: RunFacts) -> None:
    kept = facts_in(json.loads(json.dumps(asdict(facts))))
    assert kept is not None and drift(facts, kept) == [] and asdict(kept) == asdict(facts)


def test_facts_of_an_earlier_release_are_none() -> None:
    assert facts_in({}) is None and facts_in({"pages": 3}) is None


def test_links_are_counted_by_similarity_strength_and_tier() -> None:
    """Each link counts once; values below 0 are in the first bin, 1 in the last, and missing values apart."""
    facts = facts_of(
        [recommendation((-0.2, 9.0), (1.0, 2.0)), recommendation((nan, nan)), recommendation()],
        pages=7,
        encoder="local",
        recipe="v1",
        inline=0.8,
        sidebar=0.65,
    )
    assert (facts.pages, facts.rows, facts.links) == (7, 3, 3)
    assert facts.tiers == {"inline": 1, "sidebar": 1, "review": 1}
    assert list(facts.similarities) == [1, *[0] * (BINS - 2), 1, 1]
    assert (
        facts.strengths[int(BINS * strength(2.0))] == facts.strengths[BINS - 1] == facts.strengths[BINS] == 1
    )


@given(st.lists(st.tuples(st.floats(-1, 1) | st.just(nan), st.floats(-9, 9) | st.just(nan)), max_size=30))
def test_every_link_is_in_each_count(told: Sequence[tuple[float, float]]) -> None:
    facts = facts_of([recommendation(*told)], pages=1, encoder="local", recipe="v1", inline=0.8, sidebar=0.65)
    assert sum(facts.similarities) == sum(facts.strengths) == facts.links == len(told)


@pytest.mark.parametrize("pages", [5, 20, 50])
def test_chance_does_not_fire(pages: int) -> None:
    """Of 100 pairs of runs that differ only by chance, at most one reports drift, however small the runs are."""
    runs = [run(pages, seed=seed) for seed in range(200)]
    assert sum(bool(drift(*pair)) for pair in zip(runs[::2], runs[1::2], strict=True)) <= 1


def test_another_model_fires_by_its_name() -> None:
    [told] = drift(run(), run(similarity=0.3, encoder="openai", recipe="v2", seed=1))
    assert "the encoder changed from local to openai and the recipe changed from v1 to v2" in told
    assert "mean 0.50 before" in told and "mean 0.29 now" in told


def test_another_model_with_the_same_similarities_is_no_drift() -> None:
    facts = run()
    assert drift(facts, replace(facts, encoder="openai", recipe="v2")) == []


def test_a_slight_shift_fires_with_another_recipe_only() -> None:
    before, now = run(500), run(500, similarity=0.57, seed=1)
    index, _ = stability_index(before.similarities, now.similarities)
    assert 0.1 < index < MOST_PSI
    assert drift(before, now) == []
    assert "the recipe changed from v1 to v2" in drift(before, replace(now, recipe="v2"))[0]


def test_a_broken_crawl_fires_though_nothing_was_changed() -> None:
    """A crawl without half of the content is reported: those links have no similarity and few have a score."""
    before = run()
    half = run(25, seed=2)
    without = [*[0] * BINS, 125]
    low = [125, *[0] * BINS]
    now = replace(
        before,
        tiers={**half.tiers, "review": half.tiers["review"] + 125},
        similarities=[one + other for one, other in zip(half.similarities, without, strict=True)],
        strengths=[one + other for one, other in zip(half.strengths, low, strict=True)],
    )
    told = drift(before, now)
    assert "Similarities of the links changed although encoder and recipe are the same" in told[0]
    assert "125 links without a value) now" in told[0]
    assert re.match(
        r"Scores of the links changed .*: mean \d\d before, mean \d\d now\. This is more than", told[1]
    )
    assert any("have the tier “needs a look”" in sentence for sentence in told)


def test_a_shrunken_site_fires() -> None:
    before, small = run(200), run(90, seed=1)
    assert drift(before, small) == [
        "The site has 90 pages instead of 200: check that the page list is complete."
    ]
    [told] = drift(before, replace(small, pages=200))
    assert told.startswith("The run has 450 links instead of 1000")
    assert drift(before, run(110, seed=1)) == []


def test_other_thresholds_are_no_drift() -> None:
    """Links that change tiers because a person changed `anchors` aren't drift."""
    assert drift(run(), run(inline=0.95)) == []
    assert "have the tier “in the text”" in " ".join(drift(run(), replace(run(inline=0.95), inline=0.8)))
