"""The features of a run's candidates: a hidden link leaves no trace in them, and sources don't influence each other."""

from math import isnan

import numpy as np
import pytest

from internal_linker.model.arrays import Vectors
from internal_linker.rank.rank import Chosen, Ranking
from tests.support.link_sites import existing, pages, random_pairs, ranking

PAGES = pages(150)
LINKS = tuple(random_pairs(150, 600, seed=1))


def first(ranked: Ranking, count: int) -> tuple[Chosen, Vectors]:
    (((chosen,), (features,)),) = ranked.features(range(count), [ranked])
    return chosen, features


@pytest.mark.parametrize("seed", range(3))
def test_no_feature_of_a_pair_tells_whether_it_is_linked(seed: int) -> None:
    n = 24
    site = pages(n, seed)
    pairs = random_pairs(n, 90, seed, popularity=seed % 3)
    source, target = pairs[np.random.default_rng(seed).integers(len(pairs))]
    rest = [pair for pair in pairs if pair != (source, target)]
    found = []
    for known in (pairs, rest):
        whole = ranking(site, known)
        found.append(first(whole.with_links(existing(rest), [whole.sources[source]]), 1))
    (with_it, ours), (without, theirs) = found
    assert target in without.matches.rows
    np.testing.assert_array_equal(with_it.matches.rows, without.matches.rows)
    np.testing.assert_array_equal(ours, theirs)


def test_what_is_known_of_one_source_does_not_depend_on_the_others_asked_for() -> None:
    whole = ranking(PAGES, LINKS)
    sources = whole.sources[:5]
    states = [whole.with_links(existing(LINKS[part::3]), sources) for part in range(3)]
    ((chosen, together),) = states[0].features(range(5), states)
    for state, ours, features in zip(states, chosen, together, strict=True):
        alone, theirs = first(state, 5)
        np.testing.assert_array_equal(ours.matches.rows, alone.matches.rows)
        np.testing.assert_allclose(features, theirs, rtol=1e-6)


def test_blocks_of_sources_have_the_features_of_the_whole() -> None:
    ranked = ranking(PAGES, LINKS)
    together = [*ranked.rank_sources(range(150))]
    for at in (0, 70, 149):
        (alone,) = ranking(PAGES, LINKS).rank_sources([at])
        assert [one.key for one in alone] == [one.key for one in together[at]]
        np.testing.assert_allclose(
            [one.score for one in alone], [one.score for one in together[at]], rtol=1e-4, atol=1e-5
        )


def test_without_links_no_link_counts_but_old_ones_stay_out() -> None:
    whole = ranking(PAGES, LINKS)
    ignoring, never = whole.without_links(), ranking(PAGES, ())
    both = zip(ignoring.rank_sources(range(20)), never.rank_sources(range(20)), strict=True)
    for at, (ours, theirs) in enumerate(both):
        linked = {PAGES[target].key for source, target in LINKS if source == at}
        ours_keys = [one.key for one in ours]
        assert linked and not linked & {*ours_keys}
        expected = [one.key for one in theirs if one.key not in linked]
        # Scores are relative to the candidates, and a longer list of the most similar pages stands in for linked ones.
        assert len({*ours_keys[:10]} & {*expected[:10]}) >= 8


def test_a_query_without_a_page_is_ranked_beside_known_links() -> None:
    queries = "w1 w2 w3 w4", "w5"
    ours, none = (ranking(PAGES, links, *queries) for links in (LINKS, ()))
    last = range(len(ours.sources) - 2, len(ours.sources))
    for one, without in zip(ours.rank_sources(last), none.rank_sources(last), strict=True):
        assert len(one) >= 50 and all(isnan(each.probability) for each in one)
        assert [(each.key, each.score) for each in one] == [(each.key, each.score) for each in without]
