"""Brand queries are distinguished from others on made-up sites whose names have different shapes."""

from collections import Counter
from functools import cache

import pytest

from internal_linker.insight.main_queries import main_queries, site_names, without_names
from tests.research.quality.brand_queries import SITES, BrandSite

# Seeds of the figures of the queries.
ROUNDS = 10


def recognised(site: BrandSite, seed: int) -> set[str]:
    """Return the queries that are taken for the site's name."""
    rows = site.rows(seed)
    names = site_names([site.home], site.brands)
    found = {*main_queries(rows, names=names).brands["query"]}
    assert {*without_names(rows, names)["query"]} == {*rows["query"]} - found
    return found


@cache
def measured(name: str) -> Counter[str]:
    """Return how many queries are right and wrong: "hit", "missed", "false alarm" and "rest"."""
    site, counts = SITES[name], Counter[str]()
    for seed in range(ROUNDS):
        found = recognised(site, seed)
        for query, brand in site.labelled().items():
            kinds = ("missed", "hit") if brand else ("rest", "false alarm")
            counts[kinds[query in found]] += 1
    return counts


def rates(counts: Counter[str]) -> tuple[float, float]:
    """Return precision and recall."""
    return counts["hit"] / (counts["hit"] + counts["false alarm"]), counts["hit"] / (
        counts["hit"] + counts["missed"]
    )


@pytest.mark.parametrize("name", SITES)
def test_names_of_each_shape_are_recognised(name: str) -> None:
    """Of what is left out, nine in ten are for the site's name, and of those nine in ten are left out."""
    precision, recall = rates(measured(name))
    assert precision >= 0.9
    assert recall >= 0.9


def test_names_are_recognised_on_the_whole() -> None:
    """On all sites together, both floors are higher."""
    precision, recall = rates(sum((measured(name) for name in SITES), Counter[str]()))
    assert precision >= 0.98
    assert recall >= 0.94
