"""The text and the links of HTML, a whole page or a fragment, as a person reads them."""

import re
from collections.abc import Sequence, Set
from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser, LexborNode

# HTML begins with a tag, or has a whole link somewhere. A text about HTML is full of tags, too, and would lose
# them if it were read as HTML.
_BEGIN = re.compile(
    r"\s*<(!--|!doctype\b|(a|article|b|blockquote|body|div|em|figure|h[1-6]|head|header|html|i|img|main|ol|p|section"
    r"|span|strong|table|ul)\b[^<>]*>)",
    re.IGNORECASE,
)
_LINK = re.compile(
    r"<a\s[^<>]*\bhref\s*=\s*[\"']?(https?:|/)[^<>]*>(?:(?!</?a\b).)*</a\s*>", re.IGNORECASE | re.DOTALL
)
# Elements that nobody reads, or that a site shows on every page; their links are not the text's.
_DROPPED = "script, style, nav, noscript, template, svg, iframe, object, select, textarea"
_BLOCKS = (
    "address, article, aside, blockquote, caption, dd, details, div, dl, dt, fieldset, figcaption, figure, "
    "footer, form, h1, h2, h3, h4, h5, h6, header, hr, legend, li, main, ol, p, pre, section, summary, table, "
    "td, th, tr, ul"
)
# Comments, and elements that can nest or whose end tag is written; whatever follows closes the others.
_NESTED = re.compile(
    r"<!--(?:-?>|.*?(?:--!?>|\Z))|<(/?)(?!(?:area|base|body|br|col|dd|dt|embed|head|hr|html|img|input|li|link|meta"
    r"|option|p|source|t[dhr]|tbody|tfoot|thead|track|wbr)\b)([a-z][^\s/<>]*)",
    re.DOTALL,
)
# How often a tag may meet an open element: a browser's parser may look at each open element, or repeat it.
_MOST_MET, _MOST_TAGS = 5_000_000, 500_000
_TAG = re.compile(r"<(?!/?(?:a|script|style|textarea)\b)/?([a-z][^\s/<>]*)[^<>]*>?", re.IGNORECASE)
# A parser compares each attribute of an element with all others: 100,000 take 20 seconds. No page has so many as this.
MOST_ATTRIBUTES = 200
# Shorter HTML has too few attributes to take long.
_SHORT = 16_000
# An attribute, as the HTML standard has browsers read it, with what separates it from the one before.
_ATTRIBUTE = r"""[\s/]*+[^\s/>][^\s/>=]*+(?:\s*+=\s*+(?:"[^"]*+"|'[^']*+'|(?!["'>])[^\s>]++)?+)?+"""
_START = re.compile(r"<[a-zA-Z]")
# How often the HTML may be read to find its attributes: less than once is usual.
_MOST_WORK = 20
# How often attributes are cut, before every tag becomes text.
_MOST_CUTS = 5
_MORE = re.compile(rf"(?:{_ATTRIBUTE})++")
# Marks where a block begins or ends; white space to Python, so that it never sticks to a word.
_BREAK = "\x1e"
_BLOCK_NAMES = frozenset(_BLOCKS.split(", "))
# Mark where a heading begins, and where a closed element begins and ends; white space, too.
_HEADING, _OPEN, _CLOSE = "\x1d", "\x1c", "\x1f"
# Elements within a sentence whose words hold no links to put, and what marks these words: no white space, as some are a
# part of a word.
_TAKEN, _FROM, _TO = "a, code, kbd, samp, tt, var", "\ufdd0", "\ufdd1"
_MARKS = re.compile(f"([{_FROM}{_TO}])")
_SECOND_SPACE = re.compile(f"(?<![^ ])([{_FROM}{_TO}]+) ")
# Elements that hold no links to put, apart from headings, tables and lists of links.
_CLOSED = (
    "pre, blockquote, figcaption, caption, dt, legend, summary, p.admonition-title, div.footnote, div.footnotes, "
    "section.footnotes"
)
# A table with a longer cell, in characters, or with a table inside, makes the page's layout.
_LONGEST_CELL = 400
# The share of an item's text that links have if it is an item of a list of links.
_LINKED = 0.8
_NOT_FOLLOWED = re.compile(r"\b(nofollow|ugc|sponsored)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class HtmlText:
    """The content of a piece of HTML."""

    text: str  # one line per block
    links: tuple[tuple[str, str], ...]  # (href, anchor text) pairs in document order
    headings: tuple[int, ...] = ()  # the numbers of the lines that are headings, from 0
    unfollowed: frozenset[tuple[str, str]] = frozenset()  # those of the links that `is_followed` denies
    # the numbers of other lines that hold no anchor, from 0: code, tables, quotes, captions, terms, items that are
    # hardly more than links
    closed: tuple[int, ...] = ()
    # where links and code begin and end in the other lines, in turn, ascending
    taken: tuple[int, ...] = ()


def is_followed(rel: str) -> bool:
    """Return whether a link with this `rel` attribute passes weight: search engines don't count these three."""
    return _NOT_FOLLOWED.search(rel) is None


def is_html(text: str) -> bool:
    """Return whether a text is HTML rather than a text about HTML: it begins with a tag or contains a link."""
    return "<" in text and (_BEGIN.match(text) or _LINK.search(text)) is not None


def read_html(html: str) -> HtmlText:
    """Extract text and links, without scripts, menus and the like; parse broken HTML as a browser does.

    Ten thousand nested elements are not a page: then all text and links count, without any structure.
    """
    tree = parse_html(_MARKS.sub("", html.replace(_OPEN, " ").replace(_CLOSE, " ")))
    body = tree.body
    if body is None:  # a frameset
        return HtmlText("", ())
    # Inner elements first: removing an outer one removes its inner ones, too.
    for node in reversed(body.css(_DROPPED)):
        node.decompose()
    for node in body.css("br"):
        node.replace_with(_BREAK)
    for node in body.css(_BLOCKS):
        node.insert_before(_BREAK)
        node.insert_after(_BREAK)
    for node in body.css("h1, h2, h3, h4, h5, h6"):
        node.insert_before(_HEADING)
    for node in (
        *body.css(_CLOSED),
        *filter(_is_of_data, body.css("table")),
        *filter(_is_linked, body.css("li")),
    ):
        node.insert_before(_OPEN)
        node.insert_after(_CLOSE)
    links, unfollowed = list[tuple[str, str]](), set[tuple[str, str]]()
    for node in body.css("a[href]"):
        links.append((node.attributes.get("href") or "", _one_line(node.text())))
        if not is_followed(node.attributes.get("rel") or ""):
            unfollowed.add(links[-1])
    for node in body.css(_TAKEN):
        node.insert_before(_FROM)
        node.insert_after(_TO)
    lines, headings, closed = _lines(body.text())
    plain, taken = _without_marks(lines, {*headings, *closed})
    return HtmlText("\n".join(plain), tuple(links), headings, frozenset(unfollowed), closed, taken)


def _without_marks(lines: Sequence[str], closed: Set[int]) -> tuple[list[str], tuple[int, ...]]:
    plain, taken, depth, begin = list[str](), list[int](), 0, 0
    for number, line in enumerate(lines):
        words, at = list[str](), begin
        for part in _MARKS.split(_SECOND_SPACE.sub(r"\1", line)):
            if part in (_FROM, _TO):
                depth = max(0, depth + (1 if part == _FROM else -1))
                continue
            if depth and part and number not in closed:
                taken += at, at + len(part)
            words.append(part)
            at += len(part)
        plain.append("".join(words).rstrip(" "))
        begin += len(plain[-1]) + 1
    return plain, tuple(taken)


def _lines(text: str) -> tuple[list[str], tuple[int, ...], tuple[int, ...]]:
    """Return the lines of a text with marks, and the numbers of headings and of lines inside closed elements."""
    lines, headings, closed, depth = list[str](), list[int](), list[int](), 0
    for line in text.split(_BREAK):
        depth += line.count(_OPEN)
        if _MARKS.sub("", line).strip():
            if _HEADING in line:
                headings.append(len(lines))
            elif depth > 0:
                closed.append(len(lines))
            lines.append(_one_line(line))
        depth -= line.count(_CLOSE)
    return lines, tuple(headings), tuple(closed)


def _is_of_data(table: LexborNode) -> bool:
    inner = any(one.mem_id != table.mem_id for one in table.css("table"))
    return not inner and all(len(cell.text()) <= _LONGEST_CELL for cell in table.css("td"))


def _is_linked(item: LexborNode) -> bool:
    links = item.css("a[href]")
    linked = sum(len(_one_line(link.text())) for link in links)
    return linked > 0 and linked >= _LINKED * len(_one_line(item.text()))


def parse_html(html: str) -> LexborHTMLParser:
    """Parse HTML as `read_html` does; too deeply nested HTML keeps no structure but links."""
    html = html if len(html) < _SHORT else with_few_attributes(html)
    if _is_abyss(html):
        html = _TAG.sub(lambda tag: _BREAK if tag[1].lower() in _BLOCK_NAMES else "", html)
    # The parser would stop at a lone surrogate.
    return LexborHTMLParser(html.encode("utf-8", "replace"))


def with_few_attributes(html: str, most: int = MOST_ATTRIBUTES) -> str:
    """Return the HTML without the attributes of an element beyond the first `most`.

    Whatever looks like the beginning of an element is examined, also in comments and in quotes, as only a parser knows
    where these end. HTML that makes this take long is cut off.
    """
    for _ in range(_MOST_CUTS):
        before, html = html, _with_cut_attributes(html, most)
        # What a cut joins may be an element again.
        if html == before:
            return html
    return html.replace("<", " ")


def _with_cut_attributes(html: str, most: int) -> str:
    first = re.compile(rf"[^\s/>]*+(?:{_ATTRIBUTE}){{0,{most}}}+")
    parts, done, work = list[str](), 0, 0
    for start in _START.finditer(html):
        found = first.match(html, start.end())
        end = found.end() if found else start.end()
        work += end - start.start()
        if work > _MOST_WORK * len(html):
            parts.append(html[done : max(done, start.start())])
            done = len(html)
            break
        if end >= done and (more := _MORE.match(html, end)):
            parts.append(html[done:end])
            done = more.end()
    return "".join([*parts, html[done:]])


def _is_abyss(html: str) -> bool:
    tags = html.count("<")
    if tags * tags <= _MOST_MET:
        return False
    opened, deepest = list[str](), 0
    for closing, name in _NESTED.findall(html.lower()):
        if name and not closing:
            opened.append(name)
            deepest = max(deepest, len(opened))
        elif opened and opened[-1] == name:
            opened.pop()
    return tags > _MOST_TAGS or tags * deepest > _MOST_MET


def _one_line(text: str) -> str:
    return " ".join(text.split())
