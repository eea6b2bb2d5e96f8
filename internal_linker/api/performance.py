"""What links earn: search data."""

from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from internal_linker.api.opening import opened_project, shown_reporter

# Each function imports its own use case: scikit-learn alone takes a second to load.
if TYPE_CHECKING:
    from internal_linker.usecases.import_search_console import SearchConsoleImport
    from internal_linker.usecases.search_data import SearchData


def import_search_console(
    property: str, project: str | Path = ".", *, days: int = 0, progress: bool = False
) -> "SearchConsoleImport":
    """Fetch search data of a Search Console property, as `import --search-console` does.

    Args:
        property: "sc-domain:example.com" for a domain property, "https://www.example.com/" for a URL prefix.
        project: the folder with config/ and files/.
        days: how many days to fetch at most; 0: all that Google keeps, which are those of 16 months.
        progress: show steps and notes on stderr.

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


def search_data(
    project: str | Path = ".", *, since: date | None = None, until: date | None = None, source: str = ""
) -> "SearchData":
    """Read the search data that imports stored.

    Args:
        project: the folder with config/ and files/.
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
