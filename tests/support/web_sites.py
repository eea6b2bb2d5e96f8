"""Realistic HTML pages: a text of some length, with a menu, a footer and a box beside it."""

from collections.abc import Sequence

from tests.support.small_project import SITE

TEXT = (
    "Green tea is steamed soon after it was picked, which keeps the leaves green and the cup grassy. Water of some "
    "seventy degrees is enough for it; with boiling water it turns bitter, and no sugar helps against that."
)


def html_page(
    name: str, text: str = TEXT, *, head: str = "", body: str = "", links: Sequence[tuple[str, str]] = ()
) -> str:
    """Return a whole page with a menu, a box beside the text and a footer.

    Args:
        name: the page's title and headline.
        text: the page's only paragraph.
        head: additional HTML for the head.
        body: additional HTML for the main part.
        links: (URL, anchor) of each link in the text.
    """
    inside = " ".join(f'Read on about <a href="{href}">{anchor}</a>.' for href, anchor in links)
    return f"""<!doctype html><html lang="en-GB"><head><meta charset="utf-8"><title>{name} | Tiny</title>{head}</head>
<body><header><a href="/">Home</a></header><nav><ul><li><a href="/menu/">Menu</a></li></ul></nav>
<main><h1>{name}</h1><p>{text} {inside}</p>{body}</main>
<aside><a href="/offer/">An offer</a></aside><footer><a href="/imprint/">Imprint</a></footer></body></html>"""


def menu_links(url: str, site: str = SITE) -> list[tuple[str, ...]]:
    """Return the rows of the links that each such page has before and after its text."""
    parts = (("/", "Home", "Header"), ("/menu/", "Menu", "Navigation"), ("/offer/", "An offer", "Aside"))
    ends = (*parts, ("/imprint/", "Imprint", "Footer"))
    return [(url, site + path, anchor, part, "Hyperlink") for path, anchor, part in ends]


def saved_as(url: str) -> str:
    """Return a head whose canonical link names the page's own URL."""
    return f'<link rel="canonical" href="{url}">'
