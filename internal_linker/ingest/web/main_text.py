"""A page's tree -> HTML with its main text, headings and links, found by trafilatura, or all that is no menu."""

import logging
from collections.abc import Sequence, Set

from selectolax.lexbor import LexborHTMLParser, LexborNode

from internal_linker.text.html import read_html

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
