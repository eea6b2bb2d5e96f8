"""Incremental k-NN: which lists of the last run are still valid, and how to merge new comparisons into them."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from internal_linker.model.arrays import (
    NOTHING,
    Ints,
    Nearest,
    Neighbourhood,
    empty_lists,
    keys_of,
    lists_of,
    rows_of,
    scores_of,
)

# Lists to merge at a time: 60 MB with 256 entries per list.
STEP = 4096


@dataclass(frozen=True, slots=True)
class ValidLists:
    """What is still valid of the last run's lists."""

    lists: Nearest  # the lists of all n texts; those of `changed` and `short` are empty
    changed: Ints  # rows of texts that the last run did not have
    short: Ints  # rows of texts whose lists lost too many entries and must be rebuilt
    removed: int  # count of texts that the site no longer has


def digests(names: Sequence[str], hashes: Sequence[str], languages: Sequence[str]) -> NDArray[np.uint8]:
    """Return (n, 16) uint8 digests of each text's name, hash and language, which identify an unchanged text."""
    whole = map("\n".join, zip(names, hashes, languages, strict=True))
    each = b"".join(blake2b(one.encode("utf-8", "surrogatepass"), digest_size=16).digest() for one in whole)
    return np.frombuffer(each, np.uint8).reshape(-1, 16)


def known(old: Neighbourhood, digests: Ints, served: int) -> ValidLists:
    """Return the old lists by new rows, without the removed texts.

    A text is unchanged if both runs have its digest; of equal digests, as many as both runs have.

    A list with a floor and fewer than `served` entries is no longer sure to have the best.
    """
    here, there = _same(old.digests, digests)
    changed = np.setdiff1d(np.arange(len(digests)), here)
    moved = np.full(len(old.digests) + 1, -1, np.int32)  # one more, so that -1 maps to -1
    moved[there] = here
    lists = empty_lists(len(digests), old.nearest.rows.shape[1])
    rows, scores = moved[old.nearest.rows[there]], old.nearest.scores[there]
    left = rows >= 0
    counts = left.sum(axis=1)
    filled = np.zeros(lists.rows.shape, bool)
    filled[here] = np.arange(rows.shape[1]) < counts[:, None]
    lists.rows[filled], lists.scores[filled] = rows[left], scores[left]
    lists.floors[here] = old.nearest.floors[there]
    short = here[np.isfinite(lists.floors[here]) & (counts < served)]
    lists.rows[short], lists.scores[short], lists.floors[short] = -1, -np.inf, -np.inf
    return ValidLists(lists, changed, short, len(old.digests) - len(there))


def _same(old: Ints, new: Ints) -> tuple[Ints, Ints]:
    """Return rows of `new`, ascending, and the rows of `old` with the same digests, each row once."""
    both = np.ascontiguousarray(np.concatenate([old, new])).view(np.uint64)
    order = np.lexsort((*both.T,))  # stable: the old ones come before the new ones
    ranked = both[order]
    starts = np.concatenate([[True], (ranked[1:] != ranked[:-1]).any(axis=1)])[: len(order)]
    numbers = np.empty(len(order), np.int64)
    numbers[order] = np.cumsum(starts)
    before, after = (_counted(part, len(order) + 1) for part in (numbers[: len(old)], numbers[len(old) :]))
    _, there, here = np.intersect1d(before, after, assume_unique=True, return_indices=True)
    ascending = np.argsort(here)
    return here[ascending], there[ascending]


def _counted(numbers: Ints, base: int) -> Ints:
    """Return each number combined with the count of its earlier occurrences, as one number."""
    order = np.argsort(numbers, kind="stable")
    ranked = numbers[order]
    first = np.searchsorted(ranked, ranked)
    counted = np.empty(len(numbers), np.int64)
    counted[order] = ranked * base + np.arange(len(numbers)) - first
    return counted


def merge(lists: Nearest, texts: Ints, other: Nearest) -> None:
    """Merge (m, k) lists of the m distinct `texts`, with no entries in common with the present ones, in place.

    No list lacks an entry above its floor, so the merged list lacks none above the higher floor.
    """
    counts = (other.rows >= 0).sum(axis=1)
    news = np.flatnonzero((counts > 0) | (other.floors > lists.floors[texts]))
    for start in range(0, len(news), STEP):
        some = news[start : start + STEP]
        width = int(counts[some].max())
        lists_at = texts[some]
        _merge(
            lists, lists_at, Nearest(other.rows[some, :width], other.scores[some, :width], other.floors[some])
        )


def _merge(lists: Nearest, texts: Ints, other: Nearest) -> None:
    keep = lists.rows.shape[1]
    mine = lists_of(lists, texts)
    if (mine.rows[:, 0] < 0).all() and np.isneginf(mine.floors).all():
        width = other.rows.shape[1]
        lists.rows[texts, :width], lists.scores[texts, :width] = other.rows, other.scores
        lists.floors[texts] = other.floors
        return
    floors = np.maximum(mine.floors, other.floors)
    both = [keys_of(one.scores, one.rows) for one in (mine, other)]
    # Both lists are sorted, so the stable sort merges them.
    keys = ~np.sort(~np.concatenate(both, axis=1), axis=1, kind="stable")
    scores = scores_of(keys)
    keys[scores < floors[:, None]] = NOTHING
    if keys.shape[1] > keep:
        over = keys[:, keep] != NOTHING
        floors[over] = np.maximum(floors[over], scores[over, keep - 1])
    lists.rows[texts], lists.scores[texts] = rows_of(keys[:, :keep]), scores_of(keys[:, :keep])
    lists.floors[texts] = floors
