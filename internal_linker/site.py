"""The pages of a run -> all of them ready to be compared: words, vectors, dates, near-duplicates."""

import zlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from math import nan

import numpy as np

from internal_linker.arrays import Bools, Ints, Nearest, Vectors, is_in
from internal_linker.records import Page, Text
from internal_linker.steps.boilerplate import Boilerplate
from internal_linker.steps.dates import days, nearness
from internal_linker.steps.duplicate import NearDuplicates, Pair
from internal_linker.steps.join import nearest
from internal_linker.steps.match import Comparer, Index, Matches, Pool, language_codes, understands
from internal_linker.steps.postings import Postings
from internal_linker.steps.terms import TermFit, TermWeights, index_terms
from internal_linker.steps.words import words

# Candidates of a text by its vector, and as many by its words.
SERVED = 100
# Texts whose candidates are compared at a time.
_BLOCK = 512


class Site:
    """All texts of a run, by row: first the pages, then sources without a page.

    Args:
        pages: all pages.
        texts: one for each page, then one for each source without a page.
        vectors: (len(texts), d) unit rows, zeros where there is none.
        terms: how words are weighed.
        near_duplicate: cosine of two near-duplicates, 0 to 1.
        joined: the `SERVED` pages or more that are nearest to each text by the vectors, where that is known;
            else it is found out for each text that is asked for.

    Attributes:
        rows: each page's row, by its key.
        with_text: (len(texts),) which rows are pages that can be compared.
        has_vectors, has_dates: whether any text has a vector, and any URL a date.
    """

    def __init__(
        self,
        pages: Sequence[Page],
        texts: Sequence[Text],
        vectors: Vectors,
        terms: TermWeights,
        near_duplicate: float,
        joined: Nearest | None = None,
    ) -> None:
        self.pages = pages
        self.rows = {page.key: row for row, page in enumerate(pages)}
        self.with_text: Bools = np.array([bool(text.whole) for text in texts], np.bool_)
        self.with_text[len(pages) :] = False
        self.has_vectors = bool(vectors.any())
        languages = language_codes([page.lang for page in pages] + [""] * (len(texts) - len(pages)))
        boilerplate = Boilerplate(text.body for text in texts)
        index = index_terms(
            ((words(text.title), words(boilerplate.without(text.body))) for text in texts), terms
        )
        self._fit = TermFit(index)
        self._index = Index(vectors, index.rows, languages, self.with_text)
        order = [zlib.crc32(page.key.encode()) for page in pages] + [0] * (len(texts) - len(pages))
        self._comparer = Comparer(self._index, np.array(order, np.int64))
        self._postings = Postings(index.rows, self.with_text, languages)
        self._joined, self._all = joined, np.arange(len(texts))
        self._pools: dict[int, Pool] = {}
        self._duplicates = NearDuplicates(lambda row: words(texts[row].body), near_duplicate)
        self._days = days(page.url for page in pages)
        self.has_dates = not np.isnan(self._days).all()

    @property
    def near_duplicates(self) -> Mapping[tuple[int, int], Pair]:
        """Pairs of nearly the same text that were met so far, by their rows."""
        return self._duplicates.pairs

    def rows_of(self, keys: Iterable[str]) -> list[int]:
        """The rows of those keys that are pages."""
        return [self.rows[key] for key in keys if key in self.rows]

    def prepare(self, rows: Iterable[int]) -> None:
        """Find and compare the candidates of these rows, where that was not done before."""
        wanted = np.array([row for row in dict.fromkeys(rows) if row not in self._pools], np.int64)
        for first in range(0, len(wanted), _BLOCK):
            some = wanted[first : first + _BLOCK]
            dense, lexical = self._nearest(some), self._postings.nearest(some, SERVED)
            both = np.sort(np.concatenate([dense, lexical], axis=1), axis=1)
            new = both >= 0
            new[:, 1:] &= both[:, 1:] != both[:, :-1]
            found = [ours[fresh] for ours, fresh in zip(both, new, strict=True)]
            self._pools.update(zip(some.tolist(), self._comparer.pools(some, found), strict=True))

    def matches(self, row: int, among: Bools, lexical_weight: float, asked: Collection[int] = ()) -> Matches:
        """The best matches of a row, best first: of its candidates, and of the rows that are asked for.

        Args:
            row: of which text.
            among: (len(texts),) which texts may be matches.
            lexical_weight: share of the words in the blend, 0 to 1.
            asked: further rows whose signals are wanted; one in another language has no score.
        """
        self.prepare([row])
        pool = self._pools[row]
        more = np.unique(np.array([*asked], np.int64))
        more = more[among[more] & (more != row)]
        more = more[~is_in(more, pool.rows)]
        rows, similarity, lexical = pool.rows, pool.similarity, pool.lexical
        if len(more):
            signals = self._comparer.pairs(row, more)
            rows, similarity = np.concatenate([rows, more]), np.concatenate([similarity, signals[0]])
            lexical = np.concatenate([lexical, signals[1]])
        return self._ranked(row, rows, (similarity, lexical), among, lexical_weight)

    def fresh(
        self, row: int, matches: Matches, count: int, among: Bools, lexical_weight: float, old: Ints
    ) -> tuple[Matches, Collection[int]]:
        """The matches to which a link is new, `count` of them if there are so many, and rows of near-duplicates.

        Only where linked pages and near-duplicates crowd the candidates, all texts are compared.

        Args:
            row: what the matches are of.
            matches: what `matches` gave for it.
            count: how many are wanted.
            among: as in `matches`.
            lexical_weight: as in `matches`.
            old: rows to which a link is none or not new.
        """
        new, twins = self._new(row, matches, old)
        pool = self._pools[row]
        # What was asked for comes beside the best and takes no place of theirs.
        if is_in(new.rows, pool.rows).sum() < count and len(pool.rows) < pool.targets:
            others = np.flatnonzero(among & understands(self._index.languages, row, self._all))
            others = np.union1d(others[others != row], matches.rows)
            every = self._ranked(row, others, self._comparer.pairs(row, others), among, lexical_weight)
            new, twins = self._new(row, every, old)
        return new, twins

    def nearness(self, row: int, others: Ints) -> Vectors:
        """(len(others),) float64: how near in time each page is to `row`; NaN where a date is unknown."""
        return nearness(self._days[row] if row < len(self.pages) else nan, self._days[others])

    def fits(self, row: int, others: Ints, linked: Sequence[Ints]) -> tuple[Vectors, list[Vectors]]:
        """See `TermFit.of`."""
        return self._fit.of(row, others, linked)

    def _nearest(self, rows: Ints) -> Ints:
        """(len(rows), k): the rows of the nearest pages by the vectors; -1 where there are no more."""
        if self._joined:
            return self._joined.rows[rows, :SERVED]
        if not self.has_vectors:
            return np.full((len(rows), 0), -1, np.int32)
        index = self._index
        return nearest(index.vectors, index.languages, rows, np.flatnonzero(index.columns), SERVED).rows

    def _ranked(
        self, row: int, rows: Ints, figures: tuple[Vectors, Vectors], among: Bools, lexical_weight: float
    ) -> Matches:
        """Those of the rows that are `among`, by their score."""
        similarity, lexical = figures
        score = self._pools[row].score(similarity, lexical, lexical_weight)
        if not (known := understands(self._index.languages, row, rows)).all():
            score[~known] = nan
        kept = np.flatnonzero(among[rows])
        order = kept[np.lexsort((rows[kept], -score[kept]))]
        return Matches(rows, score, similarity, lexical).at(order)

    def _new(self, row: int, matches: Matches, old: Ints) -> tuple[Matches, Collection[int]]:
        """Those that have a score, are no near-duplicates and not old; and the rows of the near-duplicates."""
        twins = self._duplicates.among(row, matches.rows, matches.similarity, matches.lexical)
        gone = np.concatenate([old, np.array([*twins], np.int64)])
        new = np.isfinite(matches.score) & ~is_in(matches.rows, gone)
        return matches.at(np.flatnonzero(new)), twins
