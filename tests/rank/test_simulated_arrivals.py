"""Simulated arrivals: all links of a new page are hidden, and what is to be found resembles what editors add."""

from collections import Counter

from internal_linker.model.records import ExistingLink
from internal_linker.rank.simulated_arrivals import GROUPS, simulated_arrivals
from tests.support.builders import url
from tests.support.link_sites import existing, random_pairs

PAGES = [url(number) for number in range(200)]
LINKS = existing(random_pairs(200, 3000, seed=0))


def test_no_link_from_or_to_a_new_page_is_known() -> None:
    every = {(link.source, link.target) for link in LINKS}
    for found in simulated_arrivals(PAGES, LINKS):
        known = {(link.source, link.target) for link in found.known}
        assert found.new.isdisjoint(end for ends in known for end in ends)
        assert {*found.added} <= every - known
        assert {ends for ends in every - known if ends[0] in found.new} <= {*found.added}


def test_each_page_is_new_once() -> None:
    groups = [found.new for found in simulated_arrivals(PAGES, LINKS)]
    assert len(groups) == GROUPS
    assert Counter(key for group in groups for key in group) == dict.fromkeys(PAGES, 1)
    assert all(len(PAGES) / GROUPS / 2 < len(group) < 2 * len(PAGES) / GROUPS for group in groups)
    forwards, backwards = (list(simulated_arrivals(PAGES, links)) for links in (LINKS, LINKS[::-1]))
    assert [found.added for found in forwards] == [found.added for found in backwards]
    assert [found.new for found in forwards] == [found.new for found in backwards]


def test_the_kinds_of_links_resemble_what_editors_add() -> None:
    kinds = Counter(
        (source in found.new, target in found.new)
        for found in simulated_arrivals(PAGES, LINKS)
        for source, target in found.added
    )
    share = {kind: count / kinds.total() for kind, count in kinds.items()}
    assert 0.6 < share[True, True] + share[True, False] < 0.7
    assert 0.4 < share[True, True] + share[False, True] < 0.5
    assert 0.1 < share[False, False] < 0.2


def test_links_that_do_not_join_two_pages_stay_known() -> None:
    outside = [ExistingLink(PAGES[0], "https://elsewhere.example/"), ExistingLink(PAGES[1], PAGES[1])]
    for found in simulated_arrivals(PAGES, [*LINKS, *outside]):
        assert {*outside} <= {*found.known}
    assert not list(simulated_arrivals(PAGES, outside))
