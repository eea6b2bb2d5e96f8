"""Markdown and MDX with the places of what readers see, as markdown-it parses it."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from typing import Any
from urllib.parse import quote

from markdown_it import MarkdownIt
from markdown_it.token import Token

from internal_linker.cms.html import Elements, is_only_linked, tags, urls
from internal_linker.cms.jsx import without_jsx
from internal_linker.cms.markdown_inline import Inline, Places, parser, plain_parser
from internal_linker.cms.passages import Content, Passage, Piece, Span, Unreadable, joined
from internal_linker.cms.templates import as_punctuation, front_matter, masked, math, shortcodes

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
# What stands in a table's line before its first cell, and between two.
_ROW_BEGIN, _CELL_BEGIN = re.compile(r"[\s>|*+\-\d.)]*"), re.compile(r"\s*\|[\s|]*")


@cache
def _renderer() -> MarkdownIt:
    return plain_parser().enable(["inline", "text_join"])


class _Parsed:
    """The blocks of a text in Markdown, without what stands in them."""

    def __init__(self, text: str, *, is_mdx: bool) -> None:
        self.start = front_matter(text)
        self.masked = masked(text)
        self.text = self.masked.text  # without template tags and JSX
        self.closed = [(0, self.start), *self.masked.closed]  # where no link may stand
        self.hrefs: tuple[str, ...] = ()  # where JSX links lead
        if is_mdx:
            jsx = without_jsx(self.text, self.start)
            self.text, self.hrefs = jsx.text, jsx.hrefs
            self.closed += jsx.closed
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

    def places(self, token: Token) -> Places | None:
        """Return where the text of a paragraph is in the source, None if it is unknown."""
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
        return Places(starts, places)

    def cell(self, token: Token, after: int) -> Places | None:
        """Return where the text of a table's cell is in the source, None if it is unknown."""
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
        return Places(starts, places)


class _Reader:
    """Reads the blocks of a text from the first to the last."""

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
            self.row = places.of(len(text) - 1) + 1 if places else self.row
        is_open = (
            (parent == "paragraph_open" or (parent == "td_open" and places is not None))
            and not self.elements.is_closed
            and not _NO_PARAGRAPH.match(text)
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

    def _read(self, token: Token, places: Places | None, elements: Elements) -> Content:
        inline = self._inline(token, places, elements)
        return Content(tuple(inline.pieces), tuple(inline.marks))

    def _inline(self, token: Token, places: Places | None, elements: Elements) -> Inline:
        places = places or self.parsed.places(token)
        inline = Inline(token.content, places or Places([0], [0]), elements, self.parsed.env)
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
        before = self.parsed
        try:
            plain = masked(text).text
            plain = without_jsx(plain, before.start).text if self.is_mdx else plain
        except Unreadable:
            return False
        link = len(text) - len(self.source)
        written = masked(escaped(href)).text
        if front_matter(text) != before.start:
            return False
        block = before.block(start)
        if block is None:
            return False
        first, last = block
        old, new = before.text[first:last], plain[first : last + link]
        if plain[:first] != before.text[:first] or plain[last + link :] != before.text[last:]:
            return False
        written = written if _TEMPLATE.search(href) else written.replace("&amp;", "&")
        # Whether emphasis next to a template tag begins or ends depends on when the generator renders the tag.
        return _is_only_linked(old, new, before.env, written) and (
            not before.masked.tags
            or _is_only_linked(as_punctuation(old), as_punctuation(new), before.env, as_punctuation(written))
        )


def _is_only_linked(before: str, after: str, env: Mapping[str, Any], href: str) -> bool:
    """Return whether two texts have the same blocks, but for one more link in one of them."""
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
    without, with_link = (_renderer().renderInline(content, dict(env)) for content in changed[0])
    return is_only_linked(without, with_link, href)


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
    plain = parsed.text
    closed = [
        *parsed.closed,
        *math(plain),
        *urls(plain),
        *shortcodes(plain, only_pairs=True),
        *(found.span() for found in _EXTENDED.finditer(plain)),
    ]
    hrefs = tuple(map(parsed.masked.unmasked, reader.hrefs))
    return MarkdownDocument(text, tuple(reader.passages), hrefs, joined(closed), parsed, is_mdx)
