"""The commands that look after the cache: cache verify and prune, store copy, backup and restore."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from internal_linker.faces.cli.command import Call, Command, group, prints
from internal_linker.model.errors import InputError
from internal_linker.project.options.stores import (
    BackUpOptions,
    CopyStoreOptions,
    PruneCacheOptions,
    RestoreOptions,
    VerifyCacheOptions,
)

if TYPE_CHECKING:
    from internal_linker.project.cache import CopyResult, PruneResult, VerifyResult
    from internal_linker.store.databases import RestoreResult

cache = typer.Typer(help="Verify or prune the cache.", no_args_is_help=True, rich_markup_mode=None)
cache.callback()(group("Verify or prune the cache."))


@cache.command("verify", cls=Command)
@prints("verify_cache", VerifyCacheOptions, stderr=False)
def verify(result: "VerifyResult", _: Call) -> None:
    """Check the cache and the link graph for damage, and repair it.

    Read every row. Without --repair, nothing is changed. With it, damaged vectors, search results and the like are
    removed: runs fetch or compute them again. If links or runs are damaged, the newest sound backup is restored.
    """
    from internal_linker.store.databases import listed

    if not result.damaged:
        typer.echo("The cache is not damaged.")
    elif not result.repaired:
        raise InputError(
            f"The cache has damaged rows: {listed(result.damaged)}. `cache verify --repair` removes those that runs "
            "fetch or compute again; for links and runs, it restores the newest backup, as `store restore` does."
        )
    elif result.restored:
        _tell_restored(result.restored)
    else:
        typer.echo(f"Removed: {listed(result.damaged)}. Runs fetch or compute them again.")


@cache.command("prune", cls=Command)
@prints("prune_cache", PruneCacheOptions)
def prune(result: "PruneResult", _: Call) -> None:
    """Show or remove what no run has used for half a year.

    These are mostly vectors of deleted texts and old search results. Runs remove them at their end; this command
    also returns the space to the disk. It never removes editors' decisions or links that are on the site.
    """
    for each in result.needless:
        typer.echo(f"{each.table}: {each.rows:,} rows, {each.size / 1e6:,.1f} MB")
    if not any(each.rows for each in result.needless):
        typer.echo(f"There is nothing to remove: runs used every row in the last {result.days} days.")
    elif result.removed:
        typer.echo("Removed.")
    else:
        typer.echo("Nothing was removed. To remove these rows, add --apply.")


store = typer.Typer(help="Copy, back up or restore the cache.", no_args_is_help=True, rich_markup_mode=None)
store.callback()(group("Copy, back up or restore the cache."))


@store.command("copy", cls=Command)
@prints("copy_store", CopyStoreOptions, stderr=False)
def copy(_: "CopyResult", __: Call) -> None:
    """Copy a cache into another database.

    FROM and TO are addresses as in store_url, or paths of SQLite files; a relative path starts at the project
    folder. TO keeps its own rows; if both databases have a row with the same key, the newer one is kept.
    """
    typer.echo("The cache was copied. To use the copy, set store_url in config/settings.toml.")


@store.command("backup", cls=Command)
@prints("back_up_store", BackUpOptions)
def backup(file: Path, _: Call) -> None:
    """Back up the cache file.

    Runs and other commands may use the cache meanwhile. Besides, runs make a backup each week (store_backups). Backups
    made by this command are never deleted. A PostgreSQL database is backed up with its own tools, such as pg_dump.
    """
    typer.echo(f"The cache was backed up to {file}.")


@store.command("restore", cls=Command)
@prints("restore_store", RestoreOptions)
def restore(result: "RestoreResult", _: Call) -> None:
    """Restore the cache from a backup.

    The present cache file is not deleted: it gets a name with the date. Decisions that editors made since the backup
    are read again from the Sheet or review.xlsx by the next run.
    """
    _tell_restored(result)


def _tell_restored(result: "RestoreResult") -> None:
    typer.echo(f"The cache was restored from {result.backup}.")
    if result.former:
        typer.echo(f"The former cache is {result.former}.")
