"""Pairs of similar pages, best first, and the pages without a match."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import nan
from typing import Any

import numpy as np

from internal_linker.insight.similarity.similarity import ComparedPages, Similarity
from internal_linker.model.arrays import Bools, Ints, Vectors, ranks
from internal_linker.model.errors import InputError
from internal_linker.model.records import Page
from internal_linker.model.results import Column, Columns, Result, ResultTable, to_named_rows
from internal_linker.model.sequences import Lazy

PAGE = Column("page", "Page", 55, "link"), Column("title", "Title", 45)
MATCH = Column("match", "Match", 55, "link")
SIMILARITY = Column("similarity", "Similarity", 12, "score", kind="number")
_ENDS = *PAGE, MATCH, Column("match_title", "Match Title", 45), SIMILARITY
_LINKS = (
    Column("links", "Links To Match", 15, kind="boolean"),
    Column("linked", "Linked From Match", 18, kind="boolean"),
)
PAIR = *_ENDS, *_LINKS
_HISTOGRAM = (
    Column("start", "From", 12, "score"),
    Column("end", "To", 12, "score"),
    Column("within", "Pairs Within Sections", 20, "bar"),
    Column("across", "Pairs Across Sections", 20, "bar"),
)

# 12 bytes each, and nobody reads a hundredth of them.
MOST_PAIRS = 5_000_000
# Pairs whose similarity is lower than wanted by no more than this are counted.
NEARLY = 0.1
# Bars of the histogram of all similarities, 0 to 1: each is 0.05 wide, so that usual thresholds are edges.
BARS = 20


@dataclass(frozen=True, slots=True)
class SimilarPairs:
    """Pairs of pages by their rows, the most similar first."""

    first: Ints  # (p,) rows
    second: Ints  # (p,) rows, each above the one in `first`
    scores: Vectors  # (p,) float32 similarities, -1 to 1
    found: int  # how many pairs are similar enough; more than p if the matches of a page are limited
    nearly: int  # how many further pairs are nearly similar enough: less than `NEARLY` below
    # (2, bars) counts of all pairs of pages by similarity, in bars of equal width from 0 to 1 (the first has those
    # below 0, too): pairs within a section, and pairs across sections
    histogram: Ints
    alone: Ints  # (a,) rows of pages without a match


def similar_pairs(
    similarity: Similarity,
    languages: Ints,
    at_least: float,
    most: int = 0,
    advance: Callable[[int], None] = lambda _: None,
    *,
    gives: Bools | None = None,
    takes: Bools | None = None,
    sections: Ints | None = None,
    bars: int = BARS,
) -> SimilarPairs:
    """Compare all pages with each other, except pages in different languages.

    Args:
        languages: (n,) language codes; two pages can match if theirs are equal or one is -1.
        most: keep a pair only if it is among so many best matches of one of its pages; 0: all pairs.
        advance: called with the number of further pages compared.
        gives: (n,) whether each page gets links; of two pages, one must be able to link to the other. None: all can.
        takes: (n,) whether links may lead to each page; None: to all.
        sections: (n,) numbers of the pages' sections; None: all pages are in one.

    Raises:
        InputError: there are more than `MOST_PAIRS` pairs.
    """
    n, found, nearly, kept = len(similarity), 0, 0, 0
    sections = np.zeros(n, np.int64) if sections is None else sections
    histogram = np.zeros((2, bars), np.int64)
    parts: list[tuple[Ints, Ints, Vectors]] = []
    for start, column, scores in similarity.tiles(upper=not most):
        here, there = slice(start, start + len(scores)), slice(column, None)
        scores[~_can_match(languages, gives, takes, here, there)] = -np.inf
        places = np.arange(len(scores))
        scores[places, places + start - column] = -np.inf
        if not most:
            # The lower triangle would come twice.
            scores[:, : len(scores)][np.tril_indices(len(scores), -1)] = -np.inf
        histogram += _histogram(scores, sections[here, None] == sections[None, there], bars)
        found += int((scores >= at_least).sum()) if most else 0
        nearly += int(((scores < at_least) & (scores >= at_least - NEARLY)).sum())
        rows, others = np.nonzero(scores >= np.maximum(at_least, _last_of_best(scores, most))[:, None])
        if most:
            # Of equal matches, the first ones.
            order = np.lexsort((others, -scores[rows, others], rows))
            order = order[ranks(rows[order]) < most]
            rows, others = rows[order], others[order]
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
        found, nearly, histogram = found // 2, nearly // 2, histogram // 2
    order = np.lexsort((second, first, -similar))
    alone = np.setdiff1d(np.arange(n), np.concatenate([first, second]))
    found = max(found, len(order))
    return SimilarPairs(first[order], second[order], similar[order], found, nearly, histogram, alone)


def _can_match(languages: Ints, gives: Bools | None, takes: Bools | None, here: slice, there: slice) -> Bools:
    ours, theirs = languages[here, None], languages[None, there]
    can: Bools = (ours == theirs) | (ours < 0) | (theirs < 0)
    if gives is not None and takes is not None:
        can &= (gives[here, None] & takes[None, there]) | (takes[here, None] & gives[None, there])
    return can


def bar_of(scores: Vectors, bars: int) -> Ints:
    """Return the bar of each similarity in a histogram; those below 0 are in the first one."""
    found: Ints = np.clip(scores * np.float32(bars), 0, bars - 1).astype(np.int64)
    return found


def _histogram(scores: Vectors, within: Bools, bars: int) -> Ints:
    """Return (2, bars): how many finite scores are in each bar, within sections and across."""
    known = np.isfinite(scores)
    found = bar_of(scores[known], bars) + bars * ~within[known]
    return np.bincount(found, minlength=2 * bars).reshape(2, bars)


def _last_of_best(scores: Vectors, most: int) -> Vectors:
    """Return (r,) the score of the last of each row's best matches."""
    place = scores.shape[1] - most
    if not most or place <= 0:
        return np.full(len(scores), -np.inf, np.float32)
    last: Vectors = np.partition(scores, place, axis=1)[:, place]
    return last


def _once(first: Ints, second: Ints, scores: Vectors, n: int) -> tuple[Ints, Ints, Vectors]:
    low, high = np.minimum(first, second), np.maximum(first, second)
    _, at = np.unique(low.astype(np.int64) * n + high, return_index=True)
    return low[at], high[at], scores[at]


def _too_many(at_least: float) -> str:
    return (
        f"More than {MOST_PAIRS:,} pairs of pages have a similarity of {at_least} or more. "
        "Raise --min-similarity, or list only the best matches of each page: --max-per-page 20."
    )


@dataclass(frozen=True, repr=False)
class SimilarPages(Result):
    """All pairs of similar pages of a site, and the pages without any."""

    compared: ComparedPages  # the pages
    found: SimilarPairs  # their pairs, by rows
    links: Bools  # (p,) for each pair, whether the first page links to the second
    linked: Bools  # (p,) for each pair, whether the second page links to the first
    files: tuple[str, ...] = ()  # the files of files/ that were written

    @property
    def pairs(self) -> Sequence[Any]:
        """All pairs, each once, the most similar first, with the columns of `PAIR` as attributes."""
        return to_named_rows(self._pairs)

    @property
    def orphaned(self) -> Sequence[Page]:
        """Orphaned content: the pages without a match."""
        return Lazy(len(self.found.alone), lambda at: self.compared.pages[self.found.alone[at]])

    @property
    def medians(self) -> tuple[float, float]:
        """The median similarity of the pairs within a section and across sections, 0 to 1; NaN without any."""
        within, across = map(_median, self.found.histogram)
        return within, across

    def tables(self) -> dict[str, Columns]:
        """`pairs`: both pages of each pair, best first; `orphaned_content`: pages without a match."""
        return {"pairs": self._pairs, "orphaned_content": self.orphaned_table.values}

    @property
    def _pairs(self) -> Columns:
        found = self.found
        return pair_columns(
            self._urls, self.compared.titles, found.first, found.second, found.scores, self.links, self.linked
        )

    @property
    def _urls(self) -> Sequence[str]:
        return [page.url for page in self.compared.pages]

    @property
    def pairs_table(self) -> ResultTable:
        """Each pair once, the most similar first, with its similarity by each field if there are several."""
        fields = [each.name for each in self.compared.similarity.fields]
        fields = fields if len(fields) > 1 else []
        ends = self.found.first, self.found.second
        by_field = {
            f"{name}_similarity": self.compared.similarity.compare_rows(*ends, name) for name in fields
        }
        columns = [Column(f"{name}_similarity", f"{name.title()} Similarity", 16, "score") for name in fields]
        return ResultTable("Pairs", (*_ENDS, *columns, *_LINKS), {**self._pairs, **by_field})

    def page_table(self, max_per_page: int) -> ResultTable:
        """Each page with its best matches: every pair from both of its ends; 0: all matches."""
        found = self.found
        sources = np.concatenate([found.first, found.second])
        matches = np.concatenate([found.second, found.first])
        scores = np.tile(found.scores, 2)
        order = np.lexsort((matches, -scores, sources))
        if max_per_page:
            order = order[ranks(sources[order]) < max_per_page]
        links, back = (
            np.concatenate(both)[order] for both in ((self.links, self.linked), (self.linked, self.links))
        )
        ends = sources[order], matches[order]
        values = pair_columns(self._urls, self.compared.titles, *ends, scores[order], links, back)
        return ResultTable("By page", PAIR, values)

    @property
    def histogram_table(self) -> ResultTable:
        """How many pairs of pages have which similarity, within a section and across sections."""
        within, across = self.found.histogram
        edges = np.arange(len(within) + 1) / len(within)
        values = {"start": edges[:-1], "end": edges[1:], "within": within, "across": across}
        return ResultTable("Histogram", _HISTOGRAM, values)

    @property
    def orphaned_table(self) -> ResultTable:
        """The pages without a match."""
        pages, titles, alone = self.compared.pages, self.compared.titles, self.found.alone.tolist()
        values = {"page": [pages[row].url for row in alone], "title": [titles[row] for row in alone]}
        return ResultTable("Orphaned content", PAGE, values)


def _median(counts: Ints) -> float:
    total = int(counts.sum())
    if not total:
        return nan
    return (int(np.searchsorted(np.cumsum(counts), total / 2)) + 0.5) / len(counts)


def pair_columns(
    urls: Sequence[str],
    titles: Sequence[str],
    first: Ints,
    second: Ints,
    scores: Vectors,
    links: Bools,
    linked: Bools,
) -> Columns:
    """Return the values of `PAIR` of p pairs, given the rows of pages and matches, and the n pages' URLs and titles."""
    named, titled = np.array(urls, object), np.array(titles, object)
    return {
        "page": named[first],
        "title": titled[first],
        "match": named[second],
        "match_title": titled[second],
        "similarity": scores,
        "links": links,
        "linked": linked,
    }
