"""The commands that search for links: run, lookup and schedule."""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from internal_linker import __version__
from internal_linker.cli.project import ProjectOption, opened_project, project_folder
from internal_linker.ending import LOGGED, Start, guarded, new_run_id
from internal_linker.errors import ExitCode, InternalLinkerError

if TYPE_CHECKING:
    from internal_linker.records import Choice
    from internal_linker.reports import Report
    from internal_linker.sections import Sections
    from internal_linker.terminal import Reporter
    from internal_linker.wiring import Project

# A page's address without its https://, as browsers show it; "node.js" is a query.
_BARE_ADDRESS = re.compile(r"www\.\S+|[\w-]+(\.[\w-]+)*\.[a-zA-Z]{2,}/\S*")
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
    from internal_linker.records import Choice

    choice = Choice(limit=limit, only=tuple(only or ()))
    context.obj.logs = not dry_run
    opened = opened_project(context, project)
    off = opened.sections_off(section or ())
    if dry_run:
        _dry_run(opened, choice, off, no_serp)
    else:
        raise typer.Exit(run_once(opened, choice, off, no_serp=no_serp, accept_drift=accept_drift))


def lookup(
    context: typer.Context,
    page: Annotated[str, typer.Argument(metavar="URL-OR-QUERY", help="A page's URL or any query.")],
    project: ProjectOption = None,
    no_serp: NoSerpOption = False,
) -> None:
    """Print the best links for one page or one query.

    Nothing is written to the Sheet or to Output.csv. With a Serper key, a query that was not searched for
    in the last days costs a credit or two.
    """
    opened = opened_project(context, project)
    from internal_linker.pipeline import Run
    from internal_linker.records import Choice
    from internal_linker.terminal import Reporter, open_console, print_links

    if _BARE_ADDRESS.fullmatch(page):
        page = f"https://{page}"
    is_url = page.lower().startswith(("http://", "https://"))
    choice = Choice(only=(page,)) if is_url else Choice(query=page)
    reporter = Reporter(open_console(stderr=True))
    with opened.parts(serp=not no_serp, deliver=False) as parts:
        try:
            report = Run(parts, opened.rules(), choice, reporter).execute(new_run_id())
        finally:
            reporter.close()
    for recommendation in report.recommendations:
        print_links(open_console(), recommendation)


def schedule(context: typer.Context, project: ProjectOption = None) -> None:
    """Stay, and run at the times of schedule_cron.

    Ctrl-C or SIGTERM ends it, after the step in progress.
    """
    folder = project_folder(context, project)
    opened = opened_project(context, project)
    from internal_linker.records import Choice
    from internal_linker.scheduling import run_schedule

    def job(should_stop: Callable[[], bool]) -> None:
        # Read anew each time, so that a changed setting holds from the next run on.
        start = Start(folder=folder, logs=True)

        def work() -> ExitCode:
            anew = opened_project(context, folder)
            return run_once(anew, Choice(), anew.sections_off(), should_stop=should_stop)

        guarded(work, start)

    run_schedule(opened.settings, job, typer.echo)


def run_once(
    project: "Project",
    choice: "Choice",
    off: "Sections",
    *,
    no_serp: bool = False,
    accept_drift: bool = False,
    should_stop: Callable[[], bool] = lambda: False,
) -> ExitCode:
    """One run under the project's lock and log; prints its summary.

    Raises:
        InternalLinkerError: the run could not be done; logged, too.
    """
    from internal_linker.pipeline import Run
    from internal_linker.runlog import LOGGER, run_log
    from internal_linker.terminal import Reporter, open_console

    run_id = new_run_id()
    reporter = Reporter(open_console())
    with project.lock(), run_log(project.root, run_id, project.settings.secrets):
        LOGGER.info("Run starts: internal-linker %s", __version__)
        try:
            keeps = (lambda _: True) if choice.partial else off.hold if off else None
            with project.parts(serp=not no_serp, keeps=keeps) as parts:
                rules = project.rules(off, accept_drift=accept_drift)
                report = Run(parts, rules, choice, reporter, should_stop).execute(run_id)
            return _conclude(reporter, report, project)
        except (InternalLinkerError, KeyboardInterrupt) as error:
            LOGGER.error("%s", error if isinstance(error, InternalLinkerError) else "Interrupted.")
            error.add_note(LOGGED)
            raise
        except Exception as error:
            LOGGER.exception("The run ended unexpectedly")
            error.add_note(LOGGED)
            raise
        finally:
            reporter.close()


def _conclude(reporter: "Reporter", report: "Report", project: "Project") -> ExitCode:
    from internal_linker.runlog import LOGGER
    from internal_linker.terminal import print_summary, summary_rows

    print_summary(reporter.console, summary_rows(report, reporter.seconds, project.settings.links_per_page))
    if report.failure:
        closing = "Pipeline finished, but not every place took its links."
    elif report.gaps:
        closing = "Pipeline finished with gaps: see the notes above."
    else:
        closing = "Pipeline completed successfully!"
    LOGGER.info("%s", closing)
    reporter.console.print(closing)
    if report.failure:
        return report.failure.exit_code
    return ExitCode.GAPS if report.gaps else ExitCode.SUCCESS


def _dry_run(project: "Project", choice: "Choice", off: "Sections", no_serp: bool) -> None:
    from internal_linker.pipeline import Run
    from internal_linker.terminal import Reporter, open_console, print_plan

    reporter = Reporter(open_console())
    with project.parts(serp=not no_serp, deliver=False, read_only=True) as parts:
        print_plan(reporter.console, Run(parts, project.rules(off), choice, reporter).plan())
