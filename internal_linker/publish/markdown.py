"""Markdown and MDX with the places of what readers see, as markdown-it parses it."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from typing import Any, NamedTuple
from urllib.parse import quote

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from internal_linker.publish.html import VOID, Elements, has_only_words, is_only_linked, tags, urls
from internal_linker.publish.jsx import without_jsx
from internal_linker.publish.passages import Content, Mark, Passage, Piece, Span, UnreadableText, joined
from internal_linker.publish.templates import (
    as_punctuation,
    covered,
    front_matter,
    mask_tags,
    math,
    shortcodes,
)


class _Event(NamedTuple):
    rule: str
    start: int
    end: int
    tokens: Sequence[Token]
    label: int


_RULES = frozenset(
    "newline escape backticks strikethrough emphasis link image autolink html_inline entity".split()
)


@cache
def parser() -> MarkdownIt:
    """Return the parser; it notes in the environment what each rule made of which part of the text."""
    noting = plain_parser()
    rules = noting.inline.ruler
    for name, rule in zip(rules.get_active_rules(), rules.getRules(""), strict=True):
        if name in _RULES:
            rules.at(name, _noting(name, rule))
    noting.inline.ruler2.disable("fragments_join")
    return noting


def plain_parser() -> MarkdownIt:
    """Return a parser of blocks for CommonMark with GitHub's tables and strikethrough; all destinations are links."""
    found = MarkdownIt("commonmark").enable(["table", "strikethrough"]).disable(["inline", "text_join"])
    # An href stays as it is written, whatever it leads to.
    found.normalizeLink = lambda url: url  # type: ignore[method-assign]
    found.validateLink = lambda url: True  # type: ignore[method-assign]
    return found


def _noting(name: str, rule: Callable[[StateInline, bool], bool]) -> Callable[[StateInline, bool], bool]:
    def noting(state: StateInline, silent: bool) -> bool:
        start, known = state.pos, len(state.tokens)
        if not rule(state, silent):
            return False
        # The texts of pictures are parsed by themselves.
        if not silent and state.src == state.env.get("noted"):
            label, after = -1, state.pos
            if name == "link":
                label = state.md.helpers.parseLinkLabel(state, start, True)
                state.pos = after
            state.env["events"].append(_Event(name, start, state.pos, state.tokens[known:], label))
        return True

    return noting


class CharacterMap:
    """Where the characters of a block's text are in the source."""

    def __init__(self, starts: Sequence[int], places: Sequence[int]) -> None:
        self.starts = starts
        self.places = places

    def locate(self, at: int) -> int:
        """Return the place of a character, counted from 0."""
        part = bisect_right(self.starts, at) - 1
        return self.places[part] + at - self.starts[part]

    def parts(self, start: int, end: int) -> Iterator[Span]:
        """Yield spans of the block's text that stand in one piece in the source."""
        for part in range(bisect_right(self.starts, start), len(self.starts)):
            if self.starts[part] >= end:
                break
            yield start, self.starts[part]
            start = self.starts[part]
        yield start, end


class Inline:
    """Reads the text of a block."""

    def __init__(self, text: str, places: CharacterMap, elements: Elements, env: dict[str, Any]) -> None:
        self.text = text
        self.places = places
        self.elements = elements
        self.pieces: list[Piece] = []
        self.marks: list[Mark] = []
        self.hrefs: list[str] = []
        noted = {**env, "noted": text, "events": []}
        parser().inline.parse(text, parser(), noted, [])
        self.events = sorted(noted["events"], key=lambda event: (event.start, -event.end))
        self.next = 0
        self.is_open = True

    def read(self) -> None:
        """Fill `pieces`, `marks` and `hrefs`."""
        self._walk(0, len(self.text))

    def _walk(self, start: int, end: int) -> None:
        while self.next < len(self.events) and self.events[self.next].start < end:
            event = self.events[self.next]
            self.next += 1
            self._literal(start, event.start)
            getattr(self, f"_{event.rule}")(event)
            start = event.end
        self._literal(start, end)

    def _literal(self, start: int, end: int) -> None:
        if start < end:
            is_open = self.is_open and not self.elements.is_closed
            for first, last in self.places.parts(start, end):
                place = self.places.locate(first)
                self.pieces.append(Piece(self.text[first:last], place, place + last - first, is_open))

    def _stands_for(self, text: str, event: _Event, *, is_open: bool = True) -> None:
        is_open = is_open and self.is_open and not self.elements.is_closed
        self.pieces.append(Piece(text, self.places.locate(event.start), self._end(event.end), is_open))

    def _end(self, end: int) -> int:
        return self.places.locate(end - 1) + 1

    def _mark(self, start: int, end: int, nesting: int) -> None:
        self.marks.append(Mark(self.places.locate(start), self._end(end), nesting))

    def _newline(self, event: _Event) -> None:
        self._stands_for("\n", event)

    def _escape(self, event: _Event) -> None:
        sign = self.text[event.start + 1 : event.start + 2]
        self._stands_for(sign, event, is_open=sign != "\n")

    def _backticks(self, event: _Event) -> None:
        code = [token for token in event.tokens if token.type == "code_inline"]
        if code:
            self._stands_for(code[0].content, event, is_open=False)
        else:
            self._literal(event.start, event.end)

    def _emphasis(self, event: _Event) -> None:
        made = [token for token in event.tokens if token.nesting or len(token.content) <= 1]
        tokens = made[len(made) - (event.end - event.start) :]
        at, nesting = event.start, 0
        for place, token in enumerate(tokens):
            # The second sign of a strong emphasis has no token of its own: it opens or closes as the first does.
            if token.nesting:
                nesting = token.nesting
            elif token.content:
                self._literal(at, at + 1)
                at += 1
                continue
            elif place + 1 < len(tokens) and tokens[place + 1].type == "strong_open":
                nesting = 1
            self._mark(at, at + 1, nesting)
            at += 1

    def _strikethrough(self, event: _Event) -> None:
        at = event.start
        if (event.end - event.start) % 2:
            self._literal(at, at + 1)
            at += 1
        pairs = (event.end - at) // 2
        for token in event.tokens[len(event.tokens) - pairs :]:
            if token.nesting:
                self._mark(at, at + 2, token.nesting)
            else:
                self._literal(at, at + 2)
            at += 2

    def _link(self, event: _Event) -> None:
        link = next(token for token in event.tokens if token.type == "link_open")
        self.hrefs.append(str(link.attrs.get("href", "")))
        was_open, self.is_open = self.is_open, False
        self._walk(event.start + 1, event.label)
        self.is_open = was_open

    def _image(self, event: _Event) -> None:
        self._stands_for("\ufffc", event, is_open=False)

    def _autolink(self, event: _Event) -> None:
        address = self.text[event.start + 1 : event.end - 1]
        self.hrefs.append(address)
        self._stands_for(address, event, is_open=False)

    def _entity(self, event: _Event) -> None:
        self._stands_for(event.tokens[-1].content, event)

    def _html_inline(self, event: _Event) -> None:
        html = self.text[event.start : event.end]
        for name, ends, attributes in tags(html):
            if ends:
                self.elements.end(name)
            else:
                self.elements.begin(name, attributes)
                if "href" in attributes:
                    self.hrefs.append(attributes["href"])
            if name in VOID and name != "wbr":
                self._stands_for("\n" if name == "br" else "\ufffc", event, is_open=False)
            else:
                self._mark(event.start, event.end, -1 if ends else 1)
            return
        self._mark(event.start, event.end, 0)


_LINE_END = re.compile(r"\r\n?|\n")
# Lines and spans that generators read as something else than text.
_EXTENDED = re.compile(
    # Directives and admonitions, tabs, abbreviations.
    r"^[ \t>]*(?:[-*+][ \t]+)?(?::{2,}|!!!|\?\?\?|===[ \t]|--8<--|%%|\*\[[^\]\n]*\]:)[^\r\n]*"
    # Attribute lists, identifiers of headings, wiki links, footnotes and references, directives inside text.
    r"|\{(?:[:.#]|[ \t]+[.#])[^{}\r\n]*\}|(?<!\\)\[+[^\[\]\r\n]*\]+"
    r"|(?<![\w:]):[a-z][\w-]*(?:\[[^\]\r\n]*\](?:\{[^}\r\n]*\})?|\{[^}\r\n]*\}|:(?!\w))",
    re.MULTILINE,
)
# What MkDocs and others indent text below: the heads of admonitions and of tabs, and the signs of definitions.
_DEFINITION = re.compile(r":[ \t]+(?=\S)")
_HEAD = re.compile(
    r"^([ \t>]*(?:[-*+][ \t]+)?)((?:!!!|\?\?\?\+?)[ \t]*[\w-][^\r\n]*|===[!+]*[ \t]+[\"'][^\r\n]*)"
    rf"|(?:(?<=[^\s|]\n)|(?<=[^\s|]\r\n)){_DEFINITION.pattern}",
    re.MULTILINE,
)
_WIKI = re.compile(r"\[\[([^\]|\r\n]+)")
# Paragraphs that are none: notes, definitions, captions of tables and pictures.
_NO_PARAGRAPH = re.compile(
    r"\[[^\]]*\]:|Table:[ ]|:[ ]|[^\n]*\n(?:[^\n]*\n)*?:[ \t]"
    r"|!\[[^\n]*\]\([^\n]*\)\s*(?:\n\s*)?([*_]{1,2})(?!\s)(?:(?!\n\s*\n).)*\1\s*\Z",
    re.DOTALL,
)
_MARKERS = re.compile(r"[*_~\\]+")
# Signs of what may lead somewhere or nest: such a passage is read, whatever is looked for.
_LEADING = re.compile(r"[\[<@]|://|www\.|mailto:")
_IN_HREF = re.compile(r"[\s<>()\\`|\"\x00-\x1f]|&(?=#?\w+;)")
# Parentheses within each other up to two deep, which all parsers read.
_PAIRED = re.compile(r"(?:[^()]|\((?:[^()]|\([^()]*\))*\))*")
_TEMPLATE = re.compile(r"\{\{|\{%")
# Whether rendered HTML differs from an earlier one by a change only; the first argument says how templates are shown.
_Change = Callable[[Callable[[str], str], str, str], bool]
# What stands in a table's line before its first cell, and between two.
_ROW_BEGIN, _CELL_BEGIN = re.compile(r"[\s>|*+\-\d.)]*"), re.compile(r"\s*\|[\s|]*")


@cache
def _renderer() -> MarkdownIt:
    return plain_parser().enable(["inline", "text_join"])


def _with_lists(text: str) -> str:
    """Return a text of the same length with an item of a list for each head, as its text is indented like an item's."""

    def item(head: re.Match[str]) -> str:
        return f"{head[1]}+   {covered(head[2][4:])}" if head[2] else f"+{head[0][1:]}"

    return _HEAD.sub(item, text)


class _Parsed:
    def __init__(self, text: str, *, is_mdx: bool) -> None:
        self.start = front_matter(text)
        self.masked = mask_tags(text)
        self.text = self.masked.text  # without template tags and JSX
        self.closed = [(0, self.start), *self.masked.closed]  # where no link may stand
        self.hrefs: tuple[str, ...] = ()  # where JSX links lead
        if is_mdx:
            jsx = without_jsx(self.text, self.start)
            self.text, self.hrefs = jsx.text, jsx.hrefs
            self.closed += jsx.closed
        self.unlisted, self.text = self.text, _with_lists(self.text)
        self.env: dict[str, Any] = {}  # the definitions of references
        self.tokens = parser().parse(self.text[self.start :], self.env)

    @cached_property
    def lines(self) -> list[Span]:
        """Where each line of the text behind the front matter begins and ends, without what ends it."""
        found, start = [], self.start
        for end in _LINE_END.finditer(self.text, self.start):
            found.append((start, end.start()))
            start = end.end()
        return [*found, (start, len(self.text))]

    def block(self, place: int) -> Span | None:
        """Return from where to where a place's outermost block and the next one stand, None outside of blocks.

        A block does not depend on those before it, and the next one shows where it ends.
        """
        number = bisect_right(self.lines, (place, len(self.text))) - 1
        outermost = [token.map for token in self.tokens if token.level == 0 and token.map]
        at = bisect_right(outermost, number, key=lambda lines: lines[0]) - 1
        if at < 0 or number >= outermost[at][1]:
            return None
        last = outermost[min(at + 1, len(outermost) - 1)][1]
        return self.lines[outermost[at][0]][0], self.lines[min(last, len(self.lines)) - 1][1]

    def is_term(self, token: Token) -> bool:
        after = token.map[1] if token.map else len(self.lines)
        return after < len(self.lines) and bool(_DEFINITION.match(self.unlisted, self.lines[after][0]))

    def places(self, token: Token) -> CharacterMap | None:
        first = token.map[0] if token.map else 0
        starts, places, at = [], [], 0
        for number, line in enumerate(token.content.split("\n"), first):
            start, end = self.lines[number]
            written, wanted = self.text[start:end].rstrip(" \t"), line.rstrip(" \t")
            if not written.endswith(wanted):
                return None
            starts.append(at)
            places.append(start + len(written) - len(wanted))
            at += len(line) + 1
        return CharacterMap(starts, places)

    def cell(self, token: Token, after: int) -> CharacterMap | None:
        number = token.map[0] if token.map else 0
        start, end = self.lines[number]
        written = token.content.replace("|", "\\|")
        at = self.text.find(written, max(start, after), end)
        between = self.text[max(start, after) : at]
        if at < 0 or not (_ROW_BEGIN if after <= start else _CELL_BEGIN).fullmatch(between):
            return None
        starts, places = [0], [at]
        for place, sign in enumerate(token.content):
            if sign == "|":
                at += 1
                starts.append(place)
                places.append(at + place)
        return CharacterMap(starts, places)


class _Reader:
    def __init__(self, parsed: _Parsed) -> None:
        self.parsed = parsed
        self.elements = Elements()
        self.passages: list[Passage] = []
        self.hrefs: list[str] = list(parsed.hrefs)
        self.row = 0

    def read(self) -> None:
        parent = ""
        for token in self.parsed.tokens:
            if token.type == "tr_open" and token.map:
                self.row = self.parsed.lines[token.map[0]][0]
            if token.type == "inline":
                self._text(token, parent)
            elif token.content:
                self.passages.append(_unread(token.content))
                if token.type == "html_block":
                    self._html(token.content)
            parent = token.type

    def _html(self, html: str) -> None:
        for name, ends, attributes in tags(html):
            if ends:
                self.elements.end(name)
            else:
                self.elements.begin(name, attributes)
                if "href" in attributes:
                    self.hrefs.append(attributes["href"])

    def _text(self, token: Token, parent: str) -> None:
        text, places = token.content, None
        if parent in {"td_open", "th_open"} and text:
            places = self.parsed.cell(token, self.row)
            self.row = places.locate(len(text) - 1) + 1 if places else self.row
        is_open = (
            (parent == "paragraph_open" or (parent == "td_open" and places is not None))
            and not self.elements.is_closed
            and not _NO_PARAGRAPH.match(text)
            and not self.parsed.is_term(token)
        )
        if not _LEADING.search(text):
            read = partial(self._read, token, places, Elements())
            self.passages.append(Passage(_look(text), is_open, read) if is_open else _unread(text))
            return
        # A heading's places don't matter, but its links and elements do.
        inline = self._inline(token, places, self.elements)
        self.hrefs += [*inline.hrefs, *_bare(inline.pieces), *(one[1] for one in _WIKI.finditer(text))]
        content = Content(tuple(inline.pieces), tuple(inline.marks))
        self.passages.append(Passage(_look(text), is_open, lambda: content) if is_open else _unread(text))

    def _read(self, token: Token, places: CharacterMap | None, elements: Elements) -> Content:
        inline = self._inline(token, places, elements)
        return Content(tuple(inline.pieces), tuple(inline.marks))

    def _inline(self, token: Token, places: CharacterMap | None, elements: Elements) -> Inline:
        places = places or self.parsed.places(token)
        inline = Inline(token.content, places or CharacterMap([0], [0]), elements, self.parsed.env)
        inline.is_open = places is not None
        inline.read()
        return inline


def _unread(text: str) -> Passage:
    return Passage(text, is_open=False, read=lambda: Content((Piece(text, 0, len(text), is_open=False),)))


def _look(text: str) -> str:
    return _MARKERS.sub("", text)


def _bare(pieces: Sequence[Piece]) -> Iterator[str]:
    """Yield the URLs that many generators make links without any markup."""
    for piece in pieces:
        if piece.is_open:
            for start, end in urls(piece.text):
                yield piece.text[start:end].rstrip(".,;:!?)'\"")


@dataclass(frozen=True)
class MarkdownDocument:
    """A text in Markdown or MDX; see `passages.Document`."""

    source: str
    passages: Sequence[Passage]
    hrefs: Sequence[str]
    closed: Sequence[Span]
    parsed: _Parsed
    is_mdx: bool

    def link(self, href: str) -> tuple[str, str]:
        """Return brackets around the anchor, and the href in parentheses."""
        return "[", f"]({escaped(href)})"

    def written(self, href: str) -> str:
        """Return the href with percent-encoded spaces, parentheses and the like."""
        return href if _TEMPLATE.search(href) else escaped(href).replace("&amp;", "&")

    def is_only_linked(self, text: str, start: int, href: str) -> bool:
        """Return whether the parser finds one more link in one block, and all other blocks unchanged."""
        written = mask_tags(escaped(href)).text
        written = written if _TEMPLATE.search(href) else written.replace("&amp;", "&")
        return self._is_only_changed(
            text, start, lambda shown, old, new: is_only_linked(old, new, shown(written))
        )

    def plain(self, words: str) -> str:
        """Return the words as they are: none that mean something in Markdown are verified."""
        return words

    def is_only_worded(self, text: str, start: int, words: str) -> bool:
        """Return whether the parser finds the words in one block, and all other blocks unchanged."""
        return self._is_only_changed(text, start, lambda shown, old, new: has_only_words(old, new, words))

    def _is_only_changed(self, text: str, start: int, is_change: _Change) -> bool:
        """Return whether one block is another one, by `is_change`, and all others are the same."""
        before = self.parsed
        try:
            plain = mask_tags(text).text
            plain = _with_lists(without_jsx(plain, before.start).text if self.is_mdx else plain)
        except UnreadableText:
            return False
        more = len(text) - len(self.source)
        if front_matter(text) != before.start:
            return False
        block = before.block(start)
        if block is None:
            return False
        first, last = block
        old, new = before.text[first:last], plain[first : last + more]
        if plain[:first] != before.text[:first] or plain[last + more :] != before.text[last:]:
            return False
        # Whether emphasis next to a template tag begins or ends depends on when the generator renders the tag.
        return all(
            _is_only_changed(shown(old), shown(new), before.env, partial(is_change, shown))
            for shown in ((str, as_punctuation) if before.masked.tags else (str,))
        )


def _is_only_changed(
    before: str, after: str, env: Mapping[str, Any], is_change: Callable[[str, str], bool]
) -> bool:
    old_env, new_env = dict[str, Any](), dict[str, Any]()
    old, new = parser().parse(before, old_env), parser().parse(after, new_env)
    if old_env != new_env or len(old) != len(new):
        return False
    changed = [
        (one.content, other.content)
        for one, other in zip(old, new, strict=True)
        if one.content != other.content or _shape(one) != _shape(other)
    ]
    if len(changed) != 1:
        return False
    # The definitions of the whole text count.
    without, with_change = (_renderer().renderInline(content, dict(env)) for content in changed[0])
    return is_change(without, with_change)


def _shape(token: Token) -> tuple[object, ...]:
    return token.type, token.tag, token.attrs, token.map, token.info, token.level, token.markup, token.hidden


def escaped(href: str) -> str:
    """Return an href as the destination of a link; template tags stay as they are."""
    if _TEMPLATE.search(href):
        return href

    is_paired = _PAIRED.fullmatch(href) is not None

    def sign(found: re.Match[str]) -> str:
        if found[0] in "()" and is_paired:
            return found[0]
        return "&amp;" if found[0] == "&" else quote(found[0], safe="")

    return _IN_HREF.sub(sign, href)


def read_markdown(text: str, *, is_mdx: bool = False) -> MarkdownDocument:
    """Read a text in Markdown.

    Raises:
        Unreadable: JSX in it has no end, or it has characters that no text has.
    """
    parsed = _Parsed(text, is_mdx=is_mdx)
    reader = _Reader(parsed)
    reader.read()
    plain = parsed.unlisted
    closed = [
        *parsed.closed,
        *math(plain),
        *urls(plain),
        *shortcodes(plain, only_pairs=True),
        *(found.span() for found in _EXTENDED.finditer(plain)),
    ]
    hrefs = tuple(map(parsed.masked.unmasked, reader.hrefs))
    return MarkdownDocument(text, tuple(reader.passages), hrefs, joined(closed), parsed, is_mdx)
