"""A project -> a run with its lock, log and summary; a look-up; the links of a page that does not exist yet."""

import re
from collections.abc import Callable
from contextlib import closing

from internal_linker.core.briefs import Brief, BriefLinks
from internal_linker.core.errors import ExitCode, InternalLinkerError
from internal_linker.core.records import Choice
from internal_linker.core.sections import Sections
from internal_linker.core.version import __version__
from internal_linker.pipeline.brief import content_brief
from internal_linker.pipeline.report import Report
from internal_linker.pipeline.run import Run
from internal_linker.usecases.console import Reporter, print_summary, summary_rows
from internal_linker.usecases.exit import LOGGED, new_run_id
from internal_linker.usecases.log import LOGGER, run_log
from internal_linker.usecases.project import Project

# A page's address without its https://, as browsers show it; "node.js" is a query.
_BARE_ADDRESS = re.compile(r"www\.\S+|[\w-]+(\.[\w-]+)*\.[a-zA-Z]{2,}/\S*")


def run_once(
    project: Project,
    choice: Choice,
    off: Sections,
    reporter: Reporter,
    *,
    no_serp: bool = False,
    accept_drift: bool = False,
    should_stop: Callable[[], bool] = lambda: False,
) -> Report:
    """One run under the project's lock and log; prints its summary.

    Raises:
        InternalLinkerError: the run could not be done; logged, too.
    """
    run_id = new_run_id()
    with project.lock(), run_log(project.root, run_id, project.settings.secrets):
        LOGGER.info("Run starts: internal-linker %s", __version__)
        try:
            keeps = (lambda _: True) if choice.partial else off.hold if off else None
            with project.parts(reporter, serp=not no_serp, keeps=keeps) as parts:
                rules = project.rules(off, accept_drift=accept_drift)
                report = Run(parts, rules, choice, reporter, should_stop).execute(run_id)
            _conclude(reporter, report, project)
            return report
        except (InternalLinkerError, KeyboardInterrupt) as error:
            LOGGER.error("%s", error if isinstance(error, InternalLinkerError) else "Interrupted.")
            error.add_note(LOGGED)
            raise
        except Exception as error:
            LOGGER.exception("The run ended unexpectedly")
            error.add_note(LOGGED)
            raise
        finally:
            reporter.close()


def exit_code(report: Report) -> ExitCode:
    """What a run's command ends with."""
    if report.failure:
        return report.failure.exit_code
    return ExitCode.GAPS if report.gaps else ExitCode.SUCCESS


def look_up(project: Project, page: str, reporter: Reporter, *, no_serp: bool = False) -> Report:
    """The links of one page, by its URL, or of any query; nothing is delivered.

    Raises:
        InternalLinkerError: it could not be done.
    """
    if _BARE_ADDRESS.fullmatch(page):
        page = f"https://{page}"
    is_url = page.lower().startswith(("http://", "https://"))
    choice = Choice(only=(page,)) if is_url else Choice(query=page)
    with closing(reporter), project.parts(reporter, serp=not no_serp, deliver=False) as parts:
        return Run(parts, project.rules(), choice, reporter).execute(new_run_id())


def brief_links(
    project: Project, brief: Brief, limit: int, reporter: Reporter, *, no_serp: bool = False
) -> BriefLinks:
    """The links of a page that does not exist yet, so many each way; 0: as many as the settings say.

    Raises:
        InternalLinkerError: it could not be done.
    """
    wanted = limit or project.settings.links_per_page
    with closing(reporter), project.parts(reporter, serp=not no_serp, deliver=False) as parts:
        return content_brief(parts, project.rules(), brief, wanted, reporter)


def _conclude(reporter: Reporter, report: Report, project: Project) -> None:
    print_summary(reporter.console, summary_rows(report, reporter.seconds, project.settings.links_per_page))
    if report.failure:
        closing = "Pipeline finished, but not every place took its links."
    elif report.gaps:
        closing = "Pipeline finished with gaps: see the notes above."
    else:
        closing = "Pipeline completed successfully!"
    LOGGER.info("%s", closing)
    reporter.console.print(closing)
