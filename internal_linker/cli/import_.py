"""The command that takes over what a crawler exported, or pages as they are: import."""

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from internal_linker.cli.options import ProjectOption, opened_project

if TYPE_CHECKING:
    from collections.abc import Sequence

    from internal_linker.ingest.crawl import CrawlTable
    from internal_linker.ingest.import_crawl import Imported

VECTORS = "files/page_vectors.csv"


def import_(
    context: typer.Context,
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="FILE",
            help="Exports of pages or links, as .csv or .xlsx; saved pages, as .html or a folder.",
        ),
    ] = None,
    project: ProjectOption = None,
    sitemap: Annotated[
        str, typer.Option("--sitemap", metavar="URL", help="Fetch the pages of a sitemap, or of a host's.")
    ] = "",
    urls: Annotated[
        Path | None, typer.Option("--urls", metavar="FILE", help="Fetch the pages of a list, a URL a line.")
    ] = None,
    delay: Annotated[
        float, typer.Option("--delay", min=0, max=60, help="Seconds between two requests to a host.")
    ] = 0.5,
    allow_private: Annotated[
        bool, typer.Option("--allow-private", help="Fetch from private networks, too.")
    ] = False,
    url_column: Annotated[
        str, typer.Option("--url-column", metavar="NAME", help="The column of the pages' URLs.")
    ] = "",
    content_column: Annotated[
        str, typer.Option("--content-column", metavar="NAME", help="The column of the pages' main content.")
    ] = "",
    base_url: Annotated[
        str, typer.Option("--base-url", metavar="URL", help="The address of a folder of saved pages.")
    ] = "",
    no_pagination: Annotated[
        bool, typer.Option("--no-pagination", help="Leave out /page/2, ?page=2 and the like.")
    ] = False,
    no_parameters: Annotated[
        bool, typer.Option("--no-parameters", help="Leave out URLs with parameters other than tracking.")
    ] = False,
    only_indexable: Annotated[
        bool, typer.Option("--only-indexable", help="Leave out pages that are not indexable.")
    ] = False,
    only_200: Annotated[
        bool, typer.Option("--only-200", help="Leave out pages whose status is not 200.")
    ] = False,
    no_canonicalised: Annotated[
        bool, typer.Option("--no-canonicalised", help="Leave out pages whose canonical is another page.")
    ] = False,
    include: Annotated[
        list[str] | None,
        typer.Option("--include", metavar="PATH", help="Only pages below PATH; may be repeated."),
    ] = None,
    exclude: Annotated[
        list[str] | None,
        typer.Option("--exclude", metavar="PATH", help="No pages below PATH; may be repeated."),
    ] = None,
    source_include: Annotated[
        list[str] | None,
        typer.Option(
            "--source-include", metavar="PATH", help="Links only for pages below PATH; may be repeated."
        ),
    ] = None,
    source_exclude: Annotated[
        list[str] | None,
        typer.Option(
            "--source-exclude", metavar="PATH", help="No links for pages below PATH; may be repeated."
        ),
    ] = None,
    target_include: Annotated[
        list[str] | None,
        typer.Option(
            "--target-include", metavar="PATH", help="Links only to pages below PATH; may be repeated."
        ),
    ] = None,
    target_exclude: Annotated[
        list[str] | None,
        typer.Option(
            "--target-exclude", metavar="PATH", help="No links to pages below PATH; may be repeated."
        ),
    ] = None,
    no_duplicates: Annotated[
        bool, typer.Option("--no-duplicates", help="Leave out pages with the text of an earlier one.")
    ] = False,
    min_words: Annotated[
        int, typer.Option("--min-words", min=0, help="Leave out pages with fewer words.")
    ] = 0,
    limit: Annotated[int, typer.Option("--limit", min=0, help="Take so many pages at most; 0: all.")] = 0,
    yes: Annotated[bool, typer.Option("--yes", help="Don't ask whether the columns are right.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print columns and counts as JSON.")] = False,
) -> None:
    """Make a run's tables of crawls, saved pages or a sitemap.

    files/urls_rawdata.csv is made of pages, files/existing_links.csv of links, from
    Screaming Frog (English, German, Spanish, French, Italian), Oncrawl, Sitebulb, any table with a column of
    URLs, or HTML files and folders of them; or pages are fetched, as robots.txt allows. Which columns a table
    has is shown, and at a terminal you are asked whether they are right. Files that are there and would change are
    copied aside.
    """
    if not (files or sitemap or urls):
        raise typer.BadParameter("name a file, a folder, --sitemap or --urls", param_hint="FILE")
    opened = opened_project(context, project)
    from internal_linker.core.sections import Sections
    from internal_linker.ingest.crawl_filters import Filters, Parts, address_reason
    from internal_linker.ingest.import_crawl import import_tables, recognise
    from internal_linker.ingest.sources import Wish, crawl_tables, import_places, link_spool, site_tables
    from internal_linker.usecases.console import Reporter, open_console, print_columns, print_rows

    taken, sources, targets = (
        Parts(Sections(inside or ()), Sections(outside or ()))
        for inside, outside in (
            (include, exclude),
            (source_include, source_exclude),
            (target_include, target_exclude),
        )
    )
    filters = Filters(
        no_pagination=no_pagination,
        no_parameters=no_parameters,
        only_indexable=only_indexable,
        only_200=only_200,
        no_canonicalised=no_canonicalised,
        no_duplicates=no_duplicates,
        pages=taken,
        sources=sources,
        targets=targets,
        min_words=min_words,
        limit=limit,
    )
    console, reporter = open_console(stderr=as_json), Reporter(open_console(stderr=True))
    links = context.with_resource(link_spool(opened.root / "files"))
    tables = recognise(crawl_tables(files or (), base_url, links), url_column, content_column, reporter)
    if columns := _columns(tables):
        print_columns(console, ("File", "Rows are", "Column", "Taken from"), columns)
    asked = bool(columns) and sys.stdin.isatty() and console.is_terminal and not yes
    if asked and not typer.confirm("Import these?", default=True, err=as_json):
        console.print("Nothing was imported.")
        return
    with opened.lock(), import_places(opened.root / "files") as (places, keeping):
        try:
            if sitemap or urls:
                cache = context.with_resource(opened.page_cache())
                wish = Wish(sitemap, urls, delay, allow_private, limit)
                fetched = site_tables(wish, partial(address_reason, filters=filters), cache, links, reporter)
                tables += recognise(fetched, "", "", reporter)
            done = import_tables(tables, filters, places, reporter)
        finally:
            reporter.close()
    copies = [copy.name for copy in keeping.copies]
    if as_json:
        import json

        typer.echo(json.dumps(_as_json(tables, done, copies)))
    else:
        print_rows(console, "Imported", _rows(done, copies))


def _columns(tables: "Sequence[CrawlTable]") -> list[tuple[str, str, str, str]]:
    from internal_linker.adapters.files.plain_text import shortened

    return [
        (shortened(each.table.name, 200), _kind(each), kind.value, shortened(each.table.header[at]))
        for each in tables
        if not each.table.made
        for kind, at in each.columns.items()
    ]


def _kind(table: "CrawlTable") -> str:
    return "links" if table.links else "pages"


def _rows(done: "Imported", copies: list[str]) -> list[tuple[str, str]]:
    rows = []
    if done.pages is not None:
        rows.append(("files/urls_rawdata.csv", f"{done.pages} pages: {', '.join(done.page_columns)}"))
    if done.links is not None:
        rows.append(("files/existing_links.csv", f"{done.links} links: {', '.join(done.link_columns)}"))
    if done.vectors is not None:
        use = f'To use them: embedding_provider = "file:{VECTORS}"'
        rows.append((VECTORS, f"{done.vectors} embeddings. {use}"))
    rows.append(("Rows rejected / merged", f"{done.rejected} / {done.merged}"))
    rows += [(name, str(count)) for name, count in sorted(done.facts.items())]
    rows += [(f"Left out: {reason}", str(count)) for reason, count in sorted(done.left_out.items())]
    return rows + [("The earlier file is in", f"files/{copy}") for copy in copies]


def _as_json(tables: "Sequence[CrawlTable]", done: "Imported", copies: list[str]) -> dict[str, object]:
    return {
        "files": [
            {
                "file": each.table.name,
                "rows_are": _kind(each),
                "columns": {kind.value: each.table.header[at] for kind, at in each.columns.items()},
            }
            for each in tables
        ],
        "pages": done.pages,
        "page_columns": done.page_columns,
        "links": done.links,
        "vectors": done.vectors,
        "link_columns": done.link_columns,
        "rejected": done.rejected,
        "merged": done.merged,
        "left_out": dict(done.left_out),
        "facts": dict(done.facts),
        "copies": copies,
    }
