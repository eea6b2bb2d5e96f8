"""Hygiene of proposed anchors: what an editor would have to repair, counted on the raw text of the pages."""

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import unquote, urlsplit

from internal_linker.insight.evaluation.page_text import (
    Span,
    cuts,
    link_spans,
    overlaps,
    title_spans,
    unbalanced,
    word_length,
)
from internal_linker.model.edges import Anchor
from internal_linker.model.records import Collected, Page
from internal_linker.text.blocks import Block, Templates, blocks
from internal_linker.text.sentences import sentences
from internal_linker.text.stemming import stem
from internal_linker.text.stop_words import folded_stop_words
from internal_linker.text.words import normalise, words

# Examples that are kept of each flaw.
EXAMPLES = 5
# Longer anchors are counted, but may be right.
MOST_WORDS = 5
# Words of a block of text, and the share of pages from which a block or a sentence is a template's; so few pages may
# share it by chance.
_BLOCK, _SHARE, _FEW_PAGES = 8, 0.02, 5
# Characters that hold the words of a block.
_ROOM = 400
# Links in a sentence that readers still follow.
_PER_SENTENCE = 3
# Shorter sentences are figures of speech.
_LEAST_SENTENCE = 4
_WORD = re.compile(r"\w+")
# Punctuation at the ends of a word.
_NO_WORD = re.compile(r"^\W+|\W+$")
# Between a title and a brand.
_SEPARATORS = " |｜-–—·•:»"
# Source code inside an anchor: a call, a tag, an assignment, a variable.
_CODE_NAME = re.compile(r"\w+\(|\(\)\w|[{}=<>`]|\$[^\W\d]|\w::\w|\w_\w|\w;")


class Flaw(StrEnum):
    """What is wrong with an anchor; its value is its name in tables."""

    MISPLACED = "misplaced"
    OVERLAP = "overlap"
    SENTENCE = "same_sentence"
    LINE_BREAK = "line_break"
    CODE = "code"
    CUT = "cut"
    BRAND = "brand"
    LINKED = "linked"
    BLOCK = "block"
    TEMPLATE = "template"
    UNRELATED = "unrelated"
    SEVERAL_TARGETS = "several_targets"
    END_WORD = "end_word"
    UNBALANCED = "unbalanced"

    @property
    def message(self) -> str:
        """The flaw in words, as the end of "an anchor that ..."."""
        return _MESSAGES[self]


_MESSAGES = {
    Flaw.MISPLACED: "is not at its place in the text",
    Flaw.OVERLAP: "overlaps another proposed anchor",
    Flaw.SENTENCE: "shares its sentence with three or more proposed anchors",
    Flaw.LINE_BREAK: "runs across a line break",
    Flaw.CODE: "is code, or in code",
    Flaw.CUT: "cuts a word, number or name",
    Flaw.BRAND: "has the site's brand, which is not the target's name",
    Flaw.LINKED: "overlaps an existing link",
    Flaw.BLOCK: "is in a heading, caption, table, quote or list of links",
    Flaw.TEMPLATE: "is in text that many pages repeat",
    Flaw.UNRELATED: "shares no word with the target's names",
    Flaw.SEVERAL_TARGETS: "also stands for another target",
    Flaw.END_WORD: "begins or ends with a function word",
    Flaw.UNBALANCED: "has an unbalanced bracket or quotation mark",
}
# The flaws of an anchor that is not in the page's text, and would be written there.
_OF_WORDS = frozenset({Flaw.LINE_BREAK, Flaw.BRAND, Flaw.UNBALANCED, Flaw.UNRELATED})


@dataclass(frozen=True, slots=True)
class ProposedAnchor:
    """A proposed link with its first anchor; source and target are keys."""

    source: str
    target: str
    anchor: Anchor


@dataclass(frozen=True, slots=True)
class Hygiene:
    """Counts of the anchors that have each flaw; an anchor may have several."""

    counts: Mapping[Flaw, int]  # the count of anchors by flaw, every flaw included
    long: int  # the count of anchors of more than five words; they may be right
    # up to five anchors of each flaw that occurs, each with the URLs of its page, before, and of the target
    examples: Mapping[Flaw, Sequence[tuple[str, str, str]]]


def hygiene(
    site: Collected, proposed: Iterable[ProposedAnchor], brands: Mapping[str, Sequence[str]]
) -> Hygiene:
    """Look at each proposed anchor in the raw text of its page, and count what is wrong.

    Args:
        proposed: the links of a run with their first anchors; those without an anchor don't count.
        brands: the brands in the titles of each language, by language.
    """
    by_page: defaultdict[str, list[ProposedAnchor]] = defaultdict(list)
    for one in proposed:
        if one.anchor.text and one.source in site.rows:
            by_page[one.source].append(one)
    several = _several(one for some in by_page.values() for one in some if one.anchor.verbatim)
    inspector = _Inspector(site, brands, by_page)
    counts: Counter[Flaw] = Counter()
    examples: defaultdict[Flaw, list[tuple[str, str, str]]] = defaultdict(list)
    long = 0
    for source, some in by_page.items():
        page = site.page(source)
        for one, flaws in zip(some, inspector.flaws(page, some), strict=True):
            if one.anchor.verbatim and normalise(one.anchor.text) in several:
                flaws.add(Flaw.SEVERAL_TARGETS)
            counts.update(flaws)
            target = site.find(one.target)
            for flaw in flaws:
                if len(examples[flaw]) < EXAMPLES:
                    examples[flaw].append((page.url, one.anchor.text, target.url if target else one.target))
            long += one.anchor.verbatim and word_length(one.anchor.text, page.lang) > MOST_WORDS
    return Hygiene(
        {flaw: counts[flaw] for flaw in Flaw},
        long,
        {flaw: examples[flaw] for flaw in Flaw if flaw in examples},
    )


def _several(proposed: Iterable[ProposedAnchor]) -> set[str]:
    targets: defaultdict[str, set[str]] = defaultdict(set)
    for one in proposed:
        targets[normalise(one.anchor.text)].add(one.target)
    return {text for text, found in targets.items() if len(found) > 1}


class _Inspector:
    """Finds the flaws of the anchors of a page; one for a site."""

    def __init__(
        self,
        site: Collected,
        brands: Mapping[str, Sequence[str]],
        by_page: Mapping[str, Sequence[ProposedAnchor]],
    ) -> None:
        self._site = site
        self._brands = {
            language: [folded for brand in some if (folded := _spaced(brand)).strip()]
            for language, some in brands.items()
        }
        self._links: defaultdict[str, list[Span]] = defaultdict(list)
        self._anchors: defaultdict[str, set[str]] = defaultdict(set)
        for link in site.links:
            self._anchors[link.target].add(link.anchor)
            if link.source in by_page:
                self._links[link.source] += link_spans(str(site.page(link.source).content), link)
        self._stems_of: dict[str, set[str]] = {}
        self._names_with: dict[tuple[str, str, str], set[str]] = {}
        self._titles = {
            form
            for page in site.pages
            for name in (page.title, page.h1)
            for form in self._forms(normalise(name), page.lang)
            if form
        }
        self._repeated = _Repeated(site, by_page)
        self._templates = Templates(str(page.content) for page in site.pages)

    def _forms(self, name: str, language: str) -> Iterator[str]:
        """Yield a folded title as it is, and without each brand at its end."""
        yield name
        for brand in self._brands.get(language, ()):
            yield _without_end(f"{name} ", brand).rstrip(_SEPARATORS)

    def flaws(self, page: Page, proposed: Sequence[ProposedAnchor]) -> Iterator[set[Flaw]]:
        content = str(page.content)
        begins = sentences(content)
        links = self._links[page.key]
        closed = list(
            blocks(content, page.headings, closed=page.closed, links=links, templates=self._templates)
        )
        code = [(start, end) for kind, start, end in closed if kind is Block.CODE]
        inline = [place for place in code if content.startswith("`", place[0])]
        template = [(start, end) for kind, start, end in closed if kind is Block.TEMPLATE]
        other = [(start, end) for kind, start, end in closed if kind not in (Block.CODE, Block.TEMPLATE)]
        other += title_spans(content, self._titles)
        spans = [
            (one.anchor.start, one.anchor.start + len(one.anchor.text)) if one.anchor.verbatim else None
            for one in proposed
        ]
        within = [bisect_right(begins, span[0]) if span else 0 for span in spans]
        shared = Counter(within)
        for at, (one, span) in enumerate(zip(proposed, spans, strict=True)):
            found = set(self._of_words(page, one))
            if span is None:
                yield found & _OF_WORDS
                continue
            others = [other for place, other in enumerate(spans) if other and place != at]
            checks = (
                (Flaw.MISPLACED, not content.startswith(one.anchor.text, span[0])),
                (Flaw.OVERLAP, overlaps(span, others)),
                (Flaw.SENTENCE, shared[within[at]] > _PER_SENTENCE),
                # A name in a sentence may be code; a line of code holds no link.
                (Flaw.CODE, overlaps(span, code) and not (overlaps(span, inline) and self._is_named(one))),
                (Flaw.CUT, cuts(content, *span, page.lang)),
                (Flaw.LINKED, overlaps(span, links)),
                (Flaw.BLOCK, overlaps(span, other)),
                (Flaw.TEMPLATE, overlaps(span, template) or self._repeated.hold(content, begins, span)),
            )
            yield found | {flaw for flaw, true in checks if true}

    def _of_words(self, page: Page, one: ProposedAnchor) -> Iterator[Flaw]:
        """Yield the flaws that an anchor's words have wherever they stand."""
        text = one.anchor.text
        named = self._is_named(one)
        if "\n" in text or "\r" in text:
            yield Flaw.LINE_BREAK
        if unbalanced(text):
            yield Flaw.UNBALANCED
        if _CODE_NAME.search(text) and not named:
            yield Flaw.CODE
        if self._has_brand(one, page.lang):
            yield Flaw.BRAND
        stems = self._stems(one.target)
        if stems and not one.anchor.is_query and not stems & _stems(text, page.lang):
            yield Flaw.UNRELATED
        parts = [_NO_WORD.sub("", normalise(part)) for part in text.split()]
        ends = {*parts[:1], *parts[-1:]}
        if not named and not ends.isdisjoint(folded_stop_words(page.lang)):
            yield Flaw.END_WORD

    def _is_named(self, one: ProposedAnchor) -> bool:
        """Return whether the anchor is a name of the target: its title, H1, a query, or an anchor of editors."""
        if one.anchor.is_query:
            return True
        text = normalise(one.anchor.text.strip("`"))
        return any(normalise(name.strip("`")) == text for name in self._names(one.target))

    def _names(self, target: str) -> Iterator[str]:
        page = self._site.find(target)
        if page:
            yield from (name for name in (page.title, page.h1) if name)
        if query := self._site.queries.get(target):
            yield query
        yield from (anchor for anchor in self._anchors.get(target, ()) if anchor)

    def _stems(self, target: str) -> set[str]:
        if target not in self._stems_of:
            self._stems_of[target] = self._found_stems(target)
        return self._stems_of[target]

    def _found_stems(self, target: str) -> set[str]:
        page = self._site.find(target)
        language = page.lang if page else ""
        slug = unquote(urlsplit(target).path.rstrip("/").rpartition("/")[2])
        parts = _WORD.findall(slug.rpartition(".")[0] or slug)
        brands = self._brands.get(language, ())
        own = [
            min((_without_end(_spaced(name), brand) for brand in brands), key=len, default=name)
            for name in self._names(target)
        ]
        names = [*own, " ".join(parts), "".join(parts)]
        return {each for name in names for each in _stems(name, language)}

    def _has_brand(self, one: ProposedAnchor, language: str) -> bool:
        """Return whether the anchor has a brand, or only words of one, that are not in the target's own name.

        The home page may be called by the brand, and so may the only other page that has it in its name.
        """
        text = _spaced(one.anchor.text)
        telling = set(text.split()) - folded_stop_words(language)
        for brand in self._brands.get(language, ()):
            alone = bool(telling) and telling <= set(brand.split())
            if (brand not in text and not alone) or _is_home(one.target):
                continue
            named = self._named_with(language, brand, text if alone else brand)
            if one.target not in named or (text == brand and len(named) > 1):
                return True
        return False

    def _named_with(self, language: str, brand: str, phrase: str) -> set[str]:
        """Return the pages of a language whose title or H1, without the brand at its end, has a phrase."""
        key = language, brand, phrase
        if key not in self._names_with:
            self._names_with[key] = {
                page.key
                for page in self._site.pages
                for name in (page.title, page.h1)
                if page.lang == language and phrase in _without_end(_spaced(name), brand)
            }
        return self._names_with[key]


class _Repeated:
    """The sentences and blocks of words around proposed anchors that many pages of the site have."""

    def __init__(self, site: Collected, by_page: Mapping[str, Sequence[ProposedAnchor]]) -> None:
        wanted: set[tuple[str, ...]] = set()
        for source, some in by_page.items():
            content = str(site.page(source).content)
            begins = sentences(content)
            for one in some:
                if one.anchor.verbatim:
                    span = (one.anchor.start, one.anchor.start + len(one.anchor.text))
                    wanted.update(_runs(content, begins, span))
        counts: Counter[tuple[str, ...]] = Counter()
        for page in site.pages if wanted else ():
            counts.update(wanted.intersection(_all_runs(str(page.content))))
        most = max(_FEW_PAGES, _SHARE * len(site.pages))
        self._common = {run for run, count in counts.items() if count >= most}

    def hold(self, content: str, begins: Sequence[int], span: Span) -> bool:
        """Return whether the sentence of a span, or a block of eight words with a part of it, is a template's."""
        return bool(self._common) and not self._common.isdisjoint(_runs(content, begins, span))


def _runs(content: str, begins: Sequence[int], span: Span) -> Iterator[tuple[str, ...]]:
    """Yield the sentence around a span, and the blocks of eight words that meet it."""
    at = bisect_right(begins, span[0])
    last = begins[at] if at < len(begins) else len(content)
    if len(whole := tuple(content[begins[at - 1] : last].split())) >= _LEAST_SENTENCE:
        yield whole
    first, last = span
    while first and not content[first - 1].isspace():
        first -= 1
    while last < len(content) and not content[last].isspace():
        last += 1
    before, after = content[max(0, first - _ROOM) : first].split(), content[last : last + _ROOM].split()
    around = [*before[1 - _BLOCK :], *content[first:last].split(), *after[: _BLOCK - 1]]
    yield from (tuple(around[first : first + _BLOCK]) for first in range(len(around) - _BLOCK + 1))


def _all_runs(content: str) -> Iterator[tuple[str, ...]]:
    begins = sentences(content)
    for first, last in zip(begins, [*begins[1:], len(content)], strict=True):
        yield tuple(content[first:last].split())
    every = content.split()
    yield from (tuple(every[first : first + _BLOCK]) for first in range(len(every) - _BLOCK + 1))


def _spaced(text: str) -> str:
    """Return the folded words of a text with a space before, between and behind them."""
    return f" {' '.join(_WORD.findall(normalise(text)))} "


def _without_end(name: str, brand: str) -> str:
    return name if name == brand else name.removesuffix(brand) + " "


def _is_home(target: str) -> bool:
    return (
        re.fullmatch(r"/?(?:[a-z]{2}(?:-[a-zA-Z]{2,4})?/?)?(?:index\.\w+)?", urlsplit(target).path)
        is not None
    )


def _stems(text: str, language: str) -> set[str]:
    found = words(text) or _WORD.findall(normalise(text))
    telling = [word for word in found if word not in folded_stop_words(language)] or found
    return {stem(word, language) for word in telling}
