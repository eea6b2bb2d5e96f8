"""The commands that look after the cache: cache verify, cache prune and store copy."""

import typer

from internal_linker.cli.command import ProjectOption, opened_project, reporting, with_options
from internal_linker.core.errors import InputError
from internal_linker.usecases.options import CopyStoreOptions, PruneCacheOptions

cache = typer.Typer(help="Verify or prune the cache.", no_args_is_help=True, rich_markup_mode=None)


@cache.command("verify")
def verify(context: typer.Context, project: ProjectOption = None) -> None:
    """Check the cache and the link graph for damage.

    Read every row and change nothing. A damaged vector or search result is fetched again when it is needed.
    """
    opened = opened_project(context, project)
    from internal_linker.usecases.cache import verify_cache

    with reporting(stderr=False) as reporter:
        result = verify_cache(opened, reporter)
    if not result.ok:
        damaged = ", ".join(f"{count} in {table}" for table, count in result.damaged.items())
        raise InputError(
            f"The cache has damaged rows: {damaged}. Runs fetch damaged vectors and search results again; "
            "damaged links and runs are lost: restore them from a backup."
        )
    typer.echo("The cache is not damaged.")


@cache.command("prune")
@with_options(PruneCacheOptions)
def prune(context: typer.Context, project: ProjectOption = None, *, options: PruneCacheOptions) -> None:
    """Show or remove what no run has used for half a year.

    These are mostly vectors of deleted texts and old search results. Runs remove them at their end; this command
    also returns the space to the disk. It never removes editors' decisions or links that are on the site.
    """
    opened = opened_project(context, project)
    from internal_linker.usecases.cache import prune_cache

    result = prune_cache(opened, options)
    for each in result.needless:
        typer.echo(f"{each.table}: {each.rows:,} rows, {each.size / 1e6:,.1f} MB")
    if not any(each.rows for each in result.needless):
        typer.echo(f"There is nothing to remove: runs used every row in the last {result.days} days.")
    elif result.removed:
        typer.echo("Removed.")
    else:
        typer.echo("Nothing was removed. To remove these rows, add --apply.")


store = typer.Typer(help="Copy a cache between databases.", no_args_is_help=True, rich_markup_mode=None)


@store.callback()
def _group() -> None:
    """Copy a cache between databases."""


@store.command("copy")
@with_options(CopyStoreOptions)
def copy(context: typer.Context, project: ProjectOption = None, *, options: CopyStoreOptions) -> None:
    """Copy a cache into another database.

    FROM and TO are addresses as in store_url, or paths of SQLite files; a relative path starts at the project
    folder. TO keeps its own rows; if both databases have a row with the same key, the newer one is kept.
    """
    opened = opened_project(context, project)
    from internal_linker.usecases.cache import copy_store

    with reporting(stderr=False) as reporter:
        copy_store(opened, options, reporter)
    typer.echo("The cache was copied. To use the copy, set store_url in config/settings.toml.")
