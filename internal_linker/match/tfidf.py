"""TF-IDF: the weighted terms of titles and contents, and how well a page's best passage fits other pages."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from internal_linker.match.guest_rows import GrownMatrix
from internal_linker.match.tokens import Tokens, Vocabulary
from internal_linker.model.arrays import Bools, Ints, Vectors

# The title says in few words what a page is about, so each of its terms counts this many times. 15 makes no
# difference on the development sites; 3 costs NDCG@5 0.007, 1 costs 0.008 (this and all figures below:
# tests/research/quality/WEIGHTS.md).
TITLE_COUNT = 8
# A term on more than this share of the pages is boilerplate: menus, calls to action, the brand. 0.2 to 0.5 are within
# 0.001 of each other, and so are all terms; 0.1 costs 0.004.
COMMON_SHARE = 0.3
# Among a handful of pages, a share says nothing.
FEW_PAGES = 10
# How far rare terms outweigh common ones. With the usual 1, a page is similar to many, and NDCG@5 is 0.009
# lower; 1.5 costs 0.003, 2.5 makes no clear difference.
IDF_POWER = 2.0
# How well a page covers a query: BM25 with the usual saturation of counts (k1) and half of the usual influence of a
# page's length (b). Rare terms weigh less than in a cosine, pairs of words half as much as single ones: at full weight
# they cost 0.02 of NDCG@5.
COVERAGE_K1, COVERAGE_B, COVERAGE_POWER, PAIR_SHARE = 1.2, 0.5, 0.75, 0.5
# Words of a passage, about a paragraph: 40 costs 0.012, and 60, 150 and 250 about 0.009 each; the ranker learned with
# this one.
PASSAGE = 100
# Codes of terms without a column: boilerplate, and terms on only one page.
_NO_WEIGHT, _ON_ONE_PAGE = -1, -2
# Most pairs of words are on one page only. Before pairs are counted, a hash table of at most 2 to the power of this,
# a byte each (64 MB), identifies most of them.
_MOST_BITS = 26
# Texts whose terms are counted at a time, and terms that are numbered at a time.
_TEXTS, _AT_A_TIME = 64, 1 << 20
_PAIR = np.int64(1 << 32)
_MIX = np.uint64(0x9E3779B97F4A7C15)
# For each of several texts, how well pages fit it and groups of pages that it links to: see `TermFit.compare_passages`.
Fits = Sequence[tuple[Vectors, Sequence[Vectors]]]


@dataclass(frozen=True, slots=True)
class TermWeights:
    """The weights of terms: the constants above, except in measurements (tests/research/quality/WEIGHTS.md)."""

    title_count: float = TITLE_COUNT
    common_share: float = COMMON_SHARE
    idf_power: float = IDF_POWER
    passage: int = PASSAGE


FIXED_TERMS = TermWeights()


@dataclass(frozen=True, slots=True)
class TermIndex:
    """The terms of n texts: single words, and pairs of consecutive words."""

    # (n, v) float32 rows of unit length, one per text: (1 + ln count) x idf ** IDF_POWER. A pair in only one
    # text counts in the length, but has no column; a word in only one text has one for the sake of guests
    rows: sparse.csr_matrix
    # (2, words of all contents) int32 columns of the words, and of the pairs that they begin, in order; below
    # 0 for boilerplate, and for terms in only one text
    codes: Ints
    starts: Ints  # (n + 1,) the position at which each text's words begin in `codes`
    # (v + 2,) float32, idf ** IDF_POWER of each column; the last two are for the codes below 0
    weights: Vectors
    passage: int  # words per passage
    title_count: float  # how many times a term of the title counts
    lengths: Vectors  # (n,) float32 by which the values of each row were divided
    pairs: Bools  # (v,) whether a column is a pair of words
    vocabulary: Vocabulary  # the words by their numbers
    terms: Ints  # (k,) int64 the known terms, ascending: a word's number, or that of a pair
    columns: Ints  # (k,) int32 the column of each of these terms; below 0 for boilerplate
    mean_words: float  # the mean count of words of a content
    # further texts, whose rows follow those of the n texts; see `with_guests`
    guests: "TermIndex | None" = None

    def codes_of(self, row: int) -> Ints:
        """Return (2, words of the content) `codes` of a text or a guest."""
        n = len(self.starts) - 1
        if self.guests and row >= n:
            return self.guests.codes_of(row - n)
        return self.codes[:, self.starts[row] : self.starts[row + 1]]

    def words_of(self, rows: Ints) -> Ints:
        """Return (len(rows),) how many words the contents of texts or guests have."""
        counts = np.diff(self.starts)
        if self.guests:
            counts = np.append(counts, np.diff(self.guests.starts))
        found: Ints = counts[rows]
        return found

    def with_guests(self, texts: Sequence[tuple[Sequence[str], Sequence[str]]]) -> "TermIndex":
        """Return the index with further texts, given the words of each title and content; they change no weights."""
        found = [self._weighed(*text) for text in texts]
        ends, starts = (
            [0, *map(len, each)] for each in ([data for data, *_ in found], [text[1] for text in texts])
        )
        data = _joined([data for data, *_ in found], np.float32)
        columns = _joined([columns for _, columns, *_ in found], np.int32)
        rows = sparse.csr_matrix((data, columns, np.cumsum(ends)), shape=(len(texts), self.rows.shape[1]))
        codes = np.concatenate([np.empty((2, 0), np.int32), *(codes for *_, codes in found)], axis=1)
        lengths = np.array([length for _, _, length, _ in found], np.float32)
        guests = replace(self, rows=rows, codes=codes, starts=np.cumsum(starts), lengths=lengths)
        grown = GrownMatrix(self.rows, rows)
        return replace(self, rows=grown, lengths=np.append(self.lengths, lengths), guests=guests)

    def _weighed(self, title: Sequence[str], body: Sequence[str]) -> tuple[Vectors, Ints, float, Ints]:
        """Return the values and columns of a guest's row, ascending, by what they were divided, and its `codes`."""
        numbers = self.vocabulary.numbers([*title, *body])
        ours, theirs = numbers[: len(title)], numbers[len(title) :]
        parts = ours, _pairs(ours), theirs, _pairs(theirs)
        terms = np.concatenate(parts)
        distinct, at = np.unique(terms, return_inverse=True)
        counts = np.repeat([self.title_count, 1.0], [len(ours) + len(parts[1]), len(theirs) + len(parts[3])])
        places = np.searchsorted(self.terms, distinct).clip(max=max(0, len(self.terms) - 1))
        column = np.full(len(distinct), _ON_ONE_PAGE, np.int32)
        if len(self.terms):
            column = np.where(self.terms[places] == distinct, self.columns[places], column)
        values = (1 + np.log(np.bincount(at, counts, len(distinct)))) * self.weights[column]
        length = max(1e-9, float(np.sqrt((values**2).sum())))
        kept = np.flatnonzero(column >= 0)
        kept = kept[np.argsort(column[kept])]
        codes = np.full((2, len(theirs)), _NO_WEIGHT, np.int32)
        of_terms = column[at]
        codes[0] = of_terms[len(ours) + len(parts[1]) :][: len(theirs)]
        codes[1, : len(parts[3])] = of_terms[len(terms) - len(parts[3]) :]
        return (values[kept] / length).astype(np.float32), column[kept], length, codes


def index_terms(tokens: Tokens, weights: TermWeights = FIXED_TERMS) -> TermIndex:
    """Build the index from the words of titles and contents."""
    n, starts = len(tokens), np.cumsum(np.append(0, np.diff(tokens.starts)[1::2]))
    once = (1 + np.log((1 + n) / 2)) ** weights.idf_power
    codes = np.full((2, starts[-1]), _NO_WEIGHT, np.int32)
    terms, times, ends, squares = _counts(tokens, weights.title_count, codes)
    alone = squares * once**2
    value = 1 + np.log(times)
    del times
    distinct, column = _numbered(terms, len(tokens.vocabulary))
    del terms
    frequency = np.bincount(column, minlength=len(distinct))
    weight = (1 + np.log((1 + n) / (1 + frequency))) ** weights.idf_power
    weight[frequency > max(FEW_PAGES, weights.common_share * n)] = 0
    value *= weight.astype(np.float32)[column]
    lengths = np.sqrt(_sums(value**2, ends) + alone).clip(min=1e-9)
    lengths = lengths.astype(np.float32)
    value /= np.repeat(lengths, np.diff(ends))
    code = np.where(weight > 0, _ON_ONE_PAGE, _NO_WEIGHT).astype(np.int32)
    # The most common first, so that frequent lookups are close together in memory.
    telling = (weight > 0) & ((frequency > 1) | (distinct < _PAIR))
    order = np.flatnonzero(telling)[np.argsort(-frequency[telling], kind="stable")]
    place = code.copy()
    place[order] = np.arange(len(order))
    code[order] = np.where(frequency[order] > 1, place[order], _ON_ONE_PAGE)
    column, places = code[column], place[column]
    kept = places >= 0
    parts = value[kept], places[kept], np.cumsum([0, *_sums(kept, ends)]).astype(np.int32)
    del places
    rows = sparse.csr_matrix(parts, shape=(n, len(order)))
    rows.sort_indices()
    by_code = np.concatenate([weight[order], [once, 0]]).astype(np.float32)
    for first in range(0, codes.shape[1], _AT_A_TIME):
        some = codes[:, first : first + _AT_A_TIME]
        counted = some >= 0
        some[counted] = column[some[counted]]
    known = place != _ON_ONE_PAGE
    return TermIndex(
        rows,
        codes,
        starts,
        by_code,
        weights.passage,
        weights.title_count,
        lengths,
        pairs=distinct[order] >= _PAIR,
        vocabulary=Vocabulary(tokens.vocabulary),
        terms=distinct[known],
        columns=place[known],
        mean_words=float(np.diff(starts).mean()) if n else 0.0,
    )


class TermFit:
    """Compares the words of pages with the passages of a text."""

    def __init__(self, index: TermIndex) -> None:
        self.index = index

    def compare_passages(self, rows: Ints, others: Sequence[Ints], linked: Sequence[Sequence[Ints]]) -> Fits:
        """Return how well pages (m,) fit the passages of some texts, and groups of pages that these link to.

        Returns:
            For each text, (m,) float32, 0 to 1: the cosine of each page with the passage that fits it best; and for
            each group (m,) float32, 0 to 1: the mean cosine with the group's pages, 0 for an empty group.
        """
        # Maps a few columns to their positions among them, all others to 0: faster than a search in the few.
        place = np.zeros(self.index.rows.shape[1], np.int32)
        each = zip(rows.tolist(), others, linked, strict=True)
        return [self._of(row, theirs, groups, place) for row, theirs, groups in each]

    def _of(
        self, row: int, others: Ints, linked: Sequence[Ints], place: Ints
    ) -> tuple[Vectors, list[Vectors]]:
        terms = self.index.rows
        columns, weights = _passages(self.index, row)
        sizes = np.array([len(rows) for rows in linked], np.int64)
        links = terms[np.concatenate([np.empty(0, np.int64), *linked])]
        ours = np.concatenate([columns, links.indices])
        # A repeated column gets its last position.
        place[ours] = np.arange(1, len(ours) + 1)
        passages, groups = weights.shape[1], len(sizes)
        # Columns without a position get position 0, whose row is all zeros.
        wanted = np.zeros((len(ours) + 1, passages + groups), np.float32)
        wanted[place[columns], :passages] = weights
        if groups:
            group = np.repeat(np.repeat(np.arange(groups), sizes), np.diff(links.indptr))
            at = place[links.indices].astype(np.int64) * groups + group
            total = np.bincount(at, links.data, len(wanted) * groups).reshape(-1, groups)
            wanted[:, passages:] = total / np.maximum(sizes, 1)
        theirs = terms[others]
        parts = theirs.data, place.take(theirs.indices, mode="clip"), theirs.indptr
        place[ours] = 0
        fit = sparse.csr_matrix(parts, shape=(len(others), len(wanted))) @ wanted
        return fit[:, :passages].max(axis=1, initial=0), [*fit[:, passages:].T]

    def coverage(self, rows: Ints, others: Sequence[Ints]) -> list[Vectors]:
        """Return for each text (m,) float32, 0 to 1: how much of its title, or query, pages cover (BM25)."""
        return [self._coverage(*each) for each in zip(rows.tolist(), others, strict=True)]

    def _coverage(self, row: int, others: Ints) -> Vectors:
        index = self.index
        here = slice(index.rows.indptr[row], index.rows.indptr[row + 1])
        columns, ours = index.rows.indices[here], index.rows.data[here]
        # The terms of the title, which count so many times, and those that come up as often in the content.
        titled = _times(ours * index.lengths[row], index.weights[columns]) > index.title_count - 0.5
        columns = columns[titled]
        weights = index.weights[columns]
        rare = weights**COVERAGE_POWER * np.where(index.pairs[columns], np.float32(PAIR_SHARE), np.float32(1))
        values = index.rows[others][:, columns].toarray() * index.lengths[others, None]
        times = _times(values, weights)
        length = index.words_of(others) / max(1.0, index.mean_words)
        times /= times + COVERAGE_K1 * (1 - COVERAGE_B + COVERAGE_B * length)[:, None]
        covered: Vectors = (times @ rare / max(1e-9, float(rare.sum()))).astype(np.float32)
        return covered


def _times(values: Vectors, weights: Vectors) -> Vectors:
    """Return the counts of terms whose values, (1 + ln count) x weight, are given; 0 for 0."""
    return np.where(values > 0, np.exp(values / weights - 1), 0)


def _passages(index: TermIndex, row: int) -> tuple[Ints, Vectors]:
    """Return a content's columns, (u,) ascending, and its passages, (u, p) float32 of length 1 or less."""
    codes = index.codes_of(row)
    # Each passage begins in the middle of the previous one, so that no sentence is only at an edge.
    stride = index.passage // 2
    starts = np.arange(0, max(1, codes.shape[1] - stride + 1), stride)
    at = (starts[:, None] + np.arange(index.passage)).clip(max=codes.shape[1])
    columns, local = np.unique(codes, return_inverse=True)
    # Positions after the last word map to an empty cell; a pair belongs to the passage in which it begins.
    width, ends = len(columns) + 1, np.full((2, 1), len(columns))
    cells = np.concatenate([local.reshape(codes.shape), ends], axis=1)[:, at]
    cells += width * np.arange(len(starts))[:, None]
    times = np.bincount(cells.ravel(), minlength=width * len(starts)).reshape(len(starts), width)[:, :-1]
    weight = index.weights[columns]
    values = (1 + np.log(np.maximum(times, 1))) * weight * (times > 0)
    # The many terms of only one page share a code, but each counts on its own.
    squares = np.where(columns == _ON_ONE_PAGE, times * weight**2, values**2)
    values /= np.sqrt(squares.sum(axis=1, keepdims=True)).clip(min=1e-9)
    kept = columns >= 0
    return columns[kept], values[:, kept].T.astype(np.float32)


def _pairs(words: Ints) -> Ints:
    """Return (words - 1,) int64: a number for each two consecutive words, above all numbers of words."""
    return (words[:-1].astype(np.int64) + 1) * _PAIR + words[1:]


class _SharedPairs:
    """A hash table of the pairs of words in several texts, with a few false positives."""

    def __init__(self, titles: Sequence[Ints], bodies: Sequence[Ints]) -> None:
        total = sum(map(len, bodies)) + sum(map(len, titles))
        self._bits = min(_MOST_BITS, max(10, total.bit_length() + 3))
        self._texts = np.zeros(1 << self._bits, np.uint8)
        for title, body in zip(titles, bodies, strict=True):
            slots = self._slots(np.concatenate([_pairs(title), _pairs(body)]))
            self._texts[slots] = np.minimum(self._texts[slots] + 1, 2)

    def __call__(self, pairs: Ints) -> Bools:
        shared: Bools = self._texts[self._slots(pairs)] > 1
        return shared

    def _slots(self, pairs: Ints) -> Ints:
        mixed = pairs.astype(np.uint64) * _MIX
        return (mixed >> np.uint64(64 - self._bits)).astype(np.int64)


def _counts(tokens: Tokens, title_count: float, codes: Ints) -> tuple[Ints, Vectors, Ints, Vectors]:
    """Count the terms of each text, those of the title several times.

    Write into `codes`, (2, words of all contents) int32, which of the returned terms each word of the contents is, and
    which one the pair that it begins.

    Returns:
        The terms of each text that other texts may share, ascending, and their weighted counts; where those of each
        text begin among them, (n + 1,); and for each text the sum of 1 + ln count, squared, over its other terms.
    """
    shared, n = _SharedPairs(tokens.titles, tokens.bodies), len(tokens)
    found, times, ends, alone = list[Ints](), list[Vectors](), [0], list[float]()
    content = 0
    for first in range(0, n, _TEXTS):
        last = min(n, first + _TEXTS)
        starts = tokens.starts[2 * first : 2 * last + 1]
        words = tokens.numbers[starts[0] : starts[-1]]
        part = np.repeat(np.arange(2 * (last - first)), np.diff(starts))
        at = np.flatnonzero(part[1:] == part[:-1])
        pairs = (words[at].astype(np.int64) + 1) * _PAIR + words[at + 1]
        # One key for each text and term, since numbers of words have less than 28 bits.
        bits = np.int64(len(tokens.vocabulary).bit_length())
        keys = np.concatenate([words, pairs >> 32 << bits | words[at + 1]])
        of = np.concatenate([part, part[at]])
        keys |= (of >> 1) << (2 * bits + 1)
        distinct, places = np.unique(keys, return_inverse=True)
        weighted = np.where(of & 1, 1.0, title_count)
        count = np.bincount(places, weighted, minlength=len(distinct))
        terms = distinct & ((np.int64(2) << 2 * bits) - 1)
        terms = (terms >> bits) * _PAIR + (terms & ((np.int64(1) << bits) - 1))
        known = (terms < _PAIR) | shared(terms)
        text = distinct >> (2 * bits + 1)
        code = np.where(known, ends[-1] + np.cumsum(known) - 1, _ON_ONE_PAGE)[places]
        body = np.flatnonzero(part & 1)
        codes[0, content : content + len(body)] = code[: len(part)][body]
        place = np.cumsum(part & 1) - 1 + content
        begins = part[at] & 1 > 0
        codes[1, place[at[begins]]] = code[len(part) :][begins]
        content += len(body)
        squares = (1 + np.log(count[~known])) ** 2
        rest = np.searchsorted(text[~known], np.arange(last - first + 1)).tolist()
        alone += [float(squares[start:end].sum()) for start, end in pairwise(rest)]
        ends += (ends[-1] + np.searchsorted(text[known], np.arange(1, last - first + 1))).tolist()
        found.append(terms[known])
        times.append(count[known].astype(np.float32))
    return _joined(found, np.int64), _joined(times, np.float32), np.array(ends), np.array(alone)


def _numbered(terms: Ints, words: int) -> tuple[Ints, Ints]:
    are_pairs = terms >= _PAIR
    # Sorting, because np.unique takes three times as long.
    pairs = np.sort(terms[are_pairs])
    first = np.ones(len(pairs), np.bool_)
    first[1:] = pairs[1:] != pairs[:-1]
    pairs = pairs[first]
    # Terms are by far the largest array here, so temporary arrays over all of them are kept small.
    column = np.empty(len(terms), np.int32)
    for start in range(0, len(terms), _AT_A_TIME):
        some = terms[start : start + _AT_A_TIME]
        here = are_pairs[start : start + _AT_A_TIME]
        ours, wanted = np.where(here, 0, some), some[here]
        # In order, these searches take a seventh of the time: each begins near the last one in memory.
        order, places = np.argsort(wanted), np.empty(len(wanted), np.int64)
        places[order] = np.searchsorted(pairs, wanted[order]) + words
        ours[here] = places
        column[start : start + _AT_A_TIME] = ours
    return np.concatenate([np.arange(words), pairs]), column


def _sums(values: Vectors | Bools, ends: Ints) -> Vectors:
    """Return (len(ends) - 1,) float64: the sum of each slice of the values, 0 for an empty one."""
    sums, some = np.zeros(len(ends) - 1), np.flatnonzero(np.diff(ends))
    if len(some):
        sums[some] = np.add.reduceat(values, ends[some], dtype=np.float64)
    return sums


def _joined(parts: Sequence[Ints | Vectors], kind: type[np.generic]) -> NDArray[Any]:
    return np.concatenate([np.empty(0, kind), *parts])
