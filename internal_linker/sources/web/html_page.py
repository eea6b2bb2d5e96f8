"""Web pages: reads a page's text, metadata and links, with their positions, from its HTML and headers."""

import codecs
import logging
import re
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from urllib.parse import urljoin

from selectolax.lexbor import LexborHTMLParser, LexborNode

from internal_linker.model.cli_commands import needs_extra
from internal_linker.sources.crawler_vocabulary import CONTENT, NOT_INDEXABLE
from internal_linker.store.files.encodings import guess
from internal_linker.text.html import HtmlText, is_followed, parse_html, read_html

# Names of encodings that browsers know; Python's other codecs include some that don't encode text.
_KNOWN = re.compile(
    r"utf-?8|utf-?16(le|be)?|us-ascii|iso-?8859-\d{1,2}|latin-?\d|windows-\d{3,4}|cp-?\d{3,4}|koi8-[ru]|shift[-_]jis"
    r"|sjis|euc-(jp|kr)|iso-2022-jp|gb2312|gbk|gb18030|big5(-hkscs)?|tis-620|macintosh",
    re.IGNORECASE,
)
# Browsers read the smaller encodings as the larger ones that include them.
_LARGER = {"us-ascii": "cp1252", "iso-8859-1": "cp1252", "latin-1": "cp1252", "latin1": "cp1252"}
_LARGER |= {"gb2312": "gb18030", "gbk": "gb18030", "iso-8859-9": "cp1254", "shift_jis": "cp932"}
_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_META = re.compile(rb"<meta\b[^>]{0,500}?charset\s*=\s*[\"']?\s*([A-Za-z0-9_:.-]{1,40})", re.IGNORECASE)
# Bytes in which a page must name its encoding; many do so too late.
_HEAD = 4096


def decode_page(data: bytes, content_type: str = "") -> str:
    """Decode a page by its byte order mark, its header, its meta element, else as UTF-8 or a guess; never fail."""
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return _text(data.removeprefix(codecs.BOM_UTF8), encoding)
    header = re.search(r"charset\s*=\s*[\"']?([^\s;\"']+)", content_type, re.IGNORECASE)
    meta = _META.search(data[:_HEAD])
    for name in (header[1] if header else "", meta[1].decode("ascii") if meta else ""):
        if encoding := _python_name(name, of_meta=not header or name != header[1]):
            return _text(data, encoding)
    try:
        return _text(data, "utf-8", "strict")
    except UnicodeDecodeError:
        return _text(data, guess(data))


def _python_name(name: str, *, of_meta: bool) -> str:
    """Return Python's name of an encoding, "" if unknown."""
    low = name.lower()
    if not _KNOWN.fullmatch(low):
        return ""
    if of_meta and low.startswith("utf-16"):
        # A page whose meta element is readable as ASCII is not in UTF-16.
        return "utf-8"
    try:
        return codecs.lookup(_LARGER.get(low, low)).name
    except LookupError:
        return ""


def _text(data: bytes, encoding: str, errors: str = "replace") -> str:
    return data.decode(encoding, errors).replace("\0", "")


# It would log a line on the terminal for each page without a text.
logging.getLogger("trafilatura").setLevel(logging.CRITICAL + 1)
# Maximum characters of HTML for the extraction, which then takes about four seconds.
_MOST = 3_000_000
_NO_TEXT = "script, style, noscript, template, svg, iframe, object, select, textarea, dialog"


# Code within a sentence, and what stands for its tags while the main text is extracted: the extraction drops signs that
# can't be printed, and tags of words.
_INLINE = ("code", "kbd", "samp", "tt", "var")
_CODE, _CODE_END = "\U00012470", "\U00012471"
_IN_CODE, _SIGNS = (
    re.compile(f"{_CODE}([^<{_CODE}{_CODE_END}]*){_CODE_END}"),
    re.compile(f"[{_CODE}{_CODE_END}]"),
)
# The elements in which a page's sentences are, and the least characters of a line that no menu has.
_SENTENCES, _LONG_LINE = "p, li, blockquote, dd, td", 40
# The least share of an element's text that the extraction must have found, for all of it to count as the main text.
_MAIN_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class _MainText:
    html: str
    whole: bool  # whether it is the whole page, because no main text was recognised
    links: Set[tuple[str, str]]  # (target, anchor) of its links
    around: Set[int]  # `mem_id` of the links of the element that contains all of it, boxes in it included


def _main_text(tree: LexborHTMLParser, url: str, parts: Sequence[LexborNode]) -> _MainText:
    _unwrap_inline_code(tree)
    before = tree.html or ""
    # Inner ones first, because removing an outer one would free its inner ones.
    for node in reversed(parts):
        node.decompose()
    html = tree.html or ""
    found = _extracted(html, url)
    whole = not found
    if whole:
        found = _rest(html) or _rest(before)
    found = _SIGNS.sub("", _IN_CODE.sub(r"<code>\1</code>", found))
    read = read_html(found) if found else HtmlText("", ())
    around = frozenset[int]() if whole else _links_around(tree, read.text)
    return _MainText(found, whole, frozenset(read.links), around)


def _with_rel(html: str, rels: Mapping[tuple[str, str], str]) -> str:
    """Write the `rel` of links that pass no weight into the main text, whose extraction drops attributes."""
    wanted = {link: rel for link, rel in rels.items() if not is_followed(rel)}
    if not wanted:
        return html
    tree = LexborHTMLParser(html.encode("utf-8", "replace"))
    for node in tree.css("a[href]"):
        if rel := wanted.get((node.attributes.get("href") or "", _text_of(node))):
            node.attrs["rel"] = rel
    return (tree.body.inner_html if tree.body else None) or html


def _unwrap_inline_code(tree: LexborHTMLParser) -> None:
    """Make text with signs of code in sentences, of which the extraction would make blocks."""
    blocks = {node.mem_id for node in tree.css(", ".join(f"pre {name}" for name in _INLINE))}
    for node in tree.css(", ".join(_INLINE)):
        if node.mem_id not in blocks:
            node.insert_before(_CODE)
            node.insert_after(_CODE_END)
            node.unwrap()


def _links_around(tree: LexborHTMLParser, text: str) -> Set[int]:
    """Return `mem_id` of all links in the smallest element that contains the main text.

    There are none if most of that element's text is not the main text.
    """
    lines = {line for line in text.splitlines() if len(line) >= _LONG_LINE}
    # Elements without inner ones, so that no text is read twice.
    innermost = (node for node in tree.css(_SENTENCES) if len(node.css(_SENTENCES)) <= 1)
    found = [node for node in innermost if _SIGNS.sub("", _text_of(node)) in lines]
    if not found:
        return frozenset()
    # In document order, the first and the last element have the same ancestor as all of them.
    first, last = (_ancestors(node) for node in (found[0], found[-1]))
    ids = {node.mem_id for node in last}
    around = next((node for node in first if node.mem_id in ids), None)
    if around is None or len(text) < _MAIN_SHARE * len(_text_of(around, most=None)):
        return frozenset()
    return {node.mem_id for node in around.css("a[href], area[href]")}


def _ancestors(node: LexborNode) -> list[LexborNode]:
    found, above = list[LexborNode](), node.parent
    while above is not None:
        found.append(above)
        above = above.parent
    return found


def _extracted(html: str, url: str) -> str:
    if len(html) > _MOST:
        return ""
    # Imported late, because it takes half a second, which an import of tables does not need.
    with needs_extra("pages", "Reading HTML pages"):
        import trafilatura

    try:
        found = trafilatura.extract(
            html, url=url, output_format="html", include_links=True, include_comments=False
        )
    # No page may end an import, whatever its HTML: if the extraction fails, the whole page is read.
    except Exception:
        return ""
    return found if found and read_html(found).text else ""


def _rest(html: str) -> str:
    tree = LexborHTMLParser(html.encode("utf-8", "replace"))
    if tree.body is None:
        return ""
    for node in reversed(tree.body.css(_NO_TEXT)):
        node.decompose()
    return (tree.body.html or "") if tree.body.text(strip=True) else ""


# The name of a page's part, by its element or by its role.
_PARTS = {"nav": "Navigation", "header": "Header", "footer": "Footer", "aside": "Aside"}
_ROLES = {"navigation": "Navigation", "menu": "Navigation", "menubar": "Navigation", "banner": "Header"}
_ROLES |= {"contentinfo": "Footer", "complementary": "Aside"}
# Inside these, a header or footer belongs to the text: it has the headline or the date.
_TEXTS = frozenset({"article", "main", "section"})
_MAIN = frozenset({"article", "main"})
_BESIDE = "Aside"
# Only directives for all robots and for Google's count.
_ROBOTS = 'meta[name="robots" i], meta[name="googlebot" i]'
_OF_A_ROBOT = re.compile(r"\s*(?!unavailable_after|max-)([a-z][\w-]*)\s*:(.*)", re.IGNORECASE | re.DOTALL)
# Maximum characters of a title or an anchor.
_LONGEST_LINE = 10_000
_LONGEST_REL = 100


@dataclass(frozen=True, slots=True)
class _Place:
    """The named part of a page that contains an element, "" if none, and whether a text or main element does."""

    part: str = ""
    in_text: bool = False
    in_main: bool = False


@dataclass(frozen=True, slots=True)
class HtmlLink:
    """A link of a page."""

    target: str  # the absolute URL, or the address as written if it is invalid
    anchor: str  # the link's text, else its image's alternative text; one line
    position: str  # Content, Navigation, Header, Footer or Aside
    rel: str = ""  # the link's `rel` attribute


@dataclass(frozen=True, slots=True)
class WebPage:
    """The data of a page that an import reads."""

    url: str  # the page's URL
    title: str  # the title in its head
    h1: str  # the text of its first H1
    content: str  # HTML of the main text, with its headings and links
    whole: bool  # whether no main text was recognised, and `content` is everything except menus and the like
    lang: str  # the language code that the page or its server states
    indexability: str  # "Indexable" or "Non-Indexable", regardless of the canonical
    canonical: str  # the absolute canonical URL, "" if none
    links: Sequence[HtmlLink]  # the page's links


def read_page(
    html: str,
    url: str,
    headers: Mapping[str, str] | None = None,
    leads_to: Callable[[str], str] | None = None,
) -> WebPage:
    """Read a page; broken HTML is parsed as browsers do.

    Names of headers are in lower case, repeated headers joined by ", ". `leads_to` returns the URL that a link to a
    saved file means, "" for links relative to the page.
    """
    given = headers or {}
    tree = parse_html(_SIGNS.sub("", html))
    base = _joined(url, _attribute(tree, "base[href]", "href"))
    title, h1 = _text_of(tree.css_first("head > title")), _text_of(tree.css_first("h1"))
    noindex = _no_index(tree, given.get("x-robots-tag", ""))
    lang = _attribute(tree, "html[lang]", "lang") or _attribute(
        tree, 'meta[http-equiv="content-language" i]', "content"
    )
    lang = lang or given.get("content-language", "")
    canonical = _attribute(tree, 'link[rel~="canonical" i][href]', "href") or _canonical_header(given)
    places = dict[int, _Place]()
    links = _absolute_links(tree, base, leads_to, places)
    main = _main_text(tree, url, _containers(tree, places))
    return WebPage(
        url,
        title,
        h1,
        _with_rel(main.html, {(target, anchor): rel for target, anchor, *_, rel in reversed(links)}),
        main.whole,
        re.split(r"[,;\s]", lang.strip())[0][:40],
        NOT_INDEXABLE if noindex else "Indexable",
        _joined(base, canonical) if canonical else "",
        [
            HtmlLink(
                target,
                anchor,
                place.part
                or (
                    CONTENT
                    if place.in_main or (target, anchor) in main.links or node in main.around
                    else _BESIDE
                ),
                rel,
            )
            for target, anchor, place, node, rel in links
        ],
    )


def read_fragment(html: str, url: str) -> tuple[str, Sequence[HtmlLink]]:
    """Return the HTML of a main text with absolute URLs and without scripts, and its links; "" if there is no text."""
    tree = parse_html(html)
    if tree.body is None:
        return "", ()
    for node in reversed(tree.body.css(_NO_TEXT)):
        node.decompose()
    links = [
        HtmlLink(target, anchor, place.part or CONTENT, rel)
        for target, anchor, place, _, rel in _absolute_links(tree, url, None, {})
    ]
    return (tree.body.inner_html or "") if tree.body.text(strip=True) else "", links


def text_in(html: str) -> str:
    """Return the text of a piece of HTML, such as a title with entities, on one line."""
    return _text_of(parse_html(html).body)


def address_in(html: str) -> tuple[str, str]:
    """Return the URLs that a saved page states: the one that a browser noted, and its canonical or og:url."""
    noted = re.search(r"<!--\s*saved from url=\(\d+\)(https?://\S+)\s*-->", html[:5_000], re.IGNORECASE)
    tree = parse_html(html)
    canonical = _attribute(tree, 'link[rel~="canonical" i][href]', "href")
    named = canonical or _attribute(tree, 'meta[property="og:url" i]', "content")
    return noted[1] if noted else "", named


def _absolute_links(
    tree: LexborHTMLParser, base: str, leads_to: Callable[[str], str] | None, places: dict[int, _Place]
) -> list[tuple[str, str, _Place, int, str]]:
    """Return target, anchor, place, `mem_id` and `rel` of each link; write absolute targets into the tree."""
    found = []
    for node in tree.css("a[href], area[href]"):
        href = (node.attributes.get("href") or "").strip()
        target = (leads_to(href) if leads_to else "") or _joined(base, href)
        if node.tag == "a":
            node.attrs["href"] = target
        rel = " ".join((node.attributes.get("rel") or "")[:_LONGEST_REL].split())
        found.append((target, _text_of(node) or _picture(node), _place_of(node, places), node.mem_id, rel))
    return found


def _place_of(node: LexborNode, known: dict[int, _Place]) -> _Place:
    path = list[LexborNode]()
    above: LexborNode | None = node
    while above is not None and above.mem_id not in known:
        path.append(above)
        above = above.parent
    place = known[above.mem_id] if above is not None else _Place()
    for each in reversed(path):
        place = known[each.mem_id] = _inside(each, place)
    return place


def _inside(node: LexborNode, around: _Place) -> _Place:
    part = _part_of(node)
    if part in ("Header", "Footer") and around.in_text:
        part = ""
    tag = node.tag or ""
    return _Place(part or around.part, around.in_text or tag in _TEXTS, around.in_main or tag in _MAIN)


def _part_of(node: LexborNode) -> str:
    role = (node.attributes.get("role") or "").lower()
    return _ROLES.get(role) or _PARTS.get(node.tag or "", "")


def _containers(tree: LexborHTMLParser, known: dict[int, _Place]) -> list[LexborNode]:
    named = ", ".join([*_PARTS, *(f'[role="{role}" i]' for role in _ROLES)])
    return [
        node
        for node in tree.css(named)
        if node.tag not in ("html", "body", "main") and _place_of(node, known).part
    ]


def _no_index(tree: LexborHTMLParser, header: str) -> bool:
    directives = [node.attributes.get("content") or "" for node in tree.css(_ROBOTS)]
    words, robot = list[str](), ""
    for piece in header.split(","):
        if of_robot := _OF_A_ROBOT.fullmatch(piece):
            robot, piece = of_robot[1].lower(), of_robot[2]  # noqa: PLW2901
        if robot in ("", "googlebot"):
            words.append(piece)
    words += [word for each in directives for word in each.split(",")]
    return any(word.strip().lower() in ("noindex", "none") for word in words)


def _canonical_header(headers: Mapping[str, str]) -> str:
    found = re.search(
        r"<([^<>]*)>\s*;[^,]*\brel\s*=\s*\"?canonical\b", headers.get("link", ""), re.IGNORECASE
    )
    return found[1] if found else ""


def _joined(base: str, address: str) -> str:
    try:
        return urljoin(base, address.strip())
    except ValueError:
        return address.strip()


def _attribute(tree: LexborHTMLParser, selector: str, name: str) -> str:
    nodes = tree.css(selector)
    return next((text.strip() for node in nodes if (text := node.attributes.get(name))), "")


def _text_of(node: LexborNode | None, most: int | None = _LONGEST_LINE) -> str:
    return " ".join(node.text()[:most].split()) if node else ""


def _picture(node: LexborNode) -> str:
    picture = node.css_first("img[alt]")
    return " ".join((picture.attributes.get("alt") or "")[:_LONGEST_LINE].split()) if picture else ""
