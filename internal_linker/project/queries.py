"""Choose main queries from search data, and fill the empty ones of files/main_queries.csv or of the Sheet."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol

from internal_linker.insight.main_queries import MainQueries, main_queries, site_names
from internal_linker.insight.page_keys import match_pages
from internal_linker.model.canonical_hosts import CanonicalHosts
from internal_linker.model.cli_commands import project_command
from internal_linker.model.errors import InputError
from internal_linker.model.ports import Progress
from internal_linker.model.records import Table
from internal_linker.model.results import Columns, Result
from internal_linker.model.search_data import SearchTable
from internal_linker.model.sequences import counted
from internal_linker.model.urls import NormalForms
from internal_linker.project.capabilities import capability
from internal_linker.project.options.evaluation import QueriesOptions
from internal_linker.project.project import Project
from internal_linker.project.site_texts import site_of
from internal_linker.sources.tables.columns import Kind, QueryRows, columns_of, display, query_rows
from internal_linker.sources.tables.csv_writer import NewCells, fill_cells, harmless, write_rows
from internal_linker.store.files.atomic import KeepingOld
from internal_linker.store.files.text_spool import TextSpool
from internal_linker.text.brands import found_brands

if TYPE_CHECKING:
    from pandas import DataFrame, Series

    from internal_linker.sources.google_sheets.queries_tab import GoogleSheet


QUERIES_FILE = "main_queries.csv"


class QueryPlace(Protocol):
    """A place with the main queries of pages; pages have the keys of `CanonicalHosts.identity`."""

    name: str
    """What messages call it."""
    takes_new: bool
    """Whether pages without a row get one."""

    def look(self) -> QueryRows:
        """Return which pages have a main query, and which rows lack one."""

    def written(self, query: str) -> str:
        """Return how a query is written, which a spreadsheet program must not take for a formula; "": not at all."""

    def fill(self, wanted: Mapping[str, str]) -> list[str]:
        """Fill empty main queries, by page; return what could not be filled, one sentence each."""

    @property
    def copies(self) -> Sequence[str]:
        """The names of the copies of what was replaced."""


class QueriesFile:
    """files/main_queries.csv, where only empty cells change; `urls` has the URL of each page, for new rows."""

    takes_new = True

    def __init__(self, project: Project, hosts: CanonicalHosts, urls: Mapping[str, str]) -> None:
        self._project, self._hosts, self._urls = project, hosts, urls
        self._keeping = KeepingOld()
        self.name = f"files/{QUERIES_FILE}"

    def look(self) -> QueryRows:
        """Read the file; see `QueryPlace`.

        Raises:
            InputError: it can't be read, or has no column of URLs.
        """
        return self._read()[1]

    def written(self, query: str) -> str:
        """Return the query, after an apostrophe if it begins like a formula."""
        return harmless(query)

    def fill(self, wanted: Mapping[str, str]) -> list[str]:
        """Fill empty main queries and add rows; the file is copied aside first.

        Raises:
            InputError: as in `look`.
            OutputError: the file can't be written; it stays as it was.
        """
        table, rows = self._read()
        # Cells beyond the header are somebody's, too.
        width = max([len(table.header), *(len(row) for _, row in table.rows)])
        at = width if rows.query is None else rows.query
        fills = {
            rows.empty[page]: self.written(query) for page, query in wanted.items() if page in rows.empty
        }
        added = []
        for page, query in wanted.items():
            if not any(page in has for has in (rows.empty, rows.blank, rows.queries)):
                line = [""] * (max(rows.url, at) + 1)
                line[rows.url], line[at] = self._urls.get(page, page), self.written(query)
                added.append(line)
        path, name = self._project.file(QUERIES_FILE), display(Kind.MAIN_QUERY)
        if path.exists():
            new = NewCells(at, fills, name if rows.query is None else "", added)
            remarks = fill_cells(path, new, self._keeping.binary)
        else:
            remarks = write_rows(path, table.header, added, self._keeping)
        spaces = [
            f"{self.name}, row {row}: its {name} stays as it is, because the cell has spaces. Empty the cell."
            for page, row in rows.blank.items()
            if page in wanted
        ]
        return [*spaces, *remarks]

    @property
    def copies(self) -> list[str]:
        """The names of the copies of the file."""
        return [copy.name for copy in self._keeping.copies]

    def _read(self) -> tuple[Table, QueryRows]:
        name = f"files/{QUERIES_FILE}"
        source = self._project.table(QUERIES_FILE, [])
        if source is None:
            table = Table(name, (display(Kind.URL), display(Kind.MAIN_QUERY)), [])
        else:
            stream = source.stream()
            columns_of(stream, [Kind.URL], [Kind.MAIN_QUERY])
            table = Table(name, stream.header, [(number, [*row]) for number, row in stream.rows])
        rows = query_rows(table.header, table.rows, _identities(self._hosts))
        assert rows, "the columns were looked for"
        return table, rows


class QueriesSheet:
    """The queries tab of the Sheet, in which only rows that are there are filled."""

    takes_new = False
    copies: Sequence[str] = ()

    def __init__(self, sheet: "GoogleSheet") -> None:
        self._sheet = sheet
        self.name = sheet.name

    def look(self) -> QueryRows:
        """Read the tab; see `GoogleSheet.main_queries`."""
        rows = self._sheet.main_queries()
        self.name = self._sheet.name
        return rows

    def written(self, query: str) -> str:
        """Return the query, or "" if it begins like a formula: Google reads it as if it were typed."""
        from internal_linker.sources.google_sheets.empty_queries import is_formula

        return "" if is_formula(query) else query

    def fill(self, wanted: Mapping[str, str]) -> list[str]:
        """Fill empty cells; see `GoogleSheet.fill_queries`."""
        return self._sheet.fill_queries(wanted)


def _identities(hosts: CanonicalHosts) -> Callable[[str], str]:
    return lambda url: hosts.identity(hosts.key(url))


# A year has each season once; what people searched for longer ago says less.
_DAYS = 365
_EXAMPLES = 3


# What becomes of a main query.
TO_FILL, FILLED, KEPT, NO_ROW, NOT_FILLED = "to fill", "filled", "kept", "no row", "not filled"


@dataclass(frozen=True, repr=False)
class FilledQueries(Result):
    """Main queries from search data, and which of them fill an empty one.

    Pages are their URLs in files/urls_rawdata.csv, or else in the search data.
    """

    # The main queries, cannibalised queries and queries for the site's name. The main queries have two columns more:
    # `fate`, and `note`, what is special about it, one clause.
    chosen: MainQueries
    place: str  # what they fill: files/main_queries.csv or the Sheet
    source: str  # where the search data are from
    first: date  # the first day of the search data
    last: date  # the last day
    unknown_urls: int  # how many URLs of the search data are no pages of the project
    unknown_clicks: int  # the clicks on them
    unknown_examples: Sequence[str]  # the most clicked of them, up to three
    written: bool = False  # whether the main queries were written
    problems: Sequence[str] = ()  # what could not be written, one sentence each
    copies: Sequence[str] = ()  # the names of the copies of files that changed

    @property
    def filled(self) -> Sequence[str]:
        """The pages whose empty main query is filled, or would be."""
        return self._pages(TO_FILL, FILLED)

    @property
    def kept(self) -> Sequence[str]:
        """The pages that have a main query already, which stays."""
        return self._pages(KEPT)

    @property
    def absent(self) -> Sequence[str]:
        """The pages that have no row in the Sheet."""
        return self._pages(NO_ROW)

    @property
    def unfilled(self) -> Sequence[str]:
        """The pages whose main query can't be filled, as its note or, after `--write`, `problems` say."""
        return self._pages(NOT_FILLED)

    def _pages(self, *fates: str) -> Sequence[str]:
        queries = self.chosen.queries
        return [*queries["page"][queries["fate"].isin(fates)]]

    def tables(self) -> dict[str, Columns]:
        """Return the main `queries` with what becomes of each and why, `cannibalised`, `brands` and `without`."""
        found = self.chosen
        return {
            "queries": found.queries.to_dict("list"),
            "cannibalised": found.shared.to_dict("list"),
            "brands": found.brands.to_dict("list"),
            "without": {"page": [*found.without], "why": [*found.without.values()]},
        }


@dataclass(frozen=True, slots=True)
class _Pages:
    """The pages of a project: none if it has no table of them."""

    urls: Mapping[str, str] = field(default_factory=dict)
    titles: Sequence[str] = ()
    hosts: CanonicalHosts = field(default_factory=CanonicalHosts)


@capability()
def queries(project: Project, options: QueriesOptions, progress: Progress) -> FilledQueries:
    """Choose main queries from search data, as the command `queries` does.

    A main query that somebody has written stays, even if it is written while this runs; then it counts as kept.

    Returns:
        The main queries in the DataFrame `.frames["queries"]`, others in `.frames["cannibalised"]`, `["brands"]` and
        `["without"]`.

    Raises:
        InputError: there are no search data by query, or a table can't be read.
        ServiceError: the Sheet can't be read or written.
        OutputError: the file can't be written; it stays as it was.
    """
    with ExitStack() as stack:
        if options.write:
            stack.enter_context(project.lock())
        spool = TextSpool(project.file(""))
        stack.callback(spool.close)
        pages = _pages(project, spool, progress)
        rows, urls, facts = _searched(project, pages)
        names = site_names(pages.urls or rows["page"].cat.categories, found_brands(pages.titles))
        progress.start("Main queries", 0, "")
        chosen = main_queries(rows, names=names, own=options.brand, pages=pages.urls or None)
        progress.finish(counted(len(chosen.queries), "page"))
        place = _place(project, pages, progress, stack)
        identities = chosen.queries["page"].map(pages.hosts.identity)
        found, problems = _with_fates(chosen.queries, identities, place), list[str]()
        if options.write:
            found, problems = _filled(found, identities, place, progress)
        chosen = replace(
            chosen,
            queries=found.assign(page=found["page"].map(urls)),
            shared=chosen.shared.assign(page=chosen.shared["page"].map(urls)),
            without={urls[page]: why for page, why in chosen.without.items()},
        )
        return FilledQueries(
            chosen,
            place.name,
            **facts,
            written=options.write,
            problems=problems,
            copies=place.copies if options.write else (),
        )


def _filled(
    found: "DataFrame", identities: "Series", place: QueryPlace, progress: Progress
) -> "tuple[DataFrame, list[str]]":
    """Fill empty main queries; return which queries the place has now, and what could not be filled.

    Somebody else may have written a main query meanwhile.
    """
    tried = found["fate"].isin((TO_FILL, NOT_FILLED))
    # Those that can't be filled come last: the place says why.
    order = found["fate"][tried].sort_values(ascending=False, kind="stable").index
    wanted = dict(zip(identities[order], found["query"][order], strict=True))
    if not wanted:
        return found, []
    problems = place.fill(wanted)
    for problem in problems:
        progress.warn(problem)
    known = place.look().queries
    for row, query in found["query"][tried].items():
        texts = known.get(identities[row], frozenset())
        found.loc[row, "fate"] = FILLED if place.written(query) in texts else KEPT if texts else NOT_FILLED
    return found.assign(note=found["note"].mask(found["fate"] == KEPT, "")), problems


def _with_fates(found: "DataFrame", identities: "Series", place: QueryPlace) -> "DataFrame":
    rows = place.look()
    fates = [_fate(page, query, rows, place) for page, query in zip(identities, found["query"], strict=True)]
    return found.assign(fate=[fate for fate, _ in fates], note=[note for _, note in fates])


def _fate(page: str, query: str, rows: QueryRows, place: QueryPlace) -> tuple[str, str]:
    """Return what becomes of a page's main query, and what is special about it."""
    if page in rows.queries:
        return KEPT, ""
    if page in rows.blank:
        return NOT_FILLED, "its cell has spaces: empty the cell to have it filled"
    if page not in rows.empty and not place.takes_new:
        return NO_ROW, ""
    written = place.written(query)
    if not written:
        return NOT_FILLED, "Google would take it for a formula: type it after an apostrophe"
    if written != query:
        return TO_FILL, f"spreadsheet programs would take it for a formula: written as {written}"
    return TO_FILL, ""


def _place(project: Project, pages: _Pages, progress: Progress, stack: ExitStack) -> QueryPlace:
    notices = list[str]()
    sheet = project.clients.sheet(notices)
    for notice in notices:
        progress.warn(notice)
    if sheet:
        return QueriesSheet(stack.enter_context(closing(sheet)))
    of = pages.hosts.identity
    return QueriesFile(project, pages.hosts, {of(page): url for page, url in pages.urls.items()})


def _pages(project: Project, spool: TextSpool, progress: Progress) -> _Pages:
    table = project.table("urls_rawdata.csv", [])
    if table is None:
        return _Pages(hosts=project.settings.hosts)
    site = site_of(project, table, spool, progress)
    targets = [page for page in site.pages if not page.issue]
    return _Pages({page.key: page.url for page in targets}, [page.title for page in targets], site.hosts)


def _searched(project: Project, pages: _Pages) -> "tuple[DataFrame, Mapping[str, str], dict[str, Any]]":
    """Read the search data of the last year, of the source with the most days.

    Returns:
        The rows by query of all pages of the property, the URLs of pages by key, and what `FilledQueries` says of the
        data.

    Raises:
        InputError: there are none by query, or none of the project's pages.
    """
    with project.search_data() as store:
        days = [*store.days(SearchTable.QUERIES)]
        if not days:
            raise InputError(
                "There are no search data by page and query. Import them: "
                f"`{project_command('import --search-console PROPERTY', project.root)}`, or a table with the columns "
                "date, page, query, clicks, impressions and position."
            )
        source = store.sources(SearchTable.QUERIES)[0]
        rows = store.read(SearchTable.QUERIES, since=max(days) - timedelta(_DAYS - 1))
    first, last = rows["date"].min().date(), rows["date"].max().date()
    # Pages that are not the project's count, too: the home page tells which queries are the site's name.
    spellings = _spellings(rows, pages.hosts)
    rows = match_pages(SearchTable.QUERIES, rows, spellings, pages.hosts).rows
    unknown = [page for page in rows["page"].cat.categories if page not in pages.urls] if pages.urls else []
    if pages.urls and len(unknown) == len(rows["page"].cat.categories):
        raise InputError(
            f"None of the {counted(len(unknown), 'URL')} of the search data ({source}) is a page in "
            f"files/urls_rawdata.csv, such as {spellings[unknown[0]]}. Import the pages of the same site."
        )
    clicks = _clicks(rows[rows["page"].isin(unknown)])
    facts = {
        "source": source,
        "first": first,
        "last": last,
        "unknown_urls": len(unknown),
        "unknown_clicks": sum(clicks.values()),
        "unknown_examples": [spellings[page] for page in islice(clicks, _EXAMPLES)],
    }
    return rows, spellings | dict(pages.urls), facts


def _spellings(rows: "DataFrame", hosts: CanonicalHosts) -> dict[str, str]:
    """Return the most clicked URL of each page, by the page's key."""
    forms, found = NormalForms(of=hosts.canonicalise), dict[str, str]()
    for url in _clicks(rows):
        if key := forms[url]:
            found.setdefault(key, url)
    return found


def _clicks(rows: "DataFrame") -> dict[str, int]:
    """Return the clicks of each page with rows, the most clicked first."""
    sums = rows.groupby("page", observed=True)["clicks"].sum().sort_values(ascending=False, kind="stable")
    return {str(page): int(clicks) for page, clicks in sums.items()}
