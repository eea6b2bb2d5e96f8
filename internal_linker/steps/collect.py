"""The two input tables -> pages and sources in the user's own order, and every unusable row with its reason."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from urllib.parse import urljoin

from internal_linker.errors import InputError
from internal_linker.headers import Kind, display, find_column
from internal_linker.records import Collected, Page, Reject, Source, Table, fold_query
from internal_linker.urls import normal_form

_NOT_INDEXABLE = re.compile(r"^(non|not|no|nicht)\b|noindex|^(false|0)$", re.IGNORECASE)
_OPTIONAL = (Kind.TITLE, Kind.H1, Kind.CONTENT, Kind.LANG, Kind.INDEXABILITY, Kind.STATUS, Kind.CANONICAL)


def collect(queries: Table | None, pages: Table | None, *, queries_in_sheet: bool) -> Collected:
    """Join queries and pages by the normal form of their URL.

    Args:
        queries: a table with URL and Main Query; None where there is none.
        pages: a table with URL and Main Content; None where there is none.
        queries_in_sheet: whether the rows of `queries` can take links in the Sheet.

    Raises:
        InputError: a table lacks a column that it can't do without.
    """
    rejects: list[Reject] = []
    by_key, merged = _pages(pages, rejects) if pages else ({}, 0)
    sources: dict[tuple[str, str], Source] = {}
    if queries:
        for source in _queries(queries, by_key, rejects, queries_in_sheet):
            merged += source.identity in sources
            sources.setdefault(source.identity, source)
    queried = {source.key for source in sources.values()}
    for page in by_key.values():
        if page.key not in queried:
            source = Source(page.key, page.url, "", page, in_sheet=False)
            sources[source.identity] = source
    return Collected(tuple(by_key.values()), tuple(sources.values()), tuple(rejects), merged)


def _pages(table: Table, rejects: list[Reject]) -> tuple[dict[str, Page], int]:
    columns = _columns(table, required=(Kind.URL, Kind.CONTENT), optional=_OPTIONAL)
    pages: dict[str, Page] = {}
    rows: dict[str, int] = {}
    merged = 0
    for number, cells in _data(table, columns):
        try:
            page = _page(cells)
        except ValueError as error:
            rejects.append(Reject(table.name, number, cells[Kind.URL], str(error)))
            continue
        first = pages.get(page.key)
        if first is None:
            pages[page.key], rows[page.key] = page, number
            continue
        merged += 1
        used, other, row = first, page, number
        if first.not_target and not page.not_target:
            # A crawl lists a redirect beside the page it leads to: the page's own row counts.
            used, other, row, rows[page.key] = page, first, rows[page.key], number
        pages[page.key] = _filled(used, other)
        if other.content and used.content and other.content != used.content:
            reason = (
                f"the same page as row {rows[page.key]} with another content: row {rows[page.key]} is used"
            )
            rejects.append(Reject(table.name, row, other.url, reason))
    return pages, merged


def _page(cells: dict[Kind, str]) -> Page:
    key = normal_form(cells[Kind.URL])
    return Page(
        key,
        cells[Kind.URL],
        title=cells.get(Kind.TITLE, ""),
        h1=cells.get(Kind.H1, ""),
        content=cells[Kind.CONTENT],
        lang=_language(cells.get(Kind.LANG, "")),
        not_target=_not_target(key, cells),
    )


def _language(cell: str) -> str:
    """The language's code without its region; "" for hreflang's x-default, which is none."""
    code = cell.lower().replace("_", "-").partition("-")[0]
    return "" if code == "x" else code


def _not_target(key: str, cells: dict[Kind, str]) -> str:
    # A status in words ("OK", "published") says nothing about the server's answer.
    if (status := re.match(r"\d+", cells.get(Kind.STATUS, ""))) and status[0] != "200":
        return f"status {status[0]}"
    if _NOT_INDEXABLE.search(cells.get(Kind.INDEXABILITY, "")):
        return "not indexable"
    if canonical := cells.get(Kind.CANONICAL, ""):
        try:
            if normal_form(urljoin(cells[Kind.URL], canonical)) != key:
                return "canonicalised to another page"
        except ValueError:
            return "its canonical is no URL"
    return ""


def _filled(first: Page, other: Page) -> Page:
    """`first`, with what it lacks taken from another row of the same page."""
    gaps = {
        name: getattr(other, name)
        for name in ("title", "h1", "content", "lang")
        if not getattr(first, name) and getattr(other, name)
    }
    return replace(first, **gaps)


def _queries(table: Table, pages: dict[str, Page], rejects: list[Reject], in_sheet: bool) -> Iterator[Source]:
    columns = _columns(table, required=(Kind.URL, Kind.MAIN_QUERY))
    for number, cells in _data(table, columns):
        url, query = cells[Kind.URL], " ".join(cells[Kind.MAIN_QUERY].split())
        if not url and fold_query(query):
            yield Source("", "", query, None, in_sheet)
            continue
        try:
            key = normal_form(url)
        except ValueError as error:
            rejects.append(Reject(table.name, number, url, str(error)))
            continue
        yield Source(key, url, query, pages.get(key), in_sheet)


def _columns(table: Table, required: Sequence[Kind], optional: Sequence[Kind] = ()) -> dict[Kind, int]:
    found = {kind: find_column(table.header, kind) for kind in (*required, *optional)}
    if missing := [display(kind) for kind in required if found[kind] is None]:
        there = ", ".join(cell for cell in table.header if cell.strip()) or "nothing"
        raise InputError(
            f"{table.name}: the header row has no column '{missing[0]}' (it has: {there}). "
            f"Name a column '{missing[0]}' in the first row."
        )
    return {kind: column for kind, column in found.items() if column is not None}


def _data(table: Table, columns: dict[Kind, int]) -> Iterator[tuple[int, dict[Kind, str]]]:
    """Row number and stripped cells by kind; rows in which all these cells are blank are no rows."""
    for number, row in table.rows:
        cells = {kind: row[at].strip() if at < len(row) else "" for kind, at in columns.items()}
        if any(cells.values()):
            yield number, cells
