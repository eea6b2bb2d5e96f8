"""What links earn: search data, main queries from them, the impact of links, and experiments."""

from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from internal_linker.api.opening import opened_project, shown_reporter
from internal_linker.usecases.option_records import takes
from internal_linker.usecases.options.evaluation import ImpactOptions, QueriesOptions

# Each function imports its own use case: scikit-learn alone takes a second to load.
if TYPE_CHECKING:
    from internal_linker.usecases.experiments import PlanResult
    from internal_linker.usecases.impact import ImpactResult
    from internal_linker.usecases.import_search_console import SearchConsoleImport
    from internal_linker.usecases.import_search_exports import SearchDataImported
    from internal_linker.usecases.queries import FilledQueries
    from internal_linker.usecases.search_data import SearchData


@takes()
def import_search_console(
    property: str, project: str | Path = ".", *, days: int = 0, progress: bool = False
) -> "SearchConsoleImport":
    """Fetch search data of a Search Console property, as `import --search-console` does.

    Args:
        property: "sc-domain:example.com" for a domain property, "https://www.example.com/" for a URL prefix.
        days: how many days to fetch at most; 0: all that Google keeps, which are those of 16 months.

    Returns:
        `.fetched`, the days, `.clicks`, `.missing` and `.last_final`, and in `.gaps` what is missing because Google
        refused to answer; what was fetched is stored.

    Raises:
        InternalLinkerError: nothing could be fetched.
    """
    from internal_linker.usecases import import_search_console as usecase
    from internal_linker.usecases.options.imports import SearchConsoleOptions

    with shown_reporter(progress) as reporter:
        wanted = SearchConsoleOptions(property=property, days=days)
        return usecase.import_search_console(opened_project(project), wanted, reporter)


@takes()
def search_data(
    project: str | Path = ".", *, since: date | None = None, until: date | None = None, source: str = ""
) -> "SearchData":
    """Read the search data that imports stored.

    Args:
        since: the first day; None: the first that is stored.
        until: the last day, included; None: the last that is stored.
        source: where the data are from, such as "sc-domain:example.com"; "": of each table the source with the most
            days.

    Returns:
        The DataFrames `.queries`, `.pages`, `.totals` and `.sessions`, which are in `.frames`, too, and `.sources`.

    Raises:
        InternalLinkerError: the store can't be read.
    """
    from internal_linker.usecases import search_data as usecase

    return usecase.search_data(opened_project(project), since, until, source)


@takes(ImpactOptions)
def impact(
    project: str | Path = ".", *, report: bool = False, progress: bool = False, **options: Any
) -> "ImpactResult":
    """Measure what links that went live did to their targets, as the command `impact` does.

    Args:
        report: write files/impact.html.

    Returns:
        `.sentence`, `.verdict` and `.findings`; the frames `effects`, `weeks` and `pairs`.

    Raises:
        InternalLinkerError: the pages or the search data can't be read.
    """
    from internal_linker.usecases import impact as usecase

    with shown_reporter(progress) as reporter:
        return usecase.impact(opened_project(project), ImpactOptions(report=report, **options), reporter)


@takes()
def plan_experiment(project: str | Path = ".") -> "PlanResult":
    """Hold back the accepted links to one in five of their targets, at random, as `impact --plan` does.

    Returns:
        `.status`, `.sentence`, `.drawn`, `.links`, which are held back, and `.released`, to put live; the frames
        `held_back`, `put_live` and `targets`.

    Raises:
        InternalLinkerError: the links can't be read.
    """
    from internal_linker.usecases import experiments as usecase

    return usecase.plan_experiment(opened_project(project))


@takes()
def end_experiment(project: str | Path = ".") -> "PlanResult":
    """Let the links go live that are held back, as `impact --release` does.

    Returns:
        `.sentence`.

    Raises:
        InternalLinkerError: the store can't be written.
    """
    from internal_linker.usecases import experiments as usecase

    return usecase.end_experiment(opened_project(project))


@takes()
def import_search_data(
    *files: str | Path, project: str | Path = ".", progress: bool = False
) -> "SearchDataImported":
    """Store search data of exported files, as the command `import` does.

    Args:
        files: exports of Search Console or Google Analytics (.zip, .csv, .xlsx), or tables of their figures.

    Returns:
        In `.stored` what was stored of each kind, in `.rejected` and `.left_out` how many rows were not, and the
        DataFrames `.frames["stored"]` and `.frames["counts"]`.

    Raises:
        InternalLinkerError: it could not be done; nothing was stored.
    """
    from internal_linker.usecases.import_search_exports import import_search_exports

    with shown_reporter(progress) as reporter:
        return import_search_exports(opened_project(project), [Path(file) for file in files], reporter)


@takes()
def import_analytics(
    property: str, project: str | Path = ".", *, progress: bool = False
) -> "SearchDataImported":
    """Fetch sessions of a Google Analytics property, as `import --analytics` does.

    Args:
        property: the property's number, such as "123456789".

    Returns:
        As `import_search_data`, and in `.gaps` what is missing because Google refused to answer.

    Raises:
        InternalLinkerError: nothing could be fetched.
    """
    from internal_linker.usecases import import_analytics as usecase

    with shown_reporter(progress) as reporter:
        return usecase.import_analytics(opened_project(project), property, reporter)


@takes(QueriesOptions)
def queries(project: str | Path = ".", *, progress: bool = False, **options: Any) -> "FilledQueries":
    """Choose main queries from search data, as the command `queries` does.

    Returns:
        The main queries in the DataFrame `.frames["queries"]`, others in `.frames["cannibalised"]`, `["brands"]` and
        `["without"]`.

    Raises:
        InternalLinkerError: it could not be done; no main query was changed.
    """
    from internal_linker.usecases import queries as usecase

    with shown_reporter(progress) as reporter:
        return usecase.queries(opened_project(project), QueriesOptions(**options), reporter)
