"""The pages of a run -> all of them ready to be compared: words, vectors, dates, near-duplicates."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from math import nan

import numpy as np
from numpy.typing import NDArray

from internal_linker.arrays import Vectors
from internal_linker.records import Page, Text
from internal_linker.steps.boilerplate import without_boilerplate
from internal_linker.steps.dates import days, nearness
from internal_linker.steps.duplicate import NearDuplicates, Pair
from internal_linker.steps.match import Index, Matches, language_codes, match
from internal_linker.steps.terms import TermWeights, index_terms, passage_scores
from internal_linker.steps.words import words

# Best matches looked at, by how many are wanted; only where linked pages and near-duplicates crowd the list,
# a list of four times the length is made, and so on, until there are enough or all were seen.
_SPARE, _LONGER = 2, 4


class Site:
    """All texts of a run, by row: first the pages, then sources without a page.

    Args:
        pages: all pages.
        texts: one for each page, then one for each source without a page.
        vectors: (len(texts), d) float32 unit rows, zeros where there is none.
        terms: how words are weighed.
        near_duplicate: cosine of two near-duplicates, 0 to 1.

    Attributes:
        rows: each page's row, by its key.
        with_text: rows of the pages that can be compared.
        has_vectors, has_dates: whether any text has a vector, and any URL a date.
    """

    def __init__(
        self,
        pages: Sequence[Page],
        texts: Sequence[Text],
        vectors: Vectors,
        terms: TermWeights,
        near_duplicate: float,
    ) -> None:
        self.pages = pages
        self.rows = {page.key: row for row, page in enumerate(pages)}
        self.with_text = [row for row in range(len(pages)) if texts[row].whole]
        self.has_vectors = bool(vectors.any())
        languages = [page.lang for page in pages] + [""] * (len(texts) - len(pages))
        titles = [words(text.title) for text in texts]
        bodies = [words(body) for body in without_boilerplate([text.body for text in texts])]
        self._terms = index_terms(titles, bodies, terms)
        self._index = Index(vectors, self._terms.rows, language_codes(languages))
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

    def matches(
        self,
        rows: Sequence[int],
        among: Sequence[int],
        count: int,
        lexical_weight: float,
        asked: Sequence[Sequence[int]] | None = None,
    ) -> Iterator[Matches]:
        """Yield the best matches of each row, twice as many as `count`; see `match`."""
        keep = _SPARE * count
        return match(self._index, rows, among, keep=keep, lexical_weight=lexical_weight, asked=asked)

    def fresh(
        self,
        row: int,
        matches: Matches,
        count: int,
        is_new: Callable[[int], bool],
        asked: Sequence[int] = (),
    ) -> tuple[Matches, list[int], Collection[int]]:
        """As many matches as it takes to have `count` that are no near-duplicates and of which a link is new.

        Args:
            row: what the matches are of.
            matches: what `matches` gave for it, with this count.
            count: how many are wanted.
            is_new: whether a link between `row` and another row is a new one.
            asked: rows that are wanted beside the best.

        Returns:
            The matches, the places of the new ones in them, and the rows of near-duplicates.
        """
        keep = _SPARE * count
        matches = matches.longer(keep, asked)
        while True:
            twins = self._duplicates.among(row, matches.rows, matches.similarity, matches.lexical)
            # A pair that may not be matched (another language) has no score; only a search result names it.
            scored = np.flatnonzero(np.isfinite(matches.score))
            places = [
                place
                for place, other in zip(scored.tolist(), matches.rows[scored].tolist(), strict=True)
                if other not in twins and is_new(other)
            ]
            # Behind the best stand those that were asked for.
            if len(matches.rows) < keep or sum(place < keep for place in places) >= count:
                return matches, places, twins
            keep *= _LONGER
            matches = matches.longer(keep, ())

    def passages(self, row: int, others: NDArray[np.integer]) -> Vectors:
        """(len(others),) float32: how well the best passage of `row` fits each of the others, 0 to 1."""
        return passage_scores(self._terms, row, others)

    def nearness(self, row: int, others: NDArray[np.integer]) -> Vectors:
        """(len(others),) float64: how near in time each page is to `row`; NaN where a date is unknown."""
        return nearness(self._days[row] if row < len(self.pages) else nan, self._days[others])

    def likeness(self, others: NDArray[np.integer], to: NDArray[np.integer]) -> Vectors:
        """(len(others),) float32: mean cosine, 0 to 1, of each one's words with those of the rows `to`."""
        if not len(to):
            return np.zeros(len(others), np.float32)
        terms = self._terms.rows
        linked = terms[to]
        # Dense: a sparse mean would take ten times as long.
        mean = np.bincount(linked.indices, linked.data, minlength=terms.shape[1]) / len(to)
        alike: Vectors = (terms[others] @ mean).astype(np.float32)
        return alike
