"""Accepted links put into a text: one at its anchor with nothing else changed, and those of a page up to a limit."""

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import accumulate

from internal_linker.model.source_files import Markup
from internal_linker.model.wordings import addition
from internal_linker.publish.html import read_html
from internal_linker.publish.markdown import read_markdown
from internal_linker.publish.passages import (
    LAST_IN_SENTENCE,
    Document,
    Folded,
    Mark,
    Passage,
    Piece,
    Span,
    UnreadableText,
    all_places,
    folded,
    folded_places,
    occurrences,
)


@dataclass(frozen=True)
class Placement:
    """An accepted link on its way into a text."""

    target: str  # the target's full URL
    # How the text writes the link to the target: a URL, a path, or a template such as `{{< ref "a.md" >}}`
    href: str
    anchor: str  # the accepted anchor, as readers see it
    sentence: str  # the sentence in which the anchor was accepted, as readers see it; empty if none is known
    leads_to_target: Callable[[str], bool]  # whether an `href` of the same text leads to the target
    wording: str = ""  # the sentence with the words that are to be added and have the anchor; empty for none


class Refusal(StrEnum):
    """Why a text stays as it is; the value is the sentence that people read."""

    LINKED = "the page already links to the target"
    NO_ANCHOR = "the anchor is not in the text"
    NOT_BODY = "the anchor is only in links, headings, code, captions or templates"
    UNCERTAIN = (
        "uncertain, as the crawl had no markup: the anchor is only in links, headings, code or the like"
    )
    NO_OWN_TEXT = "the link has no anchor in the text"
    NO_SENTENCE = "the sentence that was to get new words is not in the body text exactly once"
    REWORDED = "the suggested wording has changed since it was accepted: accept the link again"
    UNSAFE = "the result could not be verified, so nothing was changed"
    UNREADABLE = "the text could not be read as its format"


@dataclass(frozen=True)
class Inserted:
    """A text with one more link."""

    text: str  # the new text
    start: (
        int  # the first character of the link's markup in the new text, or of the words that are new with it
    )
    end: int  # the character after the link's markup
    # Whether the anchor stands in the accepted sentence; otherwise it stands elsewhere in the text
    in_sentence: bool


_READERS: Mapping[Markup, Callable[[str], Document]] = {
    "markdown": read_markdown,
    "mdx": lambda text: read_markdown(text, is_mdx=True),
    "html": read_html,
}
_BOM = "\ufeff"
# Where verification fails this often, it fails everywhere.
_MOST_TRIALS = 20
# A sentence that goes beyond a passage has at least so many of its first or last characters, if it has as many.
_PART = 12


def insert(text: str, text_format: Markup, placement: Placement) -> Inserted | Refusal:
    """Link the anchor of a placement: in its sentence, otherwise where it stands in body text as whole words.

    With a wording, its words are added to the sentence first, which must stand in body text once. The result is parsed:
    the visible text is the same but for these words, the links are the same but for the new one, which leads to the
    placement's `href`, and nothing outside the anchor's paragraph has changed.
    """
    anchor = folded(placement.anchor)
    if not anchor:
        return Refusal.NO_OWN_TEXT
    if text.startswith(_BOM):
        found = insert(text[1:], text_format, placement)
        if isinstance(found, Refusal):
            return found
        return replace(found, text=_BOM + found.text, start=found.start + 1, end=found.end + 1)
    try:
        document = _READERS[text_format](text)
        own = {placement.href, placement.target, document.written(placement.href)}
        if any(href in own or placement.leads_to_target(href) for href in document.hrefs):
            return Refusal.LINKED
        if placement.wording:
            return _worded(document, text_format, placement)
        return _inserted(document, anchor, placement)
    except (UnreadableText, RecursionError):
        return Refusal.UNREADABLE


def _worded(document: Document, text_format: Markup, placement: Placement) -> Inserted | Refusal:
    sentence, span = folded(placement.sentence), addition(placement.sentence, placement.wording)
    found = [
        (passage, at + len(folded_places(placement.sentence[: span[0]]).text))
        for passage in document.passages
        for at in all_places(folded_places(passage.visible).text, sentence)
        if sentence and span
    ]
    if len(found) != 1 or not found[0][0].is_open or span is None:
        return Refusal.NO_SENTENCE
    start, words = _source(*found[0]), placement.wording[slice(*span)]
    if start is None:
        return Refusal.UNSAFE
    new = f"{document.source[:start]}{document.plain(words)}{document.source[start:]}"
    if not document.is_only_worded(new, start, words):
        return Refusal.UNSAFE
    placement = replace(placement, sentence=placement.wording)
    linked = _inserted(_READERS[text_format](new), folded(placement.anchor), placement)
    if not isinstance(linked, Inserted) or not linked.in_sentence:
        return Refusal.UNSAFE
    return replace(linked, start=min(start, linked.start))


def _source(passage: Passage, at: int) -> int | None:
    """Return where a character of a passage, given by its place in the folded text, begins in the source."""
    places, pieces = folded_places(passage.visible), passage.content.pieces
    if at >= len(places.starts):
        return None
    offsets, place = [0, *accumulate(len(piece.text) for piece in pieces)], places.starts[at]
    number = bisect_right(offsets, place) - 1
    return _begin(pieces[number], place - offsets[number]) if pieces[number].is_open else None


def _inserted(document: Document, anchor: str, placement: Placement) -> Inserted | Refusal:
    trials = 0
    before, after = document.link(placement.href)
    for passage, span, in_sentence in _places(document, anchor, folded(placement.sentence)):
        for start, end in _sources(document, passage, span):
            if trials == _MOST_TRIALS:
                return Refusal.UNSAFE
            trials += 1
            written = f"{before}{document.source[start:end]}{after}"
            new = f"{document.source[:start]}{written}{document.source[end:]}"
            if document.is_only_linked(new, start, placement.href):
                return Inserted(new, start, start + len(written), in_sentence)
    if trials:
        return Refusal.UNSAFE
    return Refusal.NOT_BODY if _stands(document, anchor) else Refusal.NO_ANCHOR


def _stands(document: Document, anchor: str) -> bool:
    words = anchor.lower().split()
    seen = (passage.visible for passage in document.passages if _may_have(passage, words))
    return any(
        anchor.lower() in folded(text).lower()
        and any(True for _ in occurrences(text, folded_places(text), anchor))
        for text in (document.source, *seen)
    )


def _may_have(passage: Passage, words: Sequence[str]) -> bool:
    look = (passage.look if passage.look.isascii() else folded(passage.look)).lower()
    # A reference may stand for a letter, and a tag cut a word.
    return "&" in look or "<" in look or all(word in look for word in words)


def _places(document: Document, anchor: str, sentence: str) -> Iterator[tuple[Passage, Span, bool]]:
    """Yield passages, spans of their visible text, and whether these are in the sentence; the best first."""
    words, found = anchor.lower().split(), list[tuple[int, Passage, Span]]()
    for at, passage in enumerate(document.passages):
        if not passage.is_open or not _may_have(passage, words):
            continue
        if anchor.lower() not in folded(passage.visible).lower():
            continue
        text = folded_places(passage.visible)
        within = _sentences(document, at, text, sentence) if sentence else ()
        for rank, span in occurrences(passage.visible, text, anchor, within):
            if rank == 0:
                yield passage, span, True
            else:
                found.append((rank, passage, span))
    for rank, passage, span in sorted(found, key=lambda one: one[0]):
        yield passage, span, rank <= LAST_IN_SENTENCE


def _sentences(document: Document, at: int, text: Folded, sentence: str) -> Sequence[Span]:
    """Return where the sentence stands in a passage; it may begin in the passage before or end in the one behind."""
    found = _all(text.text, sentence, 0)
    if found:
        return found
    own = text.text.strip()
    if own[:_PART] not in sentence and own[-_PART:] not in sentence:
        return ()
    before, after = (
        folded(document.passages[other].visible) if 0 <= other < len(document.passages) else ""
        for other in (at - 1, at + 1)
    )
    blank = len(text.text) - len(text.text.lstrip())
    return _all(f"{before} {own} {after}", sentence, blank - len(before) - 1)


def _all(text: str, sentence: str, shift: int) -> list[Span]:
    return [(at + shift, at + shift + len(sentence)) for at in all_places(text, sentence)]


def _sources(document: Document, passage: Passage, span: Span) -> Iterator[Span]:
    """Yield spans of the source that a link may enclose: first without the emphasis around them, then with it."""
    pieces, marks = passage.content.pieces, passage.content.marks
    offsets = [0, *accumulate(len(piece.text) for piece in pieces)]
    first, last = bisect_right(offsets, span[0]) - 1, bisect_right(offsets, span[1] - 1) - 1
    start = _begin(pieces[first], span[0] - offsets[first])
    end = _end(pieces[last], span[1] - offsets[last])
    if start is None or end is None or not all(piece.is_open for piece in pieces[first : last + 1]):
        return
    if any(mark.nesting == 0 and start <= mark.start < end for mark in marks):
        return
    start, end = _balanced(marks, start, end)
    if _overlaps(document.closed, start, end):
        return
    yield start, end
    opens, closes = _before(marks, start), _after(marks, end)
    if around := min(len(opens), len(closes)):
        yield opens[around - 1].start, closes[around - 1].end


def _begin(piece: Piece, at: int) -> int | None:
    if len(piece.text) == piece.end - piece.start:
        return piece.start + at
    return piece.start if at == 0 else None


def _end(piece: Piece, at: int) -> int | None:
    if len(piece.text) == piece.end - piece.start:
        return piece.start + at
    return piece.end if at == len(piece.text) else None


def _balanced(marks: Sequence[Mark], start: int, end: int) -> Span:
    """Return the span with the markup next to it that opens what ends in it, or ends what opens in it.

    Where that is further away, the span stays as it is; no parser will find a link there.
    """
    unopened = unended = 0
    for mark in marks:
        if start <= mark.start and mark.end <= end:
            if mark.nesting > 0:
                unended += 1
            elif unended:
                unended -= 1
            else:
                unopened += 1
    before, after = _before(marks, start), _after(marks, end)
    if unopened > len(before) or unended > len(after):
        return start, end
    return before[unopened - 1].start if unopened else start, after[unended - 1].end if unended else end


def _before(marks: Sequence[Mark], start: int) -> list[Mark]:
    found: list[Mark] = []
    for mark in reversed(marks):
        if mark.end == start and mark.nesting > 0:
            found.append(mark)
            start = mark.start
    return found


def _after(marks: Sequence[Mark], end: int) -> list[Mark]:
    found: list[Mark] = []
    for mark in marks:
        if mark.start == end and mark.nesting < 0:
            found.append(mark)
            end = mark.end
    return found


def _overlaps(spans: Sequence[Span], start: int, end: int) -> bool:
    at = bisect_right(spans, (end, -1)) - 1
    return at >= 0 and spans[at][1] > start and spans[at][0] < end


class HoldReason(StrEnum):
    """Why a link that could be put into a text waits; the value is the sentence that people read."""

    FULL = "the page has as many new links as --max-per-page allows"


@dataclass(frozen=True, slots=True)
class PlacedLink:
    """What became of a link."""

    id: str
    refusal: Refusal | HoldReason | None  # why it was not put into the text; None: it was
    line: int = 0  # the line of the new text on which it begins, from 1; 0 if it was not put into it
    in_sentence: bool = False  # whether it stands in the sentence in which its anchor was accepted


@dataclass(frozen=True)
class PlacedLinks:
    """A text with its new links, and what became of each."""

    text: str
    links: Sequence[PlacedLink]


def place_links(
    text: str,
    text_format: Markup,
    wanted: Sequence[tuple[str, Placement]],
    *,
    most: int,
    applied: Collection[str] = (),
) -> PlacedLinks:
    """Put links into a text, the most wanted first.

    Of the links in `applied`, which were put in earlier and are not live yet, those that still stand in the text count
    toward `most`, too.
    """
    found: dict[str, PlacedLink] = {}
    new, places = 0, list[tuple[str, int, bool]]()
    for link, placement in sorted(wanted, key=lambda one: one[0] not in applied):
        answer = insert(text, text_format, placement)
        if not isinstance(answer, Inserted):
            new += answer is Refusal.LINKED and link in applied
            found[link] = PlacedLink(link, answer)
        elif new >= most:
            found[link] = PlacedLink(link, HoldReason.FULL)
        else:
            new += 1
            grown = len(answer.text) - len(text)
            places = [(one, at + grown * (at >= answer.start), inside) for one, at, inside in places]
            places.append((link, answer.start, answer.in_sentence))
            text = answer.text
    for link, start, in_sentence in places:
        found[link] = PlacedLink(link, None, text.count("\n", 0, start) + 1, in_sentence)
    return PlacedLinks(text, [found[link] for link, _ in wanted])
