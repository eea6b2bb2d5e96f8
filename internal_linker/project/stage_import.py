"""Import uploads in steps: preview their columns, see what each filter would leave out, then import."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Literal

from internal_linker.model.canonical_hosts import HostVotes
from internal_linker.model.errors import InputError, Interrupted
from internal_linker.model.ports import Progress
from internal_linker.model.progress import Stop, Tracker
from internal_linker.model.records import TableStream
from internal_linker.project.import_crawl import CrawlImport, filters_of
from internal_linker.project.options.imports import ImportOptions
from internal_linker.project.project import Project
from internal_linker.project.uploads import Upload, delete_uploads, path_of, upload
from internal_linker.sources.crawl import (
    LINK_KINDS,
    READ,
    Crawl,
    CrawlTable,
    add_pages,
    choose_columns,
    recognised,
    with_proposed_content,
)
from internal_linker.sources.crawl_filters import PageFacts, PageFilter, TextFacts, page_facts, text_facts
from internal_linker.sources.import_crawl import Imported, reject_reasons
from internal_linker.sources.tables.columns import Kind, find_column
from internal_linker.sources.tables.csv_reader import CsvTable
from internal_linker.sources.tables.xlsx_reader import XlsxTable
from internal_linker.sources.web.page_table import LinkSpool, LinkTable, PageTable
from internal_linker.sources.web.saved_pages import SavedPages, html_files
from internal_linker.store.files.text_spool import TextSpool

# Rows that a preview shows, and from which it recognises columns.
_SHOWN, _READ = 20, 300
# Characters of a cell that a preview shows.
_MOST_SHOWN = 300
# Rows between two looks at whether the work should stop.
_ROWS = 1000
# The filters that are on or off, each alone.
_SWITCHES = {
    "only_200": ImportOptions(only_200=True),
    "only_indexable": ImportOptions(only_indexable=True),
    "canonicalised": ImportOptions(canonicalised=False),
    "pagination": ImportOptions(pagination=False),
    "parameters": ImportOptions(parameters=False),
    "duplicates": ImportOptions(duplicates=False),
}
_CANCELLED = "The import was cancelled; nothing was changed."


@dataclass(frozen=True, slots=True)
class TableChoice:
    """What to read of an upload."""

    upload: str  # the upload's id
    sheet: str = ""  # the sheet of a workbook; "": the one that `import` would read
    rows_are: Literal["pages", "links"] = "pages"  # what the rows are, if `columns` are given
    # The positions of the columns, from 0, by the names of `Kind`; None: they are recognised
    columns: Mapping[str, int] | None = None


@dataclass(frozen=True, slots=True)
class TablePreview:
    """The first rows of a table, and its columns.

    Attributes:
        upload: the upload's id.
        name: the file's name.
        sheet: the sheet; "": the file has none.
        sheets: all sheets that can be chosen.
        rows_are: what the rows are.
        header: the names of the columns.
        columns: the positions of the recognised or chosen columns in `header`, by the names of `Kind`.
        kinds: the columns that rows of this kind can have.
        rows: the first 20 rows; long cells are cut.
        median_content: the median length of the contents, in characters; 0: unknown.
        proposed: whether the column of contents was recognised by its long texts, not by its name.
        changeable: whether other columns can be chosen: not of saved pages.
        problem: why the table can't be imported with these columns; "": it can.
        remarks: what was unusual about the file, one sentence each.
    """

    upload: str
    name: str
    sheet: str
    sheets: tuple[str, ...]
    rows_are: Literal["pages", "links"]
    header: tuple[str, ...]
    columns: Mapping[str, int]
    kinds: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    median_content: int
    proposed: bool
    changeable: bool
    problem: str
    remarks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FilterCounts:
    """What filters would leave out of an import.

    Attributes:
        pages: all pages of the tables.
        kept: the pages that would be imported.
        left_out: how many would be left out, by the reason; each page has one, the first in the order of an import.
        alone: how many each switch would leave out if it were the only filter, by the option's name.
    """

    pages: int
    kept: int
    left_out: Mapping[str, int]
    alone: Mapping[str, int]


@dataclass(frozen=True)
class Survey:
    """What the tables of pages hold, so that filters can be tried."""

    pages: Sequence[PageFacts]  # the pages, in the order of the tables
    texts: Sequence[TextFacts]  # what their texts decide, in the same order
    rows: int  # rows of the tables of pages
    merged: int  # rows of a page that another row described
    rejected: Mapping[str, int]  # how many rows can't be imported, by the reason
    left_out: Mapping[str, int]  # how many rows are no pages, by the reason
    alone: Mapping[str, int]  # as in `FilterCounts`

    def counts(self, options: ImportOptions) -> FilterCounts:
        """Return what the filters of these options would leave out.

        Raises:
            ConfigurationError: an option is wrong.
        """
        left_out = _left_out(self.pages, self.texts, options)
        return FilterCounts(len(self.pages), len(self.pages) - left_out.total(), left_out, self.alone)


def preview(project: Project, choices: Sequence[TableChoice]) -> list[TablePreview]:
    """Return the first rows of uploads with the columns that were recognised or chosen.

    Raises:
        InputError: an upload is not there any more, or can't be read.
    """
    heads = list[_Head]()
    with LinkSpool(project.file("")) as links:
        for choice in choices:
            given = upload(project, choice.upload)
            stream, sheet, remarks = _opened(project, given, choice, links, most=_SHOWN)
            rows = list(islice(stream.rows, _SHOWN if stream.made else _READ))
            table, problem = _tried(replace(stream, rows=iter(rows)), choice)
            heads.append(_Head(given, choice, sheet, remarks, stream, rows, table, problem))
    readable = [(head.table, head.choice) for head in heads if head.table]
    completed = iter(_with_contents([table for table, _ in readable], [choice for _, choice in readable]))
    return [_previewed(head, next(completed) if head.table else None) for head in heads]


@dataclass(frozen=True, slots=True)
class _Head:
    """The first rows of an upload, and the table that they are; None if there is a problem."""

    upload: Upload
    choice: TableChoice
    sheet: str
    remarks: tuple[str, ...]
    stream: TableStream
    rows: list[tuple[int, Sequence[str]]]
    table: CrawlTable | None
    problem: str


def _previewed(head: _Head, table: CrawlTable | None) -> TablePreview:
    rows_are: Literal["pages", "links"] = head.choice.rows_are
    columns = dict(head.choice.columns or {})
    if head.choice.columns is None:
        # Without a column of URLs, a person needs to choose only that.
        found = {kind.value: find_column(head.stream.header, kind) for kind in READ}
        columns = {name: at for name, at in found.items() if at is not None}
    if table:
        rows_are = "links" if table.links else "pages"
        columns = {kind.value: at for kind, at in table.columns.items()}
    return TablePreview(
        head.upload.id,
        head.upload.name,
        head.sheet,
        head.upload.sheets,
        rows_are,
        head.stream.header,
        columns,
        tuple(kind.value for kind in (LINK_KINDS if rows_are == "links" else READ)),
        tuple(tuple(cell[:_MOST_SHOWN] for cell in row) for _, row in head.rows[:_SHOWN]),
        table.median if table else 0,
        bool(table and table.proposed),
        not head.stream.made,
        head.problem,
        head.remarks,
    )


def survey(
    project: Project,
    choices: Sequence[TableChoice],
    options: ImportOptions,
    progress: Progress,
    should_stop: Stop = lambda: False,
) -> Survey:
    """Read all pages of uploads, so that filters can be tried; nothing is written.

    Of the options, `base_url` and `map_host` count here.

    Raises:
        InputError: an upload can't be read.
        Interrupted: the work was stopped.
    """
    spool = TextSpool(project.file(""))
    with ExitStack() as closing:
        closing.callback(spool.close)
        links = closing.enter_context(LinkSpool(project.file("")))
        tables = _tables(project, choices, links, options.base_url, should_stop)
        hosts = CrawlImport(project, options, progress, tables, links).hosts
        crawl, rows = Crawl(spool.keep, HostVotes(hosts)), Counter[str]()
        progress.start("Reading", 0, "rows")
        for table in tables:
            if not table.links:
                add_pages(crawl, replace(table, table=_counted(table.table, rows, progress)))
        of = crawl.votes.hosts.canonicalise
        pages = [page_facts(key, row, of) for key, row in crawl.pages.items()]
        texts = list[TextFacts]()
        for row in crawl.pages.values():
            _stop_if(should_stop)
            texts.append(text_facts(row))
        progress.finish(f"{len(pages)} pages")
    alone = {name: _left_out(pages, texts, only).total() for name, only in _SWITCHES.items()}
    rejected = reject_reasons(crawl.rejects)
    return Survey(pages, texts, rows.total(), crawl.merged, rejected, dict(crawl.left_out), alone)


def import_uploads(
    project: Project,
    choices: Sequence[TableChoice],
    options: ImportOptions,
    progress: Progress,
    should_stop: Stop = lambda: False,
) -> Imported:
    """Import uploads, or the pages of a site, and delete the uploads.

    The replaced tables are copied aside. `should_stop` is asked until everything is read.

    Raises:
        InternalLinkerError: it could not be done; files/ is as it was.
    """
    if not (choices or options.fetches):
        raise InputError("Nothing to import: upload a file, or name a sitemap or a site.")
    with LinkSpool(project.file("")) as links:
        tables = _tables(project, choices, links, options.base_url, should_stop)
        done = CrawlImport(
            project, options, Tracker(progress, should_stop=should_stop, cancelled=_CANCELLED), tables, links
        ).execute()
    delete_uploads(project, [choice.upload for choice in choices])
    return done


def _tables(
    project: Project, choices: Sequence[TableChoice], links: LinkSpool, base_url: str, should_stop: Stop
) -> list[CrawlTable]:
    """Return the tables of uploads with their columns; saved pages have a second one for their links."""
    tables, told = list[CrawlTable](), list[TableChoice]()
    for choice in choices:
        stream, _, _ = _opened(project, upload(project, choice.upload), choice, links, base_url)
        stream = replace(stream, rows=_stoppable(stream.rows, should_stop))
        tables.append(_with_columns(stream, choice))
        told.append(choice)
        if stream.made:
            tables.append(recognised(LinkTable(stream.name, links).stream()))
            told.append(choice)
    return _with_contents(tables, told)


def _opened(
    project: Project,
    given: Upload,
    choice: TableChoice,
    links: LinkSpool,
    base_url: str = "",
    *,
    most: int = 0,
) -> tuple[TableStream, str, tuple[str, ...]]:
    """Return the stream of an upload, the name of its sheet, and what was unusual."""
    path = path_of(project, given)
    if given.kind == "search":
        raise InputError(f"{given.name} has search data, neither pages nor links: import it as search data.")
    try:
        if given.kind == "pages":
            files = html_files([path])[: most or None]
            pages = SavedPages(files, base_url)
            return PageTable(given.name, len(files), pages.rows, links).stream(), "", ()
        if given.kind == "xlsx":
            sheet = choice.sheet or given.sheet
            return XlsxTable(path, f"{given.name} ({sheet})", sheet).stream(), sheet, ()
        table = CsvTable(path, given.name)
        return table.stream(), "", table.remarks
    except InputError as error:
        raise InputError(str(error).replace(str(path), given.name)) from None


def _tried(stream: TableStream, choice: TableChoice) -> tuple[CrawlTable | None, str]:
    try:
        return _with_columns(stream, choice), ""
    except InputError as error:
        return None, str(error)


def _with_columns(stream: TableStream, choice: TableChoice) -> CrawlTable:
    if stream.made:
        return recognised(stream)
    if choice.columns is None:
        ends = [find_column(stream.header, kind) for kind in LINK_KINDS[:2]]
        if find_column(stream.header, Kind.URL) is None and None in ends:
            there = ", ".join(name for name in stream.header[:20] if name) or "nothing"
            raise InputError(
                f"{stream.name}: no column with the pages' URLs was recognised (there are: {there}). Choose it."
            )
        return recognised(stream)
    known = {kind.value: kind for kind in (*READ, *LINK_KINDS)}
    if unknown := next((name for name in choice.columns if name not in known), ""):
        raise InputError(f"{stream.name}: there is no column '{unknown[:40]}' to choose.")
    columns = {known[name]: at for name, at in choice.columns.items()}
    return choose_columns(stream, links=choice.rows_are == "links", columns=columns)


def _with_contents(tables: Sequence[CrawlTable], choices: Sequence[TableChoice]) -> list[CrawlTable]:
    """Propose a column of contents, as `import` does, where nobody chose the columns and no table has one."""
    if any(Kind.CONTENT in table.columns for table in tables):
        return list(tables)
    return [
        with_proposed_content(table) if choice.columns is None else table
        for table, choice in zip(tables, choices, strict=True)
    ]


def _left_out(pages: Sequence[PageFacts], texts: Sequence[TextFacts], options: ImportOptions) -> Counter[str]:
    """Return how many pages the filters would leave out, by the reason."""
    chosen_pages = PageFilter(filters_of(options))
    reasons = (
        chosen_pages.reason(page, partial(_same, text)) for page, text in zip(pages, texts, strict=True)
    )
    return Counter(filter(None, reasons))


def _same(text: TextFacts) -> TextFacts:
    return text


def _stoppable(
    rows: Iterator[tuple[int, Sequence[str]]], should_stop: Stop
) -> Iterator[tuple[int, Sequence[str]]]:
    for number, row in enumerate(rows):
        if number % _ROWS == 0:
            _stop_if(should_stop)
        yield row


def _stop_if(should_stop: Stop) -> None:
    if should_stop():
        raise Interrupted(_CANCELLED)


def _counted(table: TableStream, rows: Counter[str], progress: Progress) -> TableStream:
    def counted() -> Iterator[tuple[int, Sequence[str]]]:
        for row in table.rows:
            rows[table.name] += 1
            progress.advance()
            yield row

    return replace(table, rows=counted())
