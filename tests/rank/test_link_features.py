"""The link graph counts each pair of pages once, in both directions, as a plain count does."""

from collections.abc import Iterable

import numpy as np
import pytest

from internal_linker.model.arrays import Pairs, pairs_of
from internal_linker.model.records import ExistingLink
from internal_linker.rank.link_features import Counted, LinkGraph

Ends = set[tuple[int, int]]


def graph(n: int, pairs: Iterable[tuple[object, object]]) -> LinkGraph:
    return LinkGraph(
        [ExistingLink(str(one), str(other)) for one, other in pairs], {str(at): at for at in range(n)}
    )


def random_pairs(seed: int, n: int) -> Ends:
    rng = np.random.default_rng(seed)
    ends = rng.integers(0, n, (3 * n, 2)).tolist()
    return {(one, other) for one, other in ends if one != other}


@pytest.mark.parametrize("seed", range(0, 20, 4))
def test_every_count_is_the_one_by_hand(seed: int) -> None:
    n = 2 + seed
    pairs, rng = random_pairs(seed, n), np.random.default_rng(seed)
    made = graph(n, pairs)
    voters = rng.permutation(n)[: 1 + seed // 2]
    weights = rng.random(len(voters)) + 0.1
    assert made.size == len(pairs)
    assert made.inlinks.tolist() == [sum(b == page for _, b in pairs) for page in range(n)]
    pages = rng.permutation(n)
    out, back, cocited = made.targets(pages), made.sources(pages), made.cocited(pages)
    for at, page in enumerate(pages.tolist()):
        assert out.rows[out.of == at].tolist() == sorted(b for a, b in pairs if a == page)
        assert back.rows[back.of == at].tolist() == sorted(a for a, b in pairs if b == page)
        both = [sum((a, page) in pairs and (a, b) in pairs for a in range(n)) for b in range(n)]
        assert cocited.look_up(Pairs(np.full(n, at), np.arange(n))).tolist() == both
    shares = [sum(w for v, w in zip(voters, weights, strict=True) if (v, b) in pairs) for b in range(n)]
    votes = made.votes(pairs_of([[], voters]), weights)
    everywhere = Pairs(np.ones(n, np.int64), np.arange(n))
    np.testing.assert_allclose(votes.look_up(everywhere), np.array(shares) / weights.sum(), rtol=1e-5)
    assert votes.pairs.rows.tolist() == [page for page in range(n) if shares[page]]
    assert not votes.look_up(pairs_of([np.arange(n)])).any()


def test_a_pair_counts_once_and_a_stranger_not_at_all() -> None:
    links = [("0", "1", "here"), ("0", "1", "there"), ("1", "1", ""), ("0", "x", ""), ("x", "1", "")]
    made = LinkGraph([ExistingLink(*link) for link in links], {"0": 0, "1": 1, "2": 2})
    assert made.size == 1
    assert made.inlinks.tolist() == [0, 1, 0]
    assert graph(0, []).inlinks.tolist() == []
    assert graph(2, []).cocited(np.array([0])).look_up(pairs_of([range(2)])).tolist() == [0, 0]
    counted = Counted(pairs_of([[1, 2, 3], [0, 4]]), np.array([1, 5, 5, 2, 3], np.float32), 5)
    strongest = counted.strongest(2)
    assert [rows.tolist() for rows in strongest.lists(2)] == [[2, 3], [4, 0]]


def test_a_query_without_a_page_has_no_links() -> None:
    made = graph(3, [(0, 1), (1, 2)])
    assert made.targets(np.array([3])).rows.tolist() == []
    assert made.sources(np.array([3])).rows.tolist() == []
    assert made.cocited(np.array([3])).pairs.rows.tolist() == []
    made = graph(3, [(0, 1), (1, 2)])
    for voters in (np.array([0, 1]), np.empty(0, np.int64)):
        votes = made.votes(pairs_of([voters]), np.zeros(len(voters)))
        assert votes.look_up(pairs_of([range(3)])).tolist() == [0, 0, 0]


@pytest.mark.parametrize("seed", range(2))
def test_shared_targets_and_best_similar_page_are_those_by_hand(seed: int) -> None:
    n = 10 + seed
    pairs, rng = random_pairs(seed, n), np.random.default_rng(seed)
    made = graph(n, pairs)
    inlinks = made.inlinks
    coupled = made.coupled(np.arange(n), 3)
    near, cosines = pairs_of([rng.permutation(n)[:4], [], rng.permutation(n)[:6]]), rng.random(10)
    best = made.best_linking(near, cosines)
    for one in range(n):
        shared = [
            sum((one, b) in pairs and (a, b) in pairs and inlinks[b] <= 3 for b in range(n)) for a in range(n)
        ]
        assert coupled.look_up(Pairs(np.full(n, one), np.arange(n))).tolist() == shared
    for of in range(3):
        known = [
            (row, cosine) for at, row, cosine in zip(near.of, near.rows, cosines, strict=True) if at == of
        ]
        highest = [
            max((cosine for row, cosine in known if (row, page) in pairs), default=0) for page in range(n)
        ]
        np.testing.assert_allclose(best.look_up(Pairs(np.full(n, of), np.arange(n))), highest, rtol=1e-6)
