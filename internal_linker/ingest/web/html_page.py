"""A page's HTML, its URL and its server's headers -> what an import knows of it, and its links by their position."""

import codecs
import logging
import re
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from urllib.parse import urljoin

from selectolax.lexbor import LexborHTMLParser, LexborNode

from internal_linker.adapters.files.encodings import guess
from internal_linker.ingest.crawler_vocabulary import CONTENT, NOT_INDEXABLE
from internal_linker.text.html import parsed, read_html

# Names of encodings that browsers know; Python knows others, too, that are no encodings of text.
_KNOWN = re.compile(
    r"utf-?8|utf-?16(le|be)?|us-ascii|iso-?8859-\d{1,2}|latin-?\d|windows-\d{3,4}|cp-?\d{3,4}|koi8-[ru]|shift[-_]jis"
    r"|sjis|euc-(jp|kr)|iso-2022-jp|gb2312|gbk|gb18030|big5(-hkscs)?|tis-620|macintosh",
    re.IGNORECASE,
)
# Browsers read the smaller ones as the larger ones that hold them.
_LARGER = {"us-ascii": "cp1252", "iso-8859-1": "cp1252", "latin-1": "cp1252", "latin1": "cp1252"}
_LARGER |= {"gb2312": "gb18030", "gbk": "gb18030", "iso-8859-9": "cp1254", "shift_jis": "cp932"}
_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_META = re.compile(rb"<meta\b[^>]{0,500}?charset\s*=\s*[\"']?\s*([A-Za-z0-9_:.-]{1,40})", re.IGNORECASE)
# Bytes in which a page must name its encoding; many do so too late.
_HEAD = 4096


def decoded(data: bytes, content_type: str = "") -> str:
    """Return the text: by its byte order mark, its server's word, its own, else UTF-8 or a guess; never an error.

    Args:
        data: the page.
        content_type: the header of that name, "" without one.
    """
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return _text(data.removeprefix(codecs.BOM_UTF8), encoding)
    told = re.search(r"charset\s*=\s*[\"']?([^\s;\"']+)", content_type, re.IGNORECASE)
    meta = _META.search(data[:_HEAD])
    for name in (told[1] if told else "", meta[1].decode("ascii") if meta else ""):
        if encoding := _python_name(name, of_meta=not told or name != told[1]):
            return _text(data, encoding)
    try:
        return _text(data, "utf-8", "strict")
    except UnicodeDecodeError:
        return _text(data, guess(data))


def _python_name(name: str, *, of_meta: bool) -> str:
    """What Python calls it; "" for none that is known."""
    low = name.lower()
    if not _KNOWN.fullmatch(low):
        return ""
    if of_meta and low.startswith("utf-16"):
        # Whoever could read that in the page was not reading UTF-16.
        return "utf-8"
    try:
        return codecs.lookup(_LARGER.get(low, low)).name
    except LookupError:
        return ""


def _text(data: bytes, encoding: str, errors: str = "replace") -> str:
    return data.decode(encoding, errors).replace("\0", "")


# Each page without a text would be a line on the terminal.
logging.getLogger("trafilatura").setLevel(logging.CRITICAL + 1)
# Characters of HTML: this much takes some four seconds.
_MOST = 3_000_000
_NO_TEXT = "script, style, noscript, template, svg, iframe, object, select, textarea, dialog"


def main_html(
    tree: LexborHTMLParser, url: str, parts: Sequence[LexborNode]
) -> tuple[str, bool, Set[tuple[str, str]]]:
    """HTML of the main text, whether it is the whole page instead, and (target, anchor) of the links in it.

    The text keeps its markup, since a run tells headings and links by it: neither becomes an anchor.

    Args:
        tree: the page; the parts are taken out of it.
        url: where it is.
        parts: menus, footers and the like, the outer ones first.
    """
    before = tree.html or ""
    # Inner ones first: with an outer one its inner ones are gone.
    for node in reversed(parts):
        node.decompose()
    html = tree.html or ""
    found = _extracted(html, url)
    whole = not found
    if whole:
        found = _rest(html) or _rest(before)
    return found, whole, frozenset(read_html(found).links) if found else frozenset()


def _extracted(html: str, url: str) -> str:
    if len(html) > _MOST:
        return ""
    # Half a second, which an import of tables alone need not wait for.
    import trafilatura

    try:
        found = trafilatura.extract(
            html, url=url, output_format="html", include_links=True, include_comments=False
        )
    # A page may be of any kind, and none ends an import: what the library stumbles over is read whole.
    except Exception:
        return ""
    return found if found and read_html(found).text else ""


def _rest(html: str) -> str:
    """All that a person reads, as HTML; "" where there is nothing."""
    tree = LexborHTMLParser(html.encode("utf-8", "replace"))
    if tree.body is None:
        return ""
    for node in reversed(tree.body.css(_NO_TEXT)):
        node.decompose()
    return (tree.body.html or "") if tree.body.text(strip=True) else ""


# What a page's part is, by its element or by the role that it has.
_PARTS = {"nav": "Navigation", "header": "Header", "footer": "Footer", "aside": "Aside"}
_ROLES = {"navigation": "Navigation", "menu": "Navigation", "menubar": "Navigation", "banner": "Header"}
_ROLES |= {"contentinfo": "Footer", "complementary": "Aside"}
# In one of these a header or footer is the text's own: it has its headline or its date.
_TEXTS = frozenset({"article", "main", "section"})
_MAIN = frozenset({"article", "main"})
_BESIDE = "Aside"
# Robots other than Google's may be told something else.
_ROBOTS = 'meta[name="robots" i], meta[name="googlebot" i]'
_OF_A_ROBOT = re.compile(r"\s*(?!unavailable_after|max-)([a-z][\w-]*)\s*:(.*)", re.IGNORECASE | re.DOTALL)
# Characters; a title of more is something else.
_LONGEST_LINE = 10_000


@dataclass(frozen=True, slots=True)
class _Place:
    """The part of a page that an element stands in, "" for none with a name, and in what it stands besides."""

    part: str = ""
    in_text: bool = False
    in_main: bool = False


@dataclass(frozen=True, slots=True)
class PageLink:
    """A link of a page.

    Attributes:
        target: absolute; where that can't be said as it stands.
        anchor: its text, or the word for its picture; one line.
        position: Content, Navigation, Header, Footer or Aside.
    """

    target: str
    anchor: str
    position: str


@dataclass(frozen=True, slots=True)
class WebPage:
    """What an import knows of a page.

    Attributes:
        url: where it is.
        content: HTML with the main text, its headings and links.
        whole: whether no main text was found in it, and `content` is all but menus and the like.
        lang: as the page or its server has it.
        indexability: "Indexable" or "Non-Indexable"; a canonical elsewhere is not looked at.
        canonical: absolute.
    """

    url: str
    title: str
    h1: str
    content: str
    whole: bool
    lang: str
    indexability: str
    canonical: str
    links: Sequence[PageLink]


def read_page(
    html: str,
    url: str,
    headers: Mapping[str, str] | None = None,
    leads_to: Callable[[str], str] | None = None,
) -> WebPage:
    """Read a page; broken HTML is read as a browser reads it.

    Args:
        html: all of it.
        url: where it is.
        headers: of the server's answer, their names in lower case; lines of one name joined by ", ".
        leads_to: the URL that a link means by itself (a saved file's), "" where it is relative to the page.
    """
    given = headers or {}
    tree = parsed(html)
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
    content, whole, inside = main_html(tree, url, _containers(tree, places))
    return WebPage(
        url,
        title,
        h1,
        content,
        whole,
        re.split(r"[,;\s]", lang.strip())[0][:40],
        NOT_INDEXABLE if noindex else "Indexable",
        _joined(base, canonical) if canonical else "",
        [
            PageLink(
                target,
                anchor,
                place.part or (CONTENT if place.in_main or (target, anchor) in inside else _BESIDE),
            )
            for target, anchor, place in links
        ],
    )


def address_in(html: str) -> tuple[str, str]:
    """Where a saved page says that it is from: the address that a browser noted, and its canonical or og:url."""
    noted = re.search(r"<!--\s*saved from url=\(\d+\)(https?://\S+)\s*-->", html[:5_000], re.IGNORECASE)
    tree = parsed(html)
    canonical = _attribute(tree, 'link[rel~="canonical" i][href]', "href")
    named = canonical or _attribute(tree, 'meta[property="og:url" i]', "content")
    return noted[1] if noted else "", named


def _absolute_links(
    tree: LexborHTMLParser, base: str, leads_to: Callable[[str], str] | None, places: dict[int, _Place]
) -> list[tuple[str, str, _Place]]:
    """Target, anchor and place of each link; the tree gets the targets."""
    found = []
    for node in tree.css("a[href], area[href]"):
        href = (node.attributes.get("href") or "").strip()
        target = (leads_to(href) if leads_to else "") or _joined(base, href)
        if node.tag == "a":
            node.attrs["href"] = target
        found.append((target, _text_of(node) or _picture(node), _place_of(node, places)))
    return found


def _place_of(node: LexborNode, known: dict[int, _Place]) -> _Place:
    """Where what stands in an element is, seen from the page's root; `known` has what was found before."""
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
    """The parts of the page that are none of its text, the outer ones first."""
    named = ", ".join([*_PARTS, *(f'[role="{role}" i]' for role in _ROLES)])
    return [
        node
        for node in tree.css(named)
        if node.tag not in ("html", "body", "main") and _place_of(node, known).part
    ]


def _no_index(tree: LexborHTMLParser, header: str) -> bool:
    told = [node.attributes.get("content") or "" for node in tree.css(_ROBOTS)]
    words, robot = list[str](), ""
    for piece in header.split(","):
        if of_robot := _OF_A_ROBOT.fullmatch(piece):
            robot, piece = of_robot[1].lower(), of_robot[2]  # noqa: PLW2901
        if robot in ("", "googlebot"):
            words.append(piece)
    words += [word for each in told for word in each.split(",")]
    return any(word.strip().lower() in ("noindex", "none") for word in words)


def _canonical_header(headers: Mapping[str, str]) -> str:
    found = re.search(
        r"<([^<>]*)>\s*;[^,]*\brel\s*=\s*\"?canonical\b", headers.get("link", ""), re.IGNORECASE
    )
    return found[1] if found else ""


def _joined(base: str, address: str) -> str:
    """An address that a page names, absolute; as it stands where it is none."""
    try:
        return urljoin(base, address.strip())
    except ValueError:
        return address.strip()


def _attribute(tree: LexborHTMLParser, selector: str, name: str) -> str:
    nodes = tree.css(selector)
    return next((text.strip() for node in nodes if (text := node.attributes.get(name))), "")


def _text_of(node: LexborNode | None) -> str:
    return " ".join(node.text()[:_LONGEST_LINE].split()) if node else ""


def _picture(node: LexborNode) -> str:
    picture = node.css_first("img[alt]")
    return " ".join((picture.attributes.get("alt") or "")[:_LONGEST_LINE].split()) if picture else ""
