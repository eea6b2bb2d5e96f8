"""The commands that look after the cache: cache verify, cache prune."""

from typing import Annotated

import typer

from internal_linker.cli.options import ProjectOption, opened_project
from internal_linker.core.errors import InputError

cache = typer.Typer(
    help="Look after the cache: verify it, prune it.", no_args_is_help=True, rich_markup_mode=None
)


@cache.command("verify")
def verify(context: typer.Context, project: ProjectOption = None) -> None:
    """Read all that the cache and the link graph hold, and say what is damaged; nothing is changed.

    A damaged vector or search result is fetched anew when it is needed.
    """
    opened = opened_project(context, project)
    from internal_linker.usecases.console import Reporter, open_console

    reporter = Reporter(open_console())
    try:
        damaged = opened.verify_cache(reporter)
    finally:
        reporter.close()
    if damaged:
        told = ", ".join(f"{count} in {table}" for table, count in damaged.items())
        raise InputError(
            f"The cache has damaged rows: {told}. Vectors and search results are fetched anew when they are "
            "needed; damaged links and runs are lost: compare with a backup."
        )
    typer.echo("All of the cache can be read.")


@cache.command("prune")
def prune(
    context: typer.Context,
    days: Annotated[
        int,
        typer.Option("--days", min=1, help="How long nobody must have needed it."),
    ] = 182,
    apply: Annotated[
        bool, typer.Option("--apply", help="Remove it; without this nothing is changed.")
    ] = False,
    project: ProjectOption = None,
) -> None:
    """Say what nobody needed for half a year, or remove it: vectors of texts that are gone, old search results.

    Runs do this by themselves at their end; this command gives the room back to the disk, too. What editors
    decided and what still stands on the site is never removed.
    """
    opened = opened_project(context, project)
    found = opened.prune_cache(days, apply=apply)
    for each in found:
        typer.echo(f"{each.table}: {each.rows:,} rows, {each.size / 1e6:,.1f} MB")
    if not any(each.rows for each in found):
        typer.echo(f"Everything in the cache was needed within {days} days.")
    elif apply:
        typer.echo("Removed.")
    else:
        typer.echo("Nothing was changed. Remove it with --apply.")


store = typer.Typer(help="Move a cache between databases.", no_args_is_help=True, rich_markup_mode=None)


@store.callback()
def _group() -> None:
    """Move a cache between databases: store copy."""


@store.command("copy")
def copy(
    context: typer.Context,
    source: Annotated[str, typer.Argument(metavar="FROM", help="Where the cache is.")],
    destination: Annotated[str, typer.Argument(metavar="TO", help="Where it shall be, too.")],
    project: ProjectOption = None,
) -> None:
    """Copy a cache into another database.

    FROM and TO are written as store_url, or as the path of an SQLite file; a relative one starts at the
    project folder. Nothing is lost in TO: of two answers to the same question the newer stays.
    """
    opened = opened_project(context, project)
    from internal_linker.usecases.console import Reporter, open_console

    reporter = Reporter(open_console())
    try:
        opened.copy_store(source, destination, reporter)
    finally:
        reporter.close()
    typer.echo("The cache is copied. To use it, set store_url in config/settings.toml.")
