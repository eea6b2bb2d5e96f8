"""Allocation of links over a whole site: each source gets its best targets, each target a fair number of links.

This is min-cost flow (a b-matching), solved exactly. Sources take their best links; then each target that lacks a
link gets it by the cheapest chain of exchanges: a source gives up a link for it, the target that loses that link
may take one from another source, and so on. The targets' prices, kept from chain to chain, keep the allocation
optimal (successive shortest paths) and limit nearly every search to a few pages.
"""

from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

from internal_linker.model.arrays import ranks

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
# A step of a chain: the node it comes from, the edge, and which of the source's slots that edge takes.
Step = tuple[int, int, int]

# Scores are scaled to integers of up to this value, finer than float32: sums over long chains are exact.
STEPS = 2**40
# No price of a slot is above a quarter of this, so that no sum of prices reaches `FAR`.
HIGHEST = 2**56
# Larger than the cost of any chain; twice this value still fits 64 bits.
FAR = 2**61
# The price of a target above its cap falls by at least this share of the median loss of a moved link: with much less,
# nearly equal targets undercut each other for hundreds of rounds; with much more, thousands of links must be brought
# back. After `ROUNDS` rounds the decrease doubles each round, so that caps that can't be met end, too.
UNDERCUT, ROUNDS = 0.05, 150


@dataclass(frozen=True, slots=True)
class Edges:
    """Candidate links, arrays of one length; no (source, target) pair comes twice."""

    sources: NDArray[np.integer]  # index of the linking page, 0 to n_sources - 1
    targets: NDArray[np.integer]  # index of the page linked to, 0 to n_targets - 1
    scores: NDArray[np.floating]  # finite scores of any range; higher is better
    # whether the link is kept at any cost; it takes a slot of its source and counts for its target at any score
    fixed: Bools


def spread(
    edges: Edges,
    n_sources: int,
    n_targets: int,
    *,
    count: int,
    min_inlinks: Ints | int,
    max_inlinks: Ints | int,
    floor: float,
) -> Bools:
    """Mark the links to keep: the highest total score under these rules, earlier rules before later ones.

    1. Fixed links stay; no other link brings a target above `max_inlinks`.
    2. As many slots as possible are filled: `count` for each source, or as many as it has candidates.
    3. As many targets as possible have a first link, then as many as possible a second, up to `min_inlinks`.
       Links below the floor don't count here, but sources may fill their slots with them.

    Only where a cap makes links below the floor give way to needed ones, the allocation may give up one target's
    first link for the second links of several others. Ties are broken by target, then by source, in any order of the
    edges. Few targets reach the minimum unless the edges include each target's own best sources. 0 as `max_inlinks`
    sets no cap. Both limits are one number, or (n_targets,) one for each target. Minima that need nearly all slots or
    more, and caps near the average, take minutes instead of seconds.
    """
    least, most = (np.broadcast_to(limit, n_targets) for limit in (min_inlinks, max_inlinks))
    for at in np.flatnonzero((most > 0) & (most < least))[:1]:
        raise ValueError(f"max_inlinks {most[at]} is less than min_inlinks {least[at]}")
    _check(edges, n_sources, n_targets)
    chosen, counts = edges.fixed.copy(), _counts(edges, floor)
    # No two are equal: one key takes a third of the time of three.
    order = np.argsort((np.where(counts, 0, n_targets) + edges.targets) * n_sources + edges.sources)
    order = order[~edges.fixed[order]]
    if len(order) and count > 0:
        market = _Market(edges, order, n_sources, n_targets, counts[order])
        market.open(edges, count, least, most)
        market.crowd_out()
        market.serve()
        chosen[order] = market.chosen
    return chosen


def _counts(edges: Edges, floor: float) -> Bools:
    return edges.fixed | (edges.scores >= floor)


def _check(edges: Edges, n_sources: int, n_targets: int) -> None:
    shapes = [array.shape for array in (edges.sources, edges.targets, edges.scores, edges.fixed)]
    if len(set(shapes)) > 1 or len(shapes[0]) != 1:
        raise ValueError(f"sources, targets, scores and fixed must be of one length, got shapes {shapes}")
    for name, numbers, end in (("sources", edges.sources, n_sources), ("targets", edges.targets, n_targets)):
        if len(numbers) and not 0 <= numbers.min() <= numbers.max() < end:
            raise ValueError(f"{name} must be 0 to {end - 1}, got {numbers.min()} to {numbers.max()}")
    if not np.isfinite(edges.scores).all():
        raise ValueError("scores must be finite")
    pairs = np.sort(edges.sources.astype(np.int64) * n_targets + edges.targets)
    if (pairs[1:] == pairs[:-1]).any():
        raise ValueError("a (source, target) pair comes twice")


class _Market:
    """Sources' slots and targets' prices: no edge left out is worth more to its source than one it chose.

    A target is two nodes: t takes the links that count and passes them on to n + t, which also takes the others,
    up to the cap; the ground node takes slots that stay empty. An edge is worth its score plus the price of its
    node: above 0 where the target lacks links, below 0 where it has too many.
    """

    def __init__(self, edges: Edges, order: Ints, n_sources: int, n_targets: int, counts: Bools) -> None:
        self.n, self.ground = n_targets, 2 * n_targets
        self.source = edges.sources[order].astype(np.int64)
        self.target = edges.targets[order].astype(np.int64)
        self.score = edges.scores[order].astype(np.float64)
        # Two more edges represent a slot left empty and a slot that a source doesn't have.
        self.empty, self.missing = len(order), len(order) + 1
        node = np.where(counts, self.target, n_targets + self.target)
        self.head = np.append(node, [self.ground, self.ground])
        self.start = np.searchsorted(node, np.arange(self.ground + 1))
        self.chosen = np.zeros(len(order), np.bool_)
        self.next_best = np.zeros(n_sources, np.int64)
        self.price, self.forfeit = np.zeros((2, self.ground + 1), np.int64)
        self.distance = np.full(self.ground + 1, FAR)

    def open(self, edges: Edges, count: int, least: Ints, most: Ints) -> None:
        n_sources, top = len(self.next_best), int(least.max(initial=0))
        taken = np.bincount(edges.sources[edges.fixed], minlength=n_sources)
        self.room = np.maximum(np.minimum(count, np.bincount(edges.sources, minlength=n_sources)) - taken, 0)
        self.fixed = np.bincount(edges.targets[edges.fixed], minlength=self.n)
        self.need = np.minimum(np.maximum(least - self.fixed, 0), np.diff(self.start[: self.n + 1]))
        self.cap = np.maximum(np.where(most > 0, most, n_sources + top) - self.fixed, 0)
        steps = min(STEPS, HIGHEST // (4 * (top + 2) * (n_sources + 1)))
        low, span = self.score.min(), np.ptp(self.score)
        scaled = np.rint((self.score - low) * (steps / span if span else 0.0)).astype(np.int64)
        # A chain takes at most one link from each source, so one level outweighs all that the chain may lose.
        level = steps * (n_sources + 1)
        self.bonus, self.vacancy = level * np.arange(top + 1, -1, -1), level * (top + 2)
        self.worth = np.append(scaled, [-self.vacancy, FAR])
        self.blank = np.where(np.arange(count) < self.room[:, None], self.empty, self.missing)
        self.slots = self.blank.copy()
        self._choose(np.arange(self.empty))

    def crowd_out(self) -> None:
        """Lower the prices of targets above the cap until enough of their sources choose others."""
        least, rounds = 0, 0
        while np.any((excess := self._load() - self.cap) > 0):
            links = np.flatnonzero(self.chosen & (excess > 0)[self.target])
            loss = self.worth[links] + self.price[self.head[links]] - self.next_best[self.source[links]]
            least = least or 1 + int(UNDERCUT * np.median(loss))
            order = np.lexsort((loss, self.target[links]))
            target, loss = self.target[links[order]], loss[order]
            last = ranks(target) == excess[target] - 1
            for node in (target[last], self.n + target[last]):
                self.price[node] -= np.maximum(loss[last] + 1, least)
            moved = np.bincount(self.source[links], minlength=len(self.room)) > 0
            self._choose(np.flatnonzero(moved[self.source]))
            least, rounds = min(least << (rounds > ROUNDS), 2 * self.vacancy), rounds + 1

    def serve(self) -> None:
        """Give each target what it lacks: up to the cap where its price fell too far, then up to its need."""
        counted = np.bincount(self.head[:-2][self.chosen], minlength=self.n)[: self.n]
        self.flow = np.maximum(counted, self.need)
        self.forfeit[: self.n] = self._bonus(np.arange(self.n), self.flow)
        lacking, free = self.flow - counted, self.cap - self._load()
        for target in np.flatnonzero(self.price[self.n : self.ground] < 0).tolist():
            for _ in range(free[target]):
                if self.price[self.n + target] < 0:
                    self._pull(self.n + target)
        for target in np.repeat(np.arange(self.n), lacking).tolist():
            self._pull(target)

    def _choose(self, edges: Ints) -> None:
        net = self.worth[edges] + self.price[self.head[edges]]
        order = _by_source(self.source[edges], net)
        edges, net = edges[order], np.maximum(net[order], -self.vacancy)
        source = self.source[edges]
        rank, room = ranks(source), self.room[source]
        taken = (rank < room) & (net > -self.vacancy)
        self.chosen[edges] = taken
        self.slots[source] = self.blank[source]
        self.slots[source[taken], rank[taken]] = edges[taken]
        self.next_best[source] = -self.vacancy
        self.next_best[source[rank == room]] = net[rank == room]

    def _load(self) -> Ints:
        """Return (n,) the links of each target, including those that it still lacks."""
        links = np.bincount(self.head[:-2][self.chosen], minlength=self.ground)
        load: Ints = links[self.n :] + np.maximum(links[: self.n], self.need)
        return load

    def _bonus(self, target: Ints | int, flow: Ints | int) -> Ints:
        """Return what the last of `flow` links that count is worth to the site, apart from its score."""
        level = np.minimum(self.fixed[target] + flow, len(self.bonus) - 1)
        return np.where(flow > self.need[target], 0, self.bonus[level])

    def _pull(self, start: int) -> None:
        """Get a node one more link by the cheapest chain, or leave it without one where that is cheaper still."""
        chain = _Chain(self.distance, start, int(self.forfeit[start] - self.price[start]))
        while (node := chain.nearest()) is not None:
            self._ask_sources(chain, node)
            self._use_other_node(chain, node)
        settled = np.array(chain.settled, np.int64)
        self.price[settled] += chain.cost - self.distance[settled]
        self.distance[[start, *chain.came]] = FAR
        self._exchange(chain)

    def _ask_sources(self, chain: "_Chain", node: int) -> None:
        """Find which of its links each source that could link to the node would give up, and at what loss."""
        links = self.start[node] + np.flatnonzero(~self.chosen[self.start[node] : self.start[node + 1]])
        if not len(links):
            return
        slots = self.slots[self.source[links]]
        paid = self.distance[node] - self.price[node] - self.worth[links]
        heads, loss = self.head[slots], self.worth[slots] + paid[:, None]
        cost = loss + self.forfeit[heads]
        link, slot = divmod(int(cost.argmin()), cost.shape[1])
        chain.finish(int(heads[link, slot]), int(cost[link, slot]), (node, int(links[link]), slot))
        loss += self.price[heads]
        nearer = (loss < chain.cost) & (loss < self.distance[heads])
        for link, slot in zip(*(each.tolist() for each in nearer.nonzero()), strict=True):
            chain.reach(int(heads[link, slot]), int(loss[link, slot]), (node, int(links[link]), slot))

    def _use_other_node(self, chain: "_Chain", node: int) -> None:
        """Use the target's other node: exchange a link that doesn't count for one that does, or the reverse."""
        target = node % self.n
        gap = int(self.price[target] - self.price[self.n + target])
        if node < self.n:
            other, loss = self.n + target, int(self.forfeit[target]) - gap
        else:
            other, loss = target, gap - int(self._bonus(target, self.flow[target] + 1))
        chain.reach(other, int(self.distance[node]) + loss, (node, self.missing, 0))

    def _exchange(self, chain: "_Chain") -> None:
        node = chain.end
        self._shift(node, -1)
        while node in chain.came:
            former, link, slot = chain.came[node]
            if link == self.missing:
                self._shift(former, -1)
                self._shift(node, 1)
            else:
                at = self.source[link], slot
                if self.slots[at] != self.empty:
                    self.chosen[self.slots[at]] = False
                self.slots[at], self.chosen[link] = link, True
            node = former

    def _shift(self, node: int, by: int) -> None:
        if node < self.n:
            self.flow[node] += by
            self.forfeit[node] = self._bonus(node, self.flow[node])


def _by_source(source: Ints, net: Ints) -> Ints:
    span = int(np.ptp(net)) + 1 if len(net) else 1
    if (int(source.max(initial=0)) + 2) * span < FAR:
        # One key takes a third of the time of two.
        return np.argsort(source * span + (net.max(initial=0) - net), kind="stable")
    return np.lexsort((-net, source))


class _Chain:
    """The search for the cheapest chain from one node (Dijkstra's algorithm), and its best end so far."""

    def __init__(self, distance: Ints, start: int, cost: int) -> None:
        self.distance, self.end, self.cost = distance, start, cost
        self.came: dict[int, Step] = {}
        self.settled: list[int] = []
        self.heap = [(0, start)]
        distance[start] = 0

    def nearest(self) -> int | None:
        """Return the next node to visit; None if none is nearer than the best end."""
        while self.heap and self.heap[0][0] < self.cost:
            far, node = heappop(self.heap)
            if far == self.distance[node]:
                self.settled.append(node)
                return node
        return None

    def reach(self, node: int, far: int, step: Step) -> None:
        if far < min(self.distance[node], self.cost):
            self.distance[node], self.came[node] = far, step
            heappush(self.heap, (far, node))

    def finish(self, node: int, cost: int, step: Step) -> None:
        if cost < self.cost:
            self.cost, self.end, self.came[node] = cost, node, step
