"""Search results and similar pages in one ranking."""

from math import isnan
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from internal_linker.records import Candidate, Fusion, SerpTarget
from internal_linker.steps.fuse import SERP_WEIGHT, fuse
from tests.builders import url

NAMES = list("abcdefgh")
SCORES = st.floats(-4, 4) | st.just(float("nan"))
MATCHES = st.dictionaries(st.sampled_from(NAMES), SCORES).map(
    lambda scores: [Candidate(url(name), url(name), score, 0.5, 0.25) for name, score in scores.items()]
)
SERP = st.lists(st.sampled_from(NAMES), unique=True).map(
    lambda names: [SerpTarget(url(name), url(name), rank) for rank, name in enumerate(names, 1)]
)
FILL: Fusion = "fill"
FUSIONS = st.sampled_from([FILL, "blend"])


@given(SERP, MATCHES, FUSIONS)
def test_each_page_is_ranked_once(serp: list[SerpTarget], matches: list[Candidate], fusion: Fusion) -> None:
    """Every search result and every match is there, once, with its signals and its rank in the search."""
    ranked = fuse(serp, matches, fusion)
    assert sorted(candidate.key for candidate in ranked) == sorted(
        {each.key for each in serp} | {each.key for each in matches}
    )
    ranks, known = {each.key: each.rank for each in serp}, {each.key for each in matches}
    for candidate in ranked:
        assert candidate.serp_rank == ranks.get(candidate.key, 0)
        assert isnan(candidate.similarity) == (candidate.key not in known)


@given(SERP, MATCHES)
def test_filling_puts_the_search_first(serp: list[SerpTarget], matches: list[Candidate]) -> None:
    """All search results come first in their order, then the rest by score, whatever the scores are."""
    ranked = fuse(serp, matches, "fill")
    assert [candidate.key for candidate in ranked[: len(serp)]] == [each.key for each in serp]
    rest = [0.0 if isnan(each.score) else each.score for each in ranked[len(serp) :]]
    assert rest == sorted(rest, reverse=True)


@given(SERP, MATCHES)
def test_blending_ranks_by_the_sum(serp: list[SerpTarget], matches: list[Candidate]) -> None:
    """The ranking falls by the score it shows: the similarity's, and for a search result its share on top."""
    ranked = fuse(serp, matches, "blend")
    assert [each.score for each in ranked] == sorted((each.score for each in ranked), reverse=True)
    own = {each.key: 0.0 if isnan(each.score) else each.score for each in matches}
    place = {each.key: number for number, each in enumerate(serp, 1)}
    for each in ranked:
        bonus = SERP_WEIGHT / place[each.key] if each.key in place else 0.0
        assert each.score == own.get(each.key, 0.0) + bonus


@given(SERP, MATCHES, st.data())
def test_blending_rewards_a_search_result(
    serp: list[SerpTarget], matches: list[Candidate], data: st.DataObject
) -> None:
    """To be found by the search, or found earlier, never moves a page down."""
    absent = [name for name in NAMES if url(name) not in {each.key for each in serp}]
    if not absent:
        return
    name = data.draw(st.sampled_from(absent))
    matches = [*[each for each in matches if each.key != url(name)], Candidate(url(name), url(name), 0.0)]
    at = data.draw(st.integers(0, len(serp)))
    longer = [each.key for each in serp[:at]] + [url(name)] + [each.key for each in serp[at:]]
    found = [SerpTarget(key, key, rank) for rank, key in enumerate(longer, 1)]
    places = [[each.key for each in fuse(hits, matches, "blend")].index(url(name)) for hits in (serp, found)]
    assert places[1] <= places[0]


@given(SERP, MATCHES, FUSIONS, st.randoms())
def test_the_order_of_the_matches_does_not_count(
    serp: list[SerpTarget], matches: list[Candidate], fusion: Fusion, random: Random
) -> None:
    """The same candidates give the same ranking in whatever order they come."""
    shuffled = random.sample(matches, len(matches))
    assert [each.key for each in fuse(serp, shuffled, fusion)] == [
        each.key for each in fuse(serp, matches, fusion)
    ]
