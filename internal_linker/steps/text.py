"""Pages -> the text that stands for each, and the hash by which its vector is kept."""

import hashlib
from collections.abc import Sequence

from internal_linker.records import Page, Text


def page_text(page: Page) -> Text:
    """Title (else H1) and main content."""
    return Text((page.title or page.h1).strip(), page.content.strip())


def text_hash(text: Text) -> str:
    """SHA-256 of title and body, hexadecimal: the same text has the same vector, whatever its URL."""
    return hashlib.sha256(f"{text.title}\x00{text.body}".encode("utf-8", "surrogatepass")).hexdigest()


def distinct(hashes: Sequence[str]) -> dict[str, int]:
    """Each hash with the first position it stands at, so that equal texts are encoded once."""
    first: dict[str, int] = {}
    for position, value in enumerate(hashes):
        first.setdefault(value, position)
    return first
