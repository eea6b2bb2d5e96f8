"""The command that looks at the site's links as a whole: audit."""

import gc
from typing import Annotated

import typer

from internal_linker.cli.options import ProjectOption, opened_project


def audit(
    context: typer.Context,
    project: ProjectOption = None,
    home: Annotated[
        str, typer.Option("--home", metavar="URL", help="The home page, where it is not found by itself.")
    ] = "",
    path: Annotated[
        tuple[str, str] | None,
        typer.Option("--path", metavar="FROM TO", help="Only print the shortest path between two pages."),
    ] = None,
    fail_on: Annotated[
        list[str] | None,
        typer.Option(
            "--fail-on",
            metavar="RULE[=COUNT]",
            help="Exit code 7 from so many findings of a rule on (default 1); may be repeated.",
        ),
    ] = None,
    no_report: Annotated[bool, typer.Option("--no-report", help="Write the workbook only.")] = False,
) -> None:
    """Look at the site's links as a whole.

    Orphans, click depth, PageRank, topics, anchors, bad targets and more, of the links of today and of
    those that the last run proposed. Findings go to files/audit.xlsx, a report to files/audit.html, graph
    files for Gephi and Neo4j beside them. Nothing is fetched or spent.
    """
    from internal_linker.usecases.audit import Wish, audit_project

    wish = Wish(home, path or (), tuple(fail_on or ()), report=not no_report)
    # Millions of records stay to the end: looking for garbage among them again and again takes a tenth of the time.
    gc.disable()
    try:
        raise typer.Exit(audit_project(opened_project(context, project), wish))
    finally:
        gc.enable()
