"""Look after the cache: copy it to another database, back it up and restore it, verify, repair and prune it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from internal_linker.adapters.database.damage import Repaired
from internal_linker.adapters.database.maintenance import Copied, Needless
from internal_linker.core.ports import Progress
from internal_linker.core.results import Columns, Result, columns_of
from internal_linker.usecases.options.stores import (
    BackUpOptions,
    CopyStoreOptions,
    PruneCacheOptions,
    RestoreOptions,
    VerifyCacheOptions,
)
from internal_linker.usecases.project import Project


@dataclass(frozen=True, repr=False)
class CopyResult(Result):
    """A cache that was copied.

    Attributes:
        copied: how many rows of each table were read and copied.
    """

    copied: Sequence[Copied]

    def tables(self) -> dict[str, Columns]:
        """Return `tables`: rows that were read, and those of them that were copied, table by table."""
        return {"tables": columns_of(self.copied, "table", "rows", "copied")}


@dataclass(frozen=True, repr=False)
class VerifyResult(Result):
    """What can't be read of the cache and the link graph.

    Attributes:
        damaged: by table, the number of rows that could not be read; tables without any are left out.
        repaired: what was done with them; None: nothing.
    """

    damaged: Mapping[str, int]
    repaired: Sequence[Repaired] | None = None

    @property
    def ok(self) -> bool:
        """Whether all rows can be read."""
        return not self.damaged or self.repaired is not None

    def tables(self) -> dict[str, Columns]:
        """Return `damaged`, the tables that had damaged rows and how many, and `repaired`, what became of them."""
        damaged: Columns = {"table": list(self.damaged), "rows": list(self.damaged.values())}
        return {
            "damaged": damaged,
            "repaired": columns_of(self.repaired or (), "table", "removed", "restored", "set_aside"),
        }


@dataclass(frozen=True)
class RestoreResult:
    """A backup that took the cache's place.

    Attributes:
        backup: the backup.
        former: where the file is that was in its place; None if there was none.
    """

    backup: Path
    former: Path | None


@dataclass(frozen=True, repr=False)
class PruneResult(Result):
    """What no run needed for a while.

    Attributes:
        needless: the rows of each table and their size in bytes.
        days: no run needed them for so many days.
        removed: whether they were removed; otherwise they were only counted.
    """

    needless: Sequence[Needless]
    days: int
    removed: bool

    def tables(self) -> dict[str, Columns]:
        """Return `tables`: needless rows and their size in bytes, table by table."""
        return {"tables": columns_of(self.needless, "table", "rows", "size")}


def copy_store(project: Project, options: CopyStoreOptions, progress: Progress) -> CopyResult:
    """Copy a cache into another database; of two answers to the same question the newer stays.

    Args:
        project: whose folder relative paths start at.
        options: the two databases.
        progress: shows the tables.

    Raises:
        ConfigurationError: an address is wrong, its database can't be opened or failed, or both are one.
        InputError: there is no cache at the source.
        StoreLost: a server is gone in the middle; copy again.
    """
    return CopyResult(project.databases.copy(options.source, options.destination, progress))


def verify_cache(project: Project, options: VerifyCacheOptions, progress: Progress) -> VerifyResult:
    """Read all that the cache and the link graph hold, and count what is damaged; repair it if asked to.

    Args:
        project: whose cache.
        options: whether to repair; nothing is changed otherwise.
        progress: shows the tables.

    Raises:
        ConfigurationError: the database is damaged as a whole, or can't be opened.
        RunActive: the cache is to be repaired, and a run holds the project folder.
    """
    damaged = project.databases.verify(progress)
    if not options.repair:
        return VerifyResult(damaged)
    with project.lock():
        return VerifyResult(damaged, project.databases.repair(progress))


def back_up_store(project: Project, options: BackUpOptions) -> Path:
    """Copy the cache's file, which others may be using, and return the path of the copy.

    Raises:
        ConfigurationError: the cache is on a server.
        InputError: there is no cache, or its file is damaged as a whole.
        OutputError: the copy can't be written.
    """
    return project.databases.back_up(options.to)


def restore_store(project: Project, options: RestoreOptions) -> RestoreResult:
    """Put a backup in the cache's place; the present file stays beside it under a dated name.

    Raises:
        ConfigurationError: the cache is on a server.
        InputError: there is no such backup, or it is damaged.
        RunActive: a run holds the project folder or the cache.
        OutputError: a file can't be written.
    """
    with project.lock():
        return RestoreResult(*project.databases.restore(options.backup))


def prune_cache(project: Project, options: PruneCacheOptions) -> PruneResult:
    """Count what no run needed for a while, and remove it if `options.apply` says so.

    What editors decided and what still stands on the site is never removed.

    Raises:
        ConfigurationError: the database failed, or can't be opened.
    """
    found = project.databases.prune(options.days, apply=options.apply)
    return PruneResult(found, options.days, options.apply)
