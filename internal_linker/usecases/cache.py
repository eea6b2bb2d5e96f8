"""Look after the cache: copy it to another database, verify it, prune it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from internal_linker.adapters.database.maintenance import Copied, Needless
from internal_linker.core.ports import Progress
from internal_linker.core.results import Columns, Result, columns_of
from internal_linker.usecases.options import CopyStoreOptions, PruneCacheOptions
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
        damaged: by table, the number of rows that can't be read; tables without any are left out.
    """

    damaged: Mapping[str, int]

    @property
    def ok(self) -> bool:
        """Whether all rows can be read."""
        return not self.damaged

    def tables(self) -> dict[str, Columns]:
        """Return `damaged`: the tables that have damaged rows, and how many."""
        return {"damaged": {"table": list(self.damaged), "rows": list(self.damaged.values())}}


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


def verify_cache(project: Project, progress: Progress) -> VerifyResult:
    """Read all that the cache and the link graph hold, and count what is damaged; nothing is changed.

    Raises:
        ConfigurationError: the database is damaged as a whole, or can't be opened.
    """
    return VerifyResult(project.databases.verify(progress))


def prune_cache(project: Project, options: PruneCacheOptions) -> PruneResult:
    """Count what no run needed for a while, and remove it if `options.apply` says so.

    What editors decided and what still stands on the site is never removed.

    Raises:
        ConfigurationError: the database failed, or can't be opened.
    """
    found = project.databases.prune(options.days, apply=options.apply)
    return PruneResult(found, options.days, options.apply)
