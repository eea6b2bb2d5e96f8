"""Exact k-NN by cosine, tile by tile, in memory that does not grow with the count of texts."""

from collections.abc import Iterator, Sequence

import numpy as np

from internal_linker.model.arrays import (
    NOTHING,
    Bools,
    Ints,
    JoinTask,
    Keys,
    Nearest,
    Vectors,
    empty_lists,
    keys_of,
    rows_of,
    scores_of,
)

# A tile of scores is 16 MB. Fewer rows would convert the same columns to float32 more often (7% of the time
# with 1,024 rows at 384 dimensions, 4% with 2,048); larger tiles gain nothing.
TILE_ROWS = 2048
TILE_COLUMNS = 2048
# Scores to take from a tile at a time: bounds the memory if a list needs most of a tile (many equal texts).
HANDFUL = 131_072
# Minimum buffer of a list for new entries; short lists get relatively more, so that they are sorted less often.
LEAST_SPARE = 32
# A list starts with the best of the first 16 times as many columns: its bound is then nearly that of the
# whole tile, without sorting the whole tile.
START = 16
LEAST_START = 256


def nearest(
    vectors: Vectors,
    languages: Ints,
    rows: Ints,
    columns: Ints,
    keep: int,
    *,
    excluded: Sequence[Ints] | None = None,
    above: Vectors | None = None,
) -> Nearest:
    """Return the best columns of each row by cosine; uses at most 90 MB besides arguments and result.

    Args:
        vectors: (n, d) float16 or float32 unit rows; a row of zeros has an empty list and is in no list.
        languages: (n,) language codes; two texts match if their codes are equal or one is -1.
        rows: (m,) texts that get lists.
        columns: (c,) distinct texts that may be in the lists; no text is in its own list.
        keep: maximum length of a list, at least 1.
        excluded: for each row, further texts that may not be in its list.
        above: (m,) scores; only higher ones enter the lists (the floor is then at least this score).
    """
    result = empty_lists(len(rows), keep)
    for at, among in _by_language(vectors, languages, rows, columns):
        theirs = np.sort(columns[among])
        for start in range(0, len(at), TILE_ROWS):
            mine = at[start : start + TILE_ROWS]
            barred = _barred(rows[mine], theirs, [excluded[i] for i in mine] if excluded else ())
            lists = _Lists(len(mine), keep, None if above is None else above[mine])
            for first, scores in _tiles(vectors, rows[mine], theirs, barred):
                lists.offer(np.arange(len(mine)), scores, theirs[first : first + scores.shape[1]])
            _put(result, mine, lists, len(theirs) - np.bincount(barred[0], minlength=len(mine)))
    return result


def mutual(
    vectors: Vectors, languages: Ints, rows: Ints, columns: Ints, keep: int, *, above: Vectors | None = None
) -> Nearest:
    """Return the lists of the rows, see `nearest`, followed by the lists of the columns, which contain rows.

    Each pair is multiplied once. `rows` and `columns` have no text in common. All lists are in memory at the same
    time, with 32 bytes per entry. Of ties at the end of a column's list, any may be left out.
    """
    result = empty_lists(len(rows) + len(columns), keep)
    lists, back = _Lists(len(rows), keep, above), _Lists(len(columns), keep)
    others, partners = np.zeros(len(rows), np.int64), np.zeros(len(columns), np.int64)
    for at, among in _by_language(vectors, languages, rows, columns):
        mine, theirs = at[np.argsort(rows[at])], among[np.argsort(columns[among])]
        others[at] += len(among)
        partners[among] += len(at)
        # Nearly all rows have a bound from the start, so few entries of the transposed tile need sorting.
        for start in range(0, len(theirs), TILE_ROWS):
            some = theirs[start : start + TILE_ROWS]
            for first, scores in _tiles(vectors, columns[some], rows[mine], None):
                part = mine[first : first + scores.shape[1]]
                back.offer(some, scores, rows[part])
                lists.offer(part, scores.T, columns[some])
    _put(result, np.arange(len(rows)), lists, others)
    _put(result, len(rows) + np.arange(len(columns)), back, partners)
    return result


def join_block(vectors: Vectors, languages: Ints, block: JoinTask) -> Nearest:
    """Join one block, by `nearest` or `mutual`."""
    work = mutual if block.mutual else nearest
    return work(vectors, languages, block.rows, block.columns, block.keep, above=block.above)


def present(vectors: Vectors, rows: Ints) -> Bools:
    """Return (m,) whether each text has a vector."""
    there: Bools = vectors[rows, 0] != 0
    doubtful = np.flatnonzero(~there)
    there[doubtful] = vectors[rows[doubtful]].any(axis=1)
    return there


def _by_language(vectors: Vectors, languages: Ints, rows: Ints, columns: Ints) -> Iterator[tuple[Ints, Ints]]:
    """Yield positions in `rows` and in `columns` of texts that all match, so that no tile needs a mask."""
    mine, theirs = np.flatnonzero(present(vectors, rows)), np.flatnonzero(present(vectors, columns))
    ours, others = languages[rows[mine]], languages[columns[theirs]]
    for code in np.unique(ours):
        yield mine[ours == code], theirs[(others == code) | (others == -1) | (code == -1)]


def _barred(rows: Ints, columns: Ints, excluded: Sequence[Ints]) -> tuple[Ints, Ints]:
    """Return pairs of positions to exclude, by column: each text with itself and with its excluded texts."""
    owners = np.repeat(np.arange(len(excluded)), [len(others) for others in excluded])
    at = np.concatenate([np.arange(len(rows)), owners]).astype(np.int64)
    texts = np.concatenate([rows, *excluded]).astype(np.int64)
    places = np.searchsorted(columns, texts)
    there = places < len(columns)
    there[there] = columns[places[there]] == texts[there]
    pairs = np.unique(places[there] * len(rows) + at[there])
    return pairs % len(rows), pairs // len(rows)


def _tiles(
    vectors: Vectors, rows: Ints, columns: Ints, barred: tuple[Ints, Ints] | None
) -> Iterator[tuple[int, Vectors]]:
    """Yield each tile's first column and its scores, which the next tile overwrites."""
    left = vectors[rows].astype(np.float32, copy=False)
    right = np.empty((min(TILE_COLUMNS, len(columns)), vectors.shape[1]), np.float32)
    room = np.empty(len(rows) * len(right), np.float32)
    for first in range(0, len(columns), TILE_COLUMNS):
        part = columns[first : first + TILE_COLUMNS]
        scores = room[: len(rows) * len(part)].reshape(len(rows), len(part))
        theirs = vectors[_run(part)]
        if theirs.dtype != np.float32:
            np.copyto(right[: len(part)], theirs)
            theirs = right[: len(part)]
        # Some kernels of OpenBLAS report what they read beyond the arrays, with right results (numpy issue 24067).
        with np.errstate(all="ignore"):
            np.matmul(left, theirs.T, out=scores)
        if barred is not None:
            some = slice(*np.searchsorted(barred[1], (first, first + len(part))))
            scores[barred[0][some], barred[1][some] - first] = -np.inf
        yield first, scores


def _run(rows: Ints) -> Ints | slice:
    """Return rows without a gap as a slice, which numpy reads in place."""
    if len(rows) and rows[-1] - rows[0] == len(rows) - 1:
        return slice(int(rows[0]), int(rows[-1]) + 1)
    return rows


class _Lists:
    """Running lists: the best entries of each so far, and a buffer for better ones.

    An entry is one integer of score and row, whose order is the order of the lists: higher scores first, ties
    by the smaller row. The `keep` best entries are stored after the buffer.
    """

    def __init__(self, count: int, keep: int, above: Vectors | None = None) -> None:
        self.keep = keep
        self.room = max(keep, LEAST_SPARE)
        self.keys: Keys = np.full((count, self.room + keep), NOTHING)
        self.used = np.zeros(count, np.int64)
        self.last = np.full(count, NOTHING)
        self.above = np.full(count, -np.inf, np.float32) if above is None else above.astype(np.float32)
        self.least = self.above.copy()

    def offer(self, lists: Ints, scores: Vectors, rows: Ints) -> None:
        """Add the entries of a tile that are better than the last entry of their list.

        Args:
            lists: (r,) distinct lists.
            scores: (r, c) scores, -inf if a row may not be in a list; or the transpose of such an array.
            rows: (c,) rows, ascending and above all rows offered to these lists before.
        """
        least = self.least[lists]
        if np.isneginf(least).any():
            least = np.maximum(least, self._start(scores))
        better = np.flatnonzero((scores > least[:, None]).ravel(order="K"))
        flat, turned = scores.ravel(order="K"), not scores.flags.c_contiguous
        for start in range(0, len(better), HANDFUL):
            some = better[start : start + HANDFUL]
            at, place = np.divmod(some, len(rows))
            if turned:
                place, at = np.divmod(some, len(lists))
                order = np.argsort(at, kind="stable")
                some, at, place = some[order], at[order], place[order]
            self._insert(lists[at], keys_of(flat[some], rows[place]))
        self._settle(lists[self.used[lists] > self.room // 2])

    def _start(self, scores: Vectors) -> Vectors:
        """Return (r,) just below the `keep`-th best score in the tile's first columns."""
        some = scores[:, : max(LEAST_START, START * self.keep)]
        place = some.shape[1] - self.keep
        if place < 0:
            return np.full(len(scores), -np.inf, np.float32)
        last: Vectors = np.partition(some, place, axis=1)[:, place]
        return np.nextafter(last, np.float32(-np.inf))

    def _insert(self, lists: Ints, keys: Keys) -> None:
        while len(lists):
            first = np.flatnonzero(np.concatenate([[True], lists[1:] != lists[:-1]]))
            counts = np.diff(first, append=len(lists))
            place = self.used[lists] + np.arange(len(lists)) - np.repeat(first, counts)
            fits = place < self.room
            self.keys[lists[fits], place[fits]] = keys[fits]
            owners = lists[first]
            self.used[owners] = np.minimum(self.used[owners] + counts, self.room)
            if fits.all():
                return
            self._settle(owners[self.used[owners] == self.room])
            better = ~fits & (keys > self.last[lists])
            lists, keys = lists[better], keys[better]

    def _settle(self, lists: Ints) -> None:
        """Move the best entries to the end; those left in the buffer are worse and may be overwritten."""
        if len(lists):
            keys = self.keys[lists]
            keys.partition(self.room, axis=1)
            self.keys[lists] = keys
            self.used[lists] = 0
            self.last[lists] = keys[:, self.room]
            self.least[lists] = np.maximum(self.above[lists], scores_of(keys[:, self.room]))

    def best(self, lists: Ints) -> Keys:
        self._settle(lists)
        return np.sort(self.keys[lists, self.room :], axis=1)[:, ::-1]


def _put(result: Nearest, at: Ints, lists: _Lists, possible: Ints) -> None:
    """Write lists to their positions; `possible`: (r,) count of texts that could be in each list."""
    for start in range(0, len(at), TILE_ROWS):
        some = np.arange(start, min(len(at), start + TILE_ROWS))
        keys = lists.best(some)
        there = keys != NOTHING
        result.rows[at[some]] = rows_of(keys)
        result.scores[at[some]] = scores = scores_of(keys)
        missing = possible[some] > there.sum(axis=1)
        last = np.where(missing, np.maximum(scores[:, -1], lists.above[some]), -np.inf)
        result.floors[at[some]] = last
