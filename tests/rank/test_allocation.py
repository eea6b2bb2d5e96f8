"""Allocating a site's links: each source gets its best, each target enough, with the smallest loss of score."""

import re
import time
from dataclasses import dataclass, replace

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp

from internal_linker.rank.allocation import Bools, Edges, spread

Rng = np.random.Generator
Floats = NDArray[np.float64]

# The choice is exact; this is the tolerance of the oracle's solver on the total score.
SOLVER_GAP = 1e-5
# Measured at 1.5 to 4 s on one core; a shared one may be five times slower.
SECONDS = 60.0


@dataclass(frozen=True)
class Site:
    """Edges with the requested limits."""

    edges: Edges
    n_sources: int
    n_targets: int
    count: int = 5
    least: int = 2
    most: int = 0
    floor: float = -1e9

    def spread(self) -> Bools:
        limits = {"count": self.count, "min_inlinks": self.least, "max_inlinks": self.most}
        return spread(self.edges, self.n_sources, self.n_targets, floor=self.floor, **limits)

    def inlinks(self, chosen: Bools) -> list[int]:
        counted = chosen & (self.edges.fixed | (self.edges.scores >= self.floor))
        return [int(n) for n in np.bincount(self.edges.targets[counted], minlength=self.n_targets)]


def edges_of(*rows: tuple[int, int, float], fixed: tuple[int, ...] = ()) -> Edges:
    """Return edges from (source, target, score) rows; `fixed` are positions."""
    sources, targets, scores = zip(*rows, strict=True) if rows else ((), (), ())
    numbers = np.array([sources, targets], np.int64)
    marks = np.isin(np.arange(len(rows)), fixed)
    return Edges(numbers[0], numbers[1], np.array(scores, np.float64), marks)


def scores_of(rng: Rng, n_sources: int, n_targets: int) -> Floats:
    """Draw normal, heavy-tailed or coarse scores with many ties, with or without hubs and clusters."""
    shape = (n_sources, n_targets)
    scores = rng.standard_normal(shape) if rng.random() < 0.5 else rng.standard_t(2, shape)
    scores += rng.standard_normal(n_targets) * rng.choice([0, 1, 3])
    if rng.random() < 0.4:
        cluster = rng.integers(0, 3, max(shape))
        scores += 3 * (cluster[:n_sources, None] == cluster[None, :n_targets])
    return np.round(scores) if rng.random() < 0.2 else scores


def random_site(seed: int) -> Site:
    """Draw up to 30 pages with each source's best targets, some targets' best sources and any limits."""
    rng = np.random.default_rng(seed)
    n_sources, n_targets = (int(n) for n in rng.integers(1, 31, 2))
    scores = scores_of(rng, n_sources, n_targets)
    keep, back = int(rng.integers(1, 12)), int(rng.integers(0, 6))
    pairs = {(s, int(t)) for s in range(n_sources) for t in np.argsort(-scores[s])[:keep]}
    pairs |= {(int(s), t) for t in range(n_targets) for s in np.argsort(-scores[:, t])[:back]}
    rows = [(s, t, float(scores[s, t])) for s, t in sorted(pairs) if s != t]
    floor = -1e9
    if rows and rng.random() < 0.6:
        floor = float(np.quantile([row[2] for row in rows], 0.6 * rng.random()))
    fixed = np.flatnonzero(rng.random(len(rows)) < rng.choice([0, 0.1])).tolist()
    least = int(rng.integers(0, 4))
    most = 0 if rng.random() < 0.4 else max(least, int(rng.integers(1, 8)))
    count = int(rng.integers(1, 6))
    return Site(edges_of(*rows, fixed=tuple(fixed)), n_sources, n_targets, count, least, most, floor)


def result_of(site: Site, chosen: Bools) -> list[float]:
    """Return the filled places, the targets with at least 1, 2, ... links, and the total score, by priority."""
    counted = np.array(site.inlinks(chosen))
    levels = [float((counted > level).sum()) for level in range(site.least)]
    return [float(chosen.sum()), *levels, float(site.edges.scores[chosen].sum())]


def optimum_of(site: Site) -> list[float]:
    """Compute the optimum by integer programming, goal by goal; each reached goal is a constraint for the next."""
    edges, blank = site.edges, np.zeros(site.n_targets * site.least)
    if not len(edges.scores):
        return [0.0] * (site.least + 2)
    rows, high = constraints_of(site, blank)
    level = np.arange(len(blank)) % max(site.least, 1)
    goals = [np.append(0.0 * edges.scores, level == k) for k in range(site.least)]
    goals = [np.append(edges.scores**0, blank), *goals, np.append(edges.scores, blank)]
    asked = {
        "bounds": Bounds(np.append(edges.fixed, blank), 1),
        "integrality": 1,
        "options": {"mip_rel_gap": 0},
    }
    reached: list[float] = []
    for goal in goals:
        solved = milp(-goal, constraints=LinearConstraint(np.array(rows), ub=np.array(high)), **asked)
        assert solved.status == 0, solved.message
        reached.append(float(goal @ np.round(solved.x)))
        rows, high = [*rows, -goal], [*high, 1e-7 - reached[-1]]
    return reached


def constraints_of(site: Site, blank: Floats) -> tuple[list[Floats], list[float]]:
    """Return the constraints: links per source, cap per target, and no level of a target without an eligible link."""
    edges, rows, high = site.edges, list[Floats](), list[float]()
    most = site.most or len(edges.scores)
    for numbers, n, limit in (
        (edges.sources, site.n_sources, site.count),
        (edges.targets, site.n_targets, most),
    ):
        for mine in np.arange(n)[:, None] == numbers:
            rows.append(np.append(mine, blank))
            high.append(max(limit, int((mine & edges.fixed).sum())))
    for target in range(site.n_targets):
        counts = (edges.targets == target) & (edges.fixed | (edges.scores >= site.floor))
        rows.append(np.append(-1.0 * counts, np.arange(len(blank)) // max(site.least, 1) == target))
        high.append(0.0)
    return rows, high


@pytest.mark.parametrize(
    "first", [0, *(pytest.param(first, marks=pytest.mark.long) for first in range(40, 240, 40))]
)
def test_no_choice_is_better(first: int) -> None:
    for seed in range(first, first + 40):
        site = random_site(seed)
        got, best = result_of(site, site.spread()), optimum_of(site)
        assert got[:-1] == best[:-1], seed
        assert got[-1] >= best[-1] - SOLVER_GAP, seed


def test_the_order_of_the_edges_changes_nothing() -> None:
    for seed in range(50):
        site = random_site(seed)
        edges = replace(site.edges, scores=np.round(site.edges.scores / 2))
        site = replace(site, edges=edges)
        order = np.random.default_rng(seed).permutation(len(edges.scores))
        parts = (edges.sources[order], edges.targets[order], edges.scores[order], edges.fixed[order])
        shuffled = replace(site, edges=Edges(*parts))
        np.testing.assert_array_equal(shuffled.spread(), site.spread()[order])


def test_limits_hold_whatever_is_asked() -> None:
    for seed in range(80):
        site = random_site(seed)
        edges, chosen = site.edges, site.spread()
        assert chosen[edges.fixed].all()
        for numbers, n, most in (
            (edges.sources, site.n_sources, site.count),
            (edges.targets, site.n_targets, site.most or len(chosen)),
        ):
            fixed = np.bincount(numbers[edges.fixed], minlength=n)
            assert (np.bincount(numbers[chosen], minlength=n) <= np.maximum(fixed, most)).all()
        if not site.most:
            links = np.bincount(edges.sources[chosen], minlength=site.n_sources)
            fixed = np.bincount(edges.sources[edges.fixed], minlength=site.n_sources)
            degree = np.bincount(edges.sources, minlength=site.n_sources)
            np.testing.assert_array_equal(links, np.maximum(np.minimum(site.count, degree), fixed))


def test_small_sites_are_chosen_as_by_hand() -> None:
    edges = edges_of((0, 3, 1.0), (0, 2, 1.0), (0, 1, 2.0), (1, 2, 0.5), (1, 0, 0.4))
    assert Site(edges, 2, 4, count=2, least=0).spread().tolist() == [False, True, True, True, True]
    edges = edges_of((0, 0, 9.0), (0, 2, 5.0), (1, 0, 9.0), (1, 2, 8.0), (2, 0, 9.0), (2, 1, 8.5))
    chosen = Site(edges, 3, 3, count=1, least=1).spread()
    assert chosen.tolist() == [True, False, False, True, False, True]
    edges = edges_of((0, 0, 9.0), (0, 2, 1.0), (1, 1, 9.0), (1, 0, 2.0), (2, 1, 9.0))
    assert Site(edges, 3, 3, count=1, least=1).spread().tolist() == [False, True, False, True, True]
    edges = edges_of((0, 0, 0.9), (0, 1, 0.7), (1, 0, 0.9))
    edges = replace(edges, scores=edges.scores.astype(np.float32))
    assert Site(edges, 2, 2, count=1, least=1, floor=0.7).spread().tolist() == [False, True, True]
    site = Site(edges_of((0, 1, 1.0), (1, 0, 1.0), fixed=(1,)), 2, 2, count=0)
    assert site.spread().tolist() == [False, True]


def test_a_link_below_the_floor_serves_no_minimum() -> None:
    edges = edges_of((0, 0, 9.0), (0, 1, 1.0), (1, 0, 9.0), (1, 1, 0.9), (2, 1, 0.8))
    site = Site(edges, 3, 2, count=1, least=1, floor=2.0)
    assert site.spread().tolist() == [True, False, True, False, True]
    assert site.inlinks(site.spread()) == [2, 0]
    assert site.inlinks(np.ones(5, np.bool_)) == [2, 0]


def test_first_links_go_before_second_ones() -> None:
    rng = np.random.default_rng(3)
    edges = edges_of(*((s, t, float(rng.random() - t)) for s in range(4) for t in range(7)))
    site = Site(edges, 4, 7, count=2, least=2)
    assert sorted(site.inlinks(site.spread())) == [1] * 6 + [2]


def test_fixed_links_stay_and_count() -> None:
    rows = [(0, 0, 9.0), (0, 1, -5.0), (0, 2, -6.0), (1, 0, 9.0), (1, 1, 8.0), (2, 0, 1.0)]
    site = Site(edges_of(*rows, fixed=(1, 2, 5)), 3, 3, count=1, least=1, most=1, floor=0.0)
    assert site.spread().tolist() == [False, True, True, False, False, True]
    assert site.inlinks(site.spread()) == [1, 1, 1]


def test_a_cap_sends_links_elsewhere_or_leaves_places_empty() -> None:
    rows = [(s, 0, 9.0) for s in range(4)] + [(s, 1 + s, float(s)) for s in range(4)]
    chosen = Site(edges_of(*rows), 4, 5, count=1, least=0, most=2).spread()
    assert chosen.tolist() == [True, True, False, False, False, False, True, True]
    edges = edges_of(*((s, 0, float(s)) for s in range(5)))
    assert Site(edges, 5, 1, count=3, least=1, most=2).spread().tolist() == [False] * 3 + [True] * 2


def test_each_target_may_have_its_own_limits() -> None:
    """Of three targets, one may have one link, one has no cap, and one needs two."""
    edges = edges_of(*((s, t, 9.0 - t - 0.1 * s) for s in range(4) for t in range(3)))
    least, most = np.array([0, 0, 2]), np.array([1, 0, 2])
    chosen = spread(edges, 4, 3, count=1, min_inlinks=least, max_inlinks=most, floor=-1e9)
    assert np.bincount(edges.targets[chosen], minlength=3).tolist() == [1, 1, 2]


@pytest.mark.parametrize("n", [0, 3])
def test_without_edges_nothing_is_chosen(n: int) -> None:
    site = Site(edges_of(), n, n)
    assert site.spread().tolist() == []
    assert site.inlinks(site.spread()) == [0] * n


@pytest.mark.parametrize(
    ("edges", "most", "message"),
    [
        (edges_of((0, 2, 1.0)), 0, "targets must be 0 to 1, got 2 to 2"),
        (edges_of((-1, 1, 1.0)), 0, "sources must be 0 to 1, got -1 to -1"),
        (edges_of((0, 1, float("nan"))), 0, "scores must be finite"),
        (edges_of((0, 1, 1.0), (0, 1, 2.0)), 0, "a (source, target) pair comes twice"),
        (edges_of((0, 1, 1.0)), 1, "max_inlinks 1 is less than min_inlinks 2"),
        (replace(edges_of((0, 1, 1.0)), fixed=np.zeros(2, np.bool_)), 0, "got shapes [(1,), (1,)"),
    ],
)
def test_impossible_input_is_refused(edges: Edges, most: int, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        Site(edges, 2, 2, most=most).spread()


def clustered_site(n: int, keep: int, back: int) -> Site:
    """Return pages in clusters with hubs, with edges to each page's best targets and from its best sources."""
    rng = np.random.default_rng(7)
    centres = rng.standard_normal((n // 100, 16), dtype=np.float32)
    pages = centres[rng.integers(0, len(centres), n)] + 0.8 * rng.standard_normal((n, 16), dtype=np.float32)
    pages /= np.linalg.norm(pages, axis=1, keepdims=True)
    hubs = (rng.random(n) < 0.02) * np.float32(0.15)
    keys, scores = [], []
    for first in range(0, n, 1000):
        rows = np.arange(first, first + 1000)
        for towards, kept in ((True, keep), (False, back)):
            block = pages[rows] @ pages.T + (hubs if towards else hubs[rows, None])
            block[np.arange(1000), rows] = -9
            others = np.argpartition(-block, kept, axis=1)[:, :kept]
            keys.append((rows[:, None] * n + others if towards else others * n + rows[:, None]).ravel())
            scores.append(np.take_along_axis(block, others, 1).ravel())
    key, first_of = np.unique(np.concatenate(keys), return_index=True)
    edges = Edges(key // n, key % n, np.concatenate(scores)[first_of], np.zeros(len(key), np.bool_))
    return Site(edges, n, n)


@pytest.mark.long
@pytest.mark.parametrize("most", [0, 50])
def test_a_large_site_takes_seconds(most: int) -> None:
    site = replace(clustered_site(10_000, keep=50, back=5), most=most)
    alone = replace(site, least=0, most=0).spread()
    started = time.process_time()
    chosen = site.spread()
    assert time.process_time() - started < SECONDS
    assert site.inlinks(alone).count(0) > 500
    assert min(site.inlinks(chosen)) >= 2
    assert max(site.inlinks(chosen)) <= (most or len(chosen))
    assert site.edges.scores[chosen].sum() > 0.97 * site.edges.scores[alone].sum()
