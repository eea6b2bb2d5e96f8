"""Relevance without embedding on editors' links: it must not fall below the floors, and all pages stay candidates.

The floors are slightly below the measured figures, since processors round differently. A floor is only ever lowered on
purpose: change FLOORS together with its copy in LOWERED_ON_PURPOSE, and say why in the commit.
"""

from collections import Counter
from dataclasses import replace
from functools import cache
from itertools import count

import numpy as np
import pytest

from internal_linker.insight.evaluation.holdout import HIDINGS, Hidden, by_similarity
from internal_linker.model.arrays import Vectors
from internal_linker.model.link_density import LinkDensity
from internal_linker.model.needs import LEVELS, PageNeeds
from internal_linker.model.records import Page, Searched
from internal_linker.rank.demotion import NO_DEMOTIONS, DemotionRules
from internal_linker.rank.metrics import TOP, measure
from internal_linker.rank.rank import Ranking
from internal_linker.rank.ranker import WORDS_AND_PASSAGES
from internal_linker.rank.recommend import recommend
from internal_linker.rank.rules import LinkRules
from tests.support.corpora import ABSENT, no_vectors, present, ranking, site

# NDCG@5 with anchors removed, by the links hidden; for cold pages as a ratio to words and passages alone.
# Without embedding the test takes seconds. Those of vue-fa-ar and the sample with all links hidden were 0.545 and 0.31
# with the fixed weights before the packaged ranker, which reaches 0.541 and 0.309: within chance, but below.
FLOORS = {
    "all": {"18f-blog": 0.44, "vue-fa-ar": 0.535, "sample": 0.305},
    "half": {"18f-blog": 0.43, "vue-fa-ar": 0.565},
    "cold": {"18f-blog": 1.15, "vue-fa-ar": 1.15},
}
LOWERED_ON_PURPOSE = {
    "all": {"18f-blog": 0.44, "vue-fa-ar": 0.535, "sample": 0.305},
    "half": {"18f-blog": 0.43, "vue-fa-ar": 0.565},
    "cold": {"18f-blog": 1.15, "vue-fa-ar": 1.15},
}
# Plain TF-IDF over title and content on the same input, measured once; not measured for the sample.
PLAIN_TFIDF = {"18f-blog": 0.395, "vue-fa-ar": 0.504}
WITHOUT_EMBEDDING = LinkRules(TOP, "fill", 1.0)


def in_tiers(hiding: str, quick: str = "vue-fa-ar sample") -> list[object]:
    """Return the sites that have this floor; the others than `quick` are for the long trials."""
    return [pytest.param(name, marks=[pytest.mark.long] * (name not in quick)) for name in FLOORS[hiding]]


@cache
def hidden_links(name: str, hiding: str) -> Hidden:
    """Return the site with these links hidden, once for all tests."""
    if not present(name):
        pytest.skip(ABSENT)
    return site(name, HIDINGS[hiding])


def without_embedding(site: Hidden, rules: LinkRules) -> Ranking:
    return ranking(site, no_vectors(site.pages), rules)


@cache
def plain(name: str, hiding: str) -> Ranking:
    """Return the ranking by the plain rules, once for all tests."""
    return without_embedding(hidden_links(name, hiding), WITHOUT_EMBEDDING)


def proposed(site: Hidden, least: int, last: DemotionRules = NO_DEMOTIONS) -> dict[str, list[str]]:
    """Return five links for every page without embedding, each page linked to at least this often."""
    rules = replace(WITHOUT_EMBEDDING, min_inlinks=least, max_inlinks=10.0, last=last)
    ranked = without_embedding(site, rules)
    return {
        one.source.url: [link.target.url for link in one.links]
        for one in recommend(ranked, Searched(), rules)
    }


def with_template(page: Page, number: int) -> Page:
    """Return a page; every second one ends with 120 words of one of two templates, one in ten from its title."""
    if number % 2:
        return page
    filled = (page.title or page.h1).split() or ["page"]
    template = [
        filled[at % len(filled)] if at % 10 == 0 else f"template{number % 4}word{at}" for at in range(120)
    ]
    return replace(page, content=f"{page.content}\n{' '.join(template)}")


def test_no_floor_was_lowered_by_the_way() -> None:
    """A floor must be changed in two places, so that nobody lowers it by accident."""
    assert FLOORS == LOWERED_ON_PURPOSE


@pytest.mark.parametrize("name", in_tiers("all"))
def test_relevance_is_at_its_floor(name: str) -> None:
    hidden = hidden_links(name, "all")
    alone = measure(hidden.truth, proposed(hidden, 0))
    ours = proposed(hidden, 2)
    spread = measure(hidden.truth, ours)
    print(f"{name}: NDCG@5 {spread.ndcg}, {alone.ndcg.mean:.4f} without inlinks for everyone; ", end="")
    print(f"Hit@5 {spread.hit.mean:.4f}")
    assert spread.ndcg.mean >= FLOORS["all"][name]
    assert spread.ndcg.mean >= 0.98 * alone.ndcg.mean
    assert spread.ndcg.mean > 1.05 * PLAIN_TFIDF.get(name, 0)
    inlinks = Counter(target for targets in ours.values() for target in targets)
    assert all(inlinks[page.url] for page in hidden.pages)


@pytest.mark.parametrize("name", in_tiers("half"))
def test_known_links_help_at_their_floor(name: str) -> None:
    hidden, ranked = hidden_links(name, "half"), plain(name, "half")
    ways = ranked, ranked.without_links()
    known, alone = (measure(hidden.truth, by_similarity(each)) for each in ways)
    print(f"{name}: NDCG@5 {known.ndcg}, {alone.ndcg.mean:.4f} without the known links")
    assert known.ndcg.mean >= FLOORS["half"][name]
    assert known.ndcg.mean > alone.ndcg.mean


@pytest.mark.parametrize("name", in_tiers("cold", quick=""))
def test_new_pages_are_found_at_their_floor(name: str) -> None:
    hidden, ranked = hidden_links(name, "cold"), plain(name, "cold")
    words = ranked.with_ranker(WORDS_AND_PASSAGES)
    ours, alone = (measure(hidden.truth, by_similarity(each)).ndcg for each in (ranked, words))
    print(
        f"{name}: NDCG@5 {ours}, {alone.mean:.4f} by words and passages, ratio {ours.mean / alone.mean:.4f}"
    )
    assert ours.mean >= FLOORS["cold"][name] * alone.mean


@pytest.mark.parametrize("name", in_tiers("half", quick=""))
def test_pages_of_last_resort_cost_little_relevance(name: str) -> None:
    hidden = hidden_links(name, "all")
    last = DemotionRules(100, LinkDensity(), deprecated=True, templates=True, one_way=0.4)
    alone, ours = (measure(hidden.truth, proposed(hidden, 2, rules)) for rules in (NO_DEMOTIONS, last))
    print(f"{name}: NDCG@5 {ours.ndcg}, {alone.ndcg.mean:.4f} where nobody comes last; Hit@5 ", end="")
    print(f"{ours.hit.mean:.4f}, {alone.hit.mean:.4f}")
    assert ours.ndcg.mean >= alone.ndcg.mean - 0.005


@pytest.mark.parametrize("name", in_tiers("half"))
def test_needs_bring_in_links_and_cost_little_relevance(name: str) -> None:
    hidden = hidden_links(name, "half")
    rules = replace(WITHOUT_EMBEDDING, min_inlinks=2, max_inlinks=10.0)
    ranked = plain(name, "half")

    def links(values: Vectors) -> dict[str, list[str]]:
        none = np.zeros(len(values), np.int64)
        needs = PageNeeds((np.rint(values * LEVELS) / LEVELS).astype(np.float32), none, none, none - 1)
        found = recommend(ranked, Searched(), rules, needs=needs)
        return {one.source.url: [link.target.url for link in one.links] for one in found}

    urls = [page.url for page in hidden.pages]
    drawn = np.isin(np.arange(len(urls)), np.random.default_rng(0).permutation(len(urls))[: len(urls) // 10])
    wanted = Counter(url for targets in hidden.truth.values() for url in targets)
    adverse = 1 / (1 + np.array([wanted[url] for url in urls], np.float64))
    without, random, worst = map(links, (np.zeros(len(urls)), drawn.astype(np.float64), adverse))
    ndcg = [measure(hidden.truth, each).ndcg.mean for each in (without, random, worst)]
    needy = {url for url, needs in zip(urls, drawn, strict=True) if needs}
    inlinks = [sum(url in needy for of in each.values() for url in of) for each in (without, random)]
    print(f"{name}: NDCG@5 {ndcg}, in-links of the needy {inlinks}")
    assert min(ndcg[1:]) >= 0.98 * ndcg[0]
    assert inlinks[1] > 1.02 * inlinks[0]


@pytest.mark.parametrize("name", in_tiers("all", quick="sample"))
def test_templates_cost_no_relevance(name: str) -> None:
    hidden = hidden_links(name, "all")
    alone = measure(hidden.truth, proposed(hidden, 0))
    templated = replace(hidden, pages=tuple(map(with_template, hidden.pages, count())))
    ours = measure(hidden.truth, proposed(templated, 0))
    print(f"{name}: NDCG@5 {alone.ndcg}, with templates {ours.ndcg}")
    assert ours.ndcg.mean >= 0.98 * alone.ndcg.mean
