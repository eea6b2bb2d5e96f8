"""Crawlers' tables: reads their pages, each once, and their links, translated to our vocabulary."""

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from statistics import median
from sys import intern

from internal_linker.model.canonical_hosts import CanonicalHosts, HostVotes
from internal_linker.model.errors import InputError
from internal_linker.model.records import Reject, StoredText, TableStream
from internal_linker.model.urls import NormalForms, encoded, leads_to_no_page
from internal_linker.sources.crawler_vocabulary import english
from internal_linker.sources.existing_links import reject_link
from internal_linker.sources.tables.columns import (
    Kind,
    cells_of,
    columns_of,
    display,
    find_column,
    find_named,
    find_vectors,
)

# What decides whether a page is a target of its own; a page takes all these cells from one row.
STANDING = (Kind.INDEXABILITY, Kind.STATUS, Kind.CANONICAL, Kind.REDIRECT)
PAGE_KINDS = (Kind.URL, Kind.TITLE, Kind.H1, Kind.CONTENT, Kind.LANG, *STANDING, Kind.ROLE, Kind.CATEGORIES)
LINK_KINDS = (
    *(Kind.SOURCE, Kind.DESTINATION, Kind.ANCHOR, Kind.LINK_POSITION, Kind.LINK_TYPE),
    *(Kind.START, Kind.FOLLOW, Kind.REL),
)
# An import reads the crawler's count of words, but does not write it.
KEPT = (*PAGE_KINDS, Kind.WORDS)
# The columns of a table of pages that an import reads.
READ = (*KEPT, Kind.CONTENT_TYPE, Kind.VECTOR)
AT = {kind: at for at, kind in enumerate(KEPT)}

# Cells in the order of `KEPT`.
Row = list[str | StoredText]


def cell(row: Row, kind: Kind) -> str:
    """Return a cell as text."""
    return str(row[AT[kind]])


def bad_status(row: Row) -> bool:
    """Return whether the row has another status than 200."""
    status = re.match(r"\d+", cell(row, Kind.STATUS))
    return status is not None and status[0] != "200"


# Maximum dimensions of an embedding: ten times those of any model.
_MOST = 50_000
# The range of float32, in which vectors are stored: larger numbers and smaller squares are lost.
_LARGEST, _SMALLEST = 1e38, 1e-18


def vector_cell(cell: str) -> tuple[str, int]:
    """Return the list, with its numbers spelt as in the cell, and its dimensions. The brackets may be missing.

    Raises:
        ValueError: the cell is not an embedding; the message says why.
    """
    inside = cell.strip()
    if inside.startswith("[") and inside.endswith("]"):
        inside = inside[1:-1]
    if inside.count(",") >= _MOST:
        raise ValueError(f"its embedding has more than {_MOST:,} dimensions")
    try:
        numbers = json.loads(f"[{inside}]", parse_constant=_refuse)
    except (ValueError, RecursionError):
        raise ValueError("its embedding is not a list of numbers") from None
    if not all(type(number) in (int, float) for number in numbers) or len(numbers) < 2:
        raise ValueError("its embedding is not a list of numbers")
    largest = max(abs(number) for number in numbers)
    if largest < _SMALLEST:
        raise ValueError("its embedding has only zeros")
    if largest > _LARGEST or not math.isfinite(largest):
        raise ValueError("its embedding has a number that is too large")
    return "[" + ", ".join(part.strip() for part in inside.split(",")) + "]", len(numbers)


def _refuse(name: str) -> float:
    raise ValueError(name)


# Cells in the crawler's own vocabulary.
_WORDS = (Kind.LINK_POSITION, Kind.LINK_TYPE)
# Cells of a page that an import reads, but does not write.
_ASIDE = (Kind.CONTENT_TYPE, Kind.WORDS)
# Rows that decide what a column is: redirects and errors may come first, with empty cells.
_HEAD = 300
# Characters from which the median cell of a column is long enough for a page's text: descriptions have about 160.
_LONG_TEXT = 300
# The least share of the rows in which a column of texts has one.
_FILLED = 0.1
# How the cells of other long columns begin: structured data, and the whole HTML of pages.
_NO_TEXT = ("{", "[", "<!doctype", "<html")
_MIME = re.compile(r"[a-z]+/[a-z0-9.+-]+(;.*)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class CrawlTable:
    """A table of pages or links, with its recognised columns."""

    table: TableStream  # the table, whose rows have not been read
    links: bool  # whether the rows are links; else they are pages
    columns: dict[Kind, int]  # the positions of the columns
    median: int = 0  # the median length of the contents in the first rows, in characters; 0: unknown
    proposed: bool = False  # whether the column of contents was recognised by its long texts, not by its name

    @property
    def rows_are(self) -> str:
        """What the rows are: "links" or "pages"."""
        return "links" if self.links else "pages"

    @property
    def of_vectors(self) -> bool:
        """Whether the table has only embeddings of pages, like our own vectorized_urls.csv."""
        return self.columns.keys() == {Kind.URL, Kind.VECTOR}


@dataclass
class Crawl:
    """What an import has read so far."""

    keep: Callable[[str], str | StoredText] = str  # stores a page's content
    # Learns the canonical hosts; has the mapped ones
    votes: HostVotes = field(default_factory=lambda: HostVotes(CanonicalHosts()))
    pages: dict[str, Row] = field(default_factory=dict)  # the pages' rows, by key
    # URL and embedding, by the page's key
    vectors: dict[str, tuple[str, str | StoredText]] = field(default_factory=dict)
    dimensions: int = 0  # dimensions of all embeddings; 0 before the first
    rejects: list[Reject] = field(default_factory=list)  # the rejected rows
    links: int = 0  # count of links read
    merged: int = 0  # count of rows whose page an earlier row had
    left_out: Counter[str] = field(default_factory=Counter)  # count of rows or pages left out, by the reason
    facts: Counter[str] = field(default_factory=Counter)  # other counts, by name
    gaps: list[str] = field(default_factory=list)  # what is missing because a site failed, one sentence each


def recognised(table: TableStream, url_column: str = "", content_column: str = "") -> CrawlTable:
    """Tell pages from links by the header: links have a source and a destination.

    A named column counts if the table has it; "": it is recognised.

    Raises:
        InputError: the table has neither a column of URLs nor columns of sources and destinations; names its columns.
    """
    named = {
        kind: at
        for kind, name in ((Kind.URL, url_column), (Kind.CONTENT, content_column))
        if name and (at := find_named(table.header, name)) is not None
    }
    ends = [find_column(table.header, kind) for kind in (Kind.SOURCE, Kind.DESTINATION)]
    if Kind.URL not in named and None not in ends:
        columns = columns_of(table, LINK_KINDS[:2], LINK_KINDS[2:])
        return CrawlTable(table, links=True, columns=columns)
    remedy = "Use --url-column to name the column with the pages' URLs."
    required = () if Kind.URL in named else (Kind.URL,)
    columns = columns_of(table, required, (*PAGE_KINDS[1:], *_ASIDE), remedy) | named
    if (vectors := find_vectors(table.header)) is not None:
        columns[Kind.VECTOR] = vectors
    if table.made:
        return CrawlTable(table, links=False, columns=columns)
    head = list(islice(table.rows, _HEAD))
    table = replace(table, rows=chain(head, table.rows))
    contents = _cells(head, columns[Kind.CONTENT]) if Kind.CONTENT in columns else []
    # In older exports, Screaming Frog names the MIME type "Content".
    if Kind.CONTENT_TYPE not in columns and contents and _MIME.fullmatch(contents[0]):
        columns[Kind.CONTENT_TYPE] = columns.pop(Kind.CONTENT)
        contents = []
    return CrawlTable(table, links=False, columns=columns, median=_median(contents))


def choose_columns(table: TableStream, *, links: bool, columns: Mapping[Kind, int]) -> CrawlTable:
    """Return a table with the columns that a person chose.

    Raises:
        InputError: a column that is needed is missing, or there is no such column.
    """
    allowed, needed = (LINK_KINDS, LINK_KINDS[:2]) if links else (READ, READ[:1])
    if missing := [display(kind) for kind in needed if kind not in columns]:
        raise InputError(f"{table.name}: choose the column '{missing[0]}'.")
    for kind, at in columns.items():
        if kind not in allowed or not 0 <= at < len(table.header):
            raise InputError(
                f"{table.name}: '{display(kind)}' can't be column {at + 1} of {len(table.header)}."
            )
    head = list(islice(table.rows, _HEAD))
    contents = _cells(head, columns[Kind.CONTENT]) if Kind.CONTENT in columns else []
    table = replace(table, rows=chain(head, table.rows))
    return CrawlTable(table, links, dict(columns), median=_median(contents))


def with_proposed_content(crawl: CrawlTable) -> CrawlTable:
    """Take the column with the longest texts for the contents: a crawler's custom extraction may have any name.

    A table that has a column of contents, or none with long texts, is returned as it is.
    """
    if crawl.links or crawl.of_vectors or crawl.table.made or Kind.CONTENT in crawl.columns:
        return crawl
    head = list(islice(crawl.table.rows, _HEAD))
    known, found = set(crawl.columns.values()), dict[int, int]()
    for at in range(len(crawl.table.header)):
        texts = [] if at in known else _cells(head, at)
        length = _median([text for text in texts if not text.lower().startswith(_NO_TEXT)])
        if length >= _LONG_TEXT and len(texts) >= _FILLED * len(head):
            found[at] = length
    table = replace(crawl.table, rows=chain(head, crawl.table.rows))
    if not found:
        return replace(crawl, table=table)
    longest = max(found, key=lambda at: found[at])
    columns = crawl.columns | {Kind.CONTENT: longest}
    return replace(crawl, table=table, columns=columns, median=found[longest], proposed=True)


def _cells(rows: Iterable[tuple[int, Sequence[str]]], at: int) -> list[str]:
    return [text for _, row in rows if at < len(row) and (text := row[at].strip())]


def _median(texts: Sequence[str]) -> int:
    return round(median(map(len, texts))) if texts else 0


def written(tables: Iterable[CrawlTable], kinds: Sequence[Kind]) -> list[Kind]:
    """Return the kinds of columns that any of the tables has, in the given order."""
    there = {kind for table in tables for kind in table.columns}
    return [kind for kind in kinds if kind in there]


def add_pages(crawl: Crawl, pages: CrawlTable) -> None:
    """Read a table of pages; fill in missing cells of pages that are known already."""
    name = pages.table.name
    for number, cells in cells_of(pages.table, pages.columns):
        kind = cells.get(Kind.CONTENT_TYPE, "")
        if kind and "html" not in kind.casefold():
            crawl.left_out["not an HTML page"] += 1
            continue
        try:
            key = crawl.votes.key(cells[Kind.URL])
        except ValueError as error:
            crawl.rejects.append(Reject(name, number, cells[Kind.URL], str(error)))
            continue
        if Kind.VECTOR in cells:
            _add_vector(crawl, Reject(name, number, cells[Kind.URL], ""), key, cells[Kind.VECTOR])
        if pages.of_vectors:
            continue
        row = _row(cells, crawl.votes.mapping)
        if not bad_status(row):
            crawl.votes.vote(cells[Kind.URL])
        known = crawl.pages.get(key)
        if known is None:
            row[AT[Kind.CONTENT]] = crawl.keep(cell(row, Kind.CONTENT))
            crawl.pages[key] = row
            continue
        crawl.merged += 1
        if _merge(known, row, crawl.keep):
            reason = "the same page as an earlier row, with different content: the earlier row is used"
            crawl.rejects.append(Reject(name, number, cells[Kind.URL], reason))
    crawl.rejects += pages.table.asides.rejects
    crawl.left_out.update(pages.table.asides.left_out)
    crawl.facts.update(pages.table.asides.facts)
    crawl.gaps += pages.table.asides.gaps


def page_cells(rows: Iterable[Row], header: Sequence[Kind]) -> Iterator[list[str]]:
    """Yield each row's cells of these kinds, as text."""
    places = [AT[kind] for kind in header]
    return ([str(row[at]) for at in places] for row in rows)


def link_cells(crawl: Crawl, links: CrawlTable, header: Sequence[Kind]) -> Iterator[list[str]]:
    """Yield the links of a table; count those that don't lead to a page, and reject those without a valid URL."""
    forms, mapping = NormalForms(), crawl.votes.mapping
    for number, cells in cells_of(links.table, links.columns):
        source, target = cells[Kind.SOURCE], cells[Kind.DESTINATION]
        if not (source or target):
            continue
        if forms[source] and forms[target]:
            crawl.links += 1
            if mapping.mapped:
                cells |= {kind: mapping.written(cells[kind]) for kind in (Kind.SOURCE, Kind.DESTINATION)}
            yield [
                english(kind, cells.get(kind, "")) if kind in _WORDS else cells.get(kind, "")
                for kind in header
            ]
        elif forms[source] and leads_to_no_page(target):
            crawl.left_out["link that is not to a page (mailto:, tel:, ...)"] += 1
        else:
            crawl.rejects.append(reject_link(links.table.name, number, source, target))


def _add_vector(crawl: Crawl, row: Reject, key: str, cell: str) -> None:
    if not cell or key in crawl.vectors:
        return
    try:
        numbers, count = vector_cell(cell)
        if crawl.dimensions not in (0, count):
            raise ValueError(f"its embedding has {count} dimensions, the first one {crawl.dimensions}")
    except ValueError as error:
        crawl.rejects.append(replace(row, reason=str(error)))
        return
    crawl.dimensions = count
    crawl.vectors[key] = crawl.votes.mapping.written(row.url), crawl.keep(numbers)


def _row(cells: dict[Kind, str], mapping: CanonicalHosts) -> Row:
    row: Row = [cells.get(kind, "") for kind in KEPT]
    row[AT[Kind.URL]] = encoded(cells[Kind.URL])
    if mapping.mapped:
        for kind in (Kind.URL, Kind.CANONICAL, Kind.REDIRECT):
            row[AT[kind]] = mapping.written(cell(row, kind))
        row[AT[Kind.CONTENT]] = mapping.written_html(cell(row, Kind.CONTENT))
    # A crawl has few distinct values of these.
    for kind in (Kind.STATUS, Kind.LANG, Kind.ROLE, Kind.CATEGORIES, Kind.WORDS):
        row[AT[kind]] = intern(cells.get(kind, ""))
    # Equal texts share one object, which saves memory.
    for kind, other in ((Kind.CANONICAL, Kind.URL), (Kind.H1, Kind.TITLE)):
        if row[AT[kind]] == row[AT[other]]:
            row[AT[kind]] = row[AT[other]]
    row[AT[Kind.INDEXABILITY]] = english(Kind.INDEXABILITY, cells.get(Kind.INDEXABILITY, ""))
    return row


def _merge(known: Row, row: Row, keep: Callable[[str], str | StoredText]) -> bool:
    """Fill in what a known page lacks from another of its rows; return whether that row has another content."""
    if _rank(row) > _rank(known):
        for kind in (Kind.URL, *STANDING):
            known[AT[kind]] = row[AT[kind]]
    at = AT[Kind.CONTENT]
    other = bool(row[at] and known[at]) and str(row[at]) != str(known[at])
    if row[at] and not known[at]:
        known[at] = keep(str(row[at]))
    for kind in (Kind.TITLE, Kind.H1, Kind.LANG, Kind.ROLE, Kind.CATEGORIES, Kind.WORDS):
        known[AT[kind]] = known[AT[kind]] or row[AT[kind]]
    return other


def _rank(row: Row) -> int:
    """Return 2 for a page, 1 for a redirect or an error, 0 for a row without a status, as in a table of texts."""
    if not any(row[AT[kind]] for kind in STANDING):
        return 0
    return 1 if bad_status(row) else 2
