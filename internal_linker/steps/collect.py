"""The two input tables -> pages and sources in the user's own order, and every unusable row with its reason."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import starmap
from urllib.parse import urljoin

from internal_linker.headers import Kind, cells_of, columns_of
from internal_linker.html_text import is_html, read_html
from internal_linker.records import Collected, ExistingLink, Page, Reject, Source, Table, fold_query
from internal_linker.urls import NormalForms, normal_form, without_tracking

_NOT_INDEXABLE = re.compile(r"^(non|not|no|nicht)\b|noindex|^(false|0)$", re.IGNORECASE)
# Crawlers write "-" or "no" where nothing redirects.
_ADDRESS = re.compile(r"https?:|/", re.IGNORECASE)
_OPTIONAL = (
    *(Kind.TITLE, Kind.H1, Kind.LANG, Kind.INDEXABILITY, Kind.STATUS, Kind.CANONICAL, Kind.REDIRECT),
)


def collect(queries: Table | None, pages: Table | None, *, queries_in_sheet: bool) -> Collected:
    """Join queries and pages by the normal form of their URL; content in HTML becomes text and links.

    Args:
        queries: a table with URL and Main Query; None where there is none.
        pages: a table with URL and Main Content; None where there is none.
        queries_in_sheet: whether the rows of `queries` can take links in the Sheet.

    Raises:
        InputError: a table lacks a column that it can't do without.
    """
    rejects: list[Reject] = []
    site = _Site()
    if pages:
        _read_pages(pages, site, rejects)
    merged = site.merged
    sources: dict[tuple[str, str], Source] = {}
    if queries:
        for source in _queries(queries, site.pages, rejects, queries_in_sheet):
            merged += source.identity in sources
            sources.setdefault(source.identity, source)
    queried = {source.key for source in sources.values()}
    for page in site.pages.values():
        if page.key not in queried:
            source = Source(page.key, page.url, "", page, in_sheet=False)
            sources[source.identity] = source
    aliases = _followed({key: to for key, to in site.leads_to.items() if site.pages[key].not_target})
    return Collected(
        tuple(site.pages.values()),
        tuple(sources.values()),
        tuple(rejects),
        merged,
        tuple(starmap(ExistingLink, _resolved(site.links, aliases))),
        aliases,
    )


@dataclass
class _Site:
    """What the rows of the page table have told so far; `rows` tells which of them each page is."""

    pages: dict[str, Page] = field(default_factory=dict)
    rows: dict[str, int] = field(default_factory=dict)
    leads_to: dict[str, str] = field(default_factory=dict)
    links: dict[tuple[str, str, str], None] = field(default_factory=dict)
    forms: NormalForms = field(default_factory=NormalForms)
    merged: int = 0


def _read_pages(table: Table, site: _Site, rejects: list[Reject]) -> None:
    columns = columns_of(table, required=(Kind.URL, Kind.CONTENT), optional=_OPTIONAL)
    pages, rows = site.pages, site.rows
    for number, cells in cells_of(table, columns):
        try:
            page = _page(cells, site)
        except ValueError as error:
            rejects.append(Reject(table.name, number, cells[Kind.URL], str(error)))
            continue
        first = pages.get(page.key)
        if first is None:
            pages[page.key], rows[page.key] = page, number
            continue
        site.merged += 1
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


def _page(cells: dict[Kind, str], site: _Site) -> Page:
    """The page of a row; where it leads to, and the links in its content, go into `site`."""
    key = normal_form(cells[Kind.URL])
    not_target, leads_to = _standing(key, cells)
    if leads_to:
        site.leads_to.setdefault(key, leads_to)
    content = cells[Kind.CONTENT]
    if is_html(content):
        read = read_html(content)
        content = read.text
        base = without_tracking(cells[Kind.URL])
        for href, anchor in read.links:
            if target := _target(base, href, site.forms):
                site.links.setdefault((key, target, anchor))
    return Page(
        key,
        cells[Kind.URL],
        title=cells.get(Kind.TITLE, ""),
        h1=cells.get(Kind.H1, ""),
        content=content,
        lang=_language(cells.get(Kind.LANG, "")),
        not_target=not_target,
    )


def _target(base: str, href: str, forms: NormalForms) -> str:
    """The normal form that a link leads to, "" for mailto:, tel:, a broken address and the like."""
    try:
        return forms[urljoin(base, href.strip())]
    except ValueError:
        return ""


def _language(cell: str) -> str:
    """The language's code without its region; "" for hreflang's x-default, which is none."""
    code = cell.lower().replace("_", "-").partition("-")[0]
    return "" if code == "x" else code


def _standing(key: str, cells: dict[Kind, str]) -> tuple[str, str]:
    """Why no link may lead to a page, and the page that one is led to instead; "" where there is none."""
    redirect = cells.get(Kind.REDIRECT, "")
    moved = _other_page(key, cells, redirect) if _ADDRESS.match(redirect) else ""
    # A status in words ("OK", "published") says nothing about the server's answer.
    if (status := re.match(r"\d+", cells.get(Kind.STATUS, ""))) and status[0] != "200":
        return f"status {status[0]}", moved or ""
    if moved:
        return "redirects to another page", moved
    canonical = _other_page(key, cells, cells.get(Kind.CANONICAL, ""))
    # Before the indexability: crawlers call a copy of another page not indexable, too.
    if canonical:
        return "canonicalised to another page", canonical
    if _NOT_INDEXABLE.search(cells.get(Kind.INDEXABILITY, "")):
        return "not indexable", ""
    wrong = "canonical" if canonical is None else "redirect" if moved is None else ""
    return f"its {wrong} is no URL" if wrong else "", ""


def _other_page(key: str, cells: dict[Kind, str], address: str) -> str | None:
    """The normal form of an address in a row, "" where it is the row's own page or empty, None for no URL."""
    if not address:
        return ""
    try:
        other = normal_form(urljoin(cells[Kind.URL], address))
    except ValueError:
        return None
    return "" if other == key else other


def _followed(leads_to: Mapping[str, str]) -> dict[str, str]:
    """Each page with the end of its chain of redirects and copies; what runs in a circle leads nowhere."""
    ends: dict[str, str] = {}
    for start in leads_to:
        passed, at = dict.fromkeys([start]), leads_to[start]
        while at in leads_to and at not in passed and at not in ends:
            passed[at] = None
            at = leads_to[at]
        end = "" if at in passed else ends.get(at, at)
        ends.update(dict.fromkeys(passed, end))
    return {key: end for key, end in ends.items() if end}


def _resolved(
    links: Mapping[tuple[str, str, str], None], aliases: Mapping[str, str]
) -> dict[tuple[str, str, str], None]:
    """The links with their targets' final pages, each once, without those of a page to itself."""
    final = ((source, aliases.get(target, target), anchor) for source, target, anchor in links)
    return dict.fromkeys(link for link in final if link[0] != link[1])


def _filled(first: Page, other: Page) -> Page:
    """`first`, with what it lacks taken from another row of the same page."""
    gaps = {
        name: getattr(other, name)
        for name in ("title", "h1", "content", "lang")
        if not getattr(first, name) and getattr(other, name)
    }
    return replace(first, **gaps)


def _queries(table: Table, pages: dict[str, Page], rejects: list[Reject], in_sheet: bool) -> Iterator[Source]:
    columns = columns_of(table, required=(Kind.URL, Kind.MAIN_QUERY))
    for number, cells in cells_of(table, columns):
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
