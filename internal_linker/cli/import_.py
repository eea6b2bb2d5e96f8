"""The command that imports crawls, saved pages or a site: import."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from internal_linker.cli.command import JsonOption, ProjectOption, opened_project, with_options
from internal_linker.core.errors import ExitCode
from internal_linker.core.sequences import counted
from internal_linker.usecases.options.imports import ImportOptions

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from internal_linker.ingest.crawl import CrawlTable
    from internal_linker.ingest.import_crawl import Imported
    from internal_linker.usecases.console import Reporter
    from internal_linker.usecases.import_search_exports import SearchDataImported
    from internal_linker.usecases.project import Project

VECTORS = "files/page_vectors.csv"
# Reasons of rejected rows that the terminal shows; the file has all.
_REASONS = 5


@with_options(ImportOptions)
def import_(
    context: typer.Context,
    project: ProjectOption = None,
    yes: Annotated[bool, typer.Option("--yes", help="Don't ask whether the columns are right.")] = False,
    as_json: JsonOption = False,
    *,
    options: ImportOptions,
) -> None:
    """Import crawls, saved pages, a sitemap or a WordPress site.

    Write pages to files/urls_rawdata.csv and links to files/existing_links.csv. They come from exports of Screaming
    Frog (English, German, Spanish, French, Italian), Oncrawl, Sitebulb, Search Console or Ahrefs, from any table
    with a column of URLs, from HTML files or folders of them, from a WordPress site's REST API, or from any site,
    as far as its robots.txt allows. The command shows which columns it recognised and, in a terminal, asks whether
    they are right. It backs up both files before it changes them.
    """
    if not (options.files or options.sitemap or options.urls or options.wordpress):
        raise typer.BadParameter("name a file, a folder, --sitemap, --urls or --wordpress", param_hint="FILE")
    opened = opened_project(context, project)
    from internal_linker.cli.output import print_columns, print_rows
    from internal_linker.usecases.console import Reporter, open_console
    from internal_linker.usecases.import_crawl import prepared_import
    from internal_linker.usecases.import_search_exports import without_search_exports

    console, reporter = open_console(stderr=as_json), Reporter(open_console(stderr=True))
    options, exports = without_search_exports(options)
    found: dict[str, object] = {}
    if exports:
        found = _import_search_data(opened, exports, reporter, as_json=as_json)
        if not (options.files or options.sitemap or options.urls or options.wordpress):
            if as_json:
                _echo_json(found)
            return
    with prepared_import(opened, options, reporter) as prepared:
        if columns := _columns(prepared.tables):
            print_columns(console, ("File", "Rows are", "Column", "Taken from"), columns)
        asks = bool(columns) and sys.stdin.isatty() and console.is_terminal and not yes
        if asks and not typer.confirm("Import these columns?", default=True, err=as_json):
            console.print(
                "Nothing was imported. To choose other columns, use --url-column and --content-column.",
                soft_wrap=True,
            )
            return
        try:
            done = prepared.execute()
        finally:
            reporter.close()
    if as_json:
        _echo_json(found | _as_json(done))
    else:
        print_rows(console, "Imported", _rows(done))
    if done.gaps:
        raise typer.Exit(ExitCode.GAPS)


def _import_search_data(
    project: "Project", exports: "Sequence[Path]", reporter: "Reporter", *, as_json: bool
) -> dict[str, object]:
    """Import search data, show what was stored, and return it for JSON."""
    from internal_linker.cli.output import print_columns, print_rows
    from internal_linker.usecases.console import open_console
    from internal_linker.usecases.import_search_exports import import_search_exports

    try:
        done = import_search_exports(project, exports, reporter)
    finally:
        reporter.close()
    if not as_json:
        console = open_console()
        print_columns(console, ("File", "Rows are", "Column", "Taken from"), done.columns)
        print_rows(console, "Imported search data", _search_data_rows(done))
    return {"search_data": _search_data_as_json(done)}


def _echo_json(found: dict[str, object]) -> None:
    import json

    typer.echo(json.dumps(found))


def _search_data_rows(done: "SearchDataImported") -> list[tuple[str, str]]:
    rows = [
        (
            f"{each.table.capitalize()} ({each.source})",
            f"{counted(each.rows, 'row')} of {counted(each.days, 'day')}, {each.first} to {each.last}",
        )
        for each in done.stored
    ]
    if done.rejected:
        rows.append(("Rejected rows, in files/rejected_search_rows.csv", str(sum(done.rejected.values()))))
    rows += [(f"Rejected: {reason}", str(count)) for reason, count in done.rejected.items()]
    rows += [(f"Left out: {reason}", str(count)) for reason, count in done.left_out.items()]
    return rows + [(name[:1].upper() + name[1:], str(count)) for name, count in done.facts.items()]


def _search_data_as_json(done: "SearchDataImported") -> dict[str, object]:
    return {
        "stored": [
            {
                "source": each.source,
                "table": each.table.value,
                "rows": each.rows,
                "days": each.days,
                "first": str(each.first),
                "last": str(each.last),
            }
            for each in done.stored
        ],
        "rejected_because": dict(done.rejected),
        "left_out": dict(done.left_out),
        "facts": dict(done.facts),
        "remarks": list(done.remarks),
    }


def _columns(tables: "Sequence[CrawlTable]") -> list[tuple[str, str, str, str]]:
    from internal_linker.adapters.files.plain_text import shortened

    return [
        (shortened(each.table.name, 200), each.rows_are, kind.value, _taken_from(each, kind, at))
        for each in tables
        if not each.table.made
        for kind, at in each.columns.items()
    ]


def _taken_from(table: "CrawlTable", kind: str, at: int) -> str:
    """Return a column's name and, for contents, the length of the texts in it."""
    from internal_linker.adapters.files.plain_text import shortened
    from internal_linker.adapters.tables.columns import Kind

    name = shortened(table.table.header[at])
    return f"{name} (median {table.median:,} characters)" if kind == Kind.CONTENT and table.median else name


def _rows(done: "Imported") -> list[tuple[str, str]]:
    from internal_linker.adapters.files.plain_text import shortened

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
    shown = list(done.reasons.items())[:_REASONS]
    rows += [(f"Rejected: {shortened(reason, 200)}", str(count)) for reason, count in shown]
    if others := done.rejected - sum(count for _, count in shown):
        rows.append(("Rejected for other reasons, in files/rejected_rows.csv", str(others)))
    rows += [(name, str(count)) for name, count in sorted(done.facts.items())]
    rows += [(f"Left out: {reason}", str(count)) for reason, count in sorted(done.left_out.items())]
    return rows + [("Backup of the earlier file", f"files/{copy}") for copy in done.copies]


def _as_json(done: "Imported") -> dict[str, object]:
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
        "merged": done.merged,
        "left_out": dict(done.left_out),
        "facts": dict(done.facts),
        "copies": list(done.copies),
        "gaps": list(done.gaps),
    }
