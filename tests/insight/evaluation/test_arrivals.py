"""Simulated arrivals in `evaluate`: sites as they were before groups of pages were new, and figures over the groups."""

from dataclasses import replace
from itertools import permutations

import pytest

from internal_linker.insight.evaluation.holdout import (
    ALL_SIGNALS,
    HIDINGS,
    NO_LINKS,
    Hidden,
    Row,
    arrivals,
    hide,
    judge,
    together,
)
from internal_linker.model.records import Collected, ExistingLink, Page
from internal_linker.rank.simulated_arrivals import simulated_arrivals
from tests.support.builders import page, url

PAGES = tuple(page(number, f"word{number} fresh light water") for number in range(12))
LINKS = tuple(
    ExistingLink(url(source), url(target), "fresh") for source, target in permutations(range(12), 2)
)
SITE = Collected(PAGES, (), (), 0, links=LINKS)


def row(name: str, hits: dict[str, int], pairs: int) -> tuple[Hidden, list[Row]]:
    """Return figures of a group in which each source finds its only link at this place."""
    truth = {source: {"target"} for source in hits}
    orders = {source: [f"o{n}" for n in range(place)] + ["target"] for source, place in hits.items()}
    return Hidden((), (), truth, pairs), [judge(name, truth, orders)]


def test_all_groups_have_the_same_texts() -> None:
    """The anchors of all links are cut, so that each text is embedded once for all tables."""
    whole = hide(SITE, HIDINGS["all"], cut_anchors=True)
    groups = list(arrivals(SITE, cut_anchors=True))
    assert len(groups) == 3
    assert all(each.pages == whole.pages for each in groups)
    assert all(each.pages == PAGES for each in arrivals(SITE, cut_anchors=False))


def test_what_is_to_be_found_is_unknown() -> None:
    every = simulated_arrivals(SITE.rows, LINKS)
    for hidden, expected in zip(arrivals(SITE, cut_anchors=False), every, strict=True):
        found = sorted((source, target) for source, targets in hidden.truth.items() for target in targets)
        assert tuple(found) == expected.added and hidden.pairs == len(found)
        assert hidden.visible == expected.known
    # Links that no run proposes are not asked for.
    pages = (replace(PAGES[0], lang="fa"), *PAGES[1:])
    for hidden in arrivals(replace(SITE, pages=pages), cut_anchors=False):
        assert url(0) not in hidden.truth
        assert all(url(0) not in targets for targets in hidden.truth.values())
    assert not list(arrivals(Collected((Page("a", "a"),), (), (), 0), cut_anchors=True))


def test_a_page_counts_once_over_all_groups() -> None:
    groups = [row("words", {"a": 0, "b": 1}, 2), row("words", {"a": 1}, 2), row("words", {"c": 99}, 4)]
    assert together(groups[:1]) == groups[0][1]
    (found,) = together(groups)
    assert found.measured.sources == ("a", "b", "c")
    assert found.measured.each[:, 3].tolist() == [0.75, 0.5, 0.01]
    assert found.measured.mrr.mean == pytest.approx((0.75 + 0.5 + 0.01) / 3)
    assert found.reach == pytest.approx(0.5)


def test_ways_that_some_groups_lack_are_left_out() -> None:
    (one, rows), (other, rest) = row(NO_LINKS, {"a": 0}, 1), row(NO_LINKS, {"b": 1}, 1)
    known, votes = (judge(name, one.truth, {"a": ["x", "y", "target"]}) for name in (ALL_SIGNALS, "votes"))
    for groups in (
        [(one, [*rows, votes, known]), (other, rest)],
        [(other, rest), (one, [*rows, votes, known])],
    ):
        found = {each.name: each.measured.each[:, 3].tolist() for each in together(groups)}
        assert found == {NO_LINKS: [1, 0.5], ALL_SIGNALS: [pytest.approx(1 / 3), 0.5]}
