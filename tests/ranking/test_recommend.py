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
from internal_linker.core.records import (
    Collected,
    Page,
    Recommendation,
    Searched,
    SerpTarget,
    Source,
    Targets,
)
from internal_linker.embeddings.embed import page_text
from internal_linker.ranking.fusion import Ranked
from internal_linker.ranking.rank import Ranking
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
    sources = tuple(Source(page.key, page.url, "q " + page.key, page, in_sheet=False) for page in pages)
    collected = Collected(pages, sources, (), 0)
    targets = Targets({page.key: page.url for page in pages}, {}, linked=linked or {})
    rules = LinkRules(3, "fill", 0.65, least, most)
    texts = [page_text(page) for page in pages]
    searched = searched or Searched()
    vectors = np.zeros((len(pages), 1), np.float32)
    ranking = Ranking(collected, sources, targets, searched, texts=texts, vectors=vectors, rules=rules)
    return list(recommend(ranking, searched, rules))


def inlinks(found: list[Recommendation]) -> Counter[str]:
    return Counter(link.target.key for link in chain.from_iterable(one.links for one in found))


def total(found: list[Recommendation]) -> float:
    return sum(link.target.score for link in chain.from_iterable(one.links for one in found))


PAGES = site(6, 15)


def test_every_page_gets_its_inlinks() -> None:
    """Without `min_inlinks` some pages get no inlink; with it each gets the minimum and keeps its own links."""
    alone, spread = links(PAGES, 0), links(PAGES, 2)
    assert min(inlinks(alone)[page.key] for page in PAGES) == 0
    assert min(inlinks(spread)[page.key] for page in PAGES) >= 2
    assert all(len(one.links) == 3 for one in spread)
    assert total(spread) > 0.9 * total(alone)


def test_lists_are_still_ranked_and_keep_the_rules() -> None:
    for one in links(PAGES, 2):
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


def test_search_results_stay_where_the_search_comes_first() -> None:
    """With `fill` no page gives up a search result for another page's inlink."""
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


def test_lists_are_filled_up_past_all_that_is_linked() -> None:
    first, *linked, one, two, three = (page.key for page in PAGES[:15])
    found = links(PAGES, 0, linked={first: tuple(linked)})
    assert {link.target.key for link in found[0].links} == {one, two, three}


def test_links_of_similar_pages_lead() -> None:
    """Targets of a page's most similar pages rank higher, even beyond its own candidates; it never gets itself."""
    site = link_sites.pages(150)
    alone = next(iter(link_sites.ranking(site, []).of([0])))
    near = [candidate.key for candidate in alone[:12]]
    unlike = next(page.key for page in site[1:] if page.key not in {candidate.key for candidate in alone})
    numbers = {page.key: number for number, page in enumerate(site)}
    ends = [(numbers[key], numbers[unlike]) for key in near]
    voted = next(iter(link_sites.ranking(site, [*ends, *((one, 0) for one, _ in ends)]).of([0])))
    keys = [candidate.key for candidate in voted]
    assert unlike in keys
    assert site[0].key not in keys


def test_links_of_strangers_speak_for_no_page() -> None:
    """A page without inlinks loses nothing against one that only pages unlike the source link to."""
    site = link_sites.pages(150)
    plain = next(iter(link_sites.ranking(site, []).of([0])))
    numbers = {page.key: number for number, page in enumerate(site)}
    known = {candidate.key for candidate in plain}
    strangers = [number for number in range(1, 150) if site[number].key not in known][:3]
    pairs = [(stranger, numbers[plain[5].key]) for stranger in strangers]
    after = next(iter(link_sites.ranking(site, pairs).of([0])))
    assert [one.key for one in after] == [one.key for one in plain]
    assert after[5].score < plain[5].score


@pytest.mark.parametrize("count", [0, 1, 2])
def test_a_site_of_hardly_any_pages(count: int) -> None:
    found = links(PAGES[:count], 2, most=10.0)
    assert [len(one.links) for one in found] == [max(0, count - 1)] * count


def test_pages_that_are_all_alike_still_get_their_links() -> None:
    pages = tuple(
        Page(f"https://a.example/{n}", f"https://a.example/{n}", content="same words") for n in range(120)
    )
    assert all(len(one.links) == 3 for one in links(pages, 2, most=1.5))


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


@pytest.mark.parametrize("count", [300, pytest.param(1500, marks=pytest.mark.long)])
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


def test_rules_limit_nothing_by_themselves() -> None:
    rules = LinkRules(5, "fill", 0.5)
    assert (rules.min_inlinks, rules.max_inlinks, rules.serp_floor) == (0, 0.0, 0.0)
