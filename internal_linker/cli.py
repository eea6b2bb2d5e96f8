"""The command line: arguments in, one call of the pipeline, exit code out; heavy imports come late."""

import io
import re
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from internal_linker import __version__
from internal_linker.ending import LOGGED, Start, guarded, new_run_id
from internal_linker.errors import ExitCode, InternalLinkerError

if TYPE_CHECKING:
    from internal_linker.pipeline import Report
    from internal_linker.records import Choice
    from internal_linker.terminal import Reporter
    from internal_linker.wiring import Project

EPILOG = (
    "Exit codes: 0 success, 1 unexpected error, 2 configuration or command line, 3 input or output file, "
    "4 an outside service failed, 5 another run is active, 6 finished with gaps, 130 interrupted."
)
# A page's address without its https://, as browsers show it; "node.js" is a query.
_BARE_ADDRESS = re.compile(r"www\.\S+|[\w-]+(\.[\w-]+)*\.[a-zA-Z]{2,}/\S*")

app = typer.Typer(
    help="The five best internal links for every page of a site, with the reason for each.",
    epilog=EPILOG,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
ProjectOption = Annotated[
    Path | None,
    typer.Option(
        "--project",
        metavar="DIR",
        help="Folder with config/, files/ and logfile.txt. Default: the current one; for main.py its own.",
    ),
]
LimitOption = Annotated[
    int, typer.Option("--limit", min=0, help="Trial run: links for the first N rows only (0: all).")
]
OnlyOption = Annotated[
    list[str] | None, typer.Option("--only", metavar="URL", help="Links for this page only; may be repeated.")
]
NoSerpOption = Annotated[bool, typer.Option("--no-serp", help="Leave the search step out.")]


@app.callback(invoke_without_command=True)
def _root(
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    if version:
        typer.echo(f"internal-linker {__version__}")
        raise typer.Exit


@app.command()
def run(
    context: typer.Context,
    project: ProjectOption = None,
    limit: LimitOption = 0,
    only: OnlyOption = None,
    no_serp: NoSerpOption = False,
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
    opened = _open(context, project)
    if dry_run:
        _dry_run(opened, choice, no_serp)
    else:
        raise typer.Exit(run_once(opened, choice, no_serp=no_serp))


@app.command()
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
    opened = _open(context, project)
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


@app.command()
def check(context: typer.Context, project: ProjectOption = None) -> None:
    """Verify keys, Sheet, files and model; spends nothing.

    Each piece is looked at by itself, and each failure comes with what to do about it.
    """
    folder = _folder(context, project)
    from internal_linker.checking import check_project
    from internal_linker.terminal import open_console

    console = open_console()
    failed = 0
    for fact in check_project(folder):
        mark, style = {True: ("ok  ", "green"), False: ("FAIL", "red"), None: ("-   ", "dim")}[fact.ok]
        console.print(mark, style=style, end=" ")
        console.print(f"{fact.name}: {fact.text}")
        failed += fact.ok is False
    console.print(f"{failed} to mend." if failed else "All is in order.")
    raise typer.Exit(ExitCode.CONFIGURATION if failed else ExitCode.SUCCESS)


@app.command()
def evaluate(
    context: typer.Context,
    project: ProjectOption = None,
    hide: Annotated[str, typer.Option("--hide", metavar="all|half", help="Which links are hidden.")] = "all",
    anchors: Annotated[
        str, typer.Option("--anchors", metavar="removed|kept", help="Whether their anchors leave the text.")
    ] = "removed",
) -> None:
    """Measure relevance on links that editors made."""
    from internal_linker.measuring import evaluate_project

    evaluate_project(_open(context, project), hide, anchors)


@app.command()
def init(context: typer.Context, project: ProjectOption = None) -> None:
    """Write a commented configuration into a folder.

    What is there already is not changed.
    """
    from internal_linker.starting import start_project

    for line in start_project(_folder(context, project)):
        typer.echo(line)


@app.command("export-vectors")
def export_vectors(context: typer.Context, project: ProjectOption = None) -> None:
    """Write every page's vector to files/vectorized_urls.csv.

    The vectors are those of the last run: nothing is embedded and nothing spent.
    """
    opened = _open(context, project)
    from internal_linker.exporting import cached_vectors

    with opened.parts(serp=False, deliver=False, read_only=True) as parts:
        rows, missing = cached_vectors(parts)
    remarks = opened.vectors_csv().write(rows)
    typer.echo(f"{len(rows)} vectors are in files/vectorized_urls.csv." if not remarks else " ".join(remarks))
    if missing:
        typer.echo(
            f"{missing} pages have none: new or changed since the last run (start one), without text, "
            "or in a language that the model does not know."
        )
        raise typer.Exit(ExitCode.GAPS)


@app.command()
def schedule(context: typer.Context, project: ProjectOption = None) -> None:
    """Stay, and run at the times of schedule_cron.

    Ctrl-C or SIGTERM ends it, after the step in progress.
    """
    folder = _folder(context, project)
    opened = _open(context, project)
    from internal_linker.records import Choice
    from internal_linker.scheduling import run_schedule

    def job(should_stop: Callable[[], bool]) -> None:
        # Read anew each time, so that a changed setting holds from the next run on.
        start = Start(folder=folder, logs=True)
        guarded(lambda: run_once(_open(context, folder), Choice(), should_stop=should_stop), start)

    run_schedule(opened.settings, job, typer.echo)


def run_once(
    project: "Project",
    choice: "Choice",
    *,
    no_serp: bool = False,
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
            with project.parts(serp=not no_serp, partial=choice.partial) as parts:
                report = Run(parts, project.rules(), choice, reporter, should_stop).execute(run_id)
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


def main(arguments: Sequence[str] | None = None, default_project: Path | None = None) -> None:
    """The console script; `default_project` is the folder used without --project.

    Every error of ours ends in one line on stderr and its exit code; an unexpected one is in logfile.txt.
    """
    # cron's and systemd's way to end a run: as an interrupt it leaves a line in the log.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A Windows code page lacks most of the world's letters: "?" in a title must not end a run.
        sys.stdout.reconfigure(errors="replace")
    start = Start(default_project)
    # Not None: typer would then expand * and %...% in URLs on Windows.
    given = list(sys.argv[1:] if arguments is None else arguments)
    sys.exit(guarded(lambda: app(args=given, obj=start, standalone_mode=False), start))


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


def _dry_run(project: "Project", choice: "Choice", no_serp: bool) -> None:
    from internal_linker.pipeline import Run
    from internal_linker.terminal import Reporter, open_console, print_plan

    reporter = Reporter(open_console())
    with project.parts(serp=not no_serp, deliver=False, read_only=True) as parts:
        print_plan(reporter.console, Run(parts, project.rules(), choice, reporter).plan())


def _open(context: typer.Context, project: Path | None) -> "Project":
    folder = _folder(context, project)
    from internal_linker.wiring import open_project

    return open_project(folder)


def _folder(context: typer.Context, project: Path | None) -> Path:
    start: Start = context.obj
    start.folder = (project or start.default or Path.cwd()).resolve()
    return start.folder
