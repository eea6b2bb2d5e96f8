"""Anchors for proposed links: where in the source's text, and with which words."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain, islice
from typing import Any, TypeVar

import numpy as np

from internal_linker.anchors.comparison import Candidates, Comparison
from internal_linker.anchors.features import SourceFeatures
from internal_linker.anchors.keyphraseness import Habits, Span
from internal_linker.anchors.link_places import covered, link_places, linked_places, words_in
from internal_linker.anchors.model import anchor_model
from internal_linker.anchors.name_table import NameTable
from internal_linker.anchors.page_words import KeptWords, PageWords
from internal_linker.anchors.rules import allowed, completed, natural, written
from internal_linker.anchors.site_names import NameCounts, Owners
from internal_linker.anchors.site_words import SiteWords
from internal_linker.anchors.source_page import Phrase, SourcePage, UsedWordings
from internal_linker.anchors.source_text import SourceText
from internal_linker.anchors.target_names import PARTS, Kind, TargetNames, target_names
from internal_linker.anchors.variety import ProposeEach, Variety
from internal_linker.core.arrays import Bools, Ints, Vectors
from internal_linker.core.edges import Anchor
from internal_linker.core.ports import Wanted
from internal_linker.core.records import Collected, ExistingLink, Page, fold_query
from internal_linker.text.blocks import Templates, closed_spans
from internal_linker.text.brands import found_brands, without_brands
from internal_linker.text.phrases import Hashes, Phrases, Reader
from internal_linker.text.sentences import around, sentences
from internal_linker.text.spans import spans
from internal_linker.text.words import normalise

T = TypeVar("T")
# Anchors to propose per link.
ANCHORS = 3
# The least quality of an anchor: of 166 above it, 86% were found publishable, and of 112 below it 36%.
LEAST_QUALITY = 0.6
# The highest quality of a phrase that is not a natural anchor: two readers accepted 19% of 95 such phrases.
UNNATURAL = 0.19
# On a site of any size, this many pages suffice to learn how rare words are and how editors link.
_SAMPLE = 5_000
# Targets whose names are kept, 75 MB: each page is the target of about ten others, and to read it takes as long as to
# compare a text with it.
_MOST_TARGETS = 10_000
# What an `Anchoring` counts on the pages.
_LASTING = (
    "_words", "_counts", "_habits", "_templates", "_brands", "_brand_stems", "_site_name", "_owners", "_sole_owners",
)  # fmt: skip
# What is counted in a language that the sample lacks.
_NO_COUNTS = NameCounts.of((), (), ())
_NO_OWNERS = Owners.of((), (), ())
# Words of a text times the targets that it is compared with at once: 20 MB.
MOST_COMPARED = 50_000


class Anchoring:
    """Finds anchors for links between the pages of a site; can be pickled.

    Args:
        site: the pages, their existing links, and the main queries.
        words: the words of texts that an earlier run read.
    """

    def __init__(self, site: Collected, words: KeptWords | None = None) -> None:
        self._site = site
        self._links: Mapping[str, Sequence[ExistingLink]] = site.links_from
        self._known = site.anchored_to
        self._reader = Reader(normalise)
        self.page_words = PageWords(self._reader, words)
        self._targets: dict[str, TargetNames] = {}
        self._resumed = False

    @property
    def counted(self) -> bool:
        """Whether something was counted on the pages."""
        return not self._resumed and any(name in vars(self) for name in _LASTING)

    def lasting(self) -> dict[str, Any]:
        """Return all that is counted on the pages, to be pickled: see `resume`."""
        return {name: getattr(self, name) for name in _LASTING}

    def resume(self, counted: Mapping[str, Any]) -> None:
        """Take what another `Anchoring` for the same pages counted."""
        self._resumed = True
        vars(self).update(counted)

    def hosting(self, site: Collected, planned: str, links: Sequence[ExistingLink]) -> "Anchoring":
        """Return what finds anchors for a page that does not exist yet, too, by what is counted on the site's pages.

        Args:
            site: the same site with the planned page.
            planned: its key.
        """
        other = object.__new__(Anchoring)
        other.__dict__ = {**self.__dict__, **self.lasting()}
        other._site = site
        other._links = {**self._links, planned: links}
        # Another planned page may have the same key.
        other.page_words, other._targets = PageWords(self._reader), {}
        return other

    # These read many pages, so they wait until an anchor is needed: most runs need few.
    @cached_property
    def _words(self) -> SiteWords:
        return SiteWords.of(self._read(page) for page in _spread(self._site.pages, _SAMPLE))

    @cached_property
    def _counts(self) -> dict[str, NameCounts]:
        by_language = defaultdict[str, list[Page]](list)
        for page in _spread(self._site.pages, _SAMPLE):
            by_language[page.lang].append(page)
        return {
            language: NameCounts.of(
                ([self._reader.stems(name, language) for name in self._titles(page)] for page in pages),
                (name for name, _ in self._anchors(language)),
                (self._read(page) for page in pages),
            )
            for language, pages in by_language.items()
        }

    @cached_property
    def _habits(self) -> Habits:
        return self._learned(lambda key: True)

    @cached_property
    def _templates(self) -> Templates:
        return Templates(str(page.content) for page in self._site.pages)

    @cached_property
    def _brands(self) -> list[str]:
        return found_brands([page.title for page in self._site.pages])

    @cached_property
    def _brand_stems(self) -> list[Hashes]:
        found = (np.unique(self._reader.read(brand, "").stems) for brand in self._brands)
        return [stems for stems in found if len(stems)]

    @cached_property
    def _site_name(self) -> Hashes:
        """The sorted stems of the site's name, by its titles and its host."""
        hosts = Counter(page.key.partition("://")[2].partition("/")[0] for page in self._site.pages)
        host = max(sorted(hosts), key=hosts.__getitem__, default="")
        label = max(host.removeprefix("www.").split(".")[:-1], key=len, default="")
        names = [self._reader.read(name, "") for name in (*self._brands, label, host)]
        return np.unique(np.concatenate([np.empty(0, np.uint32), *(name.stems for name in names)]))

    @cached_property
    def _owners(self) -> dict[str, Owners]:
        """Which page each name belongs to, by language: pages of another one are no competitors."""
        return {
            language: Owners.of(
                ((self._reader.stem_set(name, language), row) for name, row in names),
                (
                    (self._reader.stem_set(part, language), row)
                    for name, row in names
                    for part in PARTS.split(name)
                ),
                self._anchors(language),
            )
            for language, names in self._named.items()
        }

    @cached_property
    def _sole_owners(self) -> Owners:
        """Which page each whole name belongs to, as the only one of the site."""
        languages = list(self._named)
        titles = (
            (self._reader.stem_set(name, each), row) for each in languages for name, row in self._named[each]
        )
        return Owners.of(titles, (), chain.from_iterable(map(self._anchors, languages)))

    @cached_property
    def _named(self) -> dict[str, list[tuple[str, int]]]:
        """The titles, H1s and main queries of the pages of each language, with the pages' rows."""
        named = defaultdict[str, list[tuple[str, int]]](list)
        for row, page in enumerate(self._site.pages):
            names = dict.fromkeys((*self._titles(page), self._site.queries.get(page.key, "")))
            named[page.lang] += [(name, row) for name in names if name]
        return named

    def _anchors(self, language: str) -> Iterator[tuple[int, int]]:
        """Yield the set of stems of the anchor of each known link to a page of a language, with the page's row."""
        for target, links in self._known.items():
            page = self._site.find(target)
            if page and page.lang == language:
                yield from (
                    (self._reader.stem_set(link.anchor, language), self._site.rows[target]) for link in links
                )

    def knowing(self, taught_by: Callable[[str], bool]) -> "Anchoring":
        """Return a copy that learns editors' habits only from pages whose keys `taught_by` accepts."""
        other = object.__new__(Anchoring)
        other.__dict__ = {**self.__dict__, "_habits": self._learned(taught_by)}
        return other

    def propose(
        self, source: str, targets: Sequence[str], said: Sequence[Anchor] = ()
    ) -> list[tuple[Anchor, ...]]:
        """Return up to three anchors for each target of a page, best first; pages are named by their keys.

        A link to an unknown page has no anchor. If no phrase of the text fits a target, its only anchor is not
        `verbatim`: the target's title, and the paragraph that fits best. No wording comes twice, and none is in
        `said`, the anchors of the page's other links.
        """
        page = self._site.page(source)
        text = self._text(page, self._links.get(source, ()))
        used = UsedWordings()
        for one in said:
            used.add(one, text)
        found = self._phrases(text, targets)
        # The first anchors of all links come before any second one, so that each link gets a sentence of its own.
        best = [used.take(phrases, 1) for phrases in found]
        more = [
            used.take(phrases, ANCHORS - 1) if first else []
            for phrases, first in zip(found, best, strict=True)
        ]
        titled = iter(
            self._titled(text, [each for each, first in zip(targets, best, strict=True) if not first], used)
        )
        return [
            (*first, *others) if first else next(titled) for first, others in zip(best, more, strict=True)
        ]

    def propose_unlinked(self, source: str, target: str) -> tuple[Anchor, ...]:
        """Return anchors for an existing link as if it did not exist: its own text is not a known anchor.

        They include phrases below `LEAST_QUALITY`, which `propose` leaves out.
        """
        used = UsedWordings()
        text, names = self._unlinked(source, target)
        found = [iter(())] if target not in self._site.rows else self._of_language(text, {target: names}, 0.0)
        return tuple(used.take(found[0], ANCHORS)) or next(self._titled(text, [target], used))

    def studied(self, source: str, target: str) -> tuple[SourceText, Candidates, Vectors]:
        """Return what the model learns from as if a link did not exist: a page's text, its phrases, their features."""
        text, names = self._unlinked(source, target)
        compared = Comparison(text.features, [names])
        ok = np.ones(len(compared.phrases.of), np.bool_)
        self._allow(text.text, [target], compared, ok)
        return text.text, compared.phrases.at(ok), compared.features(ok)

    def quality(self, source: str, target: str, anchor: Anchor) -> float:
        """Return how likely an editor is to accept an anchor in a page's text, 0 to 1; 0 if a rule forbids it."""
        text = self._text(self._site.page(source), self._links.get(source, ()))
        for phrase in self._phrases(text, [target])[0]:
            if phrase.anchor.start == anchor.start and phrase.anchor.text == anchor.text:
                return phrase.anchor.quality
        return 0.0

    def propose_all(
        self, links: Iterable[tuple[str, Sequence[str]]]
    ) -> Iterator[tuple[str, list[tuple[Anchor, ...]]]]:
        """Yield each source, in the given order, with anchors for its targets, varied over the whole site.

        No wording comes first for one target more than three times if the text has another; the anchors of
        existing links count.
        """
        variety = self.variety()
        for source, targets in links:
            found = zip(targets, self.propose(source, targets), strict=True)
            yield source, [variety.varied(target, anchors) for target, anchors in found]

    def variety(self, each: ProposeEach | None = None) -> Variety:
        """Return a `Variety` that starts with the anchors of the existing links.

        Args:
            each: does the same as `propose` for many pages, in other processes; None: this process does it.
        """
        return Variety(each or self.propose_each, self.placed, self.title, self.quality, self._known_anchors)

    def _known_anchors(self, page: str) -> list[str]:
        return [link.anchor for link in self._known.get(page, ())]

    def propose_each(self, wanted: Iterable[Wanted]) -> Iterator[Sequence[tuple[Anchor, ...]]]:
        """Yield the anchors of each page as `propose` finds them; see `ports.Anchors`."""
        return (self.propose(*one) if one[1] else () for one in wanted)

    def taken(self, source: str) -> list[tuple[int, int]]:
        """Return the spans (start, end) of a page's plain main content that anchors avoid: links, headings, code..."""
        page = self._site.page(source)
        return self._taken(page, str(page.content), self._links.get(source, ()))

    def title(self, page: str) -> str:
        """Return a page's title or H1; "" for an unknown page."""
        found = self._site.find(self._site.hosts.restored(page))
        return (found.title or found.h1) if found else ""

    def placed(self, source: str, text: str) -> Anchor:
        """Return a text as an anchor where it stands in a page, outside links and headings if possible.

        It is not `verbatim` if it is only in a link or a heading, or nowhere; in the latter case its sentence is "".
        Nobody knows of a page without a text: there it counts as `verbatim`.
        """
        page = self._site.find(self._site.hosts.restored(source))
        content = str(page.content) if page else ""
        if page is None or not content:
            return Anchor(text)
        words, folded = text.split(), content.casefold()
        # Compiling a pattern takes longer than most searches.
        found = spans(content, " ".join(words)) if all(word.casefold() in folded for word in words) else []
        taken = self.taken(page.key) if found else []
        free = [one for one in found if all(one[1] <= start or end <= one[0] for start, end in taken)]
        if not found:
            return Anchor(text, verbatim=False)
        start, end = (free or found)[0]
        return Anchor(text, around(content, sentences(content), start, end), start, verbatim=bool(free))

    def places(self, source: str, target: str) -> list[tuple[int, int]]:
        """Return the spans (start, end) in a page's plain main content that may be its links to another page."""
        content = str(self._site.page(source).content)
        links = [link for link in self._links.get(source, ()) if link.target == target]
        return [place for link in links for place in link_places(content, link)]

    def _phrases(self, source: SourcePage, targets: Sequence[str]) -> list[Iterator[Phrase]]:
        """Return the phrases of a text that may be anchors for each target, the most fitting first."""
        found: dict[str, Iterator[Phrase]] = {}
        by_language = defaultdict[str, list[str]](list)
        for target in dict.fromkeys(targets):
            if target in self._site.rows:
                by_language[self._site.page(target).lang].append(target)
        for some in chain.from_iterable(self._portions(source, each) for each in by_language.values()):
            names = {target: self._target(target) for target in some}
            found.update(zip(some, self._of_language(source, names), strict=True))
        return [found.get(target, iter(())) for target in targets]

    def _of_language(
        self, source: SourcePage, targets: Mapping[str, TargetNames], least: float = LEAST_QUALITY
    ) -> list[Iterator[Phrase]]:
        """Return the phrases of a text for targets of one language, each with its names; those of `least` quality."""
        text, model, keys = source.text, anchor_model(), list(targets)
        compared = Comparison(source.features, list(targets.values()))
        # An anchor of good quality is a natural one, and the features of phrases take time.
        only_natural = least > UNNATURAL
        ok = compared.phrases.whole.copy() if only_natural else np.ones(len(compared.phrases.of), np.bool_)
        found = self._allow(text, keys, compared, ok)
        language = self._site.page(keys[0]).lang
        is_natural = natural(
            compared,
            found,
            pages=self._rows(keys),
            owners=self._owners.get(language, _NO_OWNERS),
            spans=source.named_spans,
            counts=self._counts.get(language, _NO_COUNTS),
        )
        if only_natural:
            ok[ok] = is_natural
            found, is_natural = found.at(is_natural), is_natural[is_natural]
        if not ok.any():
            return [iter(()) for _ in keys]
        features = compared.features(ok)
        quality = model.quality(features)
        quality = np.where(is_natural, quality, np.minimum(quality, UNNATURAL))
        as_written = written(text, compared.names, found)
        is_title = (as_written & (compared.names.kinds[found.of] == Kind.TITLE)).any(axis=1)
        order = np.lexsort((-model.choice(features), ~is_title))
        order = order[quality[order] >= least]
        starts, ends = text.phrases.starts[found.first], text.phrases.ends[found.last]
        return [
            (
                source.phrase(int(starts[at]), int(ends[at]), float(quality[at]))
                for at in order[found.of[order] == number].tolist()
            )
            for number in range(len(keys))
        ]

    def _allow(self, text: SourceText, targets: Sequence[str], compared: Comparison, ok: Bools) -> Candidates:
        """Return those of the phrases that are `ok` and obey the rules, complete; change `ok` to these phrases."""
        found = compared.phrases.at(ok)
        ok[ok] = is_allowed = allowed(
            text,
            compared.names,
            found,
            pages=self._rows(targets),
            owners=self._owners.get(self._site.page(targets[0]).lang, _NO_OWNERS),
            sole=self._sole_owners,
            site_name=self._site_name,
            brands=self._brand_stems,
        )
        found = found.at(is_allowed)
        first, last = completed(text, compared.names, found)
        ok[ok] = whole = last >= 0
        return replace(found, first=first, last=last).at(whole)

    def _rows(self, targets: Sequence[str]) -> Ints:
        return np.array([self._site.rows[target] for target in targets])

    def _unlinked(self, source: str, target: str) -> tuple[SourcePage, TargetNames]:
        others = [link for link in self._links.get(source, ()) if link.target != target]
        return self._text(self._site.page(source), others), self._names(target, source)

    def _titled(
        self, source: SourcePage, targets: Sequence[str], used: UsedWordings
    ) -> Iterator[tuple[Anchor, ...]]:
        """Yield the title of each target as an anchor, with the paragraph to write it in."""
        known = [target for target in targets if target in self._site.rows]
        fitting = dict(zip(known, self._paragraphs(source, known), strict=True))
        for target in targets:
            page = self._site.find(target)
            named = next(filter(None, self._titles(page) if page else ()), "") or self._site.queries.get(
                target, ""
            )
            title = " ".join(named.split())
            if not title or fold_query(title) in used.texts:
                yield ()
                continue
            used.texts.add(fold_query(title))
            begin = fitting.get(target, 0)
            paragraph = around(source.text.text, source.paragraphs.begins, begin, begin + 1)
            yield (Anchor(title, paragraph, begin, verbatim=False, quality=0.0),)

    def _paragraphs(self, source: SourcePage, targets: Sequence[str]) -> Iterator[int]:
        """Yield where the paragraph begins that fits a link to each target best."""
        for some in self._portions(source, targets):
            best = source.paragraphs.best(NameTable([self._target(target) for target in some]))
            yield from (source.paragraphs.begins[at] for at in best)

    def _portions(self, source: SourcePage, targets: Sequence[str]) -> Iterator[Sequence[str]]:
        """Yield the targets in portions, so that a comparison with a long text takes little memory."""
        most = max(1, MOST_COMPARED // max(1, len(source.text.closed)))
        return (targets[at : at + most] for at in range(0, len(targets), most))

    def _titles(self, page: Page) -> tuple[str, str]:
        """Return a page's title and H1 without the site's brand."""
        return without_brands(page.title, self._brands), without_brands(page.h1, self._brands)

    def _text(self, page: Page, links: Iterable[ExistingLink]) -> SourcePage:
        content = str(page.content)
        phrases = self._read(page)
        closed = covered(phrases, self._taken(page, content, links))
        title = self._reader.read(page.title, page.lang)
        text = SourceText(content, phrases, closed, title)
        return SourcePage(text, self._features, self._owners.get(page.lang, _NO_OWNERS))

    def _features(self, text: SourceText) -> SourceFeatures:
        return SourceFeatures(text, self._words, self._habits)

    def _taken(self, page: Page, content: str, links: Iterable[ExistingLink]) -> list[tuple[int, int]]:
        linked = list(linked_places(content, links))
        blocks = closed_spans(
            content, page.headings, closed=page.closed, links=linked, templates=self._templates
        )
        return [*linked, *blocks]

    def _target(self, target: str) -> TargetNames:
        if target not in self._targets:
            if len(self._targets) >= _MOST_TARGETS:
                self._targets.clear()
            self._targets[target] = self._names(target)
        return self._targets[target]

    def _names(self, target: str, without: str = "") -> TargetNames:
        """Return what an anchor for a page can say; links from the source `without` do not count."""
        page = self._site.find(target) or Page(target, target)
        title, h1 = self._titles(page)
        return target_names(
            page,
            self._read(page),
            title=title,
            h1=h1,
            query=self._site.queries.get(target, ""),
            known=Counter(link.anchor for link in self._known.get(target, ()) if link.source != without),
            reader=self._reader,
            words=self._words,
        )

    def _learned(self, taught_by: Callable[[str], bool]) -> Habits:
        sources = [key for key in self._links if key in self._site.rows and taught_by(key)]
        return Habits.of(self._linked(self._site.page(key)) for key in _spread(sources, _SAMPLE))

    def _linked(self, page: Page) -> tuple[Phrases, list[Span]]:
        content, phrases = str(page.content), self._read(page)
        places = dict.fromkeys(
            place for link in self._links[page.key] for place in link_places(content, link)[:1]
        )
        return phrases, [span for place in places if (span := words_in(phrases, *place))]

    def _read(self, page: Page) -> Phrases:
        return self.page_words.of(page)


def _spread(items: Sequence[T], most: int) -> Iterator[T]:
    """Yield all items, or at most `most` of them, evenly spread."""
    return islice(items, 0, None, max(1, -(-len(items) // most)))
