"""The commands that tend a project folder: check, init and export-vectors."""

from contextlib import closing

import typer

from internal_linker.cli.options import ProjectOption, opened_project, project_folder
from internal_linker.core.errors import ExitCode


def check(context: typer.Context, project: ProjectOption = None) -> None:
    """Verify keys, Sheet, files and model; spends nothing.

    Each piece is looked at by itself, and each failure comes with what to do about it.
    """
    folder = project_folder(context, project)
    from internal_linker.usecases.check import check_project
    from internal_linker.usecases.console import Reporter, open_console

    console, failed = open_console(), 0
    with closing(Reporter(open_console(stderr=True))) as waiting:
        waiting.start("Checking", 0, "")
        for fact in check_project(folder):
            waiting.close()
            mark, style = {True: ("ok  ", "green"), False: ("FAIL", "red"), None: ("-   ", "dim")}[fact.ok]
            console.print(mark, style=style, end=" ")
            console.print(f"{fact.name}: {fact.text}")
            failed += fact.ok is False
            waiting.start("Checking", 0, "")
    console.print(f"{failed} to mend." if failed else "All is in order.")
    raise typer.Exit(ExitCode.CONFIGURATION if failed else ExitCode.SUCCESS)


def init(context: typer.Context, project: ProjectOption = None) -> None:
    """Write a commented configuration into a folder.

    What is there already is not changed.
    """
    from internal_linker.usecases.init import start_project

    for line in start_project(project_folder(context, project)):
        typer.echo(line)


def export_vectors(context: typer.Context, project: ProjectOption = None) -> None:
    """Write every page's vector to files/vectorized_urls.csv.

    The vectors are those of the last run: nothing is embedded and nothing spent.
    """
    opened = opened_project(context, project)
    from internal_linker.usecases.console import Reporter, open_console
    from internal_linker.usecases.export_vectors import cached_rows

    with (
        closing(Reporter(open_console(stderr=True))) as reporter,
        opened.parts(reporter, serp=False, deliver=False, read_only=True) as parts,
    ):
        reporter.start("Export", 0, "")
        rows, found, missing = cached_rows(parts)
        remarks = opened.vectors_csv().write(rows)
    typer.echo(f"{found} vectors are in files/vectorized_urls.csv." if not remarks else " ".join(remarks))
    if missing:
        typer.echo(
            f"{missing} pages have none: new or changed since the last run (start one), without text, "
            "or in a language that the model does not know."
        )
        raise typer.Exit(ExitCode.GAPS)
