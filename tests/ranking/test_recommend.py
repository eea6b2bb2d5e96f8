"""The links of a whole site: every page gets its inlinks, none too many, and each list stays as good as possible."""

from collections import Counter
from dataclasses import replace
from itertools import chain
from pathlib import Path

import numpy as np
import pytest

from internal_linker.adapters.compute.processes import Processes
from internal_linker.core.arrays import Bools, Ints
from internal_linker.core.ports import Workers
from internal_linker.core.records import Candidate, Page, Recommendation, Searched, SerpTarget
from internal_linker.ranking.fusion import Ranked
from internal_linker.ranking.recommend import recommend
from internal_linker.ranking.rules import LinkRules
from tests.support import link_sites


def site(topics: int, pages: int) -> tuple[Page, ...]:
    """Return pages in topics; the first of each is the longest and shares a word with all others of its topic."""
    rng = np.random.default_rng(0)
    made = []
    for topic in range(topics):
        for number in range(pages):
            own = [f"t{topic}w{word}" for word in rng.integers(0, 30, 12)]
            hub = [f"t{topic}w{word}" for word in range(30)] if number == 0 else []
            key = f"https://a.example/{topic}/{number}"
            made.append(Page(key, key, title=f"t{topic}", content=" ".join([*own, *hub, "lone" + key[-3:]])))
    return tuple(made)


def links(
    pages: tuple[Page, ...],
    least: int,
    most: float = 0.0,
    searched: Searched | None = None,
    linked: dict[str, tuple[str, ...]] | None = None,
) -> list[Recommendation]:
    rules, searched = LinkRules(3, "fill", 0.65, least, most), searched or Searched()
    ranking = link_sites.ranked_site(pages, searched=searched, rules=rules, linked=linked or {})
    return list(recommend(ranking, searched, rules))


def inlinks(found: list[Recommendation]) -> Counter[str]:
    return Counter(link.target.key for link in chain.from_iterable(one.links for one in found))


PAGES = site(6, 15)


def test_every_page_gets_its_inlinks() -> None:
    alone, spread = links(PAGES, 0), links(PAGES, 2)
    assert min(inlinks(alone)[page.key] for page in PAGES) == 0
    assert min(inlinks(spread)[page.key] for page in PAGES) >= 2
    total = [sum(link.target.score for one in found for link in one.links) for found in (alone, spread)]
    assert total[1] > 0.9 * total[0]
    for one in spread:
        scores = [link.target.score for link in one.links]
        assert scores == sorted(scores, reverse=True)
        assert [link.rank for link in one.links] == [1, 2, 3]
        keys = {link.target.key for link in one.links}
        assert len(keys) == 3
        assert one.source.key not in keys
        assert {key.split("/")[3] for key in keys} == {one.source.key.split("/")[3]}


def test_no_page_gets_more_than_its_share() -> None:
    """No page has more inlinks than `max_inlinks` times the mean, which is 3 here."""
    assert max(inlinks(links(PAGES, 0)).values()) > 6
    assert max(inlinks(links(PAGES, 1, most=2.0)).values()) <= 6
    alike = tuple(
        Page(f"https://a.example/{n}", f"https://a.example/{n}", content="same words") for n in range(120)
    )
    assert all(len(one.links) == 3 for one in links(alike, 2, most=1.5))


def test_search_results_stay_where_the_search_comes_first() -> None:
    serp = {
        place: tuple(
            SerpTarget(other.key, other.url, rank) for rank, other in enumerate(PAGES[:4], 1) if other != page
        )
        for place, page in enumerate(PAGES)
        if place >= 20
    }
    found = links(PAGES, 2, searched=Searched(targets=serp))
    for one in found[20:]:
        assert [link.target.key for link in one.links] == [page.key for page in PAGES[:3]]


def test_what_is_linked_already_is_no_inlink_to_hand_out() -> None:
    lonely = PAGES[3].key
    found = links(PAGES, 2, linked={page.key: (lonely,) for page in PAGES})
    assert inlinks(found)[lonely] == 0
    first, *linked, one, two, three = (page.key for page in PAGES[:15])
    found = links(PAGES, 0, linked={first: tuple(linked)})
    assert {link.target.key for link in found[0].links} == {one, two, three}


def first_list(pairs: link_sites.Pairs) -> tuple[Candidate, ...]:
    return next(iter(link_sites.ranking(SITE, pairs).of([0])))


SITE = link_sites.pages(150)
NUMBERS = {page.key: number for number, page in enumerate(SITE)}


def test_links_of_similar_pages_lead_and_those_of_strangers_speak_for_no_page() -> None:
    alone = first_list([])
    near = [candidate.key for candidate in alone[:12]]
    known = {candidate.key for candidate in alone}
    strangers = [number for number in range(1, 150) if SITE[number].key not in known][:3]
    ends = [(NUMBERS[key], strangers[0]) for key in near]
    voted = {candidate.key for candidate in first_list([*ends, *((one, 0) for one, _ in ends)])}
    assert SITE[strangers[0]].key in voted and SITE[0].key not in voted
    after = first_list([(stranger, NUMBERS[alone[5].key]) for stranger in strangers])
    assert [one.key for one in after] == [one.key for one in alone]
    assert after[5].score < alone[5].score


@pytest.mark.parametrize("count", [0, 1, 2])
def test_a_site_of_hardly_any_pages(count: int) -> None:
    found = links(PAGES[:count], 2, most=10.0)
    assert [len(one.links) for one in found] == [max(0, count - 1)] * count


@pytest.mark.parametrize("count", [100, pytest.param(600, marks=pytest.mark.long)])
def test_other_processes_find_the_same_links(
    count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = link_sites.pages(count)
    pairs = link_sites.random_pairs(count, 300 + count, 1, popularity=1.0)

    def found(workers: Workers | None = None) -> list[str]:
        ranking = link_sites.ranking(pages, pairs, "w1 w2", workers=workers)
        rules = replace(link_sites.RULES, min_inlinks=1)
        # NaN isn't equal to itself.
        return [str(each.links) for each in recommend(ranking, Searched(), rules)]

    alone = found()
    monkeypatch.setattr("internal_linker.matching.site_index.SHARED_FROM", len(pages))
    said: list[str] = []
    shared = tmp_path / "shared.tmp"
    with Processes(2, shared, said.append) as processes:
        assert found(processes) == alone
        assert shared.exists() and not said


@pytest.mark.parametrize("count", [200, pytest.param(1500, marks=pytest.mark.long)])
def test_the_links_are_those_of_all_candidates(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    pages = link_sites.pages(count)
    pairs = link_sites.random_pairs(count, 2 * count, 1, popularity=1.0)
    ranking = link_sites.ranking(pages, pairs)
    rules, chosen = replace(link_sites.RULES, min_inlinks=2, max_inlinks=4.0), list[int]()
    whole = Ranked.at

    def noted(ranked: Ranked, positions: Ints | Bools | slice) -> Ranked:
        if isinstance(positions, np.ndarray) and positions.dtype == np.bool_ and positions.size:
            chosen.append(round(100 * positions.mean()))
        return whole(ranked, positions)

    monkeypatch.setattr(Ranked, "at", noted)
    some = [str(each) for each in recommend(ranking, Searched(), rules)]
    monkeypatch.setattr("internal_linker.ranking.recommend.FOREMOST", 10_000)
    assert [str(each) for each in recommend(ranking, Searched(), rules)] == some
    assert chosen[0] < 50 < chosen[1] == 100


def test_the_size_of_a_block_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    pages = site(4, 10)
    at_once = links(pages, 2, 3.0)
    monkeypatch.setattr("internal_linker.ranking.rank.BLOCK", 7)
    monkeypatch.setattr("internal_linker.ranking.recommend.BLOCK", 7)
    assert repr(links(pages, 2, 3.0)) == repr(at_once)
    rules = LinkRules(5, "fill", 0.5)
    assert (rules.min_inlinks, rules.max_inlinks, rules.serp_floor) == (0, 0.0, 0.0)
