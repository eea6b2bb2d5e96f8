"""The figures of a site's graph equal what plain loops compute, for any graph."""

from collections import deque
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from internal_linker.insight.graph import (
    DAMPING,
    SiteGraph,
    across,
    adopted,
    between,
    click_depth,
    closed_circles,
    communities,
    components,
    degrees,
    gini,
    graph_of,
    pagerank,
    reciprocal_pairs,
    shortest_path,
    top_share,
)

Links = list[tuple[int, int, float]]
AMOUNTS = st.lists(st.floats(0, 1e6), min_size=1, max_size=40)


@st.composite
def sites(draw: st.DrawFn) -> tuple[int, Links]:
    """A number of pages, and links between them that may repeat or lead nowhere (-1)."""
    n = draw(st.integers(1, 9))
    end = st.integers(-1, n - 1)
    return n, draw(st.lists(st.tuples(end, end, st.floats(0.01, 5)), max_size=30))


def made(n: int, links: Links) -> SiteGraph:
    ends = np.array([link[:2] for link in links], np.int64).reshape(-1, 2)
    return graph_of(ends[:, 0], ends[:, 1], np.array([link[2] for link in links]), n)


def plain(links: Links) -> dict[tuple[int, int], float]:
    """Each pair of two pages with its largest weight."""
    found: dict[tuple[int, int], float] = {}
    for one, other, weight in links:
        if one != other and min(one, other) >= 0:
            found[one, other] = max(weight, found.get((one, other), 0))
    return found


def plain_depth(n: int, pairs: set[tuple[int, int]], home: int) -> list[int]:
    depth, queue = [-1] * n, deque([home])
    depth[home] = 0
    while queue:
        page = queue.popleft()
        for one, other in pairs:
            if one == page and depth[other] < 0:
                depth[other] = depth[page] + 1
                queue.append(other)
    return depth


def pairs_of(graph: SiteGraph) -> set[tuple[int, int]]:
    return set(zip(graph.sources.tolist(), graph.targets.tolist(), strict=True))


@given(sites())
def test_a_pair_of_pages_is_one_link(site: tuple[int, Links]) -> None:
    n, links = site
    graph, expected = made(n, links), plain(links)
    assert dict(zip(sorted(expected), graph.weights.tolist(), strict=True)) == expected
    assert pairs_of(graph) == set(expected)
    inlinks, outlinks = degrees(graph, n)
    assert inlinks.tolist() == [sum(b == page for _, b in expected) for page in range(n)]
    assert outlinks.tolist() == [sum(a == page for a, _ in expected) for page in range(n)]
    both = sorted((a, b) for a, b in expected if a < b and (b, a) in expected)
    assert list(map(tuple, reciprocal_pairs(graph, n).tolist())) == both
    group = list(range(n))
    for one, other in expected:
        group = [group[other] if each == group[one] else each for each in group]
    assert components(graph, n) == len(set(group))


@given(sites(), st.data())
def test_depth_is_that_of_a_plain_search(site: tuple[int, Links], data: st.DataObject) -> None:
    n, links = site
    home, end = data.draw(st.integers(0, n - 1)), data.draw(st.integers(0, n - 1))
    graph = made(n, links)
    expected = plain_depth(n, pairs_of(graph), home)
    assert click_depth(graph, n, home).tolist() == expected
    path = shortest_path(graph, n, home, end)
    assert len(path) - 1 == expected[end]
    if path:
        assert (path[0], path[-1]) == (home, end)
    assert set(pairwise(path)) <= pairs_of(graph)
    ends = st.integers(0, n - 1)
    offered = made(n, data.draw(st.lists(st.tuples(ends, ends, st.floats(0.01, 5)), max_size=5)))
    more = adopted(graph, offered, n)
    after = click_depth(more, n, home).tolist()
    assert all(-1 < then <= now for now, then in zip(expected, after, strict=True) if now >= 0)
    assert pairs_of(more) == pairs_of(graph) | pairs_of(offered)


@given(sites())
def test_pagerank_is_the_dense_solution(site: tuple[int, Links]) -> None:
    n, links = site
    moves = np.zeros((n, n))
    for (one, other), weight in plain(links).items():
        moves[one, other] = weight
    totals = moves.sum(axis=1, keepdims=True)
    moves = np.where(totals > 0, moves / np.where(totals > 0, totals, 1), 1 / n)
    expected = np.linalg.solve(np.eye(n) - DAMPING * moves.T, np.full(n, (1 - DAMPING) / n))
    rank = pagerank(made(n, links), n)
    assert abs(rank.sum() - 1) < 1e-9
    np.testing.assert_allclose(rank, expected, atol=1e-8)


@given(AMOUNTS, st.floats(0.1, 10))
def test_gini_is_the_mean_difference(amounts: list[float], factor: float) -> None:
    values = np.array(amounts)
    found = gini(values)
    assert 0 <= found < 1
    if values.sum() > 1e-3:
        differences = np.abs(values[:, None] - values[None, :]).mean()
        np.testing.assert_allclose(found, differences / (2 * values.mean()), atol=1e-6)
        np.testing.assert_allclose(gini(values * factor), found, atol=1e-6)
    assert gini(np.full(len(values), 3.0)) < 1e-9
    if values.sum() > 0:
        tenth = max(1, round(0.1 * len(values))) / len(values)
        assert tenth - 1e-9 <= top_share(values) <= 1 + 1e-9


def test_nothing_has_no_concentration() -> None:
    assert gini(np.zeros(3)) == top_share(np.zeros(3)) == gini(np.empty(0)) == 0
    assert pagerank(made(0, []), 0).tolist() == []
    assert components(made(0, []), 0) == 0
    assert closed_circles(made(0, []), 0, -1) == []


@given(sites(), st.data())
def test_a_closed_circle_is_entered_by_nobody(site: tuple[int, Links], data: st.DataObject) -> None:
    n, links = site
    home = data.draw(st.integers(0, n - 1))
    pairs = set(plain(links))
    reach = [{at for at, depth in enumerate(plain_depth(n, pairs, page)) if depth >= 0} for page in range(n)]
    groups = {frozenset(b for b in reach[a] if a in reach[b]) for a in range(n)}
    closed = {
        group
        for group in groups
        if len(group) > 1 and home not in group and not any(b in group and a not in group for a, b in pairs)
    }
    assert {frozenset(part.tolist()) for part in closed_circles(made(n, links), n, home)} == closed


@given(sites(), st.data())
def test_topics_and_their_links_are_counted(site: tuple[int, Links], data: st.DataObject) -> None:
    n, links = site
    labels = data.draw(st.lists(st.integers(-1, 2), min_size=n, max_size=n))
    graph, pairs = made(n, links), set(plain(links))
    counts = between(graph, np.array(labels), 3)
    for one in range(3):
        for other in range(3):
            assert counts[one, other] == sum(labels[a] == one and labels[b] == other for a, b in pairs)
    crossing = sum(min(labels[a], labels[b]) >= 0 and labels[a] != labels[b] for a, b in pairs)
    assert across(graph, np.array(labels)).sum() == crossing


def test_links_without_weight_lead_visitors_but_not_pagerank() -> None:
    graph = graph_of(np.array([0, 0, 1]), np.array([1, 2, 3]), np.array([1.0, 0.0, 0.0]), 4)
    inlinks, outlinks = degrees(graph, 4)
    assert (inlinks.tolist(), outlinks.tolist()) == ([0, 1, 0, 0], [2, 1, 0, 0])
    assert click_depth(graph, 4, 0).tolist() == [0, 1, 1, 2]
    without = graph_of(np.array([0]), np.array([1]), np.array([1.0]), 4)
    assert np.allclose(pagerank(graph, 4), pagerank(without, 4))
    assert len(set(communities(graph, 4).tolist())) < 4
