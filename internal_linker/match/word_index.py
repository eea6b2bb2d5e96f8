"""The stems of a site's texts, weighted for search: BM25 of texts, their most telling stems, titles in other texts."""

import zlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from internal_linker.match.guest_rows import GrownMatrix
from internal_linker.match.page_names import Name
from internal_linker.match.tokens import PairSieve, Vocabulary
from internal_linker.model.arrays import Bools, Ints, Vectors

# BM25's usual saturation of counts (k1) and influence of a text's length (b).
K1, B = 1.2, 0.75
# A stem of the title counts this many times in the text.
TITLE_COUNT = 2
# The most telling stems of a text, by which it looks for others.
QUERY = 40
_PAIR = np.int64(1 << 32)


@dataclass(frozen=True, slots=True)
class StemCounts:
    """What is counted over all n texts, by which guests are weighed."""

    stems: Vocabulary  # the m stems of all texts by their numbers
    frequency: Ints  # (m,) how many texts have each stem
    columns: Ints  # (m,) int32 the column of each stem; -1 for one of a single text
    languages: Ints  # (l,) the codes of the texts' languages
    texts: Ints  # (l,) how many texts are in each language
    by_language: sparse.csr_matrix  # (l, m) how many texts in each language have each stem
    n: int  # count of all texts
    # words, content_words: the mean count of stems of a text, and of a content
    words: float
    content_words: float
    pairs: Ints  # (w,) int64 the pairs of consecutive stems of titles, ascending
    rarity: Vectors  # (w,) float32 how telling each pair is

    def idf(self, stems: Ints, language: int) -> Vectors:
        """Return (len(stems),) float32 idf of stems among the texts of a language, or all if it is unknown."""
        n, known = self.n, stems < len(self.stems)
        frequency = np.zeros(len(stems))
        frequency[known] = self.frequency[stems[known]]
        if language >= 0:
            at = np.flatnonzero(self.languages == language)
            n, frequency = int(self.texts[at].sum()), np.zeros(len(stems))
            if len(at):
                rows = np.full(known.sum(), at[0])
                frequency[known] = np.asarray(self.by_language[rows, stems[known]]).ravel()
        return np.log1p((n - frequency + 0.5) / (frequency + 0.5)).astype(np.float32)


@dataclass(frozen=True, slots=True)
class WordIndex:
    """The stems of n texts: function words have none, and those of a single text are left out."""

    bm25: sparse.csr_matrix  # (n, v) float32 BM25 weights of the stems of title and content, without idf
    # (n, v) float32 weights of the most telling stems of each text; a row sums to 1
    queries: sparse.csr_matrix
    # (n, t) float32 as `bm25`, but for the content alone, and only for the t stems that titles have
    contents: sparse.csr_matrix
    # (n, t) float32 shares of the stems in the idf of each title; a row sums to at most 1, the rest being
    # that of stems which no other text has
    titles: sparse.csr_matrix
    # (n, w) float32 1 where the content has a pair of consecutive stems that some title has
    content_pairs: sparse.csr_matrix
    # (n, w) float32 shares of these pairs in the title, by their rarity in contents; rows sum to 1
    title_pairs: sparse.csr_matrix
    lengths: Vectors  # (n,) float32 stems of each content
    counts: StemCounts  # what was counted over all texts

    def with_guests(
        self, titles: Sequence[Name], contents: Sequence[Name], languages: Sequence[int]
    ) -> "WordIndex":
        """Return the index with the stems of further texts, which are weighed by what was counted and change nothing
        there.
        """
        counts = self.counts
        numbers = [counts.stems.numbers([*each, *more]) for each, more in zip(titles, contents, strict=True)]
        ours = [each[: len(title)] for each, title in zip(numbers, titles, strict=True)]
        theirs = [each[len(title) :] for each, title in zip(numbers, titles, strict=True)]
        # The guests' own stems, so that nothing here takes longer on a larger site.
        stems = np.unique(np.concatenate([np.empty(0, np.int64), *numbers]))
        columns = np.full(len(stems), -1)
        found = stems < len(counts.columns)
        columns[found] = counts.columns[stems[found]]
        in_content, in_title = (
            _counted([np.searchsorted(stems, each) for each in texts], len(stems)) for texts in (theirs, ours)
        )
        whole = (in_content + TITLE_COUNT * in_title).tocsr()
        lengths = np.asarray(in_content.sum(axis=1), np.float32).ravel()
        known_languages, of = np.unique(np.array(languages, np.int64), return_inverse=True)
        idf = [counts.idf(stems, language) for language in known_languages.tolist()]
        ties = np.zeros(len(stems), np.int64)
        for title, content, places in zip(titles, contents, numbers, strict=True):
            ties[np.searchsorted(stems, places)] = [zlib.crc32(stem.encode()) for stem in (*title, *content)]
        known, telling = (
            _at(each, columns >= 0) for each in (whole, _weighted_rows(ones_of(whole), idf, of))
        )
        queries = _queries(known, telling, ties[columns >= 0])
        bm25 = _saturated(known, np.asarray(whole.sum(axis=1)).ravel(), counts.words)
        t = self.titles.shape[1]
        in_titles = (columns >= 0) & (columns < t)
        of_contents = _saturated(_at(in_content, in_titles), lengths, counts.content_words)
        shares = _at(_shares(_weighted_rows(ones_of(in_title), idf, of)), in_titles)
        w = len(counts.pairs)
        pairs = ones_of(_counted([_places(counts.pairs, _pairs(each)) for each in theirs], w))
        title_pairs = ones_of(_counted([_places(counts.pairs, _pairs(each)) for each in ours], w))
        return WordIndex(
            _grown(self.bm25, bm25, columns[columns >= 0]),
            _grown(self.queries, queries, columns[columns >= 0]),
            _grown(self.contents, of_contents, columns[in_titles]),
            _grown(self.titles, shares, columns[in_titles]),
            GrownMatrix(self.content_pairs, pairs),
            GrownMatrix(self.title_pairs, _shares(_weighted(title_pairs, counts.rarity))),
            np.append(self.lengths, lengths),
            counts,
        )


def _at(matrix: sparse.csr_matrix, columns: Bools) -> sparse.csr_matrix:
    return matrix[:, np.flatnonzero(columns)].tocsr()


def _grown(matrix: sparse.csr_matrix, guests: sparse.csr_matrix, columns: Ints) -> GrownMatrix:
    parts = guests.data, columns[guests.indices].astype(np.int32), guests.indptr
    return GrownMatrix(matrix, sparse.csr_matrix(parts, shape=(guests.shape[0], matrix.shape[1])))


class WordReader:
    """Counts the stems of texts for a `WordIndex`; `read` each text once, in the order of the titles.

    Takes about 10 µs for a text of 200 words, beside its stemming, and 8 bytes for each distinct stem of a text; up to
    four times as much while the index is built.

    Args:
        titles: the stems of each text's title, best without the brand; none for a text without a title.
        languages: (n,) language codes, -1 if unknown; by default, all texts are in one language. How telling a stem is
            depends on the texts of the same language: otherwise, each word of a rare language would be telling.

    Attributes:
        numbers: the stems of the titles with the lowest numbers, in order.
    """

    def __init__(self, titles: Sequence[Name], languages: Ints | None = None) -> None:
        self._languages: Ints = np.full(len(titles), -1) if languages is None else languages
        numbers: defaultdict[str, int] = defaultdict()
        numbers.default_factory = numbers.__len__
        self._titles = [np.array([numbers[stem] for stem in title], np.int64) for title in titles]
        self.numbers: Mapping[str, int] = dict(numbers)
        self._in_titles = len(numbers)
        self._title_pairs = [_pairs(title) for title in self._titles]
        self._known_pairs = np.unique(np.concatenate([np.empty(0, np.int64), *self._title_pairs]))
        self._may_be_known = PairSieve(self._known_pairs // _PAIR, self._known_pairs % _PAIR)
        self._stems: list[Ints] = []
        self._times: list[Vectors] = []
        self._lengths: list[Ints] = []
        self._pairs: list[Ints] = []
        self._pair_lengths: list[Ints] = []

    def read(self, stems: Ints, starts: Ints) -> None:
        """Read the contents of the next texts: (s,) the numbers of all their stems, and (t + 1,) where each text's
        begin.
        """
        count = len(starts) - 1
        of = np.repeat(np.arange(count), np.diff(starts))
        keys, times = np.unique(of << 32 | stems, return_counts=True)
        self._stems.append((keys & (_PAIR - 1)).astype(np.int32))
        self._times.append(times.astype(np.float32))
        self._lengths.append(np.bincount(keys >> 32, minlength=count))
        first, second = stems[:-1], stems[1:]
        same = (of[:-1] == of[1:]) & (first < self._in_titles) & (second < self._in_titles)
        at = np.flatnonzero(same)
        at = at[self._may_be_known(first[at], second[at])]
        pairs = first[at].astype(np.int64) * _PAIR + second[at]
        places = np.searchsorted(self._known_pairs, pairs)
        known = places < len(self._known_pairs)
        known[known] = self._known_pairs[places[known]] == pairs[known]
        keys = np.unique(of[at[known]] << 32 | places[known])
        self._pairs.append((keys & (_PAIR - 1)).astype(np.int32))
        self._pair_lengths.append(np.bincount(keys >> 32, minlength=count))

    def index(self, stems: Sequence[str]) -> WordIndex:
        """Return the index of all texts read; the reader is empty afterwards."""
        parts, times, lengths_of = self._stems, self._times, self._lengths
        self._stems, self._times, self._lengths = [], [], []
        v = len(stems)
        contents = _matrix(parts, np.concatenate([np.empty(0, np.float32), *times]), v, lengths_of)
        del parts, times
        lengths = np.asarray(contents.sum(axis=1), np.float32).ravel()
        titles = _counted(self._titles, v)
        whole = (contents + TITLE_COUNT * titles).tocsr()
        frequency = np.bincount(whole.indices, minlength=v)
        shared = np.flatnonzero(frequency > 1)
        of_titles = shared[: np.searchsorted(shared, self._in_titles)]
        counts = self._counts(whole, frequency, lengths, Vocabulary(stems))
        telling_titles, telling = _idf([titles, whole], self._languages)
        title_shares = _shares(telling_titles)[:, of_titles].tocsr()
        in_contents = _saturated(contents[:, of_titles].tocsr(), lengths, counts.content_words)
        del contents
        whole_lengths = np.asarray(whole.sum(axis=1)).ravel()
        whole = whole[:, shared].tocsr()
        content_pairs = self._content_pairs()
        rarity = _rarity(content_pairs)
        return WordIndex(
            _saturated(whole, whole_lengths, counts.words),
            _queries(whole, telling[:, shared].tocsr(), _ties([stems[number] for number in shared.tolist()])),
            in_contents,
            title_shares,
            content_pairs,
            self._pairs_of_titles(rarity),
            lengths,
            replace(counts, rarity=rarity),
        )

    def _counts(
        self, whole: sparse.csr_matrix, frequency: Ints, lengths: Vectors, stems: Vocabulary
    ) -> StemCounts:
        languages, of = np.unique(self._languages, return_inverse=True)
        n, known = len(of), np.flatnonzero(languages >= 0)
        columns = np.where(frequency > 1, np.cumsum(frequency > 1) - 1, -1).astype(np.int32)
        texts = np.bincount(of, minlength=len(languages))
        ones = np.ones(n, np.int32)
        of_language = sparse.csr_matrix((ones, (of, np.arange(n))), shape=(len(languages), n))
        by_language = (of_language[known] @ ones_of(whole)).tocsr()
        mean = float(np.asarray(whole.sum(axis=1)).ravel().mean()) if n else 1.0
        return StemCounts(
            stems,
            frequency,
            columns,
            languages[known],
            texts[known],
            by_language,
            n,
            max(1.0, mean),
            max(1.0, float(lengths.mean()) if n else 1.0),
            self._known_pairs,
            np.empty(0, np.float32),
        )

    def _content_pairs(self) -> sparse.csr_matrix:
        """Return (n, w) 1 where a content has a pair of some title; the reader knows no more of them afterwards."""
        found, lengths = self._pairs, self._pair_lengths
        self._pairs, self._pair_lengths = [], []
        ones = np.ones(sum(map(len, found)), np.float32)
        return _matrix(found, ones, len(self._known_pairs), lengths)

    def _pairs_of_titles(self, rarity: Vectors) -> sparse.csr_matrix:
        places = [_places(self._known_pairs, pairs) for pairs in self._title_pairs]
        return _shares(_weighted(ones_of(_counted(places, len(rarity))), rarity))


def _places(known: Ints, pairs: Ints) -> Ints:
    if not len(known):
        return np.empty(0, np.int64)
    at = np.searchsorted(known, pairs).clip(max=len(known) - 1)
    found: Ints = at[known[at] == pairs]
    return found


def _rarity(content_pairs: sparse.csr_matrix) -> Vectors:
    """Return (w,) float32 how telling each pair is, by the contents that have it."""
    n, w = content_pairs.shape
    rarity: Vectors = np.log1p(n / (1 + np.bincount(content_pairs.indices, minlength=w))).astype(np.float32)
    return rarity


def ones_of(matrix: sparse.csr_matrix) -> sparse.csr_matrix:
    """Return the matrix with 1 wherever it has a value, sharing its positions in memory."""
    ones = np.ones(len(matrix.data), np.float32)
    return sparse.csr_matrix((ones, matrix.indices, matrix.indptr), shape=matrix.shape)


def _pairs(numbers: Ints, below: int | None = None) -> Ints:
    first, second = numbers[:-1], numbers[1:]
    if below is not None:
        both = (first < below) & (second < below)
        first, second = first[both], second[both]
    return np.unique(first * _PAIR + second)


def _matrix(
    columns: Sequence[Ints], values: Vectors, v: int, lengths: Sequence[Ints] | None = None
) -> sparse.csr_matrix:
    """Return the matrix of rows with these columns, ascending, and their values, all in one array.

    With `lengths`, the parts have the columns of several rows each, one row after the other.
    """
    none = np.empty(0, np.int64)
    of_rows = np.concatenate([none, *lengths]) if lengths is not None else [*map(len, columns)]
    starts = np.cumsum([0, *of_rows])
    every = np.concatenate([none.astype(np.int32), *columns], dtype=np.int32)
    return sparse.csr_matrix((values, every, starts), shape=(len(starts) - 1, v))


def _ties(stems: Sequence[str]) -> Ints:
    """Return a number of each stem that is the same in any order of the texts."""
    return np.fromiter((zlib.crc32(stem.encode()) for stem in stems), np.int64, len(stems))


def _counted(texts: Sequence[Ints], v: int) -> sparse.csr_matrix:
    found = _matrix(texts, np.ones(sum(map(len, texts)), np.float32), v)
    found.sum_duplicates()
    return found


def _weighted(matrix: sparse.csr_matrix, weights: Vectors) -> sparse.csr_matrix:
    values = matrix.data * weights[matrix.indices]
    return sparse.csr_matrix((values, matrix.indices, matrix.indptr), shape=matrix.shape)


def _weighted_rows(matrix: sparse.csr_matrix, weights: Sequence[Vectors], of: Ints) -> sparse.csr_matrix:
    rows = np.repeat(of, np.diff(matrix.indptr))
    every = np.stack([np.empty(matrix.shape[1], np.float32), *weights])[1:]
    values = matrix.data * every[rows, matrix.indices]
    return sparse.csr_matrix((values, matrix.indices, matrix.indptr), shape=matrix.shape)


def _shares(matrix: sparse.csr_matrix) -> sparse.csr_matrix:
    sums = np.maximum(np.asarray(matrix.sum(axis=1)).ravel(), 1e-9)
    values = (matrix.data / np.repeat(sums, np.diff(matrix.indptr))).astype(np.float32)
    return sparse.csr_matrix((values, matrix.indices, matrix.indptr), shape=matrix.shape)


def _saturated(counts: sparse.csr_matrix, lengths: Vectors, mean: float) -> sparse.csr_matrix:
    """Return BM25 weights of counts in texts of these lengths; `mean` is that of all texts, 1 or more."""
    relative = lengths / mean
    norm = np.repeat((K1 * (1 - B + B * relative)).astype(np.float32), np.diff(counts.indptr))
    values = counts.data * np.float32(K1 + 1) / (counts.data + norm)
    return sparse.csr_matrix((values, counts.indices, counts.indptr), shape=counts.shape)


def _idf(matrices: Sequence[sparse.csr_matrix], languages: Ints) -> list[sparse.csr_matrix]:
    """Return the idf of the stems that texts have, where each of the matrices has values.

    The last matrix determines how many texts have a stem, of those of one language, or all if it is unknown (-1).
    """
    last, v = matrices[-1], matrices[-1].shape[1]
    found = [ones_of(matrix) for matrix in matrices]
    for language in np.unique(languages).tolist():
        here = languages == language
        texts = last[here] if language >= 0 else last
        frequency = np.bincount(texts.indices, minlength=v)
        idf = np.log1p((texts.shape[0] - frequency + 0.5) / (frequency + 0.5)).astype(np.float32)
        for each in found:
            values = np.repeat(here, np.diff(each.indptr))
            each.data[values] = idf[each.indices[values]]
    return found


def _queries(counts: sparse.csr_matrix, idf: sparse.csr_matrix, ties: Ints) -> sparse.csr_matrix:
    """Return the weights of the `QUERY` most telling stems of each row: ln(1 + count) x idf, as shares of their sum.

    Counts and idf have values in the same places. Of stems with equal weights, those with the lowest `ties` count.
    """
    values = (np.log1p(counts.data) * idf.data).astype(np.float32)
    found = sparse.csr_matrix((values, counts.indices.copy(), counts.indptr.copy()), counts.shape)
    for row in np.flatnonzero(np.diff(found.indptr) > QUERY).tolist():
        here = slice(found.indptr[row], found.indptr[row + 1])
        values = found.data[here]
        values[np.lexsort((ties[found.indices[here]], -values))[QUERY:]] = 0
    found.eliminate_zeros()
    return _shares(found)
