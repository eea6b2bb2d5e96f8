"""The links of a whole site: every page gets its inlinks, none too many, and each list stays as good as possible."""

from collections import Counter
from dataclasses import replace
from itertools import chain
from pathlib import Path

import numpy as np
import pytest

from internal_linker.match.compute.processes import Processes
from internal_linker.model.arrays import Bools, Ints, Pairs, ranks
from internal_linker.model.house_rules import TargetGoal
from internal_linker.model.reasons import FewLinks
from internal_linker.model.records import Candidate, Page, Recommendation, Searched, SerpTarget
from internal_linker.rank.choice import Chooser
from internal_linker.rank.fusion import Ranked
from internal_linker.rank.recommend import all_ranked, counting, recommend
from internal_linker.rank.rules import LinkRules
from internal_linker.rank.stability import preferences
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


def capped(most: int, searched: Searched | None = None, least: int = 0) -> list[Recommendation]:
    rules, searched = LinkRules(3, "fill", 0.65, least, max_new_inlinks=most), searched or Searched()
    return list(recommend(link_sites.ranked_site(PAGES, searched=searched, rules=rules), searched, rules))


def test_no_page_gets_more_new_links_than_allowed() -> None:
    """With room for all links, lists stay full: a source whose favourite is full takes the next."""
    found = capped(4)
    assert max(inlinks(found).values()) == 4
    assert all(len(one.links) == 3 for one in found)
    free, loose = links(PAGES, 0), capped(15)
    assert [[link.target.key for link in one.links] for one in loose] == [
        [link.target.key for link in one.links] for one in free
    ]


def test_lists_are_short_where_all_targets_are_full() -> None:
    found = capped(2, least=3)
    assert set(inlinks(found).values()) == {2}
    short = [one.shortage for one in found if one.shortage]
    assert short and {one.reason.kind for one in short} == {FewLinks.TARGETS_FULL}


def test_accepted_links_are_no_new_ones() -> None:
    rules = LinkRules(3, "fill", 0.65, max_new_inlinks=2)
    ranking = link_sites.ranked_site(PAGES, rules=rules)
    counts = counting(ranking.sources)
    ranked, _ = all_ranked(ranking, counts, offering=False)
    hub = int(np.bincount(ranked.targets).argmax())
    accepted = Pairs(ranked.of[ranked.targets == hub][:6], np.full(6, hub))
    chooser = Chooser(
        ranked, ranking, counts, rules, preferences(ranked, None), bonus=np.zeros(len(ranked.of))
    )
    first = chooser.chosen_first(accepted)
    first = first.at(ranks(first.of) < 3)
    found = Counter(first.targets.tolist())
    assert found.pop(hub) == 6 + 2
    assert max(found.values()) == 2


def test_goals_replace_the_limits_of_their_pages() -> None:
    free = inlinks(links(PAGES, 1))
    (hub, _), (lonely, _) = free.most_common(1)[0], free.most_common()[-1]
    goals = (TargetGoal(2, hub, 0, 2), TargetGoal(3, lonely, 6), TargetGoal(4, "https://a.example/gone", 1))
    rules = LinkRules(3, "fill", 0.65, 1, goals=goals)
    found = inlinks(list(recommend(link_sites.ranked_site(PAGES, rules=rules), Searched(), rules)))
    assert free[hub] > 6 and free[lonely] < 3
    assert (found[hub], found[lonely]) == (2, 6)
    rules = replace(rules, max_new_inlinks=5)
    found = inlinks(list(recommend(link_sites.ranked_site(PAGES, rules=rules), Searched(), rules)))
    assert (found[hub], found[lonely]) == (2, 5)


def test_links_that_rules_ask_for_come_first() -> None:
    """They do so though the pages have nothing in common, and each source still has its number of links."""
    far, further = 40, 80
    ranking = link_sites.ranked_site(PAGES, rules=(rules := LinkRules(3, "fill", 0.65, 2)))
    ruled = Pairs(np.array([0, 0, 1]), np.array([far, further, far]))
    found = list(recommend(ranking, Searched(), rules, ruled=ruled))
    assert {link.target.key for link in found[0].links[:2]} == {PAGES[far].key, PAGES[further].key}
    assert [link.origin for link in found[0].links] == ["rule", "rule", "semantic"]
    assert [link.origin for link in found[1].links] == ["rule", "semantic", "semantic"]
    assert all(link.origin == "semantic" for one in found[2:] for link in one.links)


def test_search_results_come_first_up_to_the_limit() -> None:
    first = PAGES[0]
    hits: tuple[SerpTarget, ...] = (SerpTarget(first.key, first.url, 1),)
    serp = dict.fromkeys(range(20, 40), hits)
    found = capped(5, Searched(targets=serp))
    assert inlinks(found)[first.key] == 5
    assert max(inlinks(found).values()) == 5
    assert all(len(one.links) == 3 for one in found)


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
    return next(iter(link_sites.ranking(SITE, pairs).rank_sources([0])))


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

    def found(workers: Processes | None = None) -> list[str]:
        ranking = link_sites.ranking(pages, pairs, "w1 w2", workers=workers)
        rules = replace(link_sites.RULES, min_inlinks=1)
        # NaN isn't equal to itself.
        return [str(each.links) for each in recommend(ranking, Searched(), rules)]

    alone = found()
    monkeypatch.setattr("internal_linker.match.site_index.SHARED_FROM", len(pages))
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
    monkeypatch.setattr("internal_linker.rank.recommend.FOREMOST", 10_000)
    assert [str(each) for each in recommend(ranking, Searched(), rules)] == some
    assert chosen[0] < 50 < chosen[1] == 100


def test_the_size_of_a_block_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    pages = site(4, 10)
    at_once = links(pages, 2, 3.0)
    monkeypatch.setattr("internal_linker.rank.rank.BLOCK", 7)
    monkeypatch.setattr("internal_linker.rank.recommend.BLOCK", 7)
    assert repr(links(pages, 2, 3.0)) == repr(at_once)
    rules = LinkRules(5, "fill", 0.5)
    assert (rules.min_inlinks, rules.max_inlinks, rules.serp_floor) == (0, 0.0, 0.0)
