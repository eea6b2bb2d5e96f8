"""Comparison of a source with its candidates: similarity by vectors and by words, relative to its average target."""

from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from internal_linker.match.guest_rows import GrownArray, as_array
from internal_linker.match.inverted_index import Postings, Search, search
from internal_linker.match.tfidf import Fits, TermFit, TermIndex
from internal_linker.model.arrays import Bools, Ints, Pairs, Vectors, pairs_of

# Targets that, besides its candidates, estimate a source's average target: all targets of a smaller site. On larger
# ones, mean and deviation are within a tenth of a deviation of those over all targets
# (tests/match/test_candidates.py).
SAMPLE = 2000
# Vectors to convert to float32 at a time.
_BLOCK = 4096
# Rounding in float32 may leave this much of a deviation of 0.
_FLAT = 1e-6


@dataclass(frozen=True, slots=True)
class Index:
    """All texts of a run, one row each."""

    # (n, d) float16 or float32 unit rows, up to float16's rounding; zeros if a text has no vector
    vectors: Vectors
    terms: sparse.csr_matrix  # (n, v) float32 TF-IDF rows of unit length; empty if a text has no words
    languages: Ints  # (n,) language codes; two texts match if their codes are equal or one is -1 (unknown)
    columns: Bools  # (n,) whether each text may be a target


@dataclass(frozen=True, slots=True)
class Pool:
    """The candidates of one source, and the statistics of all its targets."""

    rows: Ints  # (m,) int32 rows of the candidates, ascending
    similarity: Vectors  # (m,) float32 cosines of the vectors, -1 to 1; NaN if one is missing
    lexical: Vectors  # (m,) float32 cosines of the TF-IDF rows, 0 to 1
    # means, deviations: mean and standard deviation of similarity and of lexical over all targets of the
    # source; a signal with deviation 0 says nothing about this source
    means: tuple[float, float]
    deviations: tuple[float, float]
    targets: int  # count of the source's targets


@dataclass(frozen=True, slots=True)
class Matches:
    """Targets of several texts, best first, ties by row; all arrays have one length."""

    of: Ints  # positions of the texts, ascending
    rows: Ints  # the targets' rows in the index
    score: Vectors  # see `scores`; NaN for a target in another language
    # similarity, lexical: see `Pool`
    similarity: Vectors
    lexical: Vectors

    @property
    def pairs(self) -> Pairs:
        """Each text with its targets."""
        return Pairs(self.of, self.rows)

    def at(self, places: Ints | Bools) -> "Matches":
        """Return the matches at these positions."""
        return Matches(*(getattr(self, name)[places] for name in Matches.__slots__))


def scores(
    pools: Sequence[Pool], of: Ints, similarity: Vectors, lexical: Vectors, lexical_weight: float
) -> Vectors:
    """Return (k,) float64: the blend of both signals, in standard deviations above each text's average target.

    If a signal has deviation 0, the other one has the whole weight; a target without a vector has the average
    similarity.

    Args:
        of: (k,) positions of the targets' texts in `pools`.
        lexical_weight: weight of the words, 0 to 1.
    """
    means, deviations = (
        np.array([getattr(pool, name) for pool in pools], np.float64).reshape(-1, 2)
        for name in ("means", "deviations")
    )
    says = deviations > 0
    words = np.where(says.all(axis=1), lexical_weight, says[:, 1])
    shares = np.stack([1 - words, words], axis=1) / np.where(says, deviations, np.inf)
    score: Vectors = np.nan_to_num(similarity - means[of, 0]) * shares[of, 0]
    score += (lexical - means[of, 1]) * shares[of, 1]
    return score


def language_codes(languages: Sequence[str]) -> Ints:
    """Return (n,) language codes, equal for equal languages, -1 if unknown."""
    codes = {name: code for code, name in enumerate(sorted(set(languages) - {""}))}
    return np.array([codes.get(name, -1) for name in languages], dtype=np.int32)


def codes_among(pages: Iterable[str], others: Sequence[str]) -> Ints:
    """Return the codes of further languages among those that `language_codes` gives the pages; a new one for others."""
    known = {name: code for code, name in enumerate(sorted(set(pages) - {""}))} | {"": -1}
    return np.array([known.get(name, len(known)) for name in others], dtype=np.int32)


def understands(languages: Ints, texts: Ints | int, others: Ints) -> Bools:
    """Return (len(others),) whether each is in its text's language, or one of the two languages is unknown."""
    ours, theirs = languages[texts], languages[others]
    known: Bools = (theirs == ours) | (theirs < 0) | (ours < 0)
    return known


class Comparer:
    """Compares any texts of an index; the targets with the lowest of (n,) random numbers are the sample of all."""

    def __init__(self, index: Index, order: Ints) -> None:
        self.index = index
        self._lengths = _lengths(index.vectors)
        self._has_vector: Bools = self._lengths > 0
        self._order = order
        self._samples: dict[int, _Sample] = {}

    def pairs(self, rows: Ints, others: Sequence[Ints]) -> list[tuple[Vectors, Vectors]]:
        """Return, for each row, (m,) float32 cosines of the vectors (NaN if one is missing), and of the terms."""
        # A dense row of terms, because the product with a sparse one is many times slower.
        words = np.zeros(self.index.terms.shape[1], np.float32)
        return [
            (self._similarity(row, theirs), self._lexical(row, theirs, words))
            for row, theirs in zip(rows.tolist(), others, strict=True)
        ]

    def pools(self, rows: Ints, candidates: Sequence[Ints]) -> list[Pool]:
        """Return the pool of each row from its candidates, which are ascending, distinct and allowed."""
        made: list[Pool | None] = [None] * len(rows)
        for language in np.unique(self.index.languages[rows]).tolist():
            sample = self._sample(language)
            places = np.flatnonzero(self.index.languages[rows] == language)
            texts, others = rows[places], [candidates[place] for place in places.tolist()]
            signals = self.pairs(texts, others)
            means, deviations = sample.standards(self.index, texts, others, signals)
            for at, place in enumerate(places.tolist()):
                similarity, lexical = signals[at]
                made[place] = Pool(
                    others[at],
                    similarity,
                    lexical,
                    means=(float(means[at, 0]), float(means[at, 1])),
                    deviations=(float(deviations[at, 0]), float(deviations[at, 1])),
                    targets=sample.targets_of(int(texts[at])),
                )
        return [pool for pool in made if pool is not None]

    def _similarity(self, row: int, others: Ints) -> Vectors:
        similarity = np.full(len(others), np.nan, np.float32)
        if self._has_vector[row]:
            known = self._has_vector[others]
            vectors = self.index.vectors[others[known]].astype(np.float32, copy=False)
            cosines = vectors @ self.index.vectors[row].astype(np.float32)
            similarity[known] = cosines / (self._lengths[others[known]] * self._lengths[row])
        return similarity

    def _lexical(self, row: int, others: Ints, words: Vectors) -> Vectors:
        terms = self.index.terms
        here = slice(terms.indptr[row], terms.indptr[row + 1])
        words[terms.indices[here]] = terms.data[here]
        # To copy most rows takes longer than to multiply all.
        few = 2 * len(others) < terms.shape[0]
        cosines: Vectors = terms[others] @ words if few else (terms @ words)[others]
        words[terms.indices[here]] = 0
        return cosines

    def _sample(self, language: int) -> "_Sample":
        if language not in self._samples:
            index = self.index
            allowed = index.columns.copy()
            if language >= 0:
                allowed &= (index.languages == language) | (index.languages < 0)
            self._samples[language] = _Sample(index, np.flatnonzero(allowed), self._order, self._has_vector)
        return self._samples[language]

    def prepare(self, languages: Sequence[int]) -> None:
        """Take the samples of these languages now."""
        for language in languages:
            self._sample(language)

    def with_guests(self, index: Index) -> "Comparer":
        """Return what compares further texts, too; `index` has them after those of this one's index."""
        other, n = copy(self), len(self._order)
        more = len(index.languages) - n
        other.index = index
        other._lengths = np.append(self._lengths, _lengths(index.vectors[n:]))
        other._has_vector = other._lengths > 0
        other._order = np.append(self._order, np.zeros(more, self._order.dtype))
        other._samples = {language: each.with_guests(more) for language, each in self._samples.items()}
        return other


def _lengths(vectors: Vectors) -> Vectors:
    """Return (n,) float32 norms, in blocks, so that memory never has all vectors in float32."""
    lengths = np.zeros(len(vectors), np.float32)
    for first in range(0, len(vectors), _BLOCK):
        block = vectors[first : first + _BLOCK].astype(np.float32)
        lengths[first : first + _BLOCK] = np.linalg.norm(block, axis=1)
    return lengths


class _Sample:
    """All targets of one language, and the sample that represents them."""

    def __init__(self, index: Index, targets: Ints, order: Ints, has_vector: Bools) -> None:
        self._targets = len(targets)
        self._with_vector = int(has_vector[targets].sum())
        rows = targets[np.argsort(order[targets], kind="stable")[:SAMPLE]]
        self._place = np.full(len(order), -1, np.int32)
        self._place[rows] = np.arange(len(rows))
        self._is_target = np.zeros(len(order), bool)
        self._is_target[targets] = True
        self._has_vector = has_vector[rows]
        self._vectors = np.ascontiguousarray(index.vectors[rows].T, np.float32)
        self._terms = index.terms[rows].T.tocsr()

    def with_guests(self, count: int) -> "_Sample":
        other = copy(self)
        other._place = np.append(self._place, np.full(count, -1, np.int32))
        other._is_target = np.append(self._is_target, np.zeros(count, bool))
        return other

    def targets_of(self, row: int) -> int:
        return self._targets - bool(self._is_target[row])

    def standards(
        self,
        index: Index,
        texts: Ints,
        others: Sequence[Ints],
        signals: Sequence[tuple[Vectors, Vectors]],
    ) -> tuple[Vectors, Vectors]:
        """Return (t, 2) float64 means and deviations of similarity and lexical over all targets of each text.

        The targets `others` with known signals count as they are; the sample represents all others. Unknown: NaN.
        """
        pairs = pairs_of([[*ours, text] for ours, text in zip(others, texts, strict=True)])
        sampled = self._place[pairs.rows] >= 0
        cells = pairs.of[sampled], self._place[pairs.rows[sampled]]
        of = np.repeat(np.arange(len(texts)), [len(ours) for ours in others])
        is_target = self._is_target[texts]
        has_vector = index.vectors[texts].any(axis=1)
        similarity, lexical = (np.concatenate([each[at] for each in signals]) for at in (0, 1))
        dense = self._standard(
            index.vectors[texts].astype(np.float32) @ self._vectors,
            self._has_vector,
            cells,
            np.where(has_vector, self._with_vector - is_target, 0),
            (of[np.isfinite(similarity)], similarity[np.isfinite(similarity)]),
        )
        words = self._standard(
            (index.terms[texts] @ self._terms).toarray(),
            np.ones(len(self._has_vector), np.bool_),
            cells,
            self._targets - is_target,
            (of, lexical),
        )
        means, deviations = (np.stack(each, axis=1) for each in zip(dense, words, strict=True))
        return means, deviations

    @staticmethod
    def _standard(
        sampled: Vectors,
        counts: Bools,
        cells: tuple[Ints, Ints],
        targets: Ints,
        known: tuple[Ints, Vectors],
    ) -> tuple[Vectors, Vectors]:
        """Return the mean and deviation, (t,) each, of one signal.

        Args:
            sampled: (t, m) the signal of the sample.
            counts: (m,) whether each text of the sample has the signal.
            cells: text and sample positions of texts that are known or not targets; they don't represent others.
            targets: (t,) count of targets with the signal.
            known: text and signal of the known targets.
        """
        rest = np.tile(counts, (len(sampled), 1))
        rest[cells] = False
        values = np.where(rest, sampled, 0).astype(np.float64)
        of, signal = known[0], known[1].astype(np.float64)
        n = len(sampled)
        each = (targets - np.bincount(of, minlength=n)) / np.maximum(rest.sum(axis=1), 1)
        total = np.maximum(targets, 1)
        mean = (np.bincount(of, signal, n) + each * values.sum(axis=1)) / total
        values = np.where(rest, values - mean[:, None], 0)
        squares = np.bincount(of, (signal - mean[of]) ** 2, n) + each * (values**2).sum(axis=1)
        deviation = np.sqrt(np.maximum(squares, 0) / total)
        return mean, np.where((targets > 0) & (deviation > _FLAT), deviation, 0.0)


# Candidates of a text by its vector, and as many by its words, or twice as many if it has no vector. With 100,
# the development sites' links are the same.
SERVED = 64


@dataclass(frozen=True, slots=True)
class ComparisonArrays:
    """All data for comparing a site's texts, as arrays only, so that other processes can share the work."""

    index: Index  # all texts
    comparer: Comparer  # compares the texts of `index`
    postings: Postings  # the champion lists of their terms
    fit: TermFit  # compares their passages
    searches: Sequence[Search] = ()  # further searches for candidates, see `searched`

    @classmethod
    def from_vectors(
        cls, vectors: Vectors, terms: TermIndex, languages: Ints, columns: Bools, order: Ints
    ) -> "ComparisonArrays":
        """Build the index; see `Index` and `Comparer`."""
        index = Index(vectors, terms.rows, languages, columns)
        return cls(index, Comparer(index, order), Postings(terms.rows, columns, languages), TermFit(terms))

    def with_vectors(self, vectors: Vectors) -> "ComparisonArrays":
        """Return the data with the same vectors in another array."""
        comparer = copy(self.comparer)
        comparer.index = index = replace(self.index, vectors=vectors)
        return replace(self, index=index, comparer=comparer)

    def with_guests(
        self, vectors: Vectors, texts: Sequence[tuple[Sequence[str], Sequence[str]]], languages: Sequence[int]
    ) -> "ComparisonArrays":
        """Return the data with further texts: (g, d) unit rows, and the words of their titles and contents.

        They are compared with the others, and change nothing about them.
        """
        terms, index = self.fit.index.with_guests(texts), self.index
        codes = np.append(index.languages, np.array(languages, index.languages.dtype))
        none = np.zeros(len(texts), np.bool_)
        grown = Index(
            as_array(GrownArray(index.vectors, vectors.astype(index.vectors.dtype))),
            terms.rows,
            codes,
            np.append(index.columns, none),
        )
        return ComparisonArrays(
            grown,
            self.comparer.with_guests(grown),
            self.postings.with_guests(terms.rows, codes),
            TermFit(terms),
        )

    def pools(self, texts: Ints, near: Ints) -> list[Pool]:
        """Find and compare the candidates of t texts; `near`: (t, k) rows of the nearest by vectors, padded with -1."""
        lexical = np.full((len(texts), 2 * SERVED), -1, np.int32)
        by_both = (near >= 0).any(axis=1)
        for which, count in ((by_both, SERVED), (~by_both, 2 * SERVED)):
            lexical[which, :count] = self.postings.nearest(texts[which], count)
        every = np.sort(np.concatenate([near, lexical], axis=1), axis=1)
        new = every >= 0
        new[:, 1:] &= every[:, 1:] != every[:, :-1]
        return self.comparer.pools(texts, [ours[fresh] for ours, fresh in zip(every, new, strict=True)])

    def searched(self, texts: Ints) -> Ints:
        """Return the result of `search` for some texts by the further searches."""
        return search(self.searches, texts)

    def coverage(self, texts: Ints, others: Sequence[Ints]) -> list[Vectors]:
        """Return how much of some texts' titles other pages cover; see `TermFit.coverage`."""
        return self.fit.coverage(texts, others)

    def fits(self, texts: Ints, others: Sequence[Ints], linked: Sequence[Sequence[Ints]]) -> Fits:
        """Compare texts with other pages; see `TermFit.compare_passages`."""
        return self.fit.compare_passages(texts, others, linked)
