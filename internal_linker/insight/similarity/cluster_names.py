"""Names of clusters: the phrases, or else words, that set a cluster's pages apart from the others."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, count
from math import log

import numpy as np

from internal_linker.model.arrays import Bools, Ints, Vectors
from internal_linker.model.records import Page
from internal_linker.store.files.plain_text import shortened
from internal_linker.text.phrases import Reader
from internal_linker.text.terms import Stems, Term, terms

# Terms of a name, and terms in reserve for two clusters that would get the same name.
_TERMS, _MORE = 3, 6
# No further terms if this share of the pages have one, or if it adds less than this share of what the first one says.
_ENOUGH, _ADDS = 0.75, 0.2
# Pages that are read: of one cluster, at least and at most, and of all. More of them give the same names.
_LEAST_READ, _MOST_READ, _ALL_READ = 3, 60, 3_000
# Characters read of a title or heading, and of a content: its beginning says what it is about.
_TITLE, _LEAD = 300, 1_500
# Words of a term, function words included: of titles, so long that a cut part is known to be one, and of contents.
_IN_TITLE, _IN_CONTENT = 8, 5
# Words that a term of a name can have.
_MOST_WORDS = 4
# A term that hardly ever occurs without a longer one says less than the longer one: "pour" beside "pour over".
_ALWAYS = 0.8
# A term sets the cluster apart if its pages have it this many times more often than all pages: "coffee" says nothing on
# a site about coffee.
_OFTEN = 1.5
# A term is in a name if several titles have it; a phrase of one title, if this share of the pages have it.
_SHARE = 0.1
# How much more a term of so many words says than a single word.
_SAYS = {1: 1.0, 2: 4.0, 3: 4.5}
# A title's spelling counts as much as those of two contents.
_SPELLS = 2
_ARABIC_AND = "\u0648"
UNTITLED = "untitled"
_BETWEEN = ", "


def named_shares(
    names: Sequence[str], labels: Ints, titles: Sequence[str], languages: Sequence[str], reader: Reader
) -> Vectors:
    """Return (n,) how much of its cluster's name is in each title: 1 for the first term, 1/2 for the second ..."""
    shares = np.zeros(len(titles))
    for row in np.flatnonzero(labels >= 0).tolist():
        said = set(reader.read(titles[row][:_TITLE], languages[row]).stems.tolist())
        for place, term in enumerate(names[labels[row]].split(_BETWEEN), 1):
            stems = set(reader.read(term, languages[row]).stems.tolist())
            if stems and stems <= said:
                shares[row] = 1 / place
                break
    return shares


@dataclass(slots=True)
class _Found:
    term: Term  # an example
    titles: Bools  # (m,) whether a page's title or first heading has it
    contents: Bools  # (m,) whether the beginning of a page's content has it
    # how often it is spelled in which way, case ignored
    spellings: Counter[str] = field(default_factory=Counter)
    # how titles, or else contents, write each spelling
    cased: dict[str, Counter[str]] = field(default_factory=dict)

    @property
    def pages(self) -> int:
        return int((self.titles | self.contents).sum())

    @property
    def spelled(self) -> str:
        """Its most frequent spelling, without an attached Arabic "and" if it occurs without one."""
        folded = self.spellings.most_common(1)[0][0]
        if folded.startswith(_ARABIC_AND) and folded[1:] in self.spellings:
            folded = folded[1:]
        return self.cased[folded].most_common(1)[0][0]

    def add(self, page: int, term: Term, *, is_title: bool) -> None:
        (self.titles if is_title else self.contents)[page] = True
        folded = term.text.casefold()
        self.spellings[folded] += _SPELLS if is_title else 1
        self.cased.setdefault(folded, Counter())[term.text] += len(self.titles) if is_title else 1


@dataclass(frozen=True, slots=True)
class _Read:
    terms: Mapping[Stems, _Found]  # their terms
    pages: int  # m, how many they are
    size: int  # how many pages the cluster has
    example: str  # the first title, or `UNTITLED`


@dataclass(frozen=True, slots=True)
class _Shares:
    titles: Mapping[Stems, float]  # in title or first heading
    contents: Mapping[Stems, float]  # at the beginning of the content


def cluster_names(labels: Ints, pages: Sequence[Page], titles: Sequence[str], reader: Reader) -> list[str]:
    """Name each cluster by up to three terms; all names differ.

    A term counts the more, the more of the cluster's pages have it in title, first heading or at the beginning of the
    content, the fewer other pages have it there, and the more words it has. Each further term is the best one for the
    pages that the earlier ones don't describe. Forms of a word are one term, spelled as it is spelled most.

    `labels` are clusters from 0, -1 for a page in none; the titles have no brand.
    """
    clusters = int(labels.max(initial=-1)) + 1
    most = max(_LEAST_READ, min(_MOST_READ, _ALL_READ // max(1, clusters)))
    read = list[_Read]()
    for label in range(clusters):
        rows = np.flatnonzero(labels == label)
        some = rows[np.linspace(0, len(rows) - 1, min(most, len(rows))).round().astype(np.int64)]
        read.append(_read([(pages[row], titles[row]) for row in some.tolist()], len(rows), reader))
    shares = _shares(read)
    return _different([_best(each, shares, alone=clusters == 1) for each in read])


def _read(pages: Sequence[tuple[Page, str]], size: int, reader: Reader) -> _Read:
    """Read the terms of some pages of a cluster: those of several pages, or all if two pages have none in common."""
    found: dict[Stems, _Found] = {}
    texts = list[list[tuple[bool, dict[Stems, Term]]]]()
    for page, title in pages:
        names = dict.fromkeys((title[:_TITLE], page.h1[:_TITLE]))
        head = {one.stems: one for name in names for one in terms(name, page.lang, reader, _IN_TITLE)}
        lead = str(page.content)[:_LEAD]
        body = {one.stems: one for one in terms(lead, page.lang, reader, _IN_CONTENT)}
        texts.append([(True, head), (False, body)])
    times = Counter(chain.from_iterable({*head, *body} for (_, head), (_, body) in texts))
    least = 2 if len(pages) > 2 or max(times.values(), default=0) > 1 else 1
    for at, parts in enumerate(texts):
        for is_title, part in parts:
            for stems, term in part.items():
                if times[stems] < least:
                    continue
                if stems not in found:
                    found[stems] = _Found(term, *np.zeros((2, len(pages)), np.bool_))
                found[stems].add(at, term, is_title=is_title)
    example = next(filter(None, (shortened(title or page.h1) for page, title in pages)), UNTITLED)
    return _Read(found, len(pages), size, example)


def _shares(read: Sequence[_Read]) -> _Shares:
    """Return the terms' shares of all pages, each cluster in proportion to its size."""
    titles, contents = dict[Stems, float](), dict[Stems, float]()
    total = sum(each.size for each in read)
    for each in read:
        weight = each.size / each.pages / total
        for stems, found in each.terms.items():
            titles[stems] = titles.get(stems, 0.0) + weight * int(found.titles.sum())
            contents[stems] = contents.get(stems, 0.0) + weight * int(found.contents.sum())
    return _Shares(titles, contents)


def _best(read: _Read, shares: _Shares, *, alone: bool) -> tuple[list[str], int]:
    """Return the best terms, none sharing a stem with a better one, and how many of them make the name."""
    cut = _cut(read.terms)
    worths = {
        stems: _worth(read, stems, shares, alone=alone)
        for stems, found in read.terms.items()
        if stems not in cut and _can_name(found, read.pages)
    }
    worths = {stems: worth for stems, worth in worths.items() if worth.any()}
    if not worths and not alone:
        return _best(read, shares, alone=True)
    chosen, telling, told = list[str](), 0, np.zeros(read.pages)
    has, least = np.zeros(read.pages, np.bool_), 0.0
    while worths and len(chosen) < _MORE:
        gains = {stems: float(np.maximum(0, worth - told).sum()) for stems, worth in worths.items()}
        best = max(gains, key=gains.__getitem__)
        found = read.terms[best]
        least = least or _ADDS * gains[best]
        if telling == len(chosen) < _TERMS and gains[best] >= least and has.mean() < _ENOUGH:
            telling += 1
        chosen.append(found.spelled)
        has |= found.titles | found.contents
        told = np.maximum(told, worths[best])
        worths = {stems: worth for stems, worth in worths.items() if not set(stems) & set(best)}
    return chosen or [read.example], max(1, telling)


def _can_name(found: _Found, pages: int) -> bool:
    term, titles = found.term, int(found.titles.sum())
    if not titles or (term.spaced and term.words > _MOST_WORDS):
        return False
    some = max(2, _SHARE * pages)
    if pages <= 2 or titles >= some:
        return True
    if titles > 1:
        return not term.joined
    return term.spaced and not term.joined and term.words > 1 and found.pages >= some


def _worth(read: _Read, stems: Stems, shares: _Shares, *, alone: bool) -> Vectors:
    """Return (m,) how much a term says about each page, 0 or more; 0 for pages that lack it."""
    found, worth = read.terms[stems], np.zeros(read.pages)
    says = _SAYS[min(max(_SAYS), int(found.term.words))]
    for there, everywhere in ((found.titles, shares.titles), (found.contents, shares.contents)):
        if there.any():
            often = float(there.mean()) / everywhere[stems]
            worth += there * (1.0 if alone else log(often) if often >= _OFTEN else 0.0)
    return says * worth


def _cut(found: Mapping[Stems, _Found]) -> set[Stems]:
    """Return the terms that hardly ever occur without a certain longer one, which some title has."""
    pages = {stems: each.pages for stems, each in found.items()}
    return {
        part
        for stems, times in pages.items()
        if len(stems) > 1 and found[stems].titles.any()
        for part in (stems[1:], stems[:-1])
        if times >= _ALWAYS * pages.get(part, np.inf)
    }


def _different(terms: Sequence[tuple[Sequence[str], int]]) -> list[str]:
    """Make names of the first terms; of two equal names, the later one gets more of its terms, or a number."""
    names: dict[str, str] = {}
    for each, telling in terms:
        short = _BETWEEN.join(each[:telling])
        longer = (_BETWEEN.join(each[:length]) for length in range(telling, _MORE + 1))
        numbered = (f"{short} ({number})" for number in count(2))
        name = next(one for one in chain(longer, numbered) if one.casefold() not in names)
        names[name.casefold()] = name
    return list(names.values())
