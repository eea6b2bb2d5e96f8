"""Anchors for proposed links: where in the source's text, and with which words."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import TypeVar

import numpy as np

from internal_linker.anchors.keyphraseness import Habits
from internal_linker.anchors.scoring import Text, best_place, best_spans, wording
from internal_linker.anchors.target_phrases import Rarity, wanted
from internal_linker.core.arrays import Bools
from internal_linker.core.edges import Anchor
from internal_linker.core.records import Collected, ExistingLink, Page, fold_query
from internal_linker.text.phrases import MOST_WORDS, Phrases, Reader, TargetPhrases
from internal_linker.text.sentences import around, paragraphs, sentences
from internal_linker.text.spans import spans
from internal_linker.text.words import normalise

T = TypeVar("T")
# Anchors to propose per link.
ANCHORS = 3
# Links to one page with one wording, over the whole site, as long as the text has another wording.
REPEATS = 3
# On a site of any size, this many pages suffice to learn how rare words are and how editors link.
_SAMPLE = 5_000
# Existing anchors that count as names of a page, the most common first: rare ones are hardly names.
_MANY = 64
# Characters to search for links on one page: for example, 300,000 characters for 1,000 links.
_MOST_SEARCHED = 300_000_000


class Anchoring:
    """Finds anchors for links between the pages of a site; can be pickled.

    Args:
        site: the pages, their existing links, and the main queries.
    """

    def __init__(self, site: Collected) -> None:
        self._site = site
        self._links: defaultdict[str, list[ExistingLink]] = defaultdict(list)
        self._known: defaultdict[str, list[ExistingLink]] = defaultdict(list)
        for link in site.links:
            self._links[link.source].append(link)
            if link.anchor:
                self._known[link.target].append(link)
        self._reader = Reader(normalise)
        self._wanted: dict[str, bytes] = {}

    # These read many pages, so they wait until an anchor is needed: most runs need few.
    @cached_property
    def _rarity(self) -> Rarity:
        return Rarity.of(self._read(page) for page in _spread(self._site.pages, _SAMPLE))

    @cached_property
    def _habits(self) -> Habits:
        return self._learned(lambda key: True)

    def knowing(self, taught_by: Callable[[str], bool]) -> "Anchoring":
        """Return a copy that learns editors' habits only from pages whose keys `taught_by` accepts."""
        other = object.__new__(Anchoring)
        other.__dict__ = {**self.__dict__, "_habits": self._learned(taught_by)}
        return other

    def propose(
        self, source: str, targets: Sequence[str], said: Sequence[str] = ()
    ) -> list[tuple[Anchor, ...]]:
        """Return up to three anchors for each target of a page, best first; pages are named by their keys.

        A link to an unknown page has no anchor. If no phrase of the text fits a target, its only anchor is not
        `verbatim`: the target's title, and the paragraph that fits best. No wording comes twice, and none is in
        `said`, the anchors of the page's other links.
        """
        page = self._site.page(source)
        text = self._text(page, self._links.get(source, ()))
        taken = {self._reader.read(one, page.lang).words.tobytes() for one in said}
        return [self._anchors(text, page.lang, target, self._target(target), taken) for target in targets]

    def propose_unlinked(self, source: str, target: str) -> tuple[Anchor, ...]:
        """Return anchors for an existing link as if it did not exist: its own text is not a known anchor."""
        page = self._site.page(source)
        others = [link for link in self._links.get(source, ()) if link.target != target]
        return self._anchors(self._text(page, others), page.lang, target, self._names(target, source), set())

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

    def variety(self) -> "Variety":
        """Return a `Variety` that starts with the anchors of the existing links."""
        known = ((target, link.anchor) for target, links in self._known.items() for link in links)
        used = Counter((target, fold_query(anchor)) for target, anchor in known)
        return Variety(self.propose, self.placed, used)

    def taken(self, source: str) -> list[tuple[int, int]]:
        """Return the spans (start, end) of links and headings in a page's plain main content: anchors avoid them."""
        page = self._site.page(source)
        return _taken(page, str(page.content), self._links.get(source, ()))

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

    def _anchors(
        self, source: "_Source", language: str, target: str, aim: TargetPhrases, said: set[bytes]
    ) -> tuple[Anchor, ...]:
        found = best_spans(source.text, aim, ANCHORS, said) if target in self._site.rows else []
        if not found:
            return self._titled(source, language, target, aim, said)
        said.update(wording(source.text, span) for span in found)
        starts, ends = source.text.phrases.starts, source.text.phrases.ends
        places = [(int(starts[first]), int(ends[last])) for first, last in found]
        content, begins = source.content, source.sentences
        return tuple(Anchor(content[at:end], around(content, begins, at, end), at) for at, end in places)

    def _titled(
        self, source: "_Source", language: str, target: str, aim: TargetPhrases, said: set[bytes]
    ) -> tuple[Anchor, ...]:
        """Return the target's title as an anchor, with the paragraph to write it in."""
        page = self._site.find(target)
        named = (page.title or page.h1 if page else "") or self._site.queries.get(target, "")
        title = short_title(named, self._reader.read(named, language))
        key = self._reader.read(title, language).words.tobytes()  # as `wording` has it
        if not title or key in said:
            return ()
        said.add(key)
        begins = source.paragraphs
        best = best_place(source.text, aim, np.array(begins))
        paragraph = around(source.content, begins, begins[best], begins[best] + 1)
        return (Anchor(title, paragraph, begins[best], verbatim=False),)

    def _text(self, page: Page, links: Iterable[ExistingLink]) -> "_Source":
        content = str(page.content)
        phrases = self._reader.read(content, page.lang)
        covered = _covered(phrases, _taken(page, content, links))
        return _Source(content, Text(phrases, covered, self._habits(phrases)))

    def _target(self, target: str) -> TargetPhrases:
        if target not in self._wanted:
            self._wanted[target] = self._names(target).packed()
        return TargetPhrases.unpacked(self._wanted[target])

    def _names(self, target: str, without: str = "") -> TargetPhrases:
        """Return what an anchor for a page should say; links from the source `without` do not count."""
        page = self._site.find(target) or Page(target, target)
        known = Counter(link.anchor for link in self._known.get(target, ()) if link.source != without)
        titles = dict.fromkeys((page.title, page.h1, self._site.queries.get(target, "")))
        names = [(self._reader.read(title, page.lang), 1.0) for title in titles if title]
        most = np.log1p(max(known.values(), default=1))
        names += [
            (self._reader.read(anchor, page.lang), float(np.log1p(count) / most))
            for anchor, count in known.most_common(_MANY)
        ]
        return wanted(names, self._read(page), self._rarity)

    def _learned(self, taught_by: Callable[[str], bool]) -> Habits:
        sources = [key for key in self._links if key in self._site.rows and taught_by(key)]
        return Habits.of(self._linked(self._site.page(key)) for key in _spread(sources, _SAMPLE))

    def _linked(self, page: Page) -> tuple[Phrases, Bools]:
        content, phrases = str(page.content), self._read(page)
        return phrases, _covered(phrases, _linked_places(content, self._links[page.key]))

    def _read(self, page: Page) -> Phrases:
        return self._reader.read(str(page.content), page.lang)


@dataclass(frozen=True)
class Variety:
    """Implements `ports.Anchors` with varied anchors.

    Attributes:
        propose: see `Anchoring.propose`.
        placed: see `Anchoring.placed`.
        used: count of links by target and wording; `varied` adds to it.
    """

    propose: Callable[..., Sequence[tuple[Anchor, ...]]]
    placed: Callable[[str, str], Anchor]
    used: Counter[tuple[str, str]]

    def settled(self, anchors: tuple[Anchor, ...]) -> bool:
        """Return True: equal texts give equal anchors."""
        return True

    def varied(self, target: str, anchors: tuple[Anchor, ...], own: str = "") -> tuple[Anchor, ...]:
        """Return the anchors with one first that is not overused, if any; count it, or the editor's `own` anchor."""
        fresh = [at for at, one in enumerate(anchors) if self.used[target, fold_query(one.text)] < REPEATS]
        if fresh:
            anchors = (anchors[fresh[0]], *anchors[: fresh[0]], *anchors[fresh[0] + 1 :])
        if said := own or (anchors[0].text if anchors else ""):
            self.used[target, fold_query(said)] += 1
        return anchors


@dataclass(frozen=True)
class _Source:
    """A source's plain main content, as it is and prepared for the search for anchors."""

    content: str
    text: Text

    @cached_property
    def sentences(self) -> list[int]:
        return sentences(self.content)

    @cached_property
    def paragraphs(self) -> list[int]:
        return paragraphs(self.content)


def link_places(content: str, link: ExistingLink) -> list[tuple[int, int]]:
    """Return the spans (start, end) that may be a link: its known position, else each match of its anchor."""
    if not link.anchor:
        return []
    if link.start >= 0 and content.startswith(link.anchor, link.start):
        return [(link.start, link.start + len(link.anchor))]
    # Most links in menus and the like aren't in the content: skip compiling a pattern for them.
    if not all(word in content for word in link.anchor.split()):
        return []
    found = spans(content, link.anchor)
    return [place for place in found if place[0] == link.start] or found


def _linked_places(content: str, links: Iterable[ExistingLink]) -> Iterator[tuple[int, int]]:
    """Yield the spans where a page's links may be in its text; in a huge text, only for its first links."""
    for link in islice(links, _MOST_SEARCHED // max(1, len(content))):
        yield from link_places(content, link)


def _taken(page: Page, content: str, links: Iterable[ExistingLink]) -> list[tuple[int, int]]:
    return [*_linked_places(content, links), *heading_places(content, page.headings)]


def heading_places(content: str, headings: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the spans (start, end) of headings in a text: lines with these numbers, and Markdown headings."""
    marked, start = frozenset(headings), 0
    if not marked and "#" not in content:
        return
    for number, line in enumerate(content.split("\n")):
        if number in marked or (line.startswith("#") and line.lstrip("#").startswith(" ")):
            yield start, start + len(line)
        start += len(line) + 1


def short_title(title: str, words: Phrases) -> str:
    """Return the main part of a title: at most 8 words, without function words at its ends."""
    telling = np.flatnonzero(~words.stops)
    if not len(telling):
        return " ".join(title.split()[:MOST_WORDS])
    # The part with fewer stems, or the later part, is usually the site's name.
    part = int(np.argmax(np.bincount(words.segments[words.owners])))
    within = telling[words.segments[telling] == part]
    first = int(within[0])
    last = int(within[within < first + MOST_WORDS][-1])
    return title[words.starts[first] : words.ends[last]]


def _covered(phrases: Phrases, places: Iterable[tuple[int, int]]) -> Bools:
    """Return (n,) whether each word overlaps one of the spans."""
    covered = np.zeros(len(phrases.starts), np.bool_)
    for start, end in places:
        first = np.searchsorted(phrases.ends, start, side="right")
        covered[first : np.searchsorted(phrases.starts, end)] = True
    return covered


def _spread(items: Sequence[T], most: int) -> Iterator[T]:
    """Yield all items, or at most `most` of them, evenly spread."""
    return islice(items, 0, None, max(1, -(-len(items) // most)))
