"""The index of a run's pages, ready for comparison: words, vectors, dates, near-duplicates."""

import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import nan
from typing import Any, TypeVar

import numpy as np

from internal_linker.match.candidates import (
    SERVED,
    ComparisonArrays,
    Matches,
    Pool,
    language_codes,
    scores,
    understands,
)
from internal_linker.match.compute.processes import Processes
from internal_linker.match.inverted_index import Search
from internal_linker.match.near_duplicates import NearDuplicates, Pair
from internal_linker.match.neighbours.exact import nearest
from internal_linker.match.tfidf import Fits, TermWeights, index_terms
from internal_linker.match.tokens import Tokenized, tokenize
from internal_linker.match.url_dates import days, nearness
from internal_linker.model.arrays import NO_PAIRS, Bools, Ints, Nearest, Pairs, Vectors, both, is_in, pairs_of
from internal_linker.model.records import Page, Text
from internal_linker.text.words import words

T = TypeVar("T")
# Texts to compare with their candidates at a time.
_BLOCK = 256
# Most similar texts by which hubness is measured.
_HUBNESS = 10
# What a pickled site is without: what was found in it so far, and what shares the work.
_OF_ONE_USE = frozenset({"_pools", "_hubness", "_duplicates", "_workers", "_searches"})
# With fewer texts, other processes save little (2 of 17 seconds at 3,000 texts) and take 100 MB each.
SHARED_FROM = 5_000


@dataclass(frozen=True)
class Guests:
    """Texts that are no pages of the site: queries, and pages that are only planned."""

    texts: Sequence[Text]  # the g texts
    vectors: Vectors  # (g, d) unit rows, zeros if a text has no vector
    pages: Sequence[Page | None]  # the page that each planned page will be; None for a query

    @classmethod
    def queries(cls, texts: Sequence[Text], vectors: Vectors) -> "Guests":
        """Return queries as guests."""
        return cls(texts, vectors, [None] * len(texts))

    @property
    def languages(self) -> Sequence[str]:
        """The languages of the texts, "" if unknown."""
        return [page.lang if page else "" for page in self.pages]


class Site:
    """All texts of a run, by row: first the pages, then guests.

    Every statistic is that of the pages alone: guests are weighed by it and compared with the pages, see `with_guests`.

    Args:
        vectors: (len(texts), d) unit rows, zeros if a text has no vector.
        near_duplicate: minimum cosine of two near-duplicates, 0 to 1.
        joined: at least the `SERVED` nearest pages of each text by vectors; None: find them when needed.

    Attributes:
        with_text: (n,) whether each row is a page with a text.
        has_content: (n,) whether each text has words besides its title.
    """

    def __init__(
        self,
        pages: Sequence[Page],
        texts: Sequence[Text],
        vectors: Vectors,
        *,
        terms: TermWeights,
        near_duplicate: float,
        tokenized: Tokenized | None = None,
        joined: Nearest | None = None,
    ) -> None:
        tokenized = tokenized or tokenize(texts)
        self.pages = pages
        self.with_text: Bools = tokenized.with_text
        self.has_vectors = bool(vectors.any())
        languages = language_codes([page.lang for page in pages])
        self._boilerplate = tokenized.boilerplate
        index = index_terms(tokenized.tokens, terms)
        self.has_content: Bools = np.diff(index.starts) > 0
        order = [zlib.crc32(page.key.encode()) for page in pages]
        comparison = ComparisonArrays.from_vectors(
            vectors, index, languages, self.with_text, np.array(order, np.int64)
        )
        self._comparer = comparison.comparer
        self._comparison: ComparisonArrays | None = comparison
        self._workers: Processes | None = None
        self._searches: Sequence[Search] = ()
        self._near, self._n = _served(joined), max(1, len(texts))
        self._pools: dict[int, Pool]
        self._hubness: Vectors = np.full((2, len(texts)), np.nan, np.float32)
        self.forget()
        self._duplicates = NearDuplicates(lambda row: words(texts[row].body), near_duplicate)
        self._days = days(page.url for page in pages)
        self.has_dates = not np.isnan(self._days).all()

    def __getstate__(self) -> dict[str, Any]:
        """Return what depends on the texts alone; see `resume`."""
        kept = {name: each for name, each in vars(self).items() if name not in _OF_ONE_USE}
        near = None if self._near is None else self._near[: len(self.pages)].copy()
        return kept | {"_least": self._duplicates.least, "_near": near}

    def prepare_samples(self) -> None:
        """Take the samples by which most texts, and those of unknown languages, are compared."""
        codes, counts = np.unique(self._comparer.index.languages, return_counts=True)
        self._comparer.prepare([-1, *codes[np.argsort(counts)[-1:]].tolist()])

    def with_guests(
        self, guests: Guests, languages: Sequence[int], read: Callable[[Sequence[str]], None] = lambda _: None
    ) -> "Site":
        """Return the site with further texts, which change nothing about the pages; before others share the work.

        Args:
            languages: the codes of their languages, -1 if unknown.
            read: receives the words of each guest's content, in order.
        """
        if self._comparison is None:
            raise ValueError("other processes have the texts already")
        other, n, g = object.__new__(Site), len(self.with_text), len(guests.texts)
        # Not `copy`, which would leave out what a pickled site is without.
        vars(other).update(vars(self))
        found = [self._words_of(text) for text in guests.texts]
        for _, body in found:
            read(body)
        vectors, d = guests.vectors, self._comparer.index.vectors.shape[1]
        if vectors.shape[1] != d:
            # Nothing can be compared with them.
            vectors = np.zeros((g, d), np.float32)
        other._comparison = self._comparison.with_guests(vectors, found, languages)
        other._comparer, other._n = other._comparison.comparer, n + g
        are_pages = zip(guests.pages, guests.texts, strict=True)
        may_match = [bool(page and text.whole) for page, text in are_pages]
        other.with_text = np.append(self.with_text, np.array(may_match, np.bool_))
        contents = np.array([len(body) for _, body in found], np.int64)
        other.has_content = np.append(self.has_content, contents > 0)
        other._hubness = np.append(self._hubness, np.full((2, g), np.nan, np.float32), axis=1)
        other._days = np.append(self._days, days(page.url if page else "" for page in guests.pages))
        other._pools = dict(self._pools)
        other._duplicates = self._duplicates.with_guests([words(text.body) for text in guests.texts], n)
        return other

    def _words_of(self, text: Text) -> tuple[Sequence[str], Sequence[str]]:
        body = self._boilerplate.without(text.body) if text.body else ""
        return words(text.title), words(body)

    def resume(self, texts: Sequence[Text], joined: Nearest | None = None) -> None:
        """Make a site that was pickled usable again, with the texts that it was made from; see `joined` above."""
        self._near = _served(joined) if joined else self._near
        self._workers, self._searches = None, ()
        self.forget()
        self._hubness = np.full((2, len(self.with_text)), np.nan, np.float32)
        least = vars(self).pop("_least", None) or self._duplicates.least
        self._duplicates = NearDuplicates(lambda row: words(texts[row].body), least)

    def hold_vectors(self) -> None:
        """Hold the vectors in memory as float32: to convert them takes most of the time that a few texts take."""
        vectors = self._comparer.index.vectors
        if self._comparison and vectors.dtype != np.float32:
            self._comparison = self._comparison.with_vectors(vectors.astype(np.float32))
            self._comparer = self._comparison.comparer

    def forget(self) -> None:
        """Forget which pages were compared, so that what follows equals the result of a site that has compared none.

        In another company of rows, means and deviations differ by their rounding.
        """
        self._pools = {}

    def know(self, hubness: Vectors) -> None:
        """Replace the `known_hubness` of the pages: that of a text is the same in any company."""
        self._hubness[:, : hubness.shape[1]] = hubness

    @property
    def languages(self) -> Ints:
        """(n,) the codes of the texts' languages, -1 if unknown."""
        return self._comparer.index.languages

    @property
    def known_hubness(self) -> Vectors:
        """(2, n) `hubness` of the texts where it is known so far, NaN elsewhere."""
        return self._hubness

    def work(self, workers: Processes | None, searches: Sequence[Search] = ()) -> None:
        """Let other processes compare the texts and do these searches, once there are many; None: this one goes on."""
        self._workers, self._searches = workers, searches

    def share(self) -> None:
        """Give the texts of a large site to the other processes, if there are any."""
        if self._workers and self._comparison and len(self.with_text) >= SHARED_FROM:
            self._workers.share(replace(self._comparison, searches=self._searches))
            # Only the workers need the rest, half of its memory.
            self._comparison = None

    def searched(self, blocks: Iterable[Ints]) -> Iterator[Ints] | None:
        """Yield what the searches given to `work` find for blocks of texts; None if no process has got them."""
        if self._comparison or not self._workers:
            return None
        return self._workers.run(ComparisonArrays.searched, ((block,) for block in blocks))

    @property
    def near_duplicates(self) -> Mapping[tuple[int, int], Pair]:
        """The pairs of near-duplicates found so far, by their rows."""
        return self._duplicates.pairs

    def prepare(self, rows: Iterable[int]) -> None:
        """Find and compare the candidates of these rows, unless this was done before."""
        wanted = np.array([row for row in dict.fromkeys(rows) if row not in self._pools], np.int64)
        if len(wanted) >= SHARED_FROM:
            self.share()
        # Guests apart, since the company of other rows changes the rounding.
        are_pages = wanted < len(self.pages)
        blocks = [
            some[first : first + _BLOCK]
            for some in (wanted[are_pages], wanted[~are_pages])
            for first in range(0, len(some), _BLOCK)
        ]
        tasks = ((some, self._nearest(some)) for some in blocks)
        for some, pools in zip(blocks, self._each(ComparisonArrays.pools, tasks), strict=True):
            self._pools.update(zip(some.tolist(), pools, strict=True))

    def matches(self, texts: Ints, among: Bools, lexical_weight: float, asked: Pairs = NO_PAIRS) -> Matches:
        """Return the matches of (t,) texts, best first: their candidates and the rows in `asked`.

        Args:
            among: (n,) whether each text may be a match.
            lexical_weight: weight of the words in the blend, 0 to 1.
            asked: further rows to compare with each text; a row in another language has no score.
        """
        self.prepare(texts.tolist())
        pools = [self._pools[row] for row in texts.tolist()]
        pairs = pairs_of([pool.rows for pool in pools])
        more = self._more(texts, asked, pairs, among)
        signals = self._comparer.pairs(*_by_text(texts, more))
        similarity = np.concatenate([*(pool.similarity for pool in pools), *(each[0] for each in signals)])
        lexical = np.concatenate([*(pool.lexical for pool in pools), *(each[1] for each in signals)])
        return self._ranked(
            texts, both(pairs, more), similarity, lexical, among=among, lexical_weight=lexical_weight
        )

    def fresh(
        self,
        texts: Ints,
        matches: Matches,
        count: int,
        *,
        among: Bools,
        lexical_weight: float,
        old: Pairs,
    ) -> tuple[Matches, Pairs]:
        """Return the matches to which a link is new, at least `count` per text if possible, and the near-duplicates.

        If too many candidates of a text are linked pages or near-duplicates, compare it with all texts. `old` has the
        rows that each text links to already, or that a link can't lead to.
        """
        new, duplicates = self._new(texts, matches, old)
        pools = [self._pools[row] for row in texts.tolist()]
        # Rows from `asked` are extra: only candidates count towards `count`.
        own = is_in(new.pairs.keys(self._n), pairs_of([pool.rows for pool in pools]).keys(self._n))
        enough = np.bincount(new.of[own], minlength=len(texts)) >= count
        crowded = [at for at in np.flatnonzero(~enough).tolist() if len(pools[at].rows) < pools[at].targets]
        for at in crowded:
            every, more = self._new(texts, self._all_matches(texts, at, among, lexical_weight), old)
            new, duplicates = _replaced(new, every, at), both(duplicates, more)
        return new, duplicates

    def fits(self, tasks: Iterable[tuple[Ints, Sequence[Ints], Sequence[Sequence[Ints]]]]) -> Iterator[Fits]:
        """Yield `TermFit.compare_passages` for each of the tasks; take a few tasks ahead."""
        return self._each(ComparisonArrays.fits, tasks)

    def coverage(self, texts: Ints, others: Sequence[Ints]) -> list[Vectors]:
        """Return `TermFit.coverage` for some texts."""
        (found,) = self._each(ComparisonArrays.coverage, [(texts, others)])
        return found

    def hubness(self, rows: Ints) -> Vectors:
        """Return (2, len(rows)) float32: the mean of each text's ten highest cosines of words, and of vectors.

        Pages with a high mean are close to every page: a cosine with them says less. An unknown cosine counts 0.
        """
        new = np.unique(rows[np.isnan(self._hubness[0, rows])])
        self.prepare(new.tolist())
        for row in new.tolist():
            pool = self._pools[row]
            for at, cosines in enumerate((pool.lexical, np.nan_to_num(pool.similarity))):
                self._hubness[at, row] = np.sort(cosines)[-_HUBNESS:].mean() if len(cosines) else 0
        return self._hubness[:, rows]

    def nearness(self, texts: Ints, others: Ints) -> Vectors:
        """Return (len(others),) float64: how near in time each page is to its text; NaN if a date is unknown."""
        return nearness(self._days[texts], self._days[others])

    def _each(self, work: Callable[..., T], tasks: Iterable[tuple[Any, ...]]) -> Iterator[T]:
        if self._comparison or not self._workers:
            return (work(self._comparison, *task) for task in tasks)
        return self._workers.run(work, tasks)

    def _nearest(self, rows: Ints) -> Ints:
        """Return (len(rows), k) rows of the nearest pages by vectors, padded with -1."""
        if self._near is not None and rows.max(initial=-1) < len(self._near):
            return self._near[rows]
        if not self.has_vectors:
            return np.full((len(rows), 0), -1, np.int32)
        index = self._comparer.index
        return nearest(index.vectors, index.languages, rows, np.flatnonzero(index.columns), SERVED).rows

    def _more(self, texts: Ints, asked: Pairs, known: Pairs, among: Bools) -> Pairs:
        keys = np.unique(asked.keys(self._n))
        more = Pairs(*np.divmod(keys[~is_in(keys, known.keys(self._n))], self._n))
        return more.at(among[more.rows] & (more.rows != texts[more.of]))

    def _all_matches(self, texts: Ints, at: int, among: Bools, lexical_weight: float) -> Matches:
        row, languages = int(texts[at]), self._comparer.index.languages
        others = np.flatnonzero(among & understands(languages, row, np.arange(self._n)))
        others = others[others != row]
        pairs = Pairs(np.full(len(others), at), others)
        ((similarity, lexical),) = self._comparer.pairs(texts[[at]], [others])
        return self._ranked(texts, pairs, similarity, lexical, among=among, lexical_weight=lexical_weight)

    def _ranked(
        self,
        texts: Ints,
        pairs: Pairs,
        similarity: Vectors,
        lexical: Vectors,
        *,
        among: Bools,
        lexical_weight: float,
    ) -> Matches:
        pools = [self._pools[row] for row in texts.tolist()]
        score = scores(pools, pairs.of, similarity, lexical, lexical_weight)
        score[~understands(self._comparer.index.languages, texts[pairs.of], pairs.rows)] = nan
        kept = np.flatnonzero(among[pairs.rows])
        order = kept[np.lexsort((pairs.rows[kept], -score[kept], pairs.of[kept]))]
        return Matches(pairs.of, pairs.rows, score, similarity, lexical).at(order)

    def _new(self, texts: Ints, matches: Matches, old: Pairs) -> tuple[Matches, Pairs]:
        """Return the matches with a score that are neither near-duplicates nor old, and the near-duplicates."""
        close = matches.at(self._duplicates.may_be(matches.similarity, matches.lexical))
        duplicates = [
            Pairs(np.full(len(found), at), np.array([*found], np.int64))
            for at in np.unique(close.of).tolist()
            if (found := self._near_duplicates(int(texts[at]), close.at(close.of == at)))
        ]
        gone = both(old, *duplicates)
        new = np.isfinite(matches.score) & ~is_in(matches.pairs.keys(self._n), gone.keys(self._n))
        return matches.at(new), both(NO_PAIRS, *duplicates)

    def _near_duplicates(self, row: int, close: Matches) -> set[int]:
        return self._duplicates.among(row, close.rows, close.similarity, close.lexical)


def _served(joined: Nearest | None) -> Ints | None:
    return joined.rows[:, :SERVED] if joined else None


def _by_text(texts: Ints, pairs: Pairs) -> tuple[Ints, Sequence[Ints]]:
    of, starts = np.unique(pairs.of, return_index=True)
    return texts[of], np.split(pairs.rows, starts[1:]) if len(of) else []


def _replaced(matches: Matches, other: Matches, at: int) -> Matches:
    before, behind = matches.at(matches.of < at), matches.at(matches.of > at)
    parts = [[getattr(part, name) for part in (before, other, behind)] for name in Matches.__slots__]
    return Matches(*(np.concatenate(each) for each in parts))
