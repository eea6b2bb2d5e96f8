"""Vectors and words of all pages -> for each source its best targets; never more than a block of the matrix at once."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy import sparse

from internal_linker.arrays import Bools, Ints, Vectors

# Cells of one block: up to seven float32 arrays of this size are alive at once, 110 MB whatever the site's size.
BLOCK_CELLS = 4_000_000
# Most of the work of a sparse product is in the few words that stand on many pages; as a dense product
# these take half the time (measured with 128 to 1,024 words on 10,000 pages), and 2 KB a page.
DENSE_WORDS = 256


@dataclass(frozen=True, slots=True)
class Index:
    """All texts of a run, one row each.

    Attributes:
        vectors: (n, d) float32 unit rows; all zeros where a text has no vector.
        terms: (n, v) float32 TF-IDF rows of unit length; empty where a text has no words.
        languages: (n,) codes; two texts match if theirs are equal or one is -1 (unknown).
    """

    vectors: Vectors
    terms: sparse.csr_matrix
    languages: Ints


@dataclass(frozen=True, slots=True)
class Matches:
    """The best targets of one source, best first; all arrays have one length.

    Attributes:
        rows: the targets' rows in the index.
        score: blend of the z-scored signals, standard deviations above the source's average target.
        similarity: cosine of the vectors, -1 to 1; NaN where one is missing.
        lexical: cosine of TF-IDF, 0 to 1.
        longer: the same with so many of the best, and with the given rows behind them; a list that is kept
            keeps a block of the matrix for it.
    """

    rows: Ints
    score: Vectors
    similarity: Vectors
    lexical: Vectors
    longer: Callable[[int, Sequence[int]], "Matches"]

    def at(self, places: Sequence[int]) -> "Matches":
        """Those at the given places."""
        some = np.asarray(places, np.int64)
        figures = self.score[some], self.similarity[some], self.lexical[some]
        return Matches(self.rows[some], *figures, self.longer)


def language_codes(languages: Sequence[str]) -> Ints:
    """(n,) codes, equal for equal languages, -1 for an unknown one."""
    codes = {name: code for code, name in enumerate(sorted(set(languages) - {""}))}
    return np.array([codes.get(name, -1) for name in languages], dtype=np.int32)


def match(
    index: Index,
    sources: Sequence[int],
    targets: Sequence[int],
    *,
    keep: int,
    lexical_weight: float,
    asked: Sequence[Sequence[int]] | None = None,
) -> Iterator[Matches]:
    """Yield the best targets of each source row, in the order of `sources`.

    Every source's similarities to all targets are z-scored for each signal and blended; a source
    without a vector is matched by words alone, one without words by its vector alone.

    Args:
        index: all texts.
        sources: rows to find targets for.
        targets: distinct rows that may be targets; a source is never its own.
        keep: how many to keep for each source.
        lexical_weight: 0 to 1, the share of the words in the blend.
        asked: for each source, further rows whose scores are wanted whatever their rank (appended
            after the best, if they aren't among them).
    """
    columns = np.asarray(targets, dtype=np.int64)
    where = {int(row): column for column, row in enumerate(columns)}
    target_vectors = np.ascontiguousarray(index.vectors[columns].T)
    common, rare = _split(index.terms)
    target_common, target_rare = np.ascontiguousarray(common[columns].T), rare[columns].T.tocsr()
    has_vector: Bools = np.any(index.vectors, axis=1)
    step = max(1, BLOCK_CELLS // max(1, len(columns)))
    for first in range(0, len(sources), step):
        rows = np.asarray(sources[first : first + step], dtype=np.int64)
        allowed = _allowed(index.languages, rows, columns)
        similarity = index.vectors[rows] @ target_vectors
        lexical = (rare[rows] @ target_rare).toarray()
        lexical += common[rows] @ target_common
        both = has_vector[rows][:, None] & has_vector[columns][None, :]
        score = _blend(similarity, lexical, both, allowed, lexical_weight)
        for at, row in enumerate(rows.tolist()):
            signals = score[at], similarity[at], lexical[at], both[at]
            wanted = [other for other in (asked[first + at] if asked else ()) if other != row]
            yield _matches(columns, where, *signals, wanted, keep, ())


def _split(terms: sparse.csr_matrix) -> tuple[Vectors, sparse.csr_matrix]:
    """The most common words as a dense (n, `DENSE_WORDS`) array, the others as they were."""
    frequency = np.bincount(terms.indices, minlength=terms.shape[1])
    common = np.zeros(terms.shape[1], bool)
    common[np.argsort(-frequency, kind="stable")[:DENSE_WORDS]] = True
    return terms[:, common].toarray(), terms[:, ~common].tocsr()


def _allowed(languages: Ints, rows: Ints, columns: Ints) -> Bools:
    ours, theirs = languages[rows][:, None], languages[columns][None, :]
    allowed: Bools = (ours == theirs) | (ours < 0) | (theirs < 0)
    allowed &= rows[:, None] != columns[None, :]
    return allowed


def _blend(similarity: Vectors, lexical: Vectors, both: Bools, allowed: Bools, weight: float) -> Vectors:
    """Weighted sum of the z-scores, -inf where a pair is not allowed."""
    dense = _z(similarity, both & allowed)
    words = _z(lexical, allowed)
    # A signal that says nothing about a source leaves the whole weight to the other.
    share = np.where(dense.any(axis=1), np.where(words.any(axis=1), weight, 0.0), 1.0)[:, None].astype(
        np.float32
    )
    words *= share
    dense *= 1 - share
    words += dense
    words[~allowed] = -np.inf
    return words


def _z(values: Vectors, valid: Bools) -> Vectors:
    """Each row in standard deviations above its mean over the valid cells; 0 elsewhere and in flat rows."""
    count = np.maximum(valid.sum(axis=1, keepdims=True), 1).astype(np.float32)
    result = np.where(valid, values, np.float32(0))
    result -= result.sum(axis=1, keepdims=True) / count
    result *= valid
    deviation = np.linalg.norm(result, axis=1, keepdims=True) / np.sqrt(count)
    result /= np.where(deviation > 1e-6, deviation, np.float32(np.inf))
    return result


def _matches(
    columns: Ints,
    where: Mapping[int, int],
    score: Vectors,
    similarity: Vectors,
    lexical: Vectors,
    both: Bools,
    wanted: Sequence[int],
    keep: int,
    more: Sequence[int],
) -> Matches:
    """The best of one source's row of the matrix."""
    best = _best(score, keep, [where[row] for row in (*wanted, *more) if row in where])
    return Matches(
        columns[best],
        np.where(np.isfinite(score[best]), score[best], np.nan),
        np.where(both[best], similarity[best], np.nan),
        lexical[best],
        partial(_matches, columns, where, score, similarity, lexical, both, (*wanted, *more)),
    )


def _best(score: Vectors, keep: int, wanted: Sequence[int]) -> Ints:
    """Columns of the `keep` highest finite scores, best first (ties by column), then the wanted others."""
    count = min(keep, len(score))
    least = np.partition(score, -count)[-count] if count else np.inf
    # Every column of the last place's score, so that the cut among equals falls by column, too.
    best = np.flatnonzero((score >= least) & np.isfinite(score))
    best = best[np.argsort(-score[best], kind="stable")][:count]
    others = [column for column in dict.fromkeys(wanted) if column not in set(best.tolist())]
    return np.concatenate([best, np.asarray(others, dtype=np.int64)]).astype(np.int64)
