"""Vectors of all texts, and what the last run left -> the nearest targets of each text."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import product

import numpy as np
from numpy.typing import NDArray

from internal_linker.core.arrays import (
    Block,
    Bools,
    Ints,
    Nearest,
    Neighbourhood,
    Vectors,
    empty_lists,
    lists_of,
)
from internal_linker.core.ports import Compute, JoinStore, Progress
from internal_linker.matching.neighbours.exact import join_block, present
from internal_linker.matching.neighbours.incremental import Known, known, merge
from internal_linker.matching.neighbours.ivf import cells_of, partition, probes_for, share

# Rows of one task of an exact join: two seconds of one core at 100,000 texts x 384, a result of 4 MB
# with 256 places; as many as the kernel has in a tile.
EXACT_ROWS = 2048
# Changed texts in one task.
BLOCK_ROWS = 1024
# Rows of one task with fewer columns.
CELL_ROWS = 4096
# What costs are estimated with: multiplications and additions a second of two cores of a plain laptop.
RATE = 1e11
# A longer exact join is done by cells: 62,000 texts x 384, 31,000 x 1,536.
EXACT_SECONDS = 30.0
# From so many seconds on, finished blocks are kept: less is done again as quickly as it is read.
KEPT_SECONDS = 5.0
# Texts whose exact lists tell the recall of the others: its standard error is below 0.005.
SAMPLE = 500
# Comparing with more than so much of all pairs by cells saves nothing: the small blocks are slower.
WORTH = 0.5
# The same for changes in a join that is done by cells: they must cost less than cells, of which
# about a tenth of the pairs is expected.
CELLS_SHARE = 0.1


@dataclass(frozen=True, slots=True)
class Joined:
    """What came of a join.

    Attributes:
        nearest: of all n texts.
        way: "exact", "clustered" or "incremental".
        changed: texts that were not in the last join; all n if nothing was taken from it.
        removed: texts of the last join that are gone.
        renewed: texts whose lists had lost too much and were made anew.
        probes: cells that each cell was compared with; 0 where it was not done by cells.
        recall: part of the nearest targets that was found, 0 to 1; 1 for exact lists, else measured.
    """

    nearest: Nearest
    way: str
    changed: int
    removed: int = 0
    renewed: int = 0
    probes: int = 0
    recall: float = 1.0

    def __str__(self) -> str:
        if self.way == "exact":
            return "all with all"
        found = "" if self.recall == 1.0 else f", {self.recall:.1%} of the nearest pages found"
        if self.way == "clustered":
            return f"by clusters, each with its {self.probes} nearest{found}"
        return f"{self.changed} new or changed, {self.removed} gone, {self.renewed} anew{found}"


def join(
    name: str,
    vectors: Vectors,
    digests: NDArray[np.uint8],
    languages: Ints,
    targets: Bools,
    *,
    served: int,
    store: JoinStore | None,
    compute: Compute,
    progress: Progress,
    recall: float = 0.99,
    exact_seconds: float = EXACT_SECONDS,
    kept_seconds: float = KEPT_SECONDS,
) -> Joined:
    """The `served` nearest targets of each text, from the last join of this name where there is one.

    Twice as many are stored, so that a list may lose some before it has to be made anew. Large joins are
    done by cells, which finds nearly all; their lists' floors tell what was missed among the texts they
    were compared with. Changed texts are always compared with all, and the recall is measured in each
    run; where it is below `recall`, all lists are made anew.

    Args:
        name: what the lists depend on beside the texts: model, dimensions, recipe.
        vectors: (n, d) float16 or float32 unit rows; zeros where a text has none: its list is empty.
        digests: (n, 16) uint8 of each text and its language, by name.
        languages: (n,) codes; two texts match if theirs are equal or one is -1.
        targets: (n,) which texts may be in lists.
        served: length of a list, at least 1.
        store: what the last join left; None: none is asked, nothing is left.
        compute: does the blocks.
        progress: of the blocks.
        recall: that lists by cells must reach, 0 to 1.
        exact_seconds: estimated cost above which a join is done by cells.
        kept_seconds: estimated cost above which finished blocks are stored.
    """
    run = _Join(
        name,
        vectors,
        digests,
        languages,
        targets,
        served=served,
        store=store,
        compute=compute,
        progress=progress,
        recall=recall,
        exact_seconds=exact_seconds,
        kept_seconds=kept_seconds,
    ).marked()
    old = store.get(name) if store else None
    joined = run.incremental(old) if old else None
    joined = joined or run.clustered() or run.exact()
    if store:
        store.put(name, Neighbourhood(run.digests, joined.nearest))
    return replace(joined, nearest=_served(joined.nearest, served))


@dataclass(frozen=True, slots=True)
class _Join:
    """One join: what it is given, and the three ways to do it; a way that doesn't pay gives None."""

    name: str
    vectors: Vectors
    digests: NDArray[np.uint8]
    languages: Ints
    targets: Bools
    served: int
    store: JoinStore | None
    compute: Compute
    progress: Progress
    recall: float
    exact_seconds: float
    kept_seconds: float
    fingerprint: str = ""

    def marked(self) -> "_Join":
        """With digests that also tell whether a text is a target and has a vector, and with their fingerprint."""
        digests = self.digests.copy()
        digests[:, 0] ^= (self.targets + 2 * present(self.vectors, self.texts)).astype(np.uint8)
        shape = f"{self.vectors.shape} {self.served}".encode()
        fingerprint = blake2b(digests.tobytes() + shape, digest_size=8).hexdigest()
        return replace(self, digests=digests, fingerprint=fingerprint)

    @property
    def texts(self) -> Ints:
        return np.arange(len(self.vectors))

    @property
    def keep(self) -> int:
        return 2 * self.served

    @property
    def pairs(self) -> int:
        return len(self.vectors) * int(self.targets.sum())

    @property
    def is_large(self) -> bool:
        return self.seconds(self.pairs) > self.exact_seconds

    def seconds(self, pairs: float) -> float:
        return 2.0 * pairs * int(self.vectors.shape[1]) / RATE

    def exact(self) -> Joined:
        columns = np.flatnonzero(self.targets)
        parts = ((rows, columns) for rows in _even(self.texts))
        lists = self.filled("exact", parts, self.pairs)
        return Joined(lists, "exact", len(self.vectors))

    def clustered(self) -> Joined | None:
        if not self.is_large:
            return None
        cells = cells_of(self.vectors, round(len(self.vectors) ** 0.5))
        sample, truth = self.sample()
        probes = probes_for(cells, sample, truth.rows, self.recall)
        work = share(cells, self.targets, probes)
        if work > WORTH:
            self.progress.warn(f"Comparing by cells would need {work:.0%} of all pairs: all are compared")
            return None
        parts = (
            (rows, columns)
            for members, columns in partition(cells, self.targets, probes)
            for rows in _chunks(members, CELL_ROWS)
        )
        lists = self.filled(f"cells-{probes}", parts, work * self.pairs)
        reached = _recall(lists_of(lists, sample), truth)
        return Joined(lists, "clustered", len(self.vectors), probes=probes, recall=reached)

    def incremental(self, old: Neighbourhood) -> Joined | None:
        if old.nearest.rows.shape[1] != self.keep:
            return None
        left = known(old, self.digests, self.served)
        blocks = list(self.changes(left))
        pairs = sum(len(block.rows) * len(block.columns) for block in blocks)
        if pairs > self.pairs * (CELLS_SHARE if self.is_large else WORTH):
            return None
        self.fill(left.lists, blocks, pairs)
        reached = 1.0
        if self.is_large:
            sample, truth = self.sample()
            reached = _recall(lists_of(left.lists, sample), truth)
        if reached < self.recall:
            return None
        return Joined(
            left.lists,
            "incremental",
            changed=len(left.changed),
            removed=left.removed,
            renewed=len(left.short),
            recall=reached,
        )

    def changes(self, left: Known) -> Iterator[Block]:
        """Each pair with a changed text in it once; texts whose list fell short with all targets."""
        whole = np.union1d(left.changed, left.short)
        stays = np.ones(len(self.vectors), bool)
        stays[whole] = False
        known_targets, known_others = (
            np.flatnonzero(stays & self.targets),
            np.flatnonzero(stays & ~self.targets),
        )
        news = left.changed[self.targets[left.changed]]
        rest = np.setdiff1d(whole, news)
        mutual = product(_chunks(known_targets, CELL_ROWS), _chunks(news, BLOCK_ROWS))
        others = product(_chunks(known_others, CELL_ROWS), _chunks(news, BLOCK_ROWS))
        # One array for all blocks of a kind: it is large, and may have to travel.
        among, everyone = whole[self.targets[whole]], np.flatnonzero(self.targets)
        new = ((rows, among) for rows in _chunks(news, BLOCK_ROWS))
        all_ = ((rows, everyone) for rows in _chunks(rest, BLOCK_ROWS))
        kinds = (("both", mutual), ("known", others), ("new", new), ("whole", all_))
        for kind, parts in kinds:
            for number, (rows, columns) in enumerate(parts):
                above = left.lists.floors[rows] if kind in ("both", "known") else None
                label = self.label(kind, number)
                yield Block(label, rows, columns, self.keep, above, mutual=kind == "both")

    def sample(self) -> tuple[Ints, Nearest]:
        """Some texts and their exact lists."""
        there = np.flatnonzero(present(self.vectors, self.texts))
        rows = np.sort(np.random.default_rng(0).permutation(there)[:SAMPLE])
        block = Block("sample", rows, np.flatnonzero(self.targets), self.served)
        ((_, truth),) = self.compute.run(join_block, self.vectors, self.languages, [block])
        return rows, truth

    def filled(self, kind: str, parts: Iterable[tuple[Ints, Ints]], pairs: float) -> Nearest:
        lists = empty_lists(len(self.vectors), self.keep)
        blocks = [
            Block(self.label(kind, at), rows, columns, self.keep) for at, (rows, columns) in enumerate(parts)
        ]
        self.fill(lists, blocks, pairs)
        return lists

    def fill(self, lists: Nearest, blocks: Sequence[Block], pairs: float) -> None:
        """Do the blocks, but those that an ended run left in the store, and enter what they find."""
        self.progress.start("Comparing", len(blocks), "blocks")
        keeper = self.store if self.seconds(pairs) > self.kept_seconds else None
        done = keeper.blocks(self.name) if keeper else {}
        for block in blocks:
            if block.name in done:
                self.enter(lists, block, done[block.name])
        missing = [block for block in blocks if block.name not in done]
        for block, nearest in self.compute.run(join_block, self.vectors, self.languages, missing):
            if keeper:
                keeper.put_block(self.name, block.name, nearest)
            self.enter(lists, block, nearest)
        self.progress.finish(f"{len(missing)} blocks done, {len(blocks) - len(missing)} done before")

    def enter(self, lists: Nearest, block: Block, nearest: Nearest) -> None:
        count = len(block.rows)
        merge(lists, block.rows, lists_of(nearest, slice(0, count)))
        if block.mutual:
            merge(lists, block.columns, lists_of(nearest, slice(count, None)))
        self.progress.advance()

    def label(self, kind: str, number: int) -> str:
        """A block's name; another one if anything that its result depends on is another."""
        return f"{kind}-{self.fingerprint}-{number}"


def _chunks(texts: Ints, size: int) -> list[Ints]:
    return [texts[start : start + size] for start in range(0, len(texts), size)]


def _even(texts: Ints) -> list[Ints]:
    """Parts of at most `EXACT_ROWS`, an even number of nearly one size: two cores end together."""
    return np.array_split(texts, 2 * max(1, -(-len(texts) // (2 * EXACT_ROWS))))


def _recall(found: Nearest, truth: Nearest) -> float:
    """Which part of the true lists was found, 0 to 1; of equals any counts."""
    wanted = np.isfinite(truth.scores).sum(axis=1)
    last = np.take_along_axis(truth.scores, np.maximum(wanted, 1)[:, None] - 1, axis=1)
    as_good = (found.scores >= last - 1e-6) & np.isfinite(found.scores)
    hits = np.minimum(as_good.sum(axis=1), wanted)
    return float(hits.sum() / max(1, wanted.sum()))


def _served(lists: Nearest, served: int) -> Nearest:
    """The first of each list; where that leaves something out, its last score is the floor."""
    cut = np.isfinite(lists.scores[:, served])
    floors = np.where(cut, lists.scores[:, served - 1], lists.floors)
    return Nearest(lists.rows[:, :served], lists.scores[:, :served], floors)
