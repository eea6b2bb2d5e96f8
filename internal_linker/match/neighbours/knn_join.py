"""The k-NN join: the nearest targets of each text, computed exactly, by an inverted file or from the last run."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import product

import numpy as np
from numpy.typing import NDArray

from internal_linker.match.neighbours.exact import join_block, present
from internal_linker.match.neighbours.incremental import ValidLists, known, merge
from internal_linker.match.neighbours.ivf import cells_of, partition, probes_for, share
from internal_linker.model.arrays import (
    Bools,
    Ints,
    JoinTask,
    Nearest,
    Neighbourhood,
    Vectors,
    empty_lists,
    lists_of,
)
from internal_linker.model.ports import Compute, Progress
from internal_linker.store.neighbours import StoredJoins

# Rows of one task of an exact join: two seconds on one core at 100,000 texts x 384, a result of 4 MB
# with 256 entries per list; as many as a tile has.
EXACT_ROWS = 2048
# Changed texts in one task.
BLOCK_ROWS = 1024
# Rows of one task with fewer columns.
CELL_ROWS = 4096
# For estimates of costs: multiplications and additions per second on two cores of an average laptop.
RATE = 1e11
# Longer exact joins use cells instead: from 62,000 texts x 384, or 31,000 x 1,536.
EXACT_SECONDS = 30.0
# Above this, finished blocks are stored: shorter work is repeated as quickly as it is read back.
KEPT_SECONDS = 5.0
# Texts whose exact lists measure the recall of the others, with a standard error below 0.005.
SAMPLE = 500
# Comparing more than this share of all pairs by cells saves nothing, as small blocks are slower.
WORTH = 0.5
# The same for changes in a join by cells: they must cost less than the cells, which usually compare about a tenth
# of the pairs.
CELLS_SHARE = 0.1


@dataclass(frozen=True, slots=True)
class Joined:
    """The result of a join."""

    nearest: Nearest  # the lists of all n texts
    way: str  # "exact", "clustered" or "incremental"
    changed: int  # count of texts that the last join did not have; n if the join did not use the last one
    removed: int = 0  # count of texts of the last join that are gone
    renewed: int = 0  # count of texts whose lists lost too many entries and were rebuilt
    probes: int = 0  # count of cells that each cell was compared with; 0 unless the join used cells
    # share of the nearest targets that the join found, 0 to 1; 1 for exact lists, else measured
    recall: float = 1.0

    def __str__(self) -> str:
        if self.way == "exact":
            return "all pairs"
        found = "" if self.recall == 1.0 else f", {self.recall:.1%} of the nearest pages found"
        if self.way == "clustered":
            return f"with IVF, {self.probes} cells probed{found}"
        return f"{self.changed} new or changed, {self.removed} gone, {self.renewed} rebuilt{found}"


def join(
    name: str,
    vectors: Vectors,
    digests: NDArray[np.uint8],
    languages: Ints,
    targets: Bools,
    *,
    served: int,
    store: StoredJoins | None,
    compute: Compute,
    progress: Progress,
    recall: float = 0.99,
    exact_seconds: float = EXACT_SECONDS,
    kept_seconds: float = KEPT_SECONDS,
) -> Joined:
    """Return the `served` nearest targets of each text, starting from the last join of this name if there is one.

    The store gets twice as many, so that a list may lose some before it must be rebuilt. Large joins use cells, which
    find nearly all targets; the floors of such lists count only the texts that were compared. Changed texts are always
    compared with all, and each run measures the recall; if it is below `recall`, all lists are rebuilt.

    Args:
        name: what the lists depend on besides the texts: model, dimensions, recipe.
        vectors: (n, d) float16 or float32 unit rows; a text with a row of zeros has an empty list.
        digests: (n, 16) uint8 digests of the texts; see `incremental.digests`.
        languages: (n,) language codes; two texts match if their codes are equal or one is -1.
        targets: (n,) whether each text may be in lists.
        store: keeps the result for the next join; None: neither read nor store anything.
        recall: minimum recall of lists by cells, 0 to 1.
        exact_seconds, kept_seconds: estimated seconds above which a join uses cells, or stores finished blocks.
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
    """One join: its arguments, and three ways to do it; a way that does not pay off returns None."""

    name: str
    vectors: Vectors
    digests: NDArray[np.uint8]
    languages: Ints
    targets: Bools
    served: int
    store: StoredJoins | None
    compute: Compute
    progress: Progress
    recall: float
    exact_seconds: float
    kept_seconds: float
    fingerprint: str = ""

    def marked(self) -> "_Join":
        """Return the join with a fingerprint and with digests that include whether a text is a target with a vector."""
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
            self.progress.warn(f"Clusters would need {work:.0%} of all pairs, so all pairs are compared")
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

    def changes(self, left: ValidLists) -> Iterator[JoinTask]:
        """Yield blocks with each pair that has a changed text once, and with `short` texts and all targets."""
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
        # All blocks of a kind share one array, because it is large and may be sent to other machines.
        among, everyone = whole[self.targets[whole]], np.flatnonzero(self.targets)
        new = ((rows, among) for rows in _chunks(news, BLOCK_ROWS))
        all_ = ((rows, everyone) for rows in _chunks(rest, BLOCK_ROWS))
        kinds = (("both", mutual), ("known", others), ("new", new), ("whole", all_))
        for kind, parts in kinds:
            for number, (rows, columns) in enumerate(parts):
                above = left.lists.floors[rows] if kind in ("both", "known") else None
                label = self.label(kind, number)
                yield JoinTask(label, rows, columns, self.keep, above, mutual=kind == "both")

    def sample(self) -> tuple[Ints, Nearest]:
        there = np.flatnonzero(present(self.vectors, self.texts))
        rows = np.sort(np.random.default_rng(0).permutation(there)[:SAMPLE])
        block = JoinTask("sample", rows, np.flatnonzero(self.targets), self.served)
        ((_, truth),) = self.compute.run(join_block, self.vectors, self.languages, [block])
        return rows, truth

    def filled(self, kind: str, parts: Iterable[tuple[Ints, Ints]], pairs: float) -> Nearest:
        lists = empty_lists(len(self.vectors), self.keep)
        blocks = [
            JoinTask(self.label(kind, at), rows, columns, self.keep)
            for at, (rows, columns) in enumerate(parts)
        ]
        self.fill(lists, blocks, pairs)
        return lists

    def fill(self, lists: Nearest, blocks: Sequence[JoinTask], pairs: float) -> None:
        """Merge the results of all blocks; take those that an interrupted run finished from the store."""
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

    def enter(self, lists: Nearest, block: JoinTask, nearest: Nearest) -> None:
        count = len(block.rows)
        merge(lists, block.rows, lists_of(nearest, slice(0, count)))
        if block.mutual:
            merge(lists, block.columns, lists_of(nearest, slice(count, None)))
        self.progress.advance()

    def label(self, kind: str, number: int) -> str:
        """Return a block's name, which changes with everything that its result depends on."""
        return f"{kind}-{self.fingerprint}-{number}"


def _chunks(texts: Ints, size: int) -> list[Ints]:
    return [texts[start : start + size] for start in range(0, len(texts), size)]


def _even(texts: Ints) -> list[Ints]:
    """Return an even count of parts of at most `EXACT_ROWS` texts and nearly equal size: two cores end together."""
    return np.array_split(texts, 2 * max(1, -(-len(texts) // (2 * EXACT_ROWS))))


def _recall(found: Nearest, truth: Nearest) -> float:
    """Return the share of the true lists that was found, 0 to 1; any of tied entries counts."""
    wanted = np.isfinite(truth.scores).sum(axis=1)
    last = np.take_along_axis(truth.scores, np.maximum(wanted, 1)[:, None] - 1, axis=1)
    as_good = (found.scores >= last - 1e-6) & np.isfinite(found.scores)
    hits = np.minimum(as_good.sum(axis=1), wanted)
    return float(hits.sum() / max(1, wanted.sum()))


def _served(lists: Nearest, served: int) -> Nearest:
    """Return the first `served` entries of each list; if this cuts any, the last score is the floor."""
    cut = np.isfinite(lists.scores[:, served])
    floors = np.where(cut, lists.scores[:, served - 1], lists.floors)
    return Nearest(lists.rows[:, :served], lists.scores[:, :served], floors)
