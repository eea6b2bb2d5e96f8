"""Texts of pages without the text of the links in them, from which a known link could be read off."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from internal_linker.model.records import Collected, ExistingLink, Text
from internal_linker.model.sequences import Lazy
from internal_linker.text.spans import place


def without_link_texts(texts: Sequence[Text], collected: Collected) -> Sequence[Text]:
    """Return the texts, each without the anchors of its page's known links, cut at their places only.

    What else a page says of a target is a reason for another link, or for one to a similar page; a link's own text is
    not, and the ranker was trained without it. Each text is cut on access, as contents may be in a file.

    Args:
        texts: one text for each page, stripped, then one for each source without a page.
    """
    pages = len(collected.pages)

    def text(row: int) -> Text:
        found = texts[row]
        key = collected.pages[row].key if row < pages else ""
        links = [link for link in collected.links_from.get(key, ()) if link.anchor]
        return replace(found, body=without_links(found.body, links)) if links else found

    return Lazy(len(texts), text)


def without_links(text: str, links: Iterable[ExistingLink]) -> str:
    """Return a text with a space instead of the anchor of each of these links, where it is found."""
    pieces, at = [], 0
    for start, end in sorted(filter(None, (place(text, link.anchor, link.start) for link in links))):
        if start >= at:
            pieces.append(text[at:start])
        at = max(at, end)
    return " ".join([*pieces, text[at:]])
