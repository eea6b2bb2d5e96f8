"""The similarity of pages -> all pairs that are similar enough, best first, and the pages that have no match."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from internal_linker.analysis.similarity.similarity import Similarity
from internal_linker.core.arrays import Ints, Vectors
from internal_linker.core.errors import InputError

# 12 bytes each, and nobody reads a hundredth of them.
MOST_PAIRS = 5_000_000


@dataclass(frozen=True, slots=True)
class AlikePairs:
    """Pairs of pages, the most similar first, equals by their rows.

    Attributes:
        first: (p,) rows.
        second: (p,) rows, each above that in `first`.
        scores: (p,) float32.
        found: how many pairs are similar enough; more than p where a page may have so many matches only.
        alone: (a,) rows of pages without any.
    """

    first: Ints
    second: Ints
    scores: Vectors
    found: int
    alone: Ints


def alike(
    similarity: Similarity,
    languages: Ints,
    at_least: float,
    most: int = 0,
    advance: Callable[[int], None] = lambda _: None,
) -> AlikePairs:
    """Compare all pages with all, but for those in another language.

    Args:
        similarity: of n pages.
        languages: (n,) codes; two pages match if theirs are equal or one is -1.
        at_least: the lowest similarity of a pair.
        most: a pair must be among so many best matches of one of its pages; 0: all pairs.
        advance: is told how many more pages are compared.

    Raises:
        InputError: there are more than `MOST_PAIRS`.
    """
    n, found, kept = len(similarity), 0, 0
    parts: list[tuple[Ints, Ints, Vectors]] = []
    for start, column, scores in similarity.tiles(upper=not most):
        ours, theirs = languages[start : start + len(scores), None], languages[None, column:]
        scores[(ours != theirs) & (ours >= 0) & (theirs >= 0)] = -np.inf
        places = np.arange(len(scores))
        scores[places, places + start - column] = -np.inf
        found += int((scores >= at_least).sum()) if most else 0
        rows, others = np.nonzero(scores >= np.maximum(at_least, _last_of_best(scores, most))[:, None])
        if not most:
            rows, others = rows[others > rows], others[others > rows]
        parts.append(
            ((rows + start).astype(np.int32), (others + column).astype(np.int32), scores[rows, others])
        )
        kept += len(rows)
        if kept > MOST_PAIRS * (2 if most else 1):
            raise InputError(_too_many(at_least))
        advance(len(scores))
    first, second, similar = (np.concatenate(each) for each in zip(*parts, strict=True))
    if most:
        first, second, similar = _once(first, second, similar, n)
        found //= 2
    order = np.lexsort((second, first, -similar))
    alone = np.setdiff1d(np.arange(n), np.concatenate([first, second]))
    return AlikePairs(first[order], second[order], similar[order], max(found, len(order)), alone)


def _last_of_best(scores: Vectors, most: int) -> Vectors:
    """(r,) the score of the last of each row's best."""
    place = scores.shape[1] - most
    if not most or place <= 0:
        return np.full(len(scores), -np.inf, np.float32)
    last: Vectors = np.partition(scores, place, axis=1)[:, place]
    return last


def _once(first: Ints, second: Ints, scores: Vectors, n: int) -> tuple[Ints, Ints, Vectors]:
    """Each pair once, with the lower row first."""
    low, high = np.minimum(first, second), np.maximum(first, second)
    _, at = np.unique(low.astype(np.int64) * n + high, return_index=True)
    return low[at], high[at], scores[at]


def _too_many(at_least: float) -> str:
    return (
        f"More than {MOST_PAIRS:,} pairs of pages have a similarity of {at_least} or more. "
        "Raise --min-similarity, or take the best ones of each page: --max-per-page 20."
    )
