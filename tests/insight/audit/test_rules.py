"""Every audit rule finds what plain loops find, and states what adoption changes."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from internal_linker.insight.audit.audit import AuditInput, figures, inspect
from internal_linker.insight.audit.links import Proposals
from internal_linker.insight.audit.records import Finding, GraphFigures, Limits, Rule
from internal_linker.insight.audit.rules import (
    AnchoredLinks,
    States,
    ambiguous_anchors,
    circle_findings,
    dense_findings,
    duplicate_findings,
    exact_copies,
    misleading_anchors,
    near_threshold_findings,
    page_findings,
    reciprocal_findings,
    repeated_anchors,
    target_findings,
)
from internal_linker.insight.graph import (
    SiteGraph,
    adopted,
    closed_circles,
    graph_of,
    reciprocal_pairs,
)
from internal_linker.model.arrays import Bools
from internal_linker.model.reasons import NoTarget, Reason
from internal_linker.model.records import Collected, Duplicate, ExistingLink, Page
from tests.support.builders import nothing_excluded, page, url

Pairs = list[tuple[int, int]]
HOME = 0


@st.composite
def sites(draw: st.DrawFn) -> tuple[int, Pairs, Pairs, list[bool]]:
    """Return pages, today's links, proposed links, and which pages are wanted as targets."""
    n = draw(st.integers(2, 8))
    end = st.integers(0, n - 1)
    pairs = st.lists(st.tuples(end, end), max_size=20)
    return n, draw(pairs), draw(pairs), draw(st.lists(st.booleans(), min_size=n, max_size=n))


def graph(pairs: Pairs, n: int) -> SiteGraph:
    ends = np.array(pairs, np.int64).reshape(-1, 2)
    return graph_of(ends[:, 0], ends[:, 1], np.ones(len(pairs)), n)


def states(n: int, today: SiteGraph, offered: SiteGraph, wanted: Sequence[bool], limits: Limits) -> States:
    mask = np.array(wanted)
    mask[HOME] = False

    def of(each: SiteGraph) -> GraphFigures:
        return figures(each, n, HOME, mask)

    return States([url(at) for at in range(n)], mask, mask, of(today), of(adopted(today, offered, n)), limits)


def by_rule(found: Sequence[Finding], rule: str) -> dict[str, str]:
    """Return each page with the standing of its finding under a rule."""
    return {one.page: one.standing for one in found if one.rule == rule}


@given(sites())
def test_page_rules_are_what_they_say(site: tuple[int, Pairs, Pairs, list[bool]]) -> None:
    n, today, offered, wanted = site
    seen = states(
        n, graph(today, n), graph(offered, n), wanted, Limits(min_inlinks=2, max_inlinks=0, clicks=1)
    )
    found = list(page_findings(seen))
    now, then = seen.before, seen.after
    wishes = [at for at in range(n) if wanted[at] and at != HOME]
    orphans = [at for at in wishes if not now.inlinks[at]]
    others = [at for at in wishes if at not in orphans]

    def expected(rows: list[int], stays: Bools) -> dict[str, str]:
        return {url(at): "stays" if stays[at] else "resolved" for at in rows}

    assert by_rule(found, "orphan") == expected(orphans, then.inlinks == 0)
    few = [at for at in others if now.inlinks[at] < 2]
    assert by_rule(found, "under-linked") == expected(few, then.inlinks < 2)
    lost = [at for at in others if now.depth[at] < 0]
    assert by_rule(found, "unreachable") == expected(lost, then.depth < 0)
    deep = [at for at in wishes if now.depth[at] > 1]
    assert by_rule(found, "deep") == expected(deep, then.depth > 1)
    ends = [at for at in wishes if not now.outlinks[at]]
    assert by_rule(found, "dead-end") == expected(ends, then.outlinks == 0)
    assert now.orphans.tolist() == orphans
    assert all(one.severity == one.rule.severity for one in found)


@given(sites())
def test_pairs_and_circles_are_told_with_what_adoption_does(
    site: tuple[int, Pairs, Pairs, list[bool]],
) -> None:
    n, today, offered, wanted = site
    now, more = graph(today, n), graph(offered, n)
    seen = states(n, now, more, wanted, Limits())
    pairs = [reciprocal_pairs(each, n) for each in (now, adopted(now, more, n))]
    old = {(url(a), url(b)) for a, b in pairs[0].tolist()}
    found = list(reciprocal_findings(seen, *pairs))
    assert {(one.page, one.other) for one in found if one.standing == "stays"} == old
    assert {(one.page, one.other) for one in found} == {(url(a), url(b)) for a, b in pairs[1].tolist()}
    circles = closed_circles(now, n, HOME)
    told = list(circle_findings(seen, circles, more))
    for rows, one in zip(circles, told, strict=True):
        entered = any(b in rows and a not in rows for a, b in offered)
        assert one.standing == ("resolved" if entered else "stays")
        assert f"{len(rows)} pages" in one.detail


@given(
    st.lists(st.tuples(st.integers(0, 300), st.integers(0, 20), st.integers(0, 3000)), min_size=1, max_size=6)
)
def test_dense_pages_have_more_links_than_their_text_carries(rows: list[tuple[int, int, int]]) -> None:
    n, limits = len(rows), Limits()
    none = graph([], n)
    links, proposed, words = (np.array(column) for column in zip(*rows, strict=True))
    found = list(dense_findings(states(n, none, none, [True] * n, limits), links, proposed, proposed, words))
    for at, (today, more, length) in enumerate(rows):
        most = 100 if not length else min(100, max(5, length / 20))
        expected = None if today + more <= most else "stays" if today > most else "new"
        assert by_rule(found, "dense").get(url(at)) == expected


@pytest.mark.parametrize(("linking", "is_hub"), [(9, False), (11, True)])
def test_a_hub_has_many_times_the_mean(linking: int, is_hub: bool) -> None:
    n = 200
    seen = states(n, graph([(at, 1) for at in range(2, 2 + linking)], n), graph([], n), [True] * n, Limits())
    assert ("hub" in {one.rule for one in page_findings(seen)}) == is_hub


@st.composite
def anchored(draw: st.DrawFn) -> tuple[int, AnchoredLinks]:
    n = draw(st.integers(1, 5))
    links = draw(
        st.sets(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1), st.integers(0, 3)), max_size=40)
    )
    ends = np.array(sorted(links), np.int64).reshape(-1, 3)
    return n, AnchoredLinks(ends[:, 0], ends[:, 1], ends[:, 2], [f"anchor {at}" for at in range(4)])


@given(anchored())
def test_anchors_are_counted(given_links: tuple[int, AnchoredLinks]) -> None:
    n, links = given_links
    rows = list(zip(links.sources.tolist(), links.targets.tolist(), links.anchors.tolist(), strict=True))
    urls = [url(at) for at in range(n)]
    many = {text for _, _, text in rows if len({b for _, b, other in rows if other == text}) > 1}
    told = list(ambiguous_anchors(links, urls))
    assert sorted(one.detail.partition("”")[0] for one in told) == sorted(f"“anchor {text}" for text in many)
    expected = set()
    for target in range(n):
        for text in range(4):
            same = sum(b == target and other == text for _, b, other in rows)
            if same > 2 and 2 * same > sum(b == target for _, b, _ in rows):
                expected.add((url(target), f"anchor {text}"))
    found = repeated_anchors(links, urls, Limits(same_anchor=2))
    assert {(one.page, one.detail.partition("“")[2].partition("”")[0]) for one in found} == expected


TITLES = ["cold brew ratio", "hand grinder burrs", "paper filter rinse", "water hardness test"]


def misled(anchor: str, source: int, target: int) -> list[Finding]:
    links = AnchoredLinks(np.array([source]), np.array([target]), np.array([0]), [anchor])
    titles = [title.split() for title in TITLES]
    return list(misleading_anchors(links, [anchor.split()], titles, [url(at) for at in range(4)]))


@given(st.permutations(range(4)))
def test_an_anchor_that_names_another_page_misleads(order: list[int]) -> None:
    """Another page's title does; the target's own, the source's, and words that are not a whole title don't."""
    source, target, named, _ = order
    found = misled(TITLES[named], source, target)
    assert [(one.page, one.other) for one in found] == [(url(source), url(target))]
    assert url(named) in found[0].detail
    assert misled(TITLES[named], source, named) == misled(TITLES[named], named, target) == []
    for anchor in ("here", "read more", "brew", "our favourite grinder of last year", ""):
        assert misled(anchor, 1, 2) == []


@pytest.mark.parametrize(
    ("kind", "rule"),
    [
        (NoTarget.ERROR_STATUS, "broken-target"),
        (NoTarget.REDIRECT_STATUS, "redirected-target"),
        (NoTarget.REDIRECT, "redirected-target"),
        (NoTarget.BAD_REDIRECT, "redirected-target"),
        (NoTarget.CANONICALISED, "copy-target"),
        (NoTarget.BAD_CANONICAL, "copy-target"),
        (NoTarget.NOINDEX, "noindex-target"),
        (NoTarget.SOURCE_ONLY, ""),
    ],
)
def test_a_link_breaks_the_rule_of_its_target(kind: NoTarget, rule: str) -> None:
    """Each reason maps to one rule, and the remedy is the page where the redirect ends."""
    target = page("old", issue=Reason(kind, "500"))
    links = [(url("a"), url("old"))] * 2
    found = list(target_findings(links, {target.key: target}, {url("old"): url("new")}, {}, "stays"))
    assert [one.rule for one in found] == ([rule] if rule else [])
    assert target.is_visited == (rule in {"", "noindex-target"})
    assert target.takes_links == (not rule)
    assert all(url("new") in one.detail and one.page == url("a") and one.other == url("old") for one in found)


def test_an_audit_names_what_is_wrong_with_targets_and_copies() -> None:
    pages = (
        *(page(name, "the same text", title="one title") for name in "abc"),
        page("moved", issue=Reason(NoTarget.REDIRECT_STATUS, "301")),
        page("hidden", issue=Reason(NoTarget.NOINDEX)),
    )
    links = [ExistingLink(url("a"), url(name), "here") for name in ("b", "moved", "hidden")]
    collected = Collected(pages, (), (), 0, tuple(links), {url("moved"): url("b")}, 3)
    found = inspect(
        AuditInput(
            collected, Proposals(), None, nothing_excluded, "shop.example", "", Limits(), lambda _: None
        )
    )
    told = {(one.rule, one.other) for one in found.findings}
    assert {(Rule.REDIRECTED_TARGET, url("moved")), (Rule.NOINDEX_TARGET, url("hidden"))} <= told
    assert {Rule.ORPHAN, Rule.DUPLICATE} <= {rule for rule, _ in told}


@given(st.lists(st.tuples(st.sampled_from([b"", b"x", b"y"]), st.integers(0, 3)), max_size=8))
def test_pages_of_one_text_are_copies_of_the_one_with_most_links(rows: list[tuple[bytes, int]]) -> None:
    pages: list[Page] = [page(at) for at in range(len(rows))]
    found = list(exact_copies(pages, [text for text, _ in rows], [links for _, links in rows]))
    links = {url(at): count for at, (_, count) in enumerate(rows)}
    texts = {url(at): text for at, (text, _) in enumerate(rows)}
    some = [text for text, _ in rows if text]
    assert len(found) == len(some) - len(set(some))
    assert all(texts[one.page] == texts[one.canonical] != b"" for one in found)
    assert all(links[one.canonical] >= links[one.page] for one in found)


def test_a_near_duplicate_is_told_with_its_share() -> None:
    (found,) = duplicate_findings([Duplicate(url("a"), url("b"), 0.97, 0.9, 0.8)])
    assert (found.page, found.other, found.severity) == (url("a"), url("b"), "warning")
    assert "80%" in found.detail


def test_close_decisions_are_told() -> None:
    strengths = np.array([0.792, 0.805, 0.645, 0.67, 0.95])
    graph = SiteGraph(np.array([0, 0, 1, 1, 2]), np.array([1, 2, 0, 2, 0]), strengths)
    found = [*near_threshold_findings(graph, [url(at) for at in range(3)], Limits())]
    assert [(one.page, one.other) for one in found] == [(url(0), url(2)), (url(0), url(1)), (url(1), url(0))]
    assert "score of 80 is close to that of anchors (80)" in found[0].detail
    assert "score of 64 is close to that of tier_sidebar (65)" in found[2].detail
