"""Finding links: runs, lookups and content briefs."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from internal_linker.api.opening import opened_project, opened_site, shown_reporter
from internal_linker.core.errors import InternalLinkerError
from internal_linker.usecases.option_records import takes
from internal_linker.usecases.options.links import BriefOptions, LookupOptions, RunOptions

# Each function imports its own use case: scikit-learn alone takes a second to load.
if TYPE_CHECKING:
    from pandas import DataFrame

    from internal_linker.core.briefs import BriefLinks
    from internal_linker.pipeline.plan import Plan
    from internal_linker.usecases.open_site import OpenSite
    from internal_linker.usecases.run import PageLinks


@takes(RunOptions)
def run(project: str | Path = ".", *, progress: bool = False, **options: Any) -> "PageLinks":
    """Find links for every page and deliver them, as the command `run` does.

    Args:
        progress: show steps, notes and the summary on stderr; logfile.txt has them in any case.

    Returns:
        `.links`, `.notes` and `.gaps`, and the DataFrames `.frames["links"]` and `.frames["notes"]`.

    Raises:
        InternalLinkerError: it could not be done, or a place did not take its links.
    """
    from internal_linker.usecases import run as usecase

    with shown_reporter(progress) as reporter:
        found = usecase.run(opened_project(project), RunOptions(**options), reporter)
    if found.failure:
        raise found.failure
    return found


@takes(RunOptions)
def plan(project: str | Path = ".", *, progress: bool = False, **options: Any) -> "Plan":
    """Return what a run would fetch, embed and cost, as `run --dry-run` does; nothing is spent or written."""
    from internal_linker.usecases import run as usecase

    with shown_reporter(progress) as reporter:
        return usecase.plan(opened_project(project), RunOptions(**options), reporter)


@takes(LookupOptions)
def lookup(
    page: str,
    project: "str | Path | DataFrame" = ".",
    *,
    links: "DataFrame | None" = None,
    queries: "DataFrame | None" = None,
    progress: bool = False,
    **options: Any,
) -> "PageLinks":
    """Find the best links for one page, by its URL, or for any query, as the command `lookup` does.

    Args:
        page: a URL or a query.
        project: the folder with config/ and files/, or a DataFrame of pages: URL, Title, Main Content, ...
        links: with a DataFrame of pages: existing links: Source, Destination, Anchor.
        queries: with a DataFrame of pages: their main queries: URL, Main Query.

    Returns:
        `.links` and the DataFrame `.to_frame()`.
    """
    from internal_linker.usecases import run as usecase

    with shown_reporter(progress) as reporter, opened_site(project, links, queries) as opened:
        return usecase.lookup(opened, LookupOptions(page=page, **options), reporter)


@takes()
def open_site(project: str | Path = ".", *, progress: bool = False) -> "OpenSite":
    """Open a site for many lookups and content briefs, such as those of a web app, which take milliseconds each.

    Returns:
        An object with the methods `lookup` and `content_brief`, which take the same options and return the same as the
        functions of these names, and `close`; also for a `with` block.
    """
    from internal_linker.usecases.open_site import OpenSite

    return OpenSite(Path(project), partial(shown_reporter, progress))


@takes(BriefOptions)
def content_brief(
    draft: str | Path, project: str | Path = ".", *, progress: bool = False, **options: Any
) -> "BriefLinks":
    """Find the links of a page that does not exist yet, to it and from it, as the command `content-brief` does.

    Args:
        draft: a title, an outline or a draft, as text or as the path of a .docx, .md, .html or .txt file.

    Returns:
        `.links_to`, `.links_from` and `.like`, each a DataFrame in `.frames`, too.
    """
    from internal_linker.usecases import run as usecase

    with shown_reporter(progress) as reporter:
        return usecase.content_brief(opened_project(project), BriefOptions(draft=draft, **options), reporter)


@takes()
def schedule(project: str | Path = ".", *, progress: bool = False) -> None:
    """Stay and run at the times of schedule_cron until Ctrl-C or SIGTERM, as the command `schedule` does.

    Args:
        project: the folder with config/ and files/; settings are read for each run.
        progress: show steps, notes and the times of the next runs on stderr; logfile.txt has the runs in any case.

    Raises:
        InternalLinkerError: the settings can't be read, or schedule_cron is wrong.
    """
    from internal_linker.usecases import run as usecase
    from internal_linker.usecases.schedule import run_schedule

    with shown_reporter(progress) as reporter:

        def job(should_stop: Callable[[], bool]) -> None:
            try:
                usecase.run(opened_project(project), RunOptions(), reporter, should_stop=should_stop)
            except InternalLinkerError as error:
                reporter.console.print(f"Error: {error}")

        run_schedule(opened_project(project).settings, job, reporter.console.print, Path(project))
