"""Needs in the choice of links: they decide between targets that fit nearly equally well, and the reason says so."""

from collections.abc import Sequence

import numpy as np
import pytest

from internal_linker.model.arrays import Bools, Vectors
from internal_linker.model.edges import Edge, why
from internal_linker.model.needs import PageNeeds
from internal_linker.model.records import Recommendation, Searched
from internal_linker.rank.fusion import Ranked
from internal_linker.rank.priorities import by_need
from internal_linker.rank.recommend import recommend
from internal_linker.rank.rules import NEED_BONUS, LinkRules
from tests.rank.test_recommend import PAGES
from tests.support.link_sites import ranked_site


def links(values: Sequence[float] | None, least: int = 0, bonus: float = NEED_BONUS) -> list[Recommendation]:
    rules = LinkRules(3, "fill", 0.65, least, need_bonus=bonus)
    n, needed = len(PAGES), None
    if values is not None:
        needed = PageNeeds(np.array(values, np.float32), np.full(n, 1200), np.full(n, 8), np.full(n, -1))
    return list(recommend(ranked_site(PAGES, rules=rules), Searched(), rules, needs=needed))


def ends(found: Sequence[Recommendation]) -> set[tuple[str, str]]:
    return {(one.source.key, link.target.key) for one in found for link in one.links}


NEEDY = np.random.default_rng(1).random(len(PAGES)).round(1).tolist()


@pytest.mark.parametrize(("least", "value"), [(0, 0.0), (2, 1.0)])
def test_equal_needs_change_nothing(least: int, value: float) -> None:
    assert list(map(str, links([value] * len(PAGES), least))) == list(map(str, links(None, least)))


def test_no_link_gives_way_to_one_that_scores_much_less_and_the_reason_names_the_need() -> None:
    bonus = 0.5
    plain, ours = links(None), links(NEEDY, bonus=bonus)
    need = dict(zip((page.key for page in PAGES), NEEDY, strict=True))
    changed = 0
    for before, after in zip(plain, ours, strict=True):
        then, now = ({link.target.key: link for link in one.links} for one in (before, after))
        gone, came = then.keys() - now.keys(), now.keys() - then.keys()
        changed += len(came)
        for old in gone:
            for new in came:
                lost = then[old].target.score - now[new].target.score
                assert 0 <= lost <= bonus * (need[new] - need[old]) + 1e-6
    assert changed > 5
    told = set()
    for one in ours:
        scores = [link.target.score for link in one.links]
        assert scores == sorted(scores, reverse=True)
        for link in one.links:
            edge = Edge(one.source.key, link.target.key, "", "", rank=link.rank, evidence=link.evidence)
            if "hosen by priority: the target earns 1,200 impressions in 28 days at position 8" in why(edge):
                told.add((one.source.key, link.target.key))
    assert told == ends(ours) - ends(plain)


def test_needy_pages_get_in_links_where_every_page_has_some() -> None:
    plain, ours = links(None, 2), links(NEEDY, 2, bonus=0.5)
    half = {page.key for page, value in zip(PAGES, NEEDY, strict=True) if value > 0.5}
    count = [sum(target in half for _, target in ends(each)) for each in (plain, ours)]
    assert count[1] > count[0]
    for page in PAGES:
        assert sum(target == page.key for _, target in ends(ours)) >= 2


def marked(
    scores: Sequence[float], chosen: Sequence[int], bonus: Sequence[float], last: Sequence[int] = ()
) -> Bools:
    """Return which of one source's candidates stand there by need, of two links."""
    n = len(scores)
    ranked = Ranked(np.zeros(n, np.int64), np.arange(n), np.zeros(n, np.int64), *[np.array(scores)] * 5)
    is_chosen, comes_last = (np.isin(np.arange(n), each) for each in (chosen, last))
    added: Vectors = np.array(bonus)
    return by_need(ranked, is_chosen, comes_last, added, 2)


def test_only_a_link_whose_need_decided_is_marked() -> None:
    """A link is marked if a better one, which isn't of last resort, was left out and both needs put it behind."""
    scores = [3.0, 2.0, 1.9, 1.0]
    assert marked(scores, [0, 2], [0, 0, 0.2, 0]).tolist() == [False, False, True, False]
    # The best by score, with a need.
    assert not marked(scores, [0, 1], [0.2, 0.2, 0, 0]).any()
    # It has fewer in-links than each page should have: its need would not have sufficed.
    assert not marked(scores, [0, 3], [0, 0, 0, 0.2]).any()
    # What was left out is of last resort.
    assert not marked(scores, [0, 2], [0, 0, 0.2, 0], last=[1]).any()
    assert not marked(scores, [], [0.2] * 4).any()
