"""Pages of last resort, linked after all others: short, dense or deprecated ones, and pages made from one template."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from internal_linker.match.near_duplicates import jaccard, shingles
from internal_linker.model.arrays import Bools, Ints, Vectors
from internal_linker.model.edges import strengths
from internal_linker.model.link_density import FEW_LINKS, LinkDensity
from internal_linker.model.records import Page
from internal_linker.text.deprecation import is_deprecated
from internal_linker.text.stop_words import folded_stop_words
from internal_linker.text.words import word_count, words

Words = tuple[str, ...]

# Longer texts are not short: their words would have more than 30 letters.
_LETTERS_PER_WORD = 30
# Pages from which a pattern of titles may be a template (a series of articles has fewer), and words that their titles
# must share besides stop words and the brand.
LEAST_SIBLINGS, SHARED_WORDS = 10, 2
# Minimum overlap (Jaccard) of the four-word phrases with which the texts of two neighbouring siblings begin.
SAME_TEMPLATE = 0.06
# What stands before or after a separator in more of the titles is the brand.
_SEPARATOR, _BRAND = re.compile(r"\s[|·:–—-]\s"), 0.3
# Siblings from which a page may have no other candidates: it has about as many.
LARGE = 40
# A kind of which more than this share of the pages are is no exception on its site.
MOST_OF_SITE = 0.5
_OPENING_LETTERS = 2500
# A link of this strength is no stopgap, even if the page that it leads to says little: the page of a product or policy
# that the source is about.
STRONG = 0.9


@dataclass(frozen=True, slots=True)
class DemotionRules:
    """Which pages come last; by default none."""

    words: int = 0  # pages with fewer words; 0: no page
    density: LinkDensity | None = None  # the limits of links on a page: pages with more links; None: no page
    deprecated: bool = False  # pages that say that they are deprecated
    pattern: str = ""  # a regular expression that the URL, title or H1 of further deprecated pages matches
    templates: bool = False  # pairs of pages made from one template
    # the weaker direction of a pair, unless both have at least this strength, 0 to 1; 0: no direction
    one_way: float = 0.0


NO_DEMOTIONS = DemotionRules()


@dataclass(frozen=True, slots=True)
class Demotions:
    """The pages of a site that come last."""

    pages: Bools  # (n,) whether a page comes last as a source and as a target
    template: Ints  # (n,) the number of the template that a page is made from; -1: none
    # how many pages there are of each kind; a page may be of several
    counts: Mapping[str, int] = field(default_factory=dict)
    short: Bools | None = None  # (n,) which pages come last for nothing but their length; None: none

    def are_last(self, rows: Ints) -> Bools:
        """Return (len(rows),) whether each page comes last; texts that are not pages don't."""
        return _at(self.pages, rows, False)

    def links(self, sources: Ints, targets: Ints, scores: Vectors) -> Bools:
        """Return (m,) whether each link comes last; a strong one does not for the mere length of its target.

        Unknown scores are NaN.
        """
        found = self.are_last(targets)
        if self.short is not None:
            found &= ~(_at(self.short, targets, False) & (strengths(scores) >= STRONG))
        return found | self.are_siblings(sources, targets)

    def templates(self, rows: Ints) -> Ints:
        """Return (len(rows),) the number of each page's template; -1: none, or not a page."""
        return _at(self.template, rows, -1)

    def are_siblings(self, rows: Ints, others: Ints) -> Bools:
        """Return (len(rows),) whether each page is made from the same template as the other one."""
        ours = self.templates(rows)
        same: Bools = (ours >= 0) & (ours == self.templates(others))
        return same

    def large_templates(self) -> Iterator[tuple[int, Ints]]:
        """Yield the number of each template that could fill all candidates of a page, and the rows of its pages."""
        numbers, counts = np.unique(self.template[self.template >= 0], return_counts=True)
        for number in numbers[counts > LARGE].tolist():
            yield number, np.flatnonzero(self.template == number)


def _at(values: NDArray[Any], rows: Ints, other: int) -> NDArray[Any]:
    return np.append(values, np.array(other, values.dtype))[np.minimum(rows, len(values))]


def find_demotions(pages: Sequence[Page], links: Ints, rules: DemotionRules) -> Demotions:
    """Find the pages that come last, given (n,) how many links each one's text has.

    A kind to which most pages of the site belong is left out.
    """
    kinds = {
        "short": _short(pages, rules.words),
        "dense": _dense(pages, links, rules.density),
        "deprecated": _deprecated(pages, rules),
    }
    found = {name: each for name, each in kinds.items() if 0 < each.sum() <= MOST_OF_SITE * len(pages)}
    template = _templates(pages) if rules.templates else np.full(len(pages), -1)
    none = np.zeros(len(pages), np.bool_)
    every = np.any(np.stack([none, *found.values()]), axis=0)
    others = np.any(np.stack([none, *(each for name, each in found.items() if name != "short")]), axis=0)
    counts = {name: int(each.sum()) for name, each in found.items()}
    if siblings := int((template >= 0).sum()):
        counts["made from one template"] = siblings
    return Demotions(every, template, counts, short=every & ~others)


def _short(pages: Sequence[Page], least: int) -> Bools:
    """Mark pages with fewer words; where no page has content, nobody knows."""
    if not least or not any(page.content for page in pages):
        return np.zeros(len(pages), np.bool_)
    return np.fromiter((_has_fewer(page, least) for page in pages), np.bool_, len(pages))


def _has_fewer(page: Page, least: int) -> bool:
    text = str(page.content)
    return len(text) < least * _LETTERS_PER_WORD and word_count(text) < least


def _dense(pages: Sequence[Page], links: Ints, density: LinkDensity | None) -> Bools:
    found = np.zeros(len(pages), np.bool_)
    if density is None:
        return found
    many = np.flatnonzero(links > min(FEW_LINKS, density.links))
    lengths = np.array([word_count(str(pages[row].content)) for row in many.tolist()], np.int64)
    found[many] = links[many] > density.most(lengths)
    return found


def _deprecated(pages: Sequence[Page], rules: DemotionRules) -> Bools:
    own = re.compile(rules.pattern, re.I) if rules.pattern else None

    def says(page: Page) -> bool:
        names = (page.title, page.h1)
        if own and any(own.search(text) for text in (page.url, *names)):
            return True
        return rules.deprecated and is_deprecated(page.url, names, str(page.content))

    return np.fromiter(map(says, pages), np.bool_, len(pages))


def _templates(pages: Sequence[Page]) -> Ints:
    """Return (n,) the number of the template that each page is made from, -1 for none.

    The titles of one template are equal but for a gap, and its texts begin with common phrases.
    """
    template = np.full(len(pages), -1)
    titles = _without_brands([page.title or page.h1 for page in pages])
    for number, rows in enumerate(_patterns([*map(words, titles)], pages)):
        openings = [shingles(words(str(pages[row].content)[:_OPENING_LETTERS])) for row in rows]
        next_alike = [jaccard(one, other) >= SAME_TEMPLATE for one, other in pairwise(openings)]
        alike = [any(both) for both in zip([False, *next_alike], [*next_alike, False], strict=True)]
        siblings = [row for row, same in zip(rows, alike, strict=True) if same]
        if len(siblings) >= LEAST_SIBLINGS:
            template[siblings] = number
    return template


def _without_brands(titles: Sequence[str]) -> Iterator[str]:
    parts = [_SEPARATOR.split(title) for title in titles]
    counts = Counter(part for each in parts if len(each) > 1 for part in {*each})
    for each in parts:
        yield " ".join(part for part in each if counts[part] <= _BRAND * len(titles))


def _patterns(titles: Sequence[Sequence[str]], pages: Sequence[Page]) -> Iterator[list[int]]:
    """Yield the rows of pages whose titles have the same beginning and the same end, around a gap."""
    starts, ends = Counter[Words](), Counter[Words]()
    for title in titles:
        starts.update(tuple(title[:at]) for at in range(1, len(title)))
        ends.update(tuple(title[at:]) for at in range(1, len(title)))
    groups: defaultdict[tuple[Words, Words], list[int]] = defaultdict(list)
    for row, title in enumerate(titles):
        size = len(title)
        common = (at for at in range(size - 1, 0, -1) if starts[tuple(title[:at])] >= LEAST_SIBLINGS)
        head = next(common, 0)
        tail = next((at for at in range(head + 1, size) if ends[tuple(title[at:])] >= LEAST_SIBLINGS), size)
        telling = {*title[:head], *title[tail:]} - folded_stop_words(pages[row].lang or "en")
        if len(telling) >= SHARED_WORDS:
            groups[tuple(title[:head]), tuple(title[tail:])].append(row)
    yield from (rows for rows in groups.values() if len(rows) >= LEAST_SIBLINGS)
