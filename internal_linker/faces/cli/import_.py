"""The command that imports crawls, saved pages or a site: import."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from internal_linker.faces.cli.command import (
    JsonOption,
    ProjectOption,
    opened_project,
    reporting,
    typed,
    with_options,
)
from internal_linker.model.errors import ExitCode
from internal_linker.model.sequences import counted
from internal_linker.project.options.imports import (
    SOURCES,
    AnalyticsOptions,
    ImportCommandOptions,
    SearchConsoleOptions,
    SearchFilesOptions,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date
    from pathlib import Path

    from internal_linker.project.import_search_console import SearchConsoleImport
    from internal_linker.project.import_search_exports import SearchDataImported
    from internal_linker.project.project import Project
    from internal_linker.sources.crawl import CrawlTable
    from internal_linker.sources.import_crawl import Imported


VECTORS = "files/page_vectors.csv"
# Days that the terminal lists.
_DAYS = 5


@with_options(ImportCommandOptions)
def import_(
    context: typer.Context,
    project: ProjectOption = None,
    yes: Annotated[bool, typer.Option("--yes", help="Don't ask whether the columns are right.")] = False,
    as_json: JsonOption = False,
    *,
    options: ImportCommandOptions,
) -> None:
    """Import crawls, saved pages, a site, or search data.

    Write pages to files/urls_rawdata.csv and links to files/existing_links.csv. They come from exports of Screaming
    Frog (English, German, Spanish, French, Italian), Oncrawl, Sitebulb or Ahrefs, from any table
    with a column of URLs, from HTML files or folders of them, from content management systems, or from any site,
    as far as its robots.txt allows. The command shows which columns it recognised and, in a terminal, asks whether
    they are right. It backs up both files before it changes them.

    With --search-console it fetches clicks, impressions and positions of each page and query by day, and stores them:
    the first time up to 16 months, afterwards the new days and the last week again. With --analytics it does the same
    with sessions, engaged sessions and key events of landing pages. Exported files of Search Console and Google
    Analytics (.zip, .csv, .xlsx), and tables of their figures, are recognised by their columns.
    """
    if not (options.pages or options.search_console or options.analytics):
        raise typer.BadParameter(
            f"name {', '.join(SOURCES)}, --search-console or --analytics",
            param_hint="FILE",
        )
    if options.days and not options.search_console:
        raise typer.BadParameter("it goes with --search-console", param_hint="--days")
    opened = opened_project(context, project)
    from internal_linker.project.import_search_exports import without_search_exports

    others: dict[str, SearchDataImported] = {}
    options, exports = without_search_exports(options)
    if exports:
        others["search_files"] = _import_files(opened, exports, quiet=as_json)
    done = _import_pages(opened, options, yes=yes, as_json=as_json) if options.pages else None
    if options.pages and done is None:
        return
    found = _import_search_data(context, opened, options, as_json=as_json) if options.search_console else None
    if options.analytics:
        others["analytics"] = _import_property(opened, options.analytics, quiet=as_json)
    if as_json:
        import json

        told = _as_json(done) if done else {}
        told |= {"search_data": _search_as_json(found)} if found else {}
        typer.echo(json.dumps(told | {name: _stored_as_json(one) for name, one in others.items()}))
    if any(each and each.gaps for each in (done, found, *others.values())):
        raise typer.Exit(ExitCode.GAPS)


def _import_pages(
    opened: "Project", options: ImportCommandOptions, *, yes: bool, as_json: bool
) -> "Imported | None":
    """Import pages and links; return None if a person does not want them."""
    from internal_linker.faces.cli.output import print_columns, print_rows
    from internal_linker.project.console import Reporter, open_console
    from internal_linker.project.import_crawl import prepared_import

    console, reporter = open_console(stderr=as_json), Reporter(open_console(stderr=True))
    with prepared_import(opened, options, reporter) as prepared:
        if columns := _columns(prepared.tables):
            print_columns(console, ("File", "Rows are", "Column", "Taken from"), columns)
        asks = bool(columns) and sys.stdin.isatty() and console.is_terminal and not yes
        if asks and not typer.confirm("Import these columns?", default=True, err=as_json):
            console.print(
                "Nothing was imported. To choose other columns, use --url-column and --content-column.",
                soft_wrap=True,
            )
            return None
        try:
            done = prepared.execute()
        finally:
            reporter.close()
    if not as_json:
        print_rows(console, "Imported", _rows(done))
    return done


def _import_search_data(
    context: typer.Context, opened: "Project", options: ImportCommandOptions, *, as_json: bool
) -> "SearchConsoleImport":
    from internal_linker.faces.cli.output import print_rows
    from internal_linker.project.console import open_console
    from internal_linker.project.import_search_console import import_search_console

    wanted = SearchConsoleOptions(property=options.search_console, days=options.days)
    with reporting() as reporter:
        found = import_search_console(opened, wanted, reporter)
    if not as_json:
        console = open_console()
        print_rows(console, "Search data", [*_search_rows(found), *_next_rows(context, found)])
        for gap in found.gaps:
            console.print(gap, soft_wrap=True)
    return found


def _search_rows(found: "SearchConsoleImport") -> list[tuple[str, str]]:
    """Return what was fetched, what is missing, and how the pages match the crawl."""
    hidden = found.clicks - found.clicks_by_query
    rows = [
        ("Property", found.property),
        (
            "Fetched",
            f"{counted(len(found.fetched), 'day')}, {found.clicks:,} clicks"
            if found.fetched
            else "nothing new",
        ),
    ]
    if found.fetched:
        rows += [(f"Rows: {table}", f"{count:,}") for table, count in found.rows.items()]
    if found.clicks and hidden > 0:
        rows.append(
            ("Clicks without a query", f"{hidden:,} ({hidden / found.clicks:.0%}): Google hides rare queries")
        )
    rows += [(f"Left out: rows {reason}", f"{count:,}") for reason, count in sorted(found.left_out.items())]
    if found.since and found.until:
        final = f"{found.last_final} is the last final day" if found.last_final else "none of them is final"
        rows.append(("Stored", f"{found.since} to {found.until}; {final}"))
    else:
        rows.append(("Stored", "nothing: Google has no data of this property yet"))
    rows += [("Days without data", _some(found.missing))] if found.missing else []
    rows += [("Days with only the top rows", _some(found.cut))] if found.cut else []
    if found.pruned:
        rows.append(("Removed", f"{counted(found.pruned, 'table')} of days older than 16 months"))
    if found.others:
        rows.append(("Also stored, and never added to these", ", ".join(found.others)))
    return rows + _matched_rows(found)


def _next_rows(context: typer.Context, found: "SearchConsoleImport") -> list[tuple[str, str]]:
    if not found.until:
        return []
    run = f"`{typed(context, 'run')}` prefers pages that need links most"
    when = "" if found.prioritised else ', with priority = "search" in config/settings.toml'
    return [("Next", f"`{typed(context, 'queries')}` chooses main queries; {run}{when}")]


def _matched_rows(found: "SearchConsoleImport") -> list[tuple[str, str]]:
    if found.matched is None:
        return (
            [("Pages", "not compared: import a crawl first (files/urls_rawdata.csv is missing)")]
            if found.until
            else []
        )
    matched = found.matched
    rows = [("Pages of the last 28 days", f"{matched.pages:,} are in the crawl")]
    if matched.spellings:
        told = "as http or https, with or without www, or with a fragment or tracking parameters"
        rows.append(("Other spellings of these pages", f"{matched.spellings:,} URLs, {told}"))
    if matched.unknown_urls:
        told = f"{matched.unknown_urls:,} with {matched.unknown_count:,} clicks"
        rows.append(("URLs that are not in the crawl", f"{told}, such as {matched.unknown_examples[0]}"))
    return rows


def _some(days: "Sequence[date]") -> str:
    shown = ", ".join(map(str, days[:_DAYS]))
    return shown if len(days) <= _DAYS else f"{len(days)}: {shown}, ..."


def _search_as_json(found: "SearchConsoleImport") -> dict[str, object]:
    matched = found.matched
    return {
        "property": found.property,
        "fetched": [str(day) for day in found.fetched],
        "rows": {str(table): count for table, count in found.rows.items()},
        "clicks": found.clicks,
        "clicks_by_query": found.clicks_by_query,
        "left_out": dict(found.left_out),
        "since": found.since and str(found.since),
        "until": found.until and str(found.until),
        "last_final": found.last_final and str(found.last_final),
        "days_without_data": [str(day) for day in found.missing],
        "days_cut": [str(day) for day in found.cut],
        "other_sources": list(found.others),
        "pruned": found.pruned,
        "pages_matched": matched and matched.pages,
        "other_spellings": matched and matched.spellings,
        "urls_unknown": matched and matched.unknown_urls,
        "gaps": list(found.gaps),
    }


def _columns(tables: "Sequence[CrawlTable]") -> list[tuple[str, str, str, str]]:
    from internal_linker.store.files.plain_text import shortened

    return [
        (shortened(each.table.name, 200), each.rows_are, kind.value, _taken_from(each, kind, at))
        for each in tables
        if not each.table.made
        for kind, at in each.columns.items()
    ]


def _taken_from(table: "CrawlTable", kind: str, at: int) -> str:
    """Return a column's name and, for contents, the length of the texts in it."""
    from internal_linker.sources.tables.columns import Kind
    from internal_linker.store.files.plain_text import shortened

    name = shortened(table.table.header[at])
    return f"{name} (median {table.median:,} characters)" if kind == Kind.CONTENT and table.median else name


def _rows(done: "Imported") -> list[tuple[str, str]]:
    from internal_linker.sources.import_crawl import told_reasons
    from internal_linker.store.files.plain_text import shortened

    rows = []
    if done.pages is not None:
        rows.append(
            ("files/urls_rawdata.csv", f"{counted(done.pages, 'page')}: {', '.join(done.page_columns)}")
        )
    if done.links is not None:
        rows.append(
            ("files/existing_links.csv", f"{counted(done.links, 'link')}: {', '.join(done.link_columns)}")
        )
    if done.vectors is not None:
        use = f'To use them: embedding_provider = "file:{VECTORS}"'
        rows.append((VECTORS, f"{counted(done.vectors, 'embedding')}. {use}"))
    rows.append(("Rows rejected / merged", f"{done.rejected} / {done.merged}"))
    several = len({each.table for each in done.examples}) > 1
    for each in done.examples:
        table = f"{shortened(each.table, 200)}, " * several
        value = f" ({shortened(each.url, 200)})" if each.url else ""
        rows.append((f"Rejected: {table}row {each.row}{value}", shortened(each.reason, 200)))
    if done.rejected > len(done.examples):
        told = shortened(told_reasons(done.reasons), 1000)
        rows.append((f"All {done.rejected} rejected rows are in files/rejected_rows.csv", told))
    rows += [(name, str(count)) for name, count in sorted(done.facts.items())]
    rows += [(f"Left out: {reason}", str(count)) for reason, count in sorted(done.left_out.items())]
    return rows + [("Backup of the earlier file", f"files/{copy}") for copy in done.copies]


def _as_json(done: "Imported") -> dict[str, object]:
    from dataclasses import asdict

    return {
        "files": [
            {
                "file": each.table.name,
                "rows_are": each.rows_are,
                "columns": {kind.value: each.table.header[at] for kind, at in each.columns.items()},
                "content_median_length": each.median,
            }
            for each in done.tables_read
        ],
        "pages": done.pages,
        "page_columns": done.page_columns,
        "links": done.links,
        "vectors": done.vectors,
        "link_columns": done.link_columns,
        "rejected": done.rejected,
        "rejected_because": dict(done.reasons),
        "rejected_examples": [asdict(each) for each in done.examples],
        "merged": done.merged,
        "left_out": dict(done.left_out),
        "facts": dict(done.facts),
        "copies": list(done.copies),
        "gaps": list(done.gaps),
    }


def _import_files(project: "Project", exports: "Sequence[Path]", *, quiet: bool) -> "SearchDataImported":
    from internal_linker.faces.cli.output import print_columns, print_rows
    from internal_linker.project.console import open_console
    from internal_linker.project.import_search_exports import import_search_data

    with reporting() as reporter:
        done = import_search_data(project, SearchFilesOptions(files=exports), reporter)
    if not quiet:
        console = open_console()
        print_columns(console, ("File", "Rows are", "Column", "Taken from"), done.columns)
        print_rows(console, "Imported search data", _stored_rows(done))
    return done


def _import_property(project: "Project", property_: str, *, quiet: bool) -> "SearchDataImported":
    """Import sessions from Google Analytics, and say what was stored unless `quiet`."""
    from internal_linker.faces.cli.output import print_rows
    from internal_linker.project.console import open_console
    from internal_linker.project.import_analytics import import_analytics

    with reporting() as reporter:
        done = import_analytics(project, AnalyticsOptions(property=property_), reporter)
    if not quiet:
        print_rows(open_console(), "Imported sessions", _stored_rows(done))
    return done


def _stored_as_json(done: "SearchDataImported") -> dict[str, object]:
    return {
        "stored": [
            {
                "source": each.source,
                "table": each.table.value,
                "rows": each.rows,
                "days": each.days,
                "first": str(each.first),
                "last": str(each.last),
                "replaced": each.replaced,
                "replaced_days": each.replaced_days,
            }
            for each in done.stored
        ],
        "rejected_because": dict(done.rejected),
        "left_out": dict(done.left_out),
        "facts": dict(done.facts),
        "remarks": list(done.remarks),
        "gaps": list(done.gaps),
    }


def _stored_rows(done: "SearchDataImported") -> list[tuple[str, str]]:
    from internal_linker.project.import_search_exports import REJECTED

    rows = [
        (
            f"{each.table.capitalize()} ({each.source})",
            counted(each.rows, "row")
            + ("" if each.sums else f" of {counted(each.days, 'day')}, {each.first} to {each.last}"),
        )
        for each in done.stored
    ]
    rows += [
        (
            f"Replaced by fewer rows: {each.table} ({each.source})",
            counted(each.replaced, "row")
            + ("" if each.sums else f" of {counted(each.replaced_days, 'day')}"),
        )
        for each in done.stored
        if each.replaced
    ]
    if done.listed:
        rows.append((f"Rejected rows, in files/{REJECTED}", str(sum(done.rejected.values()))))
    rows += [(f"Rejected: {reason}", str(count)) for reason, count in done.rejected.items()]
    rows += [(f"Left out: {reason}", str(count)) for reason, count in done.left_out.items()]
    return rows + [(name[:1].upper() + name[1:], str(count)) for name, count in done.facts.items()]
