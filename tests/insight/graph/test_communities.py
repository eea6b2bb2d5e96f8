"""Communities keep Leiden's promises: connected, better than chance, and reproducible."""

import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse import csgraph

from internal_linker.insight.graph import SiteGraph, communities, graph_of
from tests.support.small_project import REPOSITORY, finish, start

PRINT_A_DIGEST = "from tests.insight.graph.test_communities import digest; print(digest())"


@st.composite
def sites(draw: st.DrawFn) -> tuple[int, SiteGraph]:
    """A number of pages, and links of any weight between some of them."""
    n = draw(st.integers(0, 25))
    end = st.integers(0, max(0, n - 1))
    links = draw(st.lists(st.tuples(end, end, st.floats(1e-6, 1e6)), max_size=60 if n else 0))
    ends = np.array([link[:2] for link in links], np.int64).reshape(-1, 2)
    return n, graph_of(ends[:, 0], ends[:, 1], np.array([link[2] for link in links]), n)


def planted(groups: int, size: int) -> tuple[SiteGraph, int]:
    """Return groups of pages with eight links a page inside, and one in twenty of all links to another group."""
    random, n = np.random.default_rng(5), groups * size
    sources = np.repeat(np.arange(n), 8)
    inside = sources // size * size + random.integers(0, size, len(sources))
    targets = np.where(random.random(len(sources)) < 0.05, random.integers(0, n, len(sources)), inside)
    return graph_of(sources, targets, random.uniform(0.5, 1, len(sources)), n), n


def digest() -> str:
    return hashlib.sha256(communities(*planted(40, 25)).tobytes()).hexdigest()


def test_two_rings_with_one_link_between_them_are_two_communities() -> None:
    ring = [(at, (at + 1) % 6) for at in range(6)]
    pairs = np.array([*ring, *((a + 6, b + 6) for a, b in ring), (0, 6), (1, 4), (7, 10)])
    found = communities(graph_of(pairs[:, 0], pairs[:, 1], np.ones(len(pairs)), 12), 12)
    assert found.tolist() in ([0] * 6 + [1] * 6, [1] * 6 + [0] * 6)


def test_planted_groups_are_found() -> None:
    found = communities(*planted(40, 25))
    assert len(np.unique(found)) == 40
    assert (found.reshape(40, 25) == found.reshape(40, 25)[:, :1]).all()


def test_a_heavy_link_joins_what_light_ones_do_not() -> None:
    pairs = np.array([(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5), (6, 0), (6, 3), (6, 4)])
    weights = np.array([1, 1, 1, 1, 1, 1, 5, 0.1, 0.1])
    found = communities(graph_of(pairs[:, 0], pairs[:, 1], weights, 7), 7)
    assert found[6] == found[0] != found[3]


@given(sites())
def test_each_community_is_connected(site: tuple[int, SiteGraph]) -> None:
    n, graph = site
    found = communities(graph, n)
    assert found.shape == (n,) and found.dtype == np.int64
    assert set(found.tolist()) == set(range(found.max(initial=-1) + 1))
    inner = np.flatnonzero(found[graph.sources] == found[graph.targets])
    links = sparse.csr_matrix((np.ones(len(inner)), (graph.sources[inner], graph.targets[inner])), (n, n))
    assert not n or csgraph.connected_components(links, return_labels=False) == found.max() + 1


@given(sites())
def test_neither_a_second_call_nor_the_direction_changes_anything(site: tuple[int, SiteGraph]) -> None:
    n, graph = site
    turned = SiteGraph(graph.targets, graph.sources, graph.weights)
    found = communities(graph, n).tolist()
    assert communities(graph, n).tolist() == communities(turned, n).tolist() == found


@pytest.mark.long
def test_another_process_with_more_threads_finds_the_same() -> None:
    more = {"PYTHONHASHSEED": "7", "OMP_NUM_THREADS": "4", "RAYON_NUM_THREADS": "4"}
    code, out, err = finish(start("-c", PRINT_A_DIGEST, cwd=REPOSITORY, **more))
    assert (code, out.strip()) == (0, digest()), err
