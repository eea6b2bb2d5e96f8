"""Pages -> the text that stands for each, and the hash by which its vector is kept."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace

from internal_linker.core.records import Page, Text
from internal_linker.core.sequences import Lazy


def page_text(page: Page) -> Text:
    """Title (else H1) and main content."""
    return Text((page.title or page.h1).strip(), str(page.content).strip(), page.key)


def all_texts(pages: Sequence[Page], names: Mapping[str, str], queries: Sequence[str]) -> Sequence[Text]:
    """The text of every page, then of every query, each made when it is asked for: contents may lie in a file.

    Args:
        pages: all pages.
        names: for pages, by their keys, the main query that stands for one without any text.
        queries: those without a page.
    """

    def text(row: int) -> Text:
        if row >= len(pages):
            return Text(queries[row - len(pages)], "")
        found = page_text(pages[row])
        return found if found.title or found.body else replace(found, title=names.get(found.key, ""))

    return Lazy(len(pages) + len(queries), text)


def text_hash(text: Text) -> str:
    """SHA-256 of title and body, hexadecimal: the same text has the same vector, whatever its URL."""
    return hashlib.sha256(f"{text.title}\x00{text.body}".encode("utf-8", "surrogatepass")).hexdigest()


def distinct(hashes: Sequence[str]) -> dict[str, int]:
    """Each hash with the first position it stands at, so that equal texts are encoded once."""
    first: dict[str, int] = {}
    for position, value in enumerate(hashes):
        first.setdefault(value, position)
    return first
