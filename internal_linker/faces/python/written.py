"""The functions of Python that are no capabilities: they take records, stay open, or never end."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from internal_linker.faces.python.opening import opened_project, shown_reporter
from internal_linker.model.errors import InternalLinkerError
from internal_linker.project import review
from internal_linker.project.open_site import OpenSite
from internal_linker.project.options.links import RunOptions
from internal_linker.project.run import run
from internal_linker.project.schedule import run_schedule
from internal_linker.review.session import ReviewCounts

if TYPE_CHECKING:
    from pandas import DataFrame


def decide(
    decisions: "Sequence[review.LinkDecision] | DataFrame", project: str | Path = ".", *, by: str = ""
) -> ReviewCounts:
    """Keep an editor's decisions on links, by the same rules as the Sheet and review.xlsx.

    Args:
        decisions: records, or a DataFrame with the column link_id and any of status, anchor and notes, as
            `waiting_links` returns it; None and missing values change nothing.
        project: the folder with config/ and files/.
        by: the editor's name; "": the name of the login.

    Returns:
        How many links were accepted, rejected and edited, and how many still wait.

    Raises:
        InternalLinkerError: a link or a status is unknown; nothing is kept then.
    """
    return review.decide(opened_project(project), decisions, by=by)


def open_site(project: str | Path = ".", *, progress: bool = False) -> OpenSite:
    """Open a site for many lookups and content briefs, such as those of a web app, which take milliseconds each.

    Args:
        project: the folder with config/ and files/.
        progress: show steps and notes on stderr.

    Returns:
        An object with the methods `lookup` and `content_brief`, which take the same options and return the same as the
        functions of these names, and `close`; also for a `with` block.
    """
    return OpenSite(Path(project), partial(shown_reporter, progress))


def schedule(project: str | Path = ".", *, progress: bool = False) -> None:
    """Stay and run at the times of schedule_cron until Ctrl-C or SIGTERM, as the command `schedule` does.

    Args:
        project: the folder with config/ and files/; settings are read for each run.
        progress: show steps, notes and the times of the next runs on stderr; logfile.txt has the runs in any case.

    Raises:
        InternalLinkerError: the settings can't be read, or schedule_cron is wrong.
    """
    with shown_reporter(progress) as reporter:

        def job(should_stop: Callable[[], bool]) -> None:
            try:
                run(opened_project(project), RunOptions(), reporter, should_stop=should_stop)
            except InternalLinkerError as error:
                reporter.console.print(f"Error: {error}")

        run_schedule(opened_project(project).settings, job, reporter.console.print, Path(project))
