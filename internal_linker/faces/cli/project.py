"""The commands about a project folder: check, init and export-vectors."""

from typing import TYPE_CHECKING

import typer

from internal_linker.faces.cli.command import (
    Call,
    ProjectOption,
    prints,
    project_folder,
    reporting,
    typed,
    with_options,
)
from internal_linker.model.errors import ExitCode
from internal_linker.model.sequences import counted
from internal_linker.project.options.similarity import ExportVectorsOptions
from internal_linker.project.options.stores import CheckOptions, InitOptions

if TYPE_CHECKING:
    from internal_linker.project.export_vectors import ExportResult

_MARKS = {True: ("ok  ", "green"), False: ("FAIL", "red"), None: ("-   ", "dim")}


@with_options(CheckOptions)
def check(context: typer.Context, project: ProjectOption = None, *, options: CheckOptions) -> None:
    """Verify settings, keys, Sheet, files and model.

    Check each item on its own and say what to do about each failure. Nothing is spent.
    """
    folder = project_folder(context, project)
    from internal_linker.project.check import CheckResult, check_project
    from internal_linker.project.console import open_console

    console, facts = open_console(), []
    with reporting() as waiting:
        waiting.start("Checking", 0, "")
        for fact in check_project(folder, options):
            waiting.close()
            mark, style = _MARKS[fact.ok]
            console.print(mark, style=style, end=" ")
            console.print(f"{fact.name}: {fact.text}")
            facts.append(fact)
            waiting.start("Checking", 0, "")
    result = CheckResult(tuple(facts))
    console.print("Everything is in order." if result.ok else f"{len(result.failed)} to fix.")
    raise typer.Exit(ExitCode.SUCCESS if result.ok else ExitCode.CONFIGURATION)


@with_options(InitOptions)
def init(context: typer.Context, project: ProjectOption = None, *, options: InitOptions) -> None:
    """Write a commented configuration into a folder.

    Existing files are not changed, nor is a tab of a Sheet that is not empty.
    """
    folder = project_folder(context, project)
    from internal_linker.project import init as usecase

    result = usecase.init(folder, options)
    for file in result.files:
        typer.echo(f"{'written' if file.written else 'kept':<8} {file.name}")
    if result.sheet:
        typer.echo(result.sheet)
    typer.echo(
        "\nNext:\n"
        "1. Import your pages from a crawl, saved pages or a sitemap, for example:\n"
        f"   {typed(context, 'import crawl.csv')}\n"
        "   Or put them into files/urls_rawdata.csv yourself (columns URL, Title, Main Content).\n"
        "2. Put your queries into files/main_queries.csv (URL, Main Query), or into a Google Sheet "
        f"(`{typed(context, 'init --sheet')}` writes the column names).\n"
        "3. If you have a key for Serper or SerpApi, write your host into search_query_template in "
        "config/settings.toml.\n"
        "4. Check the configuration, then see what a run would cost:\n"
        f"   {typed(context, 'check')}\n"
        f"   {typed(context, 'run --dry-run')}"
    )


@prints("export_vectors", ExportVectorsOptions)
def export_vectors(result: "ExportResult", call: Call) -> ExitCode | None:
    """Write every page's vector to files/vectorized_urls.csv.

    The vectors are those of the last run or, with --by title or h1, those of the last pairs or clusters by these
    (files/vectorized_titles.csv, files/vectorized_h1.csv): nothing is embedded or spent.
    """
    typer.echo(
        " ".join(result.remarks) or f"{counted(result.found, 'vector')} written to files/{result.file}."
    )
    if not result.missing:
        return None
    by = call.options.by
    last = "run (start a run)" if by == "content" else f"pairs --by {by} (start it)"
    typer.echo(
        f"{result.missing} pages have no vector: they are new or changed since the last {last}, have no text, or "
        "are in a language that the model does not support."
    )
    return ExitCode.GAPS
