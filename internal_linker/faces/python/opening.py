"""What the functions open: a project folder or DataFrames, and where progress is shown."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from internal_linker.model.errors import ConfigurationError
from internal_linker.project.console import Reporter, open_console
from internal_linker.project.project import Project, open_project

# Each function imports its own use case: scikit-learn alone takes a second to load.
if TYPE_CHECKING:
    from pandas import DataFrame


def opened_project(project: str | Path) -> Project:
    """Open a project folder; its errors are `InternalLinkerError`."""
    return open_project(Path(project))


@contextmanager
def opened_site(
    project: "str | Path | DataFrame", links: "DataFrame | None" = None, queries: "DataFrame | None" = None
) -> Iterator[Project]:
    """Open a project folder, or make a project of DataFrames."""
    if isinstance(project, str | Path):
        if links is not None or queries is not None:
            raise ConfigurationError(
                "links and queries go with a DataFrame of pages, not with a project folder."
            )
        yield opened_project(project)
        return
    from internal_linker.project.dataframe_project import frame_project

    with frame_project(project, links, queries) as opened:
        yield opened


@contextmanager
def shown_reporter(shown: bool) -> Iterator[Reporter]:
    """Show progress on stderr if it is wanted; the log of a run has it in any case."""
    console = open_console(stderr=True)
    console.quiet = not shown
    reporter = Reporter(console)
    try:
        yield reporter
    finally:
        reporter.close()
