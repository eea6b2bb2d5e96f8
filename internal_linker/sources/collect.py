"""Collection of pages, sources and existing links from the input tables, with a reason for every rejected row."""

import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from urllib.parse import urljoin

from internal_linker.model.canonical_hosts import CanonicalHosts, HostVotes, Variants
from internal_linker.model.errors import InputError
from internal_linker.model.ports import Progress, StreamSource
from internal_linker.model.reasons import VISITED, NoTarget, Reason
from internal_linker.model.records import (
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
from internal_linker.model.sequences import Lazy
from internal_linker.model.urls import NormalForms, encoded, names_index_page, other_page, without_tracking
from internal_linker.sources.crawler_vocabulary import NOT_INDEXABLE, english
from internal_linker.sources.existing_links import add_links, doubt
from internal_linker.sources.staging import host_hint
from internal_linker.sources.tables.columns import (
    Kind,
    cells_of,
    columns_of,
    display,
    find_column,
    is_link_column,
)
from internal_linker.store.files.plain_text import shortened
from internal_linker.text.html import is_html, read_html
from internal_linker.text.language import page_languages

# Crawlers write "-" or "no" where nothing redirects.
_ADDRESS = re.compile(r"https?:|/", re.IGNORECASE)
# The largest sizes in characters, far above any page's: longer cells are something else, and take minutes and
# gigabytes. HTML may be longer, since most of it is not text.
_LONGEST = {Kind.CONTENT: 5_000_000, Kind.TITLE: 10_000, Kind.H1: 10_000}
_LONGEST_TEXT = 1_000_000
_LONGEST_QUERY = 1_000
_OPTIONAL = (
    *(
        Kind.CONTENT,
        Kind.TITLE,
        Kind.H1,
        Kind.LANG,
        Kind.INDEXABILITY,
        Kind.STATUS,
        Kind.CANONICAL,
        Kind.REDIRECT,
    ),
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
    needed: Sequence[Kind] = (Kind.CONTENT,),
    hosts: CanonicalHosts | None = None,
) -> Collected:
    """Join queries and pages by the key of their URL; content in HTML becomes text and links.

    The keys have the form of each host that most pages and canonicals have.

    Args:
        queries: a table with URL and Main Query; None if the user has none.
        pages: a table with URL and the columns of `needed`; None if the user has none.
        queries_in_sheet: whether the rows of `queries` can take links in the Sheet.
        keep: stores a page's content while the others are read.
        languages: returns the pages' languages by their texts and the codes in their rows; None: use the codes.
        follow: whether a link's target is the final page of its redirects; False: the page that it names.
        hosts: hosts that stand for others; None: there are none.

    Raises:
        InputError: a table lacks a required column, or has a damaged row.
    """
    rejects: list[Reject] = []
    site = _Site(keep, HostVotes(hosts or CanonicalHosts()))
    if pages:
        _read_pages(pages, site, rejects, needed)
    site.hosts = _with_canonical_hosts(site)
    if languages:
        _set_languages(site.pages, languages)
    rows: Sequence[tuple[int, dict[Kind, str]]] = ()
    if queries:
        rows = [*_query_rows(queries)]
    variants = site.votes.variants(site.hosts) + _add_hosts(site, [cells[Kind.URL] for _, cells in rows])
    leads_to = {key: site.hosts.canonicalise(to) for key, to in site.leads_to.items() if site.page(key).issue}
    aliases = _followed(leads_to)
    merged = site.merged
    queried: dict[tuple[str, str], Source] = {}
    if queries:
        for source in _queries(queries.name, rows, site, rejects, aliases, in_sheet=queries_in_sheet):
            merged += queried.setdefault(source.identity, source) is not source
    keys = {source.key for source in queried.values()}
    others = (
        Source(page.key, page.url, "", page, in_sheet=False) for page in site.pages if page.key not in keys
    )
    links, other = _resolved(site.links, aliases if follow else {}, site.hosts)
    return Collected(
        tuple(site.pages),
        (*queried.values(), *others),
        tuple(rejects),
        merged,
        tuple(ExistingLink(*ends, followed=followed) for ends, followed in links.items()),
        aliases,
        hosts=site.hosts,
        variants=variants + Variants(len(other), min(other, default="")),
    )


@dataclass
class _Site:
    keep: Callable[[str], str | StoredText]  # stores a page's content
    votes: HostVotes  # learns the canonical hosts
    # The canonical hosts, once all pages are read
    hosts: CanonicalHosts = field(default_factory=CanonicalHosts)
    pages: list[Page] = field(default_factory=list)  # the pages, in the order of their first rows
    rows: "array[int]" = field(default_factory=lambda: array("Q"))  # the row number of each page
    positions: dict[str, int] = field(default_factory=dict)  # each page's position in `pages`, by its key
    # The redirect target or canonical of each page that has one, by keys
    leads_to: dict[str, str] = field(default_factory=dict)
    # Links in the pages' HTML: source, target and anchor, and whether they pass weight
    links: dict[tuple[str, str, str], bool] = field(default_factory=dict)
    forms: NormalForms = field(default_factory=NormalForms)  # the cache of normal forms
    merged: int = 0  # count of the rows merged into an earlier row

    def page(self, key: str) -> Page:
        return self.pages[self.positions[key]]


def _read_pages(
    table: Table | TableStream, site: _Site, rejects: list[Reject], needed: Sequence[Kind]
) -> None:
    columns = columns_of(table, required=(Kind.URL, *needed), optional=_OPTIONAL)
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
        position = site.positions.setdefault(page.key, len(pages))
        if position == len(pages):
            pages.append(page)
            rows.append(number)
            continue
        site.merged += 1
        used, other, row = pages[position], page, number
        if used.issue and not page.issue:
            # A crawl lists a redirect as well as the page that it leads to: the page's own row counts.
            used, other, row, rows[position] = page, used, rows[position], number
        filled = _filled(used, other)
        if page.content and filled.content is page.content:
            filled = replace(filled, content=site.keep(str(page.content)))
        pages[position] = filled
        if other.content and used.content and str(other.content) != str(used.content):
            first = rows[position]
            reason = f"the same page as row {first} with different content: row {first} is used"
            rejects.append(Reject(table.name, row, other.url, reason))


def _cut(cells: dict[Kind, str]) -> Iterator[str]:
    for kind, most in _LONGEST.items():
        if len(cells.get(kind, "")) > most:
            cells[kind] = cells[kind][:most]
            yield f"its {display(kind)} is longer than {most:,} characters: the rest is left out"


def _page(cells: dict[Kind, str], site: _Site, reasons: list[str]) -> Page:
    """Return the page of a row; add its redirect and the links in its content to `site`, and problems to `reasons`."""
    key = site.votes.key(cells[Kind.URL])
    of = site.votes.hosts.canonicalise
    issue, leads_to = _standing(key, cells, of)
    url, own = encoded(cells[Kind.URL]), _own_canonical(key, cells, of)
    if issue is None or issue.kind in VISITED:
        site.votes.vote(url, own)
    role = ""
    try:
        role = role_of(cells.get(Kind.ROLE, ""))
    except ValueError as error:
        reasons.append(str(error))
    if leads_to:
        site.leads_to.setdefault(key, leads_to)
    content = cells.get(Kind.CONTENT, "")
    headings, closed, taken = tuple[int, ...](), tuple[int, ...](), tuple[int, ...]()
    if is_html(content):
        read = read_html(content)
        content, headings, closed, taken = read.text, read.headings, read.closed, read.taken
        base = without_tracking(url)
        for href, anchor in dict.fromkeys(read.links):
            if target := _target(base, href, site.forms):
                followed = (href, anchor) not in read.unfollowed
                site.links[key, target, anchor] = site.links.get((key, target, anchor), False) or followed
    if len(content) > _LONGEST_TEXT:
        content = content[:_LONGEST_TEXT]
        reasons.append(f"its text is longer than {_LONGEST_TEXT:,} characters: the rest is left out")
    url = site.votes.hosts.written(own if own and names_index_page(url) else url)
    title, h1 = cells.get(Kind.TITLE, ""), cells.get(Kind.H1, "")
    return Page(
        key,
        # Equal strings share one object, which saves memory.
        key if url == key else url,
        title=title,
        h1=title if h1 == title else h1,
        # Most further rows of a page add nothing, so their content isn't stored.
        content=content if key in site.positions else site.keep(content),
        lang=_language(cells.get(Kind.LANG, "")),
        headings=headings,
        closed=closed,
        taken=taken,
        issue=issue or (_SOURCE_ONLY if role == SOURCE else None),
        target_only=role == TARGET,
    )


def _target(base: str, href: str, forms: NormalForms) -> str:
    """Return the normal form of a link's target, "" for mailto:, tel:, an invalid URL and the like."""
    try:
        return forms[urljoin(base, href.strip())]
    except ValueError:
        return ""


@lru_cache(maxsize=1024)  # also shares one string for each code
def _language(cell: str) -> str:
    """Return the language code without its region; "" for hreflang's x-default, which is not a language."""
    code = cell.lower().replace("_", "-").partition("-")[0]
    return "" if code == "x" else code


# Millions of pages can share this reason, which saves memory.
_SOURCE_ONLY = Reason(NoTarget.SOURCE_ONLY)


@lru_cache(maxsize=1024)
def _reason(kind: NoTarget, detail: str = "") -> Reason[NoTarget]:
    return Reason(kind, detail)


def _own_canonical(key: str, cells: dict[Kind, str], of: Callable[[str], str]) -> str:
    """Return a page's canonical if it is the page itself, else ""."""
    url, canonical = cells[Kind.URL], cells.get(Kind.CANONICAL, "")
    if not canonical or other_page(key, url, canonical, of) != "":
        return ""
    return encoded(without_tracking(urljoin(url, canonical)))


def _standing(
    key: str, cells: dict[Kind, str], of: Callable[[str], str]
) -> tuple[Reason[NoTarget] | None, str]:
    """Return why no link may lead to a page (None: nothing), and the page that it leads to instead ("": none)."""
    redirect = cells.get(Kind.REDIRECT, "")
    moved = other_page(key, cells[Kind.URL], redirect, of) if _ADDRESS.match(redirect) else ""
    # A status in words ("OK", "published") says nothing about the server's response.
    if (status := re.match(r"\d+", cells.get(Kind.STATUS, ""))) and status[0] != "200":
        kind = NoTarget.REDIRECT_STATUS if status[0][0] == "3" else NoTarget.ERROR_STATUS
        return _reason(kind, status[0]), moved or ""
    if moved:
        return _reason(NoTarget.REDIRECT), moved
    canonical = other_page(key, cells[Kind.URL], cells.get(Kind.CANONICAL, ""), of)
    # The canonical comes before the indexability: crawlers also call a copy of another page not indexable.
    if canonical:
        return _reason(NoTarget.CANONICALISED), canonical
    if english(Kind.INDEXABILITY, cells.get(Kind.INDEXABILITY, "")) == NOT_INDEXABLE:
        return _reason(NoTarget.NOINDEX), ""
    if canonical is None:
        return _reason(NoTarget.BAD_CANONICAL), ""
    return _reason(NoTarget.BAD_REDIRECT) if moved is None else None, ""


def _followed(leads_to: Mapping[str, str]) -> dict[str, str]:
    """Map each page to the end of its chain of redirects and canonicals; pages in a loop are left out."""
    ends: dict[str, str] = {}
    for start in leads_to:
        passed, at = dict.fromkeys([start]), leads_to[start]
        while at in leads_to and at not in passed and at not in ends:
            passed[at] = None
            at = leads_to[at]
        end = "" if at in passed else ends.get(at, at)
        ends.update(dict.fromkeys(passed, end))
    return {key: end for key, end in ends.items() if end}


def _with_canonical_hosts(site: _Site) -> CanonicalHosts:
    """Give all pages the canonical form of their host, and return these forms."""
    hosts = site.votes.learned()
    if hosts.origins != site.votes.hosts.origins:
        for at, page in enumerate(site.pages):
            if (key := hosts.canonicalise(page.key)) != page.key:
                site.pages[at] = replace(page, key=key, url=hosts.written(page.url))
        site.positions = {page.key: at for at, page in enumerate(site.pages)}
        site.leads_to = {hosts.canonicalise(key): to for key, to in site.leads_to.items()}
    return hosts


def _add_hosts(site: _Site, urls: Sequence[str]) -> Variants:
    """Add the hosts of URLs that no page has; return how many of the URLs have another form than the site's."""
    votes = HostVotes(site.hosts)
    for url in urls:
        with suppress(ValueError):
            votes.key(url)
            votes.vote(url)
    site.hosts = votes.learned()
    return votes.variants(site.hosts)


def _resolved(
    links: Mapping[tuple[str, str, str], bool], aliases: Mapping[str, str], hosts: CanonicalHosts
) -> tuple[dict[tuple[str, str, str], bool], set[str]]:
    """Return the links to their targets' final pages, each once, without links of a page to itself.

    The value of a link is whether it passes weight, in any of its places. The second result has the targets that the
    site writes in another form.
    """
    found, other = dict[tuple[str, str, str], bool](), set[str]()
    for (source, target, anchor), followed in links.items():
        key = hosts.canonicalise(target)
        if key != target:
            other.add(target)
        link = hosts.canonicalise(source), aliases.get(key, key), anchor
        if link[0] != link[1]:
            found[link] = found.get(link, False) or followed
    return found, other


def _filled(first: Page, other: Page) -> Page:
    gaps = {
        name: getattr(other, name)
        for name in ("title", "h1", "content", "lang")
        if not getattr(first, name) and getattr(other, name)
    }
    if not first.target_only and first.issue is None:
        if other.target_only:
            gaps["target_only"] = True
        elif other.issue == _SOURCE_ONLY:
            gaps["issue"] = _SOURCE_ONLY
    if not gaps:
        return first
    if "content" in gaps:
        gaps |= {"headings": other.headings, "closed": other.closed, "taken": other.taken}
    return replace(first, **gaps)


def _set_languages(
    pages: list[Page], languages: Callable[[Sequence[str], Sequence[str]], Sequence[str]]
) -> None:
    texts = Lazy(len(pages), lambda at: f"{pages[at].title}\n{pages[at].content}")
    for at, language in enumerate(languages(texts, [page.lang for page in pages])):
        if language != pages[at].lang:
            pages[at] = replace(pages[at], lang=language)


def _query_rows(queries: Table | TableStream) -> Iterator[tuple[int, dict[Kind, str]]]:
    """Yield the rows of a table with URLs and main queries; a table with URLs alone has empty queries."""
    columns = columns_of(queries, required=(Kind.URL,), optional=(Kind.MAIN_QUERY,))
    for number, cells in cells_of(queries, columns):
        yield number, {Kind.MAIN_QUERY: "", **cells}


def _queries(
    name: str,
    rows: Iterable[tuple[int, dict[Kind, str]]],
    site: _Site,
    rejects: list[Reject],
    aliases: Mapping[str, str],
    *,
    in_sheet: bool,
) -> Iterator[Source]:
    """Yield the rows; a row whose page redirects or is a copy is a row of the listed page that it leads to."""
    for number, cells in rows:
        url, raw = cells[Kind.URL], cells[Kind.MAIN_QUERY]
        query = " ".join(raw[: 10 * _LONGEST_QUERY].split())
        if len(query) > _LONGEST_QUERY or len(raw) > 10 * _LONGEST_QUERY:
            reason = f"its {display(Kind.MAIN_QUERY)} is longer than {_LONGEST_QUERY:,} characters"
            rejects.append(Reject(name, number, url, reason))
            continue
        if not url and fold_query(query):
            yield Source("", "", query, None, in_sheet)
            continue
        try:
            key = site.hosts.key(url)
        except ValueError as error:
            rejects.append(Reject(name, number, url, str(error)))
            continue
        page = site.page(key) if key in site.positions else None
        written = site.hosts.written(url)
        if page and (written != url or names_index_page(url)):
            written = page.url
        end = aliases.get(key, "")
        if end in site.positions:
            final = site.page(end)
            yield Source(final.key, final.url, query, final, in_sheet, row_url=written)
        else:
            missing = page is None and bool(site.pages)
            yield Source(key, written, query, page, in_sheet, row_url=written, unlisted=missing)


def gather(
    queries: StreamSource | None,
    pages: StreamSource | None,
    links: StreamSource | None,
    *,
    queries_in_sheet: bool,
    progress: Progress,
    keep: Callable[[str], str | StoredText] = str,
    needed: Sequence[Kind] = (Kind.CONTENT,),
    hosts: CanonicalHosts | None = None,
) -> Collected:
    """Read all tables, as `read_tables` does, of which at least one row can be used.

    Raises:
        InputError: a table can't be read or lacks a column, or no row of any table can be used.
        OutputError: the contents can't be stored.
        ServiceError: the service that a table comes from failed.
    """
    collected = read_tables(
        queries,
        pages,
        links,
        queries_in_sheet=queries_in_sheet,
        progress=progress,
        keep=keep,
        needed=needed,
        hosts=hosts,
    )
    require_rows(collected, queries, pages)
    return collected


def read_tables(
    queries: StreamSource | None,
    pages: StreamSource | None,
    links: StreamSource | None,
    *,
    queries_in_sheet: bool,
    progress: Progress,
    keep: Callable[[str], str | StoredText] = str,
    needed: Sequence[Kind] = (Kind.CONTENT,),
    hosts: CanonicalHosts | None = None,
) -> Collected:
    """Read all tables; None means that the user doesn't have a table.

    `keep` stores the pages' contents row by row; `needed` are the columns that the table of pages must have beside the
    URL. A page without a language in its row gets the language of its text.

    Raises:
        InputError: a table can't be read or lacks a column.
        OutputError: the contents can't be stored.
        ServiceError: the service that a table comes from failed.
    """
    queried = _opened(queries, progress)
    if queried and (sentence := without_queries(queried)):
        progress.warn(sentence)
    collected = collect(
        queried,
        _opened(pages, progress),
        queries_in_sheet=queries_in_sheet,
        keep=keep,
        languages=page_languages,
        needed=needed,
        hosts=hosts,
    )
    return with_links(collected, links, progress)


def require_rows(collected: Collected, queries: StreamSource | None, pages: StreamSource | None) -> None:
    """Check that there is a page or query to work on.

    Raises:
        InputError: no row of any table can be used.
    """
    if not collected.sources:
        raise InputError(_nothing_to_do([table.name for table in (queries, pages) if table]))


def without_queries(queries: Table | TableStream) -> str:
    """Return a sentence if a table has URLs and other columns, but none with queries: it may be misnamed; else ""."""
    others = [name for name in queries.header if name.strip() and not is_link_column(name)]
    if find_column(queries.header, Kind.MAIN_QUERY) is not None or len(others) < 2:
        return ""
    return (
        f"{queries.name} has no column '{display(Kind.MAIN_QUERY)}' (it has: {shortened(', '.join(others), 500)}): "
        "its rows are pages without a query."
    )


def with_links(collected: Collected, links: StreamSource | None, progress: Progress) -> Collected:
    """Add the links of a table, and warn if none of them is between listed pages.

    Raises:
        InputError: the table can't be read, or has no column for a link's source or destination.
    """
    collected = add_links(collected, _opened(links, progress))
    if links and (sentence := doubt(collected, links.name)):
        progress.warn(sentence)
    for sentence in (other_forms(collected), host_hint(collected), _without_weight(collected)):
        if sentence:
            progress.warn(sentence)
    return collected


def _without_weight(collected: Collected) -> str:
    count = sum(not link.followed for link in collected.links)
    if not count:
        return ""
    return (
        f"{count} {'link has' if count == 1 else 'links have'} rel=nofollow, ugc or sponsored: they are known, but not "
        "counted as in-links, because search engines pass no weight along them."
    )


def other_forms(collected: Collected) -> str:
    """Return a sentence if URLs are written in another form than the site's, else ""."""
    variants, hosts = collected.variants, collected.hosts
    if not variants.count:
        return ""
    written = "URL is" if variants.count == 1 else "URLs are"
    return (
        f"{variants.count} {written} written in another form than the site's (http, www, another host or index.html): "
        f"{shortened(variants.example)} counts as {shortened(hosts.key(variants.example))}."
    )


def _opened(source: StreamSource | None, progress: Progress) -> TableStream | None:
    if source is None:
        return None
    table = source.stream()
    for remark in source.remarks:
        progress.warn(remark)
    return table


def _nothing_to_do(names: list[str]) -> str:
    if names:
        return (
            f"{' and '.join(names)}: no row can be used. See files/rejected_rows.csv for the reason of each."
        )
    return (
        "No input was found. Put your pages into files/urls_rawdata.csv (URL, Title, Main Content) "
        "and your queries into files/main_queries.csv (URL, Main Query) or a Google Sheet."
    )
