"""Putting accepted links into a site's texts, and taking them out again."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from internal_linker.api.opening import opened_project, shown_reporter
from internal_linker.usecases.option_records import takes
from internal_linker.usecases.options.applying import ApplyOptions, UndoOptions

# Each function imports its own use case: scikit-learn alone takes a second to load.
if TYPE_CHECKING:
    from internal_linker.usecases.apply import ApplyResult
    from internal_linker.usecases.undo_links import ApplicationsResult, UndoResult


@takes(ApplyOptions)
def apply(
    files: str | Path | None = None,
    project: str | Path = ".",
    *,
    progress: bool = False,
    **options: Any,
) -> "ApplyResult":
    """Put accepted links into the site's source files or posts, as the command `apply` does.

    Args:
        files: the folder of the site's source files; None: `wordpress` names a site, or else the setting
            source_folder names it.
        options: as below; without `write`, `patch` or `branch` nothing changes.

    Returns:
        `.links`, what became of each, `.diff`, `.counts` and `.application`, which `undo` takes.
    """
    from internal_linker.usecases import apply as usecase

    folder = None if files is None else Path(files)
    with shown_reporter(progress) as reporter:
        return usecase.apply(opened_project(project), ApplyOptions(files=folder, **options), reporter)


@takes()
def applications(project: str | Path = ".") -> "ApplicationsResult":
    """List the applications of links and how many of their links are live, as `undo` does without an argument.

    Returns:
        `.applications`, the oldest first.

    Raises:
        InternalLinkerError: the store can't be read.
    """
    from internal_linker.usecases import undo_links as usecase

    return usecase.applications(opened_project(project))


@takes(UndoOptions)
def undo(what: str, project: str | Path = ".", *, progress: bool = False, **options: Any) -> "UndoResult":
    """Take applied links back, as the command `undo` does.

    Args:
        what: "LAST", the id of an application, or a page's URL.

    Returns:
        `.restored` and `.kept`: the texts that are as they were, and those that changed since.

    Raises:
        InternalLinkerError: it could not be done, or there is nothing to take back.
    """
    from internal_linker.usecases import undo_links as usecase

    with shown_reporter(progress) as reporter:
        return usecase.undo(opened_project(project), UndoOptions(what=what, **options), reporter)
