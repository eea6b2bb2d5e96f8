"""The commands that look after the cache: cache verify, cache prune and store copy."""

import typer

from internal_linker.cli.command import ProjectOption, opened_project, reporting, with_options
from internal_linker.core.errors import InputError
from internal_linker.usecases.options import CopyStoreOptions, PruneCacheOptions

cache = typer.Typer(
    help="Look after the cache: verify it, prune it.", no_args_is_help=True, rich_markup_mode=None
)


@cache.command("verify")
def verify(context: typer.Context, project: ProjectOption = None) -> None:
    """Read all that the cache and the link graph hold, and say what is damaged; nothing is changed.

    A damaged vector or search result is fetched again when it is needed.
    """
    opened = opened_project(context, project)
    from internal_linker.usecases.cache import verify_cache

    with reporting(stderr=False) as reporter:
        result = verify_cache(opened, reporter)
    if not result.ok:
        damaged = ", ".join(f"{count} in {table}" for table, count in result.damaged.items())
        raise InputError(
            f"The cache has damaged rows: {damaged}. Vectors and search results are fetched again when they are "
            "needed; damaged links and runs are lost: restore them from a backup."
        )
    typer.echo("All of the cache can be read.")


@cache.command("prune")
@with_options(PruneCacheOptions)
def prune(context: typer.Context, project: ProjectOption = None, *, options: PruneCacheOptions) -> None:
    """Show or remove what nobody needed for half a year: vectors of texts that are gone, old search results.

    Runs do this by themselves at their end; this command gives the room back to the disk, too. What editors
    decided and what still stands on the site is never removed.
    """
    opened = opened_project(context, project)
    from internal_linker.usecases.cache import prune_cache

    result = prune_cache(opened, options)
    for each in result.needless:
        typer.echo(f"{each.table}: {each.rows:,} rows, {each.size / 1e6:,.1f} MB")
    if not any(each.rows for each in result.needless):
        typer.echo(f"Everything in the cache was needed within {result.days} days.")
    elif result.removed:
        typer.echo("Removed.")
    else:
        typer.echo("Nothing was changed. Remove it with --apply.")


store = typer.Typer(help="Move a cache between databases.", no_args_is_help=True, rich_markup_mode=None)


@store.callback()
def _group() -> None:
    """Move a cache between databases: store copy."""


@store.command("copy")
@with_options(CopyStoreOptions)
def copy(context: typer.Context, project: ProjectOption = None, *, options: CopyStoreOptions) -> None:
    """Copy a cache into another database.

    FROM and TO are written as store_url, or as the path of an SQLite file; a relative one starts at the
    project folder. Nothing is lost in TO: of two answers to the same question the newer stays.
    """
    opened = opened_project(context, project)
    from internal_linker.usecases.cache import copy_store

    with reporting(stderr=False) as reporter:
        copy_store(opened, options, reporter)
    typer.echo("The cache is copied. To use it, set store_url in config/settings.toml.")
