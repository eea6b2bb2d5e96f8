"""The evidence for selected links equals what plain loops over pages and links count."""

import numpy as np
import pytest

from internal_linker.model.evidence import Evidence
from internal_linker.model.records import ExistingLink, Page, Searched, SerpTarget
from internal_linker.rank.demotion import Demotions
from internal_linker.rank.evidence import Explainer
from internal_linker.rank.rank import NEIGHBOURS, Ranking
from internal_linker.rank.recommend import recommend
from tests.support.link_sites import pages_of, query_of, ranked_site

SECTIONS = ("tea", "coffee", "cups", "2024")


def site() -> tuple[Page, ...]:
    """Return 80 pages in four folders, one of them a year, whose words overlap more within a folder."""
    rng = np.random.default_rng(0)
    pages = []
    for number in range(80):
        own = [f"{SECTIONS[number % 4]}{word}" for word in rng.integers(0, 25, 20)]
        common = [f"word{word}" for word in rng.integers(0, 60, 10)]
        key = f"https://a.example/{SECTIONS[number % 4]}/{number}"
        pages.append(
            Page(key, key, title=f"page {number} topic{number % 40}x", content=" ".join([*own, *common]))
        )
    return tuple(pages)


PAGES = site()


def made(links: list[ExistingLink], searched: Searched | None = None) -> Ranking:
    sources = [*pages_of(PAGES), query_of("tea3 tea4 tea5")]
    return ranked_site(PAGES, sources, links=links, searched=searched, any_on_site=True, linked={})


def links(seed: int) -> set[tuple[int, int]]:
    ends = np.random.default_rng(seed).integers(0, len(PAGES), (400, 2)).tolist()
    return {(one, other) for one, other in ends if one != other}


@pytest.mark.parametrize("seed", range(3))
def test_each_count_is_the_one_by_hand(seed: int) -> None:
    pairs = links(seed)
    ranking = made(
        [ExistingLink(PAGES[one].key, PAGES[other].key, followed=one % 2 == 0) for one, other in pairs]
    )
    chosen = np.random.default_rng(seed).permutation(len(PAGES)).tolist()
    rows = [[row for row in chosen[:20] if row != position] for position in chosen[:30]]
    found = Explainer(ranking).explain_links(chosen[:30], [[PAGES[row].key for row in each] for each in rows])
    matches = ranking.site.matches(np.array(chosen[:30]), ranking.linkable, 0.65)
    for at, (position, targets) in enumerate(zip(chosen[:30], rows, strict=True)):
        near = matches.rows[matches.of == at][:NEIGHBOURS].tolist()
        assert len(near) == NEIGHBOURS
        for target, evidence in zip(targets, found[at], strict=True):
            linking = {one for one, other in pairs if other == target}
            here = {row for row in linking if row % 4 == position % 4}
            assert 1 <= evidence.topic <= 4
            assert evidence == Evidence(
                evidence.topic,
                NEIGHBOURS,
                len(linking & {*near}),
                len(linking),
                -1 if position % 4 == 3 else len(here),
                (target, position) in pairs,
                len(linking & {one for one, other in pairs if other == position}),
                f"topic{target % 40}x" if target % 40 == position % 40 else "",
            )


def test_links_of_a_run_have_their_evidence() -> None:
    stranger = SerpTarget("https://a.example/new", "https://a.example/new", 1)
    searched = Searched({80: (stranger,)})
    ranking = made([ExistingLink(PAGES[0].key, PAGES[4].key)], searched)
    *pages, query = recommend(ranking, searched, ranking.rules)
    assert all(
        link.evidence.topic and link.evidence.neighbours == NEIGHBOURS for one in pages for link in one.links
    )
    first, *others = query.links
    assert first.target.key == stranger.key and first.evidence == Evidence()
    assert others and all(link.evidence.section_inlinks == -1 and link.evidence.topic for link in others)


def test_a_link_of_last_resort_says_why() -> None:
    ranking = made([])
    template = np.full(len(PAGES), -1)
    template[[0, 4]] = 7
    ranking.last = Demotions(np.arange(len(PAGES)) == 1, template)
    ends = [[PAGES[row].key for row in rows] for rows in ([1, 4, 2], [0])]
    found = Explainer(ranking).explain_links([0, 1], ends)
    assert [[each.last_resort for each in some] for some in found] == [[1, 3, 0], [2]]


def test_without_known_links_only_the_topic_of_listed_pages_is_known() -> None:
    ranking = made([])
    explainer = Explainer(ranking)
    assert explainer.explain_links([], []) == []
    assert explainer.explain_links([0, 1], [[], ["https://a.example/new"]]) == [[], [Evidence()]]

    for item in recommend(ranking, Searched(), ranking.rules):
        assert all(
            link.evidence._replace(title_words="") == Evidence(link.evidence.topic) for link in item.links
        )
