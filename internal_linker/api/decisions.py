"""Editors' decisions, their links in the site's texts, and the history of runs."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from internal_linker.api.opening import opened_project, shown_reporter
from internal_linker.usecases.option_records import takes
from internal_linker.usecases.options.decisions import ApplyOptions, DiffOptions, RollbackOptions, UndoOptions

if TYPE_CHECKING:
    from pandas import DataFrame

    from internal_linker.review.session import ReviewCounts
    from internal_linker.usecases.apply import ApplyResult
    from internal_linker.usecases.history import DiffResult, HistoryResult, RollbackResult
    from internal_linker.usecases.review import LinkDecision, ReviewResult
    from internal_linker.usecases.undo_links import ApplicationsResult, UndoResult


@takes()
def waiting_links(project: str | Path = ".") -> "ReviewResult":
    """Return the links that wait for an editor's decision; `decide` takes the decisions.

    Returns:
        `.links` and the DataFrame `.to_frame()`.

    Raises:
        InternalLinkerError: the settings or the link graph can't be read.
    """
    from internal_linker.usecases import review as usecase

    return usecase.waiting_links(opened_project(project))


@takes()
def decide(
    decisions: "Sequence[LinkDecision] | DataFrame", project: str | Path = ".", *, by: str = ""
) -> "ReviewCounts":
    """Keep an editor's decisions on links, by the same rules as the Sheet and review.xlsx.

    Args:
        decisions: records, or a DataFrame with the column link_id and any of status, anchor and notes, as
            `waiting_links` returns it; None and missing values change nothing.
        by: the editor's name; "": the name of the login.

    Returns:
        How many links were accepted, rejected and edited, and how many still wait.

    Raises:
        InternalLinkerError: a link or a status is unknown; nothing is kept then.
    """
    from internal_linker.usecases import review as usecase

    return usecase.decide(opened_project(project), decisions, by=by)


@takes()
def history(project: str | Path = ".") -> "HistoryResult":
    """Return the runs whose links are kept, the oldest first, as the command `history` does.

    Returns:
        `.versions` and the DataFrame `.to_frame()`.

    Raises:
        InternalLinkerError: the settings or the link graph can't be read.
    """
    from internal_linker.usecases import history as usecase

    return usecase.history(opened_project(project))


@takes(DiffOptions)
def diff(
    before: str, after: str, project: str | Path = ".", *, write: bool = False, **options: Any
) -> "DiffResult":
    """Compare the links of two runs, as the command `diff` does.

    Args:
        before: the earlier run, as `history` names it.
        after: the later run.
        write: write files/diff.csv, too.

    Returns:
        `.differences` and `.counts`, and the DataFrame `.to_frame()`.

    Raises:
        InternalLinkerError: a run is not kept, or the file can't be written.
    """
    from internal_linker.usecases import history as usecase

    return usecase.diff(
        opened_project(project), DiffOptions(before=before, after=after, **options), write=write
    )


@takes(RollbackOptions)
def rollback(
    run: str, project: str | Path = ".", *, progress: bool = False, **options: Any
) -> "RollbackResult":
    """Put the links of an earlier run back, as the command `rollback` does.

    Args:
        run: the run, as `history` names it.

    Returns:
        The links that were put back; `.rejected` counts those that stay out, `.gaps` says what is missing.

    Raises:
        InternalLinkerError: the run is not kept, or a place did not take its links.
    """
    from internal_linker.usecases import history as usecase

    with shown_reporter(progress) as reporter:
        found = usecase.rollback(opened_project(project), RollbackOptions(run=run, **options), reporter)
    if found.failure:
        raise found.failure
    return found


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
