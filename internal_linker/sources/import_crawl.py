"""The import of crawl exports: writes the project's tables of pages and links, and counts what they contain."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice

from internal_linker.model.canonical_hosts import CanonicalHosts, HostVotes
from internal_linker.model.errors import InputError
from internal_linker.model.ports import ListSink, Progress, StreamSource
from internal_linker.model.records import Reject, StoredText, TableStream
from internal_linker.model.results import Columns, Result
from internal_linker.model.sequences import counted
from internal_linker.model.urls import other_page
from internal_linker.sources.crawl import (
    LINK_KINDS,
    PAGE_KINDS,
    Crawl,
    CrawlTable,
    add_pages,
    bad_status,
    cell,
    link_cells,
    page_cells,
    recognised,
    with_proposed_content,
    written,
)
from internal_linker.sources.crawl_filters import Filters, page_rows
from internal_linker.sources.staging import canonicals_hint, host_of
from internal_linker.sources.tables.columns import Kind, display, find_named
from internal_linker.store.files.plain_text import shortened

# Reasons of rejected rows that a message tells; files/rejected_rows.csv has all.
_MOST_REASONS = 3
# Rejected rows that a result holds.
_MOST_EXAMPLES = 5
OTHER_FORMS = "URLs in another form than the site's (http, www, another host or index.html)"
# The columns that export-vectors writes.
_VECTORS = ("URL", "Embedding")
# Writes a header and rows; returns what was unusual, one sentence each.
WriteTable = Callable[[Sequence[str], Iterable[Sequence[str]]], Sequence[str]]


@dataclass(frozen=True)
class ImportPaths:
    """Where an import is written."""

    keep: Callable[[str], str | StoredText]  # stores a page's content until the import writes it
    pages: WriteTable  # replaces urls_rawdata.csv
    links: WriteTable  # replaces existing_links.csv
    vectors: WriteTable  # replaces page_vectors.csv
    rejects: ListSink[Reject]  # replaces the list of rejected rows


@dataclass(frozen=True, repr=False)
class Imported(Result):
    """The result of an import."""

    pages: int | None  # how many were written; None if no table has pages
    links: int | None  # how many links were written; None if no table has links
    vectors: int | None  # how many embeddings were written; None if no table has any
    page_columns: list[str]  # the columns of urls_rawdata.csv
    link_columns: list[str]  # the columns of existing_links.csv
    merged: int  # rows of a page that another row described
    left_out: Mapping[str, int]  # how many pages or rows were left out, by the reason
    rejected: int  # rows in the list of rejected rows
    facts: Mapping[str, int]  # other counts, by name
    tables_read: Sequence[CrawlTable] = ()  # the tables that were read, with the columns that were recognised
    copies: Sequence[str] = ()  # the names of the copies of files that changed
    # How many rows were rejected, by the reason, the most frequent first
    reasons: Mapping[str, int] = field(default_factory=dict)
    examples: Sequence[Reject] = ()  # the first rejected rows
    gaps: Sequence[str] = ()  # what is missing because a site failed, one sentence each

    def tables(self) -> dict[str, Columns]:
        """Return the `counts` by name, and the recognised `columns` of each table."""
        counts = {"pages": self.pages, "links": self.links, "embeddings": self.vectors}
        counts |= {"rejected": self.rejected, "merged": self.merged, **self.facts}
        counts |= {f"left out: {reason}": count for reason, count in sorted(self.left_out.items())}
        columns = [(each, kind, at) for each in self.tables_read for kind, at in each.columns.items()]
        return {
            "counts": {"name": list(counts), "count": [count or 0 for count in counts.values()]},
            "columns": {
                "file": [each.table.name for each, _, _ in columns],
                "rows_are": [each.rows_are for each, _, _ in columns],
                "column": [kind.value for _, kind, _ in columns],
                "taken_from": [each.table.header[at] for each, _, at in columns],
                "median_length": [each.median if kind is Kind.CONTENT else 0 for each, kind, _ in columns],
            },
        }


def recognise(
    sources: Iterable[StreamSource], url_column: str, content_column: str, progress: Progress
) -> list[CrawlTable]:
    """Open all tables and recognise their columns by their names and, for contents, by the first rows.

    Raises:
        InputError: a table can't be read or has no column of URLs, or no table has a named column.
    """
    tables = []
    for source in sources:
        stream = source.stream()
        for remark in source.remarks:
            progress.warn(remark)
        tables.append(recognised(stream, url_column, content_column))
    for option, name in (("--url-column", url_column), ("--content-column", content_column)):
        if name and all(find_named(each.table.header, name) is None for each in tables):
            there = dict.fromkeys(column for each in tables for column in each.table.header if column)
            raise InputError(
                f"{option} {shortened(name)}: no file has a column with this name "
                f"(the files have: {shortened(', '.join(there), 500)})."
            )
    if any(Kind.CONTENT in each.columns for each in tables):
        return tables
    tables = [with_proposed_content(each) for each in tables]
    for each in tables:
        if each.proposed:
            name = shortened(each.table.header[each.columns[Kind.CONTENT]])
            progress.warn(
                f"{each.table.name}: the column {name} has the longest texts (median {each.median:,} characters) "
                f"and is taken as {Kind.CONTENT}. To take another one, use import --content-column."
            )
    return tables


def import_tables(
    tables: Sequence[CrawlTable],
    filters: Filters,
    places: ImportPaths,
    progress: Progress,
    verify: Callable[[], None] = lambda: None,
    *,
    hosts: CanonicalHosts | None = None,
) -> Imported:
    """Read all rows and write the project's tables; memory holds the pages without their contents, but no links.

    `verify` is called before anything is written, when the filters have seen all pages. URLs of mapped hosts are
    written with the hosts that they stand for.

    Raises:
        InputError: a table has a damaged row, or no row of a table is left: then no table is replaced.
        OutputError: a table can't be written.
    """
    crawl = Crawl(places.keep, HostVotes(hosts or CanonicalHosts()))
    pages, links = ([each for each in tables if each.links is of_links] for of_links in (False, True))
    progress.start("Reading", sum(each.table.size or 1 for each in tables), "files")
    for table in pages:
        add_pages(crawl, replace(table, table=_counted(table.table, progress)))
    kept, left_out = page_rows(crawl.pages, filters, crawl.votes.hosts.canonicalise)
    verify()
    hint = staging_hint(crawl)
    if other_forms := crawl.votes.variants(crawl.votes.learned()).count:
        crawl.facts[OTHER_FORMS] = other_forms
    crawl.left_out.update(left_out)
    # A page that is left out has no vector, either.
    vectors = [row for key, row in crawl.vectors.items() if key in kept or key not in crawl.pages]
    page_columns = written((table for table in pages if not table.of_vectors), PAGE_KINDS)
    link_columns = written(links, LINK_KINDS)
    if filters.give_roles and Kind.ROLE not in page_columns:
        page_columns.append(Kind.ROLE)
    rows = chain.from_iterable(link_cells(crawl, table, link_columns) for table in links)
    first = next(rows, None)
    remarks = list[str]()
    if not (empty := _empty(tables, bool(kept), first is not None, bool(vectors))):
        if first is not None:
            remarks += places.links(link_columns, chain([first], rows))
        if kept:
            remarks += places.pages(page_columns, page_cells(kept.values(), page_columns))
        if vectors:
            remarks += places.vectors(_VECTORS, ((url, str(numbers)) for url, numbers in vectors))
    remarks += places.rejects.write(crawl.rejects)
    if empty:
        raise InputError(" ".join(filter(None, (_nothing_left(empty, crawl), hint))))
    progress.finish(
        f"{counted(len(kept), 'page')}, {counted(crawl.links, 'link')}, "
        f"{counted(len(crawl.rejects), 'row')} rejected"
    )
    for remark in filter(None, [*remarks, hint, *crawl.gaps]):
        progress.warn(remark)
    return Imported(
        len(kept) if kept else None,
        crawl.links if first else None,
        len(vectors) if vectors else None,
        [display(kind) for kind in page_columns],
        [display(kind) for kind in link_columns],
        crawl.merged,
        crawl.left_out,
        len(crawl.rejects),
        crawl.facts,
        reasons=reject_reasons(crawl.rejects),
        examples=crawl.rejects[:_MOST_EXAMPLES],
        gaps=crawl.gaps,
    )


def staging_hint(crawl: Crawl) -> str:
    """Return a sentence if most pages of a host name their canonical on another one, else ""."""
    pages, named = Counter[str](), Counter[tuple[str, str]]()
    for key, row in crawl.pages.items():
        pages[host_of(key)] += 1
        other = other_page(
            key, cell(row, Kind.URL), cell(row, Kind.CANONICAL), crawl.votes.hosts.canonicalise
        )
        if other and not bad_status(row):
            named[host_of(key), host_of(other)] += 1
    return canonicals_hint(pages, named, "import it with --map-host {0}={1}")


def reject_reasons(rejects: Iterable[Reject]) -> dict[str, int]:
    """Return how many rows were rejected for each reason, the most frequent first."""
    return dict(Counter(reject.reason for reject in rejects).most_common())


def told_reasons(reasons: Mapping[str, int]) -> str:
    """Return the most frequent reasons with their counts, as part of a sentence."""
    told = [f"{count} because {reason}" for reason, count in islice(reasons.items(), _MOST_REASONS)]
    others = sum(reasons.values()) - sum(islice(reasons.values(), _MOST_REASONS))
    return "; ".join(told) + (f"; {others} for other reasons" if others else "")


def _counted(table: TableStream, progress: Progress) -> TableStream:
    """Return the table so that reading it advances the progress: by each row if their count is known, else once."""

    def rows() -> Iterator[tuple[int, Sequence[str]]]:
        for row in table.rows:
            yield row
            if table.size:
                progress.advance()
        if not table.size:
            progress.advance()

    return replace(table, rows=rows())


def _empty(tables: Iterable[CrawlTable], pages: bool, links: bool, vectors: bool) -> list[str]:
    def left(table: CrawlTable) -> bool:
        if table.of_vectors:
            return vectors
        # Fetched pages may have no links.
        return links or table.table.made if table.links else pages

    return [table.table.name for table in tables if not left(table)]


def _nothing_left(names: Sequence[str], crawl: Crawl) -> str:
    reasons = ", ".join(f"{count} {reason}" for reason, count in crawl.left_out.most_common())
    rejected = told_reasons(reject_reasons(crawl.rejects))
    told = [f"rejected: {rejected}"] * bool(rejected) + [f"left out: {reasons}"] * bool(reasons)
    return (
        f"{', '.join(names)}: no rows left to import"
        + (f" ({'; '.join(told)})." if told else ": there is no row below the header.")
        + (" files/rejected_rows.csv lists the rejected rows;" if rejected else "")
        + (" nothing else was written." if rejected else " Nothing was written.")
    )
