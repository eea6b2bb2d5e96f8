"""The two input tables -> pages and sources in the user's own order, and every unusable row with its reason."""

import re
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import starmap
from urllib.parse import urljoin

from internal_linker.adapters.tables.columns import Kind, cells_of, columns_of, display
from internal_linker.core.errors import InputError
from internal_linker.core.ports import ListSink, Progress, StreamSource
from internal_linker.core.reasons import NoTarget, Reason
from internal_linker.core.records import (
    SOURCE,
    TARGET,
    Collected,
    ExistingLink,
    Page,
    Reject,
    Source,
    StoredText,
    Table,
    TableStream,
    fold_query,
    role_of,
)
from internal_linker.core.sequences import Lazy
from internal_linker.core.urls import NormalForms, normal_form, other_page, without_tracking
from internal_linker.ingest.crawler_vocabulary import NOT_INDEXABLE, english
from internal_linker.ingest.existing_links import add_links, doubt
from internal_linker.text.html import is_html, read_html
from internal_linker.text.language import page_languages

# Crawlers write "-" or "no" where nothing redirects.
_ADDRESS = re.compile(r"https?:|/", re.IGNORECASE)
# Characters; far over any page's: what is longer is something else, and takes minutes and gigabytes. HTML is
# mostly no text.
_LONGEST = {Kind.CONTENT: 5_000_000, Kind.TITLE: 10_000, Kind.H1: 10_000}
_LONGEST_TEXT = 1_000_000
_LONGEST_QUERY = 1_000
_OPTIONAL = (
    *(Kind.TITLE, Kind.H1, Kind.LANG, Kind.INDEXABILITY, Kind.STATUS, Kind.CANONICAL, Kind.REDIRECT),
    Kind.ROLE,
)


def collect(
    queries: Table | TableStream | None,
    pages: Table | TableStream | None,
    *,
    queries_in_sheet: bool,
    keep: Callable[[str], str | StoredText] = str,
    languages: Callable[[Sequence[str], Sequence[str]], Sequence[str]] | None = None,
    follow: bool = True,
) -> Collected:
    """Join queries and pages by the normal form of their URL; content in HTML becomes text and links.

    Args:
        queries: a table with URL and Main Query; None where there is none.
        pages: a table with URL and Main Content; None where there is none.
        queries_in_sheet: whether the rows of `queries` can take links in the Sheet.
        keep: where a page's content goes while the others are read.
        languages: tells the pages' languages by their texts and the codes in their rows; None: the latter stand.
        follow: whether a link counts for the page that it ends at; False: its target is the page that it names.

    Raises:
        InputError: a table lacks a column that it can't do without, or has a damaged row.
    """
    rejects: list[Reject] = []
    site = _Site(keep)
    if pages:
        _read_pages(pages, site, rejects)
    if languages:
        _tell_languages(site.pages, languages)
    merged = site.merged
    queried: dict[tuple[str, str], Source] = {}
    if queries:
        for source in _queries(queries, site, rejects, queries_in_sheet):
            merged += queried.setdefault(source.identity, source) is not source
    keys = {source.key for source in queried.values()}
    others = (
        Source(page.key, page.url, "", page, in_sheet=False) for page in site.pages if page.key not in keys
    )
    aliases = _followed({key: to for key, to in site.leads_to.items() if site.page(key).issue})
    return Collected(
        tuple(site.pages),
        (*queried.values(), *others),
        tuple(rejects),
        merged,
        tuple(starmap(ExistingLink, _resolved(site.links, aliases if follow else {}))),
        aliases,
    )


@dataclass
class _Site:
    """What the rows of the page table have told so far.

    Attributes:
        keep: where contents go.
        pages: in the order of their first rows.
        rows: the number of the row that each of them is.
        places: each one's place among them, by its key.
    """

    keep: Callable[[str], str | StoredText]
    pages: list[Page] = field(default_factory=list)
    rows: "array[int]" = field(default_factory=lambda: array("Q"))
    places: dict[str, int] = field(default_factory=dict)
    leads_to: dict[str, str] = field(default_factory=dict)
    links: dict[tuple[str, str, str], None] = field(default_factory=dict)
    forms: NormalForms = field(default_factory=NormalForms)
    merged: int = 0

    def page(self, key: str) -> Page:
        """The page of a key that has one."""
        return self.pages[self.places[key]]


def _read_pages(table: Table | TableStream, site: _Site, rejects: list[Reject]) -> None:
    columns = columns_of(table, required=(Kind.URL, Kind.CONTENT), optional=_OPTIONAL)
    pages, rows = site.pages, site.rows
    for number, cells in cells_of(table, columns):
        reasons = list(_cut(cells))
        try:
            page = _page(cells, site, reasons)
        except ValueError as error:
            page = None
            reasons.append(str(error))
        rejects += [Reject(table.name, number, cells[Kind.URL], reason) for reason in reasons]
        if page is None:
            continue
        place = site.places.setdefault(page.key, len(pages))
        if place == len(pages):
            pages.append(page)
            rows.append(number)
            continue
        site.merged += 1
        used, other, row = pages[place], page, number
        if used.issue and not page.issue:
            # A crawl lists a redirect beside the page it leads to: the page's own row counts.
            used, other, row, rows[place] = page, used, rows[place], number
        filled = _filled(used, other)
        if page.content and filled.content is page.content:
            filled = replace(filled, content=site.keep(str(page.content)))
        pages[place] = filled
        if other.content and used.content and str(other.content) != str(used.content):
            reason = f"the same page as row {rows[place]} with another content: row {rows[place]} is used"
            rejects.append(Reject(table.name, row, other.url, reason))


def _cut(cells: dict[Kind, str]) -> Iterator[str]:
    """Shorten what is far too long, and say so."""
    for kind, most in _LONGEST.items():
        if len(cells.get(kind, "")) > most:
            cells[kind] = cells[kind][:most]
            yield f"its {display(kind)} is longer than {most:,} characters: the rest is left out"


def _page(cells: dict[Kind, str], site: _Site, reasons: list[str]) -> Page:
    """The page of a row; where it leads to and the links in its content go into `site`, what is cut into `reasons`."""
    key = normal_form(cells[Kind.URL])
    issue, leads_to = _standing(key, cells)
    role = ""
    try:
        role = role_of(cells.get(Kind.ROLE, ""))
    except ValueError as error:
        reasons.append(str(error))
    if leads_to:
        site.leads_to.setdefault(key, leads_to)
    content = cells[Kind.CONTENT]
    headings: tuple[int, ...] = ()
    if is_html(content):
        read = read_html(content)
        content, headings = read.text, read.headings
        base = without_tracking(cells[Kind.URL])
        for href, anchor in read.links:
            if target := _target(base, href, site.forms):
                site.links.setdefault((key, target, anchor))
    if len(content) > _LONGEST_TEXT:
        content = content[:_LONGEST_TEXT]
        reasons.append(f"its text is longer than {_LONGEST_TEXT:,} characters: the rest is left out")
    url, title, h1 = cells[Kind.URL], cells.get(Kind.TITLE, ""), cells.get(Kind.H1, "")
    return Page(
        key,
        # Of two equal texts one is kept.
        key if url == key else url,
        title=title,
        h1=title if h1 == title else h1,
        # Most rows of a page that is known tell nothing new, and take no room.
        content=content if key in site.places else site.keep(content),
        lang=_language(cells.get(Kind.LANG, "")),
        headings=headings,
        issue=issue or (_SOURCE_ONLY if role == SOURCE else None),
        target_only=role == TARGET,
    )


def _target(base: str, href: str, forms: NormalForms) -> str:
    """The normal form that a link leads to, "" for mailto:, tel:, a broken address and the like."""
    try:
        return forms[urljoin(base, href.strip())]
    except ValueError:
        return ""


@lru_cache(maxsize=1024)  # one copy of each code is kept, too
def _language(cell: str) -> str:
    """The language's code without its region; "" for hreflang's x-default, which is none."""
    code = cell.lower().replace("_", "-").partition("-")[0]
    return "" if code == "x" else code


# Pages without end share a reason: it takes no room.
_SOURCE_ONLY = Reason(NoTarget.SOURCE_ONLY)


@lru_cache(maxsize=1024)
def _reason(kind: NoTarget, detail: str = "") -> Reason[NoTarget]:
    return Reason(kind, detail)


def _standing(key: str, cells: dict[Kind, str]) -> tuple[Reason[NoTarget] | None, str]:
    """Why no link may lead to a page, and the page that one is led to instead; None and "" where there is none."""
    redirect = cells.get(Kind.REDIRECT, "")
    moved = other_page(key, cells[Kind.URL], redirect) if _ADDRESS.match(redirect) else ""
    # A status in words ("OK", "published") says nothing about the server's answer.
    if (status := re.match(r"\d+", cells.get(Kind.STATUS, ""))) and status[0] != "200":
        kind = NoTarget.REDIRECT_STATUS if status[0][0] == "3" else NoTarget.ERROR_STATUS
        return _reason(kind, status[0]), moved or ""
    if moved:
        return _reason(NoTarget.REDIRECT), moved
    canonical = other_page(key, cells[Kind.URL], cells.get(Kind.CANONICAL, ""))
    # Before the indexability: crawlers call a copy of another page not indexable, too.
    if canonical:
        return _reason(NoTarget.CANONICALISED), canonical
    if english(Kind.INDEXABILITY, cells.get(Kind.INDEXABILITY, "")) == NOT_INDEXABLE:
        return _reason(NoTarget.NOINDEX), ""
    if canonical is None:
        return _reason(NoTarget.BAD_CANONICAL), ""
    return _reason(NoTarget.BAD_REDIRECT) if moved is None else None, ""


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
    if not gaps:
        return first
    if "content" in gaps:
        gaps["headings"] = other.headings
    return replace(first, **gaps)


def _tell_languages(
    pages: list[Page], languages: Callable[[Sequence[str], Sequence[str]], Sequence[str]]
) -> None:
    texts = Lazy(len(pages), lambda at: f"{pages[at].title}\n{pages[at].content}")
    for at, language in enumerate(languages(texts, [page.lang for page in pages])):
        if language != pages[at].lang:
            pages[at] = replace(pages[at], lang=language)


def _queries(
    table: Table | TableStream, site: _Site, rejects: list[Reject], in_sheet: bool
) -> Iterator[Source]:
    columns = columns_of(table, required=(Kind.URL, Kind.MAIN_QUERY))
    for number, cells in cells_of(table, columns):
        url, written = cells[Kind.URL], cells[Kind.MAIN_QUERY]
        query = " ".join(written[: 10 * _LONGEST_QUERY].split())
        if len(query) > _LONGEST_QUERY or len(written) > 10 * _LONGEST_QUERY:
            reason = f"its {display(Kind.MAIN_QUERY)} is longer than {_LONGEST_QUERY:,} characters"
            rejects.append(Reject(table.name, number, url, reason))
            continue
        if not url and fold_query(query):
            yield Source("", "", query, None, in_sheet)
            continue
        try:
            key = normal_form(url)
        except ValueError as error:
            rejects.append(Reject(table.name, number, url, str(error)))
            continue
        page = site.page(key) if key in site.places else None
        yield Source(key, url, query, page, in_sheet)


def gather(
    queries: StreamSource | None,
    pages: StreamSource | None,
    links: StreamSource | None,
    rejects: ListSink[Reject] | None,
    *,
    queries_in_sheet: bool,
    progress: Progress,
    keep: Callable[[str], str | StoredText] = str,
) -> Collected:
    """Read all tables; None stands for one that the user does not have, and for no list of rejected rows.

    The pages' contents go to `keep`, row by row; a page whose row has no language gets that of its text.

    Raises:
        InputError: a table can't be read, lacks a column, or not one row of them can be used.
        OutputError: the contents find no room.
        ServiceError: the service that a table comes from failed.
    """
    collected = collect(
        _opened(queries, progress),
        _opened(pages, progress),
        queries_in_sheet=queries_in_sheet,
        keep=keep,
        languages=page_languages,
    )
    collected = with_links(collected, links, progress)
    if rejects and (queries or pages):
        for remark in rejects.write(collected.rejects):
            progress.warn(remark)
    if not collected.sources:
        raise InputError(_nothing_to_do([table.name for table in (queries, pages) if table]))
    return collected


def with_links(collected: Collected, links: StreamSource | None, progress: Progress) -> Collected:
    """Add the links of a table, and tell what is unusual about it.

    Raises:
        InputError: it can't be read, or has no column for a link's source or destination.
    """
    collected = add_links(collected, _opened(links, progress))
    if links and (sentence := doubt(collected, links.name)):
        progress.warn(sentence)
    return collected


def _opened(source: StreamSource | None, progress: Progress) -> TableStream | None:
    if source is None:
        return None
    table = source.stream()
    for remark in source.remarks:
        progress.warn(remark)
    return table


def _nothing_to_do(names: list[str]) -> str:
    if names:
        return f"{' and '.join(names)}: not one row can be used. files/rejected_rows.csv says why for each."
    return (
        "There is no input. Put your pages into files/urls_rawdata.csv (URL, Title, Main Content) "
        "and your queries into files/main_queries.csv (URL, Main Query) or a Google Sheet."
    )
