"""Features of pairs of pages: each is computed for candidates only, and is the one that plain loops find."""

from collections.abc import Mapping
from math import log, log1p, sqrt

import numpy as np
import pytest

from internal_linker.match.page_names import Stems
from internal_linker.model.arrays import Bools, Ints, Pairs, Vectors, pairs_of
from internal_linker.model.records import Page
from internal_linker.rank.pair_features import MOST_LINKED, PAIR_FEATURES, PairFeatures, hidden
from internal_linker.rank.pair_link_features import (
    SOURCE_LINK_FEATURES,
    TARGET_LINK_FEATURES,
    SimilarPagesLinks,
)
from internal_linker.rank.rank import Ranking
from internal_linker.rank.text_features import TEXT_FEATURES, title_brands, title_stems
from tests.support.builders import page
from tests.support.link_sites import ranking
from tests.support.word_indexes import word_index

PAGES = (
    page(0, "How to brew cold coffee in a pot of clay", title="Coffee", lang="en"),
    page(1, "Cold brew takes a ratio of one to eight", title="Cold brew ratio", lang="en"),
    page(2, "A grinder for coffee lasts", title="Grinders", lang="en"),
    page(3, "Tea in a pot of clay, never cold", title="Tea pots of clay", lang="en"),
    page(4, "Green tea, brewed in a pot", title="Green tea", lang="en"),
    page(5, "Tins for tea and for coffee", title="Tins", lang="en"),
)
LINKS = [(0, 1), (0, 2), (3, 4), (3, 1), (4, 1), (4, 2), (2, 0)]
NO_NAMES = pairs_of([])


def features(
    made: Ranking, pages: tuple[Page, ...], texts: Ints, named: Pairs = NO_NAMES
) -> tuple[Pairs, Vectors]:
    site = made.site
    every = Pairs(np.repeat(np.arange(len(texts)), len(pages)), np.tile(np.arange(len(pages)), len(texts)))
    matches = site.matches(texts, made.linkable, 1.0, every)
    computed = PairFeatures(site, word_index(pages), made.graph)
    (fits,) = site.fits([(texts, matches.pairs.lists(len(texts)), computed.linked(texts))])
    near = site.matches(texts, made.linkable, 1.0)
    similar = SimilarPagesLinks.from_graph(made.graph, near, 2)
    return matches.pairs, computed.compute_features(texts, matches, fits, named, similar)


def of_pairs(named: Pairs = NO_NAMES) -> Mapping[tuple[int, int], Mapping[str, float]]:
    """Return the features of each pair of two of `PAGES`, by name."""
    pairs, values = features(ranking(PAGES, LINKS), PAGES, np.arange(len(PAGES)), named)
    ends = zip(pairs.of.tolist(), pairs.rows.tolist(), strict=True)
    return {
        pair: dict(zip(PAIR_FEATURES, row.tolist(), strict=True))
        for pair, row in zip(ends, values, strict=True)
    }


def unknown(names: tuple[str, ...], found: Mapping[str, float]) -> list[bool]:
    return [bool(np.isnan(found[name])) for name in names]


def test_every_pair_has_all_features_and_common_links_are_counted() -> None:
    found = of_pairs()
    assert len(found) == len(PAGES) * (len(PAGES) - 1)
    known = np.array([[*values.values()] for values in found.values()])
    always = [
        at
        for at, name in enumerate(PAIR_FEATURES)
        if name not in (*SOURCE_LINK_FEATURES, *TARGET_LINK_FEATURES)
    ]
    never = {"embedding", "embedding without hubness", "time"}
    assert {PAIR_FEATURES[at] for at in always if np.isnan(known[:, at]).any()} == never
    pair = found[2, 1]
    # Pages 0 and 4 link to both.
    assert pair["cocited"] == pytest.approx(log1p(2))
    assert pair["cocited cosine"] == pytest.approx(2 / sqrt(2 * 3))
    # 2 -> 0 -> 1 is the only way over one page, and page 2 links to no other.
    assert pair["two steps"] == 1
    # Their common neighbours are pages 0 (three links) and 4 (three links).
    assert pair["adamic-adar"] == pytest.approx(2 / log(3.001))
    assert pair["inlinks"] == pytest.approx(log1p(3))
    assert pair["links back"] == 0 and found[1, 0]["links back"] == 1
    # Pages 0 and 4 both link to 1 and to 2.
    assert found[0, 4]["coupling"] == 1
    assert found[0, 3]["coupling"] == 0.5
    assert all(unknown(TARGET_LINK_FEATURES, found[0, 5]))
    assert not any(unknown(SOURCE_LINK_FEATURES, found[0, 5]))
    assert all(unknown(SOURCE_LINK_FEATURES, found[5, 1]))
    assert not any(unknown((*TARGET_LINK_FEATURES, "links back"), found[5, 1]))
    _, values = features(ranking(PAGES, []), PAGES, np.arange(2))
    of_links = [*SOURCE_LINK_FEATURES, *TARGET_LINK_FEATURES, "links back"]
    assert np.isnan(values[:, [PAIR_FEATURES.index(name) for name in of_links]]).all()


def test_similar_pages_say_what_to_link_to() -> None:
    made, found = ranking(PAGES, LINKS), of_pairs()
    near = made.site.matches(np.array([5]), made.linkable, 1.0)
    cosine = dict(zip(near.rows.tolist(), near.lexical.tolist(), strict=True))
    assert found[5, 2]["best inlinker"] == pytest.approx(max(cosine[0], cosine[4]))
    # The two most similar pages vote.
    voters = dict(zip(near.rows[:2].tolist(), near.score[:2].tolist(), strict=True))
    yes = sum(weight for voter, weight in voters.items() if (voter, 1) in LINKS)
    assert found[5, 1]["votes"] == pytest.approx(yes / sum(voters.values()))
    others = made.site.matches(np.array([5]), made.linkable, 1.0, pairs_of([range(5)]))
    cosine = dict(zip(others.rows.tolist(), others.lexical.tolist(), strict=True))
    assert found[0, 5]["linked similarity"] == pytest.approx((cosine[1] + cosine[2]) / 2)
    assert found[0, 5]["best linked"] == pytest.approx(max(cosine[1], cosine[2]))


def test_titles_are_found_in_texts() -> None:
    found = of_pairs(pairs_of([[], [], [], [], [3], []]))
    assert found[0, 1]["title covered"] > 0.4
    assert found[0, 5]["title covered"] == 0
    assert found[2, 0]["title covered"] == found[5, 0]["title covered"] == pytest.approx(1)
    assert found[0, 3]["title pairs in source"] > 0 and found[1, 3]["title pairs in source"] == 0
    assert found[3, 4]["titles"] > 0 and found[3, 5]["titles"] == 0
    assert found[4, 3]["named"] == 1 and found[3, 4]["named"] == 0
    assert found[0, 1]["bm25 in target"] > found[0, 4]["bm25 in target"] > 0
    assert found[0, 1]["target length"] == pytest.approx(log1p(len("cold brew takes ratio eight".split())))


def test_the_brand_is_no_part_of_titles() -> None:
    titles = "Teas", "Grinders", "Pots", "Milk", "Water", "Slow Kettle"
    pages = [page(title, title=f"{title} | Slow Kettle", lang="en") for title in titles[:5]]
    pages.append(page("Kettle", h1="Slow Kettle", lang="en"))
    found = title_stems(pages, Stems(), title_brands(pages))
    assert [*found] == [("tea",), ("grinder",), ("pot",), ("milk",), ("water",), ("slow", "kettl")]


def test_hidden_links_of_targets_are_unknown() -> None:
    _, values = features(ranking(PAGES, LINKS), PAGES, np.array([0, 2]))
    where: Bools = np.arange(len(values)) % 2 == 0
    of_target = np.array([name in TARGET_LINK_FEATURES for name in PAIR_FEATURES])
    found = hidden(values, where)
    assert np.isnan(found[where][:, of_target]).all()
    np.testing.assert_array_equal(found[~where], values[~where])
    np.testing.assert_array_equal(found[:, ~of_target], values[:, ~of_target])


def test_at_most_some_linked_pages_are_compared() -> None:
    pages = tuple(page(number, "tea") for number in range(3 * MOST_LINKED))
    made = ranking(pages, [(0, target) for target in range(1, len(pages))] + [(1, 2)])
    linked = PairFeatures(made.site, word_index(pages), made.graph).linked(np.array([0, 1, 2]))
    assert [len(groups) for groups in linked] == [MOST_LINKED, 1, 0]
    assert linked[0][0].tolist() == [1] and linked[0][-1] > 2 * MOST_LINKED


def test_other_links_change_link_features_alone() -> None:
    made, texts = ranking(PAGES, []), np.arange(len(PAGES))
    computed = PairFeatures(made.site, word_index(PAGES), made.graph)
    other = ranking(PAGES, LINKS)
    matches = made.site.matches(texts, made.linkable, 1.0)
    knowing = computed.with_graph(other.graph)
    (fits,) = made.site.fits([(texts, matches.pairs.lists(len(texts)), knowing.linked(texts))])
    similar = SimilarPagesLinks.from_graph(other.graph, matches, 2)
    found = knowing.compute_features(texts, matches, fits, NO_NAMES, similar)
    fresh = PairFeatures(made.site, word_index(PAGES), other.graph).compute_features(
        texts, matches, fits, NO_NAMES, similar
    )
    np.testing.assert_array_equal(found, fresh)
    before = computed.compute_features(texts, matches, fits, NO_NAMES, similar)
    np.testing.assert_array_equal(found[:, : len(TEXT_FEATURES)], before[:, : len(TEXT_FEATURES)])
    assert not np.array_equal(found, before, equal_nan=True)


def test_a_query_has_features() -> None:
    made = ranking(PAGES, LINKS, "cold brew")
    (((chosen,), (values,)),) = made.features([len(PAGES)], [made])
    matches = chosen.matches
    assert chosen.texts.tolist() == [len(PAGES)] and len(matches.rows) and max(matches.rows) < len(PAGES)
    assert values.shape == (len(matches.rows), len(PAIR_FEATURES))
    assert np.isnan(values[:, PAIR_FEATURES.index("coupling")]).all()
