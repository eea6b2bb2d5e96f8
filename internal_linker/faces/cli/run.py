"""The commands that search for links: run, lookup, content-brief and schedule."""

import gc
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from internal_linker.faces.cli.command import (
    JsonOption,
    ProjectOption,
    Start,
    guarded,
    opened_project,
    project_folder,
    reporting,
    with_options,
)
from internal_linker.model.errors import ConfigurationError, ExitCode
from internal_linker.model.redact import escape_control_chars
from internal_linker.project.options.links import BriefOptions, LookupOptions, RunOptions

if TYPE_CHECKING:
    from internal_linker.project.project import Project


@with_options(RunOptions)
def run(
    context: typer.Context,
    project: ProjectOption = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Show what would be fetched, embedded and written; spend and write nothing."
        ),
    ] = False,
    progress_file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the progress to FILE, too: one JSON object per line."),
    ] = None,
    *,
    options: RunOptions,
) -> None:
    """Find links for every page.

    Write them to files/Output.csv, files/links.csv and, if the settings name one, the Google Sheet. With --limit, try
    the first rows: print their links, and write them to files/trial only.
    """
    context.obj.logs = not dry_run
    if not dry_run:
        raise typer.Exit(_run(_opened(context, project, options), options, progress=progress_file))
    opened = opened_project(context, project)
    from internal_linker.faces.cli.output import print_rows
    from internal_linker.project import run as usecase

    with reporting(stderr=False) as reporter:
        found = usecase.plan(opened, options, reporter)
        print_rows(reporter.console, "Dry run: nothing was spent or written", found.summary)


@with_options(LookupOptions)
def lookup(
    context: typer.Context,
    project: ProjectOption = None,
    as_json: JsonOption = False,
    *,
    options: LookupOptions,
) -> None:
    """Print the best links for a page or a query, or to a page.

    Each link comes with its score from 0 to 100, the reason for it, and the words to link in their sentence. Write
    nothing to the Sheet or to Output.csv. With a key for a search service, a query costs one or two credits, unless
    recent results for it are in the cache; --to costs none.
    """
    # It ends before its garbage matters, and on a large site a tenth of its time would go into looking for it.
    gc.disable()
    opened = opened_project(context, project)
    from internal_linker.faces.cli.output import json_of, lookup_data, print_lookup
    from internal_linker.project import run as usecase
    from internal_linker.project.console import open_console

    with reporting() as reporter:
        found = usecase.lookup(opened, options, reporter)
    if as_json:
        typer.echo(escape_control_chars(json_of(lookup_data(found))))
    else:
        print_lookup(open_console(), found)
    raise typer.Exit(ExitCode.GAPS if found.gaps else ExitCode.SUCCESS)


@with_options(BriefOptions)
def content_brief(
    context: typer.Context,
    project: ProjectOption = None,
    as_json: JsonOption = False,
    *,
    options: BriefOptions,
) -> None:
    """Print links to and from a page that does not exist yet.

    List the pages that it should link to and those that should link to it, with anchors, and say whether a similar
    page already exists. Write nothing to files/ except the cache and the index.
    """
    # It ends before its garbage matters, and on a large site a tenth of its time would go into looking for it.
    gc.disable()
    opened = opened_project(context, project)
    from internal_linker.faces.cli.output import json_of, print_brief
    from internal_linker.project import run as usecase
    from internal_linker.project.console import open_console

    with reporting() as reporter:
        found = usecase.content_brief(opened, options, reporter, stdin=lambda: sys.stdin.buffer)
        for gap in found.gaps:
            reporter.warn(gap)
    if as_json:
        typer.echo(escape_control_chars(json_of(asdict(found))))
    else:
        print_brief(open_console(), found)
    raise typer.Exit(ExitCode.GAPS if found.gaps else ExitCode.SUCCESS)


def schedule(context: typer.Context, project: ProjectOption = None) -> None:
    """Start runs at the times of schedule_cron.

    The command keeps running; Ctrl-C or SIGTERM stops it after the current step.
    """
    folder = project_folder(context, project)
    opened = opened_project(context, project)
    from internal_linker.project.schedule import run_schedule

    def job(should_stop: Callable[[], bool]) -> None:
        # Settings are read for each run, so that a changed one counts from the next run on.
        guarded(
            lambda: _run(_opened(context, folder, RunOptions()), RunOptions(), should_stop),
            Start(folder=folder, logs=True),
        )

    run_schedule(opened.settings, job, typer.echo, folder)


def _opened(context: typer.Context, project: Path | None, options: RunOptions) -> "Project":
    """Read the project for a run; whom alerts go to learns of settings that are wrong, since nobody may be watching."""
    try:
        return opened_project(context, project)
    except ConfigurationError as error:
        from internal_linker.project.alerts import announce_unopened

        for problem in announce_unopened(project_folder(context, project), options, error):
            typer.echo(escape_control_chars(f"Note: {problem}"), err=True)
        raise


def _run(
    project: "Project",
    options: RunOptions,
    should_stop: Callable[[], bool] = lambda: False,
    *,
    progress: Path | None = None,
) -> ExitCode:
    from internal_linker.faces.cli.output import print_rows, print_trial
    from internal_linker.project import run as usecase
    from internal_linker.project.jobs import progress_file

    with reporting(stderr=False) as reporter:
        secrets = project.settings.secrets
        with progress_file(progress, reporter, secrets) if progress else nullcontext() as told:
            found = usecase.run(project, options, told or reporter, should_stop=should_stop)
            code = found.failure.exit_code if found.failure else _code(found.gaps)
            if told:
                told.end(code, usecase.closing_line(found), found.summary)
        if found.trial:
            print_trial(reporter.console, found)
        print_rows(reporter.console, "Summary", found.highlights)
        reporter.console.print(usecase.closing_line(found))
    return code


def _code(gaps: Sequence[str]) -> ExitCode:
    return ExitCode.GAPS if gaps else ExitCode.SUCCESS
