"""What links and pages earn: search data and main queries."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from internal_linker.api.opening import opened_project, shown_reporter
from internal_linker.usecases.option_records import takes
from internal_linker.usecases.options.performance import QueriesOptions

if TYPE_CHECKING:
    from internal_linker.usecases.import_search_exports import SearchDataImported
    from internal_linker.usecases.queries import FilledQueries


def import_search_data(
    *files: str | Path, project: str | Path = ".", progress: bool = False
) -> "SearchDataImported":
    """Store search data of exported files, as the command `import` does.

    Args:
        files: exports of Search Console or Google Analytics (.zip, .csv, .xlsx), or tables of their figures.
        project: the folder with config/ and files/.
        progress: show steps and notes on stderr.

    Returns:
        In `.stored` what was stored of each kind, in `.rejected` and `.left_out` how many rows were not, and the
        DataFrames `.frames["stored"]` and `.frames["counts"]`.

    Raises:
        InternalLinkerError: it could not be done; nothing was stored.
    """
    from internal_linker.usecases.import_search_exports import import_search_exports

    with shown_reporter(progress) as reporter:
        return import_search_exports(opened_project(project), [Path(file) for file in files], reporter)


@takes(QueriesOptions)
def queries(project: str | Path = ".", *, progress: bool = False, **options: Any) -> "FilledQueries":
    """Choose main queries from search data, as the command `queries` does.

    Args:
        project: the folder with config/ and files/.
        progress: show steps and notes on stderr.
        options: as below.

    Returns:
        The main queries in the DataFrame `.frames["queries"]`, others in `.frames["cannibalised"]`, `["brands"]` and
        `["without"]`.

    Raises:
        InternalLinkerError: it could not be done; no main query was changed.
    """
    from internal_linker.usecases import queries as usecase

    with shown_reporter(progress) as reporter:
        return usecase.queries(opened_project(project), QueriesOptions(**options), reporter)
