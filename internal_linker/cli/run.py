"""The commands that search for links: run, lookup and schedule."""

from collections.abc import Callable
from contextlib import closing
from typing import TYPE_CHECKING, Annotated

import typer

from internal_linker.cli.options import ProjectOption, opened_project, project_folder
from internal_linker.core.errors import ExitCode
from internal_linker.usecases.exit import Start, guarded

if TYPE_CHECKING:
    from internal_linker.core.records import Choice
    from internal_linker.core.sections import Sections
    from internal_linker.usecases.project import Project

LimitOption = Annotated[
    int, typer.Option("--limit", min=0, help="Trial run: links for the first N rows only (0: all).")
]
OnlyOption = Annotated[
    list[str] | None, typer.Option("--only", metavar="URL", help="Links for this page only; may be repeated.")
]
SectionOption = Annotated[
    list[str] | None,
    typer.Option(
        "--section",
        metavar="PATH=off",
        help="Pages below PATH keep the links that they have (=on: in spite of sections_off); may be repeated.",
    ),
]
NoSerpOption = Annotated[bool, typer.Option("--no-serp", help="Leave the search step out.")]


def run(
    context: typer.Context,
    project: ProjectOption = None,
    limit: LimitOption = 0,
    only: OnlyOption = None,
    section: SectionOption = None,
    no_serp: NoSerpOption = False,
    accept_drift: Annotated[
        bool, typer.Option("--accept-drift", help="Publish links that moved far from the last run's.")
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Say what would be fetched, embedded and written; spend nothing."),
    ] = False,
) -> None:
    """Find links for every page.

    They are written to files/Output.csv, files/links.csv and, where the settings name one, the Google Sheet.
    """
    from internal_linker.core.records import Choice

    choice = Choice(limit=limit, only=tuple(only or ()))
    context.obj.logs = not dry_run
    opened = opened_project(context, project)
    off = opened.sections_off(section or ())
    if dry_run:
        _dry_run(opened, choice, off, no_serp)
    else:
        from internal_linker.usecases.console import Reporter, open_console
        from internal_linker.usecases.run import exit_code, run_once

        given = opened, choice, off, Reporter(open_console())
        raise typer.Exit(exit_code(run_once(*given, no_serp=no_serp, accept_drift=accept_drift)))


def lookup(
    context: typer.Context,
    page: Annotated[str, typer.Argument(metavar="URL-OR-QUERY", help="A page's URL or any query.")],
    project: ProjectOption = None,
    no_serp: NoSerpOption = False,
) -> None:
    """Print the best links for one page or one query.

    Nothing is written to the Sheet or to Output.csv. With a key of Serper or SerpApi, a query that was not
    searched for in the last days costs a credit or two.
    """
    opened = opened_project(context, project)
    from internal_linker.usecases.console import Reporter, open_console, print_links
    from internal_linker.usecases.run import look_up

    report = look_up(opened, page, Reporter(open_console(stderr=True)), no_serp=no_serp)
    for recommendation in report.recommendations:
        print_links(open_console(), recommendation)


def schedule(context: typer.Context, project: ProjectOption = None) -> None:
    """Stay, and run at the times of schedule_cron.

    Ctrl-C or SIGTERM ends it, after the step in progress.
    """
    folder = project_folder(context, project)
    opened = opened_project(context, project)
    from internal_linker.core.records import Choice
    from internal_linker.usecases.console import Reporter, open_console
    from internal_linker.usecases.run import exit_code, run_once
    from internal_linker.usecases.schedule import run_schedule

    def job(should_stop: Callable[[], bool]) -> None:
        # Read anew each time, so that a changed setting holds from the next run on.
        start = Start(folder=folder, logs=True)

        def work() -> ExitCode:
            anew = opened_project(context, folder)
            given = anew, Choice(), anew.sections_off(), Reporter(open_console())
            return exit_code(run_once(*given, should_stop=should_stop))

        guarded(work, start)

    run_schedule(opened.settings, job, typer.echo)


def _dry_run(project: "Project", choice: "Choice", off: "Sections", no_serp: bool) -> None:
    from internal_linker.pipeline.run import Run
    from internal_linker.usecases.console import Reporter, open_console, print_plan

    with (
        closing(Reporter(open_console())) as reporter,
        project.parts(reporter, serp=not no_serp, deliver=False, read_only=True) as parts,
    ):
        print_plan(reporter.console, Run(parts, project.rules(off), choice, reporter).plan())
