"""Words of titles and contents -> their terms, weighted; and how well a page's best passage fits other pages."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np
from scipy import sparse

from internal_linker.arrays import Ints, Vectors

# The title says in few words what a page is about, so each of its terms counts as often as this. 15 times
# made no sure difference on the development sites; 3 times cost NDCG@5 0.003, once 0.009 (this and all figures
# below: tests/quality/WEIGHTS.md).
TITLE_COUNT = 8
# A term on more than this share of the pages is the site's furniture: menus, calls, the brand. 0.2 to 0.5
# are within 0.002 of each other; 0.1 costs 0.003, all terms 0.001.
COMMON_SHARE = 0.3
# On a handful of pages a share says nothing.
FEW_PAGES = 10
# How far rare terms outweigh common ones. With the usual 1 a page is like many, and NDCG@5 is 0.01
# lower; 1.5 costs 0.003, 2.5 made no sure difference.
IDF_POWER = 2.0
# Words of a passage, about a paragraph: 60 and 150 cost 0.002 or less, 250 nothing, 40 costs 0.005.
PASSAGE = 100
# Codes of terms without a column: furniture, and what stands on one page only.
_NO_WEIGHT, _ON_ONE_PAGE = -1, -2


@dataclass(frozen=True, slots=True)
class TermWeights:
    """How terms are weighed: the constants above, unless others are measured (tests/quality/WEIGHTS.md)."""

    title_count: float = TITLE_COUNT
    common_share: float = COMMON_SHARE
    idf_power: float = IDF_POWER
    passage: int = PASSAGE


FIXED_TERMS = TermWeights()


@dataclass(frozen=True, slots=True)
class TermIndex:
    """The terms of n texts: single words, and two words in a row.

    Attributes:
        rows: (n, v) float32, one text each, of unit length: (1 + ln count) x idf ** IDF_POWER. A term
            that stands in one text only counts in the length and has no column.
        bodies: for each text (2, words) int32: the columns of its content's words, and of the pairs that
            they begin, in order; below 0 where there is no column.
        weights: (v + 2,) float32, idf ** IDF_POWER of each column; the last two are for the codes below 0.
        passage: words of a passage.
    """

    rows: sparse.csr_matrix
    bodies: Sequence[Ints]
    weights: Vectors
    passage: int


def index_terms(
    titles: Sequence[Sequence[str]], bodies: Sequence[Sequence[str]], weights: TermWeights = FIXED_TERMS
) -> TermIndex:
    """Weigh the words of n titles and n contents; both lists in the same order, words in theirs."""
    numbers: defaultdict[str, int] = defaultdict(count().__next__)
    coded = [
        [np.array([numbers[word] for word in words], np.int64) for words in part] for part in (titles, bodies)
    ]
    title_terms, body_terms = ([_terms(words, len(numbers)) for words in part] for part in coded)
    n = len(body_terms)
    row, term, times = _counts(title_terms, body_terms, weights.title_count)
    distinct, column = np.unique(term, return_inverse=True)
    frequency = np.bincount(column, minlength=len(distinct))
    weight = (1 + np.log((1 + n) / (1 + frequency))) ** weights.idf_power
    weight[frequency > max(FEW_PAGES, weights.common_share * n)] = 0
    values = (1 + np.log(times)) * weight[column]
    values /= np.sqrt(np.bincount(row, values**2, minlength=n)).clip(min=1e-9)[row]
    shared = (frequency > 1) & (weight > 0)
    code = np.where(shared, np.cumsum(shared) - 1, np.where(weight > 0, _ON_ONE_PAGE, _NO_WEIGHT))
    kept = shared[column]
    rows = sparse.csr_matrix(
        (values[kept].astype(np.float32), (row[kept], code[column[kept]])), shape=(n, int(shared.sum()))
    )
    once = (1 + np.log((1 + n) / 2)) ** weights.idf_power
    places = [_places(terms, distinct, code) for terms in body_terms]
    by_code = np.concatenate([weight[shared], [once, 0]]).astype(np.float32)
    return TermIndex(rows, places, by_code, weights.passage)


def passage_scores(index: TermIndex, row: int, others: Ints) -> Vectors:
    """How well the best passage of text `row` fits each of the `others`: cosine, 0 to 1, (len(others),) float32."""
    if not len(others) or not index.bodies[row].shape[1]:
        return np.zeros(len(others), np.float32)
    fit = index.rows[others] @ _passages(index, row).T
    best: Vectors = fit.max(axis=1).toarray().ravel()
    return best


def _terms(words: Ints, size: int) -> Ints:
    """(2, words): each word's number, and a number above all words' for the pair that it begins (-1: none)."""
    pairs = np.full(len(words), -1, np.int64)
    pairs[:-1] = (words[:-1] + 1) * size + words[1:]
    return np.stack([words, pairs])


def _counts(titles: Sequence[Ints], bodies: Sequence[Ints], title_count: float) -> tuple[Ints, Ints, Vectors]:
    """Text, term and weighted count of every term in a text, sorted by text and term."""
    found: list[tuple[Ints, Vectors]] = []
    for title, body in zip(titles, bodies, strict=True):
        terms = np.concatenate([title.ravel(), body.ravel()])
        times = np.repeat([float(title_count), 1.0], [title.size, body.size])
        distinct, at = np.unique(terms[terms >= 0], return_inverse=True)
        counts = np.bincount(at, times[terms >= 0], minlength=len(distinct)).astype(np.float64)
        found.append((distinct, counts))
    sizes = [len(distinct) for distinct, _ in found]
    empty = np.empty(0, np.int64)
    return (
        np.repeat(np.arange(len(found)), sizes),
        np.concatenate([empty, *(distinct for distinct, _ in found)]),
        np.concatenate([empty, *(times for _, times in found)]).astype(np.float64),
    )


def _places(terms: Ints, distinct: Ints, code: Ints) -> Ints:
    if not terms.size:
        return terms.astype(np.int32)
    at = np.searchsorted(distinct, terms).clip(max=len(distinct) - 1)
    return np.where(terms >= 0, code[at], _NO_WEIGHT).astype(np.int32)


def _passages(index: TermIndex, row: int) -> sparse.csr_matrix:
    """(passages, v) float32 rows of unit length."""
    body = index.bodies[row]
    words, width = body.shape[1], index.rows.shape[1]
    # Each begins in the middle of the last, so that no sentence stands at an edge only.
    stride = index.passage // 2
    starts = np.arange(0, max(1, words - stride + 1), stride)
    at = (starts[:, None] + np.arange(index.passage)).clip(max=words)
    # Behind the last word there is nothing; a pair belongs to the passage that it begins in.
    codes = np.pad(body, ((0, 0), (0, 1)), constant_values=_NO_WEIGHT)[:, at]
    codes = np.concatenate([codes[0], codes[1]], axis=1)
    number = np.repeat(np.arange(len(starts)), codes.shape[1])
    cell, times = np.unique(number * (width + 2) + codes.ravel() % (width + 2), return_counts=True)
    number, column = np.divmod(cell, width + 2)
    single = column == width + 2 + _ON_ONE_PAGE
    # Terms of one page are many and share a code: each counts once.
    squares = np.where(single, times, (1 + np.log(times)) ** 2) * index.weights[column] ** 2
    length = np.sqrt(np.bincount(number, squares, minlength=len(starts))).clip(min=1e-9)
    kept = column < width
    number, column = number[kept], column[kept]
    values = (1 + np.log(times[kept])) * index.weights[column] / length[number]
    return sparse.csr_matrix((values.astype(np.float32), (number, column)), shape=(len(starts), width))
