"""Making and checking a project, and keeping its stored data."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from internal_linker.api.opening import opened_project, shown_reporter
from internal_linker.usecases.option_records import takes
from internal_linker.usecases.options.stores import (
    BackUpOptions,
    CheckOptions,
    CopyStoreOptions,
    PruneCacheOptions,
    RestoreOptions,
    VerifyCacheOptions,
)

# Each function imports its own use case: scikit-learn alone takes a second to load.
if TYPE_CHECKING:
    from internal_linker.usecases.cache import CopyResult, PruneResult, VerifyResult
    from internal_linker.usecases.check import CheckResult
    from internal_linker.usecases.databases import RestoreResult
    from internal_linker.usecases.init import InitResult


@takes(CheckOptions)
def check(project: str | Path = ".", **options: Any) -> "CheckResult":
    """Verify keys, Sheet, files and model, as the command `check` does; nothing is spent.

    Returns:
        `.ok`, `.facts` and the DataFrame `.to_frame()`.
    """
    from internal_linker.usecases import check as usecase

    return usecase.check(Path(project).resolve(), CheckOptions(**options))


@takes()
def init(project: str | Path = ".", *, sheet: bool = False) -> "InitResult":
    """Write a commented configuration into a folder, as the command `init` does; existing files stay.

    Args:
        project: the folder; it is made if it doesn't exist.
        sheet: also write the column names into the tab of the Google Sheet, if it is empty.

    Raises:
        InternalLinkerError: the folder or the Sheet can't be written.
    """
    from internal_linker.usecases import init as usecase
    from internal_linker.usecases.options.stores import InitOptions

    return usecase.init(Path(project).resolve(), InitOptions(sheet=sheet))


@takes(CopyStoreOptions)
def copy_store(
    source: str, destination: str, project: str | Path = ".", *, progress: bool = False
) -> "CopyResult":
    """Copy a cache into another database, as the command `store copy` does.

    Args:
        source: where the cache is: as store_url, or the path of an SQLite file.
        destination: where it is copied to, likewise.
        project: the folder with config/ and files/; relative paths start there.

    Raises:
        InternalLinkerError: a database can't be opened, or there is no cache at the source.
    """
    from internal_linker.usecases import cache as usecase

    with shown_reporter(progress) as reporter:
        wanted = CopyStoreOptions(source=source, destination=destination)
        return usecase.copy_store(opened_project(project), wanted, reporter)


@takes(VerifyCacheOptions)
def verify_cache(project: str | Path = ".", *, progress: bool = False, **options: Any) -> "VerifyResult":
    """Read all that the cache and the link graph hold, as the command `cache verify` does, and repair it if asked to.

    Returns:
        `.ok`, the damaged rows by table, `.damaged`, and what was done with them, `.repaired`.

    Raises:
        InternalLinkerError: the database can't be opened, or is damaged as a whole.
    """
    from internal_linker.usecases import cache as usecase

    with shown_reporter(progress) as reporter:
        return usecase.verify_cache(opened_project(project), VerifyCacheOptions(**options), reporter)


@takes(BackUpOptions)
def back_up_store(project: str | Path = ".", **options: Any) -> Path:
    """Back up the cache file, as the command `store backup` does.

    Returns:
        The path of the backup.

    Raises:
        InternalLinkerError: there is no cache file, or the backup can't be written.
    """
    from internal_linker.usecases import cache as usecase

    return usecase.back_up_store(opened_project(project), BackUpOptions(**options))


@takes(RestoreOptions)
def restore_store(project: str | Path = ".", **options: Any) -> "RestoreResult":
    """Put a backup in the place of the cache file, as the command `store restore` does.

    Returns:
        The backup, and where the former cache file is: `.backup` and `.former`.

    Raises:
        InternalLinkerError: there is no sound backup, a run is active, or a file can't be written.
    """
    from internal_linker.usecases import cache as usecase

    return usecase.restore_store(opened_project(project), RestoreOptions(**options))


@takes(PruneCacheOptions)
def prune_cache(project: str | Path = ".", **options: Any) -> "PruneResult":
    """Count or remove what no run needed for a long time, as the command `cache prune` does.

    Returns:
        `.needless`, table by table.

    Raises:
        InternalLinkerError: the database can't be opened.
    """
    from internal_linker.usecases import cache as usecase

    return usecase.prune_cache(opened_project(project), PruneCacheOptions(**options))
