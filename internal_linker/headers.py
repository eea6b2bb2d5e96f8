"""The header row of a sheet or file -> where each column that matters stands, whoever named it."""

import unicodedata
from collections.abc import Sequence
from enum import StrEnum


class Kind(StrEnum):
    """What a column holds; the value is its canonical name, as messages and the README have it."""

    URL = "URL"
    MAIN_QUERY = "Main Query"
    CONTENT = "Main Content"
    TITLE = "Title"
    H1 = "H1"
    LANG = "Lang"
    INDEXABILITY = "Indexability"
    STATUS = "Status Code"
    CANONICAL = "Canonical"


# Best first: a table with both "Status Code" (200) and "Status" (OK) means the former by a status.
# English by hand or by habit, then what crawlers write in German, Spanish, French and Italian.
SYNONYMS: dict[Kind, tuple[str, ...]] = {
    Kind.URL: (
        *("url", "urls", "address", "page", "page url", "link", "uri", "permalink", "landing page"),
        *("adresse", "dirección", "indirizzo"),
    ),
    Kind.MAIN_QUERY: (
        *("main query", "main queries", "query", "keyword", "main keyword", "focus keyword"),
        *("primary keyword", "target keyword"),
    ),
    Kind.CONTENT: ("main content", "content", "text", "body", "main text", "page content", "article"),
    Kind.TITLE: ("title", "title 1", "page title", "seo title", "titel 1", "título 1", "titolo 1"),
    Kind.H1: ("h1", "h1 1"),
    Kind.LANG: ("lang", "language", "locale", "hreflang"),
    Kind.INDEXABILITY: (
        *("indexability", "indexierbarkeit", "indexabilidad", "indexabilité", "indicizzabilità"),
    ),
    Kind.STATUS: (
        *("status code", "status", "http status", "code http", "código de respuesta", "codice di stato"),
    ),
    Kind.CANONICAL: ("canonical", "canonical url", "canonical link element 1"),
}


def find_column(header: Sequence[str], kind: Kind) -> int | None:
    """Position (from 0) of the column of this kind, None without one.

    The canonical name as it is written wins, then the best synonym, then the leftmost column.
    """
    if kind.value in header:
        return header.index(kind.value)
    return _first(header, SYNONYMS[kind])


def link_column(header: Sequence[str], number: int) -> int | None:
    """Position (from 0) of our column "Link <number>", in any case and spacing; None without one."""
    if (name := link_name(number)) in header:
        return header.index(name)
    return _first(header, (f"link {number}", f"link{number}"))


def link_name(number: int) -> str:
    """What our column for the link of this rank (from 1) is called."""
    return f"Link {number}"


def display(kind: Kind) -> str:
    """The column's name for a message."""
    return kind.value


def fold_header(name: str) -> str:
    """One spelling of a column's name: no case, no BOM; "_", "-" and runs of spaces are one space."""
    plain = unicodedata.normalize("NFKC", name.replace("\ufeff", "")).casefold()
    return " ".join(plain.replace("_", " ").replace("-", " ").split())


def _first(header: Sequence[str], names: Sequence[str]) -> int | None:
    folded = [fold_header(name) for name in header]
    return next((folded.index(name) for name in names if name in folded), None)
