"""HTML with the places of what readers see: whole pages, fragments, WordPress's blocks and classic content.

A browser's parser decides whether a text is another one with one more link in its body.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html import escape, unescape

from selectolax.lexbor import LexborHTMLParser, LexborNode

from internal_linker.publish.passages import (
    Content,
    Mark,
    Passage,
    Piece,
    Span,
    UnreadableText,
    all_places,
    joined,
)
from internal_linker.publish.templates import Masked, front_matter, mask_tags, shortcodes

_ATTRIBUTE = r"""[\s/]*+[^\s/>][^\s/>=]*+(?:\s*+=\s*+(?:"[^"]*+"|'[^']*+'|(?!["'>])[^\s>]++)?+)?+"""
_MARKUP = re.compile(
    rf"<!--(?:-?>|(?P<comment>.*?)(?:--!?>|\Z))|<(?P<slash>/?)(?P<name>[a-zA-Z][^\s/>]*+)(?P<attributes>(?:{_ATTRIBUTE})*+)"
    r"[\s/]*+(?P<end>>|\Z)|<[!?/][^>]*+>?",
    re.DOTALL,
)
_EACH = re.compile(r"""[\s/]*+([^\s/>][^\s/>=]*+)(?:\s*+=\s*+("[^"]*+"|'[^']*+'|[^\s>]++)?+)?+""")
# Elements whose content is no HTML.
_RAW = frozenset("script style textarea title xmp iframe noembed noframes plaintext".split())
VOID = frozenset("area base br col embed hr img input link meta param source track wbr".split())
# They stay open until their own end tag, even if the element around them ends.
_FORMATTING = frozenset("a b big code em font i nobr s small strike strong tt u".split())
_INLINE = (
    _FORMATTING
    | frozenset(
        "abbr acronym bdi bdo cite del dfn ins kbd label mark q samp span sub sup time var wbr".split()
    )
    | {"button", "img", "input", "select", "svg", "ruby", "rt", "rp"}
)
# An open element of the first kind ends where one of the second begins.
_ENDED_BY = {
    **dict.fromkeys(("td", "th"), frozenset({"td", "th", "tr", "tbody", "tfoot", "thead"})),
    **dict.fromkeys(("dt", "dd"), frozenset({"dt", "dd"})),
    "caption": frozenset({"tr", "tbody", "thead", "tfoot", "colgroup"}),
    "li": frozenset({"li"}),
    "p": frozenset({"p"}),
}
_REFERENCE = re.compile(r"&(?:#[xX][0-9a-fA-F]+|#[0-9]+|[A-Za-z][A-Za-z0-9]*);?")
_BREAK = re.compile(r"(?:\r\n?|\n)[ \t]*(?:(?:\r\n?|\n)[ \t]*)+")
_URL = re.compile(r"(?:(?:https?|ftp)://|www\.|mailto:)[^\s<>\"]+|[\w.+-]+@[\w-]+\.[\w.-]+", re.IGNORECASE)
_BLOCK = re.compile(r"\s*(/?)wp:([a-z][\w/-]*)(.*?)(/?)\s*\Z", re.DOTALL)
# Blocks whose text is body text; all others are left alone.
_OPEN_BLOCKS = frozenset(
    "paragraph list list-item quote table group columns column cover media-text details freeform".split()
)
# Deeper nesting is no text of a page, and browsers' parsers take long for it.
_DEEPEST, _LONGEST_TAG = 500, 100_000


def attributes(tag: str) -> dict[str, str]:
    """Return the attributes of a tag's text behind its name, references resolved; of two with one name, the first."""
    found: dict[str, str] = {}
    for each in _EACH.finditer(tag):
        value = each[2] or ""
        found.setdefault(each[1].lower(), unescape(value[1:-1] if value[:1] in {'"', "'"} else value))
    return found


@dataclass
class Elements:
    """The elements that are open at a place of a text."""

    _open: list[tuple[str, bool]] = field(default_factory=list)
    _closed: int = 0

    @property
    def is_closed(self) -> bool:
        """Whether no link may stand here."""
        return self._closed > 0

    def begin(self, name: str, attributes: dict[str, str]) -> None:
        """Open an element.

        Raises:
            Unreadable: too many are open.
        """
        while self._open and name in _ENDED_BY.get(self._open[-1][0], ()):
            self._pop(len(self._open) - 1)
        if name in VOID:
            return
        self._open.append((name, is_closing(name, attributes)))
        self._closed += self._open[-1][1]
        if len(self._open) > _DEEPEST:
            raise UnreadableText

    def end(self, name: str) -> None:
        """Close an element and those inside, if it is open."""
        if not any(name == one for one, _ in self._open):
            return
        for at in range(len(self._open) - 1, -1, -1):
            one = self._open[at][0]
            if one == name:
                self._pop(at)
                return
            if name not in _FORMATTING and one not in _FORMATTING:
                self._pop(at)

    def _pop(self, at: int) -> None:
        self._closed -= self._open.pop(at)[1]


@dataclass(frozen=True)
class HtmlDocument:
    """A text in HTML; see `passages.Document`."""

    source: str
    masked: Masked
    passages: Sequence[Passage]
    hrefs: Sequence[str]
    closed: Sequence[Span]

    def link(self, href: str) -> tuple[str, str]:
        """Return the tags."""
        return f'<a href="{escaped(href)}">', "</a>"

    def written(self, href: str) -> str:
        """Return the href: HTML can write all."""
        return href

    def is_only_linked(self, text: str, start: int, href: str) -> bool:
        """Return whether a browser's parser sees one more link in body text and no other change."""
        after = mask_tags(text)
        found = _MARKUP.match(after.text, start)
        written = attributes(found["attributes"]).get("href", "") if found and found["name"] else ""
        return after.unmasked(written) == href and is_only_linked(
            self._body, after.text[front_matter(text) :], written
        )

    def plain(self, words: str) -> str:
        """Return the words with references for what would be markup."""
        return escape(words, quote=False)

    def is_only_worded(self, text: str, start: int, words: str) -> bool:
        """Return whether a browser's parser sees the words in body text and no other change."""
        return has_only_words(self._body, mask_tags(text).text[front_matter(text) :], words)

    @cached_property
    def _body(self) -> str:
        return self.masked.text[front_matter(self.source) :]


def escaped(href: str) -> str:
    """Return an href as an attribute in double quotes has it; template tags stay as they are."""
    return escape(href, quote=True) if not re.search(r"\{\{|\{%", href) else href


class _Reader:
    def __init__(self, text: str, start: int) -> None:
        self.text = text
        self.at = start
        self.elements = Elements()
        self.blocks: list[bool] = []
        self.hrefs: list[str] = []
        self.closed: list[Span] = []
        self.passages: list[Passage] = []
        self.pieces: list[Piece] = []
        self.marks: list[Mark] = []

    def read(self) -> None:
        while found := _MARKUP.search(self.text, self.at):
            self._text(self.at, found.start())
            self.at = found.end()
            if found["name"]:
                self._tag(found)
            elif comment := found["comment"]:
                self._comment(comment, found)
        self._text(self.at, len(self.text))
        self._break()

    def _tag(self, found: re.Match[str]) -> None:
        name, start, end = found["name"].lower(), found.start(), found.end()
        if end - start > _LONGEST_TAG:
            raise UnreadableText
        if not found["end"]:
            self.closed.append((start, end))
            return
        if name not in _INLINE and name != "br":
            self._break()
        if found["slash"]:
            self.elements.end(name)
        else:
            attrs = attributes(found["attributes"]) if found["attributes"] else {}
            if name in {"a", "area"} and "href" in attrs:
                self.hrefs.append(attrs["href"])
            self.elements.begin(name, attrs)
            if name in _RAW:
                raw = re.compile(rf"</{name}(?=[\s/>])|\Z", re.IGNORECASE).search(self.text, end)
                self.at = raw.start() if raw else len(self.text)
                self.pieces.append(Piece("\ufffc", start, self.at, is_open=False))
        if name in VOID:
            if name != "wbr":
                self.pieces.append(Piece("\n" if name == "br" else "\ufffc", start, end, is_open=False))
        elif name in _INLINE:
            self.marks.append(Mark(start, end, -1 if found["slash"] else 1))

    def _comment(self, comment: str, found: re.Match[str]) -> None:
        block = _BLOCK.match(comment)
        if not block:
            # Between two words it would come into the link.
            self.marks.append(Mark(found.start(), found.end(), 0))
            return
        self._break()
        if block[1]:
            if self.blocks:
                self.blocks.pop()
        elif not block[4]:
            self.blocks.append(block[2].removeprefix("core/") not in _OPEN_BLOCKS)

    def _text(self, start: int, end: int) -> None:
        while start < end:
            blank = _BREAK.search(self.text, start, end)
            stop = blank.start() if blank else end
            self._run(start, stop)
            if not blank:
                return
            self._break()
            start = blank.end()

    def _run(self, start: int, end: int) -> None:
        is_open = not self.elements.is_closed and not any(self.blocks)
        if "&" in self.text[start:end]:
            for found in _REFERENCE.finditer(self.text, start, end):
                if found.start() > start:
                    self.pieces.append(Piece(self.text[start : found.start()], start, found.start(), is_open))
                self.pieces.append(Piece(unescape(found[0]), *found.span(), is_open))
                start = found.end()
        if start < end:
            self.pieces.append(Piece(self.text[start:end], start, end, is_open))

    def _break(self) -> None:
        if self.pieces:
            content = Content(tuple(self.pieces), tuple(self.marks))
            look = "".join(piece.text for piece in self.pieces)
            if not look.isspace():
                is_open = any(piece.is_open for piece in self.pieces)
                self.passages.append(Passage(look, is_open, lambda: content))
        self.pieces, self.marks = [], []


def read_html(text: str) -> HtmlDocument:
    """Read a text in HTML.

    Raises:
        Unreadable: it is nested too deeply, or has characters that no text has.
    """
    plain = mask_tags(text)
    reader = _Reader(plain.text, front_matter(text))
    reader.read()
    closed = [*plain.closed, *reader.closed, *shortcodes(plain.text), *urls(plain.text)]
    hrefs = tuple(map(plain.unmasked, reader.hrefs))
    return HtmlDocument(text, plain, tuple(reader.passages), hrefs, joined(closed))


def tags(html: str) -> Iterator[tuple[str, bool, dict[str, str]]]:
    """Yield the name of each tag of a piece of HTML, whether it ends an element, and its attributes."""
    at = 0
    while found := _MARKUP.search(html, at):
        at = found.end()
        if found["name"] and found["end"]:
            name = found["name"].lower()
            yield name, bool(found["slash"]), attributes(found["attributes"] or "")
            if name in _RAW and not found["slash"]:
                raw = re.compile(rf"</{name}(?=[\s/>])|\Z", re.IGNORECASE).search(html, at)
                at = raw.start() if raw else len(html)


def urls(text: str) -> Iterator[Span]:
    """Yield the URLs and e-mail addresses of a text."""
    if "://" in text or "www." in text or "@" in text or "mailto:" in text:
        yield from (found.span() for found in _URL.finditer(text))


# Text may be linked where only these elements are around it: no headings, links, captions, code, forms, menus, and
# nothing that is unknown.
OPEN_ELEMENTS = frozenset(
    "html body main article section div p ul ol li dl dd blockquote center details figure table tbody tfoot tr td "
    "span em strong b i u s strike small big mark abbr acronym sub sup q font time ins bdi bdo wbr".split()
)
_CLOSING_ROLES = frozenset("button heading link menu menuitem navigation tab".split())
_CAPTION = "caption"


def is_closing(name: str, attributes: dict[str, str]) -> bool:
    """Return whether no link may stand inside an element. The name is in lower case."""
    if name not in OPEN_ELEMENTS:
        return True
    return bool(attributes) and (
        "hidden" in attributes
        or attributes.get("aria-hidden") == "true"
        or attributes.get("role", "").lower() in _CLOSING_ROLES
        or _CAPTION in attributes.get("class", "").lower()
    )


def is_only_linked(before: str, after: str, href: str) -> bool:
    """Return whether HTML has the same elements and text as before, but for one more link in body text."""
    old, new = _parsed(before), _parsed(after)
    fresh = [link for link in new.css("a[href]") if link.attributes.get("href") == href]
    known = [link for link in old.css("a[href]") if link.attributes.get("href") == href]
    if known or len(fresh) != 1 or fresh[0].attributes != {"href": href}:
        return False
    return _is_in_body(fresh[0]) and _without(fresh[0], new) == old.html


def has_only_words(before: str, after: str, words: str) -> bool:
    """Return whether HTML has the same elements and text as before, but for words that are added at one place."""
    old, new = _parsed(before).html or "", _parsed(after).html or ""
    written = escape(words, quote=False).replace("\u00a0", "&nbsp;")
    return any(new[:at] + new[at + len(written) :] == old for at in all_places(new, written))


def _parsed(html: str) -> LexborHTMLParser:
    # The parser would stop at a lone surrogate.
    return LexborHTMLParser(html.encode("utf-8", "replace"))


def _is_in_body(link: LexborNode) -> bool:
    node = link.parent
    while node is not None and node.tag != "-document":
        if is_closing(node.tag or "", {name: value or "" for name, value in node.attributes.items()}):
            return False
        node = node.parent
    return bool(link.text().strip())


def _without(link: LexborNode, tree: LexborHTMLParser) -> str | None:
    link.unwrap()
    return tree.html
