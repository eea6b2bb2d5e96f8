"""The commands about earlier runs: history, diff and rollback."""

import typer

from internal_linker.cli.command import ProjectOption, opened_project, reporting, typed, with_options
from internal_linker.core.errors import ExitCode
from internal_linker.core.sequences import counted
from internal_linker.core.shown import neutralised
from internal_linker.usecases.options.decisions import DiffOptions, RollbackOptions

# Differences that are printed; all are in the file.
SHOWN = 20


def history(context: typer.Context, project: ProjectOption = None) -> None:
    """List the runs whose links are stored.

    These are the last 26 runs: half a year of weekly runs. Other commands take a run's name as well as its number:
    last is the newest run, last-1 the one before it.
    """
    opened = opened_project(context, project)
    from internal_linker.cli.output import print_aligned
    from internal_linker.usecases import history as usecase
    from internal_linker.usecases.console import open_console

    header = ("Run", "Name", "Ended (UTC)", "What", "Rows", "Links", "Published", "Model")
    versions = usecase.history(opened).versions
    if not versions:
        typer.echo("No runs are stored yet.")
        return
    rows = [
        (
            *(one.run, name, one.at[:16].replace("T", " "), one.what, str(one.rows), str(one.links)),
            *("yes" if one.published else "no", one.encoder.partition(", recipe ")[0]),
        )
        for one, name in zip(versions, usecase.names(versions), strict=True)
    ]
    print_aligned(open_console(), header, rows)
    # Scripts read the table.
    note = (
        "Links: those of the pages' rows in files/Output.csv, without suggestions for queries without a page."
    )
    typer.echo(note, err=True)


@with_options(DiffOptions)
def diff(context: typer.Context, project: ProjectOption = None, *, options: DiffOptions) -> None:
    """Show how the links of two runs differ, and why.

    Write all differences to files/diff.csv and print the first 20.
    """
    opened = opened_project(context, project)
    from internal_linker.usecases import history as usecase

    result = usecase.diff(opened, options)
    found = result.differences
    for each in found[:SHOWN]:
        places = " -> ".join(str(place) for place in (each.before, each.after) if place)
        other = f" (other link: {each.other})" if each.other else ""
        row = f"{each.change:<5} {each.source} -> {each.target} (place {places}): {each.why}{other}"
        typer.echo(neutralised(row))
    if len(found) > SHOWN:
        typer.echo(f"... and {len(found) - SHOWN} more")
    for (change, why), count in result.counts.items():
        typer.echo(f"{count} {change}: {why}")
    typer.echo(f"Links: {result.links}, suggestions for queries without a page included.")
    typer.echo(" ".join(result.remarks) or f"{counted(len(found), 'difference')} written to files/diff.csv.")


@with_options(RollbackOptions)
def rollback(context: typer.Context, project: ProjectOption = None, *, options: RollbackOptions) -> None:
    """Restore the links of an earlier run.

    Write them to the Sheet, Output.csv and links.csv, except those that an editor has rejected since. The next run
    proposes its own links again: to keep the earlier links of some pages, set sections_off.
    """
    opened = opened_project(context, project)
    from internal_linker.usecases import history as usecase

    with reporting(stderr=False) as reporter:
        result = usecase.rollback(opened, options, reporter)
    typer.echo(result.summary)
    if result.earlier:
        typer.echo(
            "This was the newest run, whose links were in place already. To go back to the run before it: "
            f"{typed(context, f'rollback {result.earlier}')}"
        )
    if result.failure:
        raise typer.Exit(result.failure.exit_code)
    raise typer.Exit(ExitCode.GAPS if result.gaps else ExitCode.SUCCESS)
