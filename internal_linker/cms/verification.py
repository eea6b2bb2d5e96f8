"""Whether a text is another one with one more link in its body, as a browser's parser sees both."""

from selectolax.lexbor import LexborHTMLParser, LexborNode

# Text may be linked where only these elements are around it: no headings, links, captions, code, forms, menus, and
# nothing that is unknown.
OPEN_ELEMENTS = frozenset(
    "html body main article section div p ul ol li dl dd blockquote center details figure table tbody tfoot tr td "
    "span em strong b i u s strike small big mark abbr acronym sub sup q font time ins bdi bdo wbr".split()
)
_CLOSING_ROLES = frozenset("button heading link menu menuitem navigation tab".split())
_CAPTION = "caption"


def is_closing(name: str, attributes: dict[str, str]) -> bool:
    """Return whether no link may stand inside an element.

    Args:
        name: its name in lower case.
        attributes: its attributes.
    """
    if name not in OPEN_ELEMENTS:
        return True
    return bool(attributes) and (
        "hidden" in attributes
        or attributes.get("aria-hidden") == "true"
        or attributes.get("role", "").lower() in _CLOSING_ROLES
        or _CAPTION in attributes.get("class", "").lower()
    )


def is_only_linked(before: str, after: str, href: str) -> bool:
    """Return whether HTML has the same elements and text as before, but for one more link in body text.

    Args:
        before: the HTML without the link.
        after: the HTML with it.
        href: where the link leads, as its attribute says.
    """
    old, new = _parsed(before), _parsed(after)
    fresh = [link for link in new.css("a[href]") if link.attributes.get("href") == href]
    known = [link for link in old.css("a[href]") if link.attributes.get("href") == href]
    if known or len(fresh) != 1 or fresh[0].attributes != {"href": href}:
        return False
    return _is_in_body(fresh[0]) and _without(fresh[0], new) == old.html


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
