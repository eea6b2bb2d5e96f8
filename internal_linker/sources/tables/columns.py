"""Recognition of columns by their headers, in English and as crawlers write them in four other languages."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from internal_linker.model.errors import InputError
from internal_linker.model.ports import StreamSource
from internal_linker.model.records import Table, TableStream
from internal_linker.store.files.plain_text import shortened

Cell = str | float

# Characters; no column that we need has a longer name.
_LONGEST = 100


class Kind(StrEnum):
    """What a column contains; the value is its canonical name, which messages and the README use."""

    URL = "URL"
    MAIN_QUERY = "Main Query"
    CONTENT = "Main Content"
    TITLE = "Title"
    H1 = "H1"
    LANG = "Lang"
    INDEXABILITY = "Indexability"
    STATUS = "Status Code"
    CANONICAL = "Canonical"
    REDIRECT = "Redirect URL"
    SOURCE = "Source"
    DESTINATION = "Destination"
    ANCHOR = "Anchor"
    LINK_POSITION = "Link Position"
    LINK_TYPE = "Type"
    START = "Start"
    FOLLOW = "Follow"
    REL = "Rel"
    CONTENT_TYPE = "Content Type"
    WORDS = "Word Count"
    ROLE = "Role"
    VECTOR = "Embedding"
    CATEGORIES = "Categories"


# Best first: in a table with both "Status Code" (200) and "Status" (OK), the first is the status.
# First the English names that people and tools use, then the names in German, Spanish, French and Italian crawls.
SYNONYMS: dict[Kind, tuple[str, ...]] = {
    Kind.URL: (
        *("url", "urls", "address", "page", "page url", "link", "uri", "permalink", "landing page"),
        *("adresse", "dirección", "indirizzo"),
        # Ahrefs, then Search Console in the languages above.
        *("current url", "top pages", "pages", "häufigste seiten", "die häufigsten seiten"),
        *("páginas principales", "pages les plus populaires", "pagine principali"),
    ),
    Kind.MAIN_QUERY: (
        *("main query", "main queries", "query", "keyword", "main keyword", "focus keyword"),
        *("primary keyword", "target keyword", "top queries", "häufigste suchanfragen"),
        *("consultas principales", "requêtes les plus fréquentes", "query principali"),
    ),
    # A crawler's custom extraction adds a number to the name.
    Kind.CONTENT: (
        *("main content", "content", "text", "body", "main text", "page content", "article"),
        *("main content 1", "content 1", "text 1", "hauptinhalt", "inhalt", "contenu principal", "contenu"),
        *("contenido principal", "contenido", "contenuto principale", "contenuto", "texte", "texto", "testo"),
    ),
    Kind.TITLE: (
        *("title", "title 1", "page title", "seo title", "titel 1", "título 1", "titre 1", "titolo 1"),
        *("titel", "seitentitel", "titre", "título", "titolo"),
    ),
    Kind.H1: ("h1", "h1 1", "überschrift", "hauptüberschrift"),
    Kind.LANG: ("lang", "language", "locale", "hreflang", "sprache", "idioma", "langue", "lingua"),
    Kind.INDEXABILITY: (
        *("indexability", "indexierbarkeit", "indexabilidad", "indexabilité", "indicizzabilità"),
        *("indexable", "indexable status"),
    ),
    Kind.STATUS: (
        *("status code", "status", "http status", "code http", "código de respuesta", "codice di stato"),
        *("statuscode", "código de estado", "code de statut", "code de réponse", "http status code"),
    ),
    Kind.CANONICAL: (
        *("canonical", "canonical url", "canonical link element 1", "rel canonical"),
        *("elemento de enlace canónico 1", "élément de lien canonique 1", "elemento link canonical 1"),
    ),
    Kind.REDIRECT: (
        *("redirect url", "redirect uri", "redirects to", "redirect to", "redirect target", "redirect"),
        *("umleitungs url", "weiterleitungs url", "url de redirección", "url de redireccionamiento"),
        *("url de redirection", "url di reindirizzamento"),
    ),
    Kind.SOURCE: (
        *("source", "source url", "link source", "from", "quelle", "quell url", "origen", "fuente"),
        *("desde", "url source", "origine", "sorgente", "origin", "referring url", "linking url"),
        *("referring page url",),
    ),
    # "target" comes last: in tables with a destination, crawlers use it for the HTML attribute (_blank).
    Kind.DESTINATION: (
        *("destination", "destination url", "link target url", "target url", "to", "ziel", "ziel url"),
        *("destino", "hasta", "url de destination", "destinazione", "linked url", "target"),
    ),
    Kind.ANCHOR: (
        *("anchor", "anchor text", "link text", "ankertext", "anker", "linktext", "texto de anclaje"),
        *(
            "texto ancla",
            "texto del enlace",
            "ancla",
            "texte d'ancrage",
            "texte d’ancrage",
            "texte de l'ancre",
        ),
        *("ancrage", "ancre", "testo di ancoraggio", "testo di ancoraggio del link", "ancoraggio", "ancora"),
    ),
    Kind.LINK_POSITION: (
        *("link position", "linkposition", "posición del enlace", "position du lien"),
        *("posizione del link", "posizione link", "link location"),
    ),
    Kind.LINK_TYPE: (
        *("type", "link type", "typ", "linktyp", "tipo", "tipo de enlace", "type de lien", "tipo di link"),
    ),
    Kind.START: ("start",),
    Kind.FOLLOW: ("follow", "dofollow", "folgen", "seguir", "suivre", "segui"),
    Kind.REL: ("rel", "rel attribute", "link rel", "attribut rel", "atributo rel"),
    Kind.CONTENT_TYPE: (
        *("content type", "mime type", "inhaltstyp", "tipo de contenido", "type de contenu"),
        *("tipo di contenuto", "tipo contenuto"),
    ),
    Kind.WORDS: (
        *("word count", "wortanzahl", "wortzahl", "recuento de palabras", "nombre de mots"),
        *("conteggio parole", "numero di parole"),
    ),
    Kind.ROLE: ("role", "link role"),
    Kind.VECTOR: ("embedding", "embeddings"),
    Kind.CATEGORIES: ("categories",),
}
# Matches the names of crawlers' extractions, such as "Extract embeddings from page content 1".
_EMBEDDINGS = re.compile(r"\bembeddings?\b")


def find_column(header: Sequence[str], kind: Kind) -> int | None:
    """Return the position (from 0) of the column of this kind, by its name or a synonym; None without."""
    if kind.value in header:
        return header.index(kind.value)
    return _first(header, SYNONYMS[kind])


def find_named(header: Sequence[str], name: str) -> int | None:
    """Return the position (from 0) of the column with this name, in any case and spacing; None if there is none."""
    return _first(header, (fold_header(name),))


def find_vectors(header: Sequence[str]) -> int | None:
    """Return the position (from 0) of the first column with "embedding" in its name; None if there is none."""
    named = find_column(header, Kind.VECTOR)
    others = (at for at, name in enumerate(header) if _EMBEDDINGS.search(fold_header(name[:_LONGEST])))
    return next(others, None) if named is None else named


def columns_of(
    table: Table | TableStream, required: Sequence[Kind], optional: Sequence[Kind] = (), remedy: str = ""
) -> dict[Kind, int]:
    """Return the positions (from 0) of the table's columns of these kinds, of which it must have the required ones.

    `remedy` says what to do if one is missing; "": to name a column.

    Raises:
        InputError: a required column is missing; the message names it and lists the table's columns.
    """
    found = {kind: find_column(table.header, kind) for kind in (*required, *optional)}
    if missing := [display(kind) for kind in required if found[kind] is None]:
        raise InputError(lacks(table, missing[0], remedy))
    return {kind: column for kind, column in found.items() if column is not None}


def lacks(table: Table | TableStream, name: str, remedy: str = "") -> str:
    """Return the message that a table lacks a column: it names the column and lists those that the table has."""
    there = shortened(", ".join(cell for cell in table.header[:100] if cell.strip()), 500) or "nothing"
    remedy = remedy or f"Name a column '{name}' in the first row."
    return f"{table.name}: the header row has no column '{name}' (it has: {there}). {remedy}"


def filled(source: StreamSource, kind: Kind) -> bool:
    """Return whether any row of a table has something in the column of this kind; reads as far as the first one.

    Raises:
        InputError: the table can't be read.
    """
    table = source.stream()
    at = find_column(table.header, kind)
    return at is not None and any(at < len(row) and row[at].strip() for _, row in table.rows)


def names_columns(cells: Sequence[str]) -> bool:
    """Return whether a row looks like a header: one of its cells is the name of a known column."""
    return any(find_column(cells, kind) is not None for kind in Kind)


def cells_of(table: Table | TableStream, columns: dict[Kind, int]) -> Iterator[tuple[int, dict[Kind, str]]]:
    """Yield row number and stripped cells by kind; skip rows in which all these cells are blank."""
    for number, row in table.rows:
        cells = {kind: row[at].strip() if at < len(row) else "" for kind, at in columns.items()}
        if any(cells.values()):
            yield number, cells


def link_column(header: Sequence[str], number: int) -> int | None:
    """Return the position (from 0) of our column "Link <number>", in any case and spacing; None if there is none."""
    if (name := link_name(number)) in header:
        return header.index(name)
    return _first(header, (f"link {number}", f"link{number}"))


def link_name(number: int) -> str:
    """Return the name of our column for the link of this rank (from 1)."""
    return f"Link {number}"


def is_link_column(name: str) -> bool:
    """Return whether a column has the name of one of ours: "Link 1", "Link 2", ..., in any case and spacing."""
    return bool(re.fullmatch(r"link ?[1-9][0-9]*", fold_header(name[:_LONGEST])))


def display(kind: Kind) -> str:
    """Return the column's name for a message."""
    return kind.value


def fold_header(name: str) -> str:
    """Normalise a column's name: lower case, no BOM, one space for each run of "_", "-" and spaces."""
    plain = unicodedata.normalize("NFKC", name.replace("\ufeff", "")).casefold()
    return " ".join(plain.replace("_", " ").replace("-", " ").split())


def _first(header: Sequence[str], names: Sequence[str]) -> int | None:
    folded = [fold_header(name) if len(name) <= _LONGEST else "" for name in header]
    return next((folded.index(name) for name in names if name in folded), None)


def text_of(cell: Any) -> str:
    """Return a cell's text; whole numbers have no decimal point."""
    if isinstance(cell, str):
        return cell
    if isinstance(cell, bool):
        return str(cell).upper()
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return "" if cell is None else str(cell)


@dataclass(frozen=True, slots=True)
class QueryRows:
    """The rows of a table of main queries."""

    url: int  # the position (from 0) of the column of URLs
    query: int | None  # that of the main queries; None: there is none
    queries: Mapping[str, frozenset[str]]  # the main queries of each page that has any, by its key
    # The number of the first row with an empty cell of each page that has none, by its key.
    empty: Mapping[str, int]
    # The number of the first row of each page that has neither, but a cell of spaces, by its key.
    blank: Mapping[str, int]
    # Page ("": none) and main query of each row, by its number; a cell of spaces as it is.
    cells: Mapping[int, tuple[str, str]]


def query_rows(
    header: Sequence[str], rows: Iterable[tuple[int, Sequence[str]]], key_of: Callable[[str], str]
) -> QueryRows | None:
    """Return which pages have a main query; None without a column of URLs.

    `key_of` returns the key of a URL, or raises ValueError for a text that is none.
    """
    url, query = find_column(header, Kind.URL), find_column(header, Kind.MAIN_QUERY)
    if url is None:
        return None
    queries, empty, blank = dict[str, frozenset[str]](), dict[str, int](), dict[str, int]()
    cells = dict[int, tuple[str, str]]()
    for number, row in rows:
        cell = row[query] if query is not None and query < len(row) else ""
        text = cell.strip() or cell
        try:
            page = key_of(row[url] if url < len(row) else "")
        except ValueError:
            cells[number] = "", text
            continue
        cells[number] = page, text
        if text.strip():
            queries[page] = queries.get(page, frozenset()) | {text}
        else:
            (blank if text else empty).setdefault(page, number)
    empty = {page: row for page, row in empty.items() if page not in queries}
    blank = {page: row for page, row in blank.items() if page not in queries and page not in empty}
    return QueryRows(url, query, queries, empty, blank, cells)
