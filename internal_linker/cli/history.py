"""The commands that tell of earlier runs: history, diff and rollback."""

from collections import Counter
from typing import Annotated

import typer

from internal_linker.cli.options import ProjectOption, opened_project
from internal_linker.core.errors import ExitCode

# Differences that are printed; all are in the file.
SHOWN = 20
PartOption = Annotated[
    list[str] | None,
    typer.Option("--section", metavar="PATH", help="Only the pages below PATH; may be repeated."),
]


def history(context: typer.Context, project: ProjectOption = None) -> None:
    """List the runs whose links are kept.

    These are the last 26, half a year of weekly runs.
    """
    opened = opened_project(context, project)
    from internal_linker.usecases.console import open_console, print_columns
    from internal_linker.usecases.history import history

    header = ("Run", "Ended (UTC)", "What", "Rows", "Links", "Published", "Model")
    rows = [
        (one.run, one.at[:16], one.what, str(one.rows), str(one.links), _yes(one.published), one.encoder)
        for one in history(opened)
    ]
    if not rows:
        typer.echo("No run is kept yet.")
        return
    print_columns(open_console(), header, rows)


def diff(
    context: typer.Context,
    before: Annotated[str, typer.Argument(metavar="RUN", help="The earlier run, as history names it.")],
    after: Annotated[str, typer.Argument(metavar="RUN", help="The later one.")],
    project: ProjectOption = None,
    section: PartOption = None,
) -> None:
    """Tell how the links of two runs differ, and why.

    All differences are written to files/diff.csv; the first of them are printed.
    """
    opened = opened_project(context, project)
    from internal_linker.core.sections import Sections
    from internal_linker.usecases.history import compared

    found = compared(opened, before, after, Sections(section or ()))
    for each in found[:SHOWN]:
        places = " -> ".join(str(place) for place in (each.before, each.after) if place)
        typer.echo(f"{each.change:<5} {each.source} -> {each.target} (place {places}): {each.why}")
    if len(found) > SHOWN:
        typer.echo(f"... and {len(found) - SHOWN} more")
    for (change, why), count in sorted(Counter((each.change, each.why) for each in found).items()):
        typer.echo(f"{count} {change}: {why}")
    remarks = opened.diff_csv().write(found)
    typer.echo(f"{len(found)} differences are in files/diff.csv." if not remarks else " ".join(remarks))


def rollback(
    context: typer.Context,
    run: Annotated[str, typer.Argument(metavar="RUN", help="The run, as history names it.")],
    project: ProjectOption = None,
    section: PartOption = None,
) -> None:
    """Put the links of an earlier run back.

    The Sheet, Output.csv and links.csv get them; what an editor rejected since stays out. The next run
    finds its own links again: to keep an earlier state of some pages, set sections_off.
    """
    opened = opened_project(context, project)
    from internal_linker.core.sections import Sections
    from internal_linker.usecases.console import Reporter, open_console
    from internal_linker.usecases.exit import new_run_id
    from internal_linker.usecases.history import roll_back
    from internal_linker.usecases.log import LOGGER, run_log

    run_id, reporter = new_run_id(), Reporter(open_console())
    with opened.lock(), run_log(opened.root, run_id, opened.settings.secrets):
        try:
            done = roll_back(opened, run, Sections(section or ()), run_id, reporter)
        finally:
            reporter.close()
        for gap in done.gaps:
            reporter.warn(gap)
        rejected = f", {done.rejected} left out that were rejected since" if done.rejected else ""
        closing = f"{done.links} links of {done.rows} rows are as in run {run}{rejected}."
        LOGGER.info("%s", closing)
        typer.echo(closing)
    if done.failure:
        raise typer.Exit(done.failure.exit_code)
    raise typer.Exit(ExitCode.GAPS if done.gaps else ExitCode.SUCCESS)


def _yes(published: bool) -> str:
    return "yes" if published else "no"
