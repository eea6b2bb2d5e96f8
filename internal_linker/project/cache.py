"""Look after the cache: copy it to another database, back it up and restore it, verify, repair and prune it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from internal_linker.model.ports import Progress
from internal_linker.model.results import Columns, Result, columns_of
from internal_linker.project.capabilities import capability
from internal_linker.project.options.stores import (
    BackUpOptions,
    CopyStoreOptions,
    PruneCacheOptions,
    RestoreOptions,
    VerifyCacheOptions,
)
from internal_linker.project.project import Project
from internal_linker.store.databases import Copied, Needless, RestoreResult, is_lasting


@dataclass(frozen=True, repr=False)
class CopyResult(Result):
    """A cache that was copied: how many rows of each table were read and copied."""

    copied: Sequence[Copied]

    def tables(self) -> dict[str, Columns]:
        """Return `tables`: rows that were read, and those of them that were copied, table by table."""
        return {"tables": columns_of(self.copied, "table", "rows", "copied")}


@dataclass(frozen=True, repr=False)
class VerifyResult(Result):
    """What can't be read of the cache and the link graph."""

    # By table, the number of rows that could not be read; tables without any are left out.
    damaged: Mapping[str, int]
    # Whether the rows that runs fetch or compute again were removed, and a backup restored if there were others.
    repaired: bool = False
    restored: RestoreResult | None = None

    @property
    def ok(self) -> bool:
        """Whether all rows can be read."""
        return not self.damaged or self.repaired

    def tables(self) -> dict[str, Columns]:
        """Return `damaged`: the tables that had damaged rows, and how many."""
        return {"damaged": {"table": list(self.damaged), "rows": list(self.damaged.values())}}


@dataclass(frozen=True, repr=False)
class PruneResult(Result):
    """What no run needed for so many days, and whether it was removed or only counted."""

    needless: Sequence[Needless]
    days: int
    removed: bool

    def tables(self) -> dict[str, Columns]:
        """Return `tables`: needless rows and their size in bytes, table by table."""
        return {"tables": columns_of(self.needless, "table", "rows", "size")}


@capability()
def copy_store(project: Project, options: CopyStoreOptions, progress: Progress) -> CopyResult:
    """Copy a cache into another database, as the command `store copy` does; relative paths start at the project folder.

    Of two answers to the same question the newer stays.

    Raises:
        ConfigurationError: an address is wrong, its database can't be opened or failed, or both are one.
        InputError: there is no cache at the source.
        StoreLost: a server is gone in the middle; copy again.
    """
    return CopyResult(project.databases.copy(options.source, options.destination, progress))


@capability()
def verify_cache(project: Project, options: VerifyCacheOptions, progress: Progress) -> VerifyResult:
    """Read all that the cache and the link graph hold, as the command `cache verify` does, and repair it if asked to.

    Returns:
        `.ok`, the damaged rows by table, `.damaged`, and what was done with them, `.repaired`.

    Raises:
        ConfigurationError: the database is damaged as a whole, or can't be opened.
        InputError: a backup is needed, and there is no sound one.
        RunActive: the cache is to be repaired, and a run holds the project folder.
    """
    if not options.repair:
        return VerifyResult(project.databases.verify(progress))
    with project.lock():
        damaged = project.databases.verify(progress, drop=True)
        is_lost = any(map(is_lasting, damaged))
        return VerifyResult(damaged, True, project.databases.restore(None) if is_lost else None)


@capability()
def back_up_store(project: Project, options: BackUpOptions) -> Path:
    """Back up the cache file, which others may be using, as the command `store backup` does.

    Returns:
        The path of the backup.

    Raises:
        ConfigurationError: the cache is on a server.
        InputError: there is no cache, or its file is damaged as a whole.
        OutputError: the copy can't be written.
    """
    return project.databases.back_up(options.to)


@capability()
def restore_store(project: Project, options: RestoreOptions) -> RestoreResult:
    """Put a backup in the place of the cache file, as the command `store restore` does.

    Returns:
        The backup, and where the former cache file is: `.backup` and `.former`.

    Raises:
        ConfigurationError: the cache is on a server.
        InputError: there is no such backup, or it is damaged.
        RunActive: a run holds the project folder or the cache.
        OutputError: a file can't be written.
    """
    with project.lock():
        return project.databases.restore(options.backup)


@capability()
def prune_cache(project: Project, options: PruneCacheOptions) -> PruneResult:
    """Count or remove what no run needed for a long time, as the command `cache prune` does.

    What editors decided and what still stands on the site is never removed.

    Returns:
        `.needless`, table by table.

    Raises:
        ConfigurationError: the database failed, or can't be opened.
    """
    found = project.databases.prune(options.days, apply=options.apply)
    return PruneResult(found, options.days, options.apply)
